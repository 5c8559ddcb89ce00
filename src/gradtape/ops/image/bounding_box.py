"""Bounding boxes (top, left, bottom, right) in images: cropping and drawing."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.errors import InvalidArgumentError, OutOfRangeError
from gradtape.core.primitive import Spec, primitive
from gradtape.core.shape_rule import keep_shape
from gradtape.core.size_constant import compute_constant, to_scalar
from gradtape.ops.elementwise import (
    cast,
    ceil,
    discretize,
    floor,
    greater_equal,
    less_equal,
    logical_and,
    select,
    stop_gradient,
    zeros_like,
)
from gradtape.ops.gather_scatter import take
from gradtape.ops.shape import reshape, shape_of, unstack

lax: Any = None  # `jax.lax` in the copy of this module that runs on JAX

INT64 = np.dtype("int64")


@primitive(indices=None, shape=lambda indices, count: Spec((indices.shape, INT64)))
def check_box_indices(indices, *, count: int):
    """The image index of each box, after checking that it lies in [0, count)."""
    if indices.size and not (indices.min() >= 0 and indices.max() < count):
        raise OutOfRangeError(
            f"crop_and_resize: box_indices must lie in [0, {count}). Received {indices.tolist()}."
        )
    return indices.astype(INT64)


@check_box_indices.lower
def lower_check_box_indices(indices, *, count):
    return indices.astype(INT64)


@primitive(boxes=lambda g: g, shape=keep_shape)
def check_boxes_finite(boxes):
    """`boxes`, after checking that they are finite."""
    if not np.isfinite(boxes).all():
        raise InvalidArgumentError("crop_and_resize: boxes must be finite. Mask the others first.")
    return boxes


@check_boxes_finite.lower
def lower_check_boxes_finite(boxes):
    return boxes


def compute_sample_positions(start: Any, end: Any, n: int, count: int) -> Any:
    """Positions of `count` samples from `start` to `end`, fractions of an axis of length n.

    The result is (boxes, count).
    """
    start, end = (reshape(t, shape=(*shape_of(t), 1), rank=1) for t in (start, end))
    last = compute_constant(to_scalar, n - 1, np.float32)
    if count == 1:
        return (start + end) * last / 2
    steps = np.arange(count, dtype=np.float32)
    return start * last + (end - start) * steps * last / (count - 1)


class CropSampler:
    """Samples at the positions of boxes in a batch of images."""

    def __init__(self, image: Any, boxes: Any, indices: Any, size: tuple[int, int]) -> None:
        """Compute the sample positions, and which of them lie in the image."""
        batch, self.height, self.width, depth = shape_of(image)
        pixels = batch * self.height * self.width
        self.rows = reshape(image, shape=(pixels, depth), rank=4)
        self.box_images = reshape(indices, shape=(*shape_of(indices), 1, 1), rank=1)
        top, left, bottom, right = unstack(boxes, axis=-1)
        down = compute_sample_positions(top, bottom, self.height, size[0])
        across = compute_sample_positions(left, right, self.width, size[1])
        self.down, inside_down = self.mask_outside(down, self.height)
        self.across, inside_across = self.mask_outside(across, self.width)
        self.down, self.across = as_box_column(self.down), as_box_row(self.across)
        inside = logical_and(as_box_column(inside_down), as_box_row(inside_across))
        self.inside = reshape(inside, shape=(*shape_of(inside), 1), rank=3)

    def mask_outside(self, place: Any, n: int) -> tuple[Any, Any]:
        """Positions with zero for those outside an axis of length n; and which ones are inside."""
        inside = logical_and(
            greater_equal(place, 0),
            less_equal(place, compute_constant(to_scalar, n - 1, np.float32)),
        )
        return select(inside, place, zeros_like(place)), inside

    def read_pixels_at(self, y: Any, x: Any) -> Any:
        """Gather float32 pixels at integer coordinates: (boxes, height, width, channels)."""
        y, x = (discretize(t, dtype=INT64) for t in (y, x))
        where = (self.box_images * self.height + y) * self.width + x
        return as_float32(take(self.rows, where, axis=-2))

    def sample_bilinear(self) -> Any:
        """Interpolate between the four pixels around each position."""
        top, left = floor(self.down), floor(self.across)
        bottom, right = ceil(self.down), ceil(self.across)
        y, x = (append_channel_axis(t) for t in (self.down - top, self.across - left))
        upper = interpolate(self.read_pixels_at(top, left), self.read_pixels_at(top, right), x)
        lower = interpolate(
            self.read_pixels_at(bottom, left), self.read_pixels_at(bottom, right), x
        )
        return interpolate(upper, lower, y)

    def sample_nearest(self) -> Any:
        """Take the pixel nearest to each position; a tie goes to the lower or right one."""
        y, x = (floor(stop_gradient(t) + np.float32(0.5)) for t in (self.down, self.across))
        return self.read_pixels_at(y, x)


def interpolate(a: Any, b: Any, share: Any) -> Any:
    """Interpolate linearly from `a` to `b`."""
    return a + (b - a) * share


def as_box_column(t: Any) -> Any:
    """Reshape (boxes, n) to (boxes, n, 1)."""
    return reshape(t, shape=(*shape_of(t), 1), rank=2)


def as_box_row(t: Any) -> Any:
    """Reshape (boxes, n) to (boxes, 1, n)."""
    boxes, n = shape_of(t)
    return reshape(t, shape=(boxes, 1, n), rank=2)


def append_channel_axis(t: Any) -> Any:
    """Append an axis for channels to (boxes, height, width)."""
    return reshape(t, shape=(*shape_of(t), 1), rank=3)


def as_float32(t: Any) -> Any:
    """Convert to float32."""
    raw = getattr(t, "_array", t)
    to_single = cast if raw.dtype.kind == "f" or raw.dtype.name == "bfloat16" else discretize
    return t if raw.dtype == np.float32 else to_single(t, dtype=np.dtype("float32"))


def crop_and_resize(
    image: Any, boxes: Any, indices: Any, *, size: tuple[int, int], nearest: bool, outside: float
) -> Any:
    """Crops of images, resized to `size`, in float32; `outside` fills pixels beyond the edges."""
    boxes = check_boxes_finite(boxes)
    indices = check_box_indices(indices, count=shape_of(image)[0])
    crop = CropSampler(image, boxes, indices, size)
    if nearest:
        # As in TensorFlow, the gradient in the boxes is that of bilinear sampling.
        smooth = CropSampler(stop_gradient(image), boxes, indices, size).sample_bilinear()
        out = crop.sample_nearest() + (smooth - stop_gradient(smooth))
    else:
        out = crop.sample_bilinear()
    return select(crop.inside, out, np.float32(outside))


@primitive(images=None, boxes=None, colors=None, shape=keep_shape)
def draw_boxes(images, boxes, colors):
    """Images with the outlines of boxes drawn; box k has the colour k modulo their number."""
    out = np.array(images)
    height, width, depth = images.shape[1:]
    corners = boxes * np.array([height - 1, width - 1] * 2, np.float32)
    for image, own in zip(out, corners.astype(np.int64), strict=True):
        for k, (top, left, bottom, right) in enumerate(own):
            if top > bottom or left > right or bottom < 0 or right < 0:
                continue
            if top >= height or left >= width:
                continue
            color = colors[k % len(colors)][:depth]
            rows = slice(max(top, 0), min(bottom, height - 1) + 1)
            columns = slice(max(left, 0), min(right, width - 1) + 1)
            if top >= 0:
                image[top, columns] = color
            if bottom < height:
                image[bottom, columns] = color
            if left >= 0:
                image[rows, left] = color
            if right < width:
                image[rows, right] = color
    return out


@draw_boxes.lower
def lower_draw_boxes(images, boxes, colors):
    height, width, depth = images.shape[1:]
    scale = np.array([height - 1, width - 1] * 2, np.float32)
    corners = (boxes * scale).astype(INT64)[..., None, None]
    y, x = np.arange(height)[:, None], np.arange(width)

    def draw(k, images):
        top, left, bottom, right = (corners[:, k, i] for i in range(4))
        down, across = (top <= y) & (y <= bottom), (left <= x) & (x <= right)
        edge = ((y == top) | (y == bottom)) & across | ((x == left) | (x == right)) & down
        seen = edge & (top <= bottom) & (left <= right)
        return np.where(
            seen[..., None], colors[k % len(colors)][:depth].astype(images.dtype), images
        )

    return lax.fori_loop(0, boxes.shape[1], draw, images)
