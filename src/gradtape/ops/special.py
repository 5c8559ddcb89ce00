"""Special functions: error, gamma and beta functions, and some integrals.

Kernels use SciPy only through the module global `special`, which imports it on first use.
"""

from __future__ import annotations

import importlib
import math
from typing import Any

import numpy as np

from gradtape.core.dtypes import accumulator
from gradtape.core.primitive import elementwise
from gradtape.ops.elementwise import cos, equal, exp, log, ones_like, select, sin, square
from gradtape.ops.incomplete_gamma import (
    LARGE_SHAPE,
    gamma_density_at_large_shape,
    gamma_sample_slope,
    igamma_at_large_shape,
    igamma_slope,
    igamma_slope_at_large_shape,
    sample_slope_at_large_shape,
    split_domain,
)
from gradtape.ops.no_nan import xlog1py, xlogy


class LazyModule:
    """A module that is imported on the first attribute access."""

    def __init__(self, name: str) -> None:
        """Remember the module's name."""
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        value = getattr(importlib.import_module(self._name), attribute)
        setattr(self, attribute, value)
        return value


special = LazyModule("scipy.special")
lax: Any = None  # `jax.lax` in the copy of this module that runs on JAX


def apply_in_wide_dtype(function: Any, *xs: Any) -> Any:
    """Apply `function` in the accumulator dtype (float32 for half types) and cast back."""
    dtype = xs[0].dtype
    return function(*(x.astype(accumulator(dtype), copy=False) for x in xs)).astype(
        dtype, copy=False
    )


def scale_by(g: Any, factor: float, dtype: Any) -> Any:
    """`g` times a number in `dtype`; a Python float would promote raw bfloat16 to float32."""
    return g * dtype.type(factor)


@elementwise(
    x=lambda g, x, x_spec: scale_by(g * exp(-square(x)), 2 / math.sqrt(math.pi), x_spec.dtype)
)
def erf(x):
    """Error function."""
    return apply_in_wide_dtype(special.erf, x)


@elementwise(
    x=lambda g, x, x_spec: scale_by(g * exp(-square(x)), -2 / math.sqrt(math.pi), x_spec.dtype)
)
def erfc(x):
    """One minus the error function, accurate where that is small."""
    return apply_in_wide_dtype(special.erfc, x)


@elementwise(
    x=lambda g, out, x_spec: scale_by(g * exp(square(out)), math.sqrt(math.pi) / 2, x_spec.dtype)
)
def erfinv(x):
    """Inverse of the error function."""
    return apply_in_wide_dtype(special.erfinv, x)


@elementwise(
    x=lambda g, out, x_spec: scale_by(
        g * exp(square(out) / 2), math.sqrt(2 * math.pi), x_spec.dtype
    )
)
def ndtri(x):
    """Quantile of the standard normal distribution."""
    return apply_in_wide_dtype(special.ndtri, x)


@elementwise(x=lambda g, x: g * digamma(x))
def lgamma(x):
    """Logarithm of the absolute value of the gamma function."""
    return np.where(np.isinf(x), np.abs(x), apply_in_wide_dtype(special.gammaln, x))


@elementwise(x=lambda g, x: g * polygamma(ones_like(x), x))
def digamma(x):
    """Derivative of `lgamma`; NaN at its poles."""
    return digamma_or_nan(x)


def digamma_or_nan(x: Any) -> Any:
    """Compute `digamma` of a raw array; NaN at 0, where SciPy has an infinity."""
    return np.where(np.equal(x, 0), x.dtype.type(np.nan), apply_in_wide_dtype(special.digamma, x))


@elementwise(a=None, x=lambda g, a, x: g * polygamma(a + 1, x))
def polygamma(a, x):
    """The `a`-th derivative of `digamma`, for integer `a`; otherwise NaN."""
    order = np.where(np.greater_equal(a, 0) & np.equal(a, np.floor(a)), a, a.dtype.type(np.nan))
    even = np.equal((order + 1) % 2, 1)
    high = apply_in_wide_dtype(special.gamma, order + 1) * hurwitz_zeta(order + 1, x)
    return np.where(np.equal(order, 0), digamma_or_nan(x), np.where(even, -high, high))


@elementwise(x=None, q=lambda g, x, q: -g * x * zeta(x + 1, q))
def zeta(x, q):
    """Hurwitz zeta function: the sum of (q + n) to the power -x over all n ≥ 0."""
    return hurwitz_zeta(x, q)


def hurwitz_zeta(x: Any, q: Any) -> Any:
    """Compute `zeta` of raw arrays.

    At its poles, the integers `q` ≤ 0, it is infinite for even `x` and NaN for others, as in
    TensorFlow. Where SciPy or JAX give NaN for large arguments, only the first term matters.
    """
    inf, nan = x.dtype.type(np.inf), x.dtype.type(np.nan)
    found = apply_in_wide_dtype(special.zeta, x, q)
    first = np.power(np.abs(q), -x)
    tail = np.greater(x, 100) | (np.greater(x, 1) & np.equal(q, np.inf))
    found = np.where(np.isnan(found) & tail & np.greater(q, 0), first, found)
    poles = np.less_equal(q, 0) & np.equal(q, np.floor(q))
    even = np.equal(x % 2, 0) | np.equal(x, np.inf)
    at_poles = np.where(even & np.greater(x, 1), inf, nan)
    return np.where(poles & ~np.equal(x, 1), at_poles, found)


