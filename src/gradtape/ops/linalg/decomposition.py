"""Decompositions of matrices, over the last two axes: Cholesky, QR, SVD and LU.

These ops are not holomorphic. The engine propagates the conjugate of TensorFlow's cotangent, so
their rules conjugate the incoming cotangent and the result.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.blas_thread import run_lapack, run_scipy
from gradtape.core.errors import InvalidArgumentError
from gradtape.core.primitive import Spec, primitive
from gradtape.core.shape_rule import INT32, keep_shape, real_dtype_of
from gradtape.core.size_function import min_size
from gradtape.ops.elementwise import (
    cast,
    conj,
    reciprocal,
)
from gradtape.ops.linalg.diagonal import (
    keep_band,
    lower_with_half_diagonal,
    place_diagonal,
)
from gradtape.ops.linalg.eigen import (
    reciprocal_gaps_of,
    scale_columns,
)
from gradtape.ops.linalg.matmul import adjoint, matmul
from gradtape.ops.linalg.nonfinite import (
    eliminate_rows,
    has_finite_sum,
    has_pivots,
    map_finite,
    map_masked,
    replace_unless,
)
from gradtape.ops.linalg.solve import triangular_solve
from gradtape.ops.shape import concat, shape_of, slice_

lax: Any = None  # `jax.lax` in the copy of this module that runs on JAX


def cholesky_wrt_a(g, out):
    """Murray, 2016, equation 10, made Hermitian."""
    inner = lower_with_half_diagonal(matmul(adjoint(out), conj(g)))
    left = triangular_solve(adjoint(out), inner, lower=False)
    whole = adjoint(triangular_solve(adjoint(out), adjoint(left), lower=False))
    return conj(whole + adjoint(whole)) / 2


@primitive(a=cholesky_wrt_a, shape=keep_shape)
def cholesky(a):
    """Lower triangular factor of Hermitian matrices; NaN where one is not positive definite."""
    try:
        return run_lapack(np.linalg.cholesky, a)
    except np.linalg.LinAlgError:
        out = np.stack([cholesky_or_nan(m) for m in a.reshape(-1, *a.shape[-2:])])
        return out.reshape(a.shape)


def cholesky_or_nan(matrix: Any) -> Any:
    """Cholesky factor of one matrix; a triangle of NaN if it is not positive definite."""
    try:
        return run_lapack(np.linalg.cholesky, matrix)
    except np.linalg.LinAlgError:
        return np.tril(np.full_like(matrix, np.nan))


@cholesky.lower
def lower_cholesky(a):
    # By default JAX averages the two triangles.
    return np.linalg.cholesky(a, symmetrize_input=False)


def qr_wrt_a(g, out, a_spec):
    """Walter and Lehmann, 2018, for at least as many rows as columns.

    For wide matrices the formula applies to the leading square block.
    """
    rows, columns = a_spec.shape[-2:]
    q, r = out
    gq, gr = conj(g[0]), conj(g[1])
    if rows >= columns:
        return conj(pull_back_tall_qr(gq, gr, q, r))
    first, rest = (slice(None), slice(0, rows)), (slice(None), slice(rows, None))
    u, y = slice_(r, key=first, rank=2), slice_(r, key=rest, rank=2)
    gu, gy = slice_(gr, key=first, rank=2), slice_(gr, key=rest, rank=2)
    x = matmul(q, y)
    left = pull_back_tall_qr(gq + matmul(x, adjoint(gy)), gu, q, u)
    return conj(concat(left, matmul(q, gy), axis=-1))


def pull_back_tall_qr(gq: Any, gr: Any, q: Any, r: Any) -> Any:
    """Conjugate cotangent of `a` for at least as many rows as columns."""
    m = matmul(r, adjoint(gr)) - matmul(adjoint(gq), q)
    half = lower_with_half_diagonal(m)
    inner = gq + matmul(q, half + adjoint(half))
    return adjoint(triangular_solve(r, adjoint(inner), lower=False))


def complete_basis(thin: Any, whole: Any) -> Any:
    """Extend the orthonormal columns `thin` by the remaining columns of the constant `whole`.

    The added columns stay orthogonal to `thin` up to second order when `thin` changes, so that
    second derivatives are right.
    """
    k = shape_of(thin)[-1]
    rest = slice_(whole, key=(slice(None), slice(k, None)), rank=2)
    tilt = matmul(adjoint(thin), rest)
    added = rest - matmul(thin, tilt)
    added = added + matmul(added, matmul(adjoint(tilt), tilt)) / 2
    return concat(thin, added, axis=-1)


def qr_shapes(a):
    *front, m, n = a.shape
    k = min_size(m, n)
    return [(*front, m, k), (*front, k, n)]


@primitive(a=qr_wrt_a, outputs=True, shape=qr_shapes)
def qr(a):
    """Orthonormal columns and an upper triangular matrix whose product is `a`."""
    return spread_nan_over_basis(*run_lapack(np.linalg.qr, a))


@qr.lower
def lower_qr(a):
    q, r = np.linalg.qr(a)
    return mask_basis(q, r), r


def spread_nan_over_basis(q: Any, r: Any) -> tuple[Any, Any]:
    """Replace `q` by NaN if `r` is not finite, as in TensorFlow."""
    return (q, r) if has_finite_sum(r) else (mask_basis(q, r), r)


def mask_basis(q: Any, r: Any) -> Any:
    """Replace `q` by NaN where `r` is not finite; a matrix of one row has a finite `q`."""
    return replace_unless(np.isfinite(r).all(axis=(-2, -1)), q) if q.shape[-2] > 1 else q


@primitive(a=None, outputs=True, shape=lambda a: [(*a.shape[:-1], a.shape[-2]), a.shape])
def full_qr(a):
    """As `qr`, with `q` square."""
    return spread_nan_over_basis(*run_lapack(np.linalg.qr, a, mode="complete"))


@full_qr.lower
def lower_full_qr(a):
    q, r = np.linalg.qr(a, mode="complete")
    return mask_basis(q, r), r


def svd_wrt_a(g, out, a_spec):
    """Wan and Zhang, 2019, for the reduced form."""
    s, u, v = out
    gs, gu, gv = (conj(part) for part in g)
    dtype = a_spec.dtype
    square = s * s
    f = cast(reciprocal_gaps_of(square), dtype=dtype)
    sc = cast(s, dtype=dtype)
    us, vs = matmul(adjoint(u), gu), matmul(adjoint(v), gv)
    k = shape_of(s)[-1]
    skew_u, skew_v = f * us, f * vs
    inner = scale_columns(skew_u + adjoint(skew_u), sc) + scale_rows(skew_v + adjoint(skew_v), sc)
    inner = inner + place_diagonal(cast(gs, dtype=dtype), rows=k, columns=k)
    if dtype.kind == "c":
        twist = keep_band(us - adjoint(us), lower=0, upper=0) / 2
        inner = inner + scale_columns(twist, reciprocal(sc))
    whole = matmul(matmul(u, inner), adjoint(v))
    rows, columns = a_spec.shape[-2:]
    if rows > k:
        outside = gu - matmul(u, us)
        whole = whole + matmul(scale_columns(outside, reciprocal(sc)), adjoint(v))
    if columns > k:
        outside = gv - matmul(v, vs)
        whole = whole + matmul(scale_columns(u, reciprocal(sc)), adjoint(outside))
    return conj(whole)


def scale_rows(x: Any, d: Any) -> Any:
    """Matrices `x` with their rows scaled by `d`."""
    return x * slice_(d, key=(slice(None), None), rank=1)


def svd_shapes(a):
    *front, m, n = a.shape
    k = min_size(m, n)
    return [Spec(((*front, k), real_dtype_of(a.dtype))), (*front, m, k), (*front, n, k)]


@primitive(a=svd_wrt_a, outputs=True, shape=svd_shapes)
def svd(a):
    """Singular values, descending, and left and right singular vectors (as columns).

    Matrices that are not finite give NaN.
    """
    return map_finite(compute_svd, a)


def compute_svd(a: Any, full: bool = False) -> tuple[Any, Any, Any]:
    """Singular values and vectors of finite matrices."""
    u, s, vh = run_lapack(np.linalg.svd, a, full_matrices=full)
    return s, u, np.conj(np.swapaxes(vh, -1, -2))


@svd.lower
def lower_svd(a):
    return map_masked(compute_svd, a)


def full_svd_shapes(a):
    *front, m, n = a.shape
    return [singular_values_shape(a), (*front, m, m), (*front, n, n)]


def singular_values_shape(a):
    *front, m, n = a.shape
    return Spec(((*front, min_size(m, n)), real_dtype_of(a.dtype)))


@primitive(a=None, outputs=True, shape=full_svd_shapes)
def full_svd(a):
    """As `svd`, with square matrices of vectors."""
    return map_finite(compute_full_svd, a)


def compute_full_svd(a: Any) -> tuple[Any, Any, Any]:
    """Singular values and square matrices of vectors, of finite matrices."""
    return compute_svd(a, full=True)


@full_svd.lower
def lower_full_svd(a):
    return map_masked(compute_full_svd, a)


def singular_values_wrt_a(g, a, a_spec):
    """U diag(g) Vᴴ; unlike the rule of `svd` it has no gaps, so it is exact for equal values."""
    _, u, v = svd(a)
    return conj(matmul(scale_columns(u, cast(g, dtype=a_spec.dtype)), adjoint(v)))


@primitive(a=singular_values_wrt_a, shape=singular_values_shape)
def singular_values(a):
    """Singular values, descending; NaN for matrices that are not finite."""
    return map_finite(compute_singular_values, a)


def compute_singular_values(a: Any) -> Any:
    """Singular values of finite matrices."""
    return run_lapack(np.linalg.svd, a, compute_uv=False)


@singular_values.lower
def lower_singular_values(a):
    return map_masked(compute_singular_values, a)


@primitive(a=None, outputs=True, shape=lambda a: [a.shape, Spec((a.shape[:-1], INT32))])
def lu(a):
    """LU decomposition: both triangular factors in one matrix, and the permutation of rows."""
    n = a.shape[-1]
    flat = a.reshape(int(np.prod(a.shape[:-2])), n, n)
    both = np.empty_like(flat)
    order = np.empty((len(flat), n), np.int32)
    for i, matrix in enumerate(flat if n else ()):
        factor = factor_finite_matrix if has_finite_sum(matrix) else eliminate_rows
        both[i], order[i] = factor(matrix)
        if not has_pivots(np.diagonal(both[i])):
            raise InvalidArgumentError("lu: Input is not invertible. Received a singular matrix.")
    return both.reshape(a.shape), order.reshape(a.shape[:-1])


def factor_finite_matrix(matrix: Any) -> tuple[Any, Any]:
    """LU decomposition of one matrix by LAPACK."""
    from scipy.linalg import get_lapack_funcs

    (factor,) = get_lapack_funcs(("getrf",), (matrix,))
    both, swaps, _ = run_scipy(factor, matrix)
    order = np.arange(len(matrix))
    for j, k in enumerate(swaps):
        order[[j, k]] = order[[k, j]]
    return both, order


@lu.lower
def lower_lu(a):
    both, _, order = lax.linalg.lu(a)
    return both, order
