"""Inverses, determinants, decompositions and functions of square matrices."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gradtape.core import dtypes
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.tensor import Tensor, eager
from gradtape.ops import elementwise as e
from gradtape.ops import linalg as ops
from gradtape.ops import shape as s
from gradtape.ops.reduce import reduce_sum
from gradtape.tf.check import numpy_dtypes, operand

FACTORED = numpy_dtypes("float32", "float64", "complex64", "complex128")


class Qr(NamedTuple):
    """Orthonormal columns and an upper triangular matrix."""

    q: Tensor
    r: Tensor


class Lu(NamedTuple):
    """Triangular factors in one matrix, and the permutation of rows."""

    lu: Tensor
    p: Tensor


class LogMatrixDeterminant(NamedTuple):
    """Sign of a determinant and logarithm of its absolute value."""

    sign: Tensor
    log_abs_determinant: Tensor


def matrices(op: str, value: Any, square: bool = False) -> Tensor:
    """An argument that must hold matrices of floats."""
    x = operand(op, convert(value), FACTORED)
    shape = x._array.shape
    if len(shape) < 2:
        raise InvalidArgumentError(f"{op}: Input tensor 0 must have rank >= 2, got {len(shape)}.")
    if square and shape[-1] != shape[-2]:
        raise InvalidArgumentError(
            f"{op}: Input matrix must be square. Received shape {list(shape)}."
        )
    return x


def adjoint_of(x: Any) -> Any:
    """Conjugate transpose of a tensor."""
    out = s.swap(x)
    return e.conj(out) if out._array.dtype.kind == "c" else out


@public
def inv(input: Any, adjoint: bool = False, name: str | None = None) -> Tensor:
    """Inverse of square matrices.

    Raises:
        InvalidArgumentError: if a matrix is singular or not square.
    """
    x = matrices("MatrixInverse", input, square=True)
    return ops.inverse(adjoint_of(x) if adjoint else x)


@public
def det(input: Any, name: str | None = None) -> Tensor:
    """Determinant of square matrices."""
    return ops.det(matrices("MatrixDeterminant", input, square=True))


@public
def slogdet(input: Any, name: str | None = None) -> LogMatrixDeterminant:
    """Sign of the determinant, and logarithm of its absolute value."""
    return LogMatrixDeterminant(*ops.slogdet(matrices("LogMatrixDeterminant", input, square=True)))


@public
def logdet(matrix: Any, name: str | None = None) -> Tensor:
    """Logarithm of the determinant of Hermitian positive definite matrices."""
    factor = ops.cholesky(matrices("Cholesky", matrix, square=True))
    logs = e.log(e.real(ops.diagonal(factor)))
    return reduce_sum(e.add(logs, logs), axis=(-1,), keepdims=False)


@public
def cholesky(input: Any, name: str | None = None) -> Tensor:
    """Lower triangular factor of Hermitian matrices, whose lower triangle is read.

    A matrix that is not positive definite gives NaN.
    """
    return ops.cholesky(matrices("Cholesky", input, square=True))


@public
def qr(input: Any, full_matrices: bool = False, name: str | None = None) -> Qr:
    """Orthonormal columns `q` and an upper triangular `r` with q @ r = input."""
    x = matrices("Qr", input)
    return Qr(*(ops.full_qr if full_matrices else ops.qr)(x))


@public
def svd(
    tensor: Any, full_matrices: bool = False, compute_uv: bool = True, name: str | None = None
) -> Any:
    """Singular values, descending, and left and right singular vectors.

    Only the values if not `compute_uv`.
    """
    x = matrices("Svd", tensor)
    values, left, right = (ops.full_svd if full_matrices else ops.svd)(x)
    return (values, left, right) if compute_uv else values


@public
def eigh(tensor: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Eigenvalues, ascending, and eigenvectors of Hermitian matrices.

    The lower triangle is read.
    """
    x = matrices("SelfAdjointEigV2", tensor, square=True)
    values, vectors = ops.eigh(x)
    return e.cast(values, dtype=x._array.dtype) if x._array.dtype.kind == "c" else values, vectors


@public
def eigvalsh(tensor: Any, name: str | None = None) -> Tensor:
    """Eigenvalues, ascending, of Hermitian matrices."""
    return eigh(tensor)[0]


@public
def eig(tensor: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Complex eigenvalues and eigenvectors of square matrices."""
    values, vectors = ops.eig(matrices("Eig", tensor, square=True))
    return values, vectors


@public
def eigvals(tensor: Any, name: str | None = None) -> Tensor:
    """Complex eigenvalues of square matrices."""
    return eig(tensor)[0]


@public
def lu(input: Any, output_idx_type: Any = dtypes.int32, name: str | None = None) -> Lu:
    """Triangular factors, both in one matrix, and the permutation of rows."""
    both, order = ops.lu(matrices("Lu", input, square=True))
    return Lu(
        both, e.discretize(order, dtype=np.dtype(dtypes.as_dtype(output_idx_type).as_numpy_dtype))
    )


@public
def expm(input: Any, name: str | None = None) -> Tensor:
    """Exponential of square matrices."""
    return ops.expm(matrices("MatrixExponential", input, square=True))


@public
def matrix_rank(
    a: Any, tol: Any = None, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """How many singular values exceed `tol`."""
    x = matrices("matrix_rank", a)
    values = np.linalg.svd(x._array, compute_uv=False)
    if tol is None:
        tol = (
            max(x._array.shape[-2:])
            * np.max(values, axis=-1, keepdims=True)
            * np.finfo(values.dtype).eps
        )
    else:
        tol = np.asarray(convert(tol)._array)[..., None]
    return eager(np.sum(values > tol, axis=-1).astype(np.int32)[()])


@public
def sqrtm(input: Any, name: str | None = None) -> Tensor:
    """A square root of square matrices, which has no gradient."""
    from scipy.linalg import sqrtm as root

    x = matrices("MatrixSquareRoot", input, square=True)
    flat = x._array.reshape(-1, *x._array.shape[-2:])
    found = np.stack([root(m).astype(m.dtype) for m in flat]) if len(flat) else flat
    return eager(found.reshape(x._array.shape))
