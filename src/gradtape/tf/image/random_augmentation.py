"""tf.image: random augmentation; a seed gives the same random numbers as in TensorFlow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.argument import check_number
from gradtape.core.convert import convert, to_shape_tuple
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.shape_rule import keep_shape, with_shape
from gradtape.core.tensor import Tensor
from gradtape.graph.raw_function import apply_raw
from gradtape.ops import shape as s
from gradtape.tf.array.dynamic_index import is_traced
from gradtape.tf.array.mask import where
from gradtape.tf.array.repeat_roll import reverse
from gradtape.tf.array.reshape import reshape
from gradtape.tf.image.adjustment import (
    adjust_brightness,
    adjust_contrast,
    adjust_hue,
    adjust_saturation,
)
from gradtape.tf.image.crop_flip import check_image
from gradtape.tf.math.cast import cast
from gradtape.tf.math.elementwise import add, multiply, round, subtract
from gradtape.tf.random.stateful import uniform
from gradtape.tf.random.stateless import stateless_uniform

UniformSampler = Callable[..., Tensor]


def make_stateful_sampler(seed: Any) -> UniformSampler:
    """Make a sampler that uses the op's own seed or the global one."""
    return lambda shape, low, high, **options: uniform(shape, low, high, seed=seed, **options)


def make_stateless_sampler(seed: Any) -> UniformSampler:
    """Make a sampler that uses `seed`, a pair of integers."""
    return lambda shape, low, high, **options: stateless_uniform(
        shape, seed, minval=low, maxval=high, **options
    )


def flip_at_random(op: str, image: Any, axis: int, draw: UniformSampler) -> Tensor:
    """Flip each image along `axis` (of one image) with probability one half."""
    x = check_image(op, image)
    if x._array.ndim == 3:
        toss = draw([], 0, 1.0)
        if is_traced(toss):
            return where(toss < 0.5, reverse(x, [axis]), x)
        return reverse(x, [axis]) if toss._array < 0.5 else x
    batch = x._array.shape[0]
    flips = cast(round(reshape(draw([batch], 0, 1.0), [batch, 1, 1, 1])), x.dtype)
    mirror_images = multiply(flips, reverse(x, [axis + 1]))
    result: Tensor = add(mirror_images, multiply(subtract(1, flips), x))
    return result


@public
def random_flip_left_right(image: Any, seed: Any = None) -> Tensor:
    """Images flipped left to right, each with probability one half.

    Args:
        image: (batch, height, width, channels) or (height, width, channels).
        seed: the op seed; see `tf.random.set_seed`.

    Returns:
        Images like `image`.

    Example:
        >>> tf.image.random_flip_left_right(tf.ones([8, 8, 3])).shape
        TensorShape([8, 8, 3])
    """
    return flip_at_random("random_flip_left_right", image, 1, make_stateful_sampler(seed))


@public
def random_flip_up_down(image: Any, seed: Any = None) -> Tensor:
    """Images flipped upside down, each with probability one half; see `random_flip_left_right`.

    Args:
        image: (batch, height, width, channels), or a single image.
        seed: an integer or None; a pair of integers if stateless.

    Returns:
        Images like `image`.
    """
    return flip_at_random("random_flip_up_down", image, 0, make_stateful_sampler(seed))


@public
def stateless_random_flip_left_right(image: Any, seed: Any) -> Tensor:
    """As `random_flip_left_right`, but deterministic in `seed`, a pair of integers.

    Args:
        image: (batch, height, width, channels), or a single image.
        seed: an integer or None; a pair of integers if stateless.

    Returns:
        Images like `image`.

    Example:
        >>> tf.image.stateless_random_flip_left_right(tf.ones([8, 8, 3]), seed=[1, 2]).shape
        TensorShape([8, 8, 3])
    """
    return flip_at_random(
        "stateless_random_flip_left_right", image, 1, make_stateless_sampler(seed)
    )


@public
def stateless_random_flip_up_down(image: Any, seed: Any) -> Tensor:
    """As `random_flip_up_down`, but deterministic in `seed`, a pair of integers.

    Args:
        image: (batch, height, width, channels), or a single image.
        seed: an integer or None; a pair of integers if stateless.

    Returns:
        Images like `image`.
    """
    return flip_at_random("stateless_random_flip_up_down", image, 0, make_stateless_sampler(seed))


