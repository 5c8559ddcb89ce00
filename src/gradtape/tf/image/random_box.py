"""tf.image: boxes drawn at random, to cut out of images."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gradtape.core import dtypes
from gradtape.core.convert import convert, shape_tuple
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.tensor import Tensor, eager
from gradtape.graph.side_effect import on_host
from gradtape.state.random.seed import SEEDS


class DistortedBox(NamedTuple):
    """Where a box begins, its size, and its corners in relative coordinates."""

    begin: Tensor
    size: Tensor
    bboxes: Tensor


def generator(words: Any) -> Any:
    """A generator of random numbers from words that seed it."""
    return np.random.Generator(np.random.Philox(np.random.SeedSequence([int(w) for w in words])))


def fresh(op: str, seed: int | None) -> Any:
    """A generator from the op's own or the global seed."""
    key, counter = SEEDS.stream(op, seed, 1)
    return generator((*key, *counter))


def distorted_box(
    op: str,
    image_size: Any,
    bounding_boxes: Any,
    draws: Any,
    min_object_covered: Any,
    aspect_ratio_range: Any,
    area_range: Any,
    max_attempts: int | None,
    use_image_if_no_bounding_boxes: bool | None,
) -> DistortedBox:
    """A box at random that covers enough of a given one; the whole image if none is found."""
    sizes = shape_tuple(image_size)
    given = np.asarray(convert(bounding_boxes, dtypes.float32)._array)
    if len(sizes) != 3 or given.ndim != 3 or given.shape[-1] != 4:
        raise InvalidArgumentError(
            f"{op}: image_size must be three numbers and bounding_boxes (batch, n, 4). Received "
            f"{list(sizes)} and shape {list(given.shape)}."
        )
    given = given.reshape(-1, 4)
    if not len(given) and not use_image_if_no_bounding_boxes:
        raise InvalidArgumentError(
            f"{op}: No bounding boxes provided as input. Set use_image_if_no_bounding_boxes to "
            "take the whole image."
        )
    given = given if len(given) else np.array([[0, 0, 1, 1]], np.float32)
    if ((given < 0) | (given > 1)).any() or (given[:, :2] > given[:, 2:]).any():
        raise InvalidArgumentError(f"{op}: all bounding boxes must lie in [0, 1], in order.")
    low, high = aspect_ratio_range or (0.75, 1.33)
    least, most = area_range or (0.05, 1.0)
    if not 0 < low <= high or not 0 < least <= most <= 1:
        raise InvalidArgumentError(
            f"{op}: ranges must be positive and in order, areas at most 1. Received "
            f"{aspect_ratio_range} and {area_range}."
        )
    height, width, _ = sizes
    found = (0, 0, height, width)
    covered = float(convert(min_object_covered)._array)
    for _ in range(100 if max_attempts is None else max_attempts):
        box = some_box(draws, height, width, (low, high), (least, most))
        if box and share_covered(box, given * [height, width, height, width]) >= covered:
            found = box
            break
    top, left, bottom, right = found
    corners = np.array([[[top / height, left / width, bottom / height, right / width]]], np.float32)
    begin = np.array([top, left, 0], np.int32)
    extent = np.array([bottom - top, right - left, -1], np.int32)
    return DistortedBox(eager(begin), eager(extent), eager(corners))


def some_box(
    draws: Any, height: int, width: int, ratios: tuple[float, float], areas: tuple[float, float]
) -> tuple[int, int, int, int] | None:
    """A box of a ratio and an area drawn from ranges, or None if it does not fit."""
    ratio = draws.uniform(*ratios)
    area = height * width
    rows = round(float(np.sqrt(draws.uniform(*areas) * area / ratio)))
    columns = round(rows * ratio)
    fits = 0 < rows <= height and 0 < columns <= width
    if not fits or not areas[0] * area <= rows * columns <= areas[1] * area:
        return None
    top, left = (int(draws.integers(0, n + 1)) for n in (height - rows, width - columns))
    return top, left, top + rows, left + columns


def share_covered(box: tuple[int, int, int, int], objects: Any) -> float:
    """The largest share of an object that lies within a box."""
    inner = np.minimum(objects[:, 2:], box[2:]) - np.maximum(objects[:, :2], box[:2])
    size = np.prod(objects[:, 2:] - objects[:, :2], axis=-1)
    share = np.prod(np.maximum(inner, 0), axis=-1) / np.maximum(size, 1e-30)
    return float(np.max(share))


@public
@on_host
def sample_distorted_bounding_box(
    image_size: Any,
    bounding_boxes: Any,
    seed: int = 0,
    min_object_covered: Any = 0.1,
    aspect_ratio_range: Any = None,
    area_range: Any = None,
    max_attempts: int | None = None,
    use_image_if_no_bounding_boxes: bool | None = None,
    name: str | None = None,
) -> DistortedBox:
    """A box at random that contains enough of an object, to cut out of an image.

    Args:
        image_size: height, width and channels.
        bounding_boxes: (batch, n, 4) in float32: the objects, with corners in [0, 1].
        seed: of this op; 0 for a fresh one.
        min_object_covered: the share of some object that the box must contain.
        aspect_ratio_range: of width to height; 0.75 to 1.33 if None.
        area_range: of the share of the image; 0.05 to 1 if None.
        max_attempts: after how many boxes to give up and take the whole image; 100 if None.
        use_image_if_no_bounding_boxes: whether no object means the whole image.
        name: accepted for TensorFlow's sake.

    Returns:
        `begin` and `size` for `tf.slice`, and the box (1, 1, 4) for `draw_bounding_boxes`.

    Note:
        A seed gives the same boxes every time, but not TensorFlow's.
    """
    op = "SampleDistortedBoundingBox"
    draws = fresh(op, int(seed) or None)
    return distorted_box(
        op,
        image_size,
        bounding_boxes,
        draws,
        min_object_covered,
        aspect_ratio_range,
        area_range,
        max_attempts,
        use_image_if_no_bounding_boxes,
    )


@public
@on_host
def stateless_sample_distorted_bounding_box(
    image_size: Any,
    bounding_boxes: Any,
    seed: Any,
    min_object_covered: Any = 0.1,
    aspect_ratio_range: Any = None,
    area_range: Any = None,
    max_attempts: int | None = None,
    use_image_if_no_bounding_boxes: bool | None = None,
    name: str | None = None,
) -> DistortedBox:
    """As `sample_distorted_bounding_box`; `seed` is a pair of integers that decides all."""
    op = "StatelessSampleDistortedBoundingBox"
    words = [word % 2**64 for word in shape_tuple(seed)]
    if len(words) != 2:
        raise InvalidArgumentError(f"{op}: seed must have shape [2]. Received {seed}.")
    return distorted_box(
        op,
        image_size,
        bounding_boxes,
        generator(words),
        min_object_covered,
        aspect_ratio_range,
        area_range,
        max_attempts,
        use_image_if_no_bounding_boxes,
    )
