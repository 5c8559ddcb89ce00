"""LinearOperatorPermutation: matrices that reorder rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.convert import convert
from gradtape.core.primitive import Spec
from gradtape.core.shape_rule import INT64, with_shape
from gradtape.core.tensor import make_tensor
from gradtape.graph.raw_function import apply_raw
from gradtape.graph.side_effect import side_effect
from gradtape.tf.array.gather import gather
from gradtape.tf.linalg.linear_operator.base import LinearOperator
from gradtape.tf.linalg.linear_operator.matrix import hint_arguments
from gradtape.tf.linalg.linear_operator.operand import (
    broadcast_batch,
)


class LinearOperatorPermutation(LinearOperator):
    """Permutation matrices; row i of a product is row perm[i] of the operand."""

    def __init__(
        self,
        perm: Any,
        dtype: Any = dtypes.float32,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = "LinearOperatorPermutation",
    ) -> None:
        """Store the permutation."""
        if is_non_singular is False or is_square is False:
            raise ValueError("A Permutation operator is always square and non-singular.")
        self._perm = convert(perm)
        if not self._perm.dtype.is_integer:
            raise TypeError(f"perm must be integer dtype. Received {self._perm.dtype.name}.")
        check_permutation(self._perm)
        super().__init__(
            dtype, **hint_arguments(True, is_self_adjoint, is_positive_definite, True, name)
        )

    @property
    def perm(self) -> Any:
        """The permutation."""
        return self._perm

    def _shape_tuple(self) -> tuple[int, ...]:
        shape = tuple(self._perm.shape)
        return (*shape, shape[-1])

    def _matmul(self, x: Any, adjoint: bool) -> Any:
        own = self._perm._array.shape
        lead = np.broadcast_shapes(own[:-1], x._array.shape[:-2])
        x = broadcast_batch(x, lead, 2)
        rows = apply_raw(broadcast_row_order, self._perm, (*lead, own[-1]), adjoint)
        return gather(x, rows, axis=len(lead), batch_dims=len(lead))

    def _solve(self, x: Any, adjoint: bool) -> Any:
        return self._matmul(x, not adjoint)

    def _determinant(self) -> Any:
        return apply_raw(permutation_sign, self._perm, self._dtype.as_numpy_dtype)

    def _log_abs_determinant(self) -> Any:
        return make_tensor(np.zeros(self._shape_tuple()[:-2], self._dtype.as_numpy_dtype)[()])


@side_effect(fails_only=True)
def check_permutation(perm: Any) -> None:
    """Raise unless each row is a permutation of 0 … n - 1."""
    raw = np.asarray(perm._array)
    if raw.ndim < 1 or not (np.sort(raw, axis=-1) == np.arange(raw.shape[-1])).all():
        raise ValueError("Argument `perm` must be a vector of unique integers.")


@with_shape(lambda perm, shape, inverse: Spec((shape, INT64 if inverse else perm.dtype)))
def broadcast_row_order(perm: Any, shape: tuple[int, ...], inverse: bool) -> Any:
    """Broadcast raw permutations, or their inverses, to `shape`."""
    order = np.argsort(perm, axis=-1) if inverse else perm
    return np.broadcast_to(order, shape).copy()


@with_shape(lambda perm, dtype: Spec((perm.shape[:-1], np.dtype(dtype))))
def permutation_sign(perm: Any, dtype: Any) -> Any:
    """Signs of raw permutations."""
    signs = np.linalg.det(np.eye(perm.shape[-1])[perm]).round()
    return np.asarray(signs).astype(dtype)[()]
