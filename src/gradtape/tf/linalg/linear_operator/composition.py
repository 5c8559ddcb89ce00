"""Operators made of operators: products, low-rank updates, inverses, adjoints."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import pairwise
from typing import Any

import numpy as np

from gradtape.core.convert import convert
from gradtape.core.tensor import make_tensor
from gradtape.ops import elementwise as e
from gradtape.ops import shape as s
from gradtape.ops.linalg.eigen import scale_columns
from gradtape.tf.linalg import decomposition, diagonal, matmul, solve
from gradtape.tf.linalg.linear_operator.base import LinearOperator
from gradtape.tf.linalg.linear_operator.matrix import LinearOperatorDiag, hint_arguments
from gradtape.tf.linalg.linear_operator.operand import (
    as_float_tensor,
    broadcast_batch,
    read_tensor,
    vector_to_column,
)


def combine_hints(
    operators: Sequence[LinearOperator], what: str, given: bool | None
) -> bool | None:
    """Return True if the hint `what` is not given and all operators have it; else `given`."""
    if given is None and all(getattr(op, what) for op in operators):
        return True
    return given


def check_operators(operators: Any, what: str) -> list[LinearOperator]:
    """Check that `operators` is a non-empty list with one dtype."""
    found = list(operators)
    if not found:
        raise ValueError(f"{what}: expected a non-empty list of operators.")
    kinds = {op.dtype for op in found}
    if len(kinds) > 1:
        raise TypeError(f"{what}: expected all operators to have the same dtype. Received {kinds}.")
    return found


def common_batch_shape(operators: Sequence[LinearOperator]) -> tuple[int, ...]:
    """The batch shape that all operators broadcast to."""
    return np.broadcast_shapes(*(op._shape_tuple()[:-2] for op in operators))


def sum_terms(terms: Any) -> Any:
    """Add all terms."""
    return reduce(e.add, terms)


class CompositeOperator(LinearOperator):
    """Base class of operators made of a list of operators."""

    _operators: list[LinearOperator]

    @property
    def operators(self) -> Any:
        """The operators that this operator is made of."""
        return self._operators


class LinearOperatorComposition(CompositeOperator):
    """Product of operators."""

    def __init__(
        self,
        operators: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ) -> None:
        """Store the operators, after a check of their sizes."""
        found = self._operators = check_operators(operators, "LinearOperatorComposition")
        for left, right in pairwise(found):
            if left.domain_dimension != right.range_dimension:
                raise ValueError(
                    "LinearOperatorComposition: columns of an operator must match the next rows. "
                    f"Received {left.shape} and {right.shape}."
                )
        regular = combine_hints(found, "is_non_singular", is_non_singular)
        super().__init__(
            found[0].dtype,
            **hint_arguments(regular, is_self_adjoint, is_positive_definite, is_square, name),
        )

    def _shape_tuple(self) -> tuple[int, ...]:
        ops = self._operators
        return (*common_batch_shape(ops), ops[0].range_dimension, ops[-1].domain_dimension)

    def _matmul(self, x: Any, adjoint: bool) -> Any:
        for op in self._operators if adjoint else reversed(self._operators):
            x = op._matmul(x, adjoint)
        return x

    def _solve(self, x: Any, adjoint: bool) -> Any:
        if not self._has_square_factors():
            return super()._solve(x, adjoint)
        for op in reversed(self._operators) if adjoint else self._operators:
            x = op._solve(x, adjoint)
        return x

    def _has_square_factors(self) -> bool:
        return all(op.is_square for op in self._operators)

    def _determinant(self) -> Any:
        if not self._has_square_factors():
            return super()._determinant()
        return reduce(e.multiply, (op._determinant() for op in self._operators))

    def _log_abs_determinant(self) -> Any:
        if not self._has_square_factors():
            return super()._log_abs_determinant()
        return sum_terms(op._log_abs_determinant() for op in self._operators)


class LinearOperatorLowRankUpdate(LinearOperator):
    """`base_operator` plus u @ diag(diag_update) @ vᴴ, with few columns in `u` and `v`."""

    def __init__(
        self,
        base_operator: LinearOperator,
        u: Any,
        diag_update: Any = None,
        v: Any = None,
        is_diag_update_positive: bool | None = None,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = "LinearOperatorLowRankUpdate",
    ) -> None:
        """Store the parts; `diag_update` defaults to ones, and `v` to `u`."""
        self._base = base_operator
        self._u = as_float_tensor(u)
        self._v = self._u if v is None else as_float_tensor(v)
        self._diag_update = None if diag_update is None else as_float_tensor(diag_update)
        self._is_update_positive = True if diag_update is None else is_diag_update_positive
        symmetric = v is None and base_operator.is_self_adjoint
        definite = symmetric and base_operator.is_positive_definite and self._is_update_positive
        if self._u.shape[-2] != base_operator.range_dimension:
            raise ValueError(
                "LinearOperatorLowRankUpdate: u must have as many rows as the base operator. "
                f"Received {self._u.shape} and {base_operator.shape}."
            )
        super().__init__(
            base_operator.dtype,
            **hint_arguments(
                is_non_singular,
                True if symmetric and is_self_adjoint is None else is_self_adjoint,
                True if definite and is_positive_definite is None else is_positive_definite,
                is_square,
                name,
            ),
        )

    @property
    def base_operator(self) -> LinearOperator:
        """The operator that is updated."""
        return self._base

    @property
    def u(self) -> Any:
        """The left factor."""
        return self._u

    @property
    def v(self) -> Any:
        """The right factor."""
        return self._v

    @property
    def is_diag_update_positive(self) -> bool | None:
        """The hint that all entries of `diag_update` are positive."""
        return self._is_update_positive

    @property
    def diag_update(self) -> Any:
        """The diagonal between the factors, or None."""
        return self._diag_update

    @property
    def diag_operator(self) -> LinearOperator:
        """The diagonal between the factors, as an operator."""
        return LinearOperatorDiag(self._middle_diagonal(False))

    def _middle_diagonal(self, adjoint: bool) -> Any:
        if self._diag_update is None:
            return make_tensor(np.ones(self._u.shape[-1], self._dtype.as_numpy_dtype))
        d = read_tensor(self._diag_update)
        return e.conj(d) if adjoint and d.dtype.is_complex else d

    def _shape_tuple(self) -> tuple[int, ...]:
        own = self._base._shape_tuple()
        lead = np.broadcast_shapes(own[:-2], tuple(self._u.shape[:-2]), tuple(self._v.shape[:-2]))
        return (*lead, *own[-2:])

    def _factors(self, adjoint: bool) -> tuple[Any, Any]:
        u, v = read_tensor(self._u), read_tensor(self._v)
        return (v, u) if adjoint else (u, v)

    def _matmul(self, x: Any, adjoint: bool) -> Any:
        left, right = self._factors(adjoint)
        inner = matmul.matmul(right, x, adjoint_a=True)
        scaled = e.multiply(inner, vector_to_column(self._middle_diagonal(adjoint)))
        return e.add(self._base._matmul(x, adjoint), matmul.matmul(left, scaled))

    def _capacitance(self, adjoint: bool) -> Any:
        """The small matrix of Woodbury's identity: D⁻¹ + Vᴴ A⁻¹ U."""
        left, right = self._factors(adjoint)
        core = matmul.matmul(right, self._base._solve(left, adjoint), adjoint_a=True)
        return e.add(core, diagonal.diag(e.reciprocal(self._middle_diagonal(adjoint))))

    def _solve(self, x: Any, adjoint: bool) -> Any:
        left, right = self._factors(adjoint)
        first = self._base._solve(x, adjoint)
        small = self._capacitance(adjoint)
        inner = matmul.matmul(right, first, adjoint_a=True)
        lead = np.broadcast_shapes(small._array.shape[:-2], inner._array.shape[:-2])
        inner = solve.solve(broadcast_batch(small, lead, 2), broadcast_batch(inner, lead, 2))
        return e.subtract(first, self._base._solve(matmul.matmul(left, inner), adjoint))

    def _determinant(self) -> Any:
        d = reduce(e.multiply, s.unstack(self._middle_diagonal(False), axis=-1))
        small = decomposition.det(self._capacitance(False))
        return e.multiply(e.multiply(self._base._determinant(), small), d)

    def _log_abs_determinant(self) -> Any:
        kind = np.dtype(self._dtype.as_numpy_dtype)
        d = sum_terms(s.unstack(e.log(e.absolute(self._middle_diagonal(False))), axis=-1))
        small = decomposition.slogdet(self._capacitance(False))[1]
        return e.add(e.add(self._base._log_abs_determinant(), small), e.cast(d, dtype=kind))

    def _diag_part(self) -> Any:
        left, right = self._factors(False)
        scaled = scale_columns(left, self._middle_diagonal(False))
        both = e.multiply(scaled, e.conj(right))
        return e.add(self._base._diag_part(), sum_terms(s.unstack(both, axis=-1)))


