"""tf.image: image similarity (PSNR, SSIM), image gradients, edges and total variation."""

from __future__ import annotations

from math import log
from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.tensor import Tensor
from gradtape.ops import elementwise as e
from gradtape.ops import reduce as r
from gradtape.ops import shape as s
from gradtape.ops.image.filter_matrix import FilterMatrixSpec
from gradtape.ops.image.resample import resample
from gradtape.tf.array.pad import pad
from gradtape.tf.image.color import convert_image_dtype
from gradtape.tf.math.cast import cast
from gradtape.tf.math.elementwise import pow
from gradtape.tf.nn.pool import avg_pool2d
from gradtape.tf.public_op import FLOATS, check_dtype

# Wang, Simoncelli and Bovik (2003).
SSIM_SCALE_WEIGHTS = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)


def check_image_pair(op: str, a: Any, b: Any) -> tuple[Tensor, Tensor]:
    """Convert and check two image batches (..., height, width, channels) of equal size."""
    x, y = convert(a), convert(b)
    first, second = x._array.shape, y._array.shape
    for shape in (first, second):
        if len(shape) < 3:
            raise ValueError(f"{op}: Shape {shape} must have rank at least 3.")
    if first[-3:] != second[-3:]:
        raise ValueError(f"{op}: Shapes {first} and {second} are incompatible. Resize one.")
    pairs = zip(reversed(first[:-3]), reversed(second[:-3]), strict=False)
    if any(m != n and 1 not in (m, n) for m, n in pairs):
        raise ValueError(f"{op}: two batches must broadcast. Received {first} and {second}.")
    return x, y


def convert_to_float32(x: Tensor, y: Tensor, max_val: Any) -> tuple[Tensor, Tensor, Tensor]:
    """Convert images and the maximum value to float32; integers are scaled to [0, 1]."""
    brightest = cast(convert(max_val), x.dtype)
    single = dtypes.float32
    images = (convert_image_dtype(t, single) for t in (x, y, brightest))
    return tuple(images)  # type: ignore[return-value]


@public
def psnr(a: Any, b: Any, max_val: Any, name: str | None = None) -> Tensor:
    """Peak signal-to-noise ratio in decibels, for each pair of images.

    Args:
        a: (..., height, width, channels).
        b: the same.
        max_val: the largest possible value, such as 1.0 or 255.
        name: has no effect here.

    Returns:
        (...,) in float32.

    Example:
        >>> tf.image.psnr(tf.zeros([4, 4, 1]), tf.ones([4, 4, 1]), max_val=1.0).numpy()
        np.float32(0.0)
    """
    x, y, brightest = convert_to_float32(*check_image_pair("psnr", a, b), max_val)
    error = r.reduce_mean(e.squared_difference(x, y), axis=(-3, -2, -1), keepdims=False)
    ratio = e.subtract(e.log(brightest) * 2, e.log(error))
    result: Tensor = e.multiply(ratio, np.float32(10 / log(10)))
    return result


def apply_band_filters(x: Any, down: FilterMatrixSpec, across: FilterMatrixSpec) -> Any:
    """Apply a band matrix to the rows and another to the columns of images."""
    return resample(resample(x, axis=-3, band=down, back=False), axis=-2, band=across, back=False)


def compute_ssim_maps(
    x: Any, y: Any, max_val: Any, filter_size: Any, filter_sigma: Any, k1: Any, k2: Any
) -> tuple[Any, Any]:
    """SSIM maps per channel: the luminance term, and the contrast-structure term."""
    size, sigma = int(filter_size), float(filter_sigma)
    height, width = s.shape_of(x)[-3:-1]
    if min(height, width) < size:
        raise InvalidArgumentError(
            f"ssim: images must be at least as large as the filter. Received {height} x {width} "
            f"and filter_size={size}."
        )
    down, across = (FilterMatrixSpec("blur", n, n - size + 1, sigma=sigma) for n in (height, width))

    def blur(t: Any) -> Any:
        return apply_band_filters(t, down, across)

    c1, c2 = ((np.float32(k) * max_val) ** 2 for k in (k1, k2))
    a, b = blur(x), blur(y)
    both, squares = a * b * 2, e.square(a) + e.square(b)
    luminance = (both + c1) / (squares + c1)
    product = blur(x * y) * 2
    power = blur(e.square(x) + e.square(y))
    return luminance, (product - both + c2) / (power - squares + c2)


@public
def ssim(
    img1: Any,
    img2: Any,
    max_val: Any,
    filter_size: Any = 11,
    filter_sigma: Any = 1.5,
    k1: Any = 0.01,
    k2: Any = 0.03,
    return_index_map: bool = False,
) -> Tensor:
    """Structural similarity (Wang et al. 2004); 1 for equal images.

    Args:
        img1: (..., height, width, channels).
        img2: the same.
        max_val: the largest possible value, such as 1.0 or 255.
        filter_size: the size of the Gaussian window.
        filter_sigma: the standard deviation of the Gaussian window.
        k1: stabilises the luminance ratio.
        k2: stabilises the contrast-structure ratio.
        return_index_map: whether to return the similarity at each pixel instead of the mean.

    Returns:
        (...,) in float32, or (..., height - filter_size + 1, width - filter_size + 1).

    Example:
        >>> tf.image.ssim(tf.ones([16, 16, 1]), tf.ones([16, 16, 1]), max_val=1.0).numpy()
        np.float32(1.0)
    """
    x, y, brightest = convert_to_float32(*check_image_pair("ssim", img1, img2), max_val)
    luminance, structure = compute_ssim_maps(x, y, brightest, filter_size, filter_sigma, k1, k2)
    axes = (-1,) if return_index_map else (-3, -2, -1)
    result: Tensor = r.reduce_mean(luminance * structure, axis=axes, keepdims=False)
    return result


