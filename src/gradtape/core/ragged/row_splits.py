"""Row splits as raw arrays: conversions, slicing, reduction and checks.

Row `i` is `values[splits[i] : splits[i + 1]]`. Nested splits go from the outermost to the innermost
axis: the values of one are the rows of the next.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.errors import InvalidArgumentError
from gradtape.core.primitive import Spec
from gradtape.core.shape_rule import FRESH, INT64, with_shape


@with_shape(lambda lengths: (lengths.shape[0] + 1,))
def splits_from_lengths(lengths: Any) -> Any:
    """Splits of rows of these lengths."""
    splits = np.zeros(len(lengths) + 1, lengths.dtype)
    np.cumsum(lengths, out=splits[1:])
    return splits


@with_shape(lambda rowids, nrows: (nrows + 1,))
def splits_from_rowids(rowids: Any, nrows: int) -> Any:
    """Splits of `nrows` rows, given the row number of each value; the numbers are sorted."""
    return splits_from_lengths(np.bincount(rowids, minlength=nrows).astype(rowids.dtype))


def lengths_of(splits: Any) -> Any:
    """The length of each row."""
    return splits[1:] - splits[:-1]


@with_shape(lambda splits: (FRESH,))
def rowids_of(splits: Any) -> Any:
    """The row number of each value."""
    return np.repeat(np.arange(len(splits) - 1, dtype=splits.dtype), lengths_of(splits))


@with_shape(lambda splits: (FRESH,))
def offsets_of(splits: Any) -> Any:
    """The position of each value in its row."""
    return concat_ranges(np.zeros(len(splits) - 1, splits.dtype), lengths_of(splits))


def concat_ranges(starts: Any, lengths: Any) -> Any:
    """The ranges `start, start + 1, …` of these starts and lengths, concatenated."""
    ends = np.cumsum(lengths)
    total = ends[-1] if len(ends) else 0
    return np.repeat(starts - (ends - lengths), lengths) + np.arange(total, dtype=starts.dtype)


def longest_row_length(splits: Any) -> int:
    """The length of the longest row."""
    return int(lengths_of(splits).max(initial=0))


def element_at(array: Any, i: int) -> int:
    """An element of a vector as an int."""
    return int(array[i])


def take_rows_specs(rows: Any, *nested: Any) -> list[Any]:
    """Specs of the results of `take_rows`."""
    first, *others = [s.dtype for s in nested]
    outer = Spec(((rows.shape[0] + 1,), first))
    return [outer, *[Spec(((FRESH,), dtype)) for dtype in (*others, nested[-1].dtype)]]


@with_shape(take_rows_specs)
def take_rows(rows: Any, *nested: Any) -> tuple[Any, ...]:
    """Take rows by number: the splits of each level, and the indices of the innermost values.

    Raises:
        InvalidArgumentError: if there is no such row.
    """
    count = len(nested[0]) - 1
    wrong = (rows < 0) | (rows >= count)
    if wrong.any():
        i = int(np.argmax(wrong))
        raise InvalidArgumentError(
            f"gather: indices[{i}] = {rows[i]} is not in [0, {count}). Mask or clip them first."
        )
    found = []
    for splits in nested:
        lengths = lengths_of(splits)[rows]
        found.append(splits_from_lengths(lengths))
        rows = concat_ranges(splits[rows], lengths)
    return (*found, rows)


@with_shape(lambda splits, *_: [splits.shape, (FRESH,)])
def slice_rows(splits: Any, start: int | None, stop: int | None, step: int) -> tuple[Any, Any]:
    """Slice every row as Python does: new splits, and the indices of the values."""
    lengths = lengths_of(splits)
    least, most = (0, lengths) if step > 0 else (-1, lengths - 1)
    first, last = (least, most) if step > 0 else (most, least)

    def bound(given: int | None, default: Any) -> Any:
        if given is None:
            return np.broadcast_to(default, lengths.shape).astype(splits.dtype)
        return np.clip(given + lengths if given < 0 else np.full_like(lengths, given), least, most)

    begin, end = bound(start, first), bound(stop, last)
    counts = np.maximum(-((begin - end) // step), 0).astype(splits.dtype)
    new = splits_from_lengths(counts)
    within = offsets_of(new) * step
    return new, within + np.repeat(splits[:-1] + begin, counts)


@with_shape(lambda sizes, *nested: Spec((tuple(sizes), INT64)))
def dense_positions(sizes: tuple[int, ...], *nested: Any) -> Any:
    """For each element of a dense array, the index of its value; the value count for padding.

    `sizes` are the sizes of the axes: of the outermost rows, then one for each of `nested`. Values
    beyond these sizes are dropped.
    """
    count = len(nested[0]) - 1
    at = np.arange(sizes[0])
    there = at < count
    for splits, size in zip(nested, sizes[1:], strict=True):
        row = np.where(there, at, 0)
        bounds = splits if len(splits) > 1 else np.zeros(2, splits.dtype)
        lengths = np.where(there, lengths_of(bounds)[row], 0)
        places = np.arange(size)
        there = places < lengths[..., None]
        at = bounds[row][..., None] + places
    return np.where(there, at, nested[-1][-1])


@with_shape(lambda *nested: Spec(((FRESH, len(nested) + 1), INT64)))
def value_coordinates(*nested: Any) -> Any:
    """For each value its row numbers and its position in the row, one value per row."""
    columns = [np.arange(len(nested[0]) - 1)]
    for splits in nested:
        ids = rowids_of(splits)
        columns = [column[ids] for column in columns] + [offsets_of(splits)]
    return np.stack(columns, axis=1).astype(np.int64)


@with_shape(lambda axis, *nested: [(FRESH,)] * len(nested))
def reduction_segments(axis: int, *nested: Any) -> tuple[Any, ...]:
    """The splits that remain when `axis` is reduced, and the segment id of each value.

    Values whose positions differ only along `axis` share a segment. A resulting row is as long as
    the longest row that is reduced into it.
    """
    dtype = nested[0].dtype
    if axis == 0:
        group, count = np.zeros(len(nested[0]) - 1, dtype), 1
    else:
        group, count = rowids_of(nested[axis - 1]), len(nested[axis - 1]) - 1
    found = list(nested[: axis - 1]) if axis else []
    for splits in nested[axis:]:
        lengths = np.zeros(count, dtype)
        np.maximum.at(lengths, group, lengths_of(splits))
        new = splits_from_lengths(lengths)
        found.append(new)
        group = new[group[rowids_of(splits)]] + offsets_of(splits)
        count = int(new[-1])
    return (*(found[1:] if axis == 0 and found else found), group)


@with_shape(lambda *nested: (sum([s.shape[0] - 1 for s in nested]) + 1,))
def concat_splits(*nested: Any) -> Any:
    """Splits of the rows of all `nested`, concatenated."""
    ends = np.cumsum([0, *(int(splits[-1]) for splits in nested)])
    parts = [splits[:-1] + end for splits, end in zip(nested, ends, strict=False)]
    return np.concatenate([*parts, ends[-1:]]).astype(nested[0].dtype)


@with_shape(lambda op, x: x.shape)
def check_splits(op: str, splits: Any) -> Any:
    """Check that splits start with zero and do not decrease."""
    if splits[0] != 0:
        raise InvalidArgumentError(f"{op}: the first row must start at 0. Received {splits[0]}.")
    if (lengths_of(splits) < 0).any():
        raise InvalidArgumentError(
            f"{op}: rows must not end before they begin. Received row_splits {splits.tolist()}."
        )
    return splits


@with_shape(lambda op, x: x.shape)
def check_lengths(op: str, lengths: Any) -> Any:
    """Check that no row length is negative."""
    if (lengths < 0).any():
        raise InvalidArgumentError(
            f"{op}: row_lengths must not be negative. Received {lengths.tolist()}."
        )
    return lengths


@with_shape(lambda op, x: x.shape)
def check_rowids(op: str, rowids: Any) -> Any:
    """Check that row numbers are not negative and do not decrease."""
    if (rowids < 0).any() or (np.diff(rowids) < 0).any():
        raise InvalidArgumentError(
            f"{op}: value_rowids must be sorted and not negative. Received {rowids.tolist()}."
        )
    return rowids