def draw_delta(op: str, max_delta: Any, most: float, draw: UniformSampler) -> Tensor:
    """Draw a number from [-max_delta, max_delta)."""
    check_number(max_delta, "max_delta")
    if max_delta < 0:
        raise ValueError(f"{op}: max_delta must be non-negative. Received {max_delta}.")
    if max_delta > most:
        raise ValueError(f"{op}: max_delta must be <= {most}. Received {max_delta}.")
    return draw([], -max_delta, max_delta)


def draw_factor(op: str, lower: Any, upper: Any, draw: UniformSampler) -> Tensor:
    """Draw a factor from [lower, upper)."""
    check_number(lower, "lower")
    check_number(upper, "upper")
    if upper <= lower:
        raise ValueError(f"{op}: upper must be > lower. Received {lower} and {upper}.")
    if lower < 0:
        raise ValueError(f"{op}: lower must be non-negative. Received {lower}.")
    return draw([], lower, upper)


@public
def random_brightness(image: Any, max_delta: Any, seed: Any = None) -> Tensor:
    """`adjust_brightness` by a number drawn from [-max_delta, max_delta).

    Args:
        image: (batch, height, width, channels), or a single image.
        max_delta: the largest change.
        seed: an integer or None; a pair of integers if stateless.

    Returns:
        Images like `image`.

    Example:
        >>> tf.image.random_brightness(tf.ones([8, 8, 3]), 0.1).shape
        TensorShape([8, 8, 3])
    """
    delta = draw_delta("random_brightness", max_delta, float("inf"), make_stateful_sampler(seed))
    return adjust_brightness(image, delta)


@public
def stateless_random_brightness(image: Any, max_delta: Any, seed: Any) -> Tensor:
    """As `random_brightness`, but deterministic in `seed`, a pair of integers.

    Args:
        image: (batch, height, width, channels), or a single image.
        max_delta: the largest change.
        seed: an integer or None; a pair of integers if stateless.

    Returns:
        Images like `image`.

    Example:
        >>> tf.image.stateless_random_brightness(tf.ones([8, 8, 3]), 0.1, seed=[1, 2]).shape
        TensorShape([8, 8, 3])
    """
    delta = draw_delta(
        "stateless_random_brightness", max_delta, float("inf"), make_stateless_sampler(seed)
    )
    return adjust_brightness(image, delta)


@public
def random_contrast(image: Any, lower: Any, upper: Any, seed: Any = None) -> Tensor:
    """`adjust_contrast` by a factor drawn from [lower, upper).

    Args:
        image: (batch, height, width, channels), or a single image.
        lower: the least factor.
        upper: the factor above the largest one.
        seed: an integer or None; a pair of integers if stateless.

    Returns:
        Images like `image`.

    Example:
        >>> tf.image.random_contrast(tf.ones([8, 8, 3]), 0.5, 1.5).shape
        TensorShape([8, 8, 3])
    """
    return adjust_contrast(
        image, draw_factor("random_contrast", lower, upper, make_stateful_sampler(seed))
    )


@public
def stateless_random_contrast(image: Any, lower: Any, upper: Any, seed: Any) -> Tensor:
    """As `random_contrast`, but deterministic in `seed`, a pair of integers.

    Args:
        image: (batch, height, width, channels), or a single image.
        lower: the least factor.
        upper: the factor above the largest one.
        seed: an integer or None; a pair of integers if stateless.

    Returns:
        Images like `image`.

    Example:
        >>> tf.image.stateless_random_contrast(tf.ones([8, 8, 3]), 0.5, 1.5, seed=[1, 2]).shape
        TensorShape([8, 8, 3])
    """
    factor = draw_factor("stateless_random_contrast", lower, upper, make_stateless_sampler(seed))
    return adjust_contrast(image, factor)