@elementwise(
    a=lambda g, a, x, out: g * out * (log(x) - digamma(a)),
    x=lambda g, a, x, out: g * out * ((a - 1) / x - 1),
)
def gamma_density(a, x):
    """Density at `x` of the gamma distribution with shape `a`."""
    a_, x_ = as_float64_arrays(a, x)
    log_gamma = np.where(np.isinf(a_), np.abs(a_), special.gammaln(a_))
    small = np.exp((a_ - 1) * np.log(x_) - x_ - log_gamma)
    large = gamma_density_at_large_shape(np.maximum(a_, LARGE_SHAPE), x_)
    is_large = (a_ >= LARGE_SHAPE) & np.isfinite(a_) & np.isfinite(x_)
    return np.where(is_large, large, small).astype(a.dtype)


@elementwise(
    a=lambda g, a, x: g * igamma_by_a(a, x, order=1), x=lambda g, a, x: g * gamma_density(a, x)
)
def igamma(a, x):
    """Lower regularised incomplete gamma function."""
    return replace_outside_domain(a, x, apply_in_wide_dtype(special.gammainc, a, x), True)


@elementwise(
    a=lambda g, a, x: -g * igamma_by_a(a, x, order=1), x=lambda g, a, x: -g * gamma_density(a, x)
)
def igammac(a, x):
    """Upper regularised incomplete gamma function."""
    return replace_outside_domain(a, x, apply_in_wide_dtype(special.gammaincc, a, x), False)


@igamma.lower
def lower_igamma(a, x):
    return igamma_on_jax(a, x, special.gammainc, True)


@igammac.lower
def lower_igammac(a, x):
    return igamma_on_jax(a, x, special.gammaincc, False)


def igamma_on_jax(a: Any, x: Any, small: Any, lower: bool) -> Any:
    """Compute `igamma` or `igammac` on JAX, whose own function `small` needs √a iterations."""
    a_, x_ = as_float64_arrays(a, x)
    is_large = a_ >= LARGE_SHAPE
    found = small(np.where(is_large, 1.0, a_), x_)
    shape = np.clip(a_, LARGE_SHAPE, np.finfo(np.float64).max)
    large = igamma_at_large_shape(shape, x_, lower)
    found = np.where(is_large, large, found).astype(a.dtype)
    a, x = np.broadcast_arrays(a, x)
    return replace_outside_domain(a, x, found, lower)


def replace_outside_domain(a: Any, x: Any, found: Any, lower: bool) -> Any:
    """Give `igamma` and `igammac` TensorFlow's values at the edges of their domain.

    Both are 0 where `a` and `x` are infinite; `igamma` is 0 at `x` = 0 for every `a`.
    """
    proper = np.greater(a, 0) & np.greater_equal(x, 0)
    zero = np.equal(a, np.inf) & np.equal(x, np.inf)
    zero = zero | np.equal(x, 0) if lower else zero
    nan = a.dtype.type(np.nan)
    return np.where(zero, a.dtype.type(0), np.where(proper, found, nan))


def gamma_density_by_a(a: Any, x: Any, order: int) -> Any:
    """Derivative of `gamma_density` in `a`; that of its logarithm is log(x) - digamma(a)."""
    rates = [log(x) - digamma(a), *(-polygamma(ones_like(a) * k, a) for k in range(1, order))]
    found = [gamma_density(a, x)]
    for n in range(order):
        found.append(sum(math.comb(n, k) * found[n - k] * rates[k] for k in range(n + 1)))
    return found[order]


@elementwise(
    a=lambda g, a, x, order: g * igamma_by_a(a, x, order=order + 1),
    x=lambda g, a, x, order: g * gamma_density_by_a(a, x, order),
)
def igamma_by_a(a, x, *, order: int):
    """Derivative of `igamma` in `a`; of order 2 and higher by fourth-order differences."""
    a_, x_ = as_float64_arrays(a, x)
    return differentiate_by_a(a_, x_, order, igamma_slope).astype(a.dtype)


def differentiate_by_a(a: Any, x: Any, order: int, first: Any) -> Any:
    """Derivative in `a`, in float64, by differences of the function `first` (order 1)."""
    if order == 1:
        return first(a, x)
    # The function varies over √a where `a` is large, and over `a` where it is small.
    h = np.minimum(a, np.sqrt(np.abs(a))) / 1000 * 4 ** (order - 2)
    near, far = (
        differentiate_by_a(a + s, x, order - 1, first)
        - differentiate_by_a(a - s, x, order - 1, first)
        for s in (h, 2 * h)
    )
    return (8 * near - far) / (12 * h)


