"""Conversions of the last axis between RGB and HSV colours, and changes of hue and saturation."""

from __future__ import annotations

from typing import Any

from gradtape.ops.elementwise import (
    absolute,
    discretize,
    floormod,
    greater,
    greater_equal,
    less,
    less_equal,
    logical_and,
    logical_not,
    maximum,
    minimum,
    ones_like,
    select,
    stop_gradient,
    zeros_like,
)
from gradtape.ops.raw_array import raw_dtype_of
from gradtape.ops.shape import stack, unstack


def compute_hue_and_range(x: Any) -> tuple[Any, Any, Any]:
    """Hue in sixths of the circle, and the largest and smallest channel; ties go to the first."""
    r, g, b = unstack(x, axis=-1)
    is_red = logical_and(greater_equal(r, g), greater_equal(r, b))
    is_green = logical_and(logical_not(is_red), greater_equal(g, b))
    is_blue = logical_not(greater_equal(maximum(r, g), b))
    high = select(is_red, r, select(is_green, g, b))
    without_blue = logical_and(less_equal(b, r), less_equal(b, g))
    without_green = logical_and(less_equal(g, r), less(g, b))
    low = select(without_blue, b, select(without_green, g, r))
    span = high - low
    coloured = greater(span, 0)
    ahead = select(is_red, g - b, select(is_green, b - r, r - g))
    dtype = raw_dtype_of(x)
    start = discretize(is_green, dtype=dtype) * 2 + discretize(is_blue, dtype=dtype) * 4
    hue = ahead / select(coloured, span, ones_like(span)) + start
    hue = select(less(hue, 0), hue + 6, hue)
    return select(coloured, hue, zeros_like(hue)), high, low


def saturation_of(high: Any, low: Any) -> Any:
    """Saturation (high - low) / high; zero for black.

    As in TensorFlow, a smallest channel that is zero gets no gradient.
    """
    bright = greater(high, 0)
    low = select(greater(low, 0), low, stop_gradient(low))
    share = (high - low) / select(bright, high, ones_like(high))
    return select(bright, share, zeros_like(share))


def from_hue_and_range(hue: Any, low: Any, span: Any) -> Any:
    """RGB colours of this hue (in sixths) with channels between `low` and `low + span`."""
    red = absolute(hue - 3) - 1
    green = 2 - absolute(hue - 2)
    blue = 2 - absolute(hue - 4)
    channels = (low + span * maximum(minimum(c, 1), 0) for c in (red, green, blue))
    return stack(*channels, axis=-1)


def to_hsv(x: Any) -> Any:
    """Convert RGB to HSV."""
    hue, high, low = compute_hue_and_range(x)
    return stack(hue / 6, saturation_of(high, low), high, axis=-1)


def from_hsv(x: Any) -> Any:
    """Convert HSV to RGB."""
    hue, saturation, value = unstack(x, axis=-1)
    return from_hue_and_range(hue * 6, value * (1 - saturation), value * saturation)


def turn_hue(x: Any, delta: Any) -> Any:
    """Rotate the hue of RGB colours by `delta`; 1 is the whole circle."""
    hue, high, low = compute_hue_and_range(x)
    return from_hue_and_range(floormod(hue + delta * 6, 6), low, high - low)


def scale_saturation(x: Any, factor: Any) -> Any:
    """Multiply the saturation of RGB colours by `factor`, clipped to [0, 1]."""
    hue, high, low = compute_hue_and_range(x)
    saturation = maximum(minimum(saturation_of(high, low) * factor, 1), 0)
    return from_hue_and_range(hue, high * (1 - saturation), high * saturation)