def downsample(x: Any) -> Any:
    """Downsample images by 2; odd sizes are first extended by repeating the last row or column."""
    shape = s.shape_of(x)
    flat = s.reshape(x, shape=(int(np.prod(shape[:-3])), *shape[-3:]), rank=len(shape))
    if any(n % 2 for n in shape[-3:-1]):
        edges = [[0, 0], [0, shape[-3] % 2], [0, shape[-2] % 2], [0, 0]]
        flat = pad(flat, edges, mode="SYMMETRIC")
    small = avg_pool2d(flat, 2, 2, "VALID")
    return s.reshape(small, shape=shape[:-3] + s.shape_of(small)[1:], rank=4)


@public
def ssim_multiscale(
    img1: Any,
    img2: Any,
    max_val: Any,
    power_factors: Any = SSIM_SCALE_WEIGHTS,
    filter_size: Any = 11,
    filter_sigma: Any = 1.5,
    k1: Any = 0.01,
    k2: Any = 0.03,
) -> Tensor:
    """Structural similarity at several scales (Wang et al. 2003).

    Args:
        img1: (..., height, width, channels).
        img2: the same.
        max_val: the largest possible value, such as 1.0 or 255.
        power_factors: the weight of each scale, the finest first; each scale halves the size.
        filter_size: as for `ssim`.
        filter_sigma: as for `ssim`.
        k1: as for `ssim`.
        k2: as for `ssim`.

    Returns:
        (...,) in float32.
    """
    x, y, brightest = convert_to_float32(*check_image_pair("ssim_multiscale", img1, img2), max_val)
    parts: list[Any] = []
    for k in range(len(power_factors)):
        if k:
            x, y = downsample(x), downsample(y)
        luminance, structure = compute_ssim_maps(x, y, brightest, filter_size, filter_sigma, k1, k2)
        last = k == len(power_factors) - 1
        here = luminance * structure if last else structure
        parts.append(e.relu(r.reduce_mean(here, axis=(-3, -2), keepdims=False)))
    weighted = pow(s.stack(*parts, axis=-1), convert(power_factors, dtypes.float32))
    total = r.reduce_prod(weighted, axis=(-1,), keepdims=False)
    result: Tensor = r.reduce_mean(total, axis=(-1,), keepdims=False)
    return result


def pixel_differences(x: Any) -> tuple[Any, Any]:
    """Differences of neighbouring pixels, vertical and horizontal."""
    every = slice(None)
    down = [s.slice_(x, key=(k, every, every), rank=3) for k in (slice(1, None), slice(0, -1))]
    across = [s.slice_(x, key=(every, k, every), rank=3) for k in (slice(1, None), slice(0, -1))]
    return e.subtract(*down), e.subtract(*across)


@public
def total_variation(images: Any, name: str | None = None) -> Tensor:
    """Sum of the absolute differences of neighbouring pixels.

    Args:
        images: (batch, height, width, channels) or (height, width, channels).
        name: has no effect here.

    Returns:
        A number for each image.

    Example:
        >>> tf.image.total_variation([[[0.0], [1.0]]]).numpy()
        np.float32(1.0)
    """
    x = convert(images)
    if x._array.ndim not in (3, 4):
        raise ValueError(
            f"total_variation: images must have 3 or 4 dimensions. Received {x._array.shape}."
        )
    sums = (
        r.reduce_sum(e.absolute(t), axis=(-3, -2, -1), keepdims=False) for t in pixel_differences(x)
    )
    result: Tensor = e.add(*sums)
    return result


@public
def image_gradients(image: Any) -> tuple[Tensor, Tensor]:
    """Vertical and horizontal differences to the next pixel; (batch, height, width, channels).

    Args:
        image: images (batch, height, width, channels).

    Returns:
        A pair of tensors like `image`.

    Example:
        >>> dy, dx = tf.image.image_gradients(tf.reshape(tf.range(4.0), [1, 2, 2, 1]))
        >>> dx.numpy().ravel()
        array([1., 0., 1., 0.], dtype=float32)
    """
    x = convert(image)
    if x._array.ndim != 4:
        raise ValueError(f"image_gradients: image must be 4-D. Received shape {x._array.shape}.")
    down, across = pixel_differences(x)
    down = s.pad(down, paddings=((0, 1), (0, 0), (0, 0)), value=0)
    across = s.pad(across, paddings=((0, 1), (0, 0)), value=0)
    return down, across


@public
def sobel_edges(image: Any) -> Tensor:
    """Sobel edges, vertical and horizontal.

    Args:
        image: floating, (batch, height, width, channels).

    Returns:
        (batch, height, width, channels, 2).

    Example:
        >>> tf.image.sobel_edges(tf.ones([1, 4, 4, 1])).shape
        TensorShape([1, 4, 4, 1, 2])
    """
    x = check_dtype("sobel_edges", convert(image), FLOATS)
    shape = x._array.shape
    if len(shape) != 4 or min(shape[1:3]) < 2:
        raise InvalidArgumentError(
            "sobel_edges: image must be 4-D, and at least two pixels high and wide. "
            f"Received shape {list(shape)}."
        )

    smooth, difference = (
        [FilterMatrixSpec(kind, n, n) for n in shape[1:3]] for kind in ("smooth", "difference")
    )
    down = apply_band_filters(x, difference[0], smooth[1])
    across = apply_band_filters(x, smooth[0], difference[1])
    result: Tensor = s.stack(down, across, axis=-1)
    return result