class WrappedOperator(LinearOperator):
    """Base class of the inverse and the adjoint of an operator."""

    _operator: LinearOperator

    @property
    def operator(self) -> LinearOperator:
        """The operator that is inverted or transposed."""
        return self._operator


class LinearOperatorInversion(WrappedOperator):
    """Inverse of an operator; its products are solves with that operator."""

    def __init__(
        self,
        operator: LinearOperator,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ) -> None:
        """Store the operator."""
        if operator.is_non_singular is False or is_non_singular is False:
            raise ValueError("operator and supplied hints must have `is_non_singular` True.")
        self._operator = operator
        super().__init__(
            operator.dtype,
            **hint_arguments(
                True,
                operator.is_self_adjoint if is_self_adjoint is None else is_self_adjoint,
                operator.is_positive_definite
                if is_positive_definite is None
                else is_positive_definite,
                is_square,
                name or f"{operator.name}_inv",
            ),
        )

    def _shape_tuple(self) -> tuple[int, ...]:
        return self._operator._shape_tuple()

    def _matmul(self, x: Any, adjoint: bool) -> Any:
        return self._operator._solve(x, adjoint)

    def _solve(self, x: Any, adjoint: bool) -> Any:
        return self._operator._matmul(x, adjoint)

    def _determinant(self) -> Any:
        return e.reciprocal(self._operator._determinant())

    def _log_abs_determinant(self) -> Any:
        return e.negative(self._operator._log_abs_determinant())

    def _inverse(self) -> LinearOperator:
        return self._operator


