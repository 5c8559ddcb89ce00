"""Functions of matrices: exponential, square root and logarithm, and the Sylvester equation."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.blas_thread import run_scipy
from gradtape.core.open_shape import broadcast_shapes
from gradtape.core.primitive import primitive
from gradtape.core.shape_rule import keep_shape
from gradtape.ops.linalg.matmul import matmul
from gradtape.ops.linalg.nonfinite import has_finite_sum, map_finite, map_masked
from gradtape.ops.no_nan import conj_if_complex
from gradtape.ops.quadrature import gauss_legendre
from gradtape.ops.shape import concat, shape_of, slice_, swap, zeros

lax: Any = None  # `jax.lax` in the copy of this module that runs on JAX


def map_matrices(function: Any, a: Any) -> Any:
    """Apply a function of one matrix to each matrix of a stack."""
    out = np.empty_like(a)
    for i in np.ndindex(a.shape[:-2]):
        out[i] = function(a[i])
    return out


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


@primitive(a=expm_wrt_a, shape=keep_shape)
def expm(a):
    """Exponential of square matrices; NaN for those that are not finite."""
    return map_finite(compute_expm, a) if a.size else a


def compute_expm(a: Any) -> Any:
    """Exponential of finite matrices."""
    from scipy.linalg import expm as exponential

    out = run_scipy(exponential, a).astype(a.dtype, copy=False)
    if has_finite_sum(out):
        return out
    # SciPy gives NaN where its scaling overflows. Those results may be zero or infinite.
    bad = np.isnan(out).any(axis=(-2, -1))
    out[bad] = square_pade_approximant(a[bad])
    return out


PADE_RADIUS = 5  # norm up to which the approximant needs no scaling


@expm.lower
def lower_expm(a):
    return map_masked(square_pade_approximant, a)


def scale_to_radius(a: Any) -> tuple[Any, Any]:
    """Divide matrices by the power of two that brings their norm to `PADE_RADIUS` at most."""
    size = np.max(np.sum(np.abs(a), axis=-2), axis=-1)
    size = np.minimum(size, np.finfo(size.dtype).max)  # a sum of finite numbers may overflow
    halvings = np.maximum(np.ceil(np.log2(np.maximum(size, 1) / PADE_RADIUS)), 0)[..., None, None]
    first = np.minimum(halvings, 64)  # 2 to the power of all halvings may overflow
    return a / (2**first).astype(a.dtype) / (2 ** (halvings - first)).astype(a.dtype), halvings


def pade_approximant(a: Any) -> Any:
    """Padé approximant of degree 13 of the exponential (Higham, 2005)."""
    weight = 1.0
    even, odd = np.zeros_like(a), np.zeros_like(a)
    term = np.broadcast_to(np.eye(a.shape[-1], dtype=a.dtype), a.shape)
    for k in range(14):
        even, odd = (even + weight * term, odd) if k % 2 == 0 else (even, odd + weight * term)
        term = np.matmul(term, a)
        weight = weight * (13 - k) / ((26 - k) * (k + 1))
    return np.linalg.solve(even - odd, even + odd)


def square_pade_approximant(a: Any) -> Any:
    """Exponential of finite matrices by scaling and squaring, without a limit on their size."""
    a, halvings = scale_to_radius(a)
    count = np.max(halvings, initial=0).astype(np.int32)

    def square(k: Any, out: Any) -> Any:
        return np.where(k < halvings, np.matmul(out, out), out)

    out = pade_approximant(a).astype(a.dtype)
    if lax is not None:
        return lax.fori_loop(0, count, square, out)
    with np.errstate(all="ignore"):
        for k in range(count):
            out = square(k, out)
    return out


def sylvester_wrt_c(g, a, b):
    return sylvester(swap(a), swap(b), g)


def sylvester_shape(a, b, c):
    front = broadcast_shapes(*[x.shape[:-2] for x in (a, b, c)])
    return (*front, *c.shape[-2:])


@primitive(
    core=2,
    a=lambda g, a, b, out: -matmul(sylvester_wrt_c(g, a, b), swap(out)),
    b=lambda g, a, b, out: -matmul(swap(out), sylvester_wrt_c(g, a, b)),
    c=sylvester_wrt_c,
    shape=sylvester_shape,
)
def sylvester(a, b, c):
    """The solution `x` of a @ x + x @ b = c; NaN where an operand is not finite."""
    from scipy.linalg import solve_sylvester

    lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2], c.shape[:-2])
    out = np.empty(lead + c.shape[-2:], c.dtype)
    if not out.size:
        return out
    a, b, c = (np.broadcast_to(x, lead + x.shape[-2:]) for x in (a, b, c))
    for i in np.ndindex(lead):
        fine = all(np.isfinite(x[i]).all() for x in (a, b, c))
        out[i] = run_scipy(solve_sylvester, a[i], b[i], c[i]) if fine else np.nan
    return out


@sylvester.lower
def lower_sylvester(a, b, c):
    """Solve one linear system for the flattened `x`."""
    m, n = c.shape[-2:]
    rows = np.einsum("...ij,kl->...ikjl", a, np.eye(n, dtype=a.dtype))
    columns = np.einsum("ij,...lk->...ikjl", np.eye(m, dtype=b.dtype), b)
    system = (rows + columns).reshape(*rows.shape[:-4], m * n, m * n)
    return np.linalg.solve(system, c.reshape(*c.shape[:-2], m * n, 1)).reshape(c.shape)


# TensorFlow does not conjugate the factors here; `conj_if_complex` undoes the engine's conjugation.
@primitive(
    a=lambda g, out: sylvester(swap(conj_if_complex(out)), swap(conj_if_complex(out)), g),
    shape=keep_shape,
)
def sqrtm(a):
    """Principal square root of square matrices.

    It is NaN for matrices that are not finite, and for real matrices without a real root.
    """
    return map_finite(compute_sqrtm, a)


def compute_sqrtm(a: Any) -> Any:
    """Square roots of finite matrices."""
    return map_matrices(sqrt_of_matrix, a)


def sqrt_of_matrix(matrix: Any) -> Any:
    """Square root of one matrix, in its dtype."""
    from scipy.linalg import sqrtm

    root = run_scipy(sqrtm, matrix)
    if np.iscomplexobj(root) and not np.iscomplexobj(matrix):
        return np.full(matrix.shape, np.nan, matrix.dtype)
    return root.astype(matrix.dtype)


SQRTM_ITERATIONS = 20
SQRTM_SCALING_ITERATIONS = 8


@sqrtm.lower
def lower_sqrtm(a):
    return map_masked(iterate_sqrtm, a)


def iterate_sqrtm(a: Any) -> Any:
    """Denman and Beavers' iteration (1976), which improves the root and its inverse together.

    In the first iterations scaling by the determinant (Higham 2008, 6.29) speeds up convergence.
    """
    n = a.shape[-1]

    def improve(k, pair):
        root, back = pair
        size = np.linalg.slogdet(root)[1] + np.linalg.slogdet(back)[1]
        scale = np.where(k < SQRTM_SCALING_ITERATIONS, np.exp(-size / (2 * n)), 1)[
            ..., None, None
        ].astype(a.dtype)
        inverse, other = np.linalg.inv(root), np.linalg.inv(back)
        return (scale * root + other / scale) / 2, (scale * back + inverse / scale) / 2

    one = np.broadcast_to(np.eye(n, dtype=a.dtype), a.shape)
    return lax.fori_loop(0, SQRTM_ITERATIONS, improve, (a, one))[0]


def logm_wrt_a(g, a, a_spec):
    """The derivative is a block of the logarithm of a matrix of twice the size."""
    n = a_spec.shape[-1]
    lead = shape_of(g)[: len(shape_of(g)) - 2]
    at = swap(a) + zeros((*lead, n, n), a_spec.dtype)
    bottom = concat(zeros((*lead, n, n), a_spec.dtype), at, axis=-1)
    block = logm(concat(concat(at, g, axis=-1), bottom, axis=-2))
    return slice_(block, key=(slice(0, n), slice(n, None)), rank=2)


@primitive(a=logm_wrt_a, shape=keep_shape)
def logm(a):
    """Principal logarithm of square matrices; NaN for those that are not finite."""
    return map_finite(compute_logm, a)


def compute_logm(a: Any) -> Any:
    """Logarithms of finite matrices."""
    return map_matrices(log_of_matrix, a)


def log_of_matrix(matrix: Any) -> Any:
    """Logarithm of one matrix, in its dtype."""
    from scipy.linalg import logm

    return run_scipy(logm, matrix.astype(complex)).astype(matrix.dtype)


LOGM_ROOTS = 6


@logm.lower
def lower_logm(a):
    return map_masked(quadrature_of_logm, a)


def quadrature_of_logm(a: Any) -> Any:
    """Take square roots until near the identity, then Gauss quadrature (Higham 2008, 11.4)."""
    one = np.eye(a.shape[-1], dtype=a.dtype)
    rest = lax.fori_loop(0, LOGM_ROOTS, lambda _, x: iterate_sqrtm(x), a) - one
    nodes, weights = (np.asarray(x, a.dtype)[:, None, None] for x in gauss_legendre(16))
    rest = rest[..., None, :, :]
    terms = weights * np.linalg.solve(
        one + nodes * rest, np.broadcast_to(rest, (nodes * rest).shape)
    )
    return np.sum(terms, axis=-3) * 2**LOGM_ROOTS
