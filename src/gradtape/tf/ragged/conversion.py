"""Conversions to ragged tensors: from row partitions of every form, dense and sparse tensors."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.convert import convert, to_dimension_size
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.open_shape import has_dims
from gradtape.core.ports import RaggedPort
from gradtape.core.primitive import Spec
from gradtape.core.ragged import row_splits as rows
from gradtape.core.ragged.conversion import (
    as_ragged_or_tensor,
    ragged_from_nested_splits,
    ragged_from_splits,
)
from gradtape.core.ragged.row_partition import RowPartition, as_splits_dtype
from gradtape.core.ragged.tensor import RaggedTensor
from gradtape.core.shape_rule import FRESH, keep_shape, with_shape
from gradtape.core.sparse_tensor import SparseTensor
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.graph.raw_function import apply_raw, compute_integer
from gradtape.graph.side_effect import side_effect
from gradtape.graph.size_tensor import make_range_tensor, make_scalar_size
from gradtape.ops.elementwise import multiply
from gradtape.tf.array.concat_split import concat
from gradtape.tf.array.gather import gather
from gradtape.tf.array.reshape import reshape
from gradtape.tf.math.cast import cast
from gradtape.tf.math.elementwise import equal
from gradtape.tf.math.reduce import reduce_all


def as_partition_vector(op: str, what: str, value: Any) -> Tensor:
    """Convert to a vector of int64, or of int32 if it has that dtype already."""
    tensor = convert(value, hint=dtypes.int64)
    if tensor.dtype not in (dtypes.int32, dtypes.int64):
        if tensor._array.size:
            raise ValueError(
                f"{op}: {what} must have dtype int32 or int64. Received {tensor.dtype.name}."
            )
        tensor = cast(tensor, dtypes.int64)
    if tensor._array.ndim != 1:
        raise ValueError(f"{op}: {what} must have rank 1. Received shape {tensor.shape}.")
    return tensor


def make_partition(splits: Tensor, uniform: int | None = None) -> RowPartition:
    """Make a RowPartition from splits; `uniform` is the length of all rows, if they share one."""
    return RowPartition(splits, uniform, internal=RaggedPort)


@public
def from_row_splits(row_splits: Any, validate: bool = True) -> RowPartition:
    """Row partition from the boundaries of rows."""
    splits = as_partition_vector("from_row_splits", "row_splits", row_splits)
    if not splits._array.size:
        raise ValueError("from_row_splits: row_splits tensor may not be empty.")
    if validate:
        splits = apply_raw(rows.check_splits, "from_row_splits", splits)
    return make_partition(splits)


@public
def from_row_lengths(row_lengths: Any, validate: bool = True) -> RowPartition:
    """Row partition from the lengths of rows."""
    lengths = as_partition_vector("from_row_lengths", "row_lengths", row_lengths)
    if validate:
        lengths = apply_raw(rows.check_lengths, "from_row_lengths", lengths)
    return make_partition(apply_raw(rows.splits_from_lengths, lengths))


@public
def from_value_rowids(value_rowids: Any, nrows: Any = None, validate: bool = True) -> RowPartition:
    """Partition into `nrows` rows, from the row number of each value."""
    ids = as_partition_vector("from_value_rowids", "value_rowids", value_rowids)
    if validate:
        ids = apply_raw(rows.check_rowids, "from_value_rowids", ids)
    least = compute_integer(count_rows_of_ids, ids)
    count = least if nrows is None else to_dimension_size(nrows)
    if count < 0:
        raise ValueError(f"from_value_rowids: Expected nrows >= 0; got {count}.")
    if count < least:
        raise ValueError(
            f"from_value_rowids: Expected nrows >= value_rowids[-1] + 1; got nrows={count}, "
            f"value_rowids[-1]={least - 1}."
        )
    return make_partition(apply_raw(rows.splits_from_rowids, ids, count))


def count_rows_of_ids(ids: Any) -> int:
    """The least number of rows for sorted raw row ids."""
    return int(ids[-1]) + 1 if ids.size else 0


@public
def from_row_starts(row_starts: Any, nvals: Any, validate: bool = True) -> RowPartition:
    """Row partition from the starts of rows; the last row ends at `nvals`."""
    starts = as_partition_vector("from_row_starts", "row_starts", row_starts)
    end = reshape(convert(nvals, starts.dtype), [1])
    return from_row_splits(concat([starts, end], 0), validate)


@public
def from_row_limits(row_limits: Any, validate: bool = True) -> RowPartition:
    """Row partition from the ends of rows."""
    limits = as_partition_vector("from_row_limits", "row_limits", row_limits)
    zero = convert(np.zeros(1, limits._array.dtype))
    return from_row_splits(concat([zero, limits], 0), validate)


@public
def from_uniform_row_length(
    uniform_row_length: Any, nvals: Any = None, nrows: Any = None, validate: bool = True
) -> RowPartition:
    """Partition into rows of one length: `nrows` rows, or as many as `nvals` values fill."""
    length = convert(uniform_row_length, hint=dtypes.int64)
    size = int(length._array)
    values = None if nvals is None else int(convert(nvals)._array)
    if nrows is None:
        if values is None:
            raise ValueError(
                "from_uniform_row_length: nvals or nrows must be given. Received neither."
            )
        count = values // size if size else 0
    else:
        count = to_dimension_size(nrows)
    if size < 0 or count < 0 or (values is not None and size * count != values):
        raise ValueError(
            f"from_uniform_row_length: uniform_row_length={size} times nrows={count} must equal "
            f"nvals={values}."
        )
    return make_uniform_partition(size, count, length.dtype)


def make_uniform_partition(size: int, count: int, dtype: dtypes.DType) -> RowPartition:
    """Partition into `count` rows of `size` values each; both may be unknown sizes."""
    if has_dims((size, count)):
        kind = dtype.as_numpy_dtype
        ends = make_range_tensor(0, count + 1, 1, np.dtype(kind))
        width = make_scalar_size(size, dtype) if has_dims(size) else kind(size)
        return make_partition(multiply(ends, width), None if has_dims(size) else size)
    return make_partition(
        make_tensor(np.arange(count + 1, dtype=dtype.as_numpy_dtype) * size), size
    )


def cast_splits(ragged: RaggedTensor, dtype: dtypes.DType) -> RaggedTensor:
    """Cast the row splits, unless they already have `dtype`."""
    same = ragged.row_splits.dtype is dtype
    return ragged if same else ragged.with_row_splits_dtype(dtype)


@public
def partition_values(values: Any, factory: str, validate: bool, *given: Any) -> RaggedTensor:
    """Partition values into rows; `given` are the arguments of the partition's `factory`."""
    inside = as_ragged_or_tensor(values)
    count = outer_size_of(inside)
    if factory == "from_row_starts":
        partition = from_row_starts(given[0], count, validate)
    elif factory == "from_uniform_row_length":
        length, nrows = given
        partition = from_uniform_row_length(length, count, nrows, validate)
    else:
        partition = PARTITION_FACTORIES[factory](*given, validate=validate)
    if isinstance(inside, RaggedTensor) and inside.row_splits.dtype is not partition.dtype:
        if partition.dtype is dtypes.int32 and inside.row_splits.dtype is dtypes.int64:
            raise ValueError(
                f"{factory}: row_splits of values and partition must have one dtype. Received "
                "int64 and int32. Use with_row_splits_dtype()."
            )
        inside = inside.with_row_splits_dtype(partition.dtype)
    if factory == "from_value_rowids" and convert(given[0])._array.shape[0] != count:
        raise ValueError(
            f"{factory}: values must be as many as value_rowids. Received {count} values."
        )
    if validate and not partition.is_uniform():
        check_value_count(partition.row_splits(), count, factory)
    return RaggedTensor(inside, partition, internal=RaggedPort)


