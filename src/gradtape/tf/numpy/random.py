"""tf.experimental.numpy.random: the functions of NumPy's legacy random interface."""

from __future__ import annotations

from typing import Any

from gradtape.core import dtypes
from gradtape.core.errors import public
from gradtape.core.tensor import Tensor
from gradtape.tf.numpy.promotion import as_tnp_tensor
from gradtape.tf.random import stateful as tf


def size_to_shape(size: Any) -> Any:
    """Convert `size` (None, an int or a tuple) to a shape."""
    return () if size is None else (size,) if isinstance(size, int) else size


@public
def seed(s: int) -> None:
    """Set the global seed."""
    tf.set_seed(s)


@public
def randn(*args: int) -> Tensor:
    """Normally distributed float64 numbers of shape `args`."""
    return standard_normal(args)


@public
def standard_normal(size: Any = None) -> Tensor:
    """Normally distributed float64 numbers."""
    return tf.normal(size_to_shape(size), dtype=dtypes.float64)


@public
def uniform(low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Tensor:
    """Uniformly distributed float64 numbers in [low, high)."""
    return tf.uniform(size_to_shape(size), low, high, dtypes.float64)


@public
def random(size: Any = None) -> Tensor:
    """Uniformly distributed float64 numbers in [0, 1)."""
    return uniform(0.0, 1.0, size)


@public
def rand(*size: int) -> Tensor:
    """Uniformly distributed float64 numbers in [0, 1), of shape `size`."""
    return uniform(0.0, 1.0, size)


@public
def randint(low: int, high: int | None = None, size: Any = None, dtype: Any = int) -> Tensor:
    """Integers in [low, high), or in [0, low)."""
    low, high = (0, low) if high is None else (low, high)
    return as_tnp_tensor(tf.uniform(size_to_shape(size), low, high, dtypes.int64), dtype)