class LinearOperatorAdjoint(WrappedOperator):
    """Conjugate transpose of an operator."""

    def __init__(
        self,
        operator: LinearOperator,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ) -> None:
        """Store the operator."""
        self._operator = operator
        super().__init__(
            operator.dtype,
            **hint_arguments(
                operator.is_non_singular if is_non_singular is None else is_non_singular,
                operator.is_self_adjoint if is_self_adjoint is None else is_self_adjoint,
                operator.is_positive_definite
                if is_positive_definite is None
                else is_positive_definite,
                is_square,
                name or f"{operator.name}_adjoint",
            ),
        )

    def _shape_tuple(self) -> tuple[int, ...]:
        *batch, rows, columns = self._operator._shape_tuple()
        return (*batch, columns, rows)

    def _to_dense(self) -> Any:
        return matmul.adjoint(convert(self._operator._to_dense()))

    def _matmul(self, x: Any, adjoint: bool) -> Any:
        return self._operator._matmul(x, not adjoint)

    def _solve(self, x: Any, adjoint: bool) -> Any:
        return self._operator._solve(x, not adjoint)

    def _determinant(self) -> Any:
        found = self._operator._determinant()
        return e.conj(found) if self._dtype.is_complex else found

    def _log_abs_determinant(self) -> Any:
        return self._operator._log_abs_determinant()

    def _adjoint(self) -> LinearOperator:
        return self._operator
