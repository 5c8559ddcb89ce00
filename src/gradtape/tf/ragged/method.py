"""Implementations of methods of RaggedTensor and RowPartition, called by `core/ragged`."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.argument import as_integer
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.ports import RaggedPort
from gradtape.core.ragged import row_splits
from gradtape.core.ragged.conversion import as_ragged_or_tensor, ragged_from_nested_splits
from gradtape.core.ragged.tensor import RaggedTensor
from gradtape.core.shape_rule import with_shape
from gradtape.core.shapes import TensorShape
from gradtape.core.sparse_tensor import SparseTensor
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.graph.raw_function import apply_raw, compute_integer
from gradtape.tf.array.concat_split import concat, stack
from gradtape.tf.array.gather import gather
from gradtape.tf.array.reshape import reshape
from gradtape.tf.math.cast import cast as cast
from gradtape.tf.ragged.conversion import from_row_lengths as from_row_lengths
from gradtape.tf.ragged.conversion import from_row_limits as from_row_limits
from gradtape.tf.ragged.conversion import from_row_splits as from_row_splits
from gradtape.tf.ragged.conversion import from_row_starts as from_row_starts
from gradtape.tf.ragged.conversion import from_sparse as from_sparse
from gradtape.tf.ragged.conversion import from_tensor as from_tensor
from gradtape.tf.ragged.conversion import from_uniform_row_length as from_uniform_row_length
from gradtape.tf.ragged.conversion import from_value_rowids as from_value_rowids
from gradtape.tf.ragged.conversion import (
    make_uniform_partition,
    ragged_from_partitions,
    total_rank_of,
)
from gradtape.tf.ragged.conversion import partition_values as partition_values
from gradtape.tf.ragged.conversion import partition_values_nested as partition_values_nested
from gradtape.tf.ragged.gather_slice import getitem as getitem


@public
def rowids(splits: Tensor) -> Tensor:
    """For each value, the number of its row."""
    found: Tensor = apply_raw(row_splits.rowids_of, splits, dynamic=True)
    return found


@public
def offsets(splits: Tensor) -> Tensor:
    """For each value, its position in its row."""
    found: Tensor = apply_raw(row_splits.offsets_of, splits, dynamic=True)
    return found


def normalize_method_axis(axis: Any, rank: int) -> int:
    """Convert `axis`, which may be negative, to a non-negative int."""
    at = as_integer(axis, "axis")
    if not -rank <= at < rank:
        raise ValueError(f"axis={at} out of bounds: expected {-rank}<=axis<{rank}")
    return at % rank


@public
def row_lengths(ragged: RaggedTensor, axis: Any = 1) -> Any:
    """The lengths of the rows of `axis`."""
    at = normalize_method_axis(axis, total_rank_of(ragged))
    if at == 0:
        return ragged.nrows()
    if at == 1:
        return ragged._partition.row_lengths()
    values = ragged.values
    if isinstance(values, RaggedTensor):
        return ragged.with_values(row_lengths(values, at - 1))
    shape = values._array.shape
    size = np.full(shape[: at - 1], shape[at - 1], ragged.row_splits._array.dtype)
    return ragged.with_values(make_tensor(size))


@public
def bounding_shape(ragged: RaggedTensor, axis: Any = None, out_type: Any = None) -> Tensor:
    """The shape of the smallest dense tensor that holds all values; or its sizes at `axis`."""
    kind = ragged.row_splits.dtype if out_type is None else dtypes.as_dtype(out_type)
    inner = ragged.flat_values._array.shape[1:]
    longest = [apply_raw(longest_row_scalar, splits) for splits in ragged.nested_row_splits]
    sizes = [
        ragged.nrows(kind),
        *(cast(size, kind) for size in longest),
        *(convert(size, kind) for size in inner),
    ]
    if axis is None:
        return stack(sizes)
    whole = stack(sizes)
    chosen = np.asarray(convert(axis)._array)
    rank = len(sizes)
    places = [normalize_method_axis(at, rank) for at in np.ravel(chosen).tolist()]
    return gather(whole, places[0] if chosen.ndim == 0 else places)


@with_shape(lambda splits: ())
def longest_row_scalar(splits: Any) -> Any:
    """The length of the longest row, as a raw scalar."""
    return splits.dtype.type(row_splits.longest_row_length(splits))


def with_values(ragged: RaggedTensor, new_values: Any) -> RaggedTensor:
    """A ragged tensor with the same rows and other values."""
    values = as_ragged_or_tensor(new_values)
    have, wanted = values.shape[:1], ragged.values.shape[:1]
    if not have.is_compatible_with(wanted):
        raise ValueError(f"with_values: Shapes {wanted} and {have} are incompatible.")
    return RaggedTensor(values, ragged._partition, internal=RaggedPort)


def with_flat_values(ragged: RaggedTensor, new_values: Any) -> RaggedTensor:
    """A ragged tensor with the same rows and other innermost values."""
    inner = ragged.values
    if isinstance(inner, RaggedTensor):
        return with_values(ragged, with_flat_values(inner, new_values))
    return with_values(ragged, new_values)


@public
def merge_dims(ragged: Any, outer_axis: Any, inner_axis: Any) -> Any:
    """Merge the axes from `outer_axis` to `inner_axis` into one."""
    rank = total_rank_of(ragged)
    outer, inner = normalize_method_axis(outer_axis, rank), normalize_method_axis(inner_axis, rank)
    if outer > inner:
        raise ValueError(
            f"merge_dims: Expected outer_axis ({outer}) to be less than or equal to inner_axis "
            f"({inner})."
        )
    return merge_axes(ragged, outer, inner)


def merge_axes(ragged: Any, outer: int, inner: int) -> Any:
    """The kernel of `merge_dims`, for non-negative axes."""
    if outer == inner:
        return ragged
    if not isinstance(ragged, RaggedTensor):
        shape = ragged._array.shape
        size = int(np.prod(shape[outer : inner + 1]))
        return reshape(ragged, [*shape[:outer], size, *shape[inner + 1 :]])
    if outer > 1:
        return with_values(ragged, merge_axes(ragged.values, outer - 1, inner - 1))
    if outer == 0:
        return merge_axes(ragged.values, 0, inner - 1)
    depth = min(ragged.ragged_rank, inner)
    partitions = ragged._nested_row_partitions[:depth]
    splits = partitions[0]._splits
    for partition in partitions[1:]:
        splits = gather(partition._splits, splits)
    lengths = [p._uniform for p in partitions if p._uniform is not None]
    uniform = prod(lengths) if len(lengths) == depth else None
    values = ragged.values
    for _ in range(depth - 1):
        values = values.values
    if inner > depth:  # also merge uniform inner axes
        size = int(np.prod(values._array.shape[1 : inner - depth + 1]))
        splits = splits * convert(size, splits.dtype)
        uniform = None if uniform is None else uniform * size
        values = merge_axes(values, 0, inner - depth)
    return ragged_from_nested_splits(values, [splits], [uniform])


@public
def to_tensor(ragged: RaggedTensor, default_value: Any = None, shape: Any = None) -> Tensor:
    """A dense tensor, padded with `default_value` where rows are too short."""
    flat, splits = ragged.flat_values, ragged.nested_row_splits
    inner = flat._array.shape[1:]
    rank = len(splits) + 1 + len(inner)
    wanted = target_sizes_of(shape, rank)
    sizes = [wanted[0] if wanted[0] is not None else splits[0]._array.shape[0] - 1]
    for one, size in zip(splits, wanted[1:], strict=False):
        sizes.append(compute_integer(row_splits.longest_row_length, one) if size is None else size)
    for have, size in zip(inner, wanted[len(sizes) :], strict=True):
        if size not in (None, have):
            raise InvalidArgumentError(
                f"to_tensor: shape must end in the inner shape {list(inner)}. Received {shape}."
            )
    blank: Any = b"" if flat.dtype is dtypes.string else 0
    if default_value is not None:
        blank = default_value
    filler = convert(False if flat.dtype is dtypes.bool and blank == 0 else blank, flat.dtype)
    if filler._array.ndim > len(inner):
        raise InvalidArgumentError(
            f"to_tensor: default_value must have at most the {len(inner)} innermost axes. "
            f"Received shape {filler.shape}."
        )
    from gradtape.tf.array.reshape import broadcast_to

    filler = broadcast_to(filler, [1, *inner])
    index = apply_raw(row_splits.dense_positions, tuple(sizes), *splits)
    return gather(concat([flat, filler], 0), index)


def target_sizes_of(shape: Any, rank: int) -> list[int | None]:
    """The sizes given for a dense tensor; None where they are unknown."""
    if shape is None:
        return [None] * rank
    if isinstance(shape, Tensor):
        found: list[int | None] = [None if n < 0 else n for n in shape._array.tolist()]
    else:
        known = TensorShape(shape)
        found = [None] * rank if known.rank is None else known.as_list()
    if len(found) != rank:
        raise InvalidArgumentError(f"to_tensor: shape must have rank {rank}. Received {shape}.")
    return found


@public
def to_sparse(ragged: RaggedTensor) -> SparseTensor:
    """A sparse tensor with the elements of each row in its first columns."""
    flat, splits = ragged.flat_values, ragged.nested_row_splits
    if flat._array.ndim > 1:
        shape = flat._array.shape
        partitions = list(ragged._nested_row_partitions)
        for axis in range(1, len(shape)):
            count = int(np.prod(shape[:axis]))
            partitions.append(make_uniform_partition(shape[axis], count, ragged.row_splits.dtype))
        inner = to_sparse(ragged_from_partitions(reshape(flat, [-1]), partitions))
        whole = bounding_shape(ragged, out_type=dtypes.int64)
        return SparseTensor(inner.indices, inner.values, whole)
    places = apply_raw(row_splits.value_coordinates, *splits, dynamic=True)
    return SparseTensor(places, flat, bounding_shape(ragged, out_type=dtypes.int64))
