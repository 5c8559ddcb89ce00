"""Greyscale dilation and erosion."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.primitive import Spec
from gradtape.core.shape_rule import INT64, with_shape
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.graph.raw_function import apply_raw
from gradtape.ops import elementwise as e
from gradtape.ops import shape as s
from gradtape.ops.convolution.window import Window
from gradtape.ops.gather_scatter import take_along
from gradtape.ops.reduce import lowest
from gradtape.tf.nn.window_argument import expand_to_spatial, make_window
from gradtape.tf.public_op import REAL, check_dtype, check_same_dtype, convert_pair


def window_elements(x: Any, window: Window, outside: Any) -> list[Any]:
    """For each tap of the window, the elements of `x` (batch, …, channels) that it covers."""
    spatial = spatial_shape_of(x)
    outputs = window.outputs(spatial)
    full = s.pad(x, paddings=((0, 0), *window.paddings, (0, 0)), value=outside)
    rank = len(spatial) + 2
    return [
        s.slice_(full, key=(slice(None), *window.key(tap, outputs)[1:]), rank=rank)
        for tap in window.taps()
    ]


def spatial_shape_of(x: Any) -> tuple[int, ...]:
    """The sizes of the spatial axes of a tensor."""
    shape: tuple[int, ...] = s.shape_of(x)[1:-1]
    return shape


def take_first_largest(candidates: list[Any]) -> Any:
    """Take the largest of the candidates, element by element; the first one of ties."""
    every = s.stack(*candidates, axis=-1)
    return s.index_axis(take_along(every, apply_raw(argmax_last_axis, every)), axis=-1, i=0)


@with_shape(lambda every: Spec(((*every.shape[:-1], 1), INT64)))
def argmax_last_axis(every: Any) -> Any:
    """Positions of the largest raw elements along the last axis, which is kept."""
    return np.argmax(every, axis=-1)[..., None]


@public
def dilation2d(
    input: Any,
    filters: Any,
    strides: Any,
    padding: Any,
    data_format: str,
    dilations: Any,
    name: str | None = None,
) -> Tensor:
    """Greyscale dilation: the largest sum of input and filter in each window.

    Args:
        input: (batch, height, width, channels).
        filters: (height, width, channels).
        strides: four numbers.
        padding: "SAME" or "VALID".
        data_format: "NHWC".
        dilations: four numbers.
        name: has no effect here.

    Returns:
        A tensor (batch, height, width, channels).
    """
    if data_format != "NHWC":
        raise ValueError(f"dilation2d: data_format must be 'NHWC'. Received {data_format!r}.")
    x, w = convert_pair(input, filters)
    check_same_dtype("Dilation2D", check_dtype("Dilation2D", x, REAL), w)
    if x._array.ndim != 4 or w._array.ndim != 3 or x._array.shape[-1] != w._array.shape[-1]:
        raise InvalidArgumentError(
            "dilation2d: input must be 4-dimensional and filters 3-dimensional, with the same "
            f"depth. Received shapes {list(x._array.shape)} and {list(w._array.shape)}."
        )
    size = w._array.shape[:2]
    window = make_window(
        "Dilation2D",
        x._array.shape[1:-1],
        size,
        expand_to_spatial(strides, 2, False, "Dilation2D", "strides"),
        expand_to_spatial(dilations, 2, False, "Dilation2D", "dilations"),
        padding,
        False,
    )
    least = lowest(x._array.dtype)
    covered = window_elements(x, window, least)
    inside = window_elements(
        make_tensor(np.ones((1, *x._array.shape[1:-1], 1), bool)), window, False
    )
    sums = []
    for i, (part, where) in enumerate(zip(covered, inside, strict=True)):
        weight = s.slice_(w, key=(*divmod(i, size[1]), slice(None)), rank=3)
        sums.append(e.select(where, e.add(part, weight), least))
    return take_first_largest(sums)


@public
def erosion2d(
    value: Any,
    filters: Any,
    strides: Any,
    padding: Any,
    data_format: str,
    dilations: Any,
    name: str | None = None,
) -> Tensor:
    """Greyscale erosion: the smallest difference of input and filter in each window.

    The arguments are those of `dilation2d`.

    Args:
        value: images (batch, height, width, channels).
        filters: a tensor (height, width, channels).
        strides: the step of the window, four numbers.
        padding: "SAME" or "VALID".
        data_format: "NHWC".
        dilations: the distance of neighbouring filter elements, four numbers.
        name: has no effect here.

    Returns:
        A tensor (batch, height, width, channels).
    """
    x, w = convert_pair(value, filters)
    flipped = s.flip(w, axes=(-3, -2))
    return e.negative(dilation2d(e.negative(x), flipped, strides, padding, data_format, dilations))