PARTITION_FACTORIES: dict[str, Any] = {
    "from_row_splits": from_row_splits,
    "from_row_lengths": from_row_lengths,
    "from_value_rowids": from_value_rowids,
    "from_row_limits": from_row_limits,
}


def outer_size_of(values: Any) -> int:
    """The size of the first axis."""
    array = values.row_splits._array if isinstance(values, RaggedTensor) else values._array
    if not array.ndim:
        raise InvalidArgumentError("RaggedTensor: values must have rank >= 1. Received a scalar.")
    size: int = array.shape[0] - isinstance(values, RaggedTensor)
    return size


def total_rank_of(value: Any) -> int:
    """The number of axes."""
    if isinstance(value, RaggedTensor):
        return value.ragged_rank + int(value.flat_values.ndim)
    return int(value.ndim)


@side_effect(fails_only=True)
def check_value_count(splits: Any, count: int, factory: str) -> None:
    """Raise unless the splits end at the number of values."""
    last = int(splits._array[-1])
    if last != count:
        raise InvalidArgumentError(
            f"{factory}: the row partition must cover all values. Received a partition of {last} "
            f"values, and {count} values."
        )


def partition_values_nested(
    factory: str, validate: bool, flat: Any, partitions: Any, counts: Any = None
) -> Any:
    """Partition values into nested rows; `partitions` starts with the outermost axis."""
    if not isinstance(partitions, (list, tuple)):
        raise TypeError(
            "RaggedTensor: nested partitions must be a list with one entry per ragged axis. "
            f"Received {type(partitions).__name__}."
        )
    result = as_ragged_or_tensor(flat)
    sizes = [None] * len(partitions) if counts is None else list(counts)
    if len(sizes) != len(partitions):
        raise ValueError("from_nested_value_rowids: nested_nrows must be as long as the rowids.")
    for partition, count in zip(reversed(partitions), reversed(sizes), strict=True):
        more = (count,) if factory == "from_value_rowids" else ()
        result = partition_values(result, factory, validate, partition, *more)
    return result


