"""Band matrices that resize, blur or differentiate an axis, as cached constants.

They are always NumPy arrays, also when the kernels that use them run with another `np`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy

from gradtape.core.primitive import Spec
from gradtape.core.shape_rule import INT64, with_shape


class FilterMatrixSpec(NamedTuple):
    """Parameters of a matrix (m, n); a static parameter and a cache key.

    Attributes:
        kind: a method of resizing, "blur", "smooth" or "difference".
        n: length of the input axis.
        m: length of the output axis.
        antialias: whether downsizing widens the kernel.
        sigma: standard deviation of a blur.
    """

    kind: str
    n: int
    m: int
    antialias: bool = False
    sigma: float = 0


@lru_cache(maxsize=256)
def dense_matrix(band: FilterMatrixSpec, back: bool, dtype: Any) -> Any:
    """The matrix as a dense array; its transpose if `back`."""
    matrix = compute_filter_matrix(band).astype(dtype)
    return matrix.T if back else matrix


@lru_cache(maxsize=64)
def sparse_matrix(band: FilterMatrixSpec, back: bool, dtype: Any) -> Any:
    """The same matrix in compressed sparse rows."""
    from scipy.sparse import csr_matrix

    return csr_matrix(dense_matrix(band, back, dtype))


@lru_cache(maxsize=64)
def multichannel_matrix(band: FilterMatrixSpec, back: bool, dtype: Any, count: int) -> Any:
    """The transposed matrix for `count` interleaved channels: (n * count, m * count)."""
    from scipy.sparse import eye, kron

    return kron(sparse_matrix(band, not back, dtype), eye(count, dtype=dtype), "csr")


@lru_cache(maxsize=256)
def list_taps(band: FilterMatrixSpec, back: bool, dtype: Any) -> tuple[Any, Any]:
    """Columns of the weights that are not zero in each row, and these weights: both (m, taps).

    Rows with fewer taps than others end in weights of zero.
    """
    matrix = dense_matrix(band, back, dtype)
    count = numpy.count_nonzero(matrix, axis=1).max(initial=0)
    columns = numpy.argsort(matrix == 0, axis=1, kind="stable")[:, :count]
    return columns, numpy.take_along_axis(matrix, columns, axis=1)


def compute_filter_matrix(band: FilterMatrixSpec) -> Any:
    """Compute the matrix in float64."""
    if band.kind == "blur":
        return blur_matrix(band.n, band.m, band.sigma)
    if band.kind in ("smooth", "difference"):
        return sobel_matrix(band.n, band.kind == "smooth")
    matrix = resize_matrix(band.kind, band.n, band.m, band.antialias)
    return matrix / matrix.sum(axis=1, keepdims=True)


def make_lanczos_kernel(radius: int) -> Callable[[Any], Any]:
    """Make the Lanczos kernel: a sinc windowed by the main lobe of a wider sinc."""
    return lambda x: numpy.where(x < radius, numpy.sinc(x) * numpy.sinc(x / radius), 0)


def triangle_kernel(x: Any) -> Any:
    """Kernel of linear interpolation."""
    return numpy.maximum(1 - x, 0)


def gaussian_kernel(x: Any) -> Any:
    """Gaussian kernel with standard deviation 1/2, cut off at three standard deviations."""
    return numpy.where(x < 1.5, numpy.exp(-2 * x * x), 0)


def keys_cubic_kernel(x: Any) -> Any:
    """Kernel of cubic interpolation: Keys (1981), a = -1/2."""
    near = (1.5 * x - 2.5) * x * x + 1
    far = ((-0.5 * x + 2.5) * x - 4) * x + 2
    return numpy.where(x < 1, near, numpy.where(x < 2, far, 0))


def mitchell_cubic_kernel(x: Any) -> Any:
    """Cubic kernel of Mitchell and Netravali (1988), B = C = 1/3."""
    near = (7 * x - 12) * x * x / 6 + 8 / 9
    far = ((-7 * x + 36) * x - 60) * x / 18 + 16 / 9
    return numpy.where(x < 1, near, numpy.where(x < 2, far, 0))


RESIZE_KERNELS = {
    "bilinear": triangle_kernel,
    "bicubic": keys_cubic_kernel,
    "lanczos3": make_lanczos_kernel(3),
    "lanczos5": make_lanczos_kernel(5),
    "gaussian": gaussian_kernel,
    "mitchellcubic": mitchell_cubic_kernel,
}


def resize_matrix(method: str, n: int, m: int, antialias: bool) -> Any:
    """Matrix (m, n) of weights before normalisation: n inputs and m outputs cover one interval."""
    line = numpy.arange(n)
    places = (numpy.arange(m)[:, None] + 0.5) * n / m
    if method == "area":
        start, end = places - 0.5 * n / m, places + 0.5 * n / m
        return numpy.maximum(numpy.minimum(line + 1, end) - numpy.maximum(line, start), 0)
    if method == "bilinear" and not antialias:
        # Beyond the centres of the outermost elements only the outermost element counts.
        return triangle_kernel(numpy.abs(line + 0.5 - numpy.clip(places, 0.5, n - 0.5)))
    if method == "bicubic" and not antialias:
        # TensorFlow reads the kernel from a table with 1024 entries per element.
        whole = numpy.floor(places - 0.5)
        inside = whole + numpy.rint((places - 0.5 - whole) * 1024) / 1024
        return keys_cubic_kernel(numpy.abs(line - inside))
    # float32, as in TensorFlow: some kernels are discontinuous at their ends.
    single = numpy.float32
    back = single(1) / (single(m) / single(n))
    spread = max(back, single(1)) if antialias else single(1)
    centres = numpy.arange(m, dtype=single)[:, None] + 0.5
    return RESIZE_KERNELS[method](numpy.abs(line.astype(single) + 0.5 - centres * back) / spread)


@with_shape(lambda n, m: Spec(((m,), INT64)))
def nearest_indices(n: int, m: int) -> Any:
    """For each of m outputs, the index of the nearest of n inputs; in float32, as TensorFlow."""
    scale = numpy.float32(n) / numpy.float32(m)
    places = numpy.floor((numpy.arange(m, dtype=numpy.float32) + numpy.float32(0.5)) * scale)
    return numpy.minimum(places.astype(numpy.int64), n - 1)


def blur_matrix(n: int, m: int, sigma: float) -> Any:
    """Matrix of Gaussian weighted means of n - m + 1 neighbours."""
    size = n - m + 1
    bell = numpy.exp(-0.5 * ((numpy.arange(size) - (size - 1) / 2) / sigma) ** 2)
    offset = numpy.arange(n) - numpy.arange(m)[:, None]
    inside = (offset >= 0) & (offset < size)
    return numpy.where(inside, (bell / bell.sum())[numpy.clip(offset, 0, size - 1)], 0)


def sobel_matrix(n: int, smooth: bool) -> Any:
    """Matrix of the filter (1, 2, 1) or (-1, 0, 1), with reflected borders."""
    line = numpy.arange(n)
    before, after = numpy.abs(line - 1), n - 1 - numpy.abs(n - 2 - line)
    unit = numpy.eye(n)
    if smooth:
        return unit[before] + 2 * unit + unit[after]
    return unit[after] - unit[before]