@public
def random_hue(image: Any, max_delta: Any, seed: Any = None) -> Tensor:
    """`adjust_hue` by a number drawn from [-max_delta, max_delta), with max_delta <= 0.5.

    Args:
        image: (batch, height, width, channels), or a single image.
        max_delta: the largest change.
        seed: an integer or None; a pair of integers if stateless.

    Returns:
        Images like `image`.
    """
    return adjust_hue(image, draw_delta("random_hue", max_delta, 0.5, make_stateful_sampler(seed)))


@public
def stateless_random_hue(image: Any, max_delta: Any, seed: Any) -> Tensor:
    """As `random_hue`, but deterministic in `seed`, a pair of integers.

    Args:
        image: (batch, height, width, channels), or a single image.
        max_delta: the largest change.
        seed: an integer or None; a pair of integers if stateless.

    Returns:
        Images like `image`.
    """
    return adjust_hue(
        image, draw_delta("stateless_random_hue", max_delta, 0.5, make_stateless_sampler(seed))
    )


@public
def random_saturation(image: Any, lower: Any, upper: Any, seed: Any = None) -> Tensor:
    """`adjust_saturation` by a factor drawn from [lower, upper).

    Args:
        image: (batch, height, width, channels), or a single image.
        lower: the least factor.
        upper: the factor above the largest one.
        seed: an integer or None; a pair of integers if stateless.

    Returns:
        Images like `image`.
    """
    return adjust_saturation(
        image, draw_factor("random_saturation", lower, upper, make_stateful_sampler(seed))
    )


@public
def stateless_random_saturation(image: Any, lower: Any, upper: Any, seed: Any = None) -> Tensor:
    """As `random_saturation`, but deterministic in `seed`, a pair of integers.

    Args:
        image: (batch, height, width, channels), or a single image.
        lower: the least factor.
        upper: the factor above the largest one.
        seed: an integer or None; a pair of integers if stateless.

    Returns:
        Images like `image`.
    """
    factor = draw_factor("stateless_random_saturation", lower, upper, make_stateless_sampler(seed))
    return adjust_saturation(image, factor)


def crop_at_random(op: str, value: Any, size: Any, draw: UniformSampler) -> Tensor:
    """Crop `value` to `size` at a random position."""
    x = convert(value)
    shape, wanted = x._array.shape, to_shape_tuple(size)
    if len(wanted) != len(shape) or any(n < m for n, m in zip(shape, wanted, strict=False)):
        raise InvalidArgumentError(
            f"{op}: size must fit into the value. Received {list(wanted)} for {list(shape)}."
        )
    most = np.iinfo(np.int32).max
    drawn = draw([len(shape)], 0, most, dtype=dtypes.int32)
    result: Tensor = s.slice_from(x, apply_raw(crop_starts, drawn, shape, wanted), sizes=wanted)
    return result


@with_shape(keep_shape)
def crop_starts(drawn: Any, shape: tuple[int, ...], sizes: tuple[int, ...]) -> Any:
    """Map raw random integers to start positions at which a crop of `sizes` fits."""
    return drawn % (np.array(shape, np.int32) - np.array(sizes, np.int32) + 1)


@public
def random_crop(value: Any, size: Any, seed: Any = None, name: str | None = None) -> Tensor:
    """A crop of a tensor at a random position.

    Args:
        value: of any shape.
        size: the size of the crop along each axis.
        seed: the op seed; see `tf.random.set_seed`.
        name: has no effect here.

    Returns:
        A tensor of shape `size`.

    Example:
        >>> tf.image.random_crop(tf.ones([8, 8, 3]), [4, 4, 3]).shape
        TensorShape([4, 4, 3])
    """
    return crop_at_random("random_crop", value, size, make_stateful_sampler(seed))


@public
def stateless_random_crop(value: Any, size: Any, seed: Any, name: str | None = None) -> Tensor:
    """As `random_crop`, but deterministic in `seed`, a pair of integers.

    Args:
        value: a tensor.
        size: the shape of the crop.
        seed: an integer or None; a pair of integers if stateless.
        name: has no effect here.

    Returns:
        A tensor of shape `size`.

    Example:
        >>> tf.image.stateless_random_crop(tf.ones([8, 8, 3]), [4, 4, 3], seed=[1, 2]).shape
        TensorShape([4, 4, 3])
    """
    return crop_at_random("stateless_random_crop", value, size, make_stateless_sampler(seed))