@public
def from_tensor(
    tensor: Any,
    lengths: Any = None,
    padding: Any = None,
    ragged_rank: int = 1,
    row_splits_dtype: Any = dtypes.int64,
) -> RaggedTensor:
    """The rows of a tensor, truncated to `lengths` or without their trailing `padding`."""
    dense = convert(tensor)
    kind = as_splits_dtype(row_splits_dtype)
    rank = dense._array.ndim
    if lengths is not None and padding is not None:
        raise ValueError("from_tensor: Specify argument `lengths` or `padding`, but not both.")
    if not isinstance(ragged_rank, int):
        raise TypeError(f"from_tensor: ragged_rank must be an int. Received {ragged_rank!r}.")
    if rank <= 1:
        raise ValueError(
            "from_tensor: The rank of a RaggedTensor must be greater than 1. Received argument "
            f"`tensor` with rank {rank}."
        )
    if not 0 < ragged_rank < rank:
        raise ValueError(
            f"from_tensor: ragged_rank must be greater than 0 and less than {rank}. Received "
            f"{ragged_rank}."
        )
    if isinstance(lengths, (list, tuple)) and lengths and not is_scalar_length(lengths[0]):
        return trim_nested_rows(dense, lengths, kind)
    shape = dense._array.shape
    if ragged_rank > 1:
        merged = reshape(dense, [prod(shape[:ragged_rank]), *shape[ragged_rank:]])
        inside: Any = from_tensor(merged, lengths, padding, 1, kind)
        for axis in range(ragged_rank - 1, 0, -1):
            partition = make_uniform_partition(shape[axis], prod(shape[:axis]), kind)
            inside = RaggedTensor(inside, partition, internal=RaggedPort)
        return inside
    return trim_rows(dense, lengths, padding, kind)


def trim_rows(dense: Tensor, lengths: Any, padding: Any, kind: dtypes.DType) -> RaggedTensor:
    """The kernel of `from_tensor` for one ragged axis."""
    shape = dense._array.shape
    flat = reshape(dense, [shape[0] * shape[1], *shape[2:]])
    if padding is not None:
        filler = convert(padding, dense.dtype)
        if filler._array.shape != shape[2:]:
            raise ValueError(
                f"from_tensor: padding must have the shape of an element, {list(shape[2:])}. "
                f"Received {list(filler._array.shape)}."
            )
        blank = reduce_all(equal(dense, filler), axis=list(range(2, len(shape))))
        counts = apply_raw(lengths_without_padding, blank, kind.as_numpy_dtype)
    elif lengths is not None:
        counts = apply_raw(
            clip_lengths, as_partition_vector("from_tensor", "lengths", lengths), shape[1]
        )
        counts = cast(counts, kind)
    else:
        return RaggedTensor(
            flat, make_uniform_partition(shape[1], shape[0], kind), internal=RaggedPort
        )
    splits, kept = apply_raw(take_row_prefixes, counts, shape[1], dynamic=True, outputs=True)
    return ragged_from_splits(gather(flat, kept), splits)


