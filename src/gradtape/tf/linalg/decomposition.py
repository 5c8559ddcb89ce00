"""Inverses, determinants and decompositions of matrices."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gradtape.core import dtypes
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.tensor import Tensor
from gradtape.ops import elementwise as e
from gradtape.ops import shape as s
from gradtape.ops.linalg import decomposition as decomposition_ops
from gradtape.ops.linalg import diagonal as diagonal_ops
from gradtape.ops.linalg import eigen
from gradtape.ops.linalg import solve as solve_ops
from gradtape.ops.reduce import reduce_sum
from gradtape.tape.no_gradient import without_gradient
from gradtape.tf.public_op import as_numpy_dtypes, check_dtype

HALF_DTYPES = as_numpy_dtypes("float16")
MATRIX_DTYPES = as_numpy_dtypes("float32", "float64", "complex64", "complex128")


class Qr(NamedTuple):
    """Factors of a QR decomposition: orthonormal columns and an upper triangular matrix."""

    q: Tensor
    r: Tensor


class Lu(NamedTuple):
    """Factors of an LU decomposition in one matrix, and the permutation of rows."""

    lu: Tensor
    p: Tensor


class LogMatrixDeterminant(NamedTuple):
    """Sign of a determinant and logarithm of its absolute value."""

    sign: Tensor
    log_abs_determinant: Tensor


def as_float_matrices(op: str, value: Any, square: bool = False, halves: bool = False) -> Tensor:
    """Convert an argument to float or complex matrices; float16 is allowed only with `halves`."""
    x = check_dtype(op, convert(value), MATRIX_DTYPES | HALF_DTYPES if halves else MATRIX_DTYPES)
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

    Args:
        input: square matrices (..., n, n).
        adjoint: whether to invert the conjugate transpose.
        name: has no effect here.

    Returns:
        A tensor like `input`.

    Raises:
        InvalidArgumentError: if a matrix is singular or not square.

    Example:
        >>> tf.linalg.inv([[2.0, 0.0], [0.0, 4.0]]).numpy()
        array([[0.5 , 0.  ],
               [0.  , 0.25]], dtype=float32)
    """
    x = as_float_matrices("MatrixInverse", input, square=True, halves=True)
    a = adjoint_of(x) if adjoint else x
    if x._array.dtype.itemsize == 2:
        wide = solve_ops.inverse(e.cast(a, dtype=np.dtype(np.float32)))
        return e.cast(wide, dtype=x._array.dtype)
    return solve_ops.inverse(a)


@public
def det(input: Any, name: str | None = None) -> Tensor:
    """Determinant of square matrices.

    Args:
        input: square matrices (..., n, n).
        name: has no effect here.

    Returns:
        A tensor (...,).

    Example:
        >>> print(tf.linalg.det([[2.0, 0.0], [0.0, 3.0]]).numpy())
        6.0
    """
    return solve_ops.det(as_float_matrices("MatrixDeterminant", input, square=True))


@public
def slogdet(input: Any, name: str | None = None) -> LogMatrixDeterminant:
    """Sign of the determinant, and logarithm of its absolute value.

    Args:
        input: square matrices (..., n, n).
        name: has no effect here.

    Returns:
        `sign` and `log_abs_determinant`, both (...,).

    Example:
        >>> sign, log_of_abs = tf.linalg.slogdet([[0.0, 1.0], [1.0, 0.0]])
        >>> float(sign), float(log_of_abs)
        (-1.0, 0.0)
    """
    return LogMatrixDeterminant(
        *solve_ops.slogdet(as_float_matrices("LogMatrixDeterminant", input, square=True))
    )


@public
def logdet(matrix: Any, name: str | None = None) -> Tensor:
    """Logarithm of the determinant of Hermitian positive definite matrices.

    Args:
        matrix: Hermitian positive definite matrices (..., n, n).
        name: has no effect here.

    Returns:
        A tensor (...,).

    Example:
        >>> tf.linalg.logdet([[2.0, 0.0], [0.0, 2.0]]).numpy().round(4)
        np.float32(1.3863)
    """
    factor = decomposition_ops.cholesky(as_float_matrices("Cholesky", matrix, square=True))
    logs = e.log(e.real(diagonal_ops.diagonal(factor)))
    return reduce_sum(e.add(logs, logs), axis=(-1,), keepdims=False)


@public
def cholesky(input: Any, name: str | None = None) -> Tensor:
    """Cholesky factor, lower triangular, of Hermitian positive definite matrices.

    Only the lower triangle is read. A matrix that is not positive definite gives NaN.

    Args:
        input: square matrices (..., n, n).
        name: has no effect here.

    Returns:
        A tensor like `input`.

    Example:
        >>> tf.linalg.cholesky([[4.0, 2.0], [2.0, 2.0]]).numpy()
        array([[2., 0.],
               [1., 1.]], dtype=float32)
    """
    return decomposition_ops.cholesky(as_float_matrices("Cholesky", input, square=True))


