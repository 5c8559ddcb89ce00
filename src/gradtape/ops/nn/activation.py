"""Activation functions; `relu`, `sigmoid`, `softplus` and `softsign` are in `elementwise`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradtape.core.dtypes import accumulator
from gradtape.core.primitive import elementwise, primitive
from gradtape.core.shape_rule import broadcast_inputs
from gradtape.ops.cache_block import fill_in_blocks
from gradtape.ops.elementwise import (
    exp,
    gate,
    greater,
    less,
    logical_and,
    logical_not,
    sigmoid,
    square,
    tanh,
)
from gradtape.ops.special import special

# Klambauer et al., 2017: zero mean and unit variance are a fixed point.
SELU_SCALE = 1.0507009873554805
SELU_SCALE_ALPHA = 1.7580993408473766


@elementwise(x=lambda g, x: gate(g, logical_and(greater(x, 0), less(x, 6))))
def relu6(x):
    """`x` clipped to [0, 6]."""
    return np.minimum(np.maximum(x, 0), x.dtype.type(6))


def leaky_relu_wrt_x(g, x, alpha):
    return g * leaky_relu_slope(x, alpha=alpha)


@elementwise(x=leaky_relu_wrt_x)
def leaky_relu(x, *, alpha: float):
    """`x` where it is positive, else `alpha` times it."""
    less_steep = x * x.dtype.type(alpha)
    if 0 < alpha <= 1:  # many times faster than `where`
        return np.maximum(x, less_steep)
    return np.where(np.greater(x, 0), x, less_steep)


@elementwise(x=None)
def leaky_relu_slope(x, *, alpha: float):
    """Slope of `leaky_relu`: one where `x` is positive, else `alpha`; a step, so no gradient."""
    positive = np.greater(x, 0)
    slope = x.dtype.type(alpha)
    if 0 <= alpha <= 1:
        return np.maximum(positive.astype(x.dtype), slope)
    return np.where(positive, x.dtype.type(1), slope)


# As in TensorFlow, subtracting one from the exponential loses digits near zero; `expm1` is ten
# times slower. Below zero the slope is the exponential, that is `out` plus a constant.


@elementwise(x=lambda g, out: g * (gate(out, less(out, 0)) + 1))
def elu(x):
    """`x` where it is positive, else its exponential minus one."""
    return np.maximum(x, 0) + (np.exp(np.minimum(x, 0)) - 1)


def selu_wrt_x(g, out, x_spec):
    kind, below = x_spec.dtype.type, less(out, 0)
    return g * gate(out + kind(SELU_SCALE_ALPHA), below) + gate(
        g * kind(SELU_SCALE), logical_not(below)
    )


@elementwise(x=selu_wrt_x)
def selu(x):
    """The exponential linear unit, scaled so that it keeps mean and variance."""
    kind = x.dtype.type
    above = np.maximum(x, 0) * kind(SELU_SCALE)
    return above + (np.exp(np.minimum(x, 0)) - 1) * kind(SELU_SCALE_ALPHA)


# The value and the slope share most of the work, so a `…_and_slope` primitive computes both.
# `with_slope` gives the slope to the tape, and the backward pass is one product. Second derivatives
# differentiate the recorded slope.


@primitive(x=lambda g, slope: g * slope, value=None, slope=None, shape=broadcast_inputs)
def with_slope(x, value, slope):
    """`value`, an elementwise function of `x` with the derivative `slope`."""
    return value


ACTIVATION_BLOCK = 1 << 16  # elements of a block: the formulas have many NumPy calls


def compute_value_and_slope(fill: Any, x: Any) -> tuple[Any, Any]:
    """Compute value and slope by `fill`, in float32 for the half types."""
    wide = accumulator(x.dtype)
    value, slope = fill_in_blocks(fill, x.astype(wide, copy=False), 2, ACTIVATION_BLOCK)
    return value.astype(x.dtype, copy=False), slope.astype(x.dtype, copy=False)


def silu_and_slope_wrt_x(g, x):
    s = sigmoid(x)
    rest = 1 - s
    slope = s * (x * rest + 1)
    return g[0] * slope + g[1] * (s * rest * (x * (rest - s) + 2))


@primitive(
    outputs=True, x=silu_and_slope_wrt_x, shape=lambda x: [x.shape, x.shape], new_arrays=True
)
def silu_and_slope(x):
    """SiLU, `x` times sigmoid(x), and its derivative."""
    return compute_value_and_slope(fill_silu, x)


def fill_silu(x: Any, value: Any, slope: Any) -> None:
    """Compute a block of `silu_and_slope`."""
    s = np.negative(x, out=slope)
    np.exp(s, out=s)
    s += 1
    np.divide(1, s, out=s)
    np.multiply(x, s, out=value)
    rest = 1 - s
    rest *= value
    slope += rest


@silu_and_slope.lower
def lower_silu_and_slope(x):
    s = 1 / (1 + np.exp(-x))
    return x * s, s + x * s * (1 - s)


# Hendrycks and Gimpel, 2016: GELU with tanh(`GELU_TANH_SCALE` (x + `GELU_TANH_CUBIC` x³)).
GELU_TANH_SCALE, GELU_TANH_CUBIC = math.sqrt(2 / math.pi), 0.044715


def tanh_gelu_and_slope_wrt_x(g, x, x_spec):
    kind, squared = x_spec.dtype.type, square(x)
    t = tanh(x * (squared * kind(GELU_TANH_SCALE * GELU_TANH_CUBIC) + kind(GELU_TANH_SCALE)))
    inner = squared * kind(3 * GELU_TANH_SCALE * GELU_TANH_CUBIC) + kind(GELU_TANH_SCALE)
    bend = x * kind(6 * GELU_TANH_SCALE * GELU_TANH_CUBIC)
    share = (1 - t * t) / 2
    slope = (t + 1) / 2 + x * share * inner
    return g[0] * slope + g[1] * (share * (2 * inner + x * (bend - 2 * t * inner * inner)))


@primitive(
    outputs=True, x=tanh_gelu_and_slope_wrt_x, shape=lambda x: [x.shape, x.shape], new_arrays=True
)
def tanh_gelu_and_slope(x):
    """GELU by the tanh approximation of the normal distribution, and its derivative."""
    return compute_value_and_slope(fill_tanh_gelu, x)


def fill_tanh_gelu(x: Any, value: Any, slope: Any) -> None:
    """Compute a block of `tanh_gelu_and_slope`."""
    kind = x.dtype.type
    squared = x * x
    t = squared * kind(GELU_TANH_SCALE * GELU_TANH_CUBIC)
    t += kind(GELU_TANH_SCALE)
    t *= x
    np.tanh(t, out=t)
    np.multiply(t, t, out=slope)
    np.subtract(1, slope, out=slope)
    squared *= kind(3 * GELU_TANH_SCALE * GELU_TANH_CUBIC)
    squared += kind(GELU_TANH_SCALE)
    slope *= squared
    slope *= x
    t += 1
    slope += t
    slope /= 2
    np.multiply(x, t, out=value)
    value /= 2


@tanh_gelu_and_slope.lower
def lower_tanh_gelu_and_slope(x):
    t = np.tanh(GELU_TANH_SCALE * (x + GELU_TANH_CUBIC * x * x * x))
    inner = GELU_TANH_SCALE * (1 + 3 * GELU_TANH_CUBIC * x * x)
    return x * (1 + t) / 2, (1 + t) / 2 + x * (1 - t * t) * inner / 2


NORMAL_DENSITY_AT_ZERO = 1 / math.sqrt(2 * math.pi)


def gelu_and_slope_wrt_x(g, x, x_spec):
    density = exp(square(x) / -2) * x_spec.dtype.type(NORMAL_DENSITY_AT_ZERO)
    return g[0] * gelu_and_slope(x)[1] + g[1] * (density * (2 - square(x)))


@primitive(
    outputs=True, x=gelu_and_slope_wrt_x, shape=lambda x: [x.shape, x.shape], new_arrays=True
)
def gelu_and_slope(x):
    """GELU, `x` times the normal cumulative distribution at `x`, and its derivative."""
    return compute_value_and_slope(
        fill_gelu_float32 if accumulator(x.dtype).char == "f" else fill_gelu_float64, x
    )


def fill_gelu_float64(x: Any, value: Any, slope: Any) -> None:
    """Compute a block of `gelu_and_slope` in float64."""
    below = special.ndtr(x)
    np.multiply(x, below, out=value)
    np.multiply(x, np.exp(x * x / -2), out=slope)
    slope *= NORMAL_DENSITY_AT_ZERO
    slope += below


# The normal tail probability beyond a distance d, divided by exp(-d²/2), as a ratio of polynomials
# in d, highest power first. The divisor's leading coefficient is 1. It was fitted to a relative
# error of 2.5e-7 (1.5e-6 from d = 5 to 14.6, where float32 underflows), and is 1/2 at zero.
TAIL_DIVIDEND = (0.3988704115804826, 2.8767563108938194, 8.865110565130564, 12.527396251520296)
TAIL_DIVISOR = (7.20421165729401, 23.32510167874341, 37.72084434011176, 25.05479250304059)
FAR = 1e4  # a distance beyond which the tail is zero, and below which the ratio does not overflow


def fill_gelu_float32(x: Any, value: Any, slope: Any) -> None:
    """Compute a block of `gelu_and_slope` in float32, with a single exponential."""
    kind = np.float32
    distance = np.abs(x)
    beyond = distance * kind(TAIL_DIVIDEND[0])
    beyond += kind(TAIL_DIVIDEND[1])
    divisor = np.add(distance, kind(TAIL_DIVISOR[0]), out=value)
    for coefficient in TAIL_DIVIDEND[2:]:
        beyond *= distance
        beyond += kind(coefficient)
    for coefficient in TAIL_DIVISOR[1:]:
        divisor *= distance
        divisor += kind(coefficient)
    beyond /= divisor
    e = np.multiply(x, x, out=slope)
    e *= kind(-0.5)
    np.exp(e, out=e)
    beyond *= e
    if np.isnan(np.maximum.reduce(beyond)):  # the ratio overflowed, or `x` has NaN
        np.copyto(beyond, 0, where=distance > FAR)
    slope *= x
    slope *= kind(NORMAL_DENSITY_AT_ZERO)
    # The cumulative distribution is `beyond` for negative x and 1 - `beyond` for others.
    np.copyto(distance, x >= 0)
    beyond -= distance
    below = np.abs(beyond, out=beyond)
    np.multiply(x, below, out=value)
    slope += below


@gelu_and_slope.lower
def lower_gelu_and_slope(x):
    wide = x.astype(np.float32) if x.dtype.itemsize == 2 else x  # JAX has no ndtr for half types
    e = np.exp(wide * wide / -2)
    if wide.dtype == np.float64:
        below = special.ndtr(wide)
    else:
        distance = np.minimum(np.abs(wide), FAR)
        dividend, divisor = TAIL_DIVIDEND[0], 1
        for coefficient in TAIL_DIVIDEND[1:]:
            dividend = dividend * distance + coefficient
        for coefficient in TAIL_DIVISOR:
            divisor = divisor * distance + coefficient
        beyond = dividend / divisor * e
        below = np.where(wide > 0, 1 - beyond, beyond)
    slope = below + wide * e * NORMAL_DENSITY_AT_ZERO
    return (wide * below).astype(x.dtype), slope.astype(x.dtype)
