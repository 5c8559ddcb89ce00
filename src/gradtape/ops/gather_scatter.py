"""Gathers and scatters: slices, elements and rows selected by integer tensors."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from gradtape.core.dtypes import accumulator
from gradtape.core.errors import InvalidArgumentError
from gradtape.core.open_shape import broadcast_shapes
from gradtape.core.primitive import Spec, primitive
from gradtape.core.shape_rule import (
    BOOL,
    FRESH,
    INT64,
    replace_axis,
    with_shape,
)
from gradtape.core.size_constant import compute_constant
from gradtape.ops.elementwise import add
from gradtape.ops.shape import as_scalar_unless_string, concat, reshape, shape_of

# Below this many elements `np.add.at` is faster than a product with a sparse matrix.
SPARSE_SUM_MIN_SIZE = 2048
# No entry for int64: NumPy does not accept uint64 indices.
UNSIGNED_INDEX = {np.dtype("int16"): np.uint16, np.dtype("int32"): np.uint32}


def gather_wrt_params(g, params_spec, indices, axis):
    return scatter_add(g, indices, axis=axis, size=params_spec.shape[axis])


def gather_shape(params, indices, axis):
    return replace_axis(params.shape, axis, *indices.shape)


@primitive(params=gather_wrt_params, indices=None, shape=gather_shape, new_arrays=True)
def gather(params, indices, *, axis: int):
    """Slices of `params` along `axis`, one for each entry of `indices`."""
    if not indices.shape:
        check_index_range("gather", indices, params.shape[axis])
        return copy_row(params, int(indices), axis)
    unsigned = UNSIGNED_INDEX.get(indices.dtype)
    try:
        if unsigned is not None:  # as unsigned, negative indices are out of range for NumPy too
            return box_string(params.take(indices.view(unsigned), axis=axis))
        check_index_range("gather", indices, params.shape[axis])
        return box_string(params.take(indices, axis=axis))
    except IndexError:
        check_index_range("gather", indices, params.shape[axis])
        raise


@gather.lower
def lower_gather(params, indices, *, axis):
    return np.take(params, indices, axis=axis)


@primitive(params=gather_wrt_params, indices=None, shape=gather_shape, new_arrays=True)
def take(params, indices, *, axis: int):
    """As `gather`, for uses where TensorFlow's gradient is dense rather than IndexedSlices."""
    return box_string(params.take(indices, axis=axis))


def copy_row(params: Any, i: int, axis: int) -> Any:
    """Copy one slice. `take` would first copy the whole of a non-contiguous array."""
    out = params[(..., i, *(slice(None),) * (-1 - axis))]
    return out.copy() if out.ndim else box_string(as_scalar_unless_string(out))


def box_string(out: Any) -> Any:
    """Wrap a single bytes object in a 0-d array; return anything else unchanged."""
    return np.array(out, object) if type(out) is bytes else out


def check_index_range(op: str, indices: Any, size: int) -> None:
    """Raise unless all `indices` lie in [0, size)."""
    if indices.size and not is_in_range(indices, size):
        flat = np.ravel(indices)
        where = int(np.flatnonzero((flat < 0) | (flat >= size))[0])
        place = "".join(f"[{i}]" for i in np.unravel_index(where, np.shape(indices)))
        raise InvalidArgumentError(
            f"{op}: indices{place} = {flat[where]} is not in [0, {size}). Mask or clip the "
            "indices first."
        )


def is_in_range(indices: Any, size: int) -> bool:
    """Whether all `indices` (a non-empty array) lie in [0, size)."""
    unsigned = UNSIGNED_INDEX.get(indices.dtype)
    if unsigned is None or not indices.ndim:
        return bool(indices.min() >= 0 and indices.max() < size)
    flat = indices.view(unsigned).reshape(-1)  # as unsigned, negative indices are large
    return bool(flat[flat.argmax()] < size)


def move_slices_first(updates: Any, indices: Any, axis: int) -> Any:
    """Flatten the indexed axes of `updates` (..., *indices.shape, ...) and move them to the front.

    `axis` is the gathered axis of the array that `updates` are added to.
    """
    behind = -axis - 1
    n = indices.ndim
    at = updates.ndim - behind - n
    flat = updates.reshape((*updates.shape[:at], indices.size, *updates.shape[at + n :]))
    return np.moveaxis(flat, at, 0)


def scatter_add_shape(updates, indices, axis, size):
    """Axes of `indices` become one axis of length `size`, which has position `axis`."""
    end = len(updates.shape) + axis + 1
    return (*updates.shape[: end - len(indices.shape)], size, *updates.shape[end:])


