"""Derivatives in `a` of the incomplete gamma function P(a, x) and of gamma samples.

All functions take raw float64 arrays.

Small `a` use a series, and Gauss-Laguerre quadrature in the upper tail. For large `a`, the series
would need about √a terms. But there the gamma density is close to a normal one, and
Gauss-Legendre quadrature takes the same time for every `a`.
"""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np

from gradtape.ops.quadrature import gauss_legendre

LARGE_SHAPE = 100.0  # from here on by quadrature alone
MAX_SERIES_TERMS = 1000  # below `LARGE_SHAPE` about 200 terms suffice
DECAY = 40.0  # the integrand is cut where it has fallen by exp(-DECAY)
QUADRATURE_NODES = 64
PIECE = 4096  # elements at a time: each has as many temporaries as there are nodes


def igamma_slope(a: Any, x: Any) -> Any:
    """Derivative of P(a, x) in `a`."""
    out, inside = split_domain(a, x)
    large = inside & (a >= LARGE_SHAPE)
    tail = inside & ~large & (x > a + 3 * np.sqrt(np.abs(a)) + 2)
    lower = inside & ~large & ~tail
    for mask, function in (
        (large, igamma_slope_at_large_shape),
        (tail, igamma_slope_by_quadrature),
        (lower, igamma_slope_by_series),
    ):
        apply_where(mask, function, a, x, out)
    return out


def apply_where(mask: Any, function: Any, a: Any, x: Any, out: Any) -> None:
    """Store function(a, x) in `out` where `mask` holds, piece by piece to save memory."""
    places = np.flatnonzero(mask)
    for i in range(0, places.size, PIECE):
        here = places[i : i + PIECE]
        out.flat[here] = function(a.flat[here], x.flat[here])


def gamma_sample_slope(a: Any, x: Any) -> Any:
    """Derivative in `a` of the number `x` that keeps P(a, x) constant."""
    from scipy.special import gammaln

    out, inside = split_domain(a, x)
    large = inside & (a >= LARGE_SHAPE)
    apply_where(large, sample_slope_at_large_shape, a, x, out)
    small = inside & ~large
    a, x = a[small], x[small]
    out[small] = -igamma_slope(a, x) * np.exp(x + gammaln(a) - (a - 1) * np.log(x))
    return out


def split_domain(a: Any, x: Any) -> tuple[Any, Any]:
    """The derivative at the edges of its domain (NaN outside), and a mask of the inside."""
    edges = np.where(np.equal(x, 0) | ((a > 0) & (x > 0)), 0.0, np.nan)
    return edges, (a > 0) & (x > 0) & np.isfinite(a) & np.isfinite(x)


def igamma_slope_by_series(a: Any, x: Any) -> Any:
    """Differentiate the sum of exp(-x) x^(a+n) / Γ(a+n+1) term by term."""
    from scipy.special import digamma, gammaln

    term = np.exp(a * np.log(x) - x - gammaln(a + 1))
    rate = np.log(x) - digamma(a + 1)
    total = np.zeros_like(term)
    for n in range(1, MAX_SERIES_TERMS):
        total = total + term * rate
        if n > 8 and not np.any(np.abs(term * rate) > 1e-18 * np.abs(total)):
            break
        rate = rate - 1 / (a + n)
        term = term * x / (a + n)
    return total


def igamma_slope_by_quadrature(a: Any, x: Any) -> Any:
    """Gauss-Laguerre quadrature of the integral beyond `x`, scaled to flatten the integrand."""
    from scipy.special import digamma, gammaln

    nodes, weights = np.polynomial.laguerre.laggauss(48)
    gap = (x - a + 1)[..., None]
    u = nodes / gap
    values = np.exp((a - 1)[..., None] * (np.log1p(u) - u))
    rate = (np.log(x) - digamma(a))[..., None] + np.log1p(u)
    scale = np.exp(a * np.log(x) - x - gammaln(a)) / gap[..., 0]
    return -scale * ((values * rate) @ weights)


def igamma_slope_at_large_shape(a: Any, x: Any) -> Any:
    """Derivative of P(a, x) in `a`, with an error of some ulps however large `a` is."""
    area, depth = integrate_tail(a, x)
    return -peak_density(a, depth) * area


def gamma_density_at_large_shape(a: Any, x: Any) -> Any:
    """Density at `x` of the gamma distribution with a large shape `a`; NaN for negative `x`."""
    depth = subtract_log1p(relative_distance(a, x))
    return np.where(x >= 0, peak_density(a, depth) / np.maximum(x, 1e-300), np.nan)


def relative_distance(a: Any, x: Any) -> Any:
    """`x` / `a` - 1, limited to where the density does not underflow."""
    return np.clip((x - a) / a, 1e-9 - 1, 15)


def peak_density(a: Any, depth: Any) -> Any:
    """√(a / 2π) exp(-a · depth - s), where s is the error of Stirling's formula."""
    stirling = (1 / 12 - 1 / (360 * a * a)) / a
    return np.sqrt(a / (2 * pi)) * np.exp(-a * depth - stirling)


def sample_slope_at_large_shape(a: Any, x: Any) -> Any:
    """Derivative of a gamma sample `x` in `a`; the exponentials of the quotient cancel."""
    return x * integrate_tail(a, x)[0]


def igamma_at_large_shape(a: Any, x: Any, lower: bool) -> Any:
    """P(a, x), or 1 - P(a, x) if not `lower`, for large `a`."""
    area, depth = integrate_tail(a, x, rated=False)
    tail = np.abs(peak_density(a, depth) * area)
    return np.where((x < a) == lower, tail, 1 - tail)


def integrate_tail(a: Any, x: Any, rated: bool = True) -> tuple[Any, Any]:
    """Integrate the density from `x` to the end of the nearer tail.

    In u = t / a - 1 the density is peak_density(a, u - log(1 + u)) / (1 + u). If `rated`, it is
    multiplied by log(t) - digamma(a), the derivative of its logarithm in `a`.

    Returns:
        The integral divided by peak_density(a, depth), and depth.
    """
    start = relative_distance(a, x)
    depth = subtract_log1p(start)
    reach = depth + DECAY / a
    above, below = reach + np.sqrt(reach * (reach + 2)), -np.minimum(np.sqrt(2 * reach), 1)
    width = np.where(start >= 0, above, below) - start
    nodes, weights = gauss_legendre(QUADRATURE_NODES)
    u = start[..., None] + nodes * width[..., None]
    rate = np.log1p(u) + log_minus_digamma(a)[..., None] if rated else 1.0
    fall = a[..., None] * (depth[..., None] - subtract_log1p(u))
    return width * np.matmul(rate * np.exp(fall) / (1 + u), weights), depth


def subtract_log1p(u: Any) -> Any:
    """`u` - log(1 + u), accurate for small `u` by the series of log((1 + r) / (1 - r))."""
    r = np.where(np.abs(u) < 0.3, u / (u + 2), 0)
    odd: Any = 0.0
    for k in range(25, 1, -2):
        odd = odd * r * r + 1 / k
    return np.where(np.abs(u) < 0.3, u * r - 2 * r**3 * odd, u - np.log1p(u))


def log_minus_digamma(a: Any) -> Any:
    """log(a) - digamma(a) for large `a`, by its asymptotic series."""
    s = 1 / (a * a)
    return 1 / (2 * a) + s * (1 / 12 - s * (1 / 120 - s / 252))
