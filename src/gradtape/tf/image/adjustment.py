"""tf.image: brightness, contrast, gamma, hue, saturation and standardisation."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.argument import check_number
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.size_constant import compute_constant, scale_power
from gradtape.core.tensor import Tensor
from gradtape.graph.side_effect import side_effect
from gradtape.ops import reduce as r
from gradtape.ops.image import color
from gradtape.tape.no_gradient import without_gradient
from gradtape.tf.array.dynamic_index import is_traced
from gradtape.tf.image.color import check_rgb, convert_image_dtype
from gradtape.tf.image.crop_flip import check_pixels
from gradtape.tf.math.cast import cast
from gradtape.tf.math.elementwise import add, divide, maximum, multiply, pow, subtract
from gradtape.tf.math.reduce import reduce_mean, reduce_std
from gradtape.tf.public_op import has_own_dtype


def apply_in_float(image: Any, change: Callable[[Tensor], Tensor], saturate: bool) -> Tensor:
    """Apply `change` to an image converted to floats, and convert the result back."""
    x = convert(image)
    kind = x.dtype
    floats = kind is dtypes.float16 or kind is dtypes.float32
    result = change(x if floats else convert_image_dtype(x, dtypes.float32))
    return convert_image_dtype(result, kind, saturate=saturate)


@public
def adjust_brightness(image: Any, delta: Any) -> Tensor:
    """An image with `delta` added, as a fraction of the largest value.

    Args:
        image: of any shape, and of a floating or integer dtype.
        delta: usually in [-1, 1).

    Returns:
        Images like `image`.

    Example:
        >>> tf.image.adjust_brightness(tf.constant([0, 100, 250], tf.uint8), 0.2).numpy().tolist()
        [51, 151, 255]
    """
    return apply_in_float(image, lambda x: add(x, cast(delta, x.dtype)), saturate=True)


@public
def adjust_contrast(images: Any, contrast_factor: Any) -> Tensor:
    """Images with each channel's deviation from its mean multiplied by a factor.

    Args:
        images: (..., height, width, channels), of a floating or integer dtype.
        contrast_factor: a float.

    Returns:
        Images like `images`.

    Note:
        As in TensorFlow, it has no gradient: differentiating it raises LookupError.

    Example:
        >>> tf.image.adjust_contrast([[[1.0], [3.0]]], 2.0).numpy().ravel()
        array([0., 4.], dtype=float32)
    """

    def change(x: Tensor) -> Tensor:
        if x._array.ndim < 3:
            raise InvalidArgumentError(
                f"adjust_contrast: input must be at least 3-D. Received shape {x._array.shape}."
            )
        mean = r.reduce_mean(x, axis=(-3, -2), keepdims=True)
        factor = cast(convert(contrast_factor, dtypes.float32), x.dtype)
        result = add(multiply(subtract(x, mean), factor), mean)
        return without_gradient(result, "AdjustContrastv2")

    return apply_in_float(images, change, saturate=True)


@public
def adjust_gamma(image: Any, gamma: Any = 1, gain: Any = 1) -> Tensor:
    """`gain` times an image to the power of `gamma`.

    Args:
        image: of any shape, and of a floating or integer dtype.
        gamma: non-negative; above 1 darkens, below 1 brightens.
        gain: a factor.

    Returns:
        Images like `image`.

    Example:
        >>> tf.image.adjust_gamma([[[0.25]]], gamma=0.5).numpy().ravel()
        array([0.5], dtype=float32)
    """
    check_gamma(gamma, InvalidArgumentError if has_own_dtype(gamma) else ValueError)
    return apply_in_float(image, lambda x: multiply(gain, pow(x, gamma)), saturate=True)


@side_effect(fails_only=True)
def check_gamma(gamma: Any, kind: type[Exception]) -> None:
    """Raise if an exponent is negative."""
    check_number(gamma, "gamma")
    if gamma < 0:
        raise kind(
            f"adjust_gamma: gamma should be a non-negative real number. Received {float(gamma)}."
        )


@public
def adjust_hue(image: Any, delta: Any, name: str | None = None) -> Tensor:
    """RGB images (..., 3) with their hue rotated.

    Args:
        image: of a floating or integer dtype.
        delta: in [-1, 1], where 1 is the full circle.
        name: has no effect here.

    Returns:
        Images like `image`.

    Note:
        As in TensorFlow, it has no gradient: differentiating it raises LookupError.

    Example:
        >>> tf.image.adjust_hue([[[1.0, 0.0, 0.0]]], 0.5).numpy().ravel().round(3)
        array([0., 1., 1.], dtype=float32)
    """
    check_number(delta, "delta")
    if not is_traced(delta) and (delta < -1 or delta > 1):  # TensorFlow also checks only eagerly
        raise ValueError(
            f"adjust_hue: delta must be in the interval [-1, 1]. Received {float(delta)}."
        )

    def change(x: Tensor) -> Tensor:
        check_rgb("adjust_hue", x)
        turn = cast(convert(delta, dtypes.float32), x.dtype)
        return without_gradient(color.turn_hue(x, turn), "AdjustHue")

    return apply_in_float(image, change, saturate=False)


@public
def adjust_saturation(image: Any, saturation_factor: Any, name: str | None = None) -> Tensor:
    """RGB images (..., 3) with their saturation multiplied and clipped to [0, 1].

    Args:
        image: of a floating or integer dtype.
        saturation_factor: a float.
        name: has no effect here.

    Returns:
        Images like `image`.

    Note:
        As in TensorFlow, it has no gradient: differentiating it raises LookupError.

    Example:
        >>> tf.image.adjust_saturation([[[1.0, 0.5, 0.5]]], 0.0).numpy().ravel()
        array([1., 1., 1.], dtype=float32)
    """

    def change(x: Tensor) -> Tensor:
        check_rgb("adjust_saturation", x)
        factor = cast(convert(saturation_factor, dtypes.float32), x.dtype)
        return without_gradient(color.scale_saturation(x, factor), "AdjustSaturation")

    return apply_in_float(image, change, saturate=False)


@public
def per_image_standardization(image: Any) -> Tensor:
    """Images minus their mean, divided by their standard deviation, in float32.

    The standard deviation is at least 1 / sqrt(number of elements), so that constant images
    become zeros.

    Args:
        image: (..., height, width, channels).

    Returns:
        Images of float32.

    Example:
        >>> tf.image.per_image_standardization([[[1.0], [3.0]]]).numpy().ravel()
        array([-1.,  1.], dtype=float32)
    """
    x = cast(check_pixels("per_image_standardization", image), dtypes.float32)
    least = compute_constant(scale_power, prod(x._array.shape[-3:]), 1.0, -0.5, np.float32)
    centred = subtract(x, reduce_mean(x, axis=[-3, -2, -1], keepdims=True))
    deviation = reduce_std(x, axis=[-3, -2, -1], keepdims=True)
    return divide(centred, maximum(deviation, least))
