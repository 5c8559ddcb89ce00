"""Matrix products, inverses and decompositions over the last two axes.

Rules work on the conjugate of TensorFlow's cotangent (see `elementwise`): a holomorphic op's rule
is the bare transpose. Where an op is not holomorphic (Cholesky, eigh, QR, SVD) its rule conjugates
on the way in and out.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.dtypes import accumulator
from gradtape.core.errors import InvalidArgumentError
from gradtape.core.primitive import primitive
from gradtape.ops.elementwise import (
    cast,
    conj,
    equal,
    gate,
    logical_not,
    ones_like,
    real,
    reciprocal,
    select,
)
from gradtape.ops.shape import concat, place, reshape, shape_of, slice_, swap, zeros

lax: Any = None  # bound where kernels are lowered


def matmul_wrt_b(g, a, b_spec):
    """For one matrix `b` and many `a`, a single tall product instead of a batch to be summed."""
    shape = shape_of(a)
    n = len(shape)
    if n > 2 and len(b_spec.shape) == 2:
        rows = 1
        for size in shape[:-1]:
            rows *= size
        a = reshape(a, shape=(rows, shape[-1]), rank=n)
        g = reshape(g, shape=(rows, b_spec.shape[-1]), rank=n)
    return matmul(swap(a), g)


@primitive(core=2, a=lambda g, b: matmul(g, swap(b)), b=matmul_wrt_b)
def matmul(a, b):
    """Matrix product over the last two axes, accumulated in float32 for the half types."""
    if a.ndim == 2 and b.ndim == 2 and a.dtype.itemsize > 2:
        return a.dot(b) if type(a) is np.ndarray else np.dot(a, b)  # the method is quicker to call
    wide = accumulator(a.dtype)
    if wide is not a.dtype:
        return product(a.astype(wide), b.astype(wide)).astype(a.dtype)
    return product(a, b)


def product(a: Any, b: Any) -> Any:
    """Matrix product of raw arrays, spelled so that it reaches BLAS."""
    if b.ndim == 2:
        if a.ndim == 2:
            return np.dot(a, b)
        if a.size:
            return np.dot(a.reshape(-1, a.shape[-1]), b).reshape(*a.shape[:-1], b.shape[-1])
    elif a.ndim == 2 and b.shape[-1] == 1 and b.size:  # many vectors are a matrix
        rows = np.dot(b.reshape(-1, b.shape[-2]), a.swapaxes(0, 1))
        return rows.reshape(*b.shape[:-2], a.shape[0], 1)
    return np.matmul(a, b)


def adjoint(x: Any) -> Any:
    """Conjugate transpose."""
    return conj(swap(x))


# -- diagonals and triangles -----------------------------------------------------------------------


def diagonal(x: Any, *, offset: int = 0) -> Any:
    """One diagonal of matrices (m, n): every (n + 1)-th element of the flat matrix."""
    rows, columns = shape_of(x)[-2:]
    key = diagonal_key(rows, columns, offset)
    return slice_(reshape(x, shape=(rows * columns,), rank=2), key=key, rank=1)


def on_diagonal(d: Any, *, rows: int, columns: int, offset: int = 0) -> Any:
    """Adjoint of `diagonal`: zeros with `d` on one diagonal."""
    key = diagonal_key(rows, columns, offset)
    flat = place(d, key=key, rank=1, shape=(rows * columns,))
    return reshape(flat, shape=(rows, columns), rank=1)


def diagonal_key(rows: int, columns: int, offset: int) -> tuple[slice, ...]:
    """Where a diagonal lies in the flat matrix."""
    start = offset if offset >= 0 else -offset * columns
    length = diagonal_length(rows, columns, offset)
    return (slice(start, start + length * (columns + 1) - columns, columns + 1),)


def diagonal_length(rows: int, columns: int, offset: int) -> int:
    """How many elements a diagonal has."""
    return min(rows + min(offset, 0), columns - max(offset, 0))


def band_mask(rows: int, columns: int, lower: int, upper: int) -> Any:
    """Whether an element lies at most `lower` below and `upper` above the diagonal.

    -1 means any distance.
    """
    below = np.arange(rows)[:, None] - np.arange(columns)
    keep = np.ones((rows, columns), bool)
    if lower >= 0:
        keep &= below <= lower
    if upper >= 0:
        keep &= -below <= upper
    return keep


def band(x: Any, *, lower: int, upper: int) -> Any:
    """`x` with zeros outside a band around the diagonal."""
    rows, columns = shape_of(x)[-2:]
    return gate(x, band_mask(rows, columns, lower, upper))


def lower_half(x: Any) -> Any:
    """The lower triangle of `x` with the diagonal halved."""
    return band(x, lower=-1, upper=0) - band(x, lower=0, upper=0) / 2


# -- inverses and determinants ---------------------------------------------------------------------


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
    """The `x` with a @ x = b."""
    try:
        return np.linalg.solve(a, b)
    except np.linalg.LinAlgError:
        raise InvalidArgumentError(
            "solve: Input matrix is not invertible. Received a singular matrix; try lstsq."
        ) from None


def triangular_solve_wrt_a(g, a, out, lower):
    """Only the triangle that is read gets a cotangent."""
    whole = -matmul(triangular_solve(swap(a), g, lower=not lower), swap(out))
    return band(whole, lower=-1, upper=0) if lower else band(whole, lower=0, upper=-1)


@primitive(
    core=2,
    a=triangular_solve_wrt_a,
    b=lambda g, a, lower: triangular_solve(swap(a), g, lower=not lower),
)
def triangular_solve(a, b, *, lower: bool):
    """The `x` with a @ x = b, where one triangle of `a` is read."""
    try:
        return np.linalg.solve(np.tril(a) if lower else np.triu(a), b)
    except np.linalg.LinAlgError:
        return substituted(a, b, lower)


def substituted(a: Any, b: Any, lower: bool) -> Any:
    """Solve row by row: zeros on the diagonal give infinities, as in TensorFlow."""
    n = a.shape[-1]
    rows: dict[int, Any] = {}
    with np.errstate(all="ignore"):
        for i in range(n) if lower else range(n - 1, -1, -1):
            known = sum(a[..., i, j, None] * x for j, x in rows.items())
            rows[i] = (b[..., i, :] - known) / a[..., i, i, None]
    return np.stack([rows[i] for i in range(n)], axis=-2)


def as_column(g: Any) -> Any:
    """`g` with two axes of length one behind it."""
    return slice_(g, key=(None, None), rank=0)


@primitive(
    a=lambda g, a, out: as_column(g * conj(out)) * swap(inverse(a))
)  # TensorFlow's conjugate
def det(a):
    """Determinant of square matrices."""
    return np.linalg.det(a)


@primitive(
    a=lambda g, a, a_spec: as_column(cast(g[1], dtype=a_spec.dtype)) * swap(inverse(a)),
    outputs=True,
)
def slogdet(a):
    """Sign and logarithm of the absolute value of the determinant."""
    sign, logabs = np.linalg.slogdet(a)
    return sign, logabs.astype(a.dtype)


# -- decompositions --------------------------------------------------------------------------------


def cholesky_wrt_a(g, out):
    """Murray, 2016, equation 10, made Hermitian."""
    inner = lower_half(matmul(adjoint(out), conj(g)))
    left = triangular_solve(adjoint(out), inner, lower=False)
    whole = adjoint(triangular_solve(adjoint(out), adjoint(left), lower=False))
    return conj(whole + adjoint(whole)) / 2


@primitive(a=cholesky_wrt_a)
def cholesky(a):
    """Lower triangular factor of Hermitian matrices; NaN where one is not positive definite."""
    try:
        return np.linalg.cholesky(a)
    except np.linalg.LinAlgError:
        out = np.stack([factor_or_nan(m) for m in a.reshape(-1, *a.shape[-2:])])
        return out.reshape(a.shape)


def factor_or_nan(matrix: Any) -> Any:
    """Cholesky factor of one matrix, or a triangle of NaN."""
    try:
        return np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        return np.tril(np.full_like(matrix, np.nan))


@cholesky.lower
def cholesky_lowered(a):
    # JAX would take the mean of the two triangles
    return np.linalg.cholesky(a, symmetrize_input=False)


def gaps(x: Any) -> Any:
    """1 / (x_j - x_i), and zero where the two are equal."""
    difference = slice_(x, key=(None, slice(None)), rank=1) - slice_(
        x, key=(slice(None), None), rank=1
    )
    same = equal(difference, 0)
    return gate(reciprocal(select(same, ones_like(difference), difference)), logical_not(same))


def columns_times(x: Any, d: Any) -> Any:
    """Matrices `x` with their columns scaled by `d`."""
    return x * slice_(d, key=(None, slice(None)), rank=1)


def eigh_wrt_a(g, out, a_spec):
    """Giles, 2008, section 3.1; the result lies in the triangle that is read, as in TensorFlow."""
    e, v = out
    ge, gv = conj(g[0]), conj(g[1])
    vh = adjoint(v)
    f = cast(gaps(e), dtype=a_spec.dtype)
    inner = on_diagonal(
        cast(ge, dtype=a_spec.dtype), rows=a_spec.shape[-1], columns=a_spec.shape[-1]
    )
    whole = matmul(matmul(v, inner + conj(f) * matmul(vh, gv)), vh)
    folded = band(whole + adjoint(whole), lower=-1, upper=0)
    return conj(folded - band(folded, lower=0, upper=0) / 2)


@primitive(a=eigh_wrt_a, outputs=True)
def eigh(a):
    """Eigenvalues, ascending, and eigenvectors of Hermitian matrices.

    The lower triangle is read.
    """
    e, v = np.linalg.eigh(a)
    return e, v


@eigh.lower
def eigh_lowered(a):
    # JAX would take the mean of the two triangles
    e, v = np.linalg.eigh(a, UPLO="L", symmetrize_input=False)
    return e, v


def eig_wrt_a(g, out, a_spec):
    """As `eigh`, where vectors are not orthogonal and have unit length and any phase."""
    e, v = out
    ge, gv = conj(g[0]), conj(g[1])
    vh = adjoint(v)
    inner = matmul(vh, gv)
    along = real(diagonal(inner))
    kind = np.result_type(a_spec.dtype, np.complex64)
    drift = columns_times(matmul(vh, v), cast(along, dtype=kind))
    n = a_spec.shape[-1]
    middle = on_diagonal(ge, rows=n, columns=n) + conj(gaps(e)) * (inner - drift)
    whole = conj(solve(vh, matmul(middle, vh)))
    return whole if a_spec.dtype.kind == "c" else real(whole)


@primitive(a=eig_wrt_a, outputs=True)
def eig(a):
    """Eigenvalues and eigenvectors of general matrices."""
    e, v = np.linalg.eig(a)
    kind = np.result_type(a.dtype, np.complex64)
    return e.astype(kind), v.astype(kind)


def qr_wrt_a(g, out, a_spec):
    """Walter and Lehmann, 2018, for at least as many rows as columns.

    Else the leading square block decides.
    """
    rows, columns = a_spec.shape[-2:]
    q, r = out
    gq, gr = conj(g[0]), conj(g[1])
    if rows >= columns:
        return conj(qr_tall(gq, gr, q, r))
    first, rest = (slice(None), slice(0, rows)), (slice(None), slice(rows, None))
    u, y = slice_(r, key=first, rank=2), slice_(r, key=rest, rank=2)
    gu, gy = slice_(gr, key=first, rank=2), slice_(gr, key=rest, rank=2)
    x = matmul(q, y)
    left = qr_tall(gq + matmul(x, adjoint(gy)), gu, q, u)
    return conj(concat(left, matmul(q, gy), axis=-1))


def qr_tall(gq: Any, gr: Any, q: Any, r: Any) -> Any:
    m = matmul(r, adjoint(gr)) - matmul(adjoint(gq), q)
    strict = band(m, lower=-1, upper=0) - band(m, lower=0, upper=0)
    symmetric = band(m, lower=0, upper=0) + strict + adjoint(strict)
    inner = gq + matmul(q, symmetric)
    return adjoint(triangular_solve(r, adjoint(inner), lower=False))


def completed(thin: Any, whole: Any) -> Any:
    """Orthonormal columns `thin` and those of the constant `whole` that are orthogonal to them.

    The columns behind follow when `thin` turns, so far that the second derivative is right.
    """
    k = shape_of(thin)[-1]
    rest = slice_(whole, key=(slice(None), slice(k, None)), rank=2)
    tilt = matmul(adjoint(thin), rest)
    turned = rest - matmul(thin, tilt)
    turned = turned + matmul(turned, matmul(adjoint(tilt), tilt)) / 2
    return concat(thin, turned, axis=-1)


@primitive(a=qr_wrt_a, outputs=True)
def qr(a):
    """Orthonormal columns and an upper triangular matrix whose product is `a`."""
    q, r = np.linalg.qr(a)
    return q, r


@primitive(a=None, outputs=True)
def full_qr(a):
    """As `qr`, with `q` square."""
    q, r = np.linalg.qr(a, mode="complete")
    return q, r


def svd_wrt_a(g, out, a_spec):
    """Wan and Zhang, 2019, for the economical form."""
    s, u, v = out
    gs, gu, gv = (conj(part) for part in g)
    dtype = a_spec.dtype
    square = s * s
    f = cast(gaps(square), dtype=dtype)
    sc = cast(s, dtype=dtype)
    us, vs = matmul(adjoint(u), gu), matmul(adjoint(v), gv)
    k = shape_of(s)[-1]
    skew_u, skew_v = f * us, f * vs
    inner = columns_times(skew_u + adjoint(skew_u), sc) + rows_times(skew_v + adjoint(skew_v), sc)
    inner = inner + on_diagonal(cast(gs, dtype=dtype), rows=k, columns=k)
    if dtype.kind == "c":
        twist = band(us - adjoint(us), lower=0, upper=0) / 2
        inner = inner + columns_times(twist, reciprocal(sc))
    whole = matmul(matmul(u, inner), adjoint(v))
    rows, columns = a_spec.shape[-2:]
    if rows > k:
        outside = gu - matmul(u, us)
        whole = whole + matmul(columns_times(outside, reciprocal(sc)), adjoint(v))
    if columns > k:
        outside = gv - matmul(v, vs)
        whole = whole + matmul(columns_times(u, reciprocal(sc)), adjoint(outside))
    return conj(whole)


def rows_times(x: Any, d: Any) -> Any:
    """Matrices `x` with their rows scaled by `d`."""
    return x * slice_(d, key=(slice(None), None), rank=1)


@primitive(a=svd_wrt_a, outputs=True)
def svd(a):
    """Singular values, descending, and left and right singular vectors (as columns).

    Matrices that are not finite give NaN.
    """
    try:
        u, s, vh = np.linalg.svd(a, full_matrices=False)
    except np.linalg.LinAlgError:
        fine = np.isfinite(a).all(axis=(-1, -2))[..., None, None]
        u, s, vh = np.linalg.svd(np.where(fine, a, a.dtype.type(0)), full_matrices=False)
        u, vh = (np.where(fine, x, x.dtype.type(np.nan)) for x in (u, vh))
        s = np.where(fine[..., 0], s, s.dtype.type(np.nan))
    return s, u, np.conj(np.swapaxes(vh, -1, -2))


@primitive(a=None, outputs=True)
def full_svd(a):
    """As `svd`, with square matrices of vectors."""
    u, s, vh = np.linalg.svd(a, full_matrices=True)
    return s, u, np.conj(np.swapaxes(vh, -1, -2))


@primitive(a=None, outputs=True)
def lu(a):
    """Both triangular factors in one matrix, and the permutation of rows."""
    from scipy.linalg import get_lapack_funcs

    n = a.shape[-1]
    flat = a.reshape(int(np.prod(a.shape[:-2])), n, n)
    both = np.empty_like(flat)
    order = np.empty((len(flat), n), np.int32)
    for i, matrix in enumerate(flat if n else ()):
        (factor,) = get_lapack_funcs(("getrf",), (matrix,))
        both[i], swaps, _ = factor(matrix)
        order[i] = np.arange(n)
        for j, k in enumerate(swaps):
            order[i, [j, k]] = order[i, [k, j]]
        if not np.diagonal(np.abs(both[i]) > 0).all():
            raise InvalidArgumentError("lu: Input is not invertible. Received a singular matrix.")
    return both.reshape(a.shape), order.reshape(a.shape[:-1])


@lu.lower
def lu_lowered(a):
    both, _, order = lax.linalg.lu(a)
    return both, order


def expm_wrt_a(g, a, a_spec):
    """The derivative is a block of the exponential of a matrix of twice the size."""
    n = a_spec.shape[-1]
    at = swap(a)
    lead = shape_of(g)[: len(shape_of(g)) - 2]
    at = at + zeros((*lead, n, n), a_spec.dtype)
    top = concat(at, g, axis=-1)
    bottom = concat(zeros((*lead, n, n), a_spec.dtype), at, axis=-1)
    block = expm(concat(top, bottom, axis=-2))
    return slice_(block, key=(slice(0, n), slice(n, None)), rank=2)


@primitive(a=expm_wrt_a)
def expm(a):
    """Exponential of square matrices."""
    from scipy.linalg import expm as exponential

    return exponential(a).astype(a.dtype, copy=False) if a.size else a


SQUARINGS = 16


@expm.lower
def expm_lowered(a):
    """Higham, 2005: halve, take the Padé approximant of degree 13, and square."""
    size = np.max(np.sum(np.abs(a), axis=-2), axis=-1)[..., None, None]
    halvings = np.clip(np.ceil(np.log2(np.maximum(size, 1e-30) / 5)), 0, SQUARINGS)
    a = a / (2**halvings).astype(a.dtype)
    weight, even, odd = 1.0, 0, 0
    term = np.broadcast_to(np.eye(a.shape[-1], dtype=a.dtype), a.shape)
    for k in range(14):
        even, odd = (even + weight * term, odd) if k % 2 == 0 else (even, odd + weight * term)
        term = np.matmul(term, a)
        weight = weight * (13 - k) / ((26 - k) * (k + 1))
    out = np.linalg.solve(even - odd, even + odd)
    for k in range(SQUARINGS):
        out = np.where(k < halvings, np.matmul(out, out), out)
    return out
