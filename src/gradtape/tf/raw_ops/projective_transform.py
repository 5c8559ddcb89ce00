"""tf.raw_ops.ImageProjectiveTransform: projective transformation of images."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.convert import convert
from gradtape.core.dtypes import float32
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.primitive import Spec
from gradtape.core.shape_rule import FLOAT32, FRESH, INT64
from gradtape.core.symbolic_tensor import SymbolicTensor
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.graph.host_function import call_on_host
from gradtape.tf.array.gather import gather
from gradtape.tf.array.reshape import reshape
from gradtape.tf.math.cast import cast


def reflect_positions(at: Any, size: int) -> Any:
    """Map positions outside the image by reflection: d c b a | a b c d | d c b a."""
    if size == 1:
        return np.zeros_like(at)
    period = 2 * size
    within = np.where(at < 0, -at - 1, at) % period
    return np.clip(np.where(within >= size, period - within - 1, within), 0, size - 1)


def wrap_positions(at: Any, size: int) -> Any:
    """Map positions outside the image by wrapping: a b c d | a b c d | a b c d."""
    if size == 1:
        return np.zeros_like(at)
    below = at + size * (np.trunc(-at / (size - 1)) + 1)
    above = at - size * np.trunc(at / (size - 1))
    inside = np.where(at < 0, below, np.where(at > size - 1, above, at))
    return np.clip(inside, 0, size - 1)


FILL_MODES = {
    "CONSTANT": lambda at, size: at,
    "NEAREST": lambda at, size: np.clip(at, 0, size - 1),
    "REFLECT": reflect_positions,
    "WRAP": wrap_positions,
}


def round_half_away(at: Any) -> Any:
    """Round to the nearest integer, halves away from zero."""
    return np.trunc(at + np.copysign(np.float32(0.5), at))


def describe_source_pixels(
    transforms: Tensor, images: Tensor, output_shape: Tensor, interpolation: str, fill_mode: str
) -> tuple[list[Spec], list[Spec], Spec]:
    """Result rule of `find_source_pixels`."""
    is_known = not isinstance(output_shape, SymbolicTensor)
    sizes = np.ravel(output_shape._array).tolist() if is_known else (FRESH, FRESH)
    full = (images._array.shape[0], *sizes)
    count = 1 if interpolation == "NEAREST" else 4
    return [Spec((full, INT64))] * count, [Spec((full, FLOAT32))] * count, Spec((full, FLOAT32))


@call_on_host(describe_source_pixels)
def find_source_pixels(
    transforms: Tensor,
    images: Tensor,
    output_shape: Tensor,
    interpolation: str,
    fill_mode: str,
) -> tuple[list[Tensor], list[Tensor], Tensor]:
    """For each output pixel: its source pixels, their weights, and the weight of the fill value."""
    batch, height, width, _ = images._array.shape
    rows, columns = np.asarray(output_shape._array).tolist()
    m = np.asarray(transforms._array, np.float32)[:, :, None, None]
    y, x = np.mgrid[:rows, :columns].astype(np.float32)
    with np.errstate(all="ignore"):
        scale = m[:, 6] * x + m[:, 7] * y + 1
        at_x = (m[:, 0] * x + m[:, 1] * y + m[:, 2]) / scale
        at_y = (m[:, 3] * x + m[:, 4] * y + m[:, 5]) / scale
    at_infinity = scale == 0
    at_x = FILL_MODES[fill_mode](np.where(at_infinity, -2, at_x), width)
    at_y = FILL_MODES[fill_mode](np.where(at_infinity, -2, at_y), height)
    if interpolation == "NEAREST":
        corners = [(round_half_away(at_y), round_half_away(at_x), np.ones_like(at_x))]
    else:
        top, left = np.floor(at_y), np.floor(at_x)
        down, right = at_y - top, at_x - left
        corners = [
            (top, left, (1 - down) * (1 - right)),
            (top, left + 1, (1 - down) * right),
            (top + 1, left, down * (1 - right)),
            (top + 1, left + 1, down * right),
        ]
    places: list[Tensor] = []
    shares: list[Tensor] = []
    filling = np.zeros((batch, rows, columns), np.float32)
    for row, column, share in corners:
        inside = (row >= 0) & (row < height) & (column >= 0) & (column < width) & ~at_infinity
        place = np.where(inside, row * width + column, 0).astype(np.int64)
        full = (batch, rows, columns)
        places.append(make_tensor(np.array(np.broadcast_to(place, full))))
        shares.append(make_tensor(np.array(np.broadcast_to(np.where(inside, share, 0), full))))
        filling += np.where(inside, 0, share)
    return places, shares, make_tensor(filling)


@public
def image_projective_transform(
    images: Any,
    transforms: Any,
    output_shape: Any,
    fill_value: Any,
    interpolation: str,
    fill_mode: str = "CONSTANT",
    name: str | None = None,
) -> Tensor:
    """Images transformed projectively: each output pixel is read at its transformed position.

    Args:
        images: of shape (batch, height, width, channels).
        transforms: rows (a0, a1, a2, b0, b1, b2, c0, c1), one for all images or one for each.
            Output pixel (x, y) is read at ((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k) with
            k = c0 x + c1 y + 1.
        output_shape: height and width of the result.
        fill_value: value outside the image, if `fill_mode` is "CONSTANT".
        interpolation: "NEAREST" or "BILINEAR".
        fill_mode: "CONSTANT", "NEAREST", "REFLECT" or "WRAP".
        name: has no effect here.

    Raises:
        InvalidArgumentError: if a shape or mode is invalid.
    """
    x, m = convert(images), convert(transforms, float32)
    shape = x._array.shape
    if len(shape) != 4 or m._array.ndim != 2 or m._array.shape[1] != 8:
        raise InvalidArgumentError(
            "image_projective_transform: images must have shape (batch, height, width, channels) "
            f"and transforms (…, 8). Received {list(shape)} and {list(m._array.shape)}."
        )
    if fill_mode not in FILL_MODES or interpolation not in ("NEAREST", "BILINEAR"):
        raise InvalidArgumentError(
            "image_projective_transform: unknown mode: interpolation must be NEAREST or BILINEAR, "
            f"fill_mode one of {list(FILL_MODES)}. Received {interpolation!r} and {fill_mode!r}."
        )
    places, shares, filling = find_source_pixels(
        m, x, convert(output_shape), interpolation, fill_mode
    )
    flat = cast(reshape(x, (shape[0], shape[1] * shape[2], shape[3])), float32)
    out = (filling * cast(convert(fill_value), float32))[..., None]
    for place, share in zip(places, shares, strict=True):
        out = out + gather(flat, place, batch_dims=1) * share[..., None]
    return cast(out, x.dtype)