@igamma_by_a.lower
def lower_igamma_by_a(a, x, *, order):
    a_, x_ = as_float64_arrays(a, x)
    return differentiate_by_a(a_, x_, order, igamma_slope_on_jax).astype(a.dtype)


def igamma_slope_on_jax(a: Any, x: Any) -> Any:
    """Do the work of `igamma_slope` on JAX."""
    return choose_by_shape(a, x, lax.igamma_grad_a, igamma_slope_at_large_shape)


def choose_by_shape(a: Any, x: Any, small: Any, large: Any) -> Any:
    """Apply `small`, a function of JAX that loses accuracy for large `a`, or else `large`."""
    out, inside = split_domain(a, x)
    a, x = np.where(inside, a, 1.0), np.where(inside, x, 1.0)
    found = small(np.minimum(a, LARGE_SHAPE), x)
    return np.where(
        inside, np.where(a < LARGE_SHAPE, found, large(np.maximum(a, LARGE_SHAPE), x)), out
    )


def reparameterize_gamma_wrt_a(g, a, x, out):
    rate = log(x) - digamma(a)
    return -g * (igamma_by_a(a, x, order=2) / gamma_density(a, x) + out * rate)


@elementwise(
    a=reparameterize_gamma_wrt_a,
    x=lambda g, a, x, out: g * (digamma(a) - log(x) - out * ((a - 1) / x - 1)),
)
def reparameterize_gamma(a, x):
    """Derivative in `a` of a gamma sample `x`, by implicit reparameterization.

    A sample of the distribution function P has the derivative -(dP/da)/(dP/dx) (Figurnov et al.,
    2018).
    """
    return gamma_sample_slope(*as_float64_arrays(a, x)).astype(a.dtype)


@reparameterize_gamma.lower
def lower_reparameterize_gamma(a, x):
    a_, x_ = as_float64_arrays(a, x)
    found = choose_by_shape(a_, x_, lax.random_gamma_grad, sample_slope_at_large_shape)
    return found.astype(a.dtype)


def as_float64_arrays(*xs: Any) -> tuple[Any, ...]:
    """Convert arrays to float64 and broadcast them to one shape."""
    return np.broadcast_arrays(*(np.asarray(x, np.float64) for x in xs))


def betainc_wrt_x(g, a, b, x):
    """The density of the beta distribution."""
    lbeta = lgamma(a) + lgamma(b) - lgamma(a + b)
    return g * exp(xlog1py(b - 1, -x) + xlogy(a - 1, x) - lbeta)


@elementwise(a=None, b=None, x=betainc_wrt_x)
def betainc(a, b, x):
    """Regularised incomplete beta function.

    At the ends of [0, 1] it is 0 and 1, whatever `a` and `b` are, unless one is not positive.
    """
    nan = x.dtype.type(np.nan)
    inner = apply_in_wide_dtype(special.betainc, a, b, x)
    inner = np.where(np.isinf(a) | np.isinf(b), nan, inner)
    whole = np.where(np.equal(x, 0) | np.equal(x, 1), x, inner)
    return np.where(np.less_equal(a, 0) | np.less_equal(b, 0), nan, whole)


@elementwise(x=lambda g, x, out: g * (1 - 2 * x * out))
def dawsn(x):
    """Dawson's integral."""
    return apply_in_wide_dtype(special.dawsn, x)


@elementwise(x=lambda g, x: g * exp(x) / x)
def expint(x):
    """Exponential integral of positive `x`; NaN at infinity, as in TensorFlow."""
    outside = np.less(x, 0) | np.equal(x, np.inf)
    found = np.where(outside, x.dtype.type(np.nan), apply_in_wide_dtype(special.expi, x))
    return np.where(np.equal(x, 0), x.dtype.type(-np.inf), found)


@elementwise(x=lambda g, x, x_spec: g * sin(scale_by(square(x), math.pi / 2, x_spec.dtype)))
def fresnel_sin(x):
    """Fresnel's sine integral."""
    return apply_in_wide_dtype(lambda x: special.fresnel(np.clip(x, -1e15, 1e15))[0], x)


@elementwise(x=lambda g, x, x_spec: g * cos(scale_by(square(x), math.pi / 2, x_spec.dtype)))
def fresnel_cos(x):
    """Fresnel's cosine integral."""
    return apply_in_wide_dtype(lambda x: special.fresnel(np.clip(x, -1e15, 1e15))[1], x)


def spence_wrt_x(g, x):
    """log(x) / (1 - x), which is -1 at 1."""
    at_one = equal(x, 1)
    return g * select(at_one, -ones_like(x), log(x) / (1 - select(at_one, x + 1, x)))


@elementwise(x=spence_wrt_x)
def spence(x):
    """Spence's function, the integral of log(t) / (1 - t) from 1 to `x`."""
    return apply_in_wide_dtype(special.spence, x)
