"""RowPartition: the division of values into rows."""

from __future__ import annotations

from typing import Any

from gradtape.core import dtypes
from gradtape.core.convert import convert
from gradtape.core.ports import RaggedPort
from gradtape.core.tensor import EagerTensor, Tensor


class RowPartition:
    """The division of values into rows; use one of the factory methods.

    Row `i` of `values` is `values[row_splits()[i] : row_splits()[i + 1]]`.
    """

    __slots__ = ("_splits", "_uniform")

    def __init__(
        self, row_splits: Any, uniform_row_length: int | None = None, internal: Any = False
    ) -> None:
        """Store the splits, and the row length if it is uniform."""
        if internal is not RaggedPort:
            raise ValueError(
                "RowPartition constructor is private; please use one of the factory methods "
                "instead (e.g., RowPartition.from_row_lengths())."
            )
        self._splits: Tensor = row_splits
        self._uniform = uniform_row_length

    @classmethod
    def from_row_splits(
        cls, row_splits: Any, validate: bool = True, dtype: Any = None, dtype_hint: Any = None
    ) -> RowPartition:
        """Rows given by `row_splits`.

        Args:
            row_splits: the start of each row, followed by the end of the last one.
            validate: whether to check the argument.
            dtype: int32 or int64, or None.
            dtype_hint: the dtype if none is known.

        Returns:
            A RowPartition.
        """
        return cast_partition(
            RaggedPort.method_module().from_row_splits(row_splits, validate), dtype
        )

    @classmethod
    def from_row_lengths(
        cls, row_lengths: Any, validate: bool = True, dtype: Any = None, dtype_hint: Any = None
    ) -> RowPartition:
        """Rows given by their lengths.

        Args:
            row_lengths: a vector of lengths.
            validate: whether to check the argument.
            dtype: int32 or int64, or None.
            dtype_hint: the dtype if none is known.

        Returns:
            A RowPartition.
        """
        return cast_partition(
            RaggedPort.method_module().from_row_lengths(row_lengths, validate), dtype
        )

    @classmethod
    def from_value_rowids(
        cls,
        value_rowids: Any,
        nrows: Any = None,
        validate: bool = True,
        dtype: Any = None,
        dtype_hint: Any = None,
    ) -> RowPartition:
        """`nrows` rows, given by the row number of each value.

        Args:
            value_rowids: the row number of each value.
            nrows: the number of rows, or None.
            validate: whether to check the argument.
            dtype: int32 or int64, or None.
            dtype_hint: the dtype if none is known.

        Returns:
            A RowPartition.
        """
        return cast_partition(
            RaggedPort.method_module().from_value_rowids(value_rowids, nrows, validate), dtype
        )

    @classmethod
    def from_row_starts(
        cls,
        row_starts: Any,
        nvals: Any,
        validate: bool = True,
        dtype: Any = None,
        dtype_hint: Any = None,
    ) -> RowPartition:
        """Rows given by their starts; the last row ends at `nvals`.

        Args:
            row_starts: the start of each row.
            nvals: the number of values.
            validate: whether to check the argument.
            dtype: int32 or int64, or None.
            dtype_hint: the dtype if none is known.

        Returns:
            A RowPartition.
        """
        return cast_partition(
            RaggedPort.method_module().from_row_starts(row_starts, nvals, validate), dtype
        )

    @classmethod
    def from_row_limits(
        cls, row_limits: Any, validate: bool = True, dtype: Any = None, dtype_hint: Any = None
    ) -> RowPartition:
        """Rows given by their ends.

        Args:
            row_limits: the end of each row.
            validate: whether to check the argument.
            dtype: int32 or int64, or None.
            dtype_hint: the dtype if none is known.

        Returns:
            A RowPartition.
        """
        return cast_partition(
            RaggedPort.method_module().from_row_limits(row_limits, validate), dtype
        )

    @classmethod
    def from_uniform_row_length(
        cls,
        uniform_row_length: Any,
        nvals: Any = None,
        nrows: Any = None,
        validate: bool = True,
        dtype: Any = None,
        dtype_hint: Any = None,
    ) -> RowPartition:
        """Rows of one length: `nrows` rows, or as many as `nvals` values fill.

        Args:
            uniform_row_length: the length of every row.
            nvals: the number of values, or None.
            nrows: the number of rows, or None.
            validate: whether to check the argument.
            dtype: int32 or int64, or None.
            dtype_hint: the dtype if none is known.

        Returns:
            A RowPartition.
        """
        found = RaggedPort.method_module().from_uniform_row_length(
            uniform_row_length, nvals, nrows, validate
        )
        return cast_partition(found, dtype)

    @property
    def dtype(self) -> dtypes.DType:
        """int32 or int64."""
        return self._splits.dtype

    @property
    def static_nrows(self) -> int | None:
        """The number of rows, if it is known."""
        size = self._splits.shape[0]
        return None if size is None else int(size) - 1

    @property
    def static_nvals(self) -> int | None:
        """The number of values, if it is known."""
        return int(self._splits._array[-1]) if isinstance(self._splits, EagerTensor) else None

    @property
    def static_uniform_row_length(self) -> int | None:
        """The uniform row length, or None."""
        return self._uniform

    def is_uniform(self) -> bool:
        """Whether the partition was made with a uniform row length.

        Returns:
            A bool.
        """
        return self._uniform is not None

    def uniform_row_length(self) -> Tensor | None:
        """The uniform row length, or None.

        Returns:
            An integer scalar or None.
        """
        return None if self._uniform is None else convert(self._uniform, self.dtype)

    def row_splits(self) -> Tensor:
        """The start of each row, followed by the end of the last row.

        Returns:
            A vector, one number more than there are rows.
        """
        return self._splits

    def nrows(self) -> Tensor:
        """The number of rows.

        Returns:
            An integer scalar.
        """
        return convert(self._splits._array.shape[0] - 1, self.dtype)

    def nvals(self) -> Tensor:
        """The number of values.

        Returns:
            An integer scalar.
        """
        return self._splits[-1]

    def row_starts(self) -> Tensor:
        """The start of each row.

        Returns:
            A vector, one number for each row.
        """
        return self._splits[:-1]

    def row_limits(self) -> Tensor:
        """The end of each row.

        Returns:
            A vector, one number for each row.
        """
        return self._splits[1:]

    def row_lengths(self) -> Tensor:
        """The length of each row.

        Returns:
            A vector, one number for each row.
        """
        return self._splits[1:] - self._splits[:-1]

    def value_rowids(self) -> Tensor:
        """The row number of each value.

        Returns:
            A vector, one number for each value.
        """
        rowids: Tensor = RaggedPort.method_module().rowids(self._splits)
        return rowids

    def offsets_in_rows(self) -> Tensor:
        """The position of each value in its row.

        Returns:
            A vector, one number for each value.
        """
        offsets: Tensor = RaggedPort.method_module().offsets(self._splits)
        return offsets

    def with_dtype(self, dtype: Any) -> RowPartition:
        """The same rows with splits of `dtype`, int32 or int64.

        Args:
            dtype: int32 or int64.

        Returns:
            A RowPartition.
        """
        return cast_partition(self, dtype)

    def __repr__(self) -> str:
        """The splits, or the number and length of uniform rows."""
        if self._uniform is not None:
            return f"tf.RowPartition(nrows={self.static_nrows}, uniform_row_length={self._uniform})"
        shown = self._splits._array if isinstance(self._splits, EagerTensor) else self._splits
        return f"tf.RowPartition(row_splits={shown})"


def cast_partition(partition: Any, dtype: Any) -> RowPartition:
    """Cast the splits of a partition to `dtype`, if given."""
    if dtype is not None:
        splits = RaggedPort.method_module().cast(partition._splits, as_splits_dtype(dtype))
        return RowPartition(splits, partition._uniform, internal=RaggedPort)
    found: RowPartition = partition
    return found


def as_splits_dtype(dtype: Any) -> dtypes.DType:
    """Convert to a dtype for row splits: int32 or int64."""
    kind = dtypes.as_dtype(dtype)
    if kind not in (dtypes.int32, dtypes.int64):
        raise ValueError(f"Row splits must have dtype int32 or int64. Received {kind.name}.")
    return kind
