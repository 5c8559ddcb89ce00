"""Inverses, systems of linear equations and determinants, over the last two axes.

Rules work on the conjugate of TensorFlow's cotangent (see `elementwise`), so the rule of a
holomorphic op is the transpose without a conjugate.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.errors import InvalidArgumentError
from gradtape.core.primitive import primitive
from gradtape.ops.elementwise import cast, conj
from gradtape.ops.linalg.diagonal import keep_band
from gradtape.ops.linalg.matmul import matmul
from gradtape.ops.shape import slice_, swap


@primitive(a=lambda g, out: -matmul(matmul(swap(out), g), swap(out)))
def inverse(a):
    """Inverse of square matrices."""
    try:
        return np.linalg.inv(a)
    except np.linalg.LinAlgError:
        raise InvalidArgumentError(
            "inv: Input is not invertible. Received a singular matrix; try pinv."
        ) from None


@primitive(
    core=2,
    a=lambda g, a, out: -matmul(solve(swap(a), g), swap(out)),
    b=lambda g, a: solve(swap(a), g),
)
def solve(a, b):
    """The solution `x` of a @ x = b."""
    try:
        return np.linalg.solve(a, b)
    except np.linalg.LinAlgError:
        raise InvalidArgumentError(
            "solve: Input matrix is not invertible. Received a singular matrix; try lstsq."
        ) from None


def triangular_solve_wrt_a(g, a, out, lower):
    """Only the triangle that the op reads gets a cotangent."""
    whole = -matmul(triangular_solve(swap(a), g, lower=not lower), swap(out))
    return keep_band(whole, lower=-1, upper=0) if lower else keep_band(whole, lower=0, upper=-1)


@primitive(
    core=2,
    a=triangular_solve_wrt_a,
    b=lambda g, a, lower: triangular_solve(swap(a), g, lower=not lower),
)
def triangular_solve(a, b, *, lower: bool):
    """The solution `x` of a @ x = b; only the lower or upper triangle of `a` is read."""
    try:
        return np.linalg.solve(np.tril(a) if lower else np.triu(a), b)
    except np.linalg.LinAlgError:
        return solve_by_substitution(a, b, lower)


def solve_by_substitution(a: Any, b: Any, lower: bool) -> Any:
    """Solve row by row: zeros on the diagonal give infinities, as in TensorFlow."""
    n = a.shape[-1]
    rows: dict[int, Any] = {}
    with np.errstate(all="ignore"):
        for i in range(n) if lower else range(n - 1, -1, -1):
            known = sum(a[..., i, j, None] * x for j, x in rows.items())
            rows[i] = (b[..., i, :] - known) / a[..., i, i, None]
    return np.stack([rows[i] for i in range(n)], axis=-2)


def append_matrix_axes(g: Any) -> Any:
    """Append two axes of length one to `g`."""
    return slice_(g, key=(None, None), rank=0)


@primitive(
    a=lambda g, a, out: append_matrix_axes(g * conj(out)) * swap(inverse(a))
)  # the conjugate follows TensorFlow
def det(a):
    """Determinant of square matrices."""
    return np.linalg.det(a)


@primitive(
    a=lambda g, a, a_spec: append_matrix_axes(cast(g[1], dtype=a_spec.dtype)) * swap(inverse(a)),
    outputs=True,
)
def slogdet(a):
    """Sign and logarithm of the absolute value of the determinant."""
    sign, logabs = np.linalg.slogdet(a)
    return sign, logabs.astype(a.dtype)
