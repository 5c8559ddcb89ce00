"""Functions on the tensors that linear operators hold or are applied to."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.convert import convert
from gradtape.ops import shape as s
from gradtape.ops.reduce import broadcast_to, reduce_sum

COMPLEX_DTYPE_OF = {dtypes.float32: dtypes.complex64, dtypes.float64: dtypes.complex128}


def broadcast_batch(x: Any, batch: tuple[int, ...], core: int) -> Any:
    """Broadcast the axes of `x` in front of the last `core` axes against `batch`."""
    own = x._array.shape
    lead = np.broadcast_shapes(own[: len(own) - core], batch)
    shape = lead + own[len(own) - core :]
    return x if shape == own else broadcast_to(x, shape=shape, rank=len(own))


def vector_to_column(x: Any) -> Any:
    """Reshape vectors (..., n) to columns (..., n, 1)."""
    return s.reshape(x, shape=(*x._array.shape, 1), rank=x._array.ndim)


def column_to_vector(x: Any) -> Any:
    """Reshape columns (..., n, 1) to vectors (..., n)."""
    return s.reshape(x, shape=x._array.shape[:-1], rank=x._array.ndim)


def sum_last(x: Any) -> Any:
    """Sum along the last axis."""
    return reduce_sum(x, axis=(-1,), keepdims=False)


def as_float_tensor(value: Any) -> Any:
    """Convert to a tensor of floats; a variable is returned as it is and read on each use."""
    if hasattr(value, "assign"):
        return value
    tensor = convert(value)
    if not (tensor.dtype.is_floating or tensor.dtype.is_complex):
        raise TypeError(
            f"LinearOperator: the dtype must be floating or complex. Received {tensor.dtype.name}."
        )
    return tensor


def read_tensor(value: Any) -> Any:
    """Convert a tensor or variable to a tensor."""
    return convert(value)
