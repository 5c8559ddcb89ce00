"""tf.linalg: matrix products, decompositions, solvers, diagonals and norms."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gradtape.core import dtypes
from gradtape.core.convert import convert, shape_tuple
from gradtape.core.errors import InvalidArgumentError, hide_library, public
from gradtape.core.shapes import normalize_axes, normalize_axis
from gradtape.core.tensor import EagerTensor, Tensor, eager
from gradtape.ops import elementwise as e
from gradtape.ops import linalg as ops
from gradtape.ops import shape as s
from gradtape.ops.reduce import reduce_max, reduce_sum
from gradtape.tf.array import eye as eye
from gradtape.tf.check import INEXACT, NUMBERS, numpy_dtypes, operand, pair, same
from gradtape.tf.contraction import einsum as einsum
from gradtape.tf.contraction import tensordot as tensordot
from gradtape.tf.diagonal import band_part as band_part
from gradtape.tf.diagonal import diag as diag
from gradtape.tf.diagonal import diag_part as diag_part
from gradtape.tf.diagonal import set_diag as set_diag
from gradtape.tf.diagonal import tensor_diag as tensor_diag
from gradtape.tf.diagonal import tensor_diag_part as tensor_diag_part
from gradtape.tf.diagonal import trace as trace
from gradtape.tf.reduction import l2_normalize as l2_normalize

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


def listed(shape: tuple[int, ...]) -> str:
    """A shape as TensorFlow's messages show it."""
    return str(list(shape)).replace(" ", "")


# -- products ----------------------------------------------------------------------------------------------------------


def matmul(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    output_type: Any = None,
    grad_a: bool = False,
    grad_b: bool = False,
    name: str | None = None,
) -> Tensor:
    """Matrix product over the last two axes; the axes in front broadcast.

    Args:
        a: a tensor of at least two axes.
        b: another, of the same dtype.
        transpose_a: exchange the last two axes of `a` first.
        transpose_b: exchange those of `b` first.
        adjoint_a: exchange and conjugate those of `a` first.
        adjoint_b: exchange and conjugate those of `b` first.
        a_is_sparse: accepted as a hint.
        b_is_sparse: accepted as a hint.
        output_type: the dtype of the result, for integers of 8 bits.
        grad_a: accepted for TensorFlow's sake.
        grad_b: accepted for TensorFlow's sake.
        name: accepted for TensorFlow's sake.

    Raises:
        InvalidArgumentError: if shapes or dtypes do not go together.
        ValueError: if an operand is to be both transposed and adjoint.
    """
    try:
        x, y = (a, b) if type(a) is EagerTensor and type(b) is EagerTensor else pair(a, b)
        if transpose_a or adjoint_a:
            x = turned(x, transpose_a, adjoint_a, "a")
        if transpose_b or adjoint_b:
            y = turned(y, transpose_b, adjoint_b, "b")
        if output_type is not None and x.dtype != output_type:
            kind = np.dtype(dtypes.as_dtype(output_type).as_numpy_dtype)
            cast = e.discretize if kind.kind in "iu" else e.cast
            x, y = cast(x, dtype=kind), cast(y, dtype=kind)
        p, q = x._array.shape, y._array.shape
        if x._array.dtype is not y._array.dtype or len(p) < 2 or len(q) < 2 or p[-1] != q[-2] or p[:-2] != q[:-2]:
            check_product(x, y)
        elif x._array.dtype.kind in "bO":
            operand("MatMul", x, NUMBERS)
        return ops.matmul(x, y)
    except Exception as error:
        hide_library(error)
        raise


