"""tf.image: glimpses, windows of images around given points."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.convert import convert, to_shape_tuple
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.primitive import Spec
from gradtape.core.shape_rule import FLOAT32, FRESH
from gradtape.core.symbolic_tensor import SymbolicTensor
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.graph.host_function import call_on_host, shape_of_argument
from gradtape.tf.image.random_box import make_op_generator
from gradtape.tf.public_op import as_numpy_dtypes, check_dtype


def describe_glimpses(input: Any, size: Any, *_: Any, **__: Any) -> Spec:
    """Result rule of `extract_glimpse`."""
    batch, _, _, channels = shape_of_argument(input)
    sizes = (FRESH, FRESH) if isinstance(size, SymbolicTensor) else to_shape_tuple(size)
    return Spec(((batch, *sizes, channels), FLOAT32))


@public
@call_on_host(describe_glimpses)
def extract_glimpse(
    input: Any,
    size: Any,
    offsets: Any,
    centered: bool = True,
    normalized: bool = True,
    noise: str = "uniform",
    name: str | None = None,
) -> Tensor:
    """A window of each image around a point; without gradient.

    Args:
        input: (batch, height, width, channels) in float32.
        size: height and width of the windows.
        offsets: (batch, 2) the points, row and column.
        centered: whether offsets are relative to the centre of the image.
        normalized: whether offsets are fractions of the image size (of half of it if `centered`)
            rather than pixels.
        noise: how to fill pixels outside of the image: "uniform", "gaussian" or "zero".
        name: has no effect here.

    Returns:
        Windows (batch, height, width, channels).
    """
    op = "ExtractGlimpse"
    x = check_dtype(op, convert(input, dtypes.float32), as_numpy_dtypes("float32"))
    points = np.asarray(convert(offsets, dtypes.float32)._array)
    wanted = to_shape_tuple(size)
    shape = x._array.shape
    if noise not in ("uniform", "gaussian", "zero"):
        raise InvalidArgumentError(
            f"{op}: The noise could only be uniform, gaussian or zero. Received {noise!r}."
        )
    if len(shape) != 4 or len(wanted) != 2 or points.shape != (shape[0], 2):
        raise InvalidArgumentError(
            f"{op}: input must be 4-D, size (2,) and offsets (batch, 2). Received input of shape "
            f"{list(shape)}, size {list(wanted)} and offsets of shape {list(points.shape)}."
        )
    return make_tensor(
        cut_glimpses(np.asarray(x._array), wanted, points, centered, normalized, noise)
    )


def cut_glimpses(
    images: Any, size: tuple[int, ...], points: Any, centered: bool, normalized: bool, noise: str
) -> Any:
    """Cut the window of each image out of raw arrays."""
    batch, height, width, channels = images.shape
    out = np.zeros((batch, *size, channels), np.float32)
    draws: Any = make_op_generator("ExtractGlimpse", None) if noise != "zero" else None
    for image, point, window in zip(images, points, out, strict=True):
        starts = [
            glimpse_start(float(at), whole, n, centered, normalized)
            for at, whole, n in zip(point, (height, width), size, strict=True)
        ]
        if noise == "uniform":
            window[...] = draws.uniform(image.min(initial=0), image.max(initial=0), window.shape)
        elif noise == "gaussian":
            window[...] = draws.normal(image.mean(), image.std(), window.shape)
        rows, columns = (
            slice(max(start, 0), max(min(start + n, whole), 0))
            for start, n, whole in zip(starts, size, (height, width), strict=True)
        )
        inside = image[rows, columns]
        top, left = max(-starts[0], 0), max(-starts[1], 0)
        window[top : top + inside.shape[0], left : left + inside.shape[1]] = inside
    return out


def glimpse_start(at: float, whole: int, n: int, centered: bool, normalized: bool) -> int:
    """The first row or column of a window of length `n`."""
    if normalized:
        at *= whole
    if centered:
        at = at / 2 + whole / 2 if normalized else at + whole / 2
        return int(at - n / 2) if normalized else int(at)
    return int(at)
