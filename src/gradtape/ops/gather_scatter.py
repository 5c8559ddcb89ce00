"""Gathers and scatters: slices, elements and rows selected by integer tensors."""

from __future__ import annotations

import operator
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
    keep_shape,
    lead_axes,
    replace_axis,
    with_shape,
)
from gradtape.core.size_constant import compute_constant
from gradtape.ops.elementwise import add, cast, equal
from gradtape.ops.reduce import unbroadcast
from gradtape.ops.shape import as_scalar_unless_string, concat, reshape, shape_of, zeros

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


# -- indices (..., depth): each row points at an element or slice in the first `depth` axes --------


def gather_nd_wrt_params(g, params_spec, indices, rank):
    return scatter_nd(g, indices, shape=params_spec.shape[len(params_spec.shape) - rank :])


def gather_nd_shape(params, indices, rank):
    front, depth = lead_axes(params, rank), operator.index(indices.shape[-1])
    return (*front, *indices.shape[:-1], *params.shape[len(front) + depth :])


@primitive(params=gather_nd_wrt_params, indices=None, shape=gather_nd_shape)
def gather_nd(params, indices, *, rank: int):
    """Slices of the last `rank` axes of `params` that the rows of `indices` point at."""
    lead = params.shape[: params.ndim - rank]
    own = params.shape[params.ndim - rank :]
    depth = indices.shape[-1]
    rows = flatten_nd_indices("gather_nd", indices, own)
    flat = (
        params.reshape(*lead, -1, *own[depth:])
        if params.size
        else flatten_empty(params, lead, own, depth)
    )
    out = flat.take(rows, axis=len(lead))
    return (
        out.reshape(lead + indices.shape[:-1] + own[depth:])
        if out.ndim
        else box_string(as_scalar_unless_string(out))
    )


def flatten_empty(params: Any, lead: tuple[int, ...], own: tuple[int, ...], depth: int) -> Any:
    """Flatten the indexed axes of an array without elements, where -1 cannot be inferred."""
    return params.reshape(*lead, int(np.prod(own[:depth])), *own[depth:])


def flatten_nd_indices(op: str, indices: Any, shape: tuple[int, ...]) -> Any:
    """Convert rows of `indices` to positions in the flattened first axes of `shape`."""
    if indices.shape[-1] == 1 and indices.size and is_in_range(indices, shape[0]):
        return indices[..., 0]
    sizes = np.array(shape[: indices.shape[-1]], indices.dtype)
    bad = (indices < 0) | (indices >= sizes)
    if bad.any():
        where = np.argwhere(bad.any(axis=-1))[0]
        place = "".join(f"[{i}]" for i in where)
        raise InvalidArgumentError(
            f"{op}: indices{place} = {indices[tuple(where)].tolist()} does not index into shape "
            f"{str(list(shape)).replace(' ', '')}. Mask or clip the indices first."
        )
    weights = [1] * len(sizes)
    for i in range(len(sizes) - 1, 0, -1):
        weights[i - 1] = weights[i] * shape[i]
    return (indices * np.array(weights, np.int64)).sum(axis=-1)


@gather_nd.lower
def lower_gather_nd(params, indices, *, rank):
    lead = (slice(None),) * (params.ndim - rank)
    return params[(*lead, *(indices[..., i] for i in range(indices.shape[-1])))]


def scatter_nd_wrt_updates(g, indices, shape):
    return gather_nd(g, indices, rank=len(shape))


def scatter_nd_shape(updates, indices, shape):
    inner = len(indices.shape) - 1 + len(shape) - operator.index(indices.shape[-1])
    return (*lead_axes(updates, inner), *shape)


@primitive(updates=scatter_nd_wrt_updates, indices=None, shape=scatter_nd_shape)
def scatter_nd(updates, indices, *, shape: tuple[int, ...]):
    """Zeros of `shape` with `updates` added where the rows of `indices` point."""
    slices, lead, rows = prepare_scatter_nd("scatter_nd", updates, indices, shape)
    depth = indices.shape[-1]
    total = sum_rows_by_id(slices, rows, int(np.prod(shape[:depth])))
    return np.moveaxis(total, 0, len(lead)).reshape(lead + shape)


def prepare_scatter_nd(
    op: str, updates: Any, indices: Any, shape: tuple[int, ...]
) -> tuple[Any, tuple[int, ...], Any]:
    """Prepare a scatter: updates as rows (rows first, then lead axes), lead axes, and positions."""
    n = indices.ndim - 1
    behind = len(shape) - indices.shape[-1]
    at = np.ndim(updates) - n - behind
    lead = np.shape(updates)[:at]
    rows = np.ravel(flatten_nd_indices(op, indices, shape))
    flat = np.reshape(updates, (*lead, rows.size, *np.shape(updates)[at + n :]))
    return np.moveaxis(flat, at, 0), lead, rows


