"""Elementwise primitives that are zero where the plain formula is undefined: 0 · log 0, 0 / 0.

TensorFlow does not conjugate the factors of their complex gradients. The engine would, so
`conj_if_complex` undoes its conjugation in these rules.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.primitive import elementwise
from gradtape.ops.elementwise import cast, conj, is_complex, not_equal, square, zero_of_dtype


def conj_if_complex(factor: Any) -> Any:
    """Conjugate a complex factor; return a real one unchanged."""
    return conj(factor) if is_complex(factor) else factor


def nonzero_indicator(x: Any, dtype: Any) -> Any:
    """One where `x` is not zero, else zero."""
    return cast(not_equal(x, 0), dtype=dtype)


@elementwise(
    x=lambda g, x, y, x_spec: g * conj_if_complex(xlogy(nonzero_indicator(x, x_spec.dtype), y)),
    y=lambda g, x, y: g * conj_if_complex(xdivy(x, y)),
)
def xlogy(x, y):
    """`x` times the logarithm of `y`; zero where `x` is zero."""
    return np.where(np.equal(x, 0), zero_of_dtype(x), x * np.log(y))


@elementwise(
    x=lambda g, x, y, x_spec: g * conj_if_complex(xlog1py(nonzero_indicator(x, x_spec.dtype), y)),
    y=lambda g, x, y: g * conj_if_complex(xdivy(x, y + 1)),
)
def xlog1py(x, y):
    """`x` times the logarithm of one plus `y`; zero where `x` is zero."""
    return np.where(np.equal(x, 0), zero_of_dtype(x), x * np.log1p(y))


@elementwise(
    x=lambda g, x, y, x_spec: g * conj_if_complex(xdivy(nonzero_indicator(x, x_spec.dtype), y)),
    y=lambda g, x, y: g * conj_if_complex(xdivy(-x, square(y))),
)
def xdivy(x, y):
    """`x` over `y`; zero where `x` is zero."""
    return np.where(np.equal(x, 0), zero_of_dtype(x), x / y)


@elementwise(
    x=lambda g, y: multiply_no_nan(g, conj_if_complex(y)),
    y=lambda g, x: multiply_no_nan(conj_if_complex(x), g),
)
def multiply_no_nan(x, y):
    """`x` times `y`; zero where `y` is zero, even if `x` is infinite or NaN."""
    return np.where(np.equal(y, 0), zero_of_dtype(y), x * y)


@elementwise(
    x=lambda g, y: divide_no_nan(g, y),
    y=lambda g, x, y: g * divide_no_nan(divide_no_nan(-x, y), y),
)
def divide_no_nan(x, y):
    """`x` over `y`; zero where `y` is zero."""
    return np.where(np.equal(y, 0), zero_of_dtype(y), x / y)
