"""Updates of some elements of a variable, on raw arrays.

Each function takes the current array and `own`: whether it may write into the array. If not, it
writes into a copy. All checks come first; then a single call of a C function writes. With `defer`
the function does not write but returns that call, on the array itself: a C function and its
arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

import numpy as np

from gradtape.core.errors import InvalidArgumentError
from gradtape.core.shape_rule import keep_shape, with_shape
from gradtape.core.tensor import Tensor
from gradtape.ops import xla_lowering
from gradtape.ops.gather_scatter import is_in_range
from gradtape.ops.xla_lowering import on_jax

UPDATE_UFUNCS: dict[str, Any] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.true_divide,
    "max": np.maximum,
    "min": np.minimum,
}
DELTA_SIGNS = {"add": 1, "sub": -1}
ROWWISE_SIZE = 2048  # number of elements from which updating whole rows is faster than `ufunc.at`
MAX_ROUNDS = 4
F = TypeVar("F", bound=Callable[..., Any])
WriteCall = tuple[Any, ...]  # a C function and its arguments


def deferrable(function: F) -> F:
    """Mark an update function that takes `defer`, and whose result is otherwise a new array."""
    function.can_defer = True  # type: ignore[attr-defined]
    return function


def apply_updates(
    raw: Any, own: bool, how: str, at: tuple[Any, ...], updates: Any, defer: bool
) -> Any:
    """Apply `updates` to `raw` at the index `at`, in order; repeated positions accumulate."""
    if defer:
        return make_deferred_call(raw, how, at, updates)
    out = raw if own and raw.flags.c_contiguous else np.array(raw, order="C")
    write, *args = make_write_call(out, how, at, updates)
    if how == "update" or write is load_sparse_product():
        write(*args)
    else:
        with np.errstate(all="ignore"):
            write(*args)
    return out


def make_deferred_call(raw: Any, how: str, at: tuple[Any, ...], updates: Any) -> WriteCall:
    """The call that will write into `raw`; its arguments do not share memory with `raw`."""
    if np.may_share_memory(updates, raw):
        updates = updates.copy()
    at = tuple([index.copy() if np.may_share_memory(index, raw) else index for index in at])
    if raw.flags.c_contiguous:
        return make_write_call(raw, how, at, updates)
    return np.copyto, raw, apply_updates(raw, False, how, at, updates, False)


def make_write_call(out: Any, how: str, at: tuple[Any, ...], updates: Any) -> WriteCall:
    """The call that applies `updates` to `out`, which is C-contiguous."""
    if how == "update":
        return out.__setitem__, at, updates
    many = len(at) == 1 and updates.size >= ROWWISE_SIZE
    if many and how in DELTA_SIGNS and out.dtype.char in "fd" and load_sparse_product() is not None:
        return make_sparse_product_call(out, how, at[0].ravel(), updates)
    with np.errstate(all="ignore"):
        if how == "div" and out.dtype.kind in "iu":
            return np.copyto, out, divide_integers(out.copy(), at, updates)
        if many:
            rows = updates.reshape(-1, *out.shape[1:])
            return out.__setitem__, *combine_rows(out, UPDATE_UFUNCS[how], at[0].ravel(), rows)
    return UPDATE_UFUNCS[how].at, out, at, updates


def divide_integers(out: Any, at: tuple[Any, ...], updates: Any) -> Any:
    """Divide the integers `out` by `updates` at the index `at`, in order."""
    for position in np.ndindex(at[0].shape):
        one = tuple(index[position] for index in at)
        out[one] = np.trunc(np.true_divide(out[one], updates[position]))
    return out


def make_sparse_product_call(out: Any, how: str, rows: Any, updates: Any) -> WriteCall:
    """The call that adds `updates` to `rows` of `out`, or subtracts them, in order.

    This is `out += matrix @ updates` with a sparse matrix that has one entry in each column, 1 or
    -1: a single pass over the rows.
    """
    if rows.dtype != np.int32:
        rows = rows.astype(np.int64, copy=False)
    n, size = len(rows), len(out)
    starts = np.arange(n + 1, dtype=rows.dtype)
    signs = np.empty(n, out.dtype)
    signs.fill(DELTA_SIGNS[how])
    flat = out.reshape(-1)
    width = flat.size // size
    return load_sparse_product(), size, n, width, starts, rows, signs, updates.reshape(-1), flat


@cache
def load_sparse_product() -> Any:
    """SciPy's sparse-dense matrix product, which adds to its last argument; None if missing."""
    try:
        from scipy.sparse._sparsetools import csc_matvecs
    except ImportError:  # a private module of SciPy
        return None
    return csc_matvecs


def combine_rows(out: Any, operation: Any, rows: Any, updates: Any) -> tuple[Any, Any]:
    """Apply `updates` to `rows` of `out`, in order; returns the distinct rows and their values."""
    chosen, places = np.unique(rows, return_inverse=True)
    total = out.take(chosen, axis=0)
    combine_in_rounds(total, operation, places, updates)
    return chosen, total


def combine_in_rounds(out: Any, operation: Any, rows: Any, updates: Any) -> None:
    """Apply `updates` to `rows` of `out`, in order, in rounds without repeated rows."""
    first = np.empty(len(out), np.intp)
    for _ in range(MAX_ROUNDS):
        turn = np.arange(len(rows))
        first[rows[::-1]] = turn[::-1]  # the last assignment wins: the first occurrence of the row
        is_first = first[rows] == turn
        now = np.flatnonzero(is_first)
        chosen = rows[now]
        out[chosen] = operation(out.take(chosen, axis=0), updates.take(now, axis=0))
        if len(now) == len(rows):
            return
        later = np.flatnonzero(~is_first)
        rows, updates = rows[later], updates.take(later, axis=0)
    operation.at(out, rows, updates)


