"""Indexing, slicing and gathering of ragged tensors."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from gradtape.core.convert import convert
from gradtape.core.dtypes import int16, int32, int64
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.open_shape import has_dims
from gradtape.core.ragged import row_splits
from gradtape.core.ragged.conversion import (
    as_ragged_or_tensor,
    ragged_from_nested_splits,
    ragged_from_splits,
)
from gradtape.core.ragged.tensor import RaggedTensor
from gradtape.core.shape_rule import keep_shape, with_shape
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.graph.raw_function import apply_raw, compute_integer
from gradtape.graph.size_tensor import make_range_tensor
from gradtape.tf.array.gather import gather as gather_dense
from gradtape.tf.array.reshape import (
    expand_dims,
    reshape,
)
from gradtape.tf.math.cast import cast
from gradtape.tf.ragged.conversion import make_uniform_partition, outer_size_of, total_rank_of

FULL_SLICE = builtins.slice(None)


@public
def getitem(ragged: RaggedTensor, key: Any) -> Any:
    """`ragged[key]`: integers, slices, `...`, None and scalar tensors."""
    keys = list(key) if isinstance(key, (list, tuple)) else [key]
    for one in keys:
        check_ragged_index(one)
    if any(one is Ellipsis for one in keys):
        at = next(i for i, one in enumerate(keys) if one is Ellipsis)
        given = sum(one is not None for one in keys) - 1
        rank = ragged.ragged_rank + int(ragged.flat_values.ndim)
        if sum(one is Ellipsis for one in keys) > 1 or given > rank:
            raise ValueError(f"RaggedTensor: too many indices for {rank} axes. Received {key}.")
        keys[at : at + 1] = [FULL_SLICE] * (rank - given)
    return index_outer_axes(ragged, keys)


def check_ragged_index(key: Any) -> None:
    """Raise unless `key` is a valid index of a ragged tensor."""
    fine = (
        key is None
        or key is Ellipsis
        or isinstance(key, (builtins.slice, int, np.integer))
        or (isinstance(key, Tensor) and key.ndim == 0 and key.dtype.is_integer)
    )
    if not fine or isinstance(key, bool):
        raise TypeError(
            "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar "
            f"tf.int32/tf.int64 tensors are valid indices, got {key!r}."
        )


def index_outer_axes(values: Any, keys: list[Any]) -> Any:
    """Apply `keys` to the axes, starting with the first."""
    if not keys:
        return values
    if not isinstance(values, RaggedTensor):
        return values[tuple(keys)]
    first, *rest = keys
    if first is None:
        from gradtape.tf.ragged.shape import expand_dims as expanded

        return expand_dense_or_ragged(expanded, index_outer_axes(values, rest), 0)
    if isinstance(first, builtins.slice):
        return index_inner_axes(slice_ragged_rows(values, first), rest)
    return index_outer_axes(get_row(values, int(first)), rest)


def expand_dense_or_ragged(function: Any, values: Any, axis: int) -> Any:
    """Apply `function`, the ragged `expand_dims`, or the dense one if `values` is a tensor."""
    return function(values, axis) if isinstance(values, RaggedTensor) else expand_dims(values, axis)


def get_row(ragged: RaggedTensor, i: int) -> Any:
    """Row `i`."""
    count = outer_size_of(ragged)
    if not -count <= i < count:
        raise IndexError(f"Row key {i} out of bounds: must lie in [{-count}, {count}).")
    at = i % count
    return slice_row_values(ragged.values, ragged.row_splits, at, at + 1)


def slice_row_values(values: Any, splits: Tensor, first: int, last: int) -> Any:
    """The values of the consecutive rows from `first` to `last` (exclusive)."""
    begin, end = (compute_integer(row_splits.element_at, splits, i) for i in (first, last))
    if isinstance(values, RaggedTensor):
        return slice_ragged_rows(values, builtins.slice(begin, end))
    return values[begin:end]


def slice_ragged_rows(ragged: RaggedTensor, key: builtins.slice) -> RaggedTensor:
    """The rows that a slice selects."""
    count = outer_size_of(ragged)
    if has_dims((count, key)):
        rows = make_range_tensor(0, count, 1, np.dtype(np.int64))
        return gather_rows(ragged, rows[key], keep_uniform=True)
    bounds = [None if b is None else int(b) for b in (key.start, key.stop, key.step)]
    chosen = range(*builtins.slice(*bounds).indices(count))
    if chosen == range(count):
        return ragged
    uniform = ragged._partition._uniform
    if chosen.step != 1 or not len(chosen):
        picks = make_tensor(np.array(chosen, np.int64))
        return gather_rows(ragged, picks, keep_uniform=True)
    first, last = chosen[0], chosen[-1] + 1
    splits = ragged.row_splits[first : last + 1]
    if first:
        splits = splits - splits[0]
    return ragged_from_splits(
        slice_row_values(ragged.values, ragged.row_splits, first, last), splits, uniform
    )


def gather_rows(ragged: RaggedTensor, picks: Tensor, keep_uniform: bool = False) -> RaggedTensor:
    """The rows whose numbers are `picks`."""
    found = apply_raw(
        row_splits.take_rows, picks, *ragged.nested_row_splits, dynamic=True, outputs=True
    )
    *splits, index = found
    sizes = [partition._uniform for partition in ragged._nested_row_partitions]
    flat = gather_dense(ragged.flat_values, index)
    result: RaggedTensor = ragged_from_nested_splits(
        flat, splits, sizes if keep_uniform else [None, *sizes[1:]]
    )
    return result


def index_inner_axes(values: Any, keys: list[Any]) -> Any:
    """Apply `keys` to the axes, starting with the second."""
    if not keys:
        return values
    if not isinstance(values, RaggedTensor):
        return values[(FULL_SLICE, *keys)]
    first, *rest = keys
    if first is None:
        from gradtape.tf.ragged.shape import expand_dims as expanded

        return expand_dense_or_ragged(expanded, index_inner_axes(values, rest), 1)
    uniform = values._partition._uniform
    if isinstance(first, builtins.slice):
        bounds = [None if b is None else int(b) for b in (first.start, first.stop, first.step)]
        start, stop, step = bounds
        if step == 0:
            raise ValueError("RaggedTensor: slice step cannot be zero.")
        if start in (None, 0) and stop is None and step in (None, 1):
            return values.with_values(index_inner_axes(values.values, rest))
        splits, index = apply_raw(
            row_splits.slice_rows,
            values.row_splits,
            start,
            stop,
            step or 1,
            dynamic=True,
            outputs=True,
        )
        if uniform is not None:
            uniform = len(range(*builtins.slice(*bounds).indices(uniform)))
        return ragged_from_splits(
            index_inner_axes(gather_first_axis(values.values, index), rest), splits, uniform
        )
    if uniform is None:
        raise ValueError(
            "Cannot index into an inner ragged dimension. Use a slice, or to_tensor() first."
        )
    at = int(first)
    if not -uniform <= at < uniform:
        raise InvalidArgumentError(
            f"RaggedTensor: index must lie in [{-uniform}, {uniform}), the size of its axis. "
            f"Received {at}."
        )
    return index_inner_axes(
        gather_first_axis(values.values, values.row_starts() + at % uniform), rest
    )


def gather_first_axis(values: Any, index: Tensor) -> Any:
    """Gather slices along the first axis of a tensor or ragged tensor."""
    if isinstance(values, RaggedTensor):
        return gather_rows(values, index, keep_uniform=True)
    return gather_dense(values, index)


@public
def gather(
    params: Any,
    indices: Any,
    validate_indices: Any = None,
    axis: Any = None,
    batch_dims: Any = 0,
    name: str | None = None,
) -> Any:
    """`tf.gather` where one of the arguments is ragged."""
    table, index = as_ragged_or_tensor(params), as_ragged_or_tensor(indices)
    if index.dtype not in (int16, int32, int64):
        raise InvalidArgumentError(
            f"gather: indices must be int16, int32 or int64. Received {index.dtype.name}. Cast "
            "them first."
        )
    batch = int(batch_dims)
    batch = batch + total_rank_of(index) if batch < 0 else batch
    at = batch if axis is None else int(axis)
    at = at + total_rank_of(table) if at < 0 else at
    if batch:
        return gather_per_row(table, index, at, batch)
    if at:
        return gather_inner_axis(table, index, at)
    if isinstance(index, RaggedTensor):
        return index.with_flat_values(gather_dense(table, index.flat_values))
    shape = index._array.shape
    if not shape:
        return get_row(table, check_scalar_index(index, outer_size_of(table)))
    return split_first_axis(gather_rows(table, reshape(index, [-1])), shape)


def check_scalar_index(index: Tensor, count: int) -> int:
    """Convert a scalar index to an int; raise unless it lies in [0, count)."""
    i = int(index._array)
    if not 0 <= i < count:
        raise InvalidArgumentError(f"gather: indices must lie in [0, {count}). Received {i}.")
    return i


def gather_inner_axis(table: Any, index: Any, axis: int) -> Any:
    """Gather along an inner axis, with the same indices for all rows."""
    if not isinstance(table, RaggedTensor):
        return gather_by_ragged_index(table, index, axis)
    if axis > 1:
        return table.with_values(gather_dense(table.values, index, axis=axis - 1))
    if isinstance(index, RaggedTensor):
        raise NotImplementedError("gather: ragged indices along a ragged axis are not supported.")
    count, own = outer_size_of(table), index._array.shape
    size = int(np.prod(own))
    steps = cast(reshape(index, [1, size]), table.row_splits.dtype)
    places = reshape(expand_dims(table.row_starts(), 1) + steps, [count * size])
    found = gather_first_axis(table.values, places)
    return split_first_axis(found, (count, *own))


def gather_by_ragged_index(table: Any, index: RaggedTensor, axis: int) -> Any:
    """Gather along an inner axis of a tensor, with ragged indices."""
    from gradtape.tf.ragged.shape import repeat_partitions

    shape = table._array.shape
    found = gather_dense(table, index.flat_values, axis=axis)
    times = int(np.prod(shape[:axis]))
    flat = reshape(found, [times * index.flat_values._array.shape[0], *shape[axis + 1 :]])
    result = repeat_partitions(flat, index._nested_row_partitions, times)
    outer = [*shape[:axis], outer_size_of(index)]
    for i in range(axis, 0, -1):
        count = int(np.prod(outer[:i]))
        result = ragged_from_splits(
            result,
            make_uniform_partition(outer[i], count, index.row_splits.dtype)._splits,
            outer[i],
        )
    return result


def gather_per_row(table: Any, index: Any, axis: int, batch: int) -> Any:
    """Gather within each row, with the indices of that row (`batch_dims` >= 1)."""
    if axis != batch:
        raise NotImplementedError(
            "gather: axis must equal batch_dims for ragged tensors, unless batch_dims is 0. "
            f"Received axis {axis} and batch_dims {batch}."
        )
    if batch > 1:
        if not (isinstance(table, RaggedTensor) and isinstance(index, RaggedTensor)):
            raise NotImplementedError(
                "gather: params and indices must both be ragged if batch_dims > 1. Received "
                f"batch_dims {batch}."
            )
        return index.with_values(gather(table.values, index.values, None, axis - 1, batch - 1))
    dtype = index.row_splits.dtype if isinstance(index, RaggedTensor) else table.row_splits.dtype
    if isinstance(table, RaggedTensor):
        starts, values, lengths = table.row_starts(), table.values, table.row_lengths()
    else:
        shape = table._array.shape
        starts = make_tensor(np.arange(shape[0], dtype=dtype.as_numpy_dtype) * shape[1])
        values = reshape(table, [shape[0] * shape[1], *shape[2:]])
        lengths = make_tensor(np.full(shape[0], shape[1], dtype.as_numpy_dtype))
    if not isinstance(index, RaggedTensor):
        own = index._array.shape
        begin = reshape(cast(starts, index.dtype), [-1] + [1] * (len(own) - 1))
        end = reshape(cast(lengths, index.dtype), [-1] + [1] * (len(own) - 1))
        each = apply_raw(check_in_row, index, end) + begin
        found = gather_first_axis(values, reshape(each, [-1]))
        return split_first_axis(found, own)
    flat = merge_index_axes(index)
    ids = flat.value_rowids()
    each = apply_raw(
        check_in_row, cast(flat.values, dtype), gather_dense(cast(lengths, dtype), ids)
    )
    found = gather_first_axis(values, each + gather_dense(cast(starts, dtype), ids))
    own = index.flat_values._array.shape
    return index.with_flat_values(found if len(own) == 1 else split_first_axis(found, own))


def merge_index_axes(index: RaggedTensor) -> RaggedTensor:
    """Merge all axes of the indices after the first."""
    if index.ragged_rank == 1 and index.flat_values.ndim == 1:
        return index
    merged: RaggedTensor = index.merge_dims(1, -1)
    return merged


@with_shape(keep_shape)
def check_in_row(index: Any, lengths: Any) -> Any:
    """Raw indices, after a check that each lies in [0, length) of its row."""
    wrong = (index < 0) | (index >= lengths)
    if wrong.any():
        raise InvalidArgumentError(
            f"gather: indices must lie in their row. Received {index[wrong][0]}. Mask or clip them "
            "first."
        )
    return index


@public
def gather_nd(params: Any, indices: Any, batch_dims: Any = 0, name: str | None = None) -> Any:
    """`tf.gather_nd` where one of the arguments is ragged."""
    table, index = as_ragged_or_tensor(params), as_ragged_or_tensor(indices)
    if int(batch_dims):
        raise NotImplementedError("gather_nd: batch_dims is not supported for ragged tensors.")
    if isinstance(index, RaggedTensor):
        from gradtape.tf.array.gather import gather_nd as dense

        return index.with_flat_values(dense(table, index.flat_values))
    shape = index._array.shape
    lead, depth = shape[:-1], shape[-1]
    if depth == 0:
        raise NotImplementedError(
            "gather_nd: indices of depth 0 are not supported for ragged tensors."
        )
    flat = reshape(index, [int(np.prod(lead)), depth])
    here = convert(flat[:, 0])
    for level in range(1, depth):
        if not isinstance(table, RaggedTensor):
            from gradtape.tf.array.gather import gather_nd as dense

            rest = prepend_column(here, flat[:, level:])
            return reshape(dense(table, rest), [*lead, *table._array.shape[1 + depth - level :]])
        starts, lengths = table.row_starts(), table.row_lengths()
        step = apply_raw(
            check_in_row, cast(flat[:, level], starts.dtype), gather_dense(lengths, here)
        )
        here = gather_dense(starts, here) + step
        table = table.values
    found = gather_first_axis(table, here)
    return found if len(lead) == 1 else split_first_axis(found, lead, even_rows=True)


def prepend_column(first: Tensor, rest: Tensor) -> Tensor:
    """Prepend a column to a matrix."""
    from gradtape.tf.array.concat_split import concat

    return concat([expand_dims(cast(first, rest.dtype), 1), rest], 1)


def split_first_axis(values: Any, lead: tuple[int, ...], even_rows: bool = False) -> Any:
    """Reshape the first axis to `lead`; `even_rows` marks the new ragged axes as uniform."""
    if not isinstance(values, RaggedTensor):
        return reshape(values, [*lead, *values._array.shape[1:]])
    for i in range(len(lead) - 1, 0, -1):
        partition = make_uniform_partition(lead[i], int(np.prod(lead[:i])), values.row_splits.dtype)
        values = ragged_from_splits(values, partition._splits, lead[i] if even_rows else None)
    return values
