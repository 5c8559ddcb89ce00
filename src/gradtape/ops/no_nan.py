"""Elementwise primitives that are zero where the plain formula is undefined: 0 · log 0, 0 / 0.

TensorFlow does not conjugate the factors of their complex gradients. The engine would, so `unlike`
undoes its conjugation in these rules.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.primitive import elementwise
from gradtape.ops.elementwise import cast, conj, is_complex, not_equal, square, zero


def unlike(factor: Any) -> Any:
    """Conjugate a complex factor; return a real one unchanged."""
    return conj(factor) if is_complex(factor) else factor


def nonzero(x: Any, dtype: Any) -> Any:
    """One where `x` is not zero, else zero."""
    return cast(not_equal(x, 0), dtype=dtype)


@elementwise(
    x=lambda g, x, y, x_spec: g * unlike(xlogy(nonzero(x, x_spec.dtype), y)),
    y=lambda g, x, y: g * unlike(xdivy(x, y)),
)
def xlogy(x, y):
    """`x` times the logarithm of `y`; zero where `x` is zero."""
    return np.where(np.equal(x, 0), zero(x), x * np.log(y))


@elementwise(
    x=lambda g, x, y, x_spec: g * unlike(xlog1py(nonzero(x, x_spec.dtype), y)),
    y=lambda g, x, y: g * unlike(xdivy(x, y + 1)),
)
def xlog1py(x, y):
    """`x` times the logarithm of one plus `y`; zero where `x` is zero."""
    return np.where(np.equal(x, 0), zero(x), x * np.log1p(y))


@elementwise(
    x=lambda g, x, y, x_spec: g * unlike(xdivy(nonzero(x, x_spec.dtype), y)),
    y=lambda g, x, y: g * unlike(xdivy(-x, square(y))),
)
def xdivy(x, y):
    """`x` over `y`; zero where `x` is zero."""
    return np.where(np.equal(x, 0), zero(x), x / y)


@elementwise(
    x=lambda g, y: multiply_no_nan(g, unlike(y)), y=lambda g, x: multiply_no_nan(unlike(x), g)
)
def multiply_no_nan(x, y):
    """`x` times `y`; zero where `y` is zero, even if `x` is infinite or NaN."""
    return np.where(np.equal(y, 0), zero(y), x * y)


@elementwise(
    x=lambda g, y: divide_no_nan(g, y),
    y=lambda g, x, y: g * divide_no_nan(divide_no_nan(-x, y), y),
)
def divide_no_nan(x, y):
    """`x` over `y`; zero where `y` is zero."""
    return np.where(np.equal(y, 0), zero(y), x / y)
