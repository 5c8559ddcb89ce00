"""Dtype, shape and hints of a LinearOperator."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.dtypes import DType
from gradtape.core.shapes import TensorShape
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.state.module import Module


class OperatorShape(Module):
    """The part of a LinearOperator that needs only its shape and its hints."""

    _dtype: DType
    _is_non_singular: bool | None
    _is_self_adjoint: bool | None
    _is_positive_definite: bool | None
    _is_square: bool | None

    def _shape_tuple(self) -> tuple[int, ...]:
        raise NotImplementedError(f"{type(self).__name__} must define _dims.")

    @property
    def dtype(self) -> DType:
        """The dtype of the matrix."""
        return self._dtype

    @property
    def shape(self) -> TensorShape:
        """The shape of the matrices, batch dimensions first."""
        return TensorShape(self._shape_tuple())

    @property
    def batch_shape(self) -> TensorShape:
        """The batch dimensions."""
        return TensorShape(self._shape_tuple()[:-2])

    @property
    def tensor_rank(self) -> int:
        """The number of axes, including the batch dimensions."""
        return len(self._shape_tuple())

    @property
    def domain_dimension(self) -> int:
        """The number of columns."""
        return self._shape_tuple()[-1]

    @property
    def range_dimension(self) -> int:
        """The number of rows."""
        return self._shape_tuple()[-2]

    @property
    def is_non_singular(self) -> bool | None:
        """The hint that the matrix is not singular."""
        return self._is_non_singular

    @property
    def is_self_adjoint(self) -> bool | None:
        """The hint that the matrix equals its adjoint."""
        return self._is_self_adjoint

    @property
    def is_positive_definite(self) -> bool | None:
        """The hint that the matrix is positive definite."""
        return self._is_positive_definite

    @property
    def is_square(self) -> bool:
        """Whether the numbers of rows and columns are equal."""
        rows, columns = self._shape_tuple()[-2:]
        return rows == columns

    @property
    def graph_parents(self) -> list[Any]:
        """An empty list."""
        return []

    @property
    def parameters(self) -> dict[str, Any]:
        """The hints."""
        return {
            "is_non_singular": self._is_non_singular,
            "is_self_adjoint": self._is_self_adjoint,
            "is_positive_definite": self._is_positive_definite,
            "is_square": self._is_square,
        }

    def shape_tensor(self, name: str = "shape_tensor") -> Tensor:
        """`shape` as a tensor."""
        return make_tensor(np.array(self._shape_tuple(), np.int32))

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> Tensor:
        """`batch_shape` as a tensor."""
        return make_tensor(np.array(self._shape_tuple()[:-2], np.int32))

    def tensor_rank_tensor(self, name: str = "tensor_rank_tensor") -> Tensor:
        """`tensor_rank` as a tensor."""
        return make_tensor(np.int32(self.tensor_rank))

    def domain_dimension_tensor(self, name: str = "domain_dimension_tensor") -> Tensor:
        """`domain_dimension` as a tensor."""
        return make_tensor(np.int32(self.domain_dimension))

    def range_dimension_tensor(self, name: str = "range_dimension_tensor") -> Tensor:
        """`range_dimension` as a tensor."""
        return make_tensor(np.int32(self.range_dimension))
