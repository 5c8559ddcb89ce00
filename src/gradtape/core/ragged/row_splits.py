"""Rows of different length as raw arrays: where they begin, who belongs to which, who goes where.

Rows are given by *splits*: row `i` of some values is `values[splits[i] : splits[i + 1]]`. Several
splits are nested from the outside in: the values of one are the rows of the next.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.errors import InvalidArgumentError


def splits_of_lengths(lengths: Any) -> Any:
    """Splits of rows that are this long."""
    splits = np.zeros(len(lengths) + 1, lengths.dtype)
    np.cumsum(lengths, out=splits[1:])
    return splits


def splits_of_rowids(rowids: Any, nrows: int) -> Any:
    """Splits of `nrows` rows, to which values belong by number; the numbers do not decrease."""
    return splits_of_lengths(np.bincount(rowids, minlength=nrows).astype(rowids.dtype))


def lengths_of(splits: Any) -> Any:
    """How long the rows are."""
    return splits[1:] - splits[:-1]


def rowids_of(splits: Any) -> Any:
    """For each value the number of its row."""
    return np.repeat(np.arange(len(splits) - 1, dtype=splits.dtype), lengths_of(splits))


def offsets_of(splits: Any) -> Any:
    """For each value its place in its row."""
    return spans(np.zeros(len(splits) - 1, splits.dtype), lengths_of(splits))


def spans(starts: Any, lengths: Any) -> Any:
    """The numbers from each of `starts` on, as many as its length says, one after another."""
    ends = np.cumsum(lengths)
    total = ends[-1] if len(ends) else 0
    return np.repeat(starts - (ends - lengths), lengths) + np.arange(total, dtype=starts.dtype)


def longest(splits: Any) -> int:
    """The length of the longest row."""
    return int(lengths_of(splits).max(initial=0))


def entry(array: Any, i: int) -> int:
    """An element of a vector."""
    return int(array[i])


def taken(rows: Any, *nested: Any) -> tuple[Any, ...]:
    """Splits of the chosen rows, level by level; at last, which of the innermost values they have.

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
        found.append(splits_of_lengths(lengths))
        rows = spans(splits[rows], lengths)
    return (*found, rows)


def cut(splits: Any, start: int | None, stop: int | None, step: int) -> tuple[Any, Any]:
    """Every row sliced as Python does: new splits, and the places of the values that are kept."""
    lengths = lengths_of(splits)
    least, most = (0, lengths) if step > 0 else (-1, lengths - 1)
    first, last = (least, most) if step > 0 else (most, least)

    def bound(given: int | None, default: Any) -> Any:
        if given is None:
            return np.broadcast_to(default, lengths.shape).astype(splits.dtype)
        return np.clip(given + lengths if given < 0 else np.full_like(lengths, given), least, most)

    begin, end = bound(start, first), bound(stop, last)
    counts = np.maximum(-((begin - end) // step), 0).astype(splits.dtype)
    new = splits_of_lengths(counts)
    within = offsets_of(new) * step
    return new, within + np.repeat(splits[:-1] + begin, counts)


def placed(sizes: tuple[int, ...], *nested: Any) -> Any:
    """For each element of a dense array the value that stands there, or how many values there are.

    `sizes` are those of the axes: that of the outermost rows, then one for each of `nested`; what
    lies beyond them is left out.
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


def coordinates(*nested: Any) -> Any:
    """For each value its row numbers and its place, one value in a row."""
    columns = [np.arange(len(nested[0]) - 1)]
    for splits in nested:
        ids = rowids_of(splits)
        columns = [column[ids] for column in columns] + [offsets_of(splits)]
    return np.stack(columns, axis=1).astype(np.int64)


def folded(axis: int, *nested: Any) -> tuple[Any, ...]:
    """What is left when `axis` is reduced: splits, and for each value where it goes.

    Values that differ in nothing but their place along `axis` go together; a row is as long as the
    longest of those that went into it.
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
        new = splits_of_lengths(lengths)
        found.append(new)
        group = new[group[rowids_of(splits)]] + offsets_of(splits)
        count = int(new[-1])
    return (*(found[1:] if axis == 0 and found else found), group)


def joined(*nested: Any) -> Any:
    """Splits of rows one after another."""
    ends = np.cumsum([0, *(int(splits[-1]) for splits in nested)])
    parts = [splits[:-1] + end for splits, end in zip(nested, ends, strict=False)]
    return np.concatenate([*parts, ends[-1:]]).astype(nested[0].dtype)


def check_splits(op: str, splits: Any) -> Any:
    """Splits that begin with zero and do not decrease."""
    if splits[0] != 0:
        raise InvalidArgumentError(f"{op}: the first row must start at 0. Received {splits[0]}.")
    if (lengths_of(splits) < 0).any():
        raise InvalidArgumentError(
            f"{op}: rows must not end before they begin. Received row_splits {splits.tolist()}."
        )
    return splits


def check_lengths(op: str, lengths: Any) -> Any:
    """Lengths of rows, none of which is negative."""
    if (lengths < 0).any():
        raise InvalidArgumentError(
            f"{op}: row_lengths must not be negative. Received {lengths.tolist()}."
        )
    return lengths


def check_rowids(op: str, rowids: Any) -> Any:
    """Numbers of rows that are not negative and do not decrease."""
    if (rowids < 0).any() or (np.diff(rowids) < 0).any():
        raise InvalidArgumentError(
            f"{op}: value_rowids must be sorted and not negative. Received {rowids.tolist()}."
        )
    return rowids
