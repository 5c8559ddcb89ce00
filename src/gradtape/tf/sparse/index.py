"""Computations on the indices of sparse tensors; they have no gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.errors import InvalidArgumentError
from gradtape.core.tensor import Tensor, eager
from gradtape.graph.side_effect import on_host


def tensor(array: Any) -> Tensor:
    """Make an int64 tensor."""
    return eager(np.asarray(array, np.int64))


def raw(value: Any) -> Any:
    """The raw array of an integer tensor."""
    return np.asarray(value._array)


def order_of(places: Any) -> Any:
    """The permutation that sorts raw indices in row-major order."""
    return np.lexsort(places.T[::-1]) if places.shape[1] else np.arange(len(places))


def flat_of(places: Any, sizes: Any) -> Any:
    """Convert raw indices to positions in the flattened tensor."""
    steps = np.append(np.cumprod(sizes[::-1])[::-1][1:], 1) if len(sizes) else sizes
    return places @ steps.astype(np.int64) if len(sizes) else np.zeros(len(places), np.int64)


def unflat(positions: Any, sizes: Any) -> Any:
    """Convert positions in the flattened tensor to indices."""
    if not len(sizes):
        return np.zeros((len(positions), 0), np.int64)
    return np.stack(np.unravel_index(positions, tuple(sizes)), axis=1).astype(np.int64)


@on_host
def ordered(indices: Tensor) -> Tensor:
    """The permutation that sorts indices in row-major order."""
    return tensor(order_of(raw(indices)))


@on_host
def union(a: Tensor, b: Tensor, shape: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The sorted union of two sets of indices, and the position of each index in it."""
    sizes = raw(shape)
    mine, others = flat_of(raw(a), sizes), flat_of(raw(b), sizes)
    every = np.union1d(mine, others)
    return (
        tensor(unflat(every, sizes)),
        tensor(np.searchsorted(every, mine)),
        tensor(np.searchsorted(every, others)),
    )


@on_host
def reshaped(indices: Tensor, shape: Tensor, wanted: Tensor) -> tuple[Tensor, Tensor]:
    """Indices in the shape `wanted`, and that shape with -1 replaced."""
    before, after = raw(shape), raw(wanted).astype(np.int64)
    size, known = int(np.prod(before)), int(np.prod(after[after != -1]))
    free = after == -1
    if free.sum() == 1 and known and size % known == 0:
        after = np.where(free, size // known, after)
    if free.sum() > 1 or int(np.prod(after)) != size:
        raise InvalidArgumentError(
            f"sparse.reshape: Input to reshape is a tensor with {size} dense values, but the "
            f"requested shape is {after.tolist()}."
        )
    return tensor(unflat(flat_of(raw(indices), before), after)), tensor(after)


@on_host
def grouped(
    indices: Tensor, shape: Tensor, axes: tuple[int, ...], keepdims: bool
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Group elements whose indices are equal outside `axes`.

    Returns:
        The sorted indices of the groups; the group of each element; its position in the flattened
        result; and the shape of the result.
    """
    sizes, places = raw(shape), raw(indices)
    kept = [i for i in range(len(sizes)) if i not in axes]
    positions = flat_of(places[:, kept], sizes[kept])
    distinct, group = np.unique(positions, return_inverse=True)
    rows = unflat(distinct, sizes[kept])
    if keepdims:
        whole = np.zeros((len(rows), len(sizes)), np.int64)
        whole[:, kept] = rows
        rows = whole
        result = np.where(np.isin(np.arange(len(sizes)), kept), sizes, 1)
    else:
        result = sizes[kept]
    return tensor(rows), tensor(group), tensor(positions), tensor(result)


@on_host
def inside(
    indices: Tensor, shape: Tensor, start: Tensor, size: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """The elements inside a block: their numbers, their indices in it, and its shape."""
    places, first = raw(indices), raw(start)
    end = np.minimum(first + raw(size), raw(shape))
    kept = np.flatnonzero(np.all((places >= first) & (places < end), axis=1))
    return tensor(kept), tensor(places[kept] - first), tensor(np.maximum(end - first, 0))


@on_host
def filled_rows(indices: Tensor, shape: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Add an index at the start of each empty row.

    Returns:
        The sorted indices; the permutation that sorts the old ones followed by the new ones; and
        for each row whether it was empty.
    """
    places, sizes = raw(indices), raw(shape)
    empty = np.setdiff1d(np.arange(sizes[0]), places[:, 0])
    more = np.zeros((len(empty), len(sizes)), np.int64)
    more[:, 0] = empty
    every = np.concatenate([places, more])
    order = order_of(every)
    return tensor(every[order]), tensor(order), eager(np.isin(np.arange(sizes[0]), empty))


@on_host
def extent(indices: Tensor) -> Tensor:
    """The smallest dense shape that holds all indices."""
    places = raw(indices)
    return tensor(places.max(0) + 1 if len(places) else np.zeros(places.shape[1]))
