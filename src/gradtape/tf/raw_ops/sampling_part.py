"""Raw ops that sample: resized images, pooling regions, shuffled indices, decoded labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, UnimplementedError, public
from gradtape.core.shape_rule import keep_shape, with_shape
from gradtape.core.tensor import Tensor
from gradtape.graph.raw_function import apply_raw
from gradtape.ops.random import stateless as r
from gradtape.tf.array.gather import gather
from gradtape.tf.image.resize import as_image_size, resize
from gradtape.tf.math.cast import cast
from gradtape.tf.nn.ctc_decoder import ctc_greedy_decoder


def resize_area(images: Any, size: Any, align_corners: bool) -> Tensor:
    """Images resized by the mean of the covered pixels."""
    if align_corners:
        raise UnimplementedError("ResizeArea: align_corners=True is not supported.")
    return resize(images, size, "area")


def resize_interpolated(
    method: str, images: Any, size: Any, align_corners: bool, half_pixel_centers: bool
) -> Tensor:
    """Images resized by interpolation, with a choice of where pixels lie."""
    if align_corners and half_pixel_centers:
        raise InvalidArgumentError(
            f"Resize ({method}): If half_pixel_centers is True, align_corners must be False."
        )
    if half_pixel_centers:
        return resize(images, size, method)
    if method == "bicubic":
        raise UnimplementedError(
            "ResizeBicubic: only half_pixel_centers=True is supported. Use tf.image.resize."
        )
    x = convert(images)
    for axis, target in zip((1, 2), as_image_size("resize", size), strict=True):
        have = x._array.shape[axis]
        at = find_legacy_positions(have, target, align_corners)
        x = (
            sample_nearest(x, at, axis, align_corners)
            if method == "nearest"
            else sample_linear(x, at, axis)
        )
    return x


def find_legacy_positions(have: int, target: int, align_corners: bool) -> Any:
    """Positions of the new pixels, with the corners aligned or at multiples of the ratio."""
    step = (have - 1) / (target - 1) if align_corners and target > 1 else have / target
    return np.arange(target, dtype=np.float32) * np.float32(step)


def sample_nearest(x: Tensor, at: Any, axis: int, align_corners: bool) -> Tensor:
    """The pixels next to positions along an axis."""
    numbers = np.floor(at + np.float32(0.5)) if align_corners else np.floor(at)
    last = x._array.shape[axis] - 1
    return gather(x, np.clip(numbers, 0, last).astype(np.int32), axis=axis)


def sample_linear(x: Tensor, at: Any, axis: int) -> Tensor:
    """Linear interpolation at positions along an axis."""
    last = x._array.shape[axis] - 1
    low = np.clip(np.floor(at), 0, last).astype(np.int32)
    high = np.minimum(low + 1, last)
    share = (at - low).reshape([-1 if a == axis else 1 for a in range(4)]).astype(np.float32)
    wide = cast(x, dtypes.float32)
    below, above = gather(wide, low, axis=axis), gather(wide, high, axis=axis)
    return below + (above - below) * share


def pool_fractionally(
    pool: Callable[..., Any],
    value: Any,
    ratio: Any,
    pseudo_random: bool,
    overlapping: bool,
    seed: int,
) -> tuple[Any, ...]:
    """Pooled values and the borders of the regions, as int64."""
    found = pool(value, ratio, pseudo_random, overlapping, seed)
    return tuple(found)


@public
def random_index_shuffle(
    index: Any, seed: Any, max_index: Any, rounds: int = 4, name: str | None = None
) -> Tensor:
    """The image of `index` under the permutation that three numbers determine.

    Args:
        index: an integer or a vector of integers in [0, max_index].
        seed: three integers, or three for each index.
        max_index: the largest integer, or one for each index.
        rounds: the number of rounds of the cipher, even and at least 4.
        name: has no effect here.

    Returns:
        An integer tensor like `index`.

    Raises:
        InvalidArgumentError: if an index does not lie in [0, max_index].
    """
    given = convert(seed)
    if rounds % 2 or rounds < 4:
        raise UnimplementedError(
            f"RandomIndexShuffle: rounds must be even and at least 4. Received {rounds}."
        )
    if given._array.shape[-1:] != (3,):
        raise InvalidArgumentError(
            "RandomIndexShuffle: seed must have shape [3] or [n, 3]. Received "
            f"{list(given._array.shape)}."
        )
    result: Tensor = apply_raw(shuffle_raw, convert(index), given, convert(max_index), rounds)
    return result


@with_shape(lambda index, seed, top, rounds: keep_shape(index))
def shuffle_raw(index: Any, seed: Any, top: Any, rounds: int) -> Any:
    """Images of raw indices."""
    if np.any(index < 0) or np.any(index > top):
        raise InvalidArgumentError(
            f"RandomIndexShuffle: index must be in [0, max_index]. Received {index} and {top}."
        )
    shape = np.broadcast_shapes(np.shape(index), np.shape(top), np.shape(seed)[:-1])
    keys = np.broadcast_to(seed, (*shape, 3)).reshape(-1, 3).tolist()
    tops = np.broadcast_to(top, shape).reshape(-1).tolist()
    indices = np.broadcast_to(index, shape).reshape(-1).tolist()
    found = [
        r.shuffle_index(i, tuple(key), most, rounds)
        for i, key, most in zip(indices, keys, tops, strict=True)
    ]
    return np.array(found, index.dtype).reshape(shape)[()]


def decode_greedily(inputs: Any, lengths: Any, merge_repeated: bool, blank_index: int) -> Any:
    """Indices, values and shape of the decoded labels, and the log-probabilities."""
    blank = blank_index if blank_index else None
    (labels,), scores = ctc_greedy_decoder(inputs, lengths, merge_repeated, blank)
    return labels.indices, labels.values, labels.dense_shape, scores
