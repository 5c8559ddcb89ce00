"""Identity operators, their multiples, and zero operators."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.convert import to_shape_tuple
from gradtape.core.dtypes import as_dtype
from gradtape.core.tensor import make_tensor
from gradtape.ops import elementwise as e
from gradtape.tf.linalg.linear_operator.base import LinearOperator
from gradtape.tf.linalg.linear_operator.matrix import LinearOperatorDiag, hint_arguments
from gradtape.tf.linalg.linear_operator.operand import (
    as_float_tensor,
    broadcast_batch,
    read_tensor,
    vector_to_column,
)


class LinearOperatorIdentity(LinearOperator):
    """Identity matrices with `num_rows` rows."""

    def __init__(
        self,
        num_rows: Any,
        batch_shape: Any = None,
        dtype: Any = None,
        is_non_singular: bool | None = True,
        is_self_adjoint: bool | None = True,
        is_positive_definite: bool | None = True,
        is_square: bool | None = True,
        assert_proper_shapes: bool = False,
        name: str | None = "LinearOperatorIdentity",
    ) -> None:
        """Store the size."""
        if False in (is_self_adjoint, is_non_singular, is_positive_definite, is_square):
            raise ValueError(
                "An identity operator is always square, self-adjoint and positive definite."
            )
        (rows,) = to_shape_tuple(num_rows)
        if rows < 0:
            raise ValueError(f"Argument `num_rows` must be non-negative. Received {rows}.")
        batch = () if batch_shape is None else to_shape_tuple(batch_shape)
        self._size = (*batch, rows, rows)
        super().__init__(dtype or dtypes.float32, **hint_arguments(True, True, True, True, name))

    def _shape_tuple(self) -> tuple[int, ...]:
        return self._size

    def _matmul(self, x: Any, adjoint: bool) -> Any:
        return broadcast_batch(x, self._size[:-2], 2)

    def _solve(self, x: Any, adjoint: bool) -> Any:
        return self._matmul(x, adjoint)

    def _diag_part(self) -> Any:
        return make_tensor(np.ones(self._size[:-1], self._dtype.as_numpy_dtype))

    def _determinant(self) -> Any:
        return make_tensor(np.ones(self._size[:-2], self._dtype.as_numpy_dtype)[()])

    def _log_abs_determinant(self) -> Any:
        return make_tensor(np.zeros(self._size[:-2], self._dtype.as_numpy_dtype)[()])

    def _inverse(self) -> LinearOperator:
        return self

    def _cholesky(self) -> LinearOperator:
        return self


class LinearOperatorScaledIdentity(LinearOperatorDiag):
    """Identity matrices times `multiplier`, whose shape is the batch shape."""

    def __init__(
        self,
        num_rows: Any,
        multiplier: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        assert_proper_shapes: bool = False,
        name: str | None = "LinearOperatorScaledIdentity",
    ) -> None:
        """Store the size and the multiplier."""
        if not is_square:
            raise ValueError("A ScaledIdentity operator is always square.")
        self._multiplier = as_float_tensor(multiplier)
        (self._num_rows,) = to_shape_tuple(num_rows)
        self._diag = self._multiplier  # only its dtype is read; `_entries` is overridden
        if not self._multiplier.dtype.is_complex:
            is_self_adjoint = True
        LinearOperator.__init__(
            self,
            self._multiplier.dtype,
            **hint_arguments(is_non_singular, is_self_adjoint, is_positive_definite, True, name),
        )

    @property
    def multiplier(self) -> Any:
        """The multiplier."""
        return self._multiplier

    def _shape_tuple(self) -> tuple[int, ...]:
        return (*self._multiplier.shape, self._num_rows, self._num_rows)

    def _entries(self, adjoint: bool = False) -> Any:
        m = read_tensor(self._multiplier)
        m = e.conj(m) if adjoint and m.dtype.is_complex else m
        ones = make_tensor(np.ones(self._num_rows, self._dtype.as_numpy_dtype))
        return e.multiply(vector_to_column(m), ones)

    def _inverse(self) -> LinearOperator:
        return LinearOperatorScaledIdentity(
            self._num_rows, e.reciprocal(read_tensor(self._multiplier))
        )

    def _adjoint(self) -> LinearOperator:
        return LinearOperatorScaledIdentity(self._num_rows, e.conj(read_tensor(self._multiplier)))


class LinearOperatorZeros(LinearOperator):
    """Matrices of zeros."""

    def __init__(
        self,
        num_rows: Any,
        num_columns: Any = None,
        batch_shape: Any = None,
        dtype: Any = None,
        is_non_singular: bool | None = False,
        is_self_adjoint: bool | None = True,
        is_positive_definite: bool | None = False,
        is_square: bool | None = True,
        assert_proper_shapes: bool = False,
        name: str | None = "LinearOperatorZeros",
    ) -> None:
        """Store the size."""
        if is_non_singular or is_positive_definite:
            raise ValueError("A zero operator is always singular.")
        (rows,) = to_shape_tuple(num_rows)
        columns = rows if num_columns is None else to_shape_tuple(num_columns)[0]
        if is_square and rows != columns:
            raise ValueError("LinearOperatorZeros initialized as is_square=True, but it is not.")
        batch = () if batch_shape is None else to_shape_tuple(batch_shape)
        self._size = (*batch, rows, columns)
        super().__init__(
            dtype or dtypes.float32,
            **hint_arguments(
                False, is_self_adjoint if rows == columns else None, None, is_square, name
            ),
        )

    def _shape_tuple(self) -> tuple[int, ...]:
        return self._size

    def _to_dense(self) -> Any:
        return make_tensor(np.zeros(self._size, as_dtype(self._dtype).as_numpy_dtype))
