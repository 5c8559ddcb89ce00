"""tf.sets: set operations in which each row along the last axis is a set."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.core.convert import convert
from gradtape.core.errors import public
from gradtape.core.primitive import Spec
from gradtape.core.shape_rule import FRESH, INT32
from gradtape.core.sparse_tensor import SparseTensor
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.graph.host_function import call_on_host, describe_sparse, shape_of_argument

__all__ = ["difference", "intersection", "size", "union"]


def list_set_elements(given: Any) -> tuple[Any, Any, tuple[int, ...]]:
    """The index of each element's set (n, rank - 1), the elements (n,), and the batch shape."""
    if isinstance(given, SparseTensor):
        places = np.asarray(given.indices._array)[:, :-1]
        sizes = np.asarray(given.dense_shape._array)[:-1]
        return places, np.asarray(given.values._array), tuple(sizes.tolist())
    array = np.asarray(given._array)
    places = np.stack([i.ravel() for i in np.indices(array.shape)[:-1]] or [[]], axis=1)
    return places.reshape(array.size, array.ndim - 1), array.ravel(), array.shape[:-1]


def group_by_set(given: Any) -> tuple[dict[tuple[int, ...], set[Any]], tuple[int, ...]]:
    """Group the elements into Python sets by index; return the non-empty ones and the shape."""
    places, values, shape = list_set_elements(given)
    sets: dict[tuple[int, ...], set[Any]] = {}
    for place, value in zip(map(tuple, places.tolist()), values.tolist(), strict=True):
        sets.setdefault(place, set()).add(value)
    return sets, shape


def pack_sets(sets: dict[tuple[int, ...], list[Any]], shape: tuple[int, ...], dtype: Any) -> Any:
    """Pack sorted sets into a sparse tensor."""
    places = [(*at, i) for at in sorted(sets) for i in range(len(sets[at]))]
    values = [value for at in sorted(sets) for value in sets[at]]
    longest = max(map(len, sets.values()), default=0)
    return SparseTensor(
        make_tensor(np.array(places, np.int64).reshape(len(places), len(shape) + 1)),
        make_tensor(np.array(values, dtype)),
        make_tensor(np.array([*shape, longest], np.int64)),
    )


def set_batch_shape(value: Any) -> tuple[Any, ...]:
    """The shape of sets in a tensor or sparse tensor: all axes but the last."""
    if isinstance(value, SparseTensor):
        return tuple([FRESH if n is None else n for n in value.shape.as_list()[:-1]])
    return shape_of_argument(value)[:-1]


def describe_sets(a: Any, b: Any, operation: str) -> Any:
    """Result rule of `combine_sets`."""
    dense = a if isinstance(b, SparseTensor) else b
    known = [n if type(n) is int else None for n in set_batch_shape(dense)]
    return describe_sparse([*known, None], a.dtype)


@call_on_host(describe_sets)
def combine_sets(a: Any, b: Any, operation: str) -> Any:
    """Apply a method of Python's `set`, by name, to each pair of sets."""
    left, shape = group_by_set(a)
    right, _ = group_by_set(b)
    act: Callable[..., set[Any]] = getattr(set, operation)
    results = {at: sorted(act(left.get(at, set()), right.get(at, set()))) for at in left | right}
    dtype = (a.values if isinstance(a, SparseTensor) else a)._array.dtype
    return pack_sets({at: items for at, items in results.items() if items}, shape, dtype)


def as_set_operand(value: Any) -> Any:
    """Convert to a tensor, unless `value` is a sparse tensor."""
    return value if isinstance(value, SparseTensor) else convert(value)


@public
def intersection(a: Any, b: Any, validate_indices: bool = True) -> SparseTensor:
    """Set intersection, row by row.

    Args:
        a: a tensor or SparseTensor of integers or strings.
        b: another one; the shapes must agree except in the last axis.
        validate_indices: has no effect here.

    Returns:
        A SparseTensor with the elements of each set, sorted, along the last axis.

    Example:
        >>> tf.sparse.to_dense(tf.sets.intersection([[1, 2, 3]], [[2, 3, 4]])).numpy()
        array([[2, 3]], dtype=int32)
    """
    return combine_sets(as_set_operand(a), as_set_operand(b), "intersection")


@public
def union(a: Any, b: Any, validate_indices: bool = True) -> SparseTensor:
    """Set union, row by row; otherwise as `intersection`.

    Args:
        a: sets in the last axis: a tensor or a SparseTensor.
        b: sets of the same leading shape.
        validate_indices: whether to check the order of sparse indices.

    Returns:
        A SparseTensor.

    Example:
        >>> tf.sparse.to_dense(tf.sets.union([[1, 2]], [[2, 3]])).numpy()
        array([[1, 2, 3]], dtype=int32)
    """
    return combine_sets(as_set_operand(a), as_set_operand(b), "union")


@public
def difference(a: Any, b: Any, aminusb: bool = True, validate_indices: bool = True) -> SparseTensor:
    """Set difference `a - b`, row by row, or `b - a` if `aminusb` is False.

    Args:
        a: sets in the last axis: a tensor or a SparseTensor.
        b: sets of the same leading shape.
        aminusb: whether to compute `a - b`.
        validate_indices: whether to check the order of sparse indices.

    Returns:
        A SparseTensor.

    Example:
        >>> tf.sparse.to_dense(tf.sets.difference([[1, 2]], [[2, 3]])).numpy()
        array([[1]], dtype=int32)
    """
    first, second = (a, b) if aminusb else (b, a)
    return combine_sets(as_set_operand(first), as_set_operand(second), "difference")


@public
def size(a: SparseTensor, validate_indices: bool = True) -> Tensor:
    """Number of elements of each set.

    Args:
        a: sets in the last axis: a tensor or a SparseTensor.
        validate_indices: whether to check the order of sparse indices.

    Returns:
        An int32 tensor.

    Example:
        >>> tf.sets.size(tf.sets.union([[1, 2]], [[2, 3]])).numpy()
        array([3], dtype=int32)
    """
    if not isinstance(a, SparseTensor):
        raise TypeError(f"sets.size: `a` must be a SparseTensor. Received {type(a).__name__}.")
    return count_set_elements(a)


@call_on_host(lambda a: Spec((set_batch_shape(a), INT32)))
def count_set_elements(a: Any) -> Tensor:
    """Count the elements of each set."""
    sets, shape = group_by_set(a)
    counts = np.zeros(shape, np.int32)
    for at, elements in sets.items():
        counts[at] = len(elements)
    return make_tensor(counts)