def check_product(x: Tensor, y: Tensor) -> None:
    """Raise what TensorFlow raises if `x` and `y` cannot be multiplied."""
    same("MatMul", x, y)
    operand("MatMul", x, NUMBERS)
    p, q = x._array.shape, y._array.shape
    if len(p) < 2 or len(q) < 2:
        raise InvalidArgumentError(
            f"matmul: In[0] and In[1] must have two or more dimensions: {listed(p)} vs. {listed(q)}. "
            "For a matrix times a vector use tf.linalg.matvec."
        )
    if p[-1] != q[-2]:
        raise InvalidArgumentError(
            f"matmul: Matrix size-incompatible: In[0]: {listed(p)}, In[1]: {listed(q)}. Transpose one of them?"
        )
    try:
        np.broadcast_shapes(p[:-2], q[:-2])
    except ValueError:
        raise InvalidArgumentError(
            f"matmul: In[0] and In[1] must have compatible batch dimensions: {listed(p)} vs. {listed(q)}."
        ) from None


def turned(x: Tensor, transpose: bool, adjoint: bool, which: str) -> Any:
    """An operand with its last two axes exchanged."""
    if transpose and adjoint:
        raise ValueError(f"matmul: only one of `transpose_{which}` and `adjoint_{which}` can be True.")
    if x._array.ndim < 2:
        raise InvalidArgumentError(f"matmul: operand {which} must have two or more dimensions. Received {x.shape}.")
    out = s.swap(x)
    return e.conj(out) if adjoint and out._array.dtype.kind == "c" else out


Tensor.__matmul__ = lambda self, other: matmul(self, other)
Tensor.__rmatmul__ = lambda self, other: matmul(other, self)


