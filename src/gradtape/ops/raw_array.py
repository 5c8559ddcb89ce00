"""Raw arrays that layers without NumPy (tape, graph, jit, pipeline) make, stack and inspect."""

from __future__ import annotations

from typing import Any

import numpy as np


def dtype_of(x: Any) -> Any:
    """NumPy dtype of a raw array or Tensor."""
    return getattr(x, "_array", x).dtype


def stand_in(shape: list[int], dtype: Any) -> Any:
    """A raw array to trace on where there is none: ones, for integers zeros, empty strings."""
    kind = np.dtype(dtype)
    if kind.kind == "O":
        return np.full(shape, b"", object)
    filled = np.zeros(shape, kind) if kind.kind in "iub" else np.ones(shape, kind)
    return filled if shape else filled[()]


def integer(n: int) -> Any:
    """A count as a raw value."""
    return np.int64(n)


def stacked(items: list[Any], axis: int, shape: tuple[int, ...], dtype: Any) -> Any:
    """Arrays of one shape along a new axis, counted from the right of the result."""
    if not items:
        sizes = list(shape)
        sizes.insert(len(sizes) + 1 + axis, 0)
        return np.zeros(sizes, dtype)
    return np.stack(items, axis=axis)


def unstacked(x: Any, i: int, axis: int) -> Any:
    """One slice of an array along an axis counted from the right."""
    if axis != -x.ndim:
        return x.take(i, axis=axis)
    return x[i] if x.dtype != object else x[i, ...]  # a string stays an array


def is_owned(array: Any, outs: tuple[Any, ...]) -> bool:
    """Whether a result among `outs` may be written to: it has its memory to itself."""
    return (
        type(array) is np.ndarray
        and array.base is None
        and array.flags.carray
        and sum([out is array or getattr(out, "base", None) is array for out in outs]) == 1
    )


def truth(value: bool) -> Any:
    """A truth value as a raw one."""
    return np.bool_(value)
