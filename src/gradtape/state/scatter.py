"""New values of a variable of which some elements changed: raw arrays in, a raw array out."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.errors import InvalidArgumentError
from gradtape.core.tensor import Tensor

COMBINE: dict[str, Any] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.true_divide,
    "max": np.maximum,
    "min": np.minimum,
}
MANY = 2048  # elements from which rounds of distinct rows are quicker than `ufunc.at`
ROUNDS = 4


def combined(raw: Any, how: str, at: tuple[Any, ...], updates: Any) -> Any:
    """A copy of `raw` with `updates` brought in at the index `at`, one after another."""
    out = np.array(raw)
    with np.errstate(all="ignore"):
        if how == "update":
            out[at] = updates
        elif how == "div" and out.dtype.kind in "iu":
            for position in np.ndindex(at[0].shape):
                one = tuple(index[position] for index in at)
                out[one] = np.trunc(np.true_divide(out[one], updates[position]))
        elif len(at) == 1 and updates.size >= MANY:
            combine_rows(out, COMBINE[how], at[0].ravel(), updates.reshape(-1, *out.shape[1:]))
        else:
            COMBINE[how].at(out, at, updates)
    return out


def combine_rows(out: Any, operation: Any, rows: Any, updates: Any) -> None:
    """Bring `updates` into `rows` of `out`, in order, by rounds in which no row comes twice."""
    first = np.empty(len(out), np.intp)
    for _ in range(ROUNDS):
        turn = np.arange(len(rows))
        first[rows[::-1]] = turn[::-1]  # of several the one assigned last stays: the first of them
        is_first = first[rows] == turn
        now = np.flatnonzero(is_first)
        chosen = rows[now]
        out[chosen] = operation(out.take(chosen, axis=0), updates.take(now, axis=0))
        if len(now) == len(rows):
            return
        later = np.flatnonzero(~is_first)
        rows, updates = rows[later], updates.take(later, axis=0)
    operation.at(out, rows, updates)


def scattered_rows(raw: Any, how: str, indices: Any, updates: Any) -> Any:
    """`updates[k]` brought in at row `indices[k]`; a scalar goes everywhere."""
    op = f"scatter_{how}"
    whole = np.shape(indices) + raw.shape[1:]
    if np.shape(updates) not in (whole, ()):
        raise InvalidArgumentError(
            f"{op}: Must have updates.shape = indices.shape + params.shape[1:] or "
            f"updates.shape = []. Received updates {list(np.shape(updates))}, "
            f"indices {list(np.shape(indices))}, params {list(raw.shape)}."
        )
    check_rows(op, indices, raw.shape[0])
    return combined(raw, how, (np.asarray(indices),), np.broadcast_to(updates, whole))


def check_rows(op: str, indices: Any, size: int) -> None:
    """Raise unless all `indices` are rows."""
    bad = np.argwhere((np.asarray(indices) < 0) | (np.asarray(indices) >= size))
    if len(bad):
        first = tuple(int(i) for i in bad[0])
        raise InvalidArgumentError(
            f"{op}: indices{list(first)} = {np.asarray(indices)[first]} is not in [0, {size}). "
            "Mask or clip the indices first."
        )


def scattered_nd(raw: Any, how: str, indices: Any, updates: Any) -> Any:
    """`updates[k]` brought in at the position `indices[k, :]`."""
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
    return combined(raw, how, tuple(np.moveaxis(indices, -1, 0)), updates)


def scattered_batch(raw: Any, indices: Any, updates: Any) -> Any:
    """`updates[b, k]` written to `raw[b, indices[b, k]]`, for any number of batch axes."""
    lead = np.indices(indices.shape, sparse=True)[:-1]
    check_rows("batch_scatter_update", indices, raw.shape[indices.ndim - 1])
    return combined(raw, "update", (*lead, indices), updates)


def sliced(raw: Any, key: Any, value: Any) -> Any:
    """`raw` with `value` broadcast into what `key` selects."""
    out = np.array(raw)
    target = out[(*key, ...) if ... not in key else key]
    while value.ndim > target.ndim and value.shape[0] == 1:
        value = value[0]
    try:
        target[...] = value
    except ValueError:
        raise InvalidArgumentError(
            f"assign: Cannot broadcast input shape {list(value.shape)} into final shape "
            f"{list(target.shape)} of the slice."
        ) from None
    return out


def plain_key(key: Any) -> tuple[Any, ...]:
    """An index made of ints, slices, None and Ellipsis, whatever tensors it was written with."""
    return tuple(plain(k) for k in (key if isinstance(key, tuple) else (key,)))


def plain(k: Any) -> Any:
    """One entry of an index."""
    if isinstance(k, slice):
        return slice(*(None if part is None else int(part) for part in (k.start, k.stop, k.step)))
    return k if k is None or k is ... else int(k)


def is_mask(key: Any) -> bool:
    """Whether `key` selects by truth values."""
    if isinstance(key, Tensor):
        key = key._array
    return getattr(key, "dtype", None) == np.bool_ or isinstance(key, bool)