@public
def matvec(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    adjoint_a: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Tensor:
    """Matrices `a` (..., m, n) times vectors `b` (..., n)."""
    x, y = pair(a, b)
    if y._array.ndim < 1:
        raise InvalidArgumentError("matvec: b must be at least a vector. Received a scalar.")
    column = s.slice_(y, key=(slice(None), None), rank=1)
    out = matmul(x, column, transpose_a=transpose_a, adjoint_a=adjoint_a)
    return s.slice_(out, key=(slice(None), 0), rank=2)


@public
def adjoint(matrix: Any, name: str | None = None) -> Tensor:
    """Conjugate transpose of the last two axes."""
    return matrix_transpose(matrix, conjugate=True)


@public
def matrix_transpose(a: Any, name: str = "matrix_transpose", conjugate: bool = False) -> Tensor:
    """`a` with its last two axes exchanged, and conjugated if that is wanted."""
    x = convert(a)
    if x._array.ndim < 2:
        raise ValueError(f"matrix_transpose: a must have two or more dimensions. Received shape {x.shape}.")
    out = s.swap(x)
    return e.conj(out) if conjugate and out._array.dtype.kind == "c" else out


@public
def cross(a: Any, b: Any, name: str | None = None) -> Tensor:
    """Cross product over the last axis, of length three."""
    x, y = pair(a, b)
    same("Cross", x, y)
    if x._array.shape != y._array.shape or x._array.shape[-1:] != (3,):
        raise InvalidArgumentError(
            f"cross: both inputs must have one shape that ends in 3. Received {x.shape} and {y.shape}."
        )
    first, second = s.roll(x, shift=-1, axis=-1), s.roll(y, shift=-1, axis=-1)
    return s.roll(e.subtract(e.multiply(x, second), e.multiply(first, y)), shift=-1, axis=-1)


# -- inverses, determinants, decompositions -------------------------------------------------------------------------------


def matrices(op: str, value: Any, square: bool = False) -> Tensor:
    """An argument that must hold matrices of floats."""
    x = operand(op, convert(value), FACTORED)
    shape = x._array.shape
    if len(shape) < 2:
        raise InvalidArgumentError(f"{op}: Input tensor 0 must have rank >= 2, got {len(shape)}.")
    if square and shape[-1] != shape[-2]:
        raise InvalidArgumentError(f"{op}: Input matrix must be square. Received shape {list(shape)}.")
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
def svd(tensor: Any, full_matrices: bool = False, compute_uv: bool = True, name: str | None = None) -> Any:
    """Singular values, descending, and left and right singular vectors; only the values if not `compute_uv`."""
    x = matrices("Svd", tensor)
    values, left, right = (ops.full_svd if full_matrices else ops.svd)(x)
    return (values, left, right) if compute_uv else values


@public
def eigh(tensor: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Eigenvalues, ascending, and eigenvectors of Hermitian matrices; the lower triangle is read."""
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
    return Lu(both, e.discretize(order, dtype=np.dtype(dtypes.as_dtype(output_idx_type).as_numpy_dtype)))


@public
def expm(input: Any, name: str | None = None) -> Tensor:
    """Exponential of square matrices."""
    return ops.expm(matrices("MatrixExponential", input, square=True))


@public
def solve(matrix: Any, rhs: Any, adjoint: bool = False, name: str | None = None) -> Tensor:
    """The `x` with matrix @ x = rhs.

    Raises:
        InvalidArgumentError: if a matrix is singular, or shapes do not go together.
    """
    a, b = pair(matrix, rhs)
    same("MatrixSolve", a, b)
    a = matrices("MatrixSolve", a, square=True)
    if b._array.ndim < 2 or a._array.shape[:-1] != b._array.shape[:-1]:
        raise InvalidArgumentError(
            f"solve: Input matrix and rhs are incompatible. Received shapes {a.shape} and {b.shape}."
        )
    return ops.solve(adjoint_of(a) if adjoint else a, b)


@public
def triangular_solve(
    matrix: Any, rhs: Any, lower: bool = True, adjoint: bool = False, name: str | None = None
) -> Tensor:
    """The `x` with matrix @ x = rhs, where only the lower (or upper) triangle of `matrix` is read."""
    a, b = pair(matrix, rhs)
    same("MatrixTriangularSolve", a, b)
    a = matrices("MatrixTriangularSolve", a, square=True)
    if b._array.ndim < 2 or a._array.shape[-1] != b._array.shape[-2]:
        raise InvalidArgumentError(
            f"triangular_solve: matrix and rhs are incompatible. Received shapes {a.shape} and {b.shape}."
        )
    if adjoint:
        return ops.triangular_solve(adjoint_of(a), b, lower=not lower)
    return ops.triangular_solve(a, b, lower=lower)


@public
def cholesky_solve(chol: Any, rhs: Any, name: str | None = None) -> Tensor:
    """The `x` with A @ x = rhs, where `chol` is the Cholesky factor of A."""
    factor, b = pair(chol, rhs)
    return triangular_solve(factor, triangular_solve(factor, b), adjoint=True)


@public
def lstsq(
    matrix: Any, rhs: Any, l2_regularizer: float = 0.0, fast: bool = True, name: str | None = None
) -> Tensor:
    """The `x` that makes matrix @ x - rhs least, and is itself least where many do.

    Args:
        matrix: (..., m, n).
        rhs: (..., m, k).
        l2_regularizer: weight of the square of x.
        fast: accepted; the normal equations are solved if it is True, a QR decomposition is used if not.
        name: accepted for TensorFlow's sake.
    """
    a, b = pair(matrix, rhs)
    same("MatrixSolveLs", a, b)
    a = matrices("MatrixSolveLs", a)
    rows, columns = a._array.shape[-2:]
    tall = rows >= columns
    if not fast and not l2_regularizer:
        if tall:
            q, r = ops.qr(a)
            return ops.triangular_solve(r, ops.matmul(adjoint_of(q), b), lower=False)
        q, r = ops.qr(adjoint_of(a))
        return ops.matmul(q, ops.triangular_solve(adjoint_of(r), b, lower=True))
    ah = adjoint_of(a)
    gram = ops.matmul(ah, a) if tall else ops.matmul(a, ah)
    if l2_regularizer:
        weight = convert(l2_regularizer)._array
        gram = e.add(gram, eager((np.eye(min(rows, columns)) * weight).astype(a._array.dtype)))
    factor = ops.cholesky(gram)
    right = ops.matmul(ah, b) if tall else b
    inner = ops.triangular_solve(factor, right, lower=True)
    found = ops.triangular_solve(adjoint_of(factor), inner, lower=False)
    return found if tall else ops.matmul(ah, found)


@public
def pinv(a: Any, rcond: Any = None, validate_args: bool = False, name: str | None = None) -> Tensor:
    """Moore-Penrose inverse; singular values below `rcond` times the largest count as zero."""
    x = matrices("pinv", a)
    if rcond is None:
        rcond = 10 * max(x._array.shape[-2:]) * float(np.finfo(x._array.dtype).eps)
    values, left, right = ops.svd(x)
    cutoff = np.max(values._array, axis=-1, keepdims=True, initial=0) * np.asarray(convert(rcond)._array)[..., None]
    keep = values._array > cutoff
    safe = e.select(keep, values, e.ones_like(values))
    inverse = e.gate(e.reciprocal(safe), keep)
    if x._array.dtype.kind == "c":
        inverse = e.cast(inverse, dtype=x._array.dtype)
    return ops.matmul(ops.columns_times(right, inverse), adjoint_of(left))


@public
def matrix_rank(a: Any, tol: Any = None, validate_args: bool = False, name: str | None = None) -> Tensor:
    """How many singular values exceed `tol`."""
    x = matrices("matrix_rank", a)
    values = np.linalg.svd(x._array, compute_uv=False)
    if tol is None:
        tol = max(x._array.shape[-2:]) * np.max(values, axis=-1, keepdims=True) * np.finfo(values.dtype).eps
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


@public
def lu_matrix_inverse(
    lower_upper: Any, perm: Any, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """The inverse of the matrix whose factors `lu` gives."""
    both = convert(lower_upper)
    n = both._array.shape[-1]
    return lu_solve(both, perm, eager(np.broadcast_to(np.eye(n, dtype=both._array.dtype), both._array.shape)))


@public
def lu_solve(
    lower_upper: Any, perm: Any, rhs: Any, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """The `x` with A @ x = rhs, where `lu` gives the factors of A."""
    both, b = pair(lower_upper, rhs)
    order = convert(perm)._array
    arranged = eager(np.take_along_axis(b._array, np.asarray(order)[..., None], axis=-2))
    inner = ops.triangular_solve(unit_lower(both), arranged, lower=True)
    return ops.triangular_solve(both, inner, lower=False)


def unit_lower(both: Tensor) -> Any:
    """The lower factor, whose diagonal of ones is not kept."""
    n = both._array.shape[-1]
    strict = e.subtract(ops.band(both, lower=-1, upper=0), ops.band(both, lower=0, upper=0))
    return e.add(strict, eager(np.eye(n, dtype=both._array.dtype)))


@public
def lu_reconstruct(
    lower_upper: Any, perm: Any, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """The matrix whose factors `lu` gives."""
    both = convert(lower_upper)
    mixed = ops.matmul(unit_lower(both), ops.band(both, lower=0, upper=-1))
    back = np.argsort(np.asarray(convert(perm)._array), axis=-1)
    return eager(np.take_along_axis(mixed._array, back[..., None], axis=-2))


# -- norms -------------------------------------------------------------------------------------------------------------


@public
def norm(
    tensor: Any, ord: Any = "euclidean", axis: Any = None, keepdims: bool | None = None, name: str | None = None
) -> Tensor:
    """Norm of vectors, or of matrices if `axis` is a pair.

    Args:
        tensor: a tensor of floats or complex numbers.
        ord: "euclidean", "fro" (of matrices), 1, 2, inf, or for vectors any positive number.
        axis: the axis of the vectors, the two axes of the matrices, or None for all elements as one vector.
        keepdims: keep the reduced axes with length one.
        name: accepted for TensorFlow's sake.

    Raises:
        ValueError: if `ord` or `axis` is not one of these.
    """
    x = convert(tensor)
    n = x._array.ndim
    pairwise = isinstance(axis, (list, tuple, Tensor, np.ndarray)) and np.size(shape_tuple(axis)) == 2
    check_norm(ord, pairwise)
    axes = normalize_axes(axis, n, "norm") if axis is None or not pairwise else shape_tuple(axis)
    axes = tuple(normalize_axis(a, n, "norm") for a in axes)
    keep = bool(keepdims)
    if ord in ("euclidean", "fro") or (ord == 2 and not pairwise):
        square = e.multiply(x, e.conj(x)) if x._array.dtype.kind == "c" else e.square(x)
        return e.sqrt(operand("Sqrt", reduce_sum(square, axis=axes, keepdims=keep), INEXACT))
    if pairwise and ord == 2:
        return spectral(x, axes, keep)
    size = e.absolute(x)
    if pairwise:
        rows, columns = axes
        first, second = (rows, columns) if ord == 1 else (columns, rows)
        sums = reduce_sum(size, axis=(first,), keepdims=True)
        return reduce_max(sums, axis=axes, keepdims=keep)
    if ord == np.inf:
        return reduce_max(size, axis=axes, keepdims=keep)
    if ord == 1:
        return reduce_sum(size, axis=axes, keepdims=keep)
    exponent = size._array.dtype.type(ord)
    total = reduce_sum(e.power(size, eager(exponent)), axis=axes, keepdims=keep)
    return e.power(total, eager(size._array.dtype.type(1 / ord)))


def check_norm(order: Any, pairwise: bool) -> None:
    """Raise unless the norm exists."""
    if pairwise:
        if not (order in ("euclidean", "fro", 1, 2) or order == np.inf):
            raise ValueError(f"'ord' must be a supported matrix norm in {{'euclidean', 'fro', 1, 2, inf}}, got {order}")
    elif not (order == "euclidean" or (not isinstance(order, str) and order > 0)):
        raise ValueError(f"'ord' must be a supported vector norm, got {order}")


def spectral(x: Tensor, axes: tuple[int, ...], keep: bool) -> Any:
    """Largest singular value of matrices on any two axes."""
    n = x._array.ndim
    there = [k for k in range(n) if k - n not in axes] + [a + n for a in axes]
    values = ops.svd(s.permuted(x, tuple(there)))[0]
    largest = reduce_max(values, axis=(-1,), keepdims=False)
    if not keep:
        return largest
    shape = tuple(1 if k - n in axes else size for k, size in enumerate(x._array.shape))
    return s.reshape(largest, shape=shape, rank=largest._array.ndim)


@public
def normalize(tensor: Any, ord: Any = "euclidean", axis: Any = None, name: str | None = None) -> tuple[Tensor, Tensor]:
    """`tensor` over its norm along `axis`, and that norm."""
    x = convert(tensor)
    length = norm(x, ord, axis, keepdims=True)
    kind = x._array.dtype
    length = e.cast(length, dtype=kind) if length._array.dtype != kind else length
    return e.divide(x, length), length


@public
def global_norm(t_list: Any, name: str | None = None) -> Any:
    """Euclidean norm of all elements of several tensors; None and the rest of IndexedSlices count as zero."""
    if isinstance(t_list, (str, bytes)) or not hasattr(t_list, "__iter__"):
        raise TypeError(f"`t_list` should be a sequence of tensors. Received {type(t_list)}.")
    squares = []
    for t in t_list:
        if t is None:
            continue
        x = convert(getattr(t, "values", t))
        squares.append(reduce_sum(e.square(x), axis=tuple(range(-x._array.ndim, 0)), keepdims=False))
    if not squares:
        return None
    total = reduce_sum(s.stack(*squares, axis=-1), axis=(-1,), keepdims=False)
    return e.sqrt(total)
