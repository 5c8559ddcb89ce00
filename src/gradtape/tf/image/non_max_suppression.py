"""tf.image: non-max suppression, the choice of the best among overlapping boxes."""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

from gradtape.core import dtypes
from gradtape.core.convert import convert
from gradtape.core.errors import public
from gradtape.core.tensor import Tensor
from gradtape.ops.image import non_max_suppression as suppression
from gradtape.ops.shape import reshape, slice_axis
from gradtape.tf.image.bounding_box import BOX_IMAGE_DTYPES, check_argument
from gradtape.tf.public_op import check_dtype, check_same_dtype


class CombinedNonMaxSuppression(NamedTuple):
    """The result of `combined_non_max_suppression`."""

    nmsed_boxes: Tensor
    nmsed_scores: Tensor
    nmsed_classes: Tensor
    valid_detections: Tensor


def check_boxes_and_scores(op: str, boxes: Any, scores: Any) -> tuple[Tensor, Tensor]:
    """Convert and check boxes (n, 4) and their scores (n,)."""
    corners = check_dtype(op, convert(boxes), BOX_IMAGE_DTYPES)
    values = convert(scores)
    check_same_dtype(op, corners, values)
    shape, found = corners._array.shape, values._array.shape
    check_argument(op, len(shape) == 2 and shape[1] == 4, "boxes must have 4 columns", shape)
    check_argument(op, found == shape[:1], "scores must have an entry for each box", found)
    return corners, values


def check_output_size(op: str, size: Any, least: int = 0) -> int:
    """Convert and check an output size."""
    most = int(convert(size, dtypes.int32)._array)
    check_argument(op, most >= least, f"output size must be at least {least}", most)
    return most


def as_float(value: Any) -> float:
    """Convert a scalar to a Python float."""
    return float(convert(value)._array)


def check_iou_threshold(op: str, threshold: Any) -> float:
    """Convert and check an IoU threshold."""
    value = as_float(threshold)
    check_argument(op, 0 <= value <= 1, "iou_threshold must be in [0, 1]", value)
    return value


@public
def non_max_suppression(
    boxes: Any,
    scores: Any,
    max_output_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"),
    name: str | None = None,
) -> Tensor:
    """Indices of the best boxes, without those that overlap a better one.

    Args:
        boxes: (n, 4) in float32 or float16, each given by two opposite corners (y, x, y, x).
        scores: (n,).
        max_output_size: the largest number of boxes to choose.
        iou_threshold: a box is dropped if its overlap with a better one exceeds this.
        score_threshold: a box is dropped if its score does not exceed this.
        name: has no effect here.

    Returns:
        Indices in int32, the best first.

    Example:
        >>> boxes = [[0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 0.9], [2.0, 2.0, 3.0, 3.0]]
        >>> tf.image.non_max_suppression(boxes, [0.5, 0.9, 0.1], 3).numpy().tolist()
        [1, 2]
    """
    chosen, _ = non_max_suppression_with_scores(
        boxes, scores, max_output_size, iou_threshold, score_threshold
    )
    return chosen


