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


def reverse_prefixes_lowered(lengths: Any, batch: int, size: int) -> Any:
    """Indices 0 … size - 1 for each length, with the first `length` of them reversed."""
    steps, ends = np.arange(size), lengths[:, None]
    return np.where(steps < ends, ends - 1 - steps, steps).astype(np.int64)


def invert_raw_permutation_lowered(numbers: Any) -> Any:
    """Inverse permutations, in the dtype of `numbers`."""
    return np.argsort(numbers, axis=-1).astype(numbers.dtype)


def invert_permutation_lowered(numbers: Any) -> Any:
    """Inverse permutations, in the dtype of indices."""
    return np.argsort(numbers, axis=-1)


def repeat_for_columns_lowered(order: Any, shape: tuple[int, ...]) -> Any:
    """Permutations (..., n), repeated for each column."""
    return np.broadcast_to(order[..., None, :], shape)


def mask_before_lowered(lengths: Any, size: int, dtype: Any) -> Any:
    """Mask of `size` positions: true where a position is below the length."""
    return (np.arange(size) < lengths[..., None]).astype(dtype)


def max_length_of_lowered(lengths: Any) -> Any:
    """The largest length, rounded up."""
    return np.ceil(np.max(lengths, initial=0)).astype(np.int64)


def search_rows_lowered(table: Any, wanted: Any, side: str, kind: Any) -> Any:
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


def count_in_bins_lowered(ids: Any, size: int, dtype: Any) -> Any:
    """Count the rows of each segment."""
    return count_ids_in_range(ids, size).astype(dtype)


def expand_to_rank_lowered(values: Any, rank: int) -> Any:
    """Reshape a vector over segments to broadcast against `rank` axes."""
    return values.reshape(values.shape + (1,) * (rank - 1))


def mask_nonempty_segments_lowered(ids: Any, size: int, rank: int) -> Any:
    """Mask of the segments that have rows, as a column."""
    return expand_to_rank_lowered(count_in_bins_lowered(ids, size, bool), rank)


def segment_divisors_lowered(ids: Any, size: int, rank: int, power: int, dtype: Any) -> Any:
    """The number of rows of each segment, at least 1, or its square root if `power` is 2."""
    rows = np.maximum(count_in_bins_lowered(ids, size, np.float64), 1) ** (1 / power)
    return expand_to_rank_lowered(rows.astype(dtype), rank)


def divide_toward_zero_lowered(total: Any, count: Any) -> Any:
    """Quotients rounded towards zero."""
    return ((total - np.fmod(total, count)) // count).astype(total.dtype)


def replace_negative_ids_lowered(ids: Any, label: str, size: int) -> Any:
    """Replace negative ids by `size`."""
    return np.where(ids < 0, size, ids).astype(ids.dtype)


def count_sorted_segments_lowered(ids: Any) -> Any:
    """Number of segments of sorted ids: the last id plus one."""
    return ids[-1].astype(np.int64) + 1 if ids.size else np.int64(0)


def count_bins_lowered(numbers: Any, least: int, most: int | None) -> Any:
    """Number of bins that integers need, between `least` and `most`."""
    size = np.maximum(np.max(numbers, initial=-1).astype(np.int64) + 1, least)
    return size if most is None else np.minimum(size, most)


def assign_bins_lowered(numbers: Any, lines: int, size: int) -> Any:
    """Bin of each integer, line by line; an extra bin holds integers of at least `size`."""
    flat = numbers.reshape(lines, numbers.size // max(lines, 1))
    return (np.minimum(flat, size) + (size + 1) * np.arange(lines)[:, None]).ravel()


def count_ids_lowered(ids: Any, shape: tuple[int, ...], binary: bool, dtype: Any) -> Any:
    """Count the ids in each bin, without the extra bins for integers out of range."""
    size, lines = shape[-1], prod(shape[:-1])
    bins = count_ids_in_range(ids, lines * (size + 1)).reshape(lines, size + 1)[:, :size]
    return (np.minimum(bins, 1) if binary else bins).astype(dtype).reshape(shape)


def flatten_pairs_lowered(rows: Any, columns: Any, size: int) -> Any:
    """Flat positions of pairs of integers below `size` in a square matrix."""
    return np.ravel(rows * size + columns)


def assign_equal_bins_lowered(values: Any, limits: Any, count: int, kind: Any) -> Any:
    """Bins of equal width between two limits for values; outliers go to the end bins."""
    low, high = limits[0].astype(np.float64), limits[1].astype(np.float64)
    scaled = (values.astype(np.float64) - low) / (high - low)
    return np.clip(np.floor(scaled * count), 0, count - 1).astype(kind)


def is_significant_lowered(values: Any, rcond: Any) -> Any:
    """Mask of the singular values that exceed `rcond` times the largest."""
    largest = np.max(values, axis=-1, keepdims=True, initial=0)
    return values > largest * np.asarray(rcond)[..., None]


def scalar_of_lowered(function: Any, *args: Any) -> Any:
    """Result of a function that returns one integer, as an int64 array."""
    return np.asarray(function(*args), np.int64)


# -- scatter updates of a variable: see `state/variable/scatter_kernel.py`


def apply_updates_lowered(raw: Any, how: str, at: tuple[Any, ...], updates: Any) -> Any:
    """Apply `updates` to `raw` at an index; for repeated positions the order is undefined."""
    if how == "div" and raw.dtype.kind in "iu":
        raise NotImplementedError("repeated integer divisions depend on their order")
    place = raw.at[at]
    if how == "sub":
        return place.add(-updates)
    name = {"update": "set", "mul": "multiply", "div": "divide"}.get(how, how)
    return getattr(place, name)(updates)


def update_rows_lowered(raw: Any, own: bool, how: str, indices: Any, updates: Any) -> Any:
    """Update rows; a scalar update applies to all of them."""
    whole = indices.shape + raw.shape[1:]
    return apply_updates_lowered(raw, how, (indices,), np.broadcast_to(updates, whole))


def update_positions_lowered(raw: Any, own: bool, how: str, indices: Any, updates: Any) -> Any:
    """Update the positions in the last axis of `indices`."""
    return apply_updates_lowered(raw, how, tuple(np.moveaxis(indices, -1, 0)), updates)


def update_batch_rows_lowered(raw: Any, own: bool, indices: Any, updates: Any) -> Any:
    """Update rows of each batch entry."""
    lead = np.indices(indices.shape, sparse=True)[:-1]
    return raw.at[(*lead, indices)].set(updates)


def update_slice_lowered(raw: Any, own: bool, key: Any, value: Any) -> Any:
    """Assign to a slice."""
    key = (*key, ...) if ... not in key else key
    rank = raw[key].ndim
    value = value.reshape(value.shape[max(value.ndim - rank, 0) :])
    return raw.at[key].set(value)
