"""Bessel functions.

JAX lacks J, Y and K. Their lowerings use a power series for small arguments, numerical integration
for larger ones, and Hankel's asymptotic expansion for the largest.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradtape.core.dtypes import accumulator
from gradtape.core.primitive import elementwise
from gradtape.ops.elementwise import equal, ones_like, select, sign
from gradtape.ops.no_nan import divide_no_nan
from gradtape.ops.quadrature import gauss_legendre
from gradtape.ops.special import apply_in_wide_dtype, special


def divide_or_half(y: Any, x: Any) -> Any:
    """`y / x`, with the limit 1/2 where `x` is zero, as for `bessel_i1(x) / x`."""
    at_zero = equal(x, 0)
    return select(at_zero, ones_like(x) / 2, y / select(at_zero, ones_like(x), x))


@elementwise(x=lambda g, x: g * bessel_i1(x))
def bessel_i0(x):
    """Modified Bessel function of the first kind, order 0."""
    return apply_in_wide_dtype(special.i0, x)


# TensorFlow returns 1 for the derivative at zero; the true value is 1/2.
@elementwise(x=lambda g, x, out: g * (bessel_i0(x) - divide_no_nan(out, x)))
def bessel_i1(x):
    """Modified Bessel function of the first kind, order 1."""
    return apply_in_wide_dtype(special.i1, x)


@elementwise(x=lambda g, x, out: g * (bessel_i1e(x) - sign(x) * out))
def bessel_i0e(x):
    """`bessel_i0` times exp(-|x|)."""
    return apply_in_wide_dtype(special.i0e, x)


@elementwise(x=lambda g, x, out: g * (bessel_i0e(x) - sign(x) * out - divide_or_half(out, x)))
def bessel_i1e(x):
    """`bessel_i1` times exp(-|x|)."""
    return apply_in_wide_dtype(special.i1e, x)


def fill_where_negative(value: Any, x: Any, out: Any) -> Any:
    """`value` where `x` is negative and the function undefined, as in TensorFlow, else `out`."""
    return np.where(np.less(x, 0), x.dtype.type(value), out)


@elementwise(x=lambda g, x: -g * bessel_k1(x))
def bessel_k0(x):
    """Modified Bessel function of the second kind, order 0."""
    return fill_where_negative(np.inf, x, apply_in_wide_dtype(special.k0, x))


@elementwise(x=lambda g, x, out: -g * (bessel_k0(x) + out / x))
def bessel_k1(x):
    """Modified Bessel function of the second kind, order 1."""
    return fill_where_negative(np.inf, x, apply_in_wide_dtype(special.k1, x))


@elementwise(x=lambda g, x, out: g * (out - bessel_k1e(x)))
def bessel_k0e(x):
    """`bessel_k0` times exp(x)."""
    return fill_where_negative(np.inf, x, apply_in_wide_dtype(special.k0e, x))


@elementwise(x=lambda g, x, out: -g * (bessel_k0e(x) + out * (1 / x - 1)))
def bessel_k1e(x):
    """`bessel_k1` times exp(x)."""
    return fill_where_negative(np.inf, x, apply_in_wide_dtype(special.k1e, x))


@elementwise(x=lambda g, x: -g * bessel_j1(x))
def bessel_j0(x):
    """Bessel function of the first kind, order 0."""
    return apply_in_wide_dtype(special.j0, x)


@elementwise(x=lambda g, x, out: g * (bessel_j0(x) - divide_or_half(out, x)))
def bessel_j1(x):
    """Bessel function of the first kind, order 1."""
    return apply_in_wide_dtype(special.j1, x)


@elementwise(x=lambda g, x: -g * bessel_y1(x))
def bessel_y0(x):
    """Bessel function of the second kind, order 0."""
    return fill_where_negative(-np.inf, x, apply_in_wide_dtype(special.y0, x))


@elementwise(x=lambda g, x, out: g * (bessel_y0(x) - out / x))
def bessel_y1(x):
    """Bessel function of the second kind, order 1."""
    return fill_where_negative(-np.inf, x, apply_in_wide_dtype(special.y1, x))


EULER_GAMMA = 0.5772156649015329
J_SERIES_END = 1.0  # the integral has a small absolute error, the series a small relative one
K_SERIES_END = 2.0  # end of the range where the series of K is as accurate as the integral
Y_SERIES_END = 6.0  # the same for Y
HANKEL_START = 25.0  # Hankel's expansion is accurate to full precision from here on
SERIES_TERMS = 25


def integrate(function: Any, x: Any, end: Any) -> Any:
    """Integrate `function(x, t)`, smooth in t, from 0 to `end`."""
    nodes, weights = (np.asarray(a, x.dtype) for a in gauss_legendre(64))
    end = np.broadcast_to(np.asarray(end, x.dtype), x.shape)
    return np.sum(function(x[..., None], end[..., None] * nodes) * weights, axis=-1) * end


def bessel_series(x: Any, order: int, turn: int) -> tuple[Any, Any]:
    """Sum the terms q^k / (k! (k + order)!), without and with weights.

    The weights are ψ(k + 1) + ψ(k + 1 + order), and q is `turn` · x² / 4. The first sum times
    (x / 2)^order is I if `turn` is 1, and J if it is -1.
    """
    q = turn * x * x / 4
    term, psi = np.ones_like(x), order - 2 * EULER_GAMMA
    plain, weighted = term, psi * term
    for k in range(1, SERIES_TERMS):
        term = term * q / (k * (k + order))
        psi += 1 / k + 1 / (k + order)
        plain, weighted = plain + term, weighted + psi * term
    return plain, weighted


def hankel_expansion(x: Any, order: int) -> tuple[Any, Any]:
    """J and Y of large `x` (Abramowitz and Stegun 1964, 9.2.5 to 9.2.10)."""
    p, q, term = 0, 0, np.ones_like(x)
    for k in range(SERIES_TERMS):
        p, q = (p + (-1) ** (k // 2) * term, q) if k % 2 == 0 else (p, q + (-1) ** (k // 2) * term)
        term = term * (4 * order**2 - (2 * k + 1) ** 2) / (8 * (k + 1) * x)
    angle = x - (order / 2 + 0.25) * math.pi
    scale = np.sqrt(2 / (math.pi * x))
    sine, cosine = np.sin(angle), np.cos(angle)
    return scale * (p * cosine - q * sine), scale * (p * sine + q * cosine)


def lower_bessel_j(x: Any, order: int) -> Any:
    """J by a series where |x| is small, Bessel's integral, then Hankel's expansion."""
    size = np.abs(x)
    low = np.minimum(size, J_SERIES_END)
    small = (low / 2) ** order * bessel_series(low, order, -1)[0]
    near = np.minimum(size, HANKEL_START)
    middle = integrate(lambda x, t: np.cos(x * np.sin(t) - order * t), near, math.pi) / math.pi
    far, _ = hankel_expansion(np.maximum(size, HANKEL_START), order)
    out = np.where(size < J_SERIES_END, small, np.where(size < HANKEL_START, middle, far))
    return out * np.where(x < 0, (-1) ** order, 1)


def lower_bessel_y(x: Any, order: int) -> Any:
    """Y of positive `x`: a series, Bessel's and Schläfli's integrals, then Hankel's expansion."""
    low = np.clip(x, 0, Y_SERIES_END)
    plain, weighted = bessel_series(low, order, -1)
    power = (low / 2) ** order
    near = power * (2 * np.log(low / 2) * plain - weighted) / math.pi
    if order:
        near = near - 2 / (math.pi * low)
    at = np.clip(x, Y_SERIES_END, HANKEL_START)
    middle = integrate(lambda x, t: np.sin(x * np.sin(t) - order * t), at, math.pi)
    rise = np.sinh if order else np.cosh  # half of exp(order t) + (-1)^order exp(-order t)
    tail = integrate(
        lambda x, t: rise(order * t) * np.exp(-x * np.sinh(t)), at, np.arcsinh(40 / at)
    )
    middle = middle - 2 * tail
    _, far = hankel_expansion(np.maximum(x, HANKEL_START), order)
    out = np.where(x < Y_SERIES_END, near, np.where(x < HANKEL_START, middle / math.pi, far))
    return mask_nonpositive(x, out, -np.inf)