@scatter_nd.lower
def lower_scatter_nd(updates, indices, *, shape):
    n = indices.ndim - 1
    lead = updates.shape[: updates.ndim - n - len(shape) + indices.shape[-1]]
    key = ((slice(None),) * len(lead)) + tuple(indices[..., i] for i in range(indices.shape[-1]))
    return np.zeros(lead + shape, updates.dtype).at[key].add(updates)


def update_nd_wrt_x(g, indices, x_spec, updates_spec, rank):
    """Zero where `x` was overwritten."""
    return update_nd(g, indices, zeros(updates_spec.shape, x_spec.dtype), rank=rank)


def update_nd_wrt_updates(g, indices, updates_spec, out_spec, rank):
    """The cotangent at the written positions, summed over lead axes that only `x` has."""
    shape = updates_spec.shape
    return unbroadcast(gather_nd(g, indices, rank=rank), shape, len(shape), g, out_spec.shape)


@primitive(x=update_nd_wrt_x, indices=None, updates=update_nd_wrt_updates, shape=keep_shape)
def update_nd(x, indices, updates, *, rank: int):
    """`x` with `updates` written where the rows of `indices` point.

    The last of several updates to one position wins.
    """
    out = np.array(x, order="C")
    write_nd(out, indices, updates, rank)
    return out


def write_nd(x: Any, indices: Any, updates: Any, rank: int) -> None:
    """Write `updates` into the raw, C-contiguous array `x` where the rows of `indices` point."""
    lead = x.shape[: x.ndim - rank]
    own = x.shape[x.ndim - rank :]
    depth = indices.shape[-1]
    rows = flatten_nd_indices("tensor_scatter_nd_update", indices, own)
    flat = x.reshape((*lead, int(np.prod(own[:depth])), *own[depth:]))
    flat[(*((slice(None),) * len(lead)), rows)] = updates


@update_nd.lower
def lower_update_nd(x, indices, updates, *, rank):
    key = ((slice(None),) * (x.ndim - rank)) + tuple(
        indices[..., i] for i in range(indices.shape[-1])
    )
    return x.at[key].set(updates)


def find_ties(x, indices, updates, out, x_spec):
    """Where `x` and `updates` equal the extreme, and how many of them tie in each position."""
    own = cast(equal(x, out), dtype=x_spec.dtype)
    other = cast(
        equal(updates, gather_nd(out, indices, rank=len(x_spec.shape))), dtype=x_spec.dtype
    )
    return own, other, own + scatter_nd(other, indices, shape=x_spec.shape)


def scatter_nd_extreme_wrt_x(g, x, indices, updates, out, x_spec):
    """Elements that tie for the extreme share the cotangent equally."""
    own, _, count = find_ties(x, indices, updates, out, x_spec)
    return g * own / count


def scatter_nd_extreme_wrt_updates(g, x, indices, updates, out, x_spec):
    _, other, count = find_ties(x, indices, updates, out, x_spec)
    return gather_nd(g / count, indices, rank=len(x_spec.shape)) * other


@primitive(
    x=scatter_nd_extreme_wrt_x,
    indices=None,
    updates=scatter_nd_extreme_wrt_updates,
    shape=keep_shape,
)
def scatter_nd_extreme(x, indices, updates, *, largest: bool):
    """Elementwise maximum (or minimum) of `x` and of the `updates` at `indices`."""
    slices, _, rows = prepare_scatter_nd("tensor_scatter_nd_max", updates, indices, x.shape)
    depth = indices.shape[-1]
    out = np.array(x).reshape((int(np.prod(x.shape[:depth])), *x.shape[depth:]))
    (np.maximum if largest else np.minimum).at(out, rows, slices)
    return out.reshape(x.shape)


@scatter_nd_extreme.lower
def lower_scatter_nd_extreme(x, indices, updates, *, largest):
    target = x.at[tuple(indices[..., i] for i in range(indices.shape[-1]))]
    return target.max(updates) if largest else target.min(updates)


def prepend_batch_index(indices: Any) -> Any:
    """Put the number of the example in front of each row of `indices` (batch, …, depth)."""
    shape = shape_of(indices)
    numbers = np.arange(shape[0], dtype=getattr(indices, "_array", indices).dtype)
    column = np.empty((*shape[:-1], 1), numbers.dtype)
    column[...] = numbers.reshape(-1, *(1,) * (len(shape) - 1))
    return concat(column, indices, axis=-1)


# -- along the last axis ---------------------------------------------------------------------------


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
