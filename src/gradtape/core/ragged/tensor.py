"""RaggedTensor: rows of different length, held as flat values and the places where rows begin."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from gradtape.core import dtypes
from gradtape.core.composite_tensor import CompositeTensor
from gradtape.core.convert import convert
from gradtape.core.ragged.row_partition import Handed, RowPartition, as_splits_dtype
from gradtape.core.ragged.spec import RaggedTensorSpec
from gradtape.core.shapes import TensorShape
from gradtape.core.tensor import EagerTensor, Tensor, TensorLike


class RaggedTensor(TensorLike, CompositeTensor):
    """A tensor some of whose axes have slices of different length; made by one of its factories.

    It is made of `values` and a partition of them into rows. The values may be ragged again; the
    innermost are the `flat_values`, an ordinary tensor through which gradients flow.

    Example:
        >>> rows = tf.RaggedTensor.from_row_lengths([1, 2, 3, 4], [3, 0, 1])
        >>> rows
        <tf.RaggedTensor [[1, 2, 3], [], [4]]>
        >>> tf.reduce_sum(rows * 2, axis=1).numpy()
        array([12,  0,  8], dtype=int32)
    """

    def __init__(self, values: Any, row_partition: Any, internal: Any = False) -> None:
        """Refuse, but for the factories."""
        if internal is not Handed:
            raise ValueError(
                "RaggedTensor constructor is private; please use one of the factory methods "
                "instead (e.g., RaggedTensor.from_row_lengths())."
            )
        self._values: Any = values
        self._partition: RowPartition = row_partition

    if TYPE_CHECKING:  # handed down by gradtape.tf, as those of Tensor

        def __add__(self, other: Any) -> RaggedTensor: ...
        def __sub__(self, other: Any) -> RaggedTensor: ...
        def __mul__(self, other: Any) -> RaggedTensor: ...
        def __truediv__(self, other: Any) -> RaggedTensor: ...
        def __rsub__(self, other: Any) -> RaggedTensor: ...
        def __neg__(self) -> RaggedTensor: ...

    # -- factories ---------------------------------------------------------------------------------

    @classmethod
    def from_row_splits(
        cls, values: Any, row_splits: Any, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Rows that begin and end where `row_splits` say."""
        return Handed.home().divided(values, "from_row_splits", validate, row_splits)

    @classmethod
    def from_row_lengths(
        cls, values: Any, row_lengths: Any, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Rows that are this long."""
        return Handed.home().divided(values, "from_row_lengths", validate, row_lengths)

    @classmethod
    def from_value_rowids(
        cls,
        values: Any,
        value_rowids: Any,
        nrows: Any = None,
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """`nrows` rows, to which values belong by number; up to the last number if None."""
        return Handed.home().divided(values, "from_value_rowids", validate, value_rowids, nrows)

    @classmethod
    def from_row_starts(
        cls, values: Any, row_starts: Any, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Rows that begin here."""
        return Handed.home().divided(values, "from_row_starts", validate, row_starts)

    @classmethod
    def from_row_limits(
        cls, values: Any, row_limits: Any, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Rows that end here."""
        return Handed.home().divided(values, "from_row_limits", validate, row_limits)

    @classmethod
    def from_uniform_row_length(
        cls,
        values: Any,
        uniform_row_length: Any,
        nrows: Any = None,
        validate: bool = True,
        name: str | None = None,
    ) -> RaggedTensor:
        """Rows of one length; `nrows` is needed only if that is zero."""
        given = (uniform_row_length, nrows)
        return Handed.home().divided(values, "from_uniform_row_length", validate, *given)

    @classmethod
    def from_nested_row_splits(
        cls,
        flat_values: Any,
        nested_row_splits: Any,
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """Rows of rows, given by splits from the outside in."""
        given = (flat_values, nested_row_splits)
        return Handed.home().divided_often("from_row_splits", validate, *given)

    @classmethod
    def from_nested_row_lengths(
        cls,
        flat_values: Any,
        nested_row_lengths: Any,
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """Rows of rows, given by lengths from the outside in."""
        given = (flat_values, nested_row_lengths)
        return Handed.home().divided_often("from_row_lengths", validate, *given)

    @classmethod
    def from_nested_value_rowids(
        cls,
        flat_values: Any,
        nested_value_rowids: Any,
        nested_nrows: Any = None,
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """Rows of rows, given by the numbers of rows from the outside in."""
        given = (flat_values, nested_value_rowids, nested_nrows)
        return Handed.home().divided_often("from_value_rowids", validate, *given)

    @classmethod
    def from_tensor(
        cls,
        tensor: Any,
        lengths: Any = None,
        padding: Any = None,
        ragged_rank: int = 1,
        name: str | None = None,
        row_splits_dtype: Any = dtypes.int64,
    ) -> RaggedTensor:
        """The rows of a tensor, cut to `lengths` or before the `padding` at their end."""
        given = (lengths, padding, ragged_rank, row_splits_dtype)
        return Handed.home().from_tensor(tensor, *given)

    @classmethod
    def from_sparse(
        cls, st_input: Any, name: str | None = None, row_splits_dtype: Any = dtypes.int64
    ) -> RaggedTensor:
        """The rows of a sparse matrix, each of which is full up to some place."""
        return Handed.home().from_sparse(st_input, row_splits_dtype)

    # -- parts -------------------------------------------------------------------------------------

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
        """How many axes are given by row splits."""
        return 1 + (self._values.ragged_rank if isinstance(self._values, RaggedTensor) else 0)

    @property
    def values(self) -> Any:
        """What is divided into rows: a tensor, or ragged rows again."""
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
        """Where the outermost rows begin; at last, where the last one ends."""
        return self._partition._splits

    @property
    def nested_row_splits(self) -> tuple[Tensor, ...]:
        """The row splits of all ragged axes, from the outside in."""
        return tuple(partition._splits for partition in self._nested_row_partitions)

    @property
    def uniform_row_length(self) -> Tensor | None:
        """The length of all rows, if they were made to have one."""
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

    def value_rowids(self, name: str | None = None) -> Tensor:
        """For each value the number of its row."""
        return self._partition.value_rowids()

    def nested_value_rowids(self, name: str | None = None) -> tuple[Tensor, ...]:
        """The numbers of the rows of all ragged axes, from the outside in."""
        return tuple(partition.value_rowids() for partition in self._nested_row_partitions)

    def nrows(self, out_type: Any = None, name: str | None = None) -> Tensor:
        """The number of rows."""
        rows = self._partition.nrows()
        return rows if out_type is None else Handed.home().cast(rows, out_type)

    def row_starts(self, name: str | None = None) -> Tensor:
        """Where rows begin."""
        return self._partition.row_starts()

    def row_limits(self, name: str | None = None) -> Tensor:
        """Where rows end."""
        return self._partition.row_limits()

    def row_lengths(self, axis: int = 1, name: str | None = None) -> Any:
        """How long the rows of `axis` are."""
        return Handed.home().row_lengths(self, axis)

    def nested_row_lengths(self, name: str | None = None) -> tuple[Tensor, ...]:
        """How long the rows of all ragged axes are, from the outside in."""
        return tuple(partition.row_lengths() for partition in self._nested_row_partitions)

    def bounding_shape(
        self, axis: Any = None, name: str | None = None, out_type: Any = None
    ) -> Tensor:
        """The shape of the smallest dense tensor that holds this one; or its sizes at `axis`."""
        return Handed.home().bounding_shape(self, axis, out_type)

    # -- the same with something else --------------------------------------------------------------

    def with_values(self, new_values: Any) -> RaggedTensor:
        """Other values in the same rows."""
        return Handed.home().with_values(self, new_values)

    def with_flat_values(self, new_values: Any) -> RaggedTensor:
        """Other innermost values in the same rows."""
        return Handed.home().with_flat_values(self, new_values)

    def with_row_splits_dtype(self, dtype: Any) -> RaggedTensor:
        """The same with row splits of `dtype`, int32 or int64."""
        kind = as_splits_dtype(dtype)
        sizes = [partition._uniform for partition in self._nested_row_partitions]
        splits = [Handed.home().cast(splits, kind) for splits in self.nested_row_splits]
        return nested(self.flat_values, splits, sizes)

    def merge_dims(self, outer_axis: int, inner_axis: int) -> Any:
        """The axes from `outer_axis` to `inner_axis` as one."""
        return Handed.home().merge_dims(self, outer_axis, inner_axis)

    def to_tensor(
        self, default_value: Any = None, name: str | None = None, shape: Any = None
    ) -> Tensor:
        """A dense tensor, with `default_value` where rows are too short.

        Args:
            default_value: zero, or an empty string, if None.
            name: accepted for TensorFlow's sake.
            shape: sizes to cut or fill to; None in it for the longest row.
        """
        return Handed.home().to_tensor(self, default_value, shape)

    def to_sparse(self, name: str | None = None) -> Any:
        """A sparse tensor with the elements of each row at its beginning."""
        return Handed.home().to_sparse(self)

    def __getitem__(self, key: Any) -> Any:
        """Rows by number; rows and what is in them by slices, `...` and None."""
        return Handed.home().getitem(self, key)

    # -- out of the library ------------------------------------------------------------------------

    def numpy(self) -> Any:
        """An array; of rows that differ in length, an array of arrays."""
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
        """Nested lists of Python's numbers and strings."""
        if not isinstance(self.row_splits, EagerTensor):
            raise ValueError("RaggedTensor.to_list can only be used in eager mode.")
        values = self._values
        flat = values.to_list() if isinstance(values, RaggedTensor) else values._array.tolist()
        splits = self.row_splits._array.tolist()
        return [flat[a:b] for a, b in itertools.pairwise(splits)]

    def consumers(self) -> list[Any]:
        """Nobody: eager tensors do not know who used them."""
        return []

    def __bool__(self) -> NoReturn:
        """Refuse."""
        raise TypeError("RaggedTensor may not be used as a boolean.")

    def __hash__(self) -> int:
        """Refuse: equality is elementwise."""
        raise TypeError("RaggedTensor is unhashable.")

    def __repr__(self) -> str:
        """The rows; while a function is traced, the parts."""
        if not isinstance(self.row_splits, EagerTensor):
            return f"tf.RaggedTensor(values={self._values!s}, row_splits={self.row_splits!s})"
        with np.printoptions(formatter={"all": written}):
            return f"<tf.RaggedTensor {written(self.numpy())}>"


def written(item: Any) -> str:
    """An array, or an element of one, with commas."""
    if not isinstance(item, np.ndarray):
        return str(item)
    return np.array2string(item, separator=", ") if item.size else repr(item.tolist())


def rows_of(values: Any, splits: Tensor, uniform: int | None = None) -> RaggedTensor:
    """Values in rows; `uniform` is the length of all of them, if they were made to have one."""
    return RaggedTensor(values, RowPartition(splits, uniform, internal=Handed), internal=Handed)


def nested(flat: Any, splits: Sequence[Tensor], sizes: Sequence[int | None] = ()) -> Any:
    """Values in rows of rows, from the outside in; without splits, the values themselves."""
    lengths = list(sizes) or [None] * len(splits)
    for one, uniform in zip(reversed(splits), reversed(lengths), strict=True):
        flat = rows_of(flat, one, uniform)
    return flat


def as_values(value: Any, dtype: Any = None, hint: Any = None) -> Any:
    """A ragged tensor as it is; anything else as a tensor."""
    if isinstance(value, RaggedTensor):
        if dtype is not None and value.dtype is not dtypes.as_dtype(dtype):
            raise ValueError(
                f"Tensor conversion requested dtype {dtypes.as_dtype(dtype).name} for RaggedTensor "
                f"with dtype {value.dtype.name}: {value}. Cast it first."
            )
        return value
    return convert(value, dtype, hint)


def is_ragged(value: Any) -> bool:
    """Whether a value is ragged."""
    return isinstance(value, RaggedTensor)
