"""Solvers of linear equations, and inverses computed from decompositions."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.open_shape import broadcast_shapes
from gradtape.core.primitive import Spec
from gradtape.core.shape_rule import BOOL, INT64, with_shape
from gradtape.core.size_constant import compute_constant
from gradtape.core.size_function import max_size
from gradtape.core.tensor import Tensor
from gradtape.graph.raw_function import apply_raw
from gradtape.ops import elementwise as e
from gradtape.ops import xla_lowering
from gradtape.ops.gather_scatter import take_along
from gradtape.ops.linalg import decomposition as decomposition_ops
from gradtape.ops.linalg import diagonal as diagonal_ops
from gradtape.ops.linalg import matmul as matmul_ops
from gradtape.ops.linalg import solve as solve_ops
from gradtape.ops.linalg.eigen import scale_columns
from gradtape.ops.linalg.pseudo_inverse import pseudo_inverse
from gradtape.ops.reduce import broadcast_to
from gradtape.ops.shape import swap
from gradtape.ops.xla_lowering import on_jax
from gradtape.tf.linalg.decomposition import (
    adjoint_of,
    as_float_matrices,
)
from gradtape.tf.linalg.matrix_function import as_real_matrices
from gradtape.tf.public_op import check_same_dtype, convert_pair


@public
def solve(matrix: Any, rhs: Any, adjoint: bool = False, name: str | None = None) -> Tensor:
    """Solution `x` of matrix @ x = rhs.

    Args:
        matrix: square matrices (..., n, n).
        rhs: right-hand sides (..., n, m).
        adjoint: whether to solve with the conjugate transpose.
        name: has no effect here.

    Returns:
        A tensor (..., n, m).

    Raises:
        InvalidArgumentError: if a matrix is singular, or shapes are incompatible.

    Example:
        >>> tf.linalg.solve([[2.0, 0.0], [0.0, 4.0]], [[2.0], [2.0]]).numpy()
        array([[1. ],
               [0.5]], dtype=float32)
    """
    a, b = convert_pair(matrix, rhs)
    check_same_dtype("MatrixSolve", a, b)
    a = as_float_matrices("MatrixSolve", a, square=True)
    if b._array.ndim < 2 or a._array.shape[:-1] != b._array.shape[:-1]:
        raise InvalidArgumentError(
            f"solve: Input matrix and rhs are incompatible. Received shapes {a.shape} and "
            f"{b.shape}."
        )
    return solve_ops.solve(adjoint_of(a) if adjoint else a, b)


@public
def triangular_solve(
    matrix: Any, rhs: Any, lower: bool = True, adjoint: bool = False, name: str | None = None
) -> Tensor:
    """Solution `x` of matrix @ x = rhs, reading only the lower (or upper) triangle of `matrix`.

    Args:
        matrix: square matrices (..., n, n).
        rhs: right-hand sides (..., n, m).
        lower: whether to read the lower triangle.
        adjoint: whether to solve with the conjugate transpose.
        name: has no effect here.

    Returns:
        A tensor (..., n, m).

    Example:
        >>> tf.linalg.triangular_solve([[2.0, 0.0], [1.0, 1.0]], [[2.0], [3.0]]).numpy().ravel()
        array([1., 2.], dtype=float32)
    """
    a, b = convert_pair(matrix, rhs)
    check_same_dtype("MatrixTriangularSolve", a, b)
    a = as_float_matrices("MatrixTriangularSolve", a, square=True)
    if b._array.ndim < 2 or a._array.shape[-1] != b._array.shape[-2]:
        raise InvalidArgumentError(
            f"triangular_solve: matrix and rhs are incompatible. Received shapes {a.shape} and "
            f"{b.shape}."
        )
    if adjoint:
        return solve_ops.triangular_solve(adjoint_of(a), b, lower=not lower)
    return solve_ops.triangular_solve(a, b, lower=lower)


@public
def cholesky_solve(chol: Any, rhs: Any, name: str | None = None) -> Tensor:
    """Solution `x` of A @ x = rhs, where `chol` is the Cholesky factor of A.

    Args:
        chol: Cholesky factors (..., n, n).
        rhs: right-hand sides (..., n, m).
        name: has no effect here.

    Returns:
        A tensor (..., n, m).

    Example:
        >>> factor = tf.linalg.cholesky([[4.0, 0.0], [0.0, 9.0]])
        >>> tf.linalg.cholesky_solve(factor, [[4.0], [9.0]]).numpy().ravel()
        array([1., 1.], dtype=float32)
    """
    factor, b = convert_pair(chol, rhs)
    return triangular_solve(factor, triangular_solve(factor, b), adjoint=True)


@public
def lstsq(
    matrix: Any, rhs: Any, l2_regularizer: float = 0.0, fast: bool = True, name: str | None = None
) -> Tensor:
    """Least-squares solution `x` of matrix @ x = rhs, of minimal norm if there are many.

    Args:
        matrix: (..., m, n).
        rhs: (..., m, k).
        l2_regularizer: the weight of the squared norm of x.
        fast: whether to solve the normal equations, which need a matrix of full rank.
        name: has no effect here.

    Returns:
        A tensor (..., n, k).
    """
    a, b = convert_pair(matrix, rhs)
    check_same_dtype("MatrixSolveLs", a, b)
    a, b = as_float_matrices("MatrixSolveLs", a), as_float_matrices("MatrixSolveLs", b)
    rows, columns = a._array.shape[-2:]
    if b._array.shape[-2] != rows or (not fast and a._array.ndim != b._array.ndim):
        raise InvalidArgumentError(
            "lstsq: matrix and rhs must have equal numbers of rows (and axes, if not fast). "
            f"Received shapes {list(a._array.shape)} and {list(b._array.shape)}."
        )
    tall = rows >= columns
    if not fast:  # as in TensorFlow, without regularisation
        return matmul_ops.matmul(pseudo_inverse(a), b)
    ah = adjoint_of(a)
    gram = matmul_ops.matmul(ah, a) if tall else matmul_ops.matmul(a, ah)
    if l2_regularizer:
        gram = e.add(
            gram, apply_raw(make_ridge, convert(l2_regularizer), min(rows, columns), a._array.dtype)
        )
    factor = decomposition_ops.cholesky(gram)
    right = matmul_ops.matmul(ah, b) if tall else b
    inner = solve_ops.triangular_solve(factor, right, lower=True)
    found = solve_ops.triangular_solve(adjoint_of(factor), inner, lower=False)
    return found if tall else matmul_ops.matmul(ah, found)


@with_shape(lambda weight, size, dtype: Spec(((size, size), np.dtype(dtype))))
def make_ridge(weight: Any, size: int, dtype: Any) -> Any:
    """Make an identity matrix times a raw weight."""
    return (np.eye(size) * weight).astype(dtype)


@with_shape(lambda size, dtype: Spec(((), np.dtype("float32"))))
def default_rcond(size: int, dtype: Any) -> Any:
    """The ratio to the largest singular value, below which another one counts as zero."""
    return np.float32(10 * size * float(np.finfo(dtype).eps))


@public
def pinv(a: Any, rcond: Any = None, validate_args: bool = False, name: str | None = None) -> Tensor:
    """Moore-Penrose inverse; singular values up to `rcond` times the largest count as zero.

    Args:
        a: matrices (..., m, n).
        rcond: a fraction for each matrix, or None.
        validate_args: has no effect here.
        name: has no effect here.

    Returns:
        A tensor (..., n, m).

    Example:
        >>> tf.linalg.pinv([[2.0, 0.0], [0.0, 4.0]]).numpy().round(3)
        array([[0.5 , 0.  ],
               [0.  , 0.25]], dtype=float32)
    """
    x = as_real_matrices("pinv", a)
    if rcond is None:
        rcond = compute_constant(default_rcond, max_size(*x._array.shape[-2:]), x._array.dtype)
    values, left, right = decomposition_ops.svd(x)
    keep = apply_raw(mask_significant, values, convert(rcond))
    safe = e.select(keep, values, e.ones_like(values))
    inverse = e.gate(e.reciprocal(safe), keep)
    return matmul_ops.matmul(scale_columns(right, inverse), adjoint_of(left))


def mask_significant_spec(values: Any, rcond: Any) -> Any:
    """Spec of the result of `mask_significant`."""
    return Spec((broadcast_shapes(values.shape, (*rcond.shape, 1)), BOOL))


@with_shape(mask_significant_spec)
@on_jax(xla_lowering.lower_is_significant)
def mask_significant(values: Any, rcond: Any) -> Any:
    """Mask of the raw singular values above `rcond` times the largest."""
    largest = np.max(values, axis=-1, keepdims=True, initial=0)
    return values > largest * np.asarray(rcond)[..., None]


@public
def lu_matrix_inverse(
    lower_upper: Any, perm: Any, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """Inverse of the matrix with the factors that `lu` returned.

    Args:
        lower_upper: the factors in one matrix (..., n, n).
        perm: the permutation of rows (..., n).
        validate_args: has no effect here.
        name: has no effect here.

    Returns:
        A tensor (..., n, n).
    """
    both = convert(lower_upper)
    n = both._array.shape[-1]
    eye = convert(compute_constant(np.eye, n, None, 0, both._array.dtype))
    return lu_solve(both, perm, broadcast_to(eye, shape=both._array.shape, rank=2))


@public
def lu_solve(
    lower_upper: Any, perm: Any, rhs: Any, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """Solution `x` of A @ x = rhs, from the factors of A that `lu` returned.

    Args:
        lower_upper: the factors in one matrix (..., n, n).
        perm: the permutation of rows (..., n).
        rhs: right-hand sides (..., n, m).
        validate_args: has no effect here.
        name: has no effect here.

    Returns:
        A tensor (..., n, m).
    """
    both, b = convert_pair(lower_upper, rhs)
    if b._array.ndim < 2:
        raise ValueError(f"lu_solve: rhs must have at least 2 axes. Received shape {b.shape}.")
    permuted = permute_rows(b, convert(perm))
    inner = solve_ops.triangular_solve(extract_unit_lower(both), permuted, lower=True)
    return solve_ops.triangular_solve(both, inner, lower=False)


def extract_unit_lower(both: Tensor) -> Any:
    """Extract the lower factor, and add its diagonal of ones, which `lu` does not store."""
    n = both._array.shape[-1]
    strict = e.subtract(
        diagonal_ops.keep_band(both, lower=-1, upper=0),
        diagonal_ops.keep_band(both, lower=0, upper=0),
    )
    return e.add(strict, convert(compute_constant(np.eye, n, None, 0, both._array.dtype)))


@public
def lu_reconstruct(
    lower_upper: Any, perm: Any, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """Matrix with the factors that `lu` returned.

    Args:
        lower_upper: the factors in one matrix (..., n, n).
        perm: the permutation of rows (..., n).
        validate_args: has no effect here.
        name: has no effect here.

    Returns:
        A tensor (..., n, n).
    """
    both = convert(lower_upper)
    product = matmul_ops.matmul(
        extract_unit_lower(both), diagonal_ops.keep_band(both, lower=0, upper=-1)
    )
    return permute_rows(product, apply_raw(invert_permutations, convert(perm)))


@with_shape(lambda perm: Spec((perm.shape, INT64)))
@on_jax(xla_lowering.lower_invert_permutation)
def invert_permutations(perm: Any) -> Any:
    """Invert raw permutations."""
    return np.argsort(perm, axis=-1)


@with_shape(lambda order, shape: tuple(shape))
@on_jax(xla_lowering.lower_repeat_for_columns)
def repeat_for_columns(order: Any, shape: tuple[int, ...]) -> Any:
    """Repeat raw orders (..., n) for each column."""
    return np.broadcast_to(order[..., None, :], shape)


def permute_rows(x: Any, order: Tensor) -> Any:
    """Permute the rows of matrices (..., n, m) into the `order` (..., n)."""
    rows, width = x._array.shape[-2:]
    lead = np.broadcast_shapes(x._array.shape[:-2], order._array.shape[:-1])
    columns = apply_raw(repeat_for_columns, order, (*lead, width, rows))
    shape = (*lead, rows, width)
    return swap(take_along(swap(broadcast_to(x, shape=shape, rank=x._array.ndim)), columns))
