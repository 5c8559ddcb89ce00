"""Axes taken to other lengths: resizing and filtering as products with narrow band matrices."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from gradtape.core.dtypes import accumulator
from gradtape.core.primitive import primitive
from gradtape.ops.shape import swap

# Measured on one core: what a product with a dense matrix may cost (multiplications) before a
# sparse one, which takes tens of microseconds to set up, is quicker.
DENSE = 2**18
DENSE_EACH = 2**16
FEW = 4


def resample_wrt_x(g, weights, axis):
    return resample(g, swap(weights), axis=axis)


@primitive(x=resample_wrt_x, weights=None)
def resample(x, weights, *, axis: int):
    """`x` with `axis` multiplied by a matrix (m, n), most of whose entries are zero."""
    front, behind = x.shape[:axis], x.shape[x.ndim + axis + 1 :]
    m, n = weights.shape
    wide = accumulator(x.dtype)
    rows = x.astype(wide, copy=False).reshape(prod(front), n, prod(behind))
    out = product(weights.astype(wide, copy=False), rows)
    return out.reshape(*front, m, *behind).astype(x.dtype, copy=False)


def product(weights: Any, rows: Any) -> Any:
    """`weights` (m, n) times each of `rows` (count, n, behind), by the quickest way."""
    count, n, behind = rows.shape
    narrow = behind <= FEW
    cost = weights.size * behind
    if cost * count < DENSE if narrow else cost < DENSE_EACH:
        return np.matmul(weights, rows)
    from scipy.sparse import csr_matrix, eye, kron

    if not narrow:
        matrix = csr_matrix(weights)
        return np.array([matrix @ row for row in rows]).reshape(count, len(weights), behind)
    # So narrow that one matrix for all of a row's elements, which skips between them, is best.
    matrix = kron(csr_matrix(weights.T), eye(behind, dtype=weights.dtype), "csr")
    return rows.reshape(count, n * behind) @ matrix


@resample.lower
def resample_lowered(x, weights, *, axis):
    wide = accumulator(x.dtype)
    out = np.tensordot(x.astype(wide), weights.astype(wide), axes=((axis,), (1,)))
    return np.moveaxis(out, -1, axis).astype(x.dtype)


# -- what resizing an axis from n to m elements multiplies by --------------------------------------
#
# Element i covers [i, i + 1) of a line. `places` are the new elements' centres on the old line.


def lanczos(radius: int) -> Callable[[Any], Any]:
    """A sinc under the main lobe of a wider one."""
    return lambda x: np.where(x < radius, np.sinc(x) * np.sinc(x / radius), 0)


def triangle(x: Any) -> Any:
    """Linear interpolation."""
    return np.maximum(1 - x, 0)


def gaussian(x: Any) -> Any:
    """A bell with standard deviation one half, cut off at three of them."""
    return np.where(x < 1.5, np.exp(-2 * x * x), 0)


def keys_cubic(x: Any) -> Any:
    """Keys (1981), a = -1/2: cubic interpolation."""
    near = (1.5 * x - 2.5) * x * x + 1
    far = ((-0.5 * x + 2.5) * x - 4) * x + 2
    return np.where(x < 1, near, np.where(x < 2, far, 0))


def mitchell_cubic(x: Any) -> Any:
    """Mitchell and Netravali (1988), B = C = 1/3."""
    near = (7 * x - 12) * x * x / 6 + 8 / 9
    far = ((-7 * x + 36) * x - 60) * x / 18 + 16 / 9
    return np.where(x < 1, near, np.where(x < 2, far, 0))


KERNELS = {
    "bilinear": triangle,
    "bicubic": keys_cubic,
    "lanczos3": lanczos(3),
    "lanczos5": lanczos(5),
    "gaussian": gaussian,
    "mitchellcubic": mitchell_cubic,
}


@lru_cache(maxsize=64)
def resize_weights(method: str, n: int, m: int, antialias: bool) -> Any:
    """The matrix (m, n) that resizes an axis from n to m elements."""
    line = np.arange(n)
    places = (np.arange(m)[:, None] + 0.5) * n / m
    if method == "area":
        start, end = places - 0.5 * n / m, places + 0.5 * n / m
        weights = np.maximum(np.minimum(line + 1, end) - np.maximum(line, start), 0)
    elif method == "bilinear" and not antialias:
        # Beyond the centres of the outermost elements there is only the one.
        inside = np.clip(places, 0.5, n - 0.5)
        weights = triangle(np.abs(line + 0.5 - inside))
    elif method == "bicubic" and not antialias:
        # TensorFlow looks the kernel up in a table with 1024 entries for each element.
        whole = np.floor(places - 0.5)
        inside = whole + np.rint((places - 0.5 - whole) * 1024) / 1024
        weights = keys_cubic(np.abs(line - inside))
    else:
        spread = max(n / m, 1) if antialias else 1
        weights = KERNELS[method](np.abs(line + 0.5 - places) / spread)
    out = weights / weights.sum(axis=1, keepdims=True)
    return out.astype(np.float32)


def nearest_rows(n: int, m: int) -> Any:
    """Which of n elements is nearest to each of m. TensorFlow reckons in float32."""
    scale = np.float32(n) / np.float32(m)
    places = np.floor((np.arange(m, dtype=np.float32) + np.float32(0.5)) * scale)
    return np.minimum(places.astype(np.int64), n - 1)


def gaussian_weights(n: int, size: int, sigma: float) -> Any:
    """The matrix (n - size + 1, n) that averages `size` neighbours under a bell."""
    bell = np.exp(-0.5 * ((np.arange(size) - (size - 1) / 2) / sigma) ** 2)
    offset = np.arange(n) - np.arange(n - size + 1)[:, None]
    inside = (offset >= 0) & (offset < size)
    return np.where(inside, (bell / bell.sum())[np.clip(offset, 0, size - 1)], 0)


def sobel_weights(n: int, smooth: bool) -> Any:
    """The matrix (n, n) of (1, 2, 1) or (-1, 0, 1), where what is outside mirrors what is inside."""
    before = np.abs(np.arange(n) - 1)
    after = n - 1 - np.abs(n - 2 - np.arange(n))
    unit = np.eye(n)
    if smooth:
        return unit[before] + 2 * unit + unit[after]
    return unit[after] - unit[before]
