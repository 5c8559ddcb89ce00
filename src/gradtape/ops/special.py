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


# -- error functions -------------------------------------------------------------------------------


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


# -- gamma and beta --------------------------------------------------------------------------------


@elementwise(x=lambda g, x: g * digamma(x))
def lgamma(x):
    """Logarithm of the absolute value of the gamma function."""
    return np.where(np.isinf(x), np.abs(x), apply_in_wide_dtype(special.gammaln, x))


@elementwise(x=lambda g, x: g * polygamma(ones_like(x), x))
def digamma(x):
    """Derivative of `lgamma`; NaN at its poles."""
    return np.where(np.equal(x, 0), x.dtype.type(np.nan), apply_in_wide_dtype(special.digamma, x))


@elementwise(a=None, x=lambda g, a, x: g * polygamma(a + 1, x))
def polygamma(a, x):
    """The `a`-th derivative of `digamma`, for integer `a`; otherwise NaN."""
    order = np.where(np.greater_equal(a, 0) & np.equal(a, np.floor(a)), a, a.dtype.type(np.nan))
    odd = np.equal(order % 2, 1)
    high = apply_in_wide_dtype(special.gamma, order + 1) * apply_in_wide_dtype(
        special.zeta, order + 1, x
    )
    return np.where(
        np.equal(order, 0), apply_in_wide_dtype(special.digamma, x), np.where(odd, high, -high)
    )


@elementwise(x=None, q=lambda g, x, q: -g * x * zeta(x + 1, q))
def zeta(x, q):
    """Hurwitz zeta function: the sum of (q + n) to the power -x over all n ≥ 0."""
    return apply_in_wide_dtype(special.zeta, x, q)


def gamma_density(a: Any, x: Any) -> Any:
    """Density at `x` of the gamma distribution with shape `a`."""
    return exp((a - 1) * log(x) - x - lgamma(a))


@elementwise(
    a=lambda g, a, x: g * igamma_by_a(a, x, order=1), x=lambda g, a, x: g * gamma_density(a, x)
)
def igamma(a, x):
    """Lower regularised incomplete gamma function."""
    proper = np.greater(a, 0) & np.greater_equal(x, 0)
    return np.where(proper, apply_in_wide_dtype(special.gammainc, a, x), a.dtype.type(np.nan))


@elementwise(
    a=lambda g, a, x: -g * igamma_by_a(a, x, order=1), x=lambda g, a, x: -g * gamma_density(a, x)
)
def igammac(a, x):
    """Upper regularised incomplete gamma function."""
    proper = np.greater(a, 0) & np.greater_equal(x, 0)
    return np.where(proper, apply_in_wide_dtype(special.gammaincc, a, x), a.dtype.type(np.nan))


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
    h = a / 1000 * 4 ** (order - 2)
    near, far = (
        differentiate_by_a(a + s, x, order - 1, first)
        - differentiate_by_a(a - s, x, order - 1, first)
        for s in (h, 2 * h)
    )
    return (8 * near - far) / (12 * h)


@igamma_by_a.lower
def lower_igamma_by_a(a, x, *, order):
    a_, x_ = as_float64_arrays(a, x)
    return differentiate_by_a(a_, x_, order, lax.igamma_grad_a).astype(a.dtype)


def as_float64_arrays(*xs: Any) -> tuple[Any, ...]:
    """Convert arrays to float64 and broadcast them to one shape."""
    return np.broadcast_arrays(*(np.asarray(x, np.float64) for x in xs))


def igamma_slope(a: Any, x: Any) -> Any:
    """Derivative of `igamma` in `a`, by a series, and by quadrature in the upper tail."""
    tail = x > a + 3 * np.sqrt(np.abs(a)) + 2
    out = np.where((a > 0) & (x >= 0), 0.0, np.nan)
    lower = (a > 0) & (x > 0) & ~tail
    out[lower] = igamma_slope_by_series(a[lower], x[lower])
    upper = (a > 0) & tail & np.isfinite(x)
    out[upper] = igamma_slope_by_quadrature(a[upper], x[upper])
    return out


def igamma_slope_by_series(a: Any, x: Any) -> Any:
    """Differentiate the sum of exp(-x) x^(a+n) / Γ(a+n+1) term by term."""
    term = np.exp(a * np.log(x) - x - special.gammaln(a + 1))
    psi = special.digamma(a + 1)
    total, n = np.zeros_like(term), 0
    while term.size and (n < 8 or np.max(term) > 1e-18 * np.max(np.abs(total) + 1e-300)):
        total = total + term * (np.log(x) - psi)
        n += 1
        psi = psi + 1 / (a + n)
        term = term * x / (a + n)
    return total


def igamma_slope_by_quadrature(a: Any, x: Any) -> Any:
    """Gauss-Laguerre quadrature of the integral beyond `x`, scaled to flatten the integrand."""
    nodes, weights = np.polynomial.laguerre.laggauss(48)
    gap = (x - a + 1)[..., None]
    u = nodes / gap
    values = np.exp((a - 1)[..., None] * (np.log1p(u) - u))
    rate = (np.log(x) - special.digamma(a))[..., None] + np.log1p(u)
    scale = np.exp(a * np.log(x) - x - special.gammaln(a)) / gap[..., 0]
    return -scale * ((values * rate) @ weights)


def betainc_wrt_x(g, a, b, x):
    """The density of the beta distribution."""
    lbeta = lgamma(a) + lgamma(b) - lgamma(a + b)
    return g * exp(xlog1py(b - 1, -x) + xlogy(a - 1, x) - lbeta)


@elementwise(a=None, b=None, x=betainc_wrt_x)
def betainc(a, b, x):
    """Regularised incomplete beta function."""
    return apply_in_wide_dtype(special.betainc, a, b, x)


# -- integrals -------------------------------------------------------------------------------------


@elementwise(x=lambda g, x, out: g * (1 - 2 * x * out))
def dawsn(x):
    """Dawson's integral."""
    return apply_in_wide_dtype(special.dawsn, x)


@elementwise(x=lambda g, x: g * exp(x) / x)
def expint(x):
    """Exponential integral of positive `x`."""
    return np.where(np.less(x, 0), x.dtype.type(np.nan), apply_in_wide_dtype(special.expi, x))


@elementwise(x=lambda g, x, x_spec: g * sin(scale_by(square(x), math.pi / 2, x_spec.dtype)))
def fresnel_sin(x):
    """Fresnel's sine integral."""
    return apply_in_wide_dtype(lambda x: special.fresnel(x)[0], x)


@elementwise(x=lambda g, x, x_spec: g * cos(scale_by(square(x), math.pi / 2, x_spec.dtype)))
def fresnel_cos(x):
    """Fresnel's cosine integral."""
    return apply_in_wide_dtype(lambda x: special.fresnel(x)[1], x)


def spence_wrt_x(g, x):
    """log(x) / (1 - x), which is -1 at 1."""
    at_one = equal(x, 1)
    return g * select(at_one, -ones_like(x), log(x) / (1 - select(at_one, x + 1, x)))


@elementwise(x=spence_wrt_x)
def spence(x):
    """Spence's function, the integral of log(t) / (1 - t) from 1 to `x`."""
    return apply_in_wide_dtype(special.spence, x)
