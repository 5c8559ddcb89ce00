"""Non-maximum suppression: selects the best of overlapping boxes, without gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.core.primitive import Spec, primitive
from gradtape.core.shape_rule import FLOAT32, FRESH, INT32

lax: Any = None  # `jax.lax` in the copy of this module that runs on JAX

NO_SCORE = np.float32(-np.inf)  # the score of boxes that are not selected any more


def compute_iou(box: Any, boxes: Any) -> Any:
    """Intersection over union of one box with others; zero where a box is empty."""
    low, high = (
        np.minimum(boxes[..., :2], boxes[..., 2:]),
        np.maximum(boxes[..., :2], boxes[..., 2:]),
    )
    start, end = np.minimum(box[..., :2], box[..., 2:]), np.maximum(box[..., :2], box[..., 2:])
    shared = np.maximum(np.minimum(end, high) - np.maximum(start, low), 0).prod(axis=-1)
    area, own = (high - low).prod(axis=-1), (end - start).prod(axis=-1)
    union = own + area - shared
    return np.where((area > 0) & (own > 0), shared / np.where(union > 0, union, 1), 0)


def make_overlap_function(boxes: Any, overlap: Callable[[Any, Any], Any]) -> Callable[[int], Any]:
    """Make a function that maps a position to the overlaps of that box with all boxes."""
    return lambda i: overlap(boxes[i], boxes)


def select_boxes(
    scores: Any,
    overlap: Callable[[int], Any],
    most: int,
    threshold: float,
    least: float,
    sigma: float = 0,
) -> tuple[Any, Any]:
    """Select boxes greedily by score; return their positions and scores.

    `overlap(i)` returns the overlaps of all boxes with box i. Boxes above `threshold` are dropped.
    If `sigma` is positive, all scores decay by a Gaussian of the overlap instead (Soft-NMS, Bodla
    et al. 2017). At most `most` boxes are selected, with scores above `least`.
    """
    left = np.where(scores > least, scores.astype(np.float32), NO_SCORE)
    places: list[int] = []
    values: list[Any] = []
    while len(places) < most and left.size:
        i = int(left.argmax())
        if not left[i] > least:
            break
        places.append(i)
        values.append(left[i])
        shared = overlap(i)
        if sigma > 0:
            left = left * np.exp(-0.5 / sigma * shared * shared).astype(np.float32)
            left = np.where(left > least, left, NO_SCORE)
        else:
            left = np.where(shared > threshold, NO_SCORE, left)
        left[i] = NO_SCORE
    return np.array(places, np.int32), np.array(values, np.float32)


@primitive(
    boxes=None,
    scores=None,
    outputs=True,
    shape=lambda boxes, scores, **_: [Spec(((FRESH,), INT32)), Spec(((FRESH,), scores.dtype))],
)
def suppress_boxes(boxes, scores, *, most: int, threshold: float, least: float, sigma: float):
    """Positions and scores of the boxes that no better box suppresses."""
    wide = boxes.astype(np.float32)
    places, values = select_boxes(
        scores, make_overlap_function(wide, compute_iou), most, threshold, least, sigma
    )
    return places, values.astype(scores.dtype)


@primitive(overlaps=None, scores=None, shape=lambda overlaps, scores, **_: Spec(((FRESH,), INT32)))
def suppress_overlaps(overlaps, scores, *, most: int, threshold: float, least: float):
    """Positions of the boxes that no better one suppresses, given the matrix of overlaps."""
    return select_boxes(scores, lambda i: overlaps[i], most, threshold, least)[0]


def suppress_batch_shape(boxes, scores, most, **_):
    batch = boxes.shape[0]
    return [Spec(((batch, most), INT32)), Spec(((batch,), INT32))]


@primitive(boxes=None, scores=None, outputs=True, shape=suppress_batch_shape)
def suppress_batch(boxes, scores, *, most: int, threshold: float, least: float, ordered: bool):
    """Selected positions for each row of (batch, n, 4), padded with zeros; and their number.

    As in TensorFlow's padded form, the first box decides how corners are ordered. Boxes that
    overlap by exactly the threshold are suppressed, and so are boxes without a positive coordinate.
    """
    places = np.zeros((len(boxes), most), np.int32)
    counts = np.zeros(len(boxes), np.int32)
    wide = sort_corners(boxes, scores, least, ordered)
    below = np.nextafter(np.float32(threshold), np.float32(-1))
    for row, (own, score) in enumerate(zip(wide, scores, strict=True)):
        valid = np.where((own > 0).any(axis=1), score, -np.inf)
        found, _ = select_boxes(
            valid, make_overlap_function(own, compute_sorted_iou), most, below, -np.inf
        )
        places[row, : len(found)] = found
        counts[row] = len(found)
    return places, counts


@suppress_batch.lower
def lower_suppress_batch(boxes, scores, *, most, threshold, least, ordered):
    wide = sort_corners(boxes, scores, least, ordered)
    below = np.nextafter(np.float32(threshold), np.float32(-1))
    valid = np.where((wide > 0).any(axis=-1), scores, -np.inf)
    places, _, counts = select_boxes_in_rows(valid, wide, compute_sorted_iou, most, below, -np.inf)
    return places, counts


def sort_corners(boxes: Any, scores: Any, least: float, ordered: bool) -> Any:
    """Boxes in float32 with sorted corners; boxes with a score of at most `least` become zeros."""
    wide = np.where((scores > least)[..., None], boxes.astype(np.float32), 0)
    if ordered or not wide.size:
        return wide
    y1, x1, y2, x2 = (wide[..., i] for i in range(4))
    upright, forward = wide[0, 0, 0] <= wide[0, 0, 2], wide[0, 0, 1] <= wide[0, 0, 3]
    rows = np.where(upright, y1, y2), np.where(upright, y2, y1)
    columns = np.where(forward, x1, x2), np.where(forward, x2, x1)
    return np.stack((rows[0], columns[0], rows[1], columns[1]), axis=-1)


def compute_sorted_iou(box: Any, boxes: Any) -> Any:
    """Intersection over union of one box with others, for sorted corners."""
    sides = np.minimum(box[..., 2:], boxes[..., 2:]) - np.maximum(box[..., :2], boxes[..., :2])
    shared = np.maximum(sides, 0).prod(axis=-1)
    area = (boxes[..., 2:] - boxes[..., :2]).prod(axis=-1)
    union = (box[..., 2:] - box[..., :2]).prod(axis=-1) + area - shared + np.float32(1e-8)
    return np.where(shared > 0, shared / np.where(shared > 0, union, 1), 0)


def suppress_classes_shape(boxes, scores, most, **_):
    batch = scores.shape[0]
    floats = [Spec((shape, FLOAT32)) for shape in ((batch, most, 4), (batch, most), (batch, most))]
    return [*floats, Spec(((batch,), INT32))]


@primitive(boxes=None, scores=None, outputs=True, shape=suppress_classes_shape)
def suppress_classes(
    boxes, scores, *, each: int, most: int, threshold: float, least: float, clip: bool
):
    """Best boxes of all classes per image (batch, most, 4), with scores, classes and counts.

    `boxes` are (batch, n, 1 or classes, 4), `scores` (batch, n, classes). At most `each` boxes are
    selected per class.
    """
    batch, _, classes = scores.shape
    out = np.zeros((batch, most, 4), np.float32)
    values, kinds = np.zeros((2, batch, most), np.float32)
    counts = np.zeros(batch, np.int32)
    for row in range(batch):
        found = []
        for c in range(classes):
            own = boxes[row, :, c if boxes.shape[2] > 1 else 0]
            overlap = make_overlap_function(own, compute_iou)
            places, best = select_boxes(scores[row, :, c], overlap, each, threshold, least)
            found += [(-score, c, own[i]) for i, score in zip(places, best, strict=True)]
        found = sorted(found, key=lambda entry: entry[0])[:most]
        counts[row] = len(found)
        for k, (score, c, box) in enumerate(found):
            out[row, k], values[row, k], kinds[row, k] = box, -score, c
    return np.clip(out, 0, 1) if clip else out, values, kinds, counts


@suppress_classes.lower
def lower_suppress_classes(boxes, scores, *, each, most, threshold, least, clip):
    batch, n, classes = scores.shape
    own = np.broadcast_to(np.moveaxis(boxes, 2, 1), (batch, classes, n, 4)).reshape(-1, n, 4)
    flat = np.moveaxis(scores, 2, 1).reshape(-1, n)
    places, values, _ = select_boxes_in_rows(flat, own, compute_iou, each, threshold, least)
    corners = np.take_along_axis(own, places[..., None], axis=1).reshape(batch, -1, 4)
    kinds = np.broadcast_to(np.arange(classes)[:, None], (batch, classes, each))
    values, kinds = values.reshape(batch, -1), kinds.reshape(batch, -1)
    order = np.argsort(-values, axis=-1, stable=True)[:, :most]
    corners = np.take_along_axis(corners, order[..., None], axis=1).astype(np.float32)
    values, kinds = (np.take_along_axis(x, order, axis=1) for x in (values, kinds))
    found = values > least
    short = ((0, 0), (0, most - order.shape[1]))
    values, kinds = (
        np.pad(np.where(found, x, 0), short).astype(np.float32) for x in (values, kinds)
    )
    out = np.pad(np.where(found[..., None], corners, 0), (*short, (0, 0)))
    counts = found.sum(axis=1).astype(np.int32)
    return np.clip(out, 0, 1) if clip else out, values, kinds, counts


def select_boxes_in_rows(
    scores: Any,
    boxes: Any,
    overlap: Callable[[Any, Any], Any],
    most: int,
    threshold: Any,
    least: float,
) -> tuple[Any, Any, Any]:
    """Lowering of `select_boxes` for rows of boxes: positions (rows, most), scores and counts.

    Unused positions are zero and unused scores `NO_SCORE`.
    """
    rows, n = scores.shape
    empty = (
        np.zeros((rows, most), np.int32),
        np.full((rows, most), NO_SCORE),
        np.zeros(rows, np.int32),
    )
    if not n:
        return empty

    def choose(k, state):
        left, places, values, counts = state
        i = left.argmax(axis=-1)
        best = np.take_along_axis(left, i[:, None], axis=1)[:, 0]
        found = best > least
        shared = overlap(np.take_along_axis(boxes, i[:, None, None], axis=1), boxes)
        drop = (shared > threshold) | (np.arange(n) == i[:, None])
        left = np.where(drop & found[:, None], NO_SCORE, left)
        places = places.at[:, k].set(np.where(found, i, 0).astype(np.int32))
        values = values.at[:, k].set(np.where(found, best, NO_SCORE))
        return left, places, values, counts + found.astype(np.int32)

    left = np.where(scores > least, scores.astype(np.float32), NO_SCORE)
    return lax.fori_loop(0, most, choose, (left, *empty))[1:]


for suppress in (suppress_boxes, suppress_overlaps):
    suppress.keep_on_host("how many boxes remain depends on the values")
