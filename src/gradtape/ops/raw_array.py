"""Cotangents to start a sweep with: ones, and the unit rows of a jacobian."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.device.array import beside
from gradtape.core.device.switch import once_in_use

ONE = np.float32(1)


def ones(raw: Any) -> Any:
    """Ones of the shape and dtype of a raw array."""
    if type(raw) is np.float32:
        return ONE
    return np.ones(raw.shape, raw.dtype) if raw.shape else raw.dtype.type(1)


@once_in_use(ones)
def ones_somewhere(raw: Any) -> Any:
    """The same of an array that may be on an accelerator: then they are there, too."""
    host = np.ones(raw.shape, raw.dtype) if raw.shape else raw.dtype.type(1)
    return beside(host, raw)


def unit_rows(start: int, stop: int, shape: tuple[int, ...], dtype: Any) -> Any:
    """Rows `start` to `stop` of the identity on arrays of `shape`: (stop - start, *shape)."""
    size = int(np.prod(shape))
    rows = np.zeros((stop - start, size), dtype)
    count = np.arange(stop - start)
    rows[count, start + count] = 1
    return rows.reshape(stop - start, *shape)


def batch_rows(start: int, stop: int, shape: tuple[int, ...], dtype: Any) -> Any:
    """The same for rows of a batch: (stop - start, *shape), alike along `shape`'s first axis."""
    rows = unit_rows(start, stop, shape[1:], dtype)
    return np.broadcast_to(rows[:, None], (stop - start, *shape))


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
