"""Convolution with windows of size 1: a matrix product, in blocks that are fast in BLAS."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.ops.convolution.window import Window

SMALL_PRODUCT = 10**6  # largest m · k · n for which OpenBLAS uses its faster small-matrix code


def rows_per_small_product(k: int, n: int, least: int) -> int:
    """Number of rows for which (rows, k) by (k, n) is a small product; 0 if fewer than `least`."""
    rows = SMALL_PRODUCT // max(k * n, 1)
    return rows if rows >= least else 0


def matmul_tall(a: Any, b: Any) -> Any:
    """Product of (rows, k), with many rows, and (k, n)."""
    k, n = b.shape
    rows, step = len(a), rows_per_small_product(k, n, 32)
    if not step or rows < 2 * step:
        return np.dot(a, b)
    out = np.empty((rows, b.shape[1]), a.dtype)
    even = rows - rows % step
    np.matmul(
        a[:even].reshape(-1, step, a.shape[1]), b, out=out[:even].reshape(-1, step, b.shape[1])
    )
    if even < rows:
        np.dot(a[even:], b, out=out[even:])
    return out


def gather_pixels(x: Any, window: Window) -> Any:
    """Gather the pixels that the strided window visits, as rows."""
    if max(window.strides) > 1:
        x = x[window.key((0,) * len(window.size), window.outputs(x.shape[1:-1]))]
    return x.reshape(-1, x.shape[-1])


def convolve(x: Any, w: Any, window: Window) -> Any:
    """Pixels of (n, *spatial, c) times (1, …, c, o)."""
    out = matmul_tall(gather_pixels(x, window), w.reshape(w.shape[-2:]))
    return out.reshape(x.shape[0], *window.outputs(x.shape[1:-1]), w.shape[-1])


def unconvolve(y: Any, w: Any, window: Window, spatial: tuple[int, ...]) -> Any:
    """Adjoint of `convolve` in `x`."""
    filters = np.ascontiguousarray(w.reshape(w.shape[-2:]).T)
    pixels = matmul_tall(y.reshape(-1, y.shape[-1]), filters).reshape(*y.shape[:-1], w.shape[-2])
    if max(window.strides) == 1:
        return pixels
    total = np.zeros((y.shape[0], *spatial, w.shape[-2]), y.dtype)
    total[window.key((0,) * len(window.size), y.shape[1:-1])] = pixels
    return total


def correlate(x: Any, y: Any, window: Window) -> Any:
    """Adjoint of `convolve` in `w`."""
    pixels = gather_pixels(x, window)
    result = np.dot(pixels.T, y.reshape(-1, y.shape[-1]))
    return result.reshape(*window.size, x.shape[-1], y.shape[-1])
