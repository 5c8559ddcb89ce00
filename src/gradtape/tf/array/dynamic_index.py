"""Slicing by indices that are tensors of a trace, so known only when the graph runs."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.context import current_batch, current_trace
from gradtape.core.convert import convert
from gradtape.core.dims import Dim
from gradtape.core.errors import InvalidArgumentError
from gradtape.core.lazy_array import TracedArray
from gradtape.core.primitive import Spec
from gradtape.core.shape_rule import INT64, keep_shape, with_shape
from gradtape.core.tensor import Tensor
from gradtape.graph.raw_function import apply_raw, compute_integer
from gradtape.ops.elementwise import cast
from gradtape.ops.gather_scatter import gather
from gradtape.ops.shape import reshape, slice_from

SCALAR_INDEX_DTYPES = (np.dtype(np.int32), np.dtype(np.int64))


def is_traced(value: Any) -> bool:
    """Whether `value` is a tensor of a trace."""
    if isinstance(value, Tensor):
        return type(value._array) is TracedArray
    return hasattr(type(value), "__tf_tensor__") and type(convert(value)._array) is TracedArray


def apply_hidden_indices(x: Tensor, key: Any) -> tuple[Tensor, Any]:
    """Apply the indices in `key` whose values Python cannot see.

    Returns the sliced `x` and the key that is left to apply.
    """
    batch = current_batch()
    if batch is not None:
        return apply_batch_indices(batch, x, key)
    return apply_traced_indices(x, key) if current_trace() else (x, key)


def apply_traced_indices(x: Tensor, key: Any) -> tuple[Tensor, Any]:
    """Apply the indices in `key` that are tensors of a trace.

    Returns the sliced `x` and the key that is left to apply. Slices with a step stay in that key:
    the caller reads their values, which adds a guard.
    """
    items = list(key) if isinstance(key, (list, tuple)) else [key]
    if not any(is_traced(part) for item in items for part in index_parts(item)):
        return x, key
    shape = x._array.shape
    named = sum(1 for item in items if item is not None and item is not Ellipsis)
    axis, chosen = 0, {}
    for i, item in enumerate(items):
        if item is None:
            continue
        if item is Ellipsis:
            axis += len(shape) - named
            continue
        if axis >= len(shape):
            return x, key
        step = item.step if isinstance(item, slice) else None
        movable = step is None or (type(step) is int and step == 1)
        if movable and any(is_traced(part) for part in index_parts(item)):
            found = start_and_size_of(item, axis, x)
            if found is not None:
                chosen[axis] = found
                items[i] = slice(None) if isinstance(item, slice) else 0
        axis += 1
    if not chosen:
        return x, key
    places = [chosen.get(k, (0, n)) for k, n in enumerate(shape)]
    starts = apply_raw(pack_starts, *(start for start, _ in places))
    return slice_from(x, starts, sizes=tuple(size for _, size in places)), tuple(items)


def apply_batch_indices(batch: Any, x: Tensor, key: Any) -> tuple[Tensor, Any]:
    """Apply the scalar indices in `key` that differ between the examples of `func.vmap`."""
    items = list(key) if isinstance(key, (list, tuple)) else [key]
    if not any(batch.owns(item) for item in items):
        return x, key
    rank = len(x._array.shape)
    named = sum(1 for item in items if item is not None and item is not Ellipsis)
    axis = 0
    for i, item in enumerate(items):
        if item is Ellipsis:
            axis += rank - named
        elif item is not None:
            if batch.owns(item) and not item._array.shape and axis < rank:
                n = x._array.shape[axis]
                at = reshape(item + n * cast(item < 0, dtype=item._array.dtype), shape=(1,), rank=0)
                x = gather(x, at, axis=axis - rank)
                items[i] = 0
            axis += 1
    return x, tuple(items)


def index_parts(item: Any) -> tuple[Any, ...]:
    """The start, stop and step of a slice, or the index itself."""
    return (item.start, item.stop, item.step) if isinstance(item, slice) else (item,)


def start_and_size_of(item: Any, axis: int, x: Tensor) -> tuple[Any, int] | None:
    """Compute start and size of an index or slice; None if it is neither scalar nor integer."""
    n = x._array.shape[axis]
    if not isinstance(item, slice):
        where = convert(item)
        if where._array.shape or where._array.dtype not in SCALAR_INDEX_DTYPES:
            return None
        if type(n) is Dim:  # read in each run, so that the body of a loop serves every size
            return apply_raw(normalize_index_in, where, x, axis), 1
        return apply_raw(normalize_raw_index, where, axis, n), 1
    ends = [None if part is None else convert(part) for part in (item.start, item.stop)]
    if any(end is not None and (end.ndim or not end.dtype.is_integer) for end in ends):
        return None
    return apply_raw(slice_start, *ends, n), compute_integer(slice_length, *ends, n)


@with_shape(lambda *_: Spec(((), INT64)))
def normalize_raw_index(index: Any, axis: int, n: int) -> Any:
    """Convert a raw index, which may be negative, to a position in an axis of length `n`."""
    at = int(index)
    if not -n <= at < n:
        raise InvalidArgumentError(
            f"strided_slice: slice index {at} of dimension {axis} out of bounds. The dimension has "
            f"size {n}."
        )
    return np.int64(at % n)


@with_shape(lambda *_: Spec(((), INT64)))
def normalize_index_in(index: Any, x: Any, axis: int) -> Any:
    """Convert a raw index, which may be negative, to a position in an axis of `x`."""
    return normalize_raw_index(index, axis, x.shape[axis])


@with_shape(lambda *_: Spec(((), INT64)))
def slice_start(start: Any, stop: Any, n: int) -> Any:
    """Start of a raw slice of an axis of length `n`."""
    return np.int64(slice_bounds(start, stop, n)[0])


def slice_length(start: Any, stop: Any, n: int) -> int:
    """Number of elements in a raw slice of an axis of length `n`."""
    first, last = slice_bounds(start, stop, n)
    return last - first


def slice_bounds(start: Any, stop: Any, n: int) -> tuple[int, int]:
    """Start and end of a raw slice, clipped to an axis of length `n`."""
    ends = (None if end is None else int(end) for end in (start, stop))
    first, last, _ = slice(*ends).indices(n)
    return min(first, n), max(first, last)


@with_shape(lambda *starts: Spec(((len(starts),), INT64)))
def pack_starts(*starts: Any) -> Any:
    """Pack raw integers into a vector."""
    return np.array(starts, np.int64)


def slice_block(x: Tensor, begin: Tensor, sizes: tuple[int, ...]) -> Any:
    """Cut the block of `x` that starts at `begin`; a size of -1 means up to the end."""
    shape = x._array.shape
    begin = apply_raw(check_begin, begin, sizes, shape)
    known = tuple(
        compute_integer(remaining_size, begin, k, shape[k]) if n == -1 else n
        for k, n in enumerate(sizes)
    )
    return slice_from(x, begin, sizes=known)


def remaining_size(begin: Any, axis: int, n: int) -> int:
    """Number of elements from a raw position to the end of an axis of length `n`."""
    return n - int(begin[axis])


@with_shape(keep_shape)
def check_begin(begin: Any, sizes: tuple[int, ...], shape: tuple[int, ...]) -> Any:
    """Check that a block of these sizes at the raw position `begin` fits into `shape`."""
    for k, (at, n, whole) in enumerate(zip(begin.tolist(), sizes, shape, strict=True)):
        if not 0 <= at <= whole:
            raise InvalidArgumentError(f"slice: Expected begin[{k}] in [0, {whole}], but got {at}.")
        if n != -1 and not 0 <= n <= whole - at:
            raise InvalidArgumentError(
                f"slice: Expected size[{k}] in [0, {whole - at}], but got {n}."
            )
    return begin
