"""Operators made of one tensor: full, diagonal, triangular, Householder, permutation matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.convert import convert
from gradtape.core.tensor import make_tensor
from gradtape.ops import elementwise as e
from gradtape.ops.reduce import reduce_prod, reduce_sum
from gradtape.tf.linalg import band_matrix, diagonal, matmul, solve
from gradtape.tf.linalg.linear_operator.base import LinearOperator
from gradtape.tf.linalg.linear_operator.operand import (
    as_float_tensor,
    broadcast_batch,
    read_tensor,
    sum_last,
    vector_to_column,
)


def hint_arguments(
    non_singular: Any, self_adjoint: Any, positive_definite: Any, square: Any, name: Any
) -> dict[str, Any]:
    """Keyword arguments of the base class: the hints and the name."""
    return {
        "is_non_singular": non_singular,
        "is_self_adjoint": self_adjoint,
        "is_positive_definite": positive_definite,
        "is_square": square,
        "name": name,
    }


class LinearOperatorFullMatrix(LinearOperator):
    """Dense matrices (..., m, n)."""

    def __init__(
        self,
        matrix: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = "LinearOperatorFullMatrix",
    ) -> None:
        """Store the matrix."""
        self._matrix = as_float_tensor(matrix)
        if len(self._matrix.shape) < 2:
            raise ValueError(
                f"Argument `matrix` must have at least 2 dimensions. Received {self._matrix.shape}."
            )
        super().__init__(
            self._matrix.dtype,
            **hint_arguments(
                is_non_singular, is_self_adjoint, is_positive_definite, is_square, name
            ),
        )

    @property
    def matrix(self) -> Any:
        """The matrix."""
        return self._matrix

    def _shape_tuple(self) -> tuple[int, ...]:
        return tuple(self._matrix.shape)

    def _to_dense(self) -> Any:
        return read_tensor(self._matrix)


class LinearOperatorDiag(LinearOperator):
    """Diagonal matrices with the diagonals `diag` (..., n)."""

    def __init__(
        self,
        diag: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = "LinearOperatorDiag",
    ) -> None:
        """Store the diagonal."""
        self._diag = as_float_tensor(diag)
        if not len(self._diag.shape):
            raise ValueError("Argument `diag` must have at least 1 dimension. Received a scalar.")
        if is_square is False:
            raise ValueError("Only square diagonal operators are supported.")
        if not self._diag.dtype.is_complex:
            if is_self_adjoint is False:
                raise ValueError("A real diagonal operator is always self adjoint.")
            is_self_adjoint = True
        super().__init__(
            self._diag.dtype,
            **hint_arguments(is_non_singular, is_self_adjoint, is_positive_definite, True, name),
        )

    @property
    def diag(self) -> Any:
        """The diagonal."""
        return self._diag

    def _shape_tuple(self) -> tuple[int, ...]:
        shape = tuple(self._diag.shape)
        return (*shape, shape[-1])

    def _entries(self, adjoint: bool = False) -> Any:
        d = read_tensor(self._diag)
        return e.conj(d) if adjoint and d.dtype.is_complex else d

    def _matmul(self, x: Any, adjoint: bool) -> Any:
        return e.multiply(vector_to_column(self._entries(adjoint)), x)

    def _solve(self, x: Any, adjoint: bool) -> Any:
        return e.divide(x, vector_to_column(self._entries(adjoint)))

    def _to_dense(self) -> Any:
        return diagonal.diag(self._entries())

    def _diag_part(self) -> Any:
        return self._entries()

    def _determinant(self) -> Any:
        return reduce_prod(self._entries(), axis=(-1,), keepdims=False)

    def _log_abs_determinant(self) -> Any:
        return sum_last(e.cast(e.log(e.absolute(self._entries())), dtype=self._numpy_dtype()))

    def _numpy_dtype(self) -> Any:
        return np.dtype(self._dtype.as_numpy_dtype)

    def _inverse(self) -> LinearOperator:
        return LinearOperatorDiag(
            e.reciprocal(self._entries()),
            is_self_adjoint=self._is_self_adjoint,
            is_positive_definite=self._is_positive_definite,
        )

    def _adjoint(self) -> LinearOperator:
        return LinearOperatorDiag(self._entries(True), is_non_singular=self._is_non_singular)

    def _cholesky(self) -> LinearOperator:
        return LinearOperatorDiag(e.sqrt(self._entries()), is_positive_definite=True)

    def _eigvals(self) -> Any:
        return self._entries()


class LinearOperatorLowerTriangular(LinearOperator):
    """Lower triangular matrices (..., n, n); elements above the diagonal are ignored."""

    def __init__(
        self,
        tril: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = "LinearOperatorLowerTriangular",
    ) -> None:
        """Store the matrix."""
        if is_square is False:
            raise ValueError("Only square lower triangular operators are supported.")
        self._tril = as_float_tensor(tril)
        if len(self._tril.shape) < 2:
            raise ValueError("Argument `tril` must have at least 2 dimensions.")
        super().__init__(
            self._tril.dtype,
            **hint_arguments(is_non_singular, is_self_adjoint, is_positive_definite, True, name),
        )

    @property
    def tril(self) -> Any:
        """The matrix whose lower triangle is used."""
        return self._tril

    def _shape_tuple(self) -> tuple[int, ...]:
        return tuple(self._tril.shape)

    def _to_dense(self) -> Any:
        return diagonal.band_part(read_tensor(self._tril), -1, 0)

    def _solve(self, x: Any, adjoint: bool) -> Any:
        return solve.triangular_solve(read_tensor(self._tril), x, lower=True, adjoint=adjoint)

    def _diag_part(self) -> Any:
        return diagonal.diag_part(read_tensor(self._tril))

    def _determinant(self) -> Any:
        return reduce_prod(self._diag_part(), axis=(-1,), keepdims=False)

    def _log_abs_determinant(self) -> Any:
        kind = np.dtype(self._dtype.as_numpy_dtype)
        return sum_last(e.cast(e.log(e.absolute(self._diag_part())), dtype=kind))

    def _eigvals(self) -> Any:
        return self._diag_part()


class LinearOperatorTridiag(LinearOperator):
    """Tridiagonal matrices, with diagonals as for `tf.linalg.tridiagonal_solve`."""

    def __init__(
        self,
        diagonals: Any,
        diagonals_format: str = "compact",
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = "LinearOperatorTridiag",
    ) -> None:
        """Store the diagonals."""
        if diagonals_format not in ("matrix", "sequence", "compact"):
            raise ValueError(f"Argument `diagonals_format` is invalid: {diagonals_format!r}.")
        self._diagonals: Any = (
            [convert(d) for d in diagonals]
            if diagonals_format == "sequence"
            else as_float_tensor(diagonals)
        )
        self._format = diagonals_format
        some: Any = self._diagonals[1] if diagonals_format == "sequence" else self._diagonals
        super().__init__(
            some.dtype,
            **hint_arguments(is_non_singular, is_self_adjoint, is_positive_definite, True, name),
        )

    @property
    def diagonals(self) -> Any:
        """The diagonals, in the format `diagonals_format`."""
        return self._diagonals

    @property
    def diagonals_format(self) -> str:
        """The format of `diagonals`: "compact", "sequence" or "matrix"."""
        return self._format

    def _shape_tuple(self) -> tuple[int, ...]:
        if self._format == "matrix":
            return tuple(self._diagonals.shape)
        if self._format == "sequence":
            shape = tuple(self._diagonals[1].shape)
            return (*shape, shape[-1])
        shape = tuple(self._diagonals.shape)
        return (*shape[:-2], shape[-1], shape[-1])

    def _to_dense(self) -> Any:
        if self._format == "matrix":
            return diagonal.band_part(read_tensor(self._diagonals), 1, 1)
        eye = make_tensor(np.eye(self._shape_tuple()[-1], dtype=self._dtype.as_numpy_dtype))
        return self._matmul(eye, False)

    def _matmul(self, x: Any, adjoint: bool) -> Any:
        if adjoint or self._format == "matrix":
            return matmul.matmul(self._to_dense(), x, adjoint_a=adjoint)
        x = broadcast_batch(x, self._shape_tuple()[:-2], 2)
        lead = x._array.shape[:-2]
        if self._format == "sequence":
            parts = [broadcast_batch(d, lead, 1) for d in self._diagonals]
        else:
            parts = broadcast_batch(read_tensor(self._diagonals), lead, 2)
        return band_matrix.tridiagonal_matmul(parts, x, self._format)

    def _solve(self, x: Any, adjoint: bool) -> Any:
        dense = self._to_dense()
        matrix = matmul.adjoint(dense) if adjoint else dense
        x = broadcast_batch(x, self._shape_tuple()[:-2], 2)
        matrix = broadcast_batch(matrix, x._array.shape[:-2], 2)
        return band_matrix.tridiagonal_solve(matrix, x, "matrix")


class LinearOperatorHouseholder(LinearOperator):
    """Reflections I - 2 v vᴴ, where v is the normalised `reflection_axis` (..., n)."""

    def __init__(
        self,
        reflection_axis: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = "LinearOperatorHouseholder",
    ) -> None:
        """Store the axis."""
        for hint, what in ((is_self_adjoint, "self adjoint"), (is_square, "square")):
            if hint is False:
                raise ValueError(f"A Householder operator is always {what}.")
        if is_positive_definite:
            raise ValueError("A Householder operator is always non-positive definite.")
        if is_non_singular is False:
            raise ValueError("A Householder operator is always non-singular.")
        self._axis = as_float_tensor(reflection_axis)
        super().__init__(self._axis.dtype, **hint_arguments(True, True, False, True, name))

    @property
    def reflection_axis(self) -> Any:
        """The axis of reflection, as it was given."""
        return self._axis

    def _shape_tuple(self) -> tuple[int, ...]:
        shape = tuple(self._axis.shape)
        return (*shape, shape[-1])

    def _matmul(self, x: Any, adjoint: bool) -> Any:
        v = read_tensor(self._axis)
        square = reduce_sum(e.multiply(v, e.conj(v)), axis=(-1,), keepdims=True)
        along = reduce_sum(e.multiply(vector_to_column(e.conj(v)), x), axis=(-2,), keepdims=True)
        return e.subtract(x, e.multiply(vector_to_column(e.divide(v, square)), along) * 2)

    def _solve(self, x: Any, adjoint: bool) -> Any:
        return self._matmul(x, adjoint)

    def assert_self_adjoint(self, name: str = "assert_self_adjoint") -> None:
        """Do nothing: a reflection is always self-adjoint.

        Args:
            name: has no effect here.

        Returns:
            None.
        """

    def _determinant(self) -> Any:
        return make_tensor(np.full(self._shape_tuple()[:-2], -1, self._dtype.as_numpy_dtype)[()])

    def _log_abs_determinant(self) -> Any:
        return make_tensor(np.zeros(self._shape_tuple()[:-2], self._dtype.as_numpy_dtype)[()])

    def _inverse(self) -> LinearOperator:
        return self
