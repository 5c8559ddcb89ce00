"""RowPartition: how values are divided into rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtape.core import dtypes
from gradtape.core.convert import convert
from gradtape.core.tensor import EagerTensor, Tensor


class Handed:
    """What higher layers hand down."""

    home: Callable[[], Any]  # the module with what methods of ragged tensors and partitions do


class RowPartition:
    """How values are divided into rows; made by one of its factories.

    Row `i` of `values` is `values[row_splits()[i] : row_splits()[i + 1]]`.
    """

    __slots__ = ("_splits", "_uniform")

    def __init__(
        self, row_splits: Any, uniform_row_length: int | None = None, internal: Any = False
    ) -> None:
        """Keep the splits, and the length of all rows if there is one."""
        if internal is not Handed:
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
        """Rows that begin and end where `row_splits` say."""
        return made(Handed.home().from_row_splits(row_splits, validate), dtype)

    @classmethod
    def from_row_lengths(
        cls, row_lengths: Any, validate: bool = True, dtype: Any = None, dtype_hint: Any = None
    ) -> RowPartition:
        """Rows that are this long."""
        return made(Handed.home().from_row_lengths(row_lengths, validate), dtype)

    @classmethod
    def from_value_rowids(
        cls,
        value_rowids: Any,
        nrows: Any = None,
        validate: bool = True,
        dtype: Any = None,
        dtype_hint: Any = None,
    ) -> RowPartition:
        """`nrows` rows, to which values belong by number."""
        return made(Handed.home().from_value_rowids(value_rowids, nrows, validate), dtype)

    @classmethod
    def from_row_starts(
        cls,
        row_starts: Any,
        nvals: Any,
        validate: bool = True,
        dtype: Any = None,
        dtype_hint: Any = None,
    ) -> RowPartition:
        """Rows that begin here; the last goes on to `nvals`."""
        return made(Handed.home().from_row_starts(row_starts, nvals, validate), dtype)

    @classmethod
    def from_row_limits(
        cls, row_limits: Any, validate: bool = True, dtype: Any = None, dtype_hint: Any = None
    ) -> RowPartition:
        """Rows that end here."""
        return made(Handed.home().from_row_limits(row_limits, validate), dtype)

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
        """Rows of one length: `nrows` of them, or as many as `nvals` values make."""
        found = Handed.home().from_uniform_row_length(uniform_row_length, nvals, nrows, validate)
        return made(found, dtype)

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
        """The length of all rows, if they were made to have one."""
        return self._uniform

    def is_uniform(self) -> bool:
        """Whether all rows were made to have one length."""
        return self._uniform is not None

    def uniform_row_length(self) -> Tensor | None:
        """The length of all rows, if they were made to have one."""
        return None if self._uniform is None else convert(self._uniform, self.dtype)

    def row_splits(self) -> Tensor:
        """Where rows begin; at last, where the last one ends."""
        return self._splits

    def nrows(self) -> Tensor:
        """The number of rows."""
        return convert(self._splits._array.shape[0] - 1, self.dtype)

    def nvals(self) -> Tensor:
        """The number of values."""
        return self._splits[-1]

    def row_starts(self) -> Tensor:
        """Where rows begin."""
        return self._splits[:-1]

    def row_limits(self) -> Tensor:
        """Where rows end."""
        return self._splits[1:]

    def row_lengths(self) -> Tensor:
        """How long rows are."""
        return self._splits[1:] - self._splits[:-1]

    def value_rowids(self) -> Tensor:
        """For each value the number of its row."""
        rowids: Tensor = Handed.home().rowids(self._splits)
        return rowids

    def offsets_in_rows(self) -> Tensor:
        """For each value its place in its row."""
        offsets: Tensor = Handed.home().offsets(self._splits)
        return offsets

    def with_dtype(self, dtype: Any) -> RowPartition:
        """The same rows with splits of `dtype`, int32 or int64."""
        return made(self, dtype)

    def __repr__(self) -> str:
        """The splits; of rows of one length, that."""
        if self._uniform is not None:
            return f"tf.RowPartition(nrows={self.static_nrows}, uniform_row_length={self._uniform})"
        shown = self._splits._array if isinstance(self._splits, EagerTensor) else self._splits
        return f"tf.RowPartition(row_splits={shown})"


def made(partition: Any, dtype: Any) -> RowPartition:
    """A partition with splits of `dtype`, if that is given."""
    if dtype is not None:
        splits = Handed.home().cast(partition._splits, as_splits_dtype(dtype))
        return RowPartition(splits, partition._uniform, internal=Handed)
    found: RowPartition = partition
    return found


def as_splits_dtype(dtype: Any) -> dtypes.DType:
    """A dtype that row splits may have."""
    kind = dtypes.as_dtype(dtype)
    if kind not in (dtypes.int32, dtypes.int64):
        raise ValueError(f"Row splits must have dtype int32 or int64. Received {kind.name}.")
    return kind