@public
def non_max_suppression_with_scores(
    boxes: Any,
    scores: Any,
    max_output_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"),
    soft_nms_sigma: Any = 0.0,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """As `non_max_suppression`, and also returns the scores.

    With a positive `soft_nms_sigma`, overlap with a better box lowers a box's score instead of
    dropping the box.

    Args:
        boxes: corners (n, 4).
        scores: a score for each box (n,).
        max_output_size: the largest number of boxes to select.
        iou_threshold: boxes that overlap more with a selected one are left out.
        score_threshold: boxes with lower scores are left out.
        soft_nms_sigma: 0.0, or the width of the Gaussian that lowers the scores of overlapping
            boxes.
        name: has no effect here.

    Returns:
        Positions (m,) of the selected boxes, and their scores (m,).

    Example:
        >>> boxes = [[0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 0.9]]
        >>> indices, scores = tf.image.non_max_suppression_with_scores(boxes, [0.9, 0.8], 2)
        >>> indices.numpy()
        array([0], dtype=int32)
    """
    op = "NonMaxSuppression"
    corners, values = check_boxes_and_scores(op, boxes, scores)
    pair: tuple[Tensor, Tensor] = suppression.suppress_boxes(
        corners,
        values,
        most=check_output_size(op, max_output_size),
        threshold=check_iou_threshold(op, iou_threshold),
        least=as_float(score_threshold),
        sigma=as_float(soft_nms_sigma),
    )
    return pair


@public
def non_max_suppression_overlaps(
    overlaps: Any,
    scores: Any,
    max_output_size: Any,
    overlap_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"),
    name: str | None = None,
) -> Tensor:
    """As `non_max_suppression`, with pairwise overlaps (n, n) instead of boxes.

    Args:
        overlaps: pairwise overlaps (n, n).
        scores: a score for each box (n,).
        max_output_size: the largest number of boxes to select.
        overlap_threshold: boxes that overlap more with a selected one are left out.
        score_threshold: boxes with lower scores are left out.
        name: has no effect here.

    Returns:
        Positions (m,) of the selected boxes.
    """
    op = "NonMaxSuppressionWithOverlaps"
    matrix, values = convert(overlaps, dtypes.float32), convert(scores, dtypes.float32)
    n = values._array.shape
    check_argument(op, len(n) == 1, "scores must be 1-D", n)
    check_argument(op, matrix._array.shape == n * 2, "overlaps must be square", matrix._array.shape)
    result: Tensor = suppression.suppress_overlaps(
        matrix,
        values,
        most=check_output_size(op, max_output_size),
        threshold=as_float(overlap_threshold),
        least=as_float(score_threshold),
    )
    return result


@public
def non_max_suppression_padded(
    boxes: Any,
    scores: Any,
    max_output_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"),
    pad_to_max_output_size: bool = False,
    name: str | None = None,
    sorted_input: bool = False,
    canonicalized_coordinates: bool = False,
    tile_size: int = 512,
) -> tuple[Tensor, Tensor]:
    """As `non_max_suppression` for batches; indices are padded with zeros.

    Args:
        boxes: (..., n, 4).
        scores: (..., n).
        max_output_size: the largest number of boxes to choose.
        iou_threshold: a box is dropped if its overlap with a better one is at least this.
        score_threshold: a box is dropped if its score does not exceed this.
        pad_to_max_output_size: whether to pad with zeros; required for batches.
        name: has no effect here.
        sorted_input: has no effect here.
        canonicalized_coordinates: whether all boxes are (top, left, bottom, right).
        tile_size: has no effect here.

    Returns:
        Indices (..., max_output_size), and how many of them are valid (...).
    """
    op = "non_max_suppression_padded"
    corners, values = convert(boxes), convert(scores)
    *batch, n, _ = corners._array.shape
    if batch and not pad_to_max_output_size:
        raise ValueError(f"{op}: pad_to_max_output_size must be True for batched input.")
    most, count = check_output_size(op, max_output_size), prod(batch)
    places, valid = suppression.suppress_batch(
        reshape(corners, shape=(count, n, 4), rank=len(batch) + 2),
        reshape(values, shape=(count, n), rank=len(batch) + 1),
        most=most,
        threshold=as_float(iou_threshold),
        least=as_float(score_threshold),
        ordered=bool(canonicalized_coordinates),
    )
    valid = reshape(valid, shape=tuple(batch), rank=1)
    places = reshape(places, shape=(*batch, most), rank=2)
    if not pad_to_max_output_size:
        places = slice_axis(places, axis=-1, start=0, size=int(valid._array))
    return places, valid


@public
def combined_non_max_suppression(
    boxes: Any,
    scores: Any,
    max_output_size_per_class: Any,
    max_total_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"),
    pad_per_class: bool = False,
    clip_boxes: bool = True,
    name: str | None = None,
) -> CombinedNonMaxSuppression:
    """The best boxes of all classes, for each image of a batch.

    Args:
        boxes: (batch, n, classes, 4), or (batch, n, 1, 4) if all classes share them.
        scores: (batch, n, classes).
        max_output_size_per_class: the largest number of boxes to choose of each class.
        max_total_size: the largest number of boxes to return for each image.
        iou_threshold: a box is dropped if its overlap with a better one of its class exceeds this.
        score_threshold: a box is dropped if its score does not exceed this.
        pad_per_class: whether to limit the output to max_output_size_per_class * classes.
        clip_boxes: whether to clip boxes to [0, 1].
        name: has no effect here.

    Returns:
        A named tuple: boxes (batch, most, 4), scores and classes (batch, most) in float32, padded
        with zeros; and how many are valid (batch,).
    """
    op = "CombinedNonMaxSuppression"
    corners, values = convert(boxes, dtypes.float32), convert(scores, dtypes.float32)
    shape, found = corners._array.shape, values._array.shape
    check_argument(
        op, len(shape) == 4 and shape[3] == 4, "boxes must have shape (batch, n, q, 4)", shape
    )
    check_argument(
        op, len(found) == 3 and found[:2] == shape[:2], "scores must fit the boxes", found
    )
    check_argument(op, shape[2] in (1, found[2]), "boxes must be one or one for each class", shape)
    each = check_output_size(op, max_output_size_per_class, least=1)
    most = check_output_size(op, max_total_size, least=1)
    if pad_per_class:
        most = min(most, each * found[2])
    results = suppression.suppress_classes(
        corners,
        values,
        each=each,
        most=most,
        threshold=check_iou_threshold(op, iou_threshold),
        least=as_float(score_threshold),
        clip=bool(clip_boxes),
    )
    return CombinedNonMaxSuppression(*results)
