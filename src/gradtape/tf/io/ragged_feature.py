"""tf.io.RaggedFeature: features of Examples that become ragged tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from gradtape.core import dtypes
from gradtape.core.argument import describe
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.open_shape import hide_dims
from gradtape.core.primitive import Spec
from gradtape.core.ragged.row_splits import splits_from_lengths, splits_from_rowids
from gradtape.core.ragged.spec import RaggedTensorSpec
from gradtape.core.ragged.tensor import RaggedTensor
from gradtape.core.shape_rule import FRESH, numpy_dtype_of
from gradtape.core.tensor import make_tensor
from gradtape.graph.host_function import CompositeResult


class RowSplits(NamedTuple):
    """Rows by their splits, which another feature holds."""

    key: str


class RowLengths(NamedTuple):
    """Rows by their lengths, which another feature holds."""

    key: str


class RowStarts(NamedTuple):
    """Rows by their starts, which another feature holds."""

    key: str


class RowLimits(NamedTuple):
    """Rows by their ends, which another feature holds."""

    key: str


class ValueRowIds(NamedTuple):
    """Rows by the row of each value, which another feature holds."""

    key: str


class UniformRowLength(NamedTuple):
    """Rows of one length."""

    length: int


PARTITIONS = (RowSplits, RowLengths, RowStarts, RowLimits, ValueRowIds, UniformRowLength)


class RaggedFields(NamedTuple):
    """The fields of a RaggedFeature."""

    dtype: Any
    value_key: str | None
    partitions: tuple[Any, ...]
    row_splits_dtype: dtypes.DType
    validate: bool


class RaggedFeature(RaggedFields):
    """A feature with any number of values in rows of any length, parsed into a RaggedTensor.

    Without partitions, a batch gives a row of values for each example, and a single example a
    vector.

    Args:
        dtype: int64, float32 or string.
        value_key: the feature with the values; the name of this feature if None.
        partitions: how the values form rows, the outermost axis first: objects such as
            `tf.io.RaggedFeature.RowSplits("splits")`.
        row_splits_dtype: int32 or int64.
        validate: has no effect here: partitions are always checked.
    """

    __slots__ = ()
    RowSplits: ClassVar[type[tuple[Any, ...]]] = RowSplits
    RowLengths: ClassVar[type[tuple[Any, ...]]] = RowLengths
    RowStarts: ClassVar[type[tuple[Any, ...]]] = RowStarts
    RowLimits: ClassVar[type[tuple[Any, ...]]] = RowLimits
    ValueRowIds: ClassVar[type[tuple[Any, ...]]] = ValueRowIds
    UniformRowLength: ClassVar[type[tuple[Any, ...]]] = UniformRowLength

    @public
    def __new__(
        cls,
        dtype: Any,
        value_key: str | None = None,
        partitions: Sequence[Any] = (),
        row_splits_dtype: Any = dtypes.int32,
        validate: bool = False,
    ) -> Self:
        """Check the arguments."""
        if value_key is not None and (not isinstance(value_key, str) or not value_key):
            raise ValueError(
                f"RaggedFeature: value_key must be a string. Received {describe(value_key)}."
            )
        kind, splits = dtypes.as_dtype(dtype), dtypes.as_dtype(row_splits_dtype)
        if kind not in (dtypes.int64, dtypes.float32, dtypes.string):
            raise ValueError(
                f"RaggedFeature: dtype must be int64, float32 or string. Received {kind.name}."
            )
        if splits not in (dtypes.int32, dtypes.int64):
            raise ValueError(
                f"RaggedFeature: row_splits_dtype must be int32 or int64. Received {splits.name}."
            )
        if not isinstance(partitions, (list, tuple)):
            raise TypeError(
                f"RaggedFeature: partitions must be a list or tuple. Received {partitions!r:.60}."
            )
        for partition in partitions:
            if not isinstance(partition, PARTITIONS):
                raise TypeError(
                    "RaggedFeature: a partition must be one of RowSplits, RowLengths, RowStarts, "
                    f"RowLimits, ValueRowIds and UniformRowLength. Received {partition!r:.60}."
                )
        return super().__new__(cls, kind, value_key, tuple(partitions), splits, bool(validate))


def count_dense_axes(feature: RaggedFeature) -> int:
    """The number of innermost partitions of one length: these axes are dense."""
    count = 0
    for partition in reversed(feature.partitions):
        if not isinstance(partition, UniformRowLength):
            break
        count += 1
    return count


def describe_ragged_feature(feature: RaggedFeature, lead: tuple[Any, ...]) -> Any:
    """The spec of a RaggedFeature, with `lead` axes in front."""
    dense = count_dense_axes(feature)
    lengths = [p.length for p in feature.partitions[len(feature.partitions) - dense :]]
    rank = len(lead) + len(feature.partitions) - dense
    flat = Spec(((FRESH, *lengths), numpy_dtype_of(feature.dtype)))
    if not rank:
        return flat
    ragged = [None] * (len(feature.partitions) - dense + 1)
    shape = [*hide_dims(lead), *ragged, *lengths]
    spec = RaggedTensorSpec(shape, feature.dtype, rank, feature.row_splits_dtype)
    splits = Spec(((FRESH,), numpy_dtype_of(feature.row_splits_dtype)))
    return CompositeResult(spec, [flat, *[splits] * rank])


def make_ragged_tensor(
    examples: Sequence[Any],
    read: Callable[[Any, str, Any], Any],
    key: str,
    feature: RaggedFeature,
    batch: tuple[Any, ...] | None,
) -> Any:
    """Make the tensor of a RaggedFeature.

    Args:
        examples: a message for each example, or for each step of all sequences.
        read: function of a message, a key and a dtype that returns the values, or None.
        key: the name of the feature.
        feature: its description.
        batch: the numbers of steps of each sequence, if there are sequences; None for one example,
            whose tensor has no axis of examples.
    """
    empty = np.empty(0, feature.dtype.as_numpy_dtype)
    levels: list[list[Any]] = [[np.empty(0, np.int64)] for _ in feature.partitions]
    values, outer = [empty], []
    for example in examples:
        found = read(example, feature.value_key or key, feature.dtype)
        values.append(empty if found is None else found)
        size = len(values[-1])
        for level, partition in reversed(list(enumerate(feature.partitions))):
            is_uniform = isinstance(partition, UniformRowLength)
            given = None if is_uniform else read(example, partition.key, dtypes.int64)
            levels[level].append(find_row_lengths(partition, given, size, key))
            size = len(levels[level][-1])
        outer.append(size)
    lengths = [np.concatenate(rows) for rows in levels]
    if batch is not None:
        lengths = [*batch, np.array(outer, np.int64), *lengths]
    return nest_rows(np.concatenate(values), lengths, feature)


def nest_rows(flat: Any, row_lengths: list[Any], feature: RaggedFeature) -> Any:
    """A tensor or ragged tensor from flat values and the row lengths of each axis."""
    dense = count_dense_axes(feature)
    sizes = [p.length for p in feature.partitions[len(feature.partitions) - dense :]]
    result: Any = make_tensor(flat.reshape((-1, *sizes)) if sizes else flat)
    kind = feature.row_splits_dtype.as_numpy_dtype
    batch_axes = len(row_lengths) - len(feature.partitions)
    partitions = [*[None] * batch_axes, *feature.partitions]
    count = len(row_lengths) - dense
    for lengths, partition in reversed(
        list(zip(row_lengths[:count], partitions[:count], strict=True))
    ):
        if isinstance(partition, UniformRowLength):
            size, nrows = (make_tensor(kind(n)) for n in (partition.length, len(lengths)))
            result = RaggedTensor.from_uniform_row_length(result, size, nrows, validate=False)
        else:
            splits = np.asarray(splits_from_lengths(lengths)).astype(kind)
            result = RaggedTensor.from_row_splits(result, make_tensor(splits), validate=False)
    return result


def find_row_lengths(partition: Any, given: Any, size: int, key: str) -> Any:
    """The lengths of the rows of `size` values, as an array of int64."""
    if isinstance(partition, UniformRowLength):
        if partition.length < 1 or size % partition.length:
            raise_misfit(key, partition, size)
        return np.full(size // partition.length, partition.length, np.int64)
    found = np.empty(0, np.int64) if given is None else np.asarray(given, np.int64)
    if isinstance(partition, RowLengths):
        lengths = found
    elif isinstance(partition, ValueRowIds):
        lengths = np.diff(splits_from_rowids(found, int(found[-1]) + 1 if len(found) else 0))
        if len(found) != size or (np.diff(found) < 0).any():
            raise_misfit(key, partition, size)
    elif isinstance(partition, RowStarts):
        lengths = np.diff([*found, size])
    elif isinstance(partition, RowLimits):
        lengths = np.diff([0, *found])
    else:
        lengths = np.diff(found)
    if (lengths < 0).any() or lengths.sum() != size:
        raise_misfit(key, partition, size)
    return lengths.astype(np.int64)


def raise_misfit(key: str, partition: Any, size: int) -> None:
    """Raise InvalidArgumentError: the rows do not cover the values."""
    raise InvalidArgumentError(
        f"parse_example: the partition {partition} of feature {key} does not divide its {size} "
        "values into rows."
    )