@public
def qr(input: Any, full_matrices: bool = False, name: str | None = None) -> Qr:
    """Orthonormal columns `q` and an upper triangular `r` with q @ r = input.

    Args:
        input: matrices (..., m, n).
        full_matrices: whether `q` is square.
        name: has no effect here.

    Returns:
        `q` and `r`.

    Example:
        >>> q, r = tf.linalg.qr([[3.0, 1.0], [4.0, 2.0]])
        >>> (q @ r).numpy().round(3)
        array([[3., 1.],
               [4., 2.]], dtype=float32)
    """
    x = as_float_matrices("Qr", input, halves=True)
    half = x._array.dtype.itemsize == 2
    if half:
        x = e.cast(x, dtype=np.dtype(np.float32))
    q, r = decomposition_ops.qr(x)
    rows, columns = x._array.shape[-2:]
    if full_matrices and rows > columns:
        q = decomposition_ops.complete_basis(q, e.stop_gradient(decomposition_ops.full_qr(x)[0]))
        r = s.pad(r, paddings=((0, rows - columns), (0, 0)), value=0)
    if half:
        q, r = (e.cast(t, dtype=np.dtype(np.float16)) for t in (q, r))
    return Qr(q, r)


@public
def svd(
    tensor: Any, full_matrices: bool = False, compute_uv: bool = True, name: str | None = None
) -> Any:
    """Singular values, descending, and left and right singular vectors.

    Without `compute_uv`, only the values.

    Args:
        tensor: matrices (..., m, n).
        full_matrices: whether the singular vectors are square matrices.
        compute_uv: whether to compute the vectors.
        name: has no effect here.

    Returns:
        Singular values (..., k), left (..., m, k) and right (..., n, k) singular vectors; the
        values alone without `compute_uv`.

    Example:
        >>> s, u, v = tf.linalg.svd([[3.0, 0.0], [0.0, 4.0]])
        >>> s.numpy().round(3)
        array([4., 3.], dtype=float32)
    """
    x = as_float_matrices("Svd", tensor)
    if not compute_uv:
        return decomposition_ops.singular_values(x)
    values, left, right = decomposition_ops.svd(x)
    rows, columns = x._array.shape[-2:]
    if full_matrices and rows != columns:
        _, whole_left, whole_right = decomposition_ops.full_svd(x)
        if rows > columns:
            left = decomposition_ops.complete_basis(left, e.stop_gradient(whole_left))
        else:
            right = decomposition_ops.complete_basis(right, e.stop_gradient(whole_right))
    return values, left, right


@public
def eigh(tensor: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Eigenvalues, ascending, and eigenvectors of Hermitian matrices.

    Only the lower triangle is read.

    Args:
        tensor: square matrices (..., n, n).
        name: has no effect here.

    Returns:
        Eigenvalues (..., n) and eigenvectors (..., n, n) in columns.

    Example:
        >>> values, vectors = tf.linalg.eigh([[2.0, 0.0], [0.0, 1.0]])
        >>> values.numpy()
        array([1., 2.], dtype=float32)
    """
    x = as_float_matrices("SelfAdjointEigV2", tensor, square=True)
    values, vectors = eigen.eigh(x)
    return e.cast(values, dtype=x._array.dtype) if x._array.dtype.kind == "c" else values, vectors


@public
def eigvalsh(tensor: Any, name: str | None = None) -> Tensor:
    """Eigenvalues, ascending, of Hermitian matrices.

    Args:
        tensor: square matrices (..., n, n).
        name: has no effect here.

    Returns:
        A tensor (..., n).

    Example:
        >>> tf.linalg.eigvalsh([[2.0, 0.0], [0.0, 1.0]]).numpy()
        array([1., 2.], dtype=float32)
    """
    return eigh(tensor)[0]


@public
def eig(tensor: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Complex eigenvalues and eigenvectors of square matrices.

    Args:
        tensor: square matrices (..., n, n).
        name: has no effect here.

    Returns:
        Eigenvalues (..., n) and eigenvectors (..., n, n) in columns, both complex.
    """
    values, vectors = eigen.eig(as_float_matrices("Eig", tensor, square=True))
    return values, vectors


@public
def eigvals(tensor: Any, name: str | None = None) -> Tensor:
    """Complex eigenvalues of square matrices.

    Args:
        tensor: square matrices (..., n, n).
        name: has no effect here.

    Returns:
        A complex tensor (..., n).

    Example:
        >>> tf.linalg.eigvals([[2.0, 0.0], [0.0, 1.0]]).numpy().real.round(3)
        array([2., 1.], dtype=float32)
    """
    return eig(tensor)[0]


@public
def lu(input: Any, output_idx_type: Any = dtypes.int32, name: str | None = None) -> Lu:
    """LU decomposition: both triangular factors in one matrix, and the permutation of rows.

    As in TensorFlow, it has no gradient: differentiating it raises LookupError.

    Args:
        input: square matrices (..., n, n).
        output_idx_type: int32 or int64, the dtype of `p`.
        name: has no effect here.

    Returns:
        `lu` (..., n, n) and `p` (..., n).

    Example:
        >>> lu, p = tf.linalg.lu([[0.0, 2.0], [1.0, 3.0]])
        >>> p.numpy()
        array([1, 0], dtype=int32)
    """
    x = as_float_matrices("Lu", input, square=True)
    both, order = decomposition_ops.lu(x)
    order = e.discretize(order, dtype=np.dtype(dtypes.as_dtype(output_idx_type).as_numpy_dtype))
    return Lu(without_gradient(both, "Lu", x), without_gradient(order, "Lu", x))
