"""Sparse tensors in other shapes and orders, joined, cut and masked."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.convert import convert
from gradtape.core.dtypes import int64
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.shapes import normalize_axis
from gradtape.core.sparse_tensor import SparseTensor
from gradtape.core.tensor import Tensor, eager
from gradtape.tf.array.concat_split import concat as joined
from gradtape.tf.array.creation import fill, ones, zeros
from gradtape.tf.array.gather_slice import gather
from gradtape.tf.array.mask import where
from gradtape.tf.math.cast import cast
from gradtape.tf.sparse import index as place


def rank_of(sparse: SparseTensor) -> int:
    """The number of axes."""
    return int(sparse.dense_shape.shape[0])


@public
def reorder(sp_input: Any, name: str | None = None) -> SparseTensor:
    """The same tensor with its elements in order, row by row."""
    sparse = SparseTensor.from_value(sp_input)
    order = place.ordered(sparse.indices)
    return SparseTensor(
        gather(sparse.indices, order), gather(sparse.values, order), sparse.dense_shape
    )


@public
def reshape(sp_input: Any, shape: Any, name: str | None = None) -> SparseTensor:
    """The elements in another shape; one size may be -1, which means what is left."""
    sparse = SparseTensor.from_value(sp_input)
    wanted = cast(convert(shape, int64) if not isinstance(shape, Tensor) else shape, int64)
    indices, after = place.reshaped(sparse.indices, sparse.dense_shape, wanted)
    return SparseTensor(indices, sparse.values, after)


@public
def transpose(sp_input: Any, perm: Any = None, name: str | None = None) -> SparseTensor:
    """The axes in another order; reversed by default."""
    sparse = SparseTensor.from_value(sp_input)
    rank = rank_of(sparse)
    axes = convert(list(range(rank))[::-1] if perm is None else perm)
    indices = gather(sparse.indices, axes, axis=1)
    return reorder(SparseTensor(indices, sparse.values, gather(sparse.dense_shape, axes)))


@public
def expand_dims(sp_input: Any, axis: Any = None, name: str | None = None) -> SparseTensor:
    """A new axis of size 1 at `axis`; at the end by default."""
    sparse = SparseTensor.from_value(sp_input)
    rank = rank_of(sparse)
    at = normalize_axis(-1 if axis is None else int(axis), rank + 1, "expand_dims") + rank + 1
    column = zeros([sparse.indices._array.shape[0], 1], int64)
    indices = joined([sparse.indices[:, :at], column, sparse.indices[:, at:]], 1)
    shape = joined([sparse.dense_shape[:at], ones([1], int64), sparse.dense_shape[at:]], 0)
    return SparseTensor(indices, sparse.values, shape)


@public
def concat(
    axis: int, sp_inputs: Any, expand_nonconcat_dims: bool = False, name: str | None = None
) -> SparseTensor:
    """Sparse tensors one behind the other along `axis`.

    Raises:
        InvalidArgumentError: if they differ along another axis; not with `expand_nonconcat_dims`,
            which takes the largest size.
    """
    parts = [SparseTensor.from_value(part) for part in sp_inputs]
    rank = rank_of(parts[0])
    at = normalize_axis(int(axis), rank, "sparse.concat") + rank
    shapes = [part.dense_shape for part in parts]
    sizes = np.stack([place.raw(shape) for shape in shapes])
    others = [i for i in range(rank) if i != at]
    if not expand_nonconcat_dims and (sizes[:, others] != sizes[0, others]).any():
        raise InvalidArgumentError(
            f"sparse.concat: Input shapes must match except along axis {at}. "
            f"Received {sizes.tolist()}."
        )
    result = sizes.max(0)
    result[at] = sizes[:, at].sum()
    indices = []
    for part, start in zip(parts, np.cumsum(sizes[:, at]) - sizes[:, at], strict=True):
        shift = np.zeros(rank, np.int64)
        shift[at] = start
        indices.append(part.indices + shift)
    values = joined([part.values for part in parts], 0)
    return reorder(SparseTensor(joined(indices, 0), values, eager(result)))


@public
def retain(sp_input: Any, to_retain: Any) -> SparseTensor:
    """The elements for which `to_retain`, a vector of bools, holds."""
    sparse = SparseTensor.from_value(sp_input)
    kept = where(convert(to_retain))[:, 0]
    return SparseTensor(
        gather(sparse.indices, kept), gather(sparse.values, kept), sparse.dense_shape
    )


@public
def slice(sp_input: Any, start: Any, size: Any, name: str | None = None) -> SparseTensor:
    """The block that starts at `start` and has this `size`, or what there is of it."""
    sparse = SparseTensor.from_value(sp_input)
    corners = [cast(convert(corner), int64) for corner in (start, size)]
    kept, indices, shape = place.inside(sparse.indices, sparse.dense_shape, *corners)
    return SparseTensor(indices, gather(sparse.values, kept), shape)


@public
def split(
    sp_input: Any = None, num_split: Any = None, axis: Any = None, name: str | None = None
) -> list[SparseTensor]:
    """`num_split` blocks along `axis`; the first ones are larger by one if it does not divide."""
    sparse = SparseTensor.from_value(sp_input)
    sizes = place.raw(sparse.dense_shape)
    at = normalize_axis(int(axis), len(sizes), "sparse.split") + len(sizes)
    small, more = divmod(int(sizes[at]), int(num_split))
    blocks, begin = [], 0
    for i in range(int(num_split)):
        start, extent = np.zeros_like(sizes), sizes.copy()
        start[at], extent[at] = begin, small + (i < more)
        begin += int(extent[at])
        blocks.append(slice(sparse, start, extent))
    return blocks


def rows(sparse: SparseTensor) -> list[SparseTensor]:
    """The slices along the first axis."""
    count, *rest = place.raw(sparse.dense_shape).tolist()
    blocks = [slice(sparse, [i] + [0] * len(rest), [1, *rest]) for i in range(count)]
    return [SparseTensor(b.indices[:, 1:], b.values, sparse.dense_shape[1:]) for b in blocks]


@public
def fill_empty_rows(
    sp_input: Any, default_value: Any, name: str | None = None
) -> tuple[SparseTensor, Tensor]:
    """`default_value` at the start of every row without elements; and which rows these are."""
    sparse = SparseTensor.from_value(sp_input)
    indices, order, empty = place.filled_rows(sparse.indices, sparse.dense_shape)
    count = indices._array.shape[0] - sparse.indices._array.shape[0]
    values = [sparse.values, fill([count], convert(default_value, sparse.dtype))]
    return SparseTensor(indices, gather(joined(values, 0), order), sparse.dense_shape), empty


@public
def reset_shape(sp_input: Any, new_shape: Any = None) -> SparseTensor:
    """The same elements in a larger shape; in the smallest that holds them, by default.

    Raises:
        InvalidArgumentError: if the shape does not hold all of the tensor, or has another rank.
    """
    sparse = SparseTensor.from_value(sp_input)
    if new_shape is None:
        return SparseTensor(sparse.indices, sparse.values, place.extent(sparse.indices))
    shape = cast(convert(new_shape), int64)
    before, after = place.raw(sparse.dense_shape), place.raw(shape)
    if before.shape != after.shape or (after < before).any():
        raise InvalidArgumentError(
            f"reset_shape: the shape must hold {before.tolist()}. Received {after.tolist()}."
        )
    return SparseTensor(sparse.indices, sparse.values, shape)


@public
def eye(
    num_rows: Any, num_columns: Any = None, dtype: Any = "float32", name: str | None = None
) -> SparseTensor:
    """Ones on the diagonal."""
    rows = int(num_rows)
    columns = rows if num_columns is None else int(num_columns)
    diagonal = np.arange(min(rows, columns))
    shape = np.array([rows, columns], np.int64)
    return SparseTensor(np.stack([diagonal, diagonal], 1), ones([len(diagonal)], dtype), shape)