def lower_bessel_ke(x: Any, order: int) -> Any:
    """K of positive `x` times exp(x), by a series or by the integral of exp(-x cosh t)."""
    low = np.clip(x, 0, K_SERIES_END)
    plain, weighted = bessel_series(low, order, 1)
    turn = (-1) ** order
    near = turn * (low / 2) ** order * (weighted / 2 - np.log(low / 2) * plain)
    if order:
        near = near + 1 / low
    at = np.maximum(x, K_SERIES_END)
    # 2 sinh²(t / 2) is cosh t - 1 without cancellation for small t.
    far = integrate(
        lambda x, t: np.exp(-2 * x * np.sinh(t / 2) ** 2) * np.cosh(order * t),
        at,
        2 * np.arcsinh(np.sqrt(20 / at)),
    )
    far = np.where(np.isinf(x), 0, far)
    return mask_nonpositive(x, np.where(x < K_SERIES_END, near * np.exp(low), far), np.inf)


def mask_nonpositive(x: Any, out: Any, below: float) -> Any:
    """`out` where `x` is positive or NaN, and `below` elsewhere."""
    return np.where(x <= 0, below, out)


def lower_in_wide_dtype(function: Any, x: Any, order: int) -> Any:
    """Apply `function` in the accumulator dtype (float32 for half types) and cast back."""
    return function(x.astype(accumulator(x.dtype)), order).astype(x.dtype)


bessel_j0.lower(lambda x: lower_in_wide_dtype(lower_bessel_j, x, 0))
bessel_j1.lower(lambda x: lower_in_wide_dtype(lower_bessel_j, x, 1))
bessel_y0.lower(lambda x: lower_in_wide_dtype(lower_bessel_y, x, 0))
bessel_y1.lower(lambda x: lower_in_wide_dtype(lower_bessel_y, x, 1))
bessel_k0e.lower(lambda x: lower_in_wide_dtype(lower_bessel_ke, x, 0))
bessel_k1e.lower(lambda x: lower_in_wide_dtype(lower_bessel_ke, x, 1))
bessel_k0.lower(lambda x: lower_in_wide_dtype(lower_bessel_ke, x, 0) * np.exp(-x))
bessel_k1.lower(lambda x: lower_in_wide_dtype(lower_bessel_ke, x, 1) * np.exp(-x))
