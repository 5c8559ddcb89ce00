"""Eigenvalues and eigenvectors, over the last two axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.blas_thread import run_lapack
from gradtape.core.primitive import Spec, primitive
from gradtape.core.shape_rule import complex_dtype_of, real_dtype_of
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
from gradtape.ops.linalg.diagonal import (
    diagonal,
    keep_band,
    place_diagonal,
)
from gradtape.ops.linalg.matmul import adjoint, matmul
from gradtape.ops.linalg.nonfinite import (
    check_finite,
    has_finite_sum,
    map_finite,
    map_masked,
)
from gradtape.ops.linalg.solve import solve
from gradtape.ops.shape import slice_


def reciprocal_gaps_of(x: Any) -> Any:
    """The matrix 1 / (x_j - x_i), with zeros where the two are equal."""
    difference = slice_(x, key=(None, slice(None)), rank=1) - slice_(
        x, key=(slice(None), None), rank=1
    )
    same = equal(difference, 0)
    return gate(reciprocal(select(same, ones_like(difference), difference)), logical_not(same))


def eigh_wrt_a(g, out, a_spec):
    """Giles, 2008, section 3.1; only the lower triangle gets a cotangent, as in TensorFlow."""
    e, v = out
    ge, gv = conj(g[0]), conj(g[1])
    vh = adjoint(v)
    f = cast(reciprocal_gaps_of(e), dtype=a_spec.dtype)
    inner = place_diagonal(
        cast(ge, dtype=a_spec.dtype), rows=a_spec.shape[-1], columns=a_spec.shape[-1]
    )
    whole = matmul(matmul(v, inner + conj(f) * matmul(vh, gv)), vh)
    folded = keep_band(whole + adjoint(whole), lower=-1, upper=0)
    return conj(folded - keep_band(folded, lower=0, upper=0) / 2)


def eigh_shapes(a):
    return [Spec((a.shape[:-1], real_dtype_of(a.dtype))), a.shape]


@primitive(a=eigh_wrt_a, outputs=True, shape=eigh_shapes)
def eigh(a):
    """Eigenvalues, ascending, and eigenvectors of Hermitian matrices.

    Only the lower triangle is read; it must be finite.
    """
    if not has_finite_sum(a):
        a = np.tril(a)
        check_finite("eigh", a)
    return compute_eigh(a)


def compute_eigh(a: Any) -> tuple[Any, Any]:
    """Eigenvalues and eigenvectors of finite matrices."""
    e, v = run_lapack(np.linalg.eigh, a)
    return e, v


@eigh.lower
def lower_eigh(a):
    # Code on JAX cannot raise, so matrices that are not finite give NaN.
    return map_masked(compute_eigh_on_jax, np.tril(a))


def compute_eigh_on_jax(a: Any) -> tuple[Any, Any]:
    """Eigenvalues and eigenvectors; by default JAX averages the two triangles."""
    e, v = np.linalg.eigh(a, UPLO="L", symmetrize_input=False)
    return e, v


@primitive(a=eigh_wrt_a, outputs=True, shape=eigh_shapes)
def eigh_or_nan(a):
    """As `eigh`, with NaN for matrices that are not finite."""
    return map_finite(compute_eigh, a)


eigh_or_nan.lower(lower_eigh)


def eig_wrt_a(g, out, a_spec):
    """As for `eigh`, but vectors are not orthogonal; they have unit length and any phase."""
    e, v = out
    ge, gv = conj(g[0]), conj(g[1])
    vh = adjoint(v)
    inner = matmul(vh, gv)
    along = real(diagonal(inner))
    kind = np.result_type(a_spec.dtype, np.complex64)
    drift = scale_columns(matmul(vh, v), cast(along, dtype=kind))
    n = a_spec.shape[-1]
    middle = place_diagonal(ge, rows=n, columns=n) + conj(reciprocal_gaps_of(e)) * (inner - drift)
    whole = conj(solve(vh, matmul(middle, vh)))
    return whole if a_spec.dtype.kind == "c" else real(whole)


def eig_shapes(a):
    dtype = complex_dtype_of(a.dtype)
    return [Spec((a.shape[:-1], dtype)), Spec((a.shape, dtype))]


@primitive(a=eig_wrt_a, outputs=True, shape=eig_shapes)
def eig(a):
    """Eigenvalues and eigenvectors of general matrices."""
    kind = np.result_type(a.dtype, np.complex64)
    if a.shape[-1] == 1:  # may be infinite or NaN, which LAPACK refuses
        return a[..., 0].astype(kind), np.ones(a.shape, kind)
    check_finite("eig", a)
    e, v = run_lapack(np.linalg.eig, a)
    return e.astype(kind), v.astype(kind)


@eig.lower
def lower_eig(a):
    e, v = np.linalg.eig(a)
    return e, v


def scale_columns(x: Any, d: Any) -> Any:
    """Matrices `x` with their columns scaled by `d`."""
    return x * slice_(d, key=(None, slice(None)), rank=1)