def is_scalar_length(value: Any) -> bool:
    """Whether a number, array or tensor has rank 0."""
    return np.ndim(value._array if isinstance(value, Tensor) else value) == 0


def trim_nested_rows(dense: Tensor, lengths: Any, kind: dtypes.DType) -> RaggedTensor:
    """Truncate nested rows to `lengths`, which starts with the outermost axis."""
    shape = dense._array.shape
    outer = from_tensor(dense, lengths[0], None, 1, kind)
    if len(lengths) == 1:
        return outer
    if len(lengths) >= len(shape):
        raise ValueError(
            f"from_tensor: lengths must be fewer than the axes, {len(shape)}. Received "
            f"{len(lengths)}."
        )
    return outer.with_values(trim_nested_rows(outer.values, lengths[1:], kind))


@with_shape(lambda blank, dtype: Spec((blank.shape[:1], np.dtype(dtype))))
def lengths_without_padding(blank: Any, dtype: Any) -> Any:
    """Lengths of raw rows without the trailing elements that are `blank`."""
    trailing = np.logical_and.accumulate(blank[:, ::-1], axis=1)
    return (blank.shape[1] - trailing.sum(axis=1)).astype(dtype)


@with_shape(keep_shape)
def clip_lengths(lengths: Any, size: int) -> Any:
    """Clip raw lengths to [0, size]."""
    return np.clip(lengths, 0, size)


@with_shape(lambda counts, size: [(counts.shape[0] + 1,), (FRESH,)])
def take_row_prefixes(counts: Any, size: int) -> tuple[Any, Any]:
    """Keep the first `counts[i]` of the `size` values of each raw row: splits and value indices."""
    starts = np.arange(len(counts), dtype=counts.dtype) * size
    return rows.splits_from_lengths(counts), rows.concat_ranges(starts, counts)


@public
def from_sparse(st_input: Any, row_splits_dtype: Any = dtypes.int64) -> RaggedTensor:
    """The rows of a sparse matrix; the elements of each row must fill its first columns."""
    if not isinstance(st_input, SparseTensor):
        raise TypeError(
            f"from_sparse: st_input must be a SparseTensor. Received {type(st_input).__name__}."
        )
    if st_input.dense_shape._array.shape != (2,):
        raise ValueError(f"from_sparse: rank(st_input) must be 2. Received shape {st_input.shape}.")
    kind = as_splits_dtype(row_splits_dtype)
    count = compute_integer(rows.element_at, st_input.dense_shape, 0)
    splits = apply_raw(sparse_indices_to_splits, st_input.indices, count)
    return ragged_from_splits(st_input.values, cast(splits, kind))


@with_shape(lambda indices, count: (count + 1,))
def sparse_indices_to_splits(indices: Any, count: int) -> Any:
    """Row splits of a sparse matrix with raw `indices`; raises if a row has gaps."""
    ids = indices[:, 0]
    if (np.diff(ids) >= 0).all():
        splits = rows.splits_from_rowids(ids, count)
        if (rows.offsets_of(splits) == indices[:, 1]).all():
            return splits
    raise InvalidArgumentError(
        "from_sparse: SparseTensor is not right-ragged: every row must be full up to its last "
        f"element. Received indices {indices.tolist()}."
    )


def ragged_from_partitions(flat: Any, partitions: Any) -> Any:
    """Make a ragged tensor from flat values and partitions, the outermost first."""
    splits = [partition._splits for partition in partitions]
    return ragged_from_nested_splits(flat, splits, [partition._uniform for partition in partitions])


def ragged_from_lists(items: list[Any], shape: tuple[int, ...], dtype: Any) -> Any:
    """Make a ragged tensor with outer shape `shape` from lists; a tensor if `shape` is ()."""
    lengths = np.array([len(item) for item in items], np.int64)
    flat = np.empty(int(lengths.sum()), dtype)
    flat[:] = [value for item in items for value in item]
    if not shape:
        return make_tensor(flat)
    result = ragged_from_splits(make_tensor(flat), make_tensor(rows.splits_from_lengths(lengths)))
    for axis in range(len(shape) - 1, 0, -1):
        partition = make_uniform_partition(shape[axis], prod(shape[:axis]), dtypes.int64)
        result = RaggedTensor(result, partition, internal=RaggedPort)
    return result
