"""LinearOperator: base class of matrices whose subclasses exploit their structure."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.convert import convert
from gradtape.core.dtypes import as_dtype
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.ops import elementwise as e
from gradtape.ops import shape as s
from gradtape.tf.linalg import decomposition, diagonal
from gradtape.tf.linalg import matmul as product
from gradtape.tf.linalg import solve as solvers
from gradtape.tf.linalg.linear_operator.operand import (
    broadcast_batch,
    column_to_vector,
    sum_last,
    vector_to_column,
)
from gradtape.tf.linalg.linear_operator.operator_shape import OperatorShape


class LinearOperator(OperatorShape):
    """A matrix, or a batch of matrices, defined by its operations.

    Subclasses define `_shape_tuple` (the shape) and `_to_dense`. They override `_matmul`, `_solve`,
    `_diag_part`, `_log_abs_determinant` and `_determinant` if they have a faster way. Gradients
    reach all tensors of an operator.

    Args:
        dtype: the dtype of the matrix.
        graph_parents: has no effect here.
        is_non_singular: a hint, which is not checked; None if unknown.
        is_self_adjoint: a hint.
        is_positive_definite: a hint; it implies that the matrix is square and not singular.
        is_square: a hint.
        name: the name of the operator.
        parameters: has no effect here.
    """

    @public
    def __init__(
        self,
        dtype: Any,
        graph_parents: Any = None,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
        parameters: Any = None,
    ) -> None:
        """Check that the hints do not contradict each other."""
        super().__init__(name=name)
        if is_positive_definite:
            if is_non_singular is False:
                raise ValueError("A positive definite matrix is always non-singular.")
            is_non_singular = True
        if is_non_singular:
            if is_square is False:
                raise ValueError("A non-singular matrix is always square.")
            is_square = True
        if is_self_adjoint:
            if is_square is False:
                raise ValueError("A self-adjoint matrix is always square.")
            is_square = True
        self._dtype = as_dtype(dtype)
        self._is_non_singular = is_non_singular
        self._is_self_adjoint = is_self_adjoint
        self._is_positive_definite = is_positive_definite
        self._is_square = is_square

    def _to_dense(self) -> Any:
        return self._matmul(
            make_tensor(np.eye(self._shape_tuple()[-1], dtype=self._dtype.as_numpy_dtype)), False
        )

    def _matmul(self, x: Any, adjoint: bool) -> Any:
        return product.matmul(self._to_dense(), x, adjoint_a=adjoint)

    def _solve(self, x: Any, adjoint: bool) -> Any:
        dense, batch = self._to_dense(), self._shape_tuple()[:-2]
        x = broadcast_batch(x, batch, 2)
        dense = broadcast_batch(dense, x._array.shape[:-2], 2)
        if self._is_positive_definite and self._is_self_adjoint:
            return solvers.cholesky_solve(decomposition.cholesky(dense), x)
        return solvers.solve(dense, x, adjoint=adjoint)

    def _diag_part(self) -> Any:
        return diagonal.diag_part(self._to_dense())

    def _log_abs_determinant(self) -> Any:
        if self._is_positive_definite and self._is_self_adjoint:
            factor = diagonal.diag_part(decomposition.cholesky(self._to_dense()))
            return sum_last(e.log(e.absolute(factor))) * 2
        return decomposition.slogdet(self._to_dense())[1]

    def _determinant(self) -> Any:
        return decomposition.det(self._to_dense())

    def _inverse(self) -> LinearOperator:
        from gradtape.tf.linalg.linear_operator.composition import LinearOperatorInversion

        return LinearOperatorInversion(self)

    def _adjoint(self) -> LinearOperator:
        from gradtape.tf.linalg.linear_operator.composition import LinearOperatorAdjoint

        return LinearOperatorAdjoint(self)

    def _convert_argument(
        self, x: Any, rows: int | None, core: int, adjoint_arg: bool = False
    ) -> Any:
        """Convert an argument to a tensor, after a check that it has `rows` rows."""
        tensor = convert(x, self._dtype)
        if tensor._array.ndim < core:
            raise ValueError(
                f"{self.name}: the argument must have at least {core} axes. Received shape "
                f"{tensor.shape}."
            )
        tensor = product.adjoint(tensor) if adjoint_arg else tensor
        have = tensor._array.shape[-core]
        if rows is not None and have != rows:  # an unknown size is checked by the kernel
            raise ValueError(
                f"{self.name}: Dimensions {rows} and {have} are not compatible: the operator is "
                f"{self.shape}, the argument {tensor.shape}."
            )
        return tensor

    @public
    def matmul(
        self, x: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "matmul"
    ) -> Any:
        """Product with matrices (..., n, k), or with another operator.

        Args:
            x: a tensor of shape (..., n, k), or a `LinearOperator`.
            adjoint: multiply by the adjoint of this matrix.
            adjoint_arg: multiply the adjoint of `x`.
            name: ignored.

        Returns:
            A tensor, or a `LinearOperator` if `x` is one.
        """
        if isinstance(x, LinearOperator):
            from gradtape.tf.linalg.linear_operator.composition import LinearOperatorComposition

            left = self.adjoint() if adjoint else self
            right = x.adjoint() if adjoint_arg else x
            if left.domain_dimension != right.range_dimension:
                raise ValueError(
                    f"Operators are incompatible. Expected `x` to have dimension "
                    f"{left.domain_dimension} but got {right.range_dimension}."
                )
            return LinearOperatorComposition([left, right])
        rows = self._shape_tuple()[-2 if adjoint else -1]
        return self._matmul(self._convert_argument(x, rows, 2, adjoint_arg), adjoint)

    def __matmul__(self, other: Any) -> Any:
        """`matmul`."""
        return self.matmul(other)

    @public
    def matvec(self, x: Any, adjoint: bool = False, name: str = "matvec") -> Tensor:
        """Product with vectors (..., n).

        Args:
            x: a tensor of shape (..., n).
            adjoint: multiply by the adjoint of this matrix.
            name: ignored.

        Returns:
            A tensor.
        """
        rows = self._shape_tuple()[-2 if adjoint else -1]
        return column_to_vector(
            self._matmul(vector_to_column(self._convert_argument(x, rows, 1)), adjoint)
        )

    def _check_square(self, what: str) -> None:
        if not self.is_square or self._is_square is False:
            raise NotImplementedError(f"{what} not implemented for an operator that is not square.")

    def _check_solvable(self) -> None:
        if self._is_non_singular is False:
            raise NotImplementedError(
                "Exact solve not implemented for an operator that is expected to be singular."
            )
        self._check_square("Exact solve")

    @public
    def solve(
        self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "solve"
    ) -> Any:
        """Solution `x` of A @ x = rhs for matrices (..., n, k), or for another operator.

        Args:
            rhs: a tensor of shape (..., n, k), or a `LinearOperator`.
            adjoint: solve with the adjoint of this matrix.
            adjoint_arg: solve for the adjoint of `rhs`.
            name: ignored.

        Returns:
            A tensor, or a `LinearOperator` if `rhs` is one.
        """
        self._check_solvable()
        if isinstance(rhs, LinearOperator):
            left = self.adjoint() if adjoint else self
            return left.inverse().matmul(rhs.adjoint() if adjoint_arg else rhs)
        rows = self._shape_tuple()[-1 if adjoint else -2]
        return self._solve(self._convert_argument(rhs, rows, 2, adjoint_arg), adjoint)

    @public
    def solvevec(self, rhs: Any, adjoint: bool = False, name: str = "solve") -> Tensor:
        """Solution `x` of A @ x = rhs for vectors (..., n).

        Args:
            rhs: a tensor of shape (..., n).
            adjoint: solve with the adjoint of this matrix.
            name: ignored.

        Returns:
            A tensor.
        """
        self._check_solvable()
        rows = self._shape_tuple()[-1 if adjoint else -2]
        return column_to_vector(
            self._solve(vector_to_column(self._convert_argument(rhs, rows, 1)), adjoint)
        )

    @public
    def to_dense(self, name: str = "to_dense") -> Tensor:
        """The matrix as a dense tensor."""
        return convert(self._to_dense())

    @public
    def diag_part(self, name: str = "diag_part") -> Tensor:
        """The main diagonal."""
        return self._diag_part()

    @public
    def trace(self, name: str = "trace") -> Tensor:
        """Sum of the main diagonal."""
        return sum_last(self._diag_part())

    @public
    def add_to_tensor(self, x: Any, name: str = "add_to_tensor") -> Tensor:
        """The matrix plus `x`.

        Args:
            x: a tensor whose shape broadcasts with the matrix.
            name: ignored.

        Returns:
            A dense tensor.
        """
        return e.add(self._to_dense(), convert(x, self._dtype))

    @public
    def determinant(self, name: str = "det") -> Tensor:
        """The determinant."""
        self._check_square("Determinant")
        return self._determinant()

    @public
    def log_abs_determinant(self, name: str = "log_abs_det") -> Tensor:
        """Logarithm of the absolute value of the determinant."""
        self._check_square("Determinant")
        return self._log_abs_determinant()

    @public
    def inverse(self, name: str = "inverse") -> LinearOperator:
        """The inverse, as an operator."""
        if not self.is_square:
            raise ValueError("Cannot get the inverse: this operator is not square.")
        if self._is_non_singular is False:
            raise ValueError("Cannot get the inverse: this operator is expected to be singular.")
        return self._inverse()

    @public
    def adjoint(self, name: str = "adjoint") -> LinearOperator:
        """The conjugate transpose, as an operator; the operator itself if it is self-adjoint."""
        return self if self._is_self_adjoint else self._adjoint()

    H = property(adjoint)

    @public
    def cholesky(self, name: str = "cholesky") -> LinearOperator:
        """The Cholesky factor, as an operator; needs both hints, self-adjoint and definite."""
        if not (self._is_positive_definite and self._is_self_adjoint):
            raise ValueError(
                "Cannot take the Cholesky decomposition: not a positive definite self adjoint "
                "matrix."
            )
        return self._cholesky()

    def _cholesky(self) -> LinearOperator:
        from gradtape.tf.linalg.linear_operator.matrix import LinearOperatorLowerTriangular

        factor = decomposition.cholesky(self._to_dense())
        return LinearOperatorLowerTriangular(factor, is_non_singular=True)

    @public
    def eigvals(self, name: str = "eigvals") -> Tensor:
        """Eigenvalues; needs the hint self-adjoint."""
        if not self._is_self_adjoint:
            raise NotImplementedError("Only self-adjoint matrices are supported.")
        return self._eigvals()

    def _eigvals(self) -> Any:
        return decomposition.eigvalsh(self._to_dense())

    @public
    def cond(self, name: str = "cond") -> Tensor:
        """The condition number: the largest singular value over the smallest."""
        values = decomposition.svd(self._to_dense(), compute_uv=False)
        k = values._array.shape[-1]
        return s.index_axis(values, axis=-1, i=0) / s.index_axis(values, axis=-1, i=k - 1)

    @public
    def assert_non_singular(self, name: str = "assert_non_singular") -> None:
        """Raise if the matrix is singular, up to rounding."""
        real = as_dtype(self._dtype.real_dtype).as_numpy_dtype
        worst = np.asarray(self.cond()._array)
        if not (worst < 1 / np.finfo(real).eps).all():
            raise InvalidArgumentError("Singular matrix up to precision epsilon.")

    @public
    def assert_positive_definite(self, name: str = "assert_positive_definite") -> None:
        """Raise unless a Cholesky factor exists."""
        factor = np.asarray(decomposition.cholesky(self._to_dense())._array)
        if not np.isfinite(factor).all():
            raise InvalidArgumentError("Matrix was not positive definite.")

    @public
    def assert_self_adjoint(self, name: str = "assert_self_adjoint") -> None:
        """Raise unless the matrix equals its adjoint."""
        dense = np.asarray(self._to_dense()._array)
        if not np.array_equal(dense, np.conj(np.swapaxes(dense, -1, -2))):
            raise InvalidArgumentError("Matrix was not equal to its adjoint.")
