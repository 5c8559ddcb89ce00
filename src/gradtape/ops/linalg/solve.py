"""Inverses, systems of linear equations and determinants, over the last two axes.

Rules work on the conjugate of TensorFlow's cotangent (see `elementwise`), so the rule of a
holomorphic op is the transpose without a conjugate.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.blas_thread import run_lapack
from gradtape.core.errors import InvalidArgumentError
from gradtape.core.open_shape import broadcast_shapes
from gradtape.core.primitive import primitive
from gradtape.core.shape_rule import keep_shape
from gradtape.ops.elementwise import cast, conj
from gradtape.ops.linalg.diagonal import keep_band
from gradtape.ops.linalg.matmul import matmul
from gradtape.ops.linalg.nonfinite import (
    correct_nonfinite,
    eliminate_rows,
    find_pivots,
    has_finite_sum,
    has_pivots,
    nan_of,
)
from gradtape.ops.shape import slice_, swap

lax: Any = None  # `jax.lax` in the copy of this module that runs on JAX


@primitive(a=lambda g, out: -matmul(matmul(swap(out), g), swap(out)), shape=keep_shape)
def inverse(a):
    """Inverse of square matrices."""
    if not has_finite_sum(a):
        return solve_with_nonfinite("inv", a, np.broadcast_to(np.eye(a.shape[-1]), a.shape))
    try:
        return run_lapack(np.linalg.inv, a)
    except np.linalg.LinAlgError:
        raise InvalidArgumentError(
            "inv: Input is not invertible. Received a singular matrix; try pinv."
        ) from None


def solve_shape(a, b, **static):
    return (*broadcast_shapes(a.shape[:-2], b.shape[:-2]), *b.shape[-2:])


@primitive(
    core=2,
    a=lambda g, a, out: -matmul(solve(swap(a), g), swap(out)),
    b=lambda g, a: solve(swap(a), g),
    shape=solve_shape,
)
def solve(a, b):
    """The solution `x` of a @ x = b."""
    if not has_finite_sum(a):
        return solve_with_nonfinite("solve", a, b)
    try:
        return run_lapack(np.linalg.solve, a, b)
    except np.linalg.LinAlgError:
        raise InvalidArgumentError(
            "solve: Input matrix is not invertible. Received a singular matrix; try lstsq."
        ) from None


@inverse.lower
def lower_inverse(a):
    return np.linalg.inv(a)


@solve.lower
def lower_solve(a, b):
    return np.linalg.solve(a, b)


def solve_with_nonfinite(op: str, a: Any, b: Any) -> Any:
    """Solve matrix by matrix, by an elimination in which infinities and NaN propagate.

    LAPACK may drop a NaN that it does not choose as a pivot.
    """
    lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a, b = (np.broadcast_to(x, lead + x.shape[-2:]) for x in (a, b))
    out = np.empty(b.shape, a.dtype)
    for i in np.ndindex(lead):
        both, order = eliminate_rows(a[i])
        if not has_pivots(np.diagonal(both)):
            raise InvalidArgumentError(
                f"{op}: Input matrix is not invertible. Received a matrix with a pivot of zero or "
                "NaN. Find where it comes from with tf.debugging.enable_check_numerics."
            )
        unit_lower = np.tril(both, -1) + np.eye(len(both), dtype=both.dtype)
        right = np.asarray(b[i][order], a.dtype)
        out[i] = solve_by_substitution(both, solve_by_substitution(unit_lower, right, True), False)
    return out


def triangular_solve_wrt_a(g, a, out, lower):
    """Only the triangle that the op reads gets a cotangent."""
    whole = -matmul(triangular_solve(swap(a), g, lower=not lower), swap(out))
    return keep_band(whole, lower=-1, upper=0) if lower else keep_band(whole, lower=0, upper=-1)


@primitive(
    core=2,
    a=triangular_solve_wrt_a,
    b=lambda g, a, lower: triangular_solve(swap(a), g, lower=not lower),
    shape=solve_shape,
)
def triangular_solve(a, b, *, lower: bool):
    """The solution `x` of a @ x = b; only the lower or upper triangle of `a` is read."""
    try:
        out = run_lapack(np.linalg.solve, np.tril(a) if lower else np.triu(a), b)
    except np.linalg.LinAlgError:
        return solve_by_substitution(a, b, lower)
    return out if has_finite_sum(out) else solve_by_substitution(a, b, lower)


@triangular_solve.lower
def lower_triangular_solve(a, b, *, lower):
    lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a, b = (np.broadcast_to(x, lead + x.shape[-2:]) for x in (a, b))
    return lax.linalg.triangular_solve(a, b, left_side=True, lower=lower)


def solve_by_substitution(a: Any, b: Any, lower: bool) -> Any:
    """Solve row by row: zeros on the diagonal give infinities, as in TensorFlow.

    Infinities and NaN in `b` stay in their column.
    """
    n = a.shape[-1]
    lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    x = np.empty(lead + b.shape[-2:], b.dtype)
    with np.errstate(all="ignore"):
        for i in range(n) if lower else range(n - 1, -1, -1):
            found = slice(0, i) if lower else slice(i + 1, None)
            known = np.matmul(a[..., i : i + 1, found], x[..., found, :])[..., 0, :]
            x[..., i, :] = (b[..., i, :] - known) / a[..., i, i, None]
    return x


def append_matrix_axes(g: Any) -> Any:
    """Append two axes of length one to `g`."""
    return slice_(g, key=(None, None), rank=0)


@primitive(
    a=lambda g, a, out: append_matrix_axes(g * conj(out)) * swap(inverse(a)),
    shape=lambda a: a.shape[:-2],
)  # the conjugate follows TensorFlow
def det(a):
    """Determinant of square matrices."""
    found = run_lapack(np.linalg.det, a)
    if has_finite_sum(a):
        return found
    return correct_nonfinite(a, (found,), lambda matrix: (np.prod(find_pivots(matrix)),))[0]


@det.lower
def lower_det(a):
    return np.linalg.det(a)


@primitive(
    a=lambda g, a, a_spec: append_matrix_axes(cast(g[1], dtype=a_spec.dtype)) * swap(inverse(a)),
    outputs=True,
    shape=lambda a: [a.shape[:-2], a.shape[:-2]],
)
def slogdet(a):
    """Sign and logarithm of the absolute value of the determinant."""
    sign, logabs = run_lapack(np.linalg.slogdet, a)
    if not has_finite_sum(a):
        sign, logabs = correct_nonfinite(a, (sign, logabs), slogdet_of_nonfinite)
    return sign, logabs.astype(a.dtype)


def slogdet_of_nonfinite(matrix: Any) -> tuple[Any, Any]:
    """Sign and logarithm of the determinant of one matrix that is not finite."""
    pivots = find_pivots(matrix)
    return np.prod(np.sign(pivots)), np.sum(np.log(np.abs(pivots)))


@slogdet.lower
def lower_slogdet(a):
    sign, logabs = np.linalg.slogdet(a)
    return np.where(np.isnan(logabs), nan_of(a.dtype), sign), logabs.astype(a.dtype)
