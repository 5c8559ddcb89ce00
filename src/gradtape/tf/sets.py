"""tf.sets: the elements of each row, along the last axis, as a set."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.core.convert import convert
from gradtape.core.errors import public
from gradtape.core.sparse_tensor import SparseTensor
from gradtape.core.tensor import Tensor, eager
from gradtape.graph.side_effect import on_host

__all__ = ["difference", "intersection", "size", "union"]


def members(given: Any) -> tuple[Any, Any, tuple[int, ...]]:
    """For each element the place of its set, and the element; and the shape of sets."""
    if isinstance(given, SparseTensor):
        places = np.asarray(given.indices._array)[:, :-1]
        sizes = np.asarray(given.dense_shape._array)[:-1]
        return places, np.asarray(given.values._array), tuple(sizes.tolist())
    array = np.asarray(given._array)
    places = np.stack([i.ravel() for i in np.indices(array.shape)[:-1]] or [[]], axis=1)
    return places.reshape(array.size, array.ndim - 1), array.ravel(), array.shape[:-1]


def by_set(given: Any) -> tuple[dict[tuple[int, ...], set[Any]], tuple[int, ...]]:
    """The sets that are not empty by their place, and the shape."""
    places, values, shape = members(given)
    sets: dict[tuple[int, ...], set[Any]] = {}
    for place, value in zip(map(tuple, places.tolist()), values.tolist(), strict=True):
        sets.setdefault(place, set()).add(value)
    return sets, shape


def packed(sets: dict[tuple[int, ...], list[Any]], shape: tuple[int, ...], dtype: Any) -> Any:
    """Sorted sets as a sparse tensor."""
    places = [(*at, i) for at in sorted(sets) for i in range(len(sets[at]))]
    values = [value for at in sorted(sets) for value in sets[at]]
    longest = max(map(len, sets.values()), default=0)
    return SparseTensor(
        eager(np.array(places, np.int64).reshape(len(places), len(shape) + 1)),
        eager(np.array(values, dtype)),
        eager(np.array([*shape, longest], np.int64)),
    )


@on_host
def combined(a: Any, b: Any, operation: str) -> Any:
    """One of Python's operations on sets, set by set."""
    mine, shape = by_set(a)
    others, _ = by_set(b)
    act: Callable[..., set[Any]] = getattr(set, operation)
    results = {at: sorted(act(mine.get(at, set()), others.get(at, set()))) for at in mine | others}
    dtype = (a.values if isinstance(a, SparseTensor) else a)._array.dtype
    return packed({at: found for at, found in results.items() if found}, shape, dtype)


def operand(value: Any) -> Any:
    """A tensor or sparse tensor."""
    return value if isinstance(value, SparseTensor) else convert(value)


@public
def intersection(a: Any, b: Any, validate_indices: bool = True) -> SparseTensor:
    """What is in both sets, for each row.

    Args:
        a: a tensor or SparseTensor of whole numbers or strings.
        b: another, whose shape differs in the last axis at most.
        validate_indices: accepted for TensorFlow's sake.

    Returns:
        A SparseTensor with the elements of each set in order along the last axis.
    """
    return combined(operand(a), operand(b), "intersection")


@public
def union(a: Any, b: Any, validate_indices: bool = True) -> SparseTensor:
    """What is in either set, for each row; otherwise as `intersection`."""
    return combined(operand(a), operand(b), "union")


@public
def difference(a: Any, b: Any, aminusb: bool = True, validate_indices: bool = True) -> SparseTensor:
    """What is in `a` and not in `b`, for each row; the other way round unless `aminusb`."""
    first, second = (a, b) if aminusb else (b, a)
    return combined(operand(first), operand(second), "difference")


@public
def size(a: SparseTensor, validate_indices: bool = True) -> Tensor:
    """How many elements each set has."""
    if not isinstance(a, SparseTensor):
        raise TypeError(f"sets.size: a SparseTensor is needed. Received {type(a).__name__}.")
    return sizes_of(a)


@on_host
def sizes_of(a: Any) -> Tensor:
    """How many elements each set has."""
    sets, shape = by_set(a)
    counts = np.zeros(shape, np.int32)
    for at, found in sets.items():
        counts[at] = len(found)
    return eager(counts)
