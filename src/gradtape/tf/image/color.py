"""tf.image: conversion of the dtype and the colour space of images."""

from __future__ import annotations

from typing import Any

from gradtape.core import dtypes
from gradtape.core.convert import convert
from gradtape.core.errors import (
    FailedPreconditionError,
    InvalidArgumentError,
    UnsuitableDTypeError,
    public,
)
from gradtape.core.tensor import Tensor
from gradtape.ops import reduce
from gradtape.ops.elementwise import stop_gradient
from gradtape.ops.image import color
from gradtape.ops.shape import reshape
from gradtape.tf.array.shape import identity
from gradtape.tf.linalg.einsum import tensordot
from gradtape.tf.math.cast import cast, saturate_cast
from gradtape.tf.math.elementwise import floordiv, multiply
from gradtape.tf.public_op import FLOATS, check_dtype

# Luma and chroma weights of the NTSC (YIQ) and PAL (YUV) standards, with TensorFlow's digits.
# Columns are outputs.
GRAY_WEIGHTS = (0.2989, 0.5870, 0.1140)
RGB_TO_YIQ = (
    (0.299, 0.59590059, 0.2115),
    (0.587, -0.27455667, -0.52273617),
    (0.114, -0.32134392, 0.31119955),
)
YIQ_TO_RGB = (
    (1.0, 1.0, 1.0),
    (0.95598634, -0.27201283, -1.10674021),
    (0.6208248, -0.64720424, 1.70423049),
)
RGB_TO_YUV = (
    (0.299, -0.14714119, 0.61497538),
    (0.587, -0.28886916, -0.51496512),
    (0.114, 0.43601035, -0.10001026),
)
YUV_TO_RGB = (
    (1.0, 1.0, 1.0),
    (0.0, -0.394642334, 2.03206185),
    (1.13988303, -0.58062185, 0.0),
)


