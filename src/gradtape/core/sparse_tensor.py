"""SparseTensor: the indices and values of the nonzero elements of a tensor."""

from __future__ import annotations

from typing import Any, NamedTuple

from gradtape.core import dtypes
from gradtape.core.argument import describe
from gradtape.core.composite_tensor import CompositeTensor
from gradtape.core.convert import convert
from gradtape.core.errors import public
from gradtape.core.open_shape import hide_dims
from gradtape.core.ports import RaggedPort
from gradtape.core.shapes import TensorShape
from gradtape.core.spec import TensorSpec, TypeSpec
from gradtape.core.tensor import EagerTensor, Tensor, TensorLike


class SparseTensorValue(NamedTuple):
    """The three parts of a sparse tensor, as NumPy arrays."""

    indices: Any
    values: Any
    dense_shape: Any


class SparseTensor(TensorLike, CompositeTensor):
    """A tensor given by the indices and values of its nonzero elements.

    Args:
        indices: positions of the elements, of shape `(n, rank)` and dtype int64.
        values: the elements, of shape `(n,)`.
        dense_shape: the shape of the tensor, of shape `(rank,)` and dtype int64.

    Raises:
        ValueError: if the shapes do not fit each other.
    """

    @public
    def __init__(self, indices: Any, values: Any, dense_shape: Any) -> None:
        self._indices = convert(indices, dtypes.int64)
        self._values = convert(values)
        self._dense_shape = convert(dense_shape, dtypes.int64)
        self._shape: TensorShape | None = None
        places, count, rank = self._indices.shape, self._values.shape, self._dense_shape.shape
        if places.rank != 2 or count.rank != 1 or rank.rank != 1 or places != [*count, *rank]:
            raise ValueError(
                "SparseTensor: indices, values and dense_shape must have shapes (n, rank), (n,) "
                f"and (rank,). Received {places}, {count} and {rank}."
            )

    @classmethod
    @public
    def from_value(cls, sparse_tensor_value: Any) -> SparseTensor:
        """Convert a SparseTensorValue; a SparseTensor is returned unchanged.

        Args:
            sparse_tensor_value: a `SparseTensorValue` or a `SparseTensor`.

        Returns:
            A `SparseTensor`.
        """
        if isinstance(sparse_tensor_value, SparseTensor):
            return sparse_tensor_value
        if not isinstance(sparse_tensor_value, tuple) or len(sparse_tensor_value) != 3:
            raise TypeError(
                f"Neither a SparseTensor nor SparseTensorValue: {describe(sparse_tensor_value)}. "
                "Use tf.sparse.from_dense for a dense tensor."
            )
        return cls(*sparse_tensor_value)

    @property
    def indices(self) -> Tensor:
        """Indices of the elements, one per row."""
        return self._indices

    @property
    def values(self) -> Tensor:
        """The elements."""
        return self._values

    @property
    def dense_shape(self) -> Tensor:
        """The shape, as a tensor."""
        return self._dense_shape

    @property
    def shape(self) -> TensorShape:
        """The shape, as far as it is known."""
        if self._shape is None:
            self._shape = static_shape_of(self._dense_shape)
        return self._shape

    @public
    def set_shape(self, shape: Any) -> None:
        """Check the shape against `shape`, and fill in unknown sizes.

        Args:
            shape: a shape of the same rank; None for a size that may be anything.
        """
        if not self.shape.is_compatible_with(shape):
            raise ValueError(
                f"SparseTensor's shape {self.shape} is not compatible with supplied shape "
                f"{TensorShape(shape)}."
            )
        self._shape = self.shape.merge_with(shape)

    def get_shape(self) -> TensorShape:
        """The shape, as a method."""
        return self.shape

    @property
    def dtype(self) -> dtypes.DType:
        """The element type."""
        return self._values.dtype

    @public
    def with_values(self, new_values: Any) -> SparseTensor:
        """A sparse tensor with the same indices and other values.

        Args:
            new_values: a vector with as many entries as `values`.

        Returns:
            A new `SparseTensor`.
        """
        return SparseTensor(self._indices, new_values, self._dense_shape)

    def eval(self, feed_dict: Any = None, session: Any = None) -> SparseTensorValue:
        """The parts as NumPy arrays.

        Args:
            feed_dict: ignored.
            session: ignored.

        Returns:
            A `SparseTensorValue` of NumPy arrays.
        """
        parts = (self._indices, self._values, self._dense_shape)
        return SparseTensorValue(*(part.numpy() for part in parts))

    @property
    def _type_spec(self) -> SparseTensorSpec:
        return SparseTensorSpec(self.shape, self.dtype)

    def __mul__(self, other: Any) -> SparseTensor:
        """Multiply the elements by those of a dense tensor."""
        product: SparseTensor = RaggedPort.apply_sparse_operator("__mul__", self, other)
        return product

    def __truediv__(self, other: Any) -> SparseTensor:
        """Divide the elements by those of a dense tensor."""
        quotient: SparseTensor = RaggedPort.apply_sparse_operator("__truediv__", self, other)
        return quotient

    def __repr__(self) -> str:
        """Indices, values and dense shape."""
        return (
            f"SparseTensor(indices={self._indices!s}, values={self._values!s}, "
            f"dense_shape={self._dense_shape!s})"
        )


def static_shape_of(shape: Tensor) -> TensorShape:
    """The static shape of a shape tensor; sizes are unknown where its value is."""
    dims = getattr(shape._array, "dims", None)
    if dims is not None:
        return TensorShape(hide_dims(tuple(dims.flat)))
    if not isinstance(shape, EagerTensor):
        return TensorShape([None] * int(shape.shape[0]))
    return TensorShape(shape._array.tolist())


class SparseTensorSpec(TypeSpec):
    """The shape and dtype of a SparseTensor."""

    __slots__ = ("_dtype", "_shape")

    @public
    def __init__(self, shape: Any = None, dtype: Any = dtypes.float32) -> None:
        """Describe tensors of `shape` and `dtype`."""
        self._shape = TensorShape(shape)
        self._dtype = dtypes.as_dtype(dtype)

    @property
    def shape(self) -> TensorShape:
        """The shape, as far as it is known."""
        return self._shape

    @property
    def dtype(self) -> dtypes.DType:
        """The element type."""
        return self._dtype

    @staticmethod
    @public
    def from_value(value: Any) -> SparseTensorSpec:
        """The spec of a value.

        Args:
            value: a SparseTensor.

        Returns:
            A new `SparseTensorSpec`.
        """
        return SparseTensorSpec(value.shape, value.dtype)

    @property
    def value_type(self) -> Any:
        """The class SparseTensor."""
        return SparseTensor

    @property
    def _component_specs(self) -> Any:
        rank = self._shape.rank
        return [
            TensorSpec([None, rank], dtypes.int64),
            TensorSpec([None], self._dtype),
            TensorSpec([rank], dtypes.int64),
        ]

    def _to_components(self, value: Any) -> Any:
        return [value.indices, value.values, value.dense_shape]

    def _from_components(self, components: Any) -> Any:
        sparse = SparseTensor(*components)
        sparse._shape = sparse.shape.merge_with(self._shape)
        return sparse

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, self._dtype
