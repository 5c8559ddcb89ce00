"""Choosing the best of boxes that overlap. What is chosen has no derivative."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.core.primitive import primitive

NEVER = np.float32(-np.inf)


def overlaps_with(box: Any, boxes: Any) -> Any:
    """Intersection over union of one box with others; zero where a box is empty."""
    low, high = np.minimum(boxes[:, :2], boxes[:, 2:]), np.maximum(boxes[:, :2], boxes[:, 2:])
    start, end = np.minimum(box[:2], box[2:]), np.maximum(box[:2], box[2:])
    shared = np.maximum(np.minimum(end, high) - np.maximum(start, low), 0).prod(axis=1)
    area, own = (high - low).prod(axis=1), (end - start).prod()
    union = own + area - shared
    return np.where((area > 0) & (own > 0), shared / np.where(union > 0, union, 1), 0)


def among(boxes: Any, overlap: Callable[[Any, Any], Any]) -> Callable[[int], Any]:
    """How much all of `boxes` overlap one of them, by its position."""
    return lambda i: overlap(boxes[i], boxes)


def chosen(
    scores: Any,
    overlap: Callable[[int], Any],
    most: int,
    threshold: float,
    least: float,
    sigma: float = 0,
) -> tuple[Any, Any]:
    """Positions and scores of the best, one after another; each weakens those it overlaps.

    `overlap(i)` says how much others overlap the i-th. Those above `threshold` are dropped, or, if
    `sigma` is given, all lose by a bell of that variance (Bodla et al. 2017).
    """
    left = np.where(scores > least, scores.astype(np.float32), NEVER)
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
            left = np.where(left > least, left, NEVER)
        else:
            left = np.where(shared > threshold, NEVER, left)
        left[i] = NEVER
    return np.array(places, np.int32), np.array(values, np.float32)


@primitive(boxes=None, scores=None, outputs=True)
def suppress_boxes(boxes, scores, *, most: int, threshold: float, least: float, sigma: float):
    """Positions and scores of boxes that remain when the better suppress those they overlap."""
    wide = boxes.astype(np.float32)
    places, values = chosen(scores, among(wide, overlaps_with), most, threshold, least, sigma)
    return places, values.astype(scores.dtype)


@primitive(overlaps=None, scores=None)
def suppress_overlaps(overlaps, scores, *, most: int, threshold: float, least: float):
    """Positions of what remains when the better suppress those that `overlaps` says they do."""
    return chosen(scores, lambda i: overlaps[i], most, threshold, least)[0]


@primitive(boxes=None, scores=None, outputs=True)
def suppress_batch(boxes, scores, *, most: int, threshold: float, least: float, ordered: bool):
    """For each row of (batch, n, 4) the positions that remain, then zeros; and how many they are.

    As TensorFlow's padded form: corners are ordered as those of the first box are, boxes that
    overlap by exactly the threshold are suppressed, and so are boxes that lie at the origin.
    """
    places = np.zeros((len(boxes), most), np.int32)
    counts = np.zeros(len(boxes), np.int32)
    wide = boxes.astype(np.float32)
    wide = np.where((scores > least)[..., None], wide, 0)
    if not ordered and wide.size:
        y1, x1, y2, x2 = wide[0, 0]
        order = [0 if y1 <= y2 else 2, 1 if x1 <= x2 else 3]
        wide = wide[..., [*order, 2 - order[0], 4 - order[1]]]
    below = np.nextafter(np.float32(threshold), np.float32(-1))
    for row, (own, score) in enumerate(zip(wide, scores, strict=True)):
        valid = np.where((own > 0).any(axis=1), score, -np.inf)
        found, _ = chosen(valid, among(own, plain_overlap), most, below, -np.inf)
        places[row, : len(found)] = found
        counts[row] = len(found)
    return places, counts


def plain_overlap(box: Any, boxes: Any) -> Any:
    """Intersection over union of boxes whose corners are in order."""
    sides = np.minimum(box[2:], boxes[:, 2:]) - np.maximum(box[:2], boxes[:, :2])
    shared = np.maximum(sides, 0).prod(axis=1)
    area = (boxes[:, 2:] - boxes[:, :2]).prod(axis=1)
    union = (box[2:] - box[:2]).prod() + area - shared + np.float32(1e-8)
    return np.divide(shared, union, out=np.zeros_like(shared), where=shared > 0)


@primitive(boxes=None, scores=None, outputs=True)
def suppress_classes(
    boxes, scores, *, each: int, most: int, threshold: float, least: float, clip: bool
):
    """Per image the best boxes of all classes (batch, most, 4), with scores, classes and counts.

    `boxes` are (batch, n, 1 or classes, 4), `scores` (batch, n, classes); `each` class gives so
    many at most.
    """
    batch, _, classes = scores.shape
    out = np.zeros((batch, most, 4), np.float32)
    values, kinds = np.zeros((2, batch, most), np.float32)
    counts = np.zeros(batch, np.int32)
    for row in range(batch):
        found = []
        for c in range(classes):
            own = boxes[row, :, c if boxes.shape[2] > 1 else 0]
            overlap = among(own, overlaps_with)
            places, best = chosen(scores[row, :, c], overlap, each, threshold, least)
            found += [(-score, c, own[i]) for i, score in zip(places, best, strict=True)]
        found = sorted(found, key=lambda entry: entry[0])[:most]
        counts[row] = len(found)
        for k, (score, c, box) in enumerate(found):
            out[row, k], values[row, k], kinds[row, k] = box, -score, c
    return np.clip(out, 0, 1) if clip else out, values, kinds, counts


def on_the_host(*args, **static):
    """What runs in place of a lowering."""
    raise NotImplementedError("suppression: choosing boxes happens on the host.")


for suppress in (suppress_boxes, suppress_overlaps, suppress_batch, suppress_classes):
    suppress.lower(on_the_host)