@public
def convert_image_dtype(
    image: Any, dtype: Any, saturate: bool = False, name: str | None = None
) -> Tensor:
    """An image in another dtype, scaled so that the largest integer corresponds to 1.0.

    Args:
        image: of a floating or integer dtype; floats are expected to lie in [0, 1].
        dtype: of the result.
        saturate: whether to clip values that do not fit `dtype`.
        name: has no effect here.

    Returns:
        An image of `dtype`.

    Example:
        >>> tf.image.convert_image_dtype([0.0, 0.5, 1.0], tf.uint8).numpy().tolist()
        [0, 127, 255]
    """
    x = convert(image)
    have, wanted = x.dtype, dtypes.as_dtype(dtype)
    for kind, what in ((wanted, "dtype"), (have, "image dtype")):
        if not kind.is_floating and not kind.is_integer:
            raise UnsuitableDTypeError(
                f"convert_image_dtype: {what} must be either floating point or integer. "
                f"Received {kind.name}."
            )
    if have is wanted:
        return identity(x)
    into = saturate_cast if saturate else cast
    result: Tensor
    if have.is_floating and wanted.is_floating:
        result = cast(x, wanted)
    elif have.is_floating:
        result = into(multiply(x, wanted.max + 0.5), wanted)
    elif wanted.is_floating:
        result = multiply(cast(x, wanted), 1.0 / float(have.max))
    elif have.max > wanted.max:
        result = into(floordiv(x, (int(have.max) + 1) // (int(wanted.max) + 1)), wanted)
    else:
        result = multiply(into(x, wanted), (int(wanted.max) + 1) // (int(have.max) + 1))
    return result


@public
def rgb_to_grayscale(images: Any, name: str | None = None) -> Tensor:
    """Luma of RGB images (..., 3) as (..., 1), in the same dtype.

    Args:
        images: a tensor (..., channels).
        name: has no effect here.

    Returns:
        A tensor (..., 1).

    Example:
        >>> tf.image.rgb_to_grayscale([[[1.0, 1.0, 1.0]]]).numpy().ravel().round(4)
        array([0.9999], dtype=float32)
    """
    x = convert(images)
    gray = tensordot(convert_image_dtype(x, dtypes.float32), convert(GRAY_WEIGHTS), [-1, -1])
    gray = reshape(gray, shape=(*gray._array.shape, 1), rank=gray._array.ndim)
    return convert_image_dtype(gray, x.dtype)


@public
def grayscale_to_rgb(images: Any, name: str | None = None) -> Tensor:
    """Grey images (..., 1) as RGB images (..., 3).

    Args:
        images: a tensor (..., channels).
        name: has no effect here.

    Returns:
        A tensor (..., 3).

    Example:
        >>> tf.image.grayscale_to_rgb([[[0.5]]]).numpy().ravel()
        array([0.5, 0.5, 0.5], dtype=float32)
    """
    x = convert(images)
    shape = x._array.shape
    if len(shape) < 2 or shape[-1] != 1:
        raise ValueError(
            f"grayscale_to_rgb: the last dimension must be of size 1. Received shape {shape}."
        )
    result: Tensor = reduce.broadcast_to(x, shape=(*shape[:-1], 3), rank=len(shape))
    return result


def check_rgb(op: str, images: Any) -> Tensor:
    """Convert and check a floating tensor (..., 3)."""
    x = check_dtype(op, convert(images), FLOATS)
    if not x._array.ndim:
        raise InvalidArgumentError(f"{op}: input must be at least 1-D. Received a scalar.")
    if x._array.shape[-1] != 3:
        raise FailedPreconditionError(
            f"{op}: input must have 3 channels. Received {x._array.shape[-1]}."
        )
    return x


@public
def rgb_to_hsv(images: Any, name: str | None = None) -> Tensor:
    """Hue, saturation and value, each in [0, 1], of floating RGB images (..., 3).

    Args:
        images: a tensor (..., channels).
        name: has no effect here.

    Returns:
        A tensor (..., 3).

    Example:
        >>> tf.image.rgb_to_hsv([[[1.0, 0.0, 0.0]]]).numpy().ravel()
        array([0., 1., 1.], dtype=float32)
    """
    result: Tensor = color.to_hsv(check_rgb("RGBToHSV", images))
    return result


@public
def hsv_to_rgb(images: Any, name: str | None = None) -> Tensor:
    """Red, green and blue of hue, saturation and value (..., 3); without gradient.

    Args:
        images: a tensor (..., channels).
        name: has no effect here.

    Returns:
        A tensor (..., 3).

    Example:
        >>> tf.image.hsv_to_rgb([[[0.0, 1.0, 1.0]]]).numpy().ravel()
        array([1., 0., 0.], dtype=float32)
    """
    result: Tensor = color.from_hsv(stop_gradient(check_rgb("HSVToRGB", images)))
    return result


def mix_channels(images: Any, matrix: tuple[tuple[float, ...], ...]) -> Tensor:
    """Multiply the channels by a matrix."""
    x = convert(images)
    return tensordot(x, convert(matrix, x.dtype), [[x._array.ndim - 1], [0]])


@public
def rgb_to_yiq(images: Any) -> Tensor:
    """YIQ (NTSC) of floating RGB images (..., 3): luma and two chroma channels.

    Args:
        images: a tensor (..., channels).

    Returns:
        A tensor (..., 3).
    """
    return mix_channels(images, RGB_TO_YIQ)


@public
def yiq_to_rgb(images: Any) -> Tensor:
    """The inverse of `rgb_to_yiq`.

    Args:
        images: a tensor (..., channels).

    Returns:
        A tensor (..., 3).
    """
    return mix_channels(images, YIQ_TO_RGB)


@public
def rgb_to_yuv(images: Any) -> Tensor:
    """YUV (PAL) of floating RGB images (..., 3): luma and two chroma channels.

    Args:
        images: a tensor (..., channels).

    Returns:
        A tensor (..., 3).
    """
    return mix_channels(images, RGB_TO_YUV)


@public
def yuv_to_rgb(images: Any) -> Tensor:
    """The inverse of `rgb_to_yuv`.

    Args:
        images: a tensor (..., channels).

    Returns:
        A tensor (..., 3).
    """
    return mix_channels(images, YUV_TO_RGB)
