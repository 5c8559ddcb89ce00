"""Raw arrays cut at zero, or by a mask: the kernels of relu, of its derivative and of `gate`."""

from __future__ import annotations

from typing import Any

import numpy as np

FLOAT32 = np.dtype(np.float32)
BITS = {2: np.dtype("int16"), 4: np.dtype("int32"), 8: np.dtype("int64")}

# A ufunc takes an array without axes in half the time of Python's 0, which it has to look at first.
ZERO = np.zeros((), np.float32)
# Against one number `np.maximum` goes element by element, against a row it takes eight at once.
ZEROS = np.zeros(8192, np.float32)
LONG = 8192


def positive_part(x: Any) -> Any:
    """Raw `x` where it is positive, else zero; NaN stays."""
    if type(x) is not np.ndarray or x.dtype is not FLOAT32:
        return np.maximum(x, 0)
    n, width = x.size, ZEROS.size
    if n < LONG or not x.flags.c_contiguous:
        return np.maximum(x, ZERO)
    if n % width == 0:
        return np.maximum(x.reshape(-1, width), ZEROS).reshape(x.shape)
    out, whole = np.empty(x.shape, x.dtype), n - n % width
    flat, results = x.reshape(-1), out.reshape(-1)
    np.maximum(flat[:whole].reshape(-1, width), ZEROS, out=results[:whole].reshape(-1, width))
    np.maximum(flat[whole:], ZEROS[: n - whole], out=results[whole:])
    return out


def is_positive(y: Any) -> Any:
    """Where raw `y` is positive."""
    return y > (ZERO if type(y) is np.ndarray and y.dtype is FLOAT32 else 0)


def choose(g: Any, mask: Any) -> Any:
    """Raw `g` where `mask` holds, else zero."""
    dtype = g.dtype
    if type(g) is not np.ndarray or dtype.kind != "f":
        return np.where(mask, g, dtype.type(0))
    # The bits of a float times one or zero: up to ten times quicker than `where`; and quickest if
    # both factors are of one dtype.
    bits = BITS[dtype.itemsize]
    if mask.shape != g.shape:
        return (g.view(bits) * mask).view(dtype)
    kept = mask.astype(bits)
    kept *= g.view(bits)
    return kept.view(dtype)
