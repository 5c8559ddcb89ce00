"""tf.math.sobol_sample: points of the Sobol sequence."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.argument import as_index
from gradtape.core.dtypes import as_dtype
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.tf.public_op import FULL_FLOATS, raise_unsupported_dtype


@public
def sobol_sample(
    dim: Any, num_results: Any, skip: Any = 0, dtype: Any = dtypes.float32, name: str | None = None
) -> Tensor:
    """Points of the Sobol sequence, which fill the unit cube evenly; without the origin.

    Args:
        dim: number of coordinates.
        num_results: number of points.
        skip: the number of points to skip at the beginning.
        dtype: float32 or float64.
        name: ignored.

    Returns:
        Points (num_results, dim) in [0, 1).

    Example:
        >>> tf.math.sobol_sample(1, 3)
        <tf.Tensor: shape=(3, 1), dtype=float32, numpy=
        array([[0.5 ],
               [0.75],
               [0.25]], dtype=float32)>
    """
    wanted = as_dtype(dtype)
    if np.dtype(wanted.as_numpy_dtype) not in FULL_FLOATS:
        raise_unsupported_dtype("SobolSample", wanted, FULL_FLOATS, "dtype")
    width, count = as_index(dim, "dim"), as_index(num_results, "num_results")
    start = as_index(skip, "skip")
    if width < 1 or count < 1 or start < 0:
        raise InvalidArgumentError(
            f"sobol_sample: dim and num_results must be positive and skip not negative. "
            f"Received {width}, {count} and {start}."
        )
    from scipy.stats.qmc import Sobol

    sequence = Sobol(width, scramble=False, bits=32).fast_forward(start + 1)
    return make_tensor(sequence.random(count).astype(wanted.as_numpy_dtype))