@primitive(
    updates=lambda g, indices, axis: take(g, indices, axis=axis),
    indices=None,
    shape=scatter_add_shape,
)
def scatter_add(updates, indices, *, axis: int, size: int):
    """Adjoint of `gather`: add slices of `updates` into zeros of length `size`."""
    slices = move_slices_first(updates, indices, axis)
    return np.moveaxis(sum_rows_by_id(slices, np.ravel(indices), size), 0, axis)


def sum_rows_by_id(rows: Any, ids: Any, size: int) -> Any:
    """Sum rows by id: row k is added to sum `ids[k]`, one of `size` sums."""
    wide = accumulator(rows.dtype)
    if rows.size < SPARSE_SUM_MIN_SIZE or wide.kind not in "fciu":
        total = np.zeros((size, *rows.shape[1:]), wide)
        if wide.kind == "O":
            total.fill(b"")  # strings are joined
        np.add.at(total, ids, rows)
        return total.astype(rows.dtype, copy=False)
    # A product with a sparse matrix of ones is many times faster than np.add.at. SciPy does not
    # check indices: one that is out of range would write outside of the result.
    from scipy.sparse import csr_matrix

    check_index_range("scatter_add", ids, size)
    n = len(ids)
    ones = np.ones(n, wide)
    chosen = csr_matrix((ones, ids, np.arange(n + 1)), (n, size))
    total = chosen.T @ rows.reshape(n, -1).astype(wide, copy=False)
    return total.reshape(size, *rows.shape[1:]).astype(rows.dtype, copy=False)


@scatter_add.lower
def lower_scatter_add(updates, indices, *, axis, size):
    slices = move_slices_first(updates, indices, axis)
    total = np.zeros((size, *slices.shape[1:]), updates.dtype)
    return np.moveaxis(total.at[np.ravel(indices)].add(slices), 0, axis)


def prepend_batch_index(indices: Any) -> Any:
    """Put the number of the example in front of each row of `indices` (batch, …, depth)."""
    shape = shape_of(indices)
    numbers = np.arange(shape[0], dtype=getattr(indices, "_array", indices).dtype)
    column = np.empty((*shape[:-1], 1), numbers.dtype)
    column[...] = numbers.reshape(-1, *(1,) * (len(shape) - 1))
    return concat(column, indices, axis=-1)


@with_shape(lambda batch, size: Spec(((*batch, 1), INT64)))
def make_row_starts(batch: tuple[int, ...], size: int) -> Any:
    """Positions (*batch, 1) of the first elements of rows of this size, end to end."""
    return np.arange(prod(batch)).reshape(*batch, 1) * size


def take_along(x: Any, indices: Any) -> Any:
    """Elements of the last axis of `x` (..., n) at `indices` (..., k), row by row."""
    *batch, n = shape_of(x)
    start = compute_constant(make_row_starts, tuple(batch), n)
    flat = reshape(x, shape=(prod(batch) * n,), rank=len(batch) + 1)
    return take(flat, add(indices, start), axis=-1)


@primitive(x=None, shape=lambda x, descending: Spec((x.shape, INT64)))
def stable_argsort(x, *, descending: bool):
    """Positions that sort the last axis; ties keep their order."""
    if not descending:
        return np.argsort(x, axis=-1, stable=True)
    # A stable sort of the reversed array, read backwards, keeps ties in their original order.
    n = x.shape[-1]
    back = np.argsort(x[..., ::-1], axis=-1, stable=True)
    return n - 1 - back[..., ::-1]


@primitive(indices=None, shape=lambda indices, depth: Spec(((*indices.shape, depth), BOOL)))
def one_hot_mask(indices, *, depth: int):
    """Mask with a new last axis, true where its position equals the index."""
    return np.equal(np.asarray(indices)[..., None], np.arange(depth))


@primitive(dynamic=True, x=None, shape=lambda x: Spec(((FRESH, len(x.shape)), INT64)))
def where_true(x):
    """Coordinates of the elements that are true or nonzero, one row each."""
    return np.argwhere(x)


where_true.keep_on_host("the size of the result depends on the values")


def flatten_batch_indices_shape(indices, shape, size):
    front = shape + (1,) * (len(indices.shape) - len(shape))
    return Spec((broadcast_shapes(indices.shape, front), INT64))


@primitive(indices=None, shape=flatten_batch_indices_shape)
def flatten_batch_indices(indices, *, shape: tuple[int, ...], size: int):
    """Indices into rows of length `size`, as indices into all rows of the batch, end to end."""
    check_index_range("gather", indices, size)
    return lower_flatten_batch_indices(indices, shape=shape, size=size)


@flatten_batch_indices.lower
def lower_flatten_batch_indices(indices, *, shape, size):
    start = np.arange(prod(shape), dtype=np.int64) * size
    return indices + start.reshape(shape + (1,) * (indices.ndim - len(shape)))
