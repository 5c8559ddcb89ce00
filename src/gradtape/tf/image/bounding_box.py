"""tf.image: cropping and drawing of bounding boxes."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.tensor import Tensor
from gradtape.ops.image import bounding_box
from gradtape.tf.image.resize import PIXEL_DTYPES
from gradtape.tf.public_op import as_numpy_dtypes, check_dtype

BOX_IMAGE_DTYPES = as_numpy_dtypes("float16", "float32")

# Yellow, blue, red, lime, purple, olive, maroon, navy, aqua and fuchsia.
PALETTE = (
    (1.0, 1.0, 0.0, 1.0),
    (0.0, 0.0, 1.0, 1.0),
    (1.0, 0.0, 0.0, 1.0),
    (0.0, 1.0, 0.0, 1.0),
    (0.5, 0.0, 0.5, 1.0),
    (0.5, 0.5, 0.0, 1.0),
    (0.5, 0.0, 0.0, 1.0),
    (0.0, 0.0, 0.5, 1.0),
    (0.0, 1.0, 1.0, 1.0),
    (1.0, 0.0, 1.0, 1.0),
)


def check_argument(op: str, holds: bool, what: str, received: Any) -> None:
    """Raise InvalidArgumentError unless `holds`; `what` says what must hold."""
    if not holds:
        raise InvalidArgumentError(f"{op}: {what}. Received {received}.")


@public
def crop_and_resize(
    image: Any,
    boxes: Any,
    box_indices: Any,
    crop_size: Any,
    method: str = "bilinear",
    extrapolation_value: Any = 0.0,
    name: str | None = None,
) -> Tensor:
    """Boxes cropped from images and resized to a common size.

    Args:
        image: (batch, height, width, channels).
        boxes: (boxes, 4) in float32: top, left, bottom and right, where 0 is the first row or
            column and 1 the last. A box may be flipped, and may extend beyond the image.
        box_indices: (boxes,) in int32: the image that each box is cropped from.
        crop_size: height and width of the results.
        method: "bilinear" or "nearest".
        extrapolation_value: the value of pixels outside of the image.
        name: has no effect here.

    Returns:
        (boxes, *crop_size, channels) in float32.
    """
    op = "CropAndResize"
    x = check_dtype(op, convert(image), PIXEL_DTYPES)
    corners = convert(boxes, dtypes.float32)
    indices = convert(box_indices, dtypes.int32)
    size = convert(crop_size, dtypes.int32)._array
    have, shape = x._array.shape, corners._array.shape
    check_argument(
        op, method in ("bilinear", "nearest"), "method must be bilinear or nearest", method
    )
    check_argument(op, len(have) == 4, "input image must be 4-D", have)
    check_argument(op, all(have[1:3]), "image dimensions must be positive", have)
    check_argument(op, len(shape) == 2 and shape[1] == 4, "boxes must have 4 columns", shape)
    found = indices._array.shape
    check_argument(op, found == shape[:1], "box_indices must have an entry for each box", found)
    check_argument(op, size.shape == (2,), "crop_size must be height and width", size)
    check_argument(op, bool((size > 0).all()), "crop dimensions must be positive", size)
    result: Tensor = bounding_box.crop_and_resize(
        x,
        corners,
        indices,
        size=(int(size[0]), int(size[1])),
        nearest=method == "nearest",
        outside=float(extrapolation_value),
    )
    return result


@public
def draw_bounding_boxes(images: Any, boxes: Any, colors: Any, name: str | None = None) -> Tensor:
    """Images with the outlines of boxes drawn in them; without gradient.

    Args:
        images: (batch, height, width, channels) in float32 or float16.
        boxes: (batch, boxes, 4) in float32: top, left, bottom and right, in [0, 1].
        colors: (colors, channels), used in turn; TensorFlow's ten colours if None.
        name: has no effect here.

    Returns:
        Images like `images`.
    """
    op = "DrawBoundingBoxes"
    x = check_dtype(op, convert(images), BOX_IMAGE_DTYPES)
    corners = convert(boxes, dtypes.float32)
    shape, found = x._array.shape, corners._array.shape
    check_argument(op, len(shape) == 4, "the rank of the images should be 4", shape)
    depth = shape[-1]
    check_argument(op, depth in (1, 3, 4), "channels should be 1, 3 or 4", depth)
    check_argument(
        op, len(found) == 3 and found[2] == 4, "boxes should have shape (batch, n, 4)", found
    )
    check_argument(
        op, found[0] == shape[0], "the batch sizes should be the same", (shape[0], found[0])
    )
    if colors is None:
        paint = convert(np.ones((1, 1), np.float32) if depth == 1 else PALETTE)
    else:
        paint = convert(colors, dtypes.float32)
    kinds = paint._array.shape
    wide = len(kinds) == 2 and kinds[1] >= depth
    check_argument(op, wide, "colors must have at least as many channels as the images", kinds)
    result: Tensor = bounding_box.draw_boxes(x, corners, paint)
    return result
