"""Lowerings to JAX of functions of raw arrays that `tf`, `graph` and `state` define.

Each lowering replaces the function that it is given to by `on_jax`, with the same parameters. It
does not check values, because traced JAX arrays have none.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, TypeVar

import numpy as np

F = TypeVar("F", bound=Callable[..., Any])


def on_jax(lowering: Callable[..., Any]) -> Callable[[F], F]:
    """Decorate a function of raw arrays that `lowering` replaces on JAX.

    The lowering must be defined in `ops`, because only functions of `ops` run on JAX: see
    `compile/xla/kernel_namespace.py`.
    """

    def decorate(function: F) -> F:
        function.lowering = lowering  # type: ignore[attr-defined]
        return function

    return decorate


def skip_check(numbers: Any, *rest: Any) -> Any:
    """Return the first argument: lowering of a function that only checks it."""
    return numbers


def skip_check_of_second(label: str, numbers: Any, *rest: Any) -> Any:
    """Return the second argument: lowering of a function that only checks it."""
    return numbers


def lower_reverse_prefixes(lengths: Any, batch: int, size: int) -> Any:
    """Indices 0 … size - 1 for each length, with the first `length` of them reversed."""
    steps, ends = np.arange(size), lengths[:, None]
    return np.where(steps < ends, ends - 1 - steps, steps).astype(np.int64)


def lower_invert_raw_permutation(numbers: Any) -> Any:
    """Inverse permutations, in the dtype of `numbers`."""
    return np.argsort(numbers, axis=-1).astype(numbers.dtype)


def lower_invert_permutation(numbers: Any) -> Any:
    """Inverse permutations, in the dtype of indices."""
    return np.argsort(numbers, axis=-1)


def lower_repeat_for_columns(order: Any, shape: tuple[int, ...]) -> Any:
    """Permutations (..., n), repeated for each column."""
    return np.broadcast_to(order[..., None, :], shape)


def lower_mask_before(lengths: Any, size: int, dtype: Any) -> Any:
    """Mask of `size` positions: true where a position is below the length."""
    return (np.arange(size) < lengths[..., None]).astype(dtype)


def lower_max_length_of(lengths: Any) -> Any:
    """The largest length, rounded up."""
    return np.ceil(np.max(lengths, initial=0)).astype(np.int64)


def lower_search_rows(table: Any, wanted: Any, side: str, kind: Any) -> Any:
    """Insertion points of values in sorted rows."""
    lines = prod(table.shape[:-1])
    rows, values = (t.reshape(lines, t.shape[-1]) for t in (table, wanted))

    def search(row: Any, these: Any) -> Any:
        return np.searchsorted(row, these, side)

    # `np` is jax.numpy, whose vectorize compiles to one program for all rows
    places = np.vectorize(search, signature="(n),(m)->(m)")(rows, values)
    return places.astype(kind).reshape(wanted.shape)


def count_ids_in_range(ids: Any, size: int) -> Any:
    """Count the occurrences of each of 0 … size - 1; other ids are ignored."""
    none: Any = np.zeros(size, np.int64)
    return none.at[np.ravel(ids)].add(1, mode="drop")


def lower_count_in_bins(ids: Any, size: int, dtype: Any) -> Any:
    """Count the rows of each segment."""
    return count_ids_in_range(ids, size).astype(dtype)


def lower_expand_to_rank(values: Any, rank: int) -> Any:
    """Reshape a vector over segments to broadcast against `rank` axes."""
    return values.reshape(values.shape + (1,) * (rank - 1))


def lower_mask_nonempty_segments(ids: Any, size: int, rank: int) -> Any:
    """Mask of the segments that have rows, as a column."""
    return lower_expand_to_rank(lower_count_in_bins(ids, size, bool), rank)


def lower_segment_divisors(ids: Any, size: int, rank: int, power: int, dtype: Any) -> Any:
    """The number of rows of each segment, at least 1, or its square root if `power` is 2."""
    rows = np.maximum(lower_count_in_bins(ids, size, np.float64), 1) ** (1 / power)
    return lower_expand_to_rank(rows.astype(dtype), rank)


def lower_divide_toward_zero(total: Any, count: Any) -> Any:
    """Quotients rounded towards zero."""
    return ((total - np.fmod(total, count)) // count).astype(total.dtype)


def lower_replace_negative_ids(ids: Any, label: str, size: int) -> Any:
    """Replace negative ids by `size`."""
    return np.where(ids < 0, size, ids).astype(ids.dtype)


def lower_count_sorted_segments(ids: Any) -> Any:
    """Number of segments of sorted ids: the last id plus one."""
    return ids[-1].astype(np.int64) + 1 if ids.size else np.int64(0)


def lower_count_bins(numbers: Any, least: int, most: int | None) -> Any:
    """Number of bins that integers need, between `least` and `most`."""
    size = np.maximum(np.max(numbers, initial=-1).astype(np.int64) + 1, least)
    return size if most is None else np.minimum(size, most)


def lower_assign_bins(numbers: Any, lines: int, size: int) -> Any:
    """Bin of each integer, line by line; an extra bin holds integers of at least `size`."""
    flat = numbers.reshape(lines, numbers.size // max(lines, 1))
    return (np.minimum(flat, size) + (size + 1) * np.arange(lines)[:, None]).ravel()


def lower_count_ids(ids: Any, shape: tuple[int, ...], binary: bool, dtype: Any) -> Any:
    """Count the ids in each bin, without the extra bins for integers out of range."""
    size, lines = shape[-1], prod(shape[:-1])
    bins = count_ids_in_range(ids, lines * (size + 1)).reshape(lines, size + 1)[:, :size]
    return (np.minimum(bins, 1) if binary else bins).astype(dtype).reshape(shape)


def lower_flatten_pairs(rows: Any, columns: Any, size: int) -> Any:
    """Flat positions of pairs of integers below `size` in a square matrix."""
    return np.ravel(rows * size + columns)


def lower_assign_equal_bins(values: Any, limits: Any, count: int, kind: Any) -> Any:
    """Bins of equal width between two limits for values; outliers go to the end bins."""
    low, high = limits[0].astype(np.float64), limits[1].astype(np.float64)
    scaled = (values.astype(np.float64) - low) / (high - low)
    return np.clip(np.floor(scaled * count), 0, count - 1).astype(kind)


def lower_is_significant(values: Any, rcond: Any) -> Any:
    """Mask of the singular values that exceed `rcond` times the largest."""
    largest = np.max(values, axis=-1, keepdims=True, initial=0)
    return values > largest * np.asarray(rcond)[..., None]


def lower_scalar_of(function: Any, *args: Any) -> Any:
    """Result of a function that returns one integer, as an int64 array."""
    return np.asarray(function(*args), np.int64)


def lower_apply_updates(raw: Any, how: str, at: tuple[Any, ...], updates: Any) -> Any:
    """Apply `updates` to `raw` at an index; for repeated positions the order is undefined."""
    if how == "div" and raw.dtype.kind in "iu":
        raise NotImplementedError("repeated integer divisions depend on their order")
    place = raw.at[at]
    if how == "sub":
        return place.add(-updates)
    name = {"update": "set", "mul": "multiply", "div": "divide"}.get(how, how)
    return getattr(place, name)(updates)


def lower_update_rows(raw: Any, own: bool, how: str, indices: Any, updates: Any) -> Any:
    """Update rows; a scalar update applies to all of them."""
    whole = indices.shape + raw.shape[1:]
    return lower_apply_updates(raw, how, (indices,), np.broadcast_to(updates, whole))


def lower_update_positions(raw: Any, own: bool, how: str, indices: Any, updates: Any) -> Any:
    """Update the positions in the last axis of `indices`."""
    return lower_apply_updates(raw, how, tuple(np.moveaxis(indices, -1, 0)), updates)


def lower_update_batch_rows(raw: Any, own: bool, indices: Any, updates: Any) -> Any:
    """Update rows of each batch entry."""
    lead = np.indices(indices.shape, sparse=True)[:-1]
    return raw.at[(*lead, indices)].set(updates)


def lower_update_slice(raw: Any, own: bool, key: Any, value: Any) -> Any:
    """Assign to a slice."""
    key = (*key, ...) if ... not in key else key
    rank = raw[key].ndim
    value = value.reshape(value.shape[max(value.ndim - rank, 0) :])
    return raw.at[key].set(value)
