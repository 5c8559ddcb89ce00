"""Computations on the indices of sparse tensors; they have no gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.errors import InvalidArgumentError
from gradtape.core.primitive import Spec
from gradtape.core.shape_rule import BOOL, FRESH, INT64
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.graph.host_function import call_on_host


def make_int64_tensor(array: Any) -> Tensor:
    """Make an int64 tensor."""
    return make_tensor(np.asarray(array, np.int64))


def as_raw_integers(value: Any) -> Any:
    """The raw array of an integer tensor."""
    return np.asarray(value._array)


def row_major_order(places: Any) -> Any:
    """The permutation that sorts raw indices in row-major order."""
    return np.lexsort(places.T[::-1]) if places.shape[1] else np.arange(len(places))


def flatten_indices(places: Any, sizes: Any) -> Any:
    """Convert raw indices to positions in the flattened tensor."""
    steps = np.append(np.cumprod(sizes[::-1])[::-1][1:], 1) if len(sizes) else sizes
    return places @ steps.astype(np.int64) if len(sizes) else np.zeros(len(places), np.int64)


def unflatten_indices(positions: Any, sizes: Any) -> Any:
    """Convert positions in the flattened tensor to indices."""
    if not len(sizes):
        return np.zeros((len(positions), 0), np.int64)
    return np.stack(np.unravel_index(positions, tuple(sizes)), axis=1).astype(np.int64)


@call_on_host(lambda indices: Spec((indices._array.shape[:1], INT64)))
def argsort_indices(indices: Tensor) -> Tensor:
    """The permutation that sorts indices in row-major order."""
    return make_int64_tensor(row_major_order(as_raw_integers(indices)))


def describe_merged(a: Tensor, b: Tensor, shape: Tensor) -> tuple[Spec, Spec, Spec]:
    """Result rule of `merge_indices`."""
    places = [Spec((x._array.shape[:1], INT64)) for x in (a, b)]
    return Spec(((FRESH, a._array.shape[1]), INT64)), places[0], places[1]


@call_on_host(describe_merged)
def merge_indices(a: Tensor, b: Tensor, shape: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The sorted union of two sets of indices, and the position of each index in it."""
    sizes = as_raw_integers(shape)
    mine, others = (
        flatten_indices(as_raw_integers(a), sizes),
        flatten_indices(as_raw_integers(b), sizes),
    )
    every = np.union1d(mine, others)
    return (
        make_int64_tensor(unflatten_indices(every, sizes)),
        make_int64_tensor(np.searchsorted(every, mine)),
        make_int64_tensor(np.searchsorted(every, others)),
    )


def describe_reshaped(indices: Tensor, shape: Tensor, wanted: Tensor) -> tuple[Spec, Spec]:
    """Result rule of `reshape_indices`."""
    rank = wanted._array.shape[0]
    return Spec(((indices._array.shape[0], rank), INT64)), Spec(((rank,), INT64))


@call_on_host(describe_reshaped)
def reshape_indices(indices: Tensor, shape: Tensor, wanted: Tensor) -> tuple[Tensor, Tensor]:
    """Indices in the shape `wanted`, and that shape with -1 replaced."""
    before, after = as_raw_integers(shape), as_raw_integers(wanted).astype(np.int64)
    size, known = int(np.prod(before)), int(np.prod(after[after != -1]))
    free = after == -1
    if free.sum() == 1 and known and size % known == 0:
        after = np.where(free, size // known, after)
    if free.sum() > 1 or int(np.prod(after)) != size:
        raise InvalidArgumentError(
            f"sparse.reshape: Input to reshape is a tensor with {size} dense values, but the "
            f"requested shape is {after.tolist()}."
        )
    return make_int64_tensor(
        unflatten_indices(flatten_indices(as_raw_integers(indices), before), after)
    ), make_int64_tensor(after)


def describe_groups(
    indices: Tensor, shape: Tensor, axes: tuple[int, ...], keepdims: bool
) -> tuple[Spec, Spec, Spec, Spec]:
    """Result rule of `group_indices`."""
    rank = indices._array.shape[1]
    left = rank if keepdims else len([i for i in range(rank) if i not in axes])
    each = Spec((indices._array.shape[:1], INT64))
    return Spec(((FRESH, left), INT64)), each, each, Spec(((left,), INT64))


@call_on_host(describe_groups)
def group_indices(
    indices: Tensor, shape: Tensor, axes: tuple[int, ...], keepdims: bool
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Group elements whose indices are equal outside `axes`.

    Returns:
        The sorted indices of the groups; the group of each element; its position in the flattened
        result; and the shape of the result.
    """
    sizes, places = as_raw_integers(shape), as_raw_integers(indices)
    kept = [i for i in range(len(sizes)) if i not in axes]
    positions = flatten_indices(places[:, kept], sizes[kept])
    distinct, group = np.unique(positions, return_inverse=True)
    rows = unflatten_indices(distinct, sizes[kept])
    if keepdims:
        whole = np.zeros((len(rows), len(sizes)), np.int64)
        whole[:, kept] = rows
        rows = whole
        result = np.where(np.isin(np.arange(len(sizes)), kept), sizes, 1)
    else:
        result = sizes[kept]
    return (
        make_int64_tensor(rows),
        make_int64_tensor(group),
        make_int64_tensor(positions),
        make_int64_tensor(result),
    )


def describe_block(indices: Tensor, *_: Tensor, **__: Tensor) -> tuple[Spec, Spec, Spec]:
    """Result rule of `select_block`."""
    rank = indices._array.shape[1]
    return Spec(((FRESH,), INT64)), Spec(((FRESH, rank), INT64)), Spec(((rank,), INT64))


@call_on_host(describe_block)
def select_block(
    indices: Tensor, shape: Tensor, start: Tensor, size: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """The elements inside a block: their numbers, their indices in it, and its shape."""
    places, first = as_raw_integers(indices), as_raw_integers(start)
    end = np.minimum(first + as_raw_integers(size), as_raw_integers(shape))
    kept = np.flatnonzero(np.all((places >= first) & (places < end), axis=1))
    return (
        make_int64_tensor(kept),
        make_int64_tensor(places[kept] - first),
        make_int64_tensor(np.maximum(end - first, 0)),
    )


def describe_filled_rows(indices: Tensor, shape: Tensor) -> tuple[Spec, Spec, Spec]:
    """Result rule of `add_empty_row_indices`."""
    rank = indices._array.shape[1]
    return Spec(((FRESH, rank), INT64)), Spec(((FRESH,), INT64)), Spec(((FRESH,), BOOL))


@call_on_host(describe_filled_rows)
def add_empty_row_indices(indices: Tensor, shape: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Add an index at the start of each empty row.

    Returns:
        The sorted indices; the permutation that sorts the old ones followed by the new ones; and
        for each row whether it was empty.
    """
    places, sizes = as_raw_integers(indices), as_raw_integers(shape)
    empty = np.setdiff1d(np.arange(sizes[0]), places[:, 0])
    more = np.zeros((len(empty), len(sizes)), np.int64)
    more[:, 0] = empty
    every = np.concatenate([places, more])
    order = row_major_order(every)
    return (
        make_int64_tensor(every[order]),
        make_int64_tensor(order),
        make_tensor(np.isin(np.arange(sizes[0]), empty)),
    )


@call_on_host(lambda indices: Spec((indices._array.shape[1:], INT64)))
def smallest_shape(indices: Tensor) -> Tensor:
    """The smallest dense shape that holds all indices."""
    places = as_raw_integers(indices)
    return make_int64_tensor(places.max(0) + 1 if len(places) else np.zeros(places.shape[1]))
