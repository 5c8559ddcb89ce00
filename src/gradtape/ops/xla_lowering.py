"""Functions of raw arrays that `tf` applies, as they run on JAX: without a look at the values.

Each has the parameters of the function whose place it takes (`on_jax`), which checks.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, TypeVar

import numpy as np

F = TypeVar("F", bound=Callable[..., Any])


def on_jax(lowering: Callable[..., Any]) -> Callable[[F], F]:
    """Decorate a function of raw arrays: on JAX `lowering` takes its place, which checks nothing.

    Only functions of `ops` run on JAX: see `compile/xla/kernel_namespace.py`.
    """

    def decorate(function: F) -> F:
        function.lowering = lowering  # type: ignore[attr-defined]
        return function

    return decorate


def as_given(numbers: Any, *rest: Any) -> Any:
    """Numbers that are only looked at."""
    return numbers


def second_as_given(label: str, numbers: Any, *rest: Any) -> Any:
    """The same where something stands in front of them."""
    return numbers


def turned(lengths: Any, batch: int, size: int) -> Any:
    """For each length the places 0 … size - 1, the first ones in reverse order."""
    steps, ends = np.arange(size), lengths[:, None]
    return np.where(steps < ends, ends - 1 - steps, steps).astype(np.int64)


def inverted(numbers: Any) -> Any:
    """The inverse of permutations."""
    return np.argsort(numbers, axis=-1).astype(numbers.dtype)


def undone(numbers: Any) -> Any:
    """The same, as indices."""
    return np.argsort(numbers, axis=-1)


def for_each_column(order: Any, shape: tuple[int, ...]) -> Any:
    """Orders (..., n), once for each column."""
    return np.broadcast_to(order[..., None, :], shape)


def before(lengths: Any, size: int, dtype: Any) -> Any:
    """Which of `size` places lie before lengths."""
    return (np.arange(size) < lengths[..., None]).astype(dtype)


def longest_of(lengths: Any) -> Any:
    """The largest length, rounded up."""
    return np.ceil(np.max(lengths, initial=0)).astype(np.int64)


def places_in(table: Any, wanted: Any, side: str, kind: Any) -> Any:
    """Where values would go in sorted rows."""
    lines = prod(table.shape[:-1])
    rows, values = (t.reshape(lines, t.shape[-1]) for t in (table, wanted))

    def found(row: Any, these: Any) -> Any:
        return np.searchsorted(row, these, side)

    # a loop over rows in name only: jax.numpy's vectorize is one program for all of them
    places = np.vectorize(found, signature="(n),(m)->(m)")(rows, values)
    return places.astype(kind).reshape(wanted.shape)


def numbers_in(ids: Any, size: int) -> Any:
    """How often each of 0 … size - 1 occurs; others do not count."""
    none: Any = np.zeros(size, np.int64)
    return none.at[np.ravel(ids)].add(1, mode="drop")


def counts(ids: Any, size: int, dtype: Any) -> Any:
    """How many rows each segment has."""
    return numbers_in(ids, size).astype(dtype)


def column(values: Any, rank: int) -> Any:
    """A vector over segments, shaped to broadcast against `rank` axes."""
    return values.reshape(values.shape + (1,) * (rank - 1))


def occupied(ids: Any, size: int, rank: int) -> Any:
    """Which segments have rows, as a column."""
    return column(counts(ids, size, bool), rank)


def divisors(ids: Any, size: int, rank: int, power: int, dtype: Any) -> Any:
    """The number of rows of each segment, at least 1, or its square root if `power` is 2."""
    rows = np.maximum(counts(ids, size, np.float64), 1) ** (1 / power)
    return column(rows.astype(dtype), rank)


def whole(total: Any, count: Any) -> Any:
    """Quotients rounded towards zero."""
    return ((total - np.fmod(total, count)) // count).astype(total.dtype)


def folded(ids: Any, label: str, size: int) -> Any:
    """Ids with `size` in place of negative ones."""
    return np.where(ids < 0, size, ids).astype(ids.dtype)


def one_more_than_last(ids: Any) -> Any:
    """The number of segments of ids that do not decrease."""
    return ids[-1].astype(np.int64) + 1 if ids.size else np.int64(0)


def bins_for(numbers: Any, least: int, most: int | None) -> Any:
    """How many bins integers need."""
    size = np.maximum(np.max(numbers, initial=-1).astype(np.int64) + 1, least)
    return size if most is None else np.minimum(size, most)


def bins_of(numbers: Any, lines: int, size: int) -> Any:
    """The bin of each integer, line by line; what is out of range goes to one bin more."""
    flat = numbers.reshape(lines, numbers.size // max(lines, 1))
    return (np.minimum(flat, size) + (size + 1) * np.arange(lines)[:, None]).ravel()


def counted(ids: Any, shape: tuple[int, ...], binary: bool, dtype: Any) -> Any:
    """How many ids each bin has, without the bins for what is out of range."""
    size, lines = shape[-1], prod(shape[:-1])
    bins = numbers_in(ids, lines * (size + 1)).reshape(lines, size + 1)[:, :size]
    return (np.minimum(bins, 1) if binary else bins).astype(dtype).reshape(shape)


def cells_of(rows: Any, columns: Any, size: int) -> Any:
    """Where pairs of integers below `size` stand in a flat matrix."""
    return np.ravel(rows * size + columns)


def equal_bins(values: Any, limits: Any, count: int, kind: Any) -> Any:
    """The bins of values between two limits."""
    low, high = limits[0].astype(np.float64), limits[1].astype(np.float64)
    scaled = (values.astype(np.float64) - low) / (high - low)
    return np.clip(np.floor(scaled * count), 0, count - 1).astype(kind)


def not_negligible(values: Any, rcond: Any) -> Any:
    """Which singular values exceed `rcond` times the largest."""
    largest = np.max(values, axis=-1, keepdims=True, initial=0)
    return values > largest * np.asarray(rcond)[..., None]


def scalar_of(function: Any, *args: Any) -> Any:
    """An integer."""
    return np.asarray(function(*args), np.int64)


# -- updates of some elements of a variable: see `state/variable/scatter_kernel.py`


def brought_in(raw: Any, how: str, at: tuple[Any, ...], updates: Any) -> Any:
    """`raw` with `updates` brought in at an index; of repeated places any one is written last."""
    if how == "div" and raw.dtype.kind in "iu":
        raise NotImplementedError("it divides integers one after another")
    place = raw.at[at]
    if how == "sub":
        return place.add(-updates)
    name = {"update": "set", "mul": "multiply", "div": "divide"}.get(how, how)
    return getattr(place, name)(updates)


def scattered_rows(raw: Any, own: bool, how: str, indices: Any, updates: Any) -> Any:
    """At rows; a scalar goes everywhere."""
    whole = indices.shape + raw.shape[1:]
    return brought_in(raw, how, (indices,), np.broadcast_to(updates, whole))


def scattered_nd(raw: Any, own: bool, how: str, indices: Any, updates: Any) -> Any:
    """At positions in the last axis of `indices`."""
    return brought_in(raw, how, tuple(np.moveaxis(indices, -1, 0)), updates)


def scattered_batch(raw: Any, own: bool, indices: Any, updates: Any) -> Any:
    """At rows of each batch entry."""
    lead = np.indices(indices.shape, sparse=True)[:-1]
    return raw.at[(*lead, indices)].set(updates)


def sliced(raw: Any, own: bool, key: Any, value: Any) -> Any:
    """In a slice."""
    key = (*key, ...) if ... not in key else key
    rank = raw[key].ndim
    value = value.reshape(value.shape[max(value.ndim - rank, 0) :])
    return raw.at[key].set(value)
