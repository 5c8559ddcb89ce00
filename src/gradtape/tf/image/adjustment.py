"""tf.image: brightness, contrast, gamma, hue, saturation and standardisation."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.tensor import Tensor
from gradtape.graph.side_effect import happening
from gradtape.ops import reduce as r
from gradtape.ops.image import color
from gradtape.tape.no_gradient import refusing
from gradtape.tf.array.dynamic_index import is_held
from gradtape.tf.image.color import convert_image_dtype, three_channels
from gradtape.tf.image.crop_flip import check_pixels
from gradtape.tf.math.cast import cast
from gradtape.tf.math.elementwise import add, divide, maximum, multiply, pow, subtract
from gradtape.tf.math.reduce import reduce_mean, reduce_std
from gradtape.tf.public_op import is_typed


def in_floats(image: Any, change: Callable[[Tensor], Tensor], saturate: bool) -> Tensor:
    """Change an image as floats, and give it back in its own dtype."""
    x = convert(image)
    kind = x.dtype
    floats = kind is dtypes.float16 or kind is dtypes.float32
    result = change(x if floats else convert_image_dtype(x, dtypes.float32))
    return convert_image_dtype(result, kind, saturate=saturate)


@public
def adjust_brightness(image: Any, delta: Any) -> Tensor:
    """An image with `delta` added to it, as a share of the brightest there is.

    Args:
        image: of any shape, and of a floating or integer dtype.
        delta: in [-1, 1), usually.

    Example:
        >>> tf.image.adjust_brightness(tf.constant([0, 100, 250], tf.uint8), 0.2).numpy().tolist()
        [51, 151, 255]
    """
    return in_floats(image, lambda x: add(x, cast(delta, x.dtype)), saturate=True)


@public
def adjust_contrast(images: Any, contrast_factor: Any) -> Tensor:
    """Images with the difference of each channel from its mean multiplied.

    Args:
        images: (..., height, width, channels), of a floating or integer dtype.
        contrast_factor: a float.

    Note:
        As in TensorFlow it has no gradient: to ask for one is a LookupError.
    """

    def change(x: Tensor) -> Tensor:
        if x._array.ndim < 3:
            raise InvalidArgumentError(
                f"adjust_contrast: input must be at least 3-D. Received shape {x._array.shape}."
            )
        mean = r.reduce_mean(x, axis=(-3, -2), keepdims=True)
        factor = cast(convert(contrast_factor, dtypes.float32), x.dtype)
        result = add(multiply(subtract(x, mean), factor), mean)
        return refusing(result, "AdjustContrastv2")

    return in_floats(images, change, saturate=True)


@public
def adjust_gamma(image: Any, gamma: Any = 1, gain: Any = 1) -> Tensor:
    """`gain` times an image to the power of `gamma`.

    Args:
        image: of any shape, and of a floating or integer dtype.
        gamma: not negative; above 1 darkens, below 1 brightens.
        gain: a factor.
    """
    check_gamma(gamma, InvalidArgumentError if is_typed(gamma) else ValueError)
    return in_floats(image, lambda x: multiply(gain, pow(x, gamma)), saturate=True)


@happening(fails_only=True)
def check_gamma(gamma: Any, kind: type[Exception]) -> None:
    """Raise if an exponent is negative."""
    if gamma < 0:
        raise kind(
            f"adjust_gamma: gamma should be a non-negative real number. Received {float(gamma)}."
        )


@public
def adjust_hue(image: Any, delta: Any, name: str | None = None) -> Tensor:
    """Colour images (..., 3) with their hue moved on.

    Args:
        image: of a floating or integer dtype.
        delta: in [-1, 1], where one is the whole circle.
        name: accepted for TensorFlow's sake.

    Note:
        As in TensorFlow it has no gradient: to ask for one is a LookupError.
    """
    if not is_held(delta) and (delta < -1 or delta > 1):  # TensorFlow checks only eagerly, too
        raise ValueError(
            f"adjust_hue: delta must be in the interval [-1, 1]. Received {float(delta)}."
        )

    def change(x: Tensor) -> Tensor:
        three_channels("adjust_hue", x)
        turn = cast(convert(delta, dtypes.float32), x.dtype)
        return refusing(color.turn_hue(x, turn), "AdjustHue")

    return in_floats(image, change, saturate=False)


@public
def adjust_saturation(image: Any, saturation_factor: Any, name: str | None = None) -> Tensor:
    """Colour images (..., 3) with their saturation multiplied, within bounds.

    Args:
        image: of a floating or integer dtype.
        saturation_factor: a float.
        name: accepted for TensorFlow's sake.

    Note:
        As in TensorFlow it has no gradient: to ask for one is a LookupError.
    """

    def change(x: Tensor) -> Tensor:
        three_channels("adjust_saturation", x)
        factor = cast(convert(saturation_factor, dtypes.float32), x.dtype)
        return refusing(color.scale_saturation(x, factor), "AdjustSaturation")

    return in_floats(image, change, saturate=False)


@public
def per_image_standardization(image: Any) -> Tensor:
    """Images less their mean, divided by their standard deviation, in float32.

    Args:
        image: (..., height, width, channels). The deviation is held above one over the root of
            the number of elements, so that even images come out as zeros.
    """
    x = cast(check_pixels("per_image_standardization", image), dtypes.float32)
    least = np.float32(1 / np.sqrt(prod(x._array.shape[-3:])))
    centred = subtract(x, reduce_mean(x, axis=[-3, -2, -1], keepdims=True))
    deviation = reduce_std(x, axis=[-3, -2, -1], keepdims=True)
    return divide(centred, maximum(deviation, least))
