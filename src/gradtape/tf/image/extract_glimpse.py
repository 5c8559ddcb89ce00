"""tf.image: parts of images around given points."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.convert import convert, shape_tuple
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.tensor import Tensor, eager
from gradtape.graph.side_effect import on_host
from gradtape.tf.image.random_box import fresh
from gradtape.tf.public_op import numpy_dtypes, operand


@public
@on_host
def extract_glimpse(
    input: Any,
    size: Any,
    offsets: Any,
    centered: bool = True,
    normalized: bool = True,
    noise: str = "uniform",
    name: str | None = None,
) -> Tensor:
    """A part of each image, around a point of its own; without gradient.

    Args:
        input: (batch, height, width, channels) in float32.
        size: height and width of the parts.
        offsets: (batch, 2) the points, row and column.
        centered: whether points count from the middle of the image.
        normalized: whether they count in half sizes of the image, rather than in pixels.
        noise: what fills pixels outside of the image: "uniform", "gaussian" or "zero".
        name: accepted for TensorFlow's sake.
    """
    op = "ExtractGlimpse"
    x = operand(op, convert(input, dtypes.float32), numpy_dtypes("float32"))
    points = np.asarray(convert(offsets, dtypes.float32)._array)
    wanted = shape_tuple(size)
    shape = x._array.shape
    if noise not in ("uniform", "gaussian", "zero"):
        raise InvalidArgumentError(
            f"{op}: The noise could only be uniform, gaussian or zero. Received {noise!r}."
        )
    if len(shape) != 4 or len(wanted) != 2 or points.shape != (shape[0], 2):
        raise InvalidArgumentError(
            f"{op}: input must be 4-dimensional, size two numbers and offsets two for each image. "
            f"Received shapes {list(shape)}, {list(wanted)} and {list(points.shape)}."
        )
    return eager(glimpses(np.asarray(x._array), wanted, points, centered, normalized, noise))


def glimpses(
    images: Any, size: tuple[int, ...], points: Any, centered: bool, normalized: bool, noise: str
) -> Any:
    """The raw parts."""
    batch, height, width, channels = images.shape
    out = np.zeros((batch, *size, channels), np.float32)
    draws: Any = fresh("ExtractGlimpse", None) if noise != "zero" else None
    for image, point, part in zip(images, points, out, strict=True):
        starts = [
            start_of(float(at), whole, n, centered, normalized)
            for at, whole, n in zip(point, (height, width), size, strict=True)
        ]
        if noise == "uniform":
            part[...] = draws.uniform(image.min(initial=0), image.max(initial=0), part.shape)
        elif noise == "gaussian":
            part[...] = draws.normal(image.mean(), image.std(), part.shape)
        rows, columns = (
            slice(max(start, 0), max(min(start + n, whole), 0))
            for start, n, whole in zip(starts, size, (height, width), strict=True)
        )
        inside = image[rows, columns]
        top, left = max(-starts[0], 0), max(-starts[1], 0)
        part[top : top + inside.shape[0], left : left + inside.shape[1]] = inside
    return out


def start_of(at: float, whole: int, n: int, centered: bool, normalized: bool) -> int:
    """The first row or column of a part of length `n`."""
    if normalized:
        at *= whole
    if centered:
        at = at / 2 + whole / 2 if normalized else at + whole / 2
        return int(at - n / 2) if normalized else int(at)
    return int(at)
