"""RaggedTensorSpec: the static description of a RaggedTensor."""

from __future__ import annotations

from typing import Any

from gradtape.core import dtypes
from gradtape.core.errors import public
from gradtape.core.shapes import TensorShape
from gradtape.core.spec import TensorSpec, TypeSpec


class RaggedTensorSpec(TypeSpec):
    """The shape, dtype and number of ragged axes of a RaggedTensor.

    Args:
        shape: the sizes; None for ragged axes.
        dtype: the element type.
        ragged_rank: the number of ragged axes; all but one if None. A spec with 0 describes plain
            tensors.
        row_splits_dtype: int32 or int64.
        flat_values_spec: the spec of the flat values, if they are not a plain tensor.
    """

    __slots__ = ("_dtype", "_flat_values_spec", "_ragged_rank", "_row_splits_dtype", "_shape")

    @public
    def __init__(
        self,
        shape: Any = None,
        dtype: Any = dtypes.float32,
        ragged_rank: int | None = None,
        row_splits_dtype: Any = dtypes.int64,
        flat_values_spec: Any = None,
    ) -> None:
        self._shape = TensorShape(shape)
        self._row_splits_dtype = dtypes.as_dtype(row_splits_dtype)
        if flat_values_spec is not None:
            dtype = flat_values_spec.dtype if dtype is None else dtype
        self._dtype = dtypes.as_dtype(dtype)
        self._flat_values_spec = flat_values_spec
        rank = self._shape.rank
        if ragged_rank is None:
            if rank is None:
                raise ValueError(
                    "RaggedTensorSpec: ragged_rank is needed if the rank of shape is unknown. "
                    "Pass ragged_rank or a shape of known rank."
                )
            ragged_rank = rank - 1
        if rank is not None and ragged_rank >= max(rank, 1):
            raise ValueError(
                f"RaggedTensorSpec: Argument `ragged_rank` ({ragged_rank}) must be less than "
                f"rank ({rank})."
            )
        self._ragged_rank = ragged_rank

    @classmethod
    @public
    def from_value(cls, value: Any) -> RaggedTensorSpec:
        """The spec of a RaggedTensor.

        Args:
            value: a `RaggedTensor`.

        Returns:
            A new `RaggedTensorSpec`.
        """
        if not hasattr(type(value), "_nested_row_partitions"):
            raise TypeError(f"value must be a RaggedTensor. Received {value!r:.60}.")
        spec: RaggedTensorSpec = value._type_spec
        return spec

    @property
    def shape(self) -> TensorShape:
        """The shape; sizes of ragged axes are unknown."""
        return self._shape

    @property
    def dtype(self) -> dtypes.DType:
        """The element type."""
        return self._dtype

    @property
    def ragged_rank(self) -> int:
        """The number of ragged axes."""
        return self._ragged_rank

    @property
    def row_splits_dtype(self) -> dtypes.DType:
        """The dtype of the row splits."""
        return self._row_splits_dtype

    @property
    def flat_values_spec(self) -> Any:
        """The spec of the flat values, if they are not a plain tensor."""
        return self._flat_values_spec

    @property
    def value_type(self) -> Any:
        """The class RaggedTensor; Tensor if no axis is ragged."""
        from gradtape.core.ragged.tensor import RaggedTensor
        from gradtape.core.tensor import Tensor

        return RaggedTensor if self._ragged_rank else Tensor

    @property
    def _component_specs(self) -> list[TensorSpec]:
        rank, depth = self._shape.rank, self._ragged_rank
        if rank is None:
            flat = TensorShape(None)
        else:
            flat = TensorShape([None, *self._shape[depth + 1 :]]) if depth else self._shape
        rows = self._shape[0] if rank else None
        splits = [None if rows is None else rows + 1] + [None] * (depth - 1)
        return [
            TensorSpec(flat, self._dtype),
            *(TensorSpec([n], self._row_splits_dtype) for n in splits[:depth]),
        ]

    def _to_components(self, value: Any) -> Any:
        if not self._ragged_rank:
            return [value]
        return [value.flat_values, *value.nested_row_splits]

    def _from_components(self, components: Any) -> Any:
        from gradtape.core.ragged.conversion import ragged_from_nested_splits

        flat, *splits = components
        sizes = [None] * len(splits)
        if self._shape.rank is not None:
            sizes = self._shape.as_list()[1 : len(splits) + 1]
        return ragged_from_nested_splits(flat, splits, sizes)

    def _serialize(self) -> tuple[Any, ...]:
        parts = (self._shape, self._dtype, self._ragged_rank, self._row_splits_dtype)
        return parts if self._flat_values_spec is None else (*parts, self._flat_values_spec)

    @public
    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether `spec_or_value` is, or describes, a value of this type.

        Args:
            spec_or_value: a spec, or a value such as a ragged tensor.

        Returns:
            True if it is compatible.
        """
        if self._ragged_rank == 0 and not isinstance(spec_or_value, RaggedTensorSpec):
            return TensorSpec(self._shape, self._dtype).is_compatible_with(spec_or_value)
        return super().is_compatible_with(spec_or_value)
