"""RaggedTensor: rows of different lengths, stored as flat values and row splits."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.composite_tensor import CompositeTensor
from gradtape.core.errors import public
from gradtape.core.ports import RaggedPort
from gradtape.core.ragged.constructor import RaggedConstructors
from gradtape.core.ragged.operator import RaggedOperators
from gradtape.core.ragged.row_partition import RowPartition, as_splits_dtype
from gradtape.core.ragged.spec import RaggedTensorSpec
from gradtape.core.shapes import TensorShape
from gradtape.core.tensor import EagerTensor, Tensor, TensorLike


class RaggedTensor(RaggedOperators, TensorLike, CompositeTensor, RaggedConstructors):
    """A tensor with one or more axes whose slices differ in length; use a factory method.

    It consists of `values` and a partition of them into rows. The values may be ragged themselves.
    The innermost values are the `flat_values`, an ordinary tensor through which gradients flow.

    Example:
        >>> rows = tf.RaggedTensor.from_row_lengths([1, 2, 3, 4], [3, 0, 1])
        >>> rows
        <tf.RaggedTensor [[1, 2, 3], [], [4]]>
        >>> tf.reduce_sum(rows * 2, axis=1).numpy()
        array([12,  0,  8], dtype=int32)
    """

    def __init__(self, values: Any, row_partition: Any, internal: Any = False) -> None:
        """For the factory methods only; raises ValueError otherwise."""
        if internal is not RaggedPort:
            raise ValueError(
                "RaggedTensor constructor is private; please use one of the factory methods "
                "instead (e.g., RaggedTensor.from_row_lengths())."
            )
        self._values: Any = values
        self._partition: RowPartition = row_partition

    @property
    def dtype(self) -> dtypes.DType:
        """The element type."""
        return self.flat_values.dtype

    @property
    def shape(self) -> TensorShape:
        """The shape; sizes of ragged axes are unknown."""
        inner = self._values.shape
        if inner.rank is None:
            return inner
        partition = self._partition
        sizes = [partition.static_nrows, partition.static_uniform_row_length]
        return TensorShape([*sizes, *inner.as_list()[1:]])

    def get_shape(self) -> TensorShape:
        """The shape, as a method."""
        return self.shape

    @property
    def ragged_rank(self) -> int:
        """The number of ragged axes."""
        return 1 + (self._values.ragged_rank if isinstance(self._values, RaggedTensor) else 0)

    @property
    def values(self) -> Any:
        """The concatenated rows: a tensor, or a RaggedTensor again."""
        return self._values

    @property
    def flat_values(self) -> Tensor:
        """The innermost values."""
        values = self._values
        while isinstance(values, RaggedTensor):
            values = values._values
        flat: Tensor = values
        return flat

    @property
    def row_splits(self) -> Tensor:
        """The start of each outermost row, followed by the end of the last row."""
        return self._partition._splits

    @property
    def nested_row_splits(self) -> tuple[Tensor, ...]:
        """The row splits of all ragged axes, outermost first."""
        return tuple(partition._splits for partition in self._nested_row_partitions)

    @property
    def uniform_row_length(self) -> Tensor | None:
        """The uniform row length, or None."""
        return self._partition.uniform_row_length()

    @property
    def _nested_row_partitions(self) -> tuple[RowPartition, ...]:
        found: list[RowPartition] = []
        values: Any = self
        while isinstance(values, RaggedTensor):
            found.append(values._partition)
            values = values._values
        return tuple(found)

    @property
    def _type_spec(self) -> RaggedTensorSpec:
        return RaggedTensorSpec(self.shape, self.dtype, self.ragged_rank, self.row_splits.dtype)

    @public
    def value_rowids(self, name: str | None = None) -> Tensor:
        """The row number of each value.

        Args:
            name: ignored.

        Returns:
            An integer vector with an entry for each value.
        """
        return self._partition.value_rowids()

    @public
    def nested_value_rowids(self, name: str | None = None) -> tuple[Tensor, ...]:
        """The row numbers of all ragged axes, outermost first.

        Args:
            name: ignored.

        Returns:
            A tuple of integer vectors.
        """
        return tuple(partition.value_rowids() for partition in self._nested_row_partitions)

    @public
    def nrows(self, out_type: Any = None, name: str | None = None) -> Tensor:
        """The number of rows.

        Args:
            out_type: dtype of the result; that of the row splits if None.
            name: ignored.

        Returns:
            A scalar integer tensor.
        """
        rows = self._partition.nrows()
        return rows if out_type is None else RaggedPort.method_module().cast(rows, out_type)

    @public
    def row_starts(self, name: str | None = None) -> Tensor:
        """The start of each row.

        Args:
            name: ignored.

        Returns:
            An integer vector: the position in `values` of the first value of each row.
        """
        return self._partition.row_starts()

    @public
    def row_limits(self, name: str | None = None) -> Tensor:
        """The end of each row.

        Args:
            name: ignored.

        Returns:
            An integer vector: the position in `values` after the last value of each row.
        """
        return self._partition.row_limits()

    @public
    def row_lengths(self, axis: int = 1, name: str | None = None) -> Any:
        """The lengths of the rows along `axis`.

        Args:
            axis: a ragged axis, counted from 1.
            name: ignored.

        Returns:
            An integer vector; a ragged tensor if `axis` is greater than 1.

        >>> print(tf.ragged.constant([[1, 2], [], [3]]).row_lengths().numpy())
        [2 0 1]
        """
        return RaggedPort.method_module().row_lengths(self, axis)

    @public
    def nested_row_lengths(self, name: str | None = None) -> tuple[Tensor, ...]:
        """The row lengths of all ragged axes, outermost first.

        Args:
            name: ignored.

        Returns:
            A tuple of integer vectors.
        """
        return tuple(partition.row_lengths() for partition in self._nested_row_partitions)

    @public
    def bounding_shape(
        self, axis: Any = None, name: str | None = None, out_type: Any = None
    ) -> Tensor:
        """The shape of the smallest dense tensor that holds this one, or its sizes at `axis`.

        Args:
            axis: an axis or a list of axes; None for all.
            name: ignored.
            out_type: dtype of the result; that of the row splits if None.

        Returns:
            A vector of sizes, or a scalar if `axis` is one integer.
        """
        return RaggedPort.method_module().bounding_shape(self, axis, out_type)

    @public
    def with_values(self, new_values: Any) -> RaggedTensor:
        """A ragged tensor with the same rows and other values.

        Args:
            new_values: a tensor or ragged tensor with as many entries as `values`.

        Returns:
            A new `RaggedTensor`.
        """
        return RaggedPort.method_module().with_values(self, new_values)

    @public
    def with_flat_values(self, new_values: Any) -> RaggedTensor:
        """A ragged tensor with the same rows and other innermost values.

        Args:
            new_values: a tensor with as many entries as `flat_values`.

        Returns:
            A new `RaggedTensor`.
        """
        return RaggedPort.method_module().with_flat_values(self, new_values)

    @public
    def with_row_splits_dtype(self, dtype: Any) -> RaggedTensor:
        """This tensor with row splits of `dtype`, int32 or int64.

        Args:
            dtype: `tf.int32` or `tf.int64`.

        Returns:
            A `RaggedTensor`.
        """
        kind = as_splits_dtype(dtype)
        sizes = [partition._uniform for partition in self._nested_row_partitions]
        splits = [
            RaggedPort.method_module().cast(splits, kind) for splits in self.nested_row_splits
        ]
        from gradtape.core.ragged.conversion import ragged_from_nested_splits

        return ragged_from_nested_splits(self.flat_values, splits, sizes)

    @public
    def merge_dims(self, outer_axis: int, inner_axis: int) -> Any:
        """Merge the axes from `outer_axis` to `inner_axis` into one.

        Args:
            outer_axis: the first axis to merge.
            inner_axis: the last axis to merge.

        Returns:
            A ragged tensor, or a dense one if no ragged axis remains.

        >>> x = tf.ragged.constant([[[1, 2], [3]], [[4]]])
        >>> print(x.merge_dims(0, 1).to_list())
        [[1, 2], [3], [4]]
        """
        return RaggedPort.method_module().merge_dims(self, outer_axis, inner_axis)

    @public
    def to_tensor(
        self, default_value: Any = None, name: str | None = None, shape: Any = None
    ) -> Tensor:
        """A dense tensor, with short rows padded by `default_value`.

        Args:
            default_value: the padding; zero or an empty string if None.
            name: ignored.
            shape: sizes to truncate or pad to; a None in it means the longest row.

        Returns:
            A `Tensor`.

        >>> print(tf.ragged.constant([[1, 2], [3]]).to_tensor().numpy())
        [[1 2]
         [3 0]]
        """
        return RaggedPort.method_module().to_tensor(self, default_value, shape)

    @public
    def to_sparse(self, name: str | None = None) -> Any:
        """A sparse tensor; the elements of each row start at 0.

        Args:
            name: ignored.

        Returns:
            A `SparseTensor`.
        """
        return RaggedPort.method_module().to_sparse(self)

    def __getitem__(self, key: Any) -> Any:
        """Index rows by number; index rows and inner axes by slices, `...` and None."""
        return RaggedPort.method_module().getitem(self, key)

    def numpy(self) -> Any:
        """A NumPy array; an object array of rows if they differ in length.

        Returns:
            A NumPy array.
        """
        if not isinstance(self.row_splits, EagerTensor):
            raise ValueError("RaggedTensor.numpy() is only supported in eager mode.")
        values = np.asarray(self._values.numpy())
        rows = np.split(values, self.row_splits._array[1:-1])
        if len(self.row_splits._array) == 1:
            return np.zeros((0, 0, *values.shape[1:]), values.dtype)
        if len({len(row) for row in rows}) == 1:
            return np.array(rows)
        found = np.empty(len(rows), object)
        found[:] = rows
        return found

    def to_list(self) -> list[Any]:
        """Nested lists of Python numbers and bytes.

        Returns:
            A nested list.
        """
        if not isinstance(self.row_splits, EagerTensor):
            raise ValueError("RaggedTensor.to_list can only be used in eager mode.")
        values = self._values
        flat = values.to_list() if isinstance(values, RaggedTensor) else values.numpy().tolist()
        splits = self.row_splits._array.tolist()
        return [flat[a:b] for a, b in itertools.pairwise(splits)]

    def consumers(self) -> list[Any]:
        """Empty: eager tensors do not record their consumers."""
        return []

    def __hash__(self) -> int:
        """Raise TypeError: `==` compares elements."""
        raise TypeError("RaggedTensor is unhashable.")

    def __repr__(self) -> str:
        """The rows; inside a traced function, the values and row splits."""
        if not isinstance(self.row_splits, EagerTensor):
            return f"tf.RaggedTensor(values={self._values!s}, row_splits={self.row_splits!s})"
        with np.printoptions(formatter={"all": format_rows}):
            return f"<tf.RaggedTensor {format_rows(self.numpy())}>"


def format_rows(item: Any) -> str:
    """Format an array, or an element of one, with commas."""
    if not isinstance(item, np.ndarray):
        return str(item)
    return np.array2string(item, separator=", ") if item.size else repr(item.tolist())


def is_ragged(value: Any) -> bool:
    """Whether a value is a RaggedTensor."""
    return isinstance(value, RaggedTensor)
