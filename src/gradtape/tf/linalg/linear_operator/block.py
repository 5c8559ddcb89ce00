"""Operators made of blocks: Kronecker products, block diagonal and block triangular matrices."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from gradtape.ops import elementwise as e
from gradtape.ops import shape as s
from gradtape.tf.linalg.linear_operator.base import LinearOperator
from gradtape.tf.linalg.linear_operator.composition import (
    CompositeOperator,
    check_operators,
    combine_hints,
    common_batch_shape,
    sum_terms,
)
from gradtape.tf.linalg.linear_operator.matrix import hint_arguments
from gradtape.tf.linalg.linear_operator.operand import broadcast_batch


def split_rows(x: Any, sizes: Sequence[int]) -> list[Any]:
    """Split the rows of `x` into blocks of these sizes."""
    starts = np.cumsum([0, *sizes])
    return [
        s.slice_axis(x, axis=-2, start=int(i), size=n) for i, n in zip(starts, sizes, strict=False)
    ]


def concat_blocks(parts: Sequence[Any], core: int = 2) -> Any:
    """Concatenate blocks of rows, or vectors if `core` is 1; batch axes broadcast."""
    batch = np.broadcast_shapes(*(p._array.shape[:-core] for p in parts))
    return s.concat(*(broadcast_batch(p, batch, core) for p in parts), axis=-core)


class LinearOperatorKronecker(CompositeOperator):
    """Kronecker product of operators."""

    def __init__(
        self,
        operators: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ) -> None:
        """Store the operators."""
        found = self._operators = check_operators(operators, "LinearOperatorKronecker")
        super().__init__(
            found[0].dtype,
            **hint_arguments(
                combine_hints(found, "is_non_singular", is_non_singular),
                combine_hints(found, "is_self_adjoint", is_self_adjoint),
                combine_hints(found, "is_positive_definite", is_positive_definite),
                is_square,
                name or "_x_".join(op.name for op in found),
            ),
        )

    def _shape_tuple(self) -> tuple[int, ...]:
        rows = int(np.prod([op.range_dimension for op in self._operators]))
        columns = int(np.prod([op.domain_dimension for op in self._operators]))
        return (*common_batch_shape(self._operators), rows, columns)

    def _check_square(self, what: str) -> None:
        for op in self._operators:
            op._check_square(what)

    def _apply_factors(self, x: Any, adjoint: bool, divide: bool) -> Any:
        """Multiply or divide by each factor along its part of the row axis."""
        x = broadcast_batch(x, self._shape_tuple()[:-2], 2)
        lead, width = x._array.shape[:-2], x._array.shape[-1]
        from_range = adjoint != divide
        sizes = [op._shape_tuple()[-2 if from_range else -1] for op in self._operators]
        for k, op in enumerate(self._operators):
            before, after = int(np.prod(sizes[:k])), int(np.prod(sizes[k + 1 :]))
            n, b = sizes[k], len(lead)
            rank = b + 2 if k == 0 else b + 4
            x = s.reshape(x, shape=(*lead, before, n, after, width), rank=rank)
            x = s.permute_axes(x, (*range(b), b + 1, b, b + 2, b + 3))
            x = s.reshape(x, shape=(*lead, n, before * after * width), rank=b + 4)
            x = op._solve(x, adjoint) if divide else op._matmul(x, adjoint)
            sizes[k] = m = x._array.shape[-2]
            x = s.reshape(x, shape=(*lead, m, before, after, width), rank=b + 2)
            x = s.permute_axes(x, (*range(b), b + 1, b, b + 2, b + 3))
        rows = int(np.prod(sizes))
        return s.reshape(x, shape=(*lead, rows, width), rank=len(lead) + 4)

    def _matmul(self, x: Any, adjoint: bool) -> Any:
        return self._apply_factors(x, adjoint, False)

    def _solve(self, x: Any, adjoint: bool) -> Any:
        return self._apply_factors(x, adjoint, True)

    def _diag_part(self) -> Any:
        if not all(op.is_square for op in self._operators):
            return super()._diag_part()

        def outer(a: Any, b: Any) -> Any:
            n, m = a._array.shape[-1], b._array.shape[-1]
            left = s.reshape(a, shape=(*a._array.shape, 1), rank=a._array.ndim)
            right = s.reshape(b, shape=(*b._array.shape[:-1], 1, m), rank=b._array.ndim)
            both = e.multiply(left, right)
            lead = both._array.shape[:-2]
            return s.reshape(both, shape=(*lead, n * m), rank=both._array.ndim)

        return reduce(outer, (op._diag_part() for op in self._operators))

    def _log_abs_determinant(self) -> Any:
        n = self._shape_tuple()[-1]
        return sum_terms(
            op._log_abs_determinant() * (n // op.domain_dimension) for op in self._operators
        )

    def _determinant(self) -> Any:
        n = self._shape_tuple()[-1]
        powers = (op._determinant() ** (n // op.domain_dimension) for op in self._operators)
        return reduce(e.multiply, powers)

    def _inverse(self) -> LinearOperator:
        return LinearOperatorKronecker([op.inverse() for op in self._operators])

    def _adjoint(self) -> LinearOperator:
        return LinearOperatorKronecker([op.adjoint() for op in self._operators])

    def _cholesky(self) -> LinearOperator:
        return LinearOperatorKronecker([op.cholesky() for op in self._operators])


class LinearOperatorBlockDiag(CompositeOperator):
    """Block diagonal matrix with operators as blocks."""

    def __init__(
        self,
        operators: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        name: str | None = None,
    ) -> None:
        """Store the operators."""
        found = self._operators = check_operators(operators, "LinearOperatorBlockDiag")
        super().__init__(
            found[0].dtype,
            **hint_arguments(
                combine_hints(found, "is_non_singular", is_non_singular),
                combine_hints(found, "is_self_adjoint", is_self_adjoint),
                combine_hints(found, "is_positive_definite", is_positive_definite),
                None if all(op.is_square for op in found) else is_square,
                name,
            ),
        )

    def _shape_tuple(self) -> tuple[int, ...]:
        rows = sum(op.range_dimension for op in self._operators)
        return (
            *common_batch_shape(self._operators),
            rows,
            sum(op.domain_dimension for op in self._operators),
        )

    def _matmul(self, x: Any, adjoint: bool) -> Any:
        sizes = [op._shape_tuple()[-2 if adjoint else -1] for op in self._operators]
        parts = zip(self._operators, split_rows(x, sizes), strict=True)
        return concat_blocks([op._matmul(part, adjoint) for op, part in parts])

    def _solve(self, x: Any, adjoint: bool) -> Any:
        sizes = [op._shape_tuple()[-1] for op in self._operators]
        parts = zip(self._operators, split_rows(x, sizes), strict=True)
        return concat_blocks([op._solve(part, adjoint) for op, part in parts])

    def _diag_part(self) -> Any:
        if not all(op.is_square for op in self._operators):
            return super()._diag_part()
        return concat_blocks([op._diag_part() for op in self._operators], core=1)

    def _log_abs_determinant(self) -> Any:
        return sum_terms(op._log_abs_determinant() for op in self._operators)

    def _determinant(self) -> Any:
        return reduce(e.multiply, (op._determinant() for op in self._operators))

    def _inverse(self) -> LinearOperator:
        return LinearOperatorBlockDiag([op.inverse() for op in self._operators])

    def _adjoint(self) -> LinearOperator:
        return LinearOperatorBlockDiag([op.adjoint() for op in self._operators])

    def _cholesky(self) -> LinearOperator:
        return LinearOperatorBlockDiag([op.cholesky() for op in self._operators])


class LinearOperatorBlockLowerTriangular(CompositeOperator):
    """Block lower triangular matrix; row i of `operators` has i + 1 operators."""

    def __init__(
        self,
        operators: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = "LinearOperatorBlockLowerTriangular",
    ) -> None:
        """Store the operators, after a check of their sizes."""
        rows = self._rows = [list(row) for row in operators]
        if not rows or any(len(row) != i + 1 for i, row in enumerate(rows)):
            raise ValueError(
                "LinearOperatorBlockLowerTriangular: row i must have i + 1 operators. Received "
                f"rows of {[len(row) for row in rows]}."
            )
        self._operators = check_operators(
            [op for row in rows for op in row], "LinearOperatorBlockLowerTriangular"
        )
        for row in rows:
            for j, op in enumerate(row):
                wanted = (row[-1].range_dimension, rows[j][j].domain_dimension)
                if (op.range_dimension, op.domain_dimension) != wanted:
                    raise ValueError(
                        f"LinearOperatorBlockLowerTriangular: expected a block of shape {wanted}. "
                        f"Received {op.shape}."
                    )
        regular = combine_hints([row[-1] for row in rows], "is_non_singular", is_non_singular)
        super().__init__(
            self._operators[0].dtype,
            **hint_arguments(regular, is_self_adjoint, is_positive_definite, is_square, name),
        )

    @property
    def operators(self) -> Any:
        """The rows of operators."""
        return self._rows

    def _shape_tuple(self) -> tuple[int, ...]:
        heights = sum(row[-1].range_dimension for row in self._rows)
        widths = sum(row[-1].domain_dimension for row in self._rows)
        return (*common_batch_shape(self._operators), heights, widths)

    def _matmul(self, x: Any, adjoint: bool) -> Any:
        rows, count = self._rows, len(self._rows)
        parts = split_rows(x, [row[-1]._shape_tuple()[-2 if adjoint else -1] for row in rows])
        if adjoint:
            sums = [
                sum_terms(rows[i][j]._matmul(parts[i], True) for i in range(j, count))
                for j in range(count)
            ]
        else:
            sums = [
                sum_terms(op._matmul(part, False) for op, part in zip(row, parts, strict=False))
                for row in rows
            ]
        return concat_blocks(sums)

    def _solve(self, x: Any, adjoint: bool) -> Any:
        rows, count = self._rows, len(self._rows)
        parts = split_rows(x, [row[-1].domain_dimension for row in rows])
        found: dict[int, Any] = {}
        for i in reversed(range(count)) if adjoint else range(count):
            rest = parts[i]
            for j, known in found.items():
                block = rows[j][i] if adjoint else rows[i][j]
                rest = e.subtract(rest, block._matmul(known, adjoint))
            found[i] = rows[i][i]._solve(rest, adjoint)
        return concat_blocks([found[i] for i in range(count)])

    def _diag_part(self) -> Any:
        if not all(row[-1].is_square for row in self._rows):
            return super()._diag_part()
        return concat_blocks([row[-1]._diag_part() for row in self._rows], core=1)

    def _log_abs_determinant(self) -> Any:
        return sum_terms(row[-1]._log_abs_determinant() for row in self._rows)

    def _determinant(self) -> Any:
        return reduce(e.multiply, (row[-1]._determinant() for row in self._rows))
