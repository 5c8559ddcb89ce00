"""tf.image: random boxes for cropping images."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gradtape.core import dtypes
from gradtape.core.argument import as_integer
from gradtape.core.convert import convert, to_shape_tuple
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.primitive import Spec
from gradtape.core.shape_rule import FLOAT32
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.graph.host_function import call_on_host
from gradtape.state.random.seed import SEEDS


class DistortedBox(NamedTuple):
    """A box: its first pixel, its size, and its corners in relative coordinates."""

    begin: Tensor
    size: Tensor
    bboxes: Tensor


def make_generator(words: Any) -> Any:
    """Make a NumPy random generator from seed words."""
    return np.random.Generator(np.random.Philox(np.random.SeedSequence([int(w) for w in words])))


def make_op_generator(op: str, seed: int | None) -> Any:
    """Make a NumPy random generator from the op's own seed or the global one."""
    key, counter = SEEDS.draw_stream(op, seed, 1)
    return make_generator((*key, *counter))


def draw_distorted_box(
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
    """Draw a box that covers enough of an object; the whole image if no attempt succeeds."""
    sizes = to_shape_tuple(image_size)
    objects = np.asarray(convert(bounding_boxes, dtypes.float32)._array)
    if len(sizes) != 3 or objects.ndim != 3 or objects.shape[-1] != 4:
        raise InvalidArgumentError(
            f"{op}: image_size must be three numbers and bounding_boxes (batch, n, 4). Received "
            f"{list(sizes)} and shape {list(objects.shape)}."
        )
    objects = objects.reshape(-1, 4)
    if not len(objects) and not use_image_if_no_bounding_boxes:
        raise InvalidArgumentError(
            f"{op}: No bounding boxes provided as input. Set use_image_if_no_bounding_boxes to "
            "use the whole image."
        )
    objects = objects if len(objects) else np.array([[0, 0, 1, 1]], np.float32)
    if ((objects < 0) | (objects > 1)).any() or (objects[:, :2] > objects[:, 2:]).any():
        raise InvalidArgumentError(
            f"{op}: bounding boxes must lie in [0, 1], with top <= bottom and left <= right."
        )
    low, high = aspect_ratio_range or (0.75, 1.33)
    least, most = area_range or (0.05, 1.0)
    if not 0 < low <= high or not 0 < least <= most <= 1:
        raise InvalidArgumentError(
            f"{op}: ranges must be positive with lower <= upper, areas at most 1. Received "
            f"{aspect_ratio_range} and {area_range}."
        )
    height, width, _ = sizes
    chosen = (0, 0, height, width)
    required_share = float(convert(min_object_covered)._array)
    for _ in range(100 if max_attempts is None else max_attempts):
        box = draw_box(draws, height, width, (low, high), (least, most))
        if (
            box
            and covered_fraction(box, objects * [height, width, height, width]) >= required_share
        ):
            chosen = box
            break
    top, left, bottom, right = chosen
    corners = np.array([[[top / height, left / width, bottom / height, right / width]]], np.float32)
    begin = np.array([top, left, 0], np.int32)
    extent = np.array([bottom - top, right - left, -1], np.int32)
    return DistortedBox(make_tensor(begin), make_tensor(extent), make_tensor(corners))


def draw_box(
    draws: Any, height: int, width: int, ratios: tuple[float, float], areas: tuple[float, float]
) -> tuple[int, int, int, int] | None:
    """Draw a box with aspect ratio and area from ranges; None if it does not fit the image."""
    ratio = draws.uniform(*ratios)
    area = height * width
    rows = round(float(np.sqrt(draws.uniform(*areas) * area / ratio)))
    columns = round(rows * ratio)
    fits = 0 < rows <= height and 0 < columns <= width
    if not fits or not areas[0] * area <= rows * columns <= areas[1] * area:
        return None
    top, left = (int(draws.integers(0, n + 1)) for n in (height - rows, width - columns))
    return top, left, top + rows, left + columns


def covered_fraction(box: tuple[int, int, int, int], objects: Any) -> float:
    """The largest fraction of any object's area that lies within a box."""
    inner = np.minimum(objects[:, 2:], box[2:]) - np.maximum(objects[:, :2], box[:2])
    size = np.prod(objects[:, 2:] - objects[:, :2], axis=-1)
    share = np.prod(np.maximum(inner, 0), axis=-1) / np.maximum(size, 1e-30)
    return float(np.max(share))


def describe_box(image_size: Any, *_: Any, **__: Any) -> DistortedBox:
    """Result rule of the functions that draw a box."""
    dtype = convert(image_size)._array.dtype
    bounds = [Spec(((3,), dtype)), Spec(((3,), dtype)), Spec(((1, 1, 4), FLOAT32))]
    return DistortedBox(*bounds)  # type: ignore[arg-type]


@public
@call_on_host(describe_box)
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
    """A random box that covers enough of an object, for cropping an image.

    Args:
        image_size: height, width and channels.
        bounding_boxes: (batch, n, 4) in float32: the objects, with corners in [0, 1].
        seed: the op seed; 0 for none.
        min_object_covered: the fraction of at least one object that the box must cover.
        aspect_ratio_range: bounds of width / height; 0.75 to 1.33 if None.
        area_range: bounds of the box area as a fraction of the image; 0.05 to 1 if None.
        max_attempts: how many boxes to try before returning the whole image; 100 if None.
        use_image_if_no_bounding_boxes: whether to use the whole image if there are no objects.
        name: has no effect here.

    Returns:
        `begin` and `size` for `tf.slice`, and the box (1, 1, 4) for `draw_bounding_boxes`.

    Note:
        A seed gives the same boxes in every run, but other boxes than in TensorFlow.
    """
    op = "SampleDistortedBoundingBox"
    draws = make_op_generator(op, as_integer(seed, "seed") or None)
    return draw_distorted_box(
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
@call_on_host(describe_box)
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
    """As `sample_distorted_bounding_box`, but deterministic in `seed`, a pair of integers.

    Args:
        image_size: (height, width, channels).
        bounding_boxes: boxes (batch, n, 4) of objects.
        seed: a pair of integers.
        min_object_covered: the least fraction of an object that the box must cover.
        aspect_ratio_range: the least and the largest width divided by height.
        area_range: the least and the largest fraction of the image.
        max_attempts: how many boxes to try.
        use_image_if_no_bounding_boxes: whether the whole image is the object if there is no
            box.
        name: has no effect here.

    Returns:
        Begin and size for `tf.slice`, and the box (1, 1, 4) for `draw_bounding_boxes`.
    """
    op = "StatelessSampleDistortedBoundingBox"
    words = [word % 2**64 for word in to_shape_tuple(seed)]
    if len(words) != 2:
        raise InvalidArgumentError(f"{op}: seed must have shape [2]. Received {seed}.")
    return draw_distorted_box(
        op,
        image_size,
        bounding_boxes,
        make_generator(words),
        min_object_covered,
        aspect_ratio_range,
        area_range,
        max_attempts,
        use_image_if_no_bounding_boxes,
    )