@deferrable
@on_jax(xla_lowering.lower_update_rows)
@with_shape(keep_shape)
def update_rows(
    raw: Any, own: bool, how: str, indices: Any, updates: Any, defer: bool = False
) -> Any:
    """Apply `updates[k]` to row `indices[k]`; a scalar applies to all these rows."""
    op = f"scatter_{how}"
    whole = indices.shape + raw.shape[1:]
    if updates.shape != whole and updates.shape != ():
        raise InvalidArgumentError(
            f"{op}: Must have updates.shape = indices.shape + params.shape[1:] or "
            f"updates.shape = []. Received updates {list(updates.shape)}, "
            f"indices {list(indices.shape)}, params {list(raw.shape)}."
        )
    check_rows(op, indices, raw.shape[0])
    if updates.shape != whole:
        updates = np.broadcast_to(updates, whole)
    return apply_updates(raw, own, how, (np.asarray(indices),), updates, defer)


def check_rows(op: str, indices: Any, size: int) -> None:
    """Raise unless all `indices` lie in [0, size)."""
    if not indices.size or is_in_range(indices, size):
        return
    bad = np.argwhere((np.asarray(indices) < 0) | (np.asarray(indices) >= size))
    first = tuple(int(i) for i in bad[0])
    raise InvalidArgumentError(
        f"{op}: indices{list(first)} = {np.asarray(indices)[first]} is not in [0, {size}). "
        "Mask or clip the indices first."
    )


@deferrable
@on_jax(xla_lowering.lower_update_positions)
@with_shape(keep_shape)
def update_positions(
    raw: Any, own: bool, how: str, indices: Any, updates: Any, defer: bool = False
) -> Any:
    """Apply `updates[k]` at the position `indices[k, :]`."""
    op = f"scatter_nd_{how}"
    if not np.ndim(indices) or not 0 < indices.shape[-1] <= raw.ndim:
        raise InvalidArgumentError(
            f"{op}: the last axis of indices must have 1 to {raw.ndim} entries, one for each axis "
            f"of the variable. Received indices {list(np.shape(indices))}."
        )
    depth = indices.shape[-1]
    whole = indices.shape[:-1] + raw.shape[depth:]
    if np.shape(updates) != whole:
        raise InvalidArgumentError(
            f"{op}: updates must have the shape {list(whole)}. Received {list(np.shape(updates))}."
        )
    size = np.array(raw.shape[:depth], dtype=np.int64)
    bad = np.argwhere(((indices < 0) | (indices >= size)).any(axis=-1))
    if len(bad):
        first = tuple(int(i) for i in bad[0])
        raise InvalidArgumentError(
            f"{op}: indices{list(first)} = {indices[first].tolist()} does not index into shape "
            f"{list(raw.shape)}."
        )
    return apply_updates(raw, own, how, tuple(np.moveaxis(indices, -1, 0)), updates, defer)


@deferrable
@on_jax(xla_lowering.lower_update_batch_rows)
@with_shape(keep_shape)
def update_batch_rows(raw: Any, own: bool, indices: Any, updates: Any, defer: bool = False) -> Any:
    """Write `updates[b, k]` to `raw[b, indices[b, k]]`, for any number of batch axes."""
    lead = np.indices(indices.shape, sparse=True)[:-1]
    check_rows("batch_scatter_update", indices, raw.shape[indices.ndim - 1])
    return apply_updates(raw, own, "update", (*lead, indices), updates, defer)


@deferrable
@on_jax(xla_lowering.lower_update_slice)
@with_shape(keep_shape)
def update_slice(raw: Any, own: bool, key: Any, value: Any, defer: bool = False) -> Any:
    """Broadcast `value` into the part of `raw` that `key` selects."""
    out = raw if own or defer else np.array(raw)
    target = out[(*key, ...) if ... not in key else key]
    while value.ndim > target.ndim and value.shape[0] == 1:
        value = value[0]
    try:
        if defer:
            shared = np.may_share_memory(value, raw)
            value = np.broadcast_to(value.copy() if shared else value, target.shape)
            return target.__setitem__, ..., value
        target[...] = value
    except ValueError:
        raise InvalidArgumentError(
            f"assign: Cannot broadcast input shape {list(value.shape)} into final shape "
            f"{list(target.shape)} of the slice."
        ) from None
    return out


def as_static_index(key: Any) -> tuple[Any, ...]:
    """An index with its tensors converted: only ints, slices, None and Ellipsis."""
    return tuple(as_static_index_entry(k) for k in (key if isinstance(key, tuple) else (key,)))


def as_static_index_entry(k: Any) -> Any:
    """Convert one entry of an index."""
    if isinstance(k, slice):
        return slice(*(None if part is None else int(part) for part in (k.start, k.stop, k.step)))
    return k if k is None or k is ... else int(k)


def is_mask(key: Any) -> bool:
    """Whether `key` is a boolean mask."""
    if isinstance(key, Tensor):
        key = key._array
    return getattr(key, "dtype", None) == np.bool_ or isinstance(key, bool)
