"""Raw ops of linear algebra whose arguments or results differ from the public functions."""

from __future__ import annotations

from typing import Any

from gradtape.core import dtypes
from gradtape.core.convert import convert
from gradtape.core.tensor import Tensor
from gradtape.tf.array.creation import zeros
from gradtape.tf.linalg import decomposition
from gradtape.tf.linalg.band_matrix import tridiagonal_matmul
from gradtape.tf.linalg.matmul import matmul
from gradtape.tf.math.cast import cast


def multiply_batches(x: Any, y: Any, adj_x: bool, adj_y: bool) -> Tensor:
    """The product of matrices or their adjoints."""
    return matmul(x, y, adjoint_a=adj_x, adjoint_b=adj_y)


def multiply_tridiagonal(superdiag: Any, maindiag: Any, subdiag: Any, rhs: Any) -> Tensor:
    """The product of tridiagonal matrices, given by rows of shape (..., 1, n), and matrices."""
    parts = [convert(part)[..., 0, :] for part in (superdiag, maindiag, subdiag)]
    return tridiagonal_matmul(parts, rhs, diagonals_format="sequence")


def make_no_vectors(dtype: Any) -> Tensor:
    """The placeholder for vectors that were not asked for."""
    return zeros([], dtype)


def compute_eig(input: Any, out_type: Any, compute_v: bool) -> tuple[Tensor, Tensor]:
    """Eigenvalues, and eigenvectors or a placeholder."""
    dtype = dtypes.as_dtype(out_type)
    if not compute_v:
        return cast(decomposition.eigvals(input), dtype), make_no_vectors(dtype)
    values, vectors = decomposition.eig(input)
    return cast(values, dtype), cast(vectors, dtype)


def compute_eigh(input: Any, compute_v: bool) -> tuple[Tensor, Tensor]:
    """Eigenvalues of self-adjoint matrices, and eigenvectors or a placeholder."""
    x = convert(input)
    if not compute_v:
        return cast(decomposition.eigvalsh(x), x.dtype), make_no_vectors(x.dtype)
    values, vectors = decomposition.eigh(x)
    return cast(values, x.dtype), vectors


def compute_svd(input: Any, compute_uv: bool, full_matrices: bool) -> tuple[Any, Any, Any]:
    """Singular values, and vectors or placeholders."""
    x = convert(input)
    if compute_uv:
        values, left, right = decomposition.svd(x, full_matrices)
        return cast(values, x.dtype), left, right
    nothing = make_no_vectors(x.dtype)
    return cast(decomposition.svd(x, compute_uv=False), x.dtype), nothing, nothing
