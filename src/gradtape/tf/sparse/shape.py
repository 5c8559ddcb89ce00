"""tf.sparse functions that reorder, reshape, join, slice and mask."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.argument import as_integer
from gradtape.core.convert import convert
from gradtape.core.dtypes import int64
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.shapes import normalize_axis
from gradtape.core.sparse_tensor import SparseTensor
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.tf.array.concat_split import concat as concat_dense
from gradtape.tf.array.creation import fill, ones, zeros
from gradtape.tf.array.gather import gather
from gradtape.tf.array.mask import where
from gradtape.tf.math.cast import cast
from gradtape.tf.sparse import index as sparse_index


def sparse_rank_of(sparse: SparseTensor) -> int:
    """The number of axes."""
    return int(sparse.dense_shape.shape[0])


@public
def reorder(sp_input: Any, name: str | None = None) -> SparseTensor:
    """The same tensor with its elements in row-major order.

    Args:
        sp_input: a SparseTensor.
        name: has no effect here.

    Returns:
        A SparseTensor.
    """
    sparse = SparseTensor.from_value(sp_input)
    order = sparse_index.argsort_indices(sparse.indices)
    return SparseTensor(
        gather(sparse.indices, order), gather(sparse.values, order), sparse.dense_shape
    )


@public
def reshape(sp_input: Any, shape: Any, name: str | None = None) -> SparseTensor:
    """The elements in another shape; one size may be -1, which is inferred.

    Args:
        sp_input: a SparseTensor.
        shape: a vector of sizes.
        name: has no effect here.

    Returns:
        A SparseTensor.

    Example:
        >>> tf.sparse.reshape(tf.sparse.from_dense([[0, 3], [1, 0]]), [4]).indices.numpy().ravel()
        array([1, 2])
    """
    sparse = SparseTensor.from_value(sp_input)
    wanted = cast(convert(shape, int64) if not isinstance(shape, Tensor) else shape, int64)
    indices, after = sparse_index.reshape_indices(sparse.indices, sparse.dense_shape, wanted)
    return SparseTensor(indices, sparse.values, after)


@public
def transpose(sp_input: Any, perm: Any = None, name: str | None = None) -> SparseTensor:
    """The axes in another order; reversed by default.

    Args:
        sp_input: a SparseTensor.
        perm: the order of the axes, or None.
        name: has no effect here.

    Returns:
        A SparseTensor.

    Example:
        >>> tf.sparse.to_dense(tf.sparse.transpose(tf.sparse.from_dense([[0, 3]]))).numpy()
        array([[0],
               [3]], dtype=int32)
    """
    sparse = SparseTensor.from_value(sp_input)
    rank = sparse_rank_of(sparse)
    axes = convert(list(range(rank))[::-1] if perm is None else perm)
    indices = gather(sparse.indices, axes, axis=1)
    return reorder(SparseTensor(indices, sparse.values, gather(sparse.dense_shape, axes)))


@public
def expand_dims(sp_input: Any, axis: Any = None, name: str | None = None) -> SparseTensor:
    """A new axis of size 1 at `axis`; at the end by default.

    Args:
        sp_input: a SparseTensor.
        axis: the position of the new axis, or None.
        name: has no effect here.

    Returns:
        A SparseTensor.
    """
    sparse = SparseTensor.from_value(sp_input)
    rank = sparse_rank_of(sparse)
    at = normalize_axis(-1 if axis is None else int(axis), rank + 1, "expand_dims") + rank + 1
    column = zeros([sparse.indices._array.shape[0], 1], int64)
    indices = concat_dense([sparse.indices[:, :at], column, sparse.indices[:, at:]], 1)
    shape = concat_dense([sparse.dense_shape[:at], ones([1], int64), sparse.dense_shape[at:]], 0)
    return SparseTensor(indices, sparse.values, shape)


@public
def concat(
    axis: int, sp_inputs: Any, expand_nonconcat_dims: bool = False, name: str | None = None
) -> SparseTensor:
    """Concatenation of sparse tensors along `axis`.

    Args:
        axis: the axis to concatenate along.
        sp_inputs: a list of SparseTensors.
        expand_nonconcat_dims: whether the other sizes may differ; the largest counts.
        name: has no effect here.

    Returns:
        A SparseTensor.

    Raises:
        InvalidArgumentError: if sizes differ along another axis. With `expand_nonconcat_dims` the
            largest size is used instead.

    Example:
        >>> a = tf.sparse.from_dense([0, 1])
        >>> tf.sparse.to_dense(tf.sparse.concat(0, [a, a])).numpy()
        array([0, 1, 0, 1], dtype=int32)
    """
    parts = [SparseTensor.from_value(part) for part in sp_inputs]
    rank = sparse_rank_of(parts[0])
    at = normalize_axis(int(axis), rank, "sparse.concat") + rank
    shapes = [part.dense_shape for part in parts]
    sizes = np.stack([sparse_index.as_raw_integers(shape) for shape in shapes])
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
    values = concat_dense([part.values for part in parts], 0)
    return reorder(SparseTensor(concat_dense(indices, 0), values, make_tensor(result)))


@public
def retain(sp_input: Any, to_retain: Any) -> SparseTensor:
    """The elements for which `to_retain`, a vector of bools, holds.

    Args:
        sp_input: a SparseTensor.
        to_retain: a bool for each stored element.

    Returns:
        A SparseTensor.

    Example:
        >>> tf.sparse.retain(tf.sparse.from_dense([1, 2, 3]), [True, False, True]).values.numpy()
        array([1, 3], dtype=int32)
    """
    sparse = SparseTensor.from_value(sp_input)
    kept = where(convert(to_retain))[:, 0]
    return SparseTensor(
        gather(sparse.indices, kept), gather(sparse.values, kept), sparse.dense_shape
    )


@public
def slice(sp_input: Any, start: Any, size: Any, name: str | None = None) -> SparseTensor:
    """The block of `size` that starts at `start`, clipped to the shape of the tensor.

    Args:
        sp_input: a SparseTensor.
        start: the first index along each axis.
        size: how many along each axis.
        name: has no effect here.

    Returns:
        A SparseTensor.

    Example:
        >>> tf.sparse.to_dense(tf.sparse.slice(tf.sparse.from_dense([1, 0, 2]), [1], [2])).numpy()
        array([0, 2], dtype=int32)
    """
    sparse = SparseTensor.from_value(sp_input)
    corners = [cast(convert(corner), int64) for corner in (start, size)]
    kept, indices, shape = sparse_index.select_block(sparse.indices, sparse.dense_shape, *corners)
    return SparseTensor(indices, gather(sparse.values, kept), shape)


@public
def split(
    sp_input: Any = None, num_split: Any = None, axis: Any = None, name: str | None = None
) -> list[SparseTensor]:
    """`num_split` blocks along `axis`; the first ones get the remainder, one each.

    Args:
        sp_input: a SparseTensor.
        num_split: the number of blocks.
        axis: the axis to split along.
        name: has no effect here.

    Returns:
        A list of SparseTensors.
    """
    sparse = SparseTensor.from_value(sp_input)
    sizes = sparse_index.as_raw_integers(sparse.dense_shape)
    at = normalize_axis(axis, len(sizes), "sparse.split") + len(sizes)
    small, more = divmod(int(sizes[at]), as_integer(num_split, "num_split"))
    blocks, begin = [], 0
    for i in range(int(num_split)):
        start, extent = np.zeros_like(sizes), sizes.copy()
        start[at], extent[at] = begin, small + (i < more)
        begin += int(extent[at])
        blocks.append(slice(sparse, start, extent))
    return blocks


def unstack_sparse(sparse: SparseTensor) -> list[SparseTensor]:
    """The slices along the first axis."""
    count, *rest = sparse_index.as_raw_integers(sparse.dense_shape).tolist()
    blocks = [slice(sparse, [i] + [0] * len(rest), [1, *rest]) for i in range(count)]
    return [SparseTensor(b.indices[:, 1:], b.values, sparse.dense_shape[1:]) for b in blocks]


@public
def fill_empty_rows(
    sp_input: Any, default_value: Any, name: str | None = None
) -> tuple[SparseTensor, Tensor]:
    """The tensor with `default_value` in every empty row, and for each row whether it was empty.

    Args:
        sp_input: a SparseTensor.
        default_value: a scalar.
        name: has no effect here.

    Returns:
        A SparseTensor, and a vector of bools.
    """
    sparse = SparseTensor.from_value(sp_input)
    indices, order, empty = sparse_index.add_empty_row_indices(sparse.indices, sparse.dense_shape)
    count = indices._array.shape[0] - sparse.indices._array.shape[0]
    values = [sparse.values, fill([count], convert(default_value, sparse.dtype))]
    return SparseTensor(indices, gather(concat_dense(values, 0), order), sparse.dense_shape), empty


@public
def reset_shape(sp_input: Any, new_shape: Any = None) -> SparseTensor:
    """The same elements in a larger shape; in the smallest possible shape if it is None.

    Args:
        sp_input: a SparseTensor.
        new_shape: a vector of sizes, or None.

    Returns:
        A SparseTensor.

    Raises:
        InvalidArgumentError: if the new shape is smaller or has another rank.
    """
    sparse = SparseTensor.from_value(sp_input)
    if new_shape is None:
        return SparseTensor(
            sparse.indices, sparse.values, sparse_index.smallest_shape(sparse.indices)
        )
    shape = cast(convert(new_shape), int64)
    before, after = (
        sparse_index.as_raw_integers(sparse.dense_shape),
        sparse_index.as_raw_integers(shape),
    )
    if before.shape != after.shape or (after < before).any():
        raise InvalidArgumentError(
            f"reset_shape: new_shape must be at least {before.tolist()}. Received {after.tolist()}."
        )
    return SparseTensor(sparse.indices, sparse.values, shape)


@public
def eye(
    num_rows: Any, num_columns: Any = None, dtype: Any = "float32", name: str | None = None
) -> SparseTensor:
    """A sparse matrix with ones on the diagonal.

    Args:
        num_rows: the number of rows.
        num_columns: the number of columns, or None.
        dtype: the dtype of the ones.
        name: has no effect here.

    Returns:
        A SparseTensor.

    Example:
        >>> tf.sparse.to_dense(tf.sparse.eye(2)).numpy()
        array([[1., 0.],
               [0., 1.]], dtype=float32)
    """
    rows = as_integer(num_rows, "num_rows")
    columns = rows if num_columns is None else as_integer(num_columns, "num_columns")
    diagonal = np.arange(min(rows, columns))
    shape = np.array([rows, columns], np.int64)
    return SparseTensor(np.stack([diagonal, diagonal], 1), ones([len(diagonal)], dtype), shape)
