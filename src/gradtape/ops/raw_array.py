"""Make, stack and inspect raw arrays, for layers that do not import NumPy (graph, jit, …)."""

from __future__ import annotations

from typing import Any

import numpy as np


def raw_dtype_of(x: Any) -> Any:
    """NumPy dtype of a raw array or Tensor."""
    return getattr(x, "_array", x).dtype


def make_stand_in_array(shape: list[int], dtype: Any) -> Any:
    """Make an array to trace with when there is no value: ones, integer zeros or empty strings."""
    kind = np.dtype(dtype)
    if kind.kind == "O":
        return np.full(shape, b"", object)
    array = np.zeros(shape, kind) if kind.kind in "iub" else np.ones(shape, kind)
    return array if shape else array[()]


def make_virtual_array(shape: list[int], dtype: Any) -> Any:
    """Make an array of one repeated element, which takes no memory, for its shape and dtype."""
    return np.broadcast_to(make_stand_in_array([], dtype), shape)


def as_int64(n: int) -> Any:
    """Convert a Python int to a NumPy scalar."""
    return np.int64(n)


def stack_arrays(items: list[Any], axis: int, shape: tuple[int, ...], dtype: Any) -> Any:
    """Stack arrays of one shape along a new axis, counted from the right of the result."""
    if not items:
        sizes = list(shape)
        sizes.insert(len(sizes) + 1 + axis, 0)
        return np.zeros(sizes, dtype)
    return np.stack(items, axis=axis)


def unstack_slice(x: Any, i: int, axis: int) -> Any:
    """Take slice `i` of an array along an axis counted from the right."""
    if axis != -x.ndim:
        return x.take(i, axis=axis)
    return x[i] if x.dtype != object else x[i, ...]  # a single string stays a 0-d array


def as_numpy_bool(value: bool) -> Any:
    """Convert a Python bool to a NumPy scalar."""
    return np.bool_(value)
