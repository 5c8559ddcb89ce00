"""Shapes of ragged tensors: new axes, concat, stack, tile, reverse, split, and tf.shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.open_shape import assume_same_shape
from gradtape.core.primitive import Spec
from gradtape.core.ragged import row_splits
from gradtape.core.ragged.conversion import (
    as_ragged_or_tensor,
    ragged_from_nested_splits,
    ragged_from_splits,
)
from gradtape.core.ragged.tensor import RaggedTensor
from gradtape.core.shape_rule import INT64, with_shape
from gradtape.core.size_constant import compute_constant
from gradtape.core.tensor import Tensor
from gradtape.graph.raw_function import apply_raw
from gradtape.graph.side_effect import side_effect
from gradtape.tf.array import concat_split
from gradtape.tf.array import reshape as array
from gradtape.tf.array.shape import shape as shape_of_array
from gradtape.tf.ragged.conversion import (
    cast_splits,
    from_tensor,
    make_uniform_partition,
    outer_size_of,
    total_rank_of,
)
from gradtape.tf.ragged.gather_slice import gather_first_axis, slice_ragged_rows


def normalize_ragged_axis(axis: Any, rank: int, op: str) -> int:
    """Convert `axis`, which may be negative, to a non-negative int."""
    at = int(axis) if isinstance(axis, (int, np.integer)) else int(convert(axis)._array)
    if not -rank <= at < rank:
        raise ValueError(f"{op}: axis={at} out of bounds: expected {-rank}<=axis<{rank}.")
    return at % rank


@public
def expand_dims(input: Any, axis: Any, name: str | None = None) -> Any:
    """A new axis of size 1."""
    return insert_axis(input, normalize_ragged_axis(axis, total_rank_of(input) + 1, "expand_dims"))


def insert_axis(values: Any, at: int) -> Any:
    """The kernel of `expand_dims`."""
    if not isinstance(values, RaggedTensor):
        return array.expand_dims(values, at)
    dtype = values.row_splits.dtype
    count = outer_size_of(values)
    if at == 0:
        return ragged_from_splits(values, make_uniform_partition(count, 1, dtype)._splits, count)
    if at == 1:
        return ragged_from_splits(values, make_uniform_partition(1, count, dtype)._splits, 1)
    return values.with_values(insert_axis(values.values, at - 1))


@public
def squeeze(input: Any, axis: Any = None, name: str | None = None) -> Any:
    """The tensor without the given axes, which must have size 1."""
    if axis is None:
        raise ValueError("squeeze: a ragged tensor must have an axis argument.")
    rank = total_rank_of(input)
    places = [
        normalize_ragged_axis(a, rank, "squeeze") for a in np.ravel(np.asarray(axis)).tolist()
    ]
    result = input
    for at in sorted(set(places), reverse=True):
        result = remove_axis(result, at)
    return result


def remove_axis(values: Any, at: int) -> Any:
    """The kernel of `squeeze`, for one axis."""
    if not isinstance(values, RaggedTensor):
        return array.squeeze(values, at)
    if at > 1:
        return values.with_values(remove_axis(values.values, at - 1))
    if at == 1:
        check_single_element_rows(values.row_splits)
    elif outer_size_of(values) != 1:
        raise InvalidArgumentError(
            f"squeeze: axis 0 must have size 1. Received size {outer_size_of(values)}."
        )
    return values.values


@side_effect(fails_only=True)
def check_single_element_rows(splits: Any) -> None:
    """Raise unless every row has exactly one element."""
    if (row_splits.lengths_of(splits._array) != 1).any():
        raise InvalidArgumentError(
            "squeeze: the rows of axis 1 must have one element each. Received "
            f"row_splits {splits._array.tolist()}."
        )


def match_ragged_ranks(values: Sequence[Any], op: str) -> list[RaggedTensor]:
    """Convert values to ragged tensors of one rank, ragged rank and splits dtype."""
    given = [as_ragged_or_tensor(v) for v in values if isinstance(v, (RaggedTensor, Tensor))]
    dtype = next((v.dtype for v in given), None)
    parts = [
        v if isinstance(v, RaggedTensor) else as_ragged_or_tensor(v, hint=dtype) for v in values
    ]
    ranks = {total_rank_of(part) for part in parts}
    if len(ranks) > 1:
        raise ValueError(f"{op}: all tensors must have the same rank. Received {sorted(ranks)}.")
    kinds = {part.row_splits.dtype for part in parts if isinstance(part, RaggedTensor)}
    if len(kinds) > 1:
        raise make_splits_dtype_error()
    kind = next(iter(kinds), dtypes.int64)
    depth = max([1, *(p.ragged_rank for p in parts if isinstance(p, RaggedTensor))])
    return [to_ragged_rank(part, depth, kind) for part in parts]


def make_splits_dtype_error() -> ValueError:
    """The error for row splits of different dtypes."""
    return ValueError(
        "Input RaggedTensors have mismatched row_splits dtypes; use "
        "RaggedTensor.with_row_splits_dtype() to convert them to compatible dtypes."
    )


def to_ragged_rank(value: Any, depth: int, kind: dtypes.DType) -> RaggedTensor:
    """Convert a tensor or ragged tensor to ragged rank `depth`."""
    if not isinstance(value, RaggedTensor):
        ragged: RaggedTensor = from_tensor(value, ragged_rank=depth, row_splits_dtype=kind)
        return ragged
    missing = depth - value.ragged_rank
    if missing:
        inner = from_tensor(value.flat_values, ragged_rank=missing, row_splits_dtype=kind)
        return value.with_flat_values(inner)
    return cast_splits(value, kind)


@public
def concat(values: Any, axis: Any, name: str = "concat") -> Any:
    """Concatenation along `axis`."""
    parts = list(values) if isinstance(values, (list, tuple)) else [values]
    if len(parts) == 1:
        return parts[0]
    found = match_ragged_ranks(parts, "concat")
    return concat_ragged(found, normalize_ragged_axis(axis, total_rank_of(found[0]), "concat"))


def concat_ragged(parts: list[Any], at: int) -> Any:
    """The kernel of `concat`: all parts are tensors, or all have the same ragged rank."""
    if not isinstance(parts[0], RaggedTensor):
        return concat_split.concat(parts, at)
    splits = [part.row_splits for part in parts]
    if at == 0:
        values = concat_ragged([part.values for part in parts], 0)
        return ragged_from_splits(values, apply_raw(row_splits.concat_splits, *splits))
    if at > 1:
        for one in splits[1:]:
            check_same_splits("concat", splits[0], one)
        return parts[0].with_values(concat_ragged([part.values for part in parts], at - 1))
    counts, many = [outer_size_of(part) for part in parts], len(parts)
    if not all(assume_same_shape((n,), (counts[0],)) for n in counts):
        raise InvalidArgumentError(
            f"concat: all tensors must have the same number of rows. Received {counts}."
        )
    order = convert(compute_constant(interleave_rows, counts[0], many))
    mixed = gather_first_axis(concat_ragged(parts, 0), order)
    return ragged_from_splits(mixed.values, mixed.row_splits[::many])


@with_shape(lambda count, many: Spec(((count * many,), INT64)))
def interleave_rows(count: int, many: int) -> Any:
    """Positions of the rows of `many` concatenated tensors, those with equal numbers together."""
    return np.arange(count * many).reshape(many, count).T.ravel()


@side_effect(fails_only=True)
def check_same_splits(op: str, x: Any, y: Any) -> None:
    """Raise if the rows of two ragged tensors have different lengths."""
    if not np.array_equal(x._array, y._array):
        raise InvalidArgumentError(
            f"{op}: rows must have the same lengths. Received row_splits {x._array.tolist()} and "
            f"{y._array.tolist()}."
        )


@public
def stack(values: Any, axis: Any = 0, name: str = "stack") -> Any:
    """Tensors of one rank stacked along a new axis; their sizes may differ.

    Args:
        values: a list of tensors of one rank.
        axis: the position of the new axis.
        name: has no effect here.

    Returns:
        A RaggedTensor or a tensor.

    Example:
        >>> tf.ragged.stack([[1, 2], [3]])
        <tf.RaggedTensor [[1, 2], [3]]>
    """
    parts = [as_ragged_or_tensor(v) for v in values]
    if not parts:
        raise ValueError("ragged.stack: values must not be empty. Received an empty list.")
    rank = total_rank_of(parts[0])
    at = normalize_ragged_axis(axis, rank + 1, "stack")
    if not any(isinstance(part, RaggedTensor) for part in parts):
        if rank == 0 or at > max(rank - 2, 0):
            return concat_split.stack(parts, at)
        if rank == 1:
            splits = np.cumsum([0, *(part._array.shape[0] for part in parts)])
            return ragged_from_splits(
                concat_split.concat(parts, 0), convert(splits.astype(np.int32))
            )
        parts = [from_tensor(part) for part in parts]
    found = match_ragged_ranks([insert_axis(part, at) for part in parts], "stack")
    return found[0] if len(found) == 1 else concat_ragged(found, at)


def repeat_partitions(flat: Any, partitions: Any, times: int) -> Any:
    """Put `flat` into the rows of `partitions`, repeated `times` times."""
    splits = [apply_raw(tile_row_splits, partition._splits, times) for partition in partitions]
    return ragged_from_nested_splits(flat, splits, [partition._uniform for partition in partitions])


@with_shape(lambda splits, times: ((splits.shape[0] - 1) * times + 1,))
def tile_row_splits(splits: Any, times: int) -> Any:
    """Raw splits of the same rows repeated `times` times."""
    return row_splits.splits_from_lengths(np.tile(row_splits.lengths_of(splits), times))


@public
def tile(input: Any, multiples: Any, name: str | None = None) -> Any:
    """The tensor repeated along each axis."""
    rank = total_rank_of(input)
    counts = np.ravel(convert(multiples)._array).tolist()
    if len(counts) != rank:
        raise ValueError(f"tile: multiples must have {rank} entries. Received {counts}.")
    result = input
    for at, count in enumerate(counts):
        if count == 0:
            raise NotImplementedError(
                f"tile: multiples must be positive for a ragged tensor. Received {counts}."
            )
        if count > 1:
            result = concat_ragged([result] * count, at)
    return result


@public
def reverse(tensor: Any, axis: Any, name: str | None = None) -> Any:
    """The tensor with some axes reversed."""
    rank = total_rank_of(tensor)
    places = {
        normalize_ragged_axis(a, rank, "reverse") for a in np.ravel(convert(axis)._array).tolist()
    }
    keys = [slice(None, None, -1) if at in places else slice(None) for at in range(rank)]
    return tensor[tuple(keys)]


@public
def split(
    value: Any, num_or_size_splits: Any, axis: Any = 0, num: Any = None, name: str = "split"
) -> list[Any]:
    """Parts along the first axis."""
    if normalize_ragged_axis(axis, total_rank_of(value), "split"):
        raise ValueError(f"split: Cannot split a ragged dimension. Received axis {axis}.")
    count = outer_size_of(value)
    sizes = np.asarray(convert(num_or_size_splits)._array)
    if sizes.ndim == 0:
        if count % int(sizes):
            raise ValueError(f"split: {count} rows cannot be split into {int(sizes)} equal parts.")
        sizes = np.full(int(sizes), count // int(sizes))
    if int(sizes.sum()) != count:
        raise InvalidArgumentError(
            f"split: sizes must add up to {count} rows. Received {sizes.tolist()}."
        )
    ends = np.cumsum(sizes).tolist()
    begins = [0, *ends[:-1]]
    return [slice_ragged_rows(value, slice(a, b)) for a, b in zip(begins, ends, strict=True)]


@public
def reshape(tensor: Any, shape: Any, name: str | None = None) -> Any:
    """The elements in a dense shape."""
    if isinstance(shape, DynamicRaggedShape):
        raise NotImplementedError("reshape: a DynamicRaggedShape is not supported as shape.")
    return array.reshape(tensor.flat_values, shape)


class DynamicRaggedShape:
    """The shape of a ragged tensor: sizes of uniform axes, row partitions of ragged ones."""

    def __init__(self, ragged: Any, dtype: Any, axes: int) -> None:
        """The first `axes` axes of the shape of `ragged`."""
        self._ragged = ragged
        self._dtype = dtypes.as_dtype(dtype)
        self._axes = axes

    @property
    def rank(self) -> int:
        """The number of axes."""
        return self._axes

    @property
    def dtype(self) -> dtypes.DType:
        """The dtype of sizes."""
        return self._dtype

    @property
    def num_row_partitions(self) -> int:
        """The number of axes that are described by row splits."""
        return min(self._ragged.ragged_rank, self._axes - 1)

    @property
    def row_partitions(self) -> tuple[Any, ...]:
        """The row partitions of the ragged axes."""
        partitions: tuple[Any, ...] = self._ragged._nested_row_partitions
        return partitions[: self.num_row_partitions]

    @property
    def inner_shape(self) -> Tensor:
        """The shape of the flat values."""
        return shape_of_array(self._ragged.flat_values, self._dtype)

    def is_uniform(self, axis: int) -> bool:
        """Whether an axis has one size."""
        return not 0 < axis <= self.num_row_partitions or (
            self.row_partitions[axis - 1].is_uniform()
        )

    def static_lengths(self, ragged_lengths: bool = True) -> list[Any]:
        """Sizes of uniform axes, and tuples of row lengths for ragged ones."""
        sizes = self._ragged.shape.as_list()[: self._axes]
        for i, partition in enumerate(self.row_partitions, 1):
            if sizes[i] is None and ragged_lengths:
                sizes[i] = tuple(partition.row_lengths()._array.tolist())
        return sizes

    def __getitem__(self, index: Any) -> Any:
        """The size of a uniform axis; for a slice, the shape of the first axes."""
        if isinstance(index, slice):
            axes = range(self._axes)[index]
            if axes.start or axes.step != 1:
                raise NotImplementedError(
                    "DynamicRaggedShape: a slice must start at 0 with step 1."
                )
            return DynamicRaggedShape(self._ragged, self._dtype, len(axes))
        at = normalize_ragged_axis(index, self._axes, "DynamicRaggedShape")
        if not self.is_uniform(at):
            raise ValueError(f"DynamicRaggedShape: axis must be uniform. Received axis {at}.")
        if at == 0:
            return self._ragged.nrows(self._dtype)
        return convert(self._ragged.shape[at], self._dtype)

    def __repr__(self) -> str:
        """The same text as in TensorFlow."""
        lengths = self.static_lengths()
        return (
            f"<DynamicRaggedShape lengths={lengths} num_row_partitions={self.num_row_partitions}>"
        )


@public
def shape(input: Any, out_type: Any = None, name: str | None = None) -> DynamicRaggedShape:
    """The shape of a ragged tensor."""
    return DynamicRaggedShape(input, out_type or dtypes.int32, total_rank_of(input))
