"""Top-level functions that look elements up, put them somewhere, or choose among them; and `Tensor.__getitem__`."""

from __future__ import annotations

import builtins
from math import prod
from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.convert import convert, shape_tuple
from gradtape.core.errors import InvalidArgumentError, hide_library, public
from gradtape.core.shapes import normalize_axis
from gradtape.core.tensor import EagerTensor, Tensor, eager
from gradtape.ops import index as i
from gradtape.ops import shape as s
from gradtape.ops.elementwise import add, select, subtract
from gradtape.ops.slicing import mask_of, slice_key
from gradtape.tf.check import is_typed, pair, same

INDEX_DTYPES = frozenset(np.dtype(name) for name in ("int16", "int32", "int64"))


def indices_of(op: str, value: Any) -> Tensor:
    """An argument that must hold indices."""
    tensor = convert(value)
    if tensor._array.dtype not in INDEX_DTYPES:
        raise InvalidArgumentError(
            f"{op}: Value for attr 'Tindices' of {tensor.dtype.name} is not in the list of allowed values: "
            "int16, int32, int64. Cast the indices first."
        )
    return tensor


# -- brackets --------------------------------------------------------------------------------------------------------


def getitem(tensor: Any, key: Any) -> Tensor:
    """What `tensor[key]` means: integers, slices, `...`, None, scalar tensors, or one boolean mask."""
    try:
        x = tensor if type(tensor) is EagerTensor else convert(tensor)
        if type(key) is not tuple:
            mask = mask_of(key)
            if mask is not None:
                return boolean_mask(x, mask)
        shape = x._array.shape
        return s.slice_(x, key=slice_key(key, shape), rank=len(shape))
    except Exception as error:
        hide_library(error)
        raise


Tensor.__getitem__ = getitem


@public
def slice(input_: Any, begin: Any, size: Any, name: str | None = None) -> Tensor:
    """The block of `input_` that starts at `begin` and has this `size`; -1 means up to the end."""
    x = convert(input_)
    have = x._array.shape
    starts, sizes = shape_tuple(begin), shape_tuple(size)
    if len(starts) != len(have) or len(sizes) != len(have):
        raise InvalidArgumentError(
            f"slice: Expected begin and size arguments to be 1-D tensors of size {len(have)}, but got "
            f"{len(starts)} and {len(sizes)}."
        )
    key = []
    for k, (at, n, whole) in enumerate(zip(starts, sizes, have, strict=True)):
        if not 0 <= at <= whole:
            raise InvalidArgumentError(f"slice: Expected begin[{k}] in [0, {whole}], but got {at}.")
        n = whole - at if n == -1 else n
        if not 0 <= n <= whole - at:
            raise InvalidArgumentError(f"slice: Expected size[{k}] in [0, {whole - at}], but got {n}.")
        key.append(builtins.slice(at, at + n))
    return s.slice_(x, key=tuple(key), rank=len(have))


@public
def strided_slice(
    input_: Any,
    begin: Any,
    end: Any,
    strides: Any = None,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
    var: Any = None,
    name: str | None = None,
) -> Tensor:
    """`input_[begin:end:strides]`, axis by axis.

    Args:
        input_: a tensor.
        begin: where each axis starts.
        end: where it stops.
        strides: in which steps; ones if None.
        begin_mask: bit k set: start axis k at its beginning.
        end_mask: bit k set: run axis k to its end.
        ellipsis_mask: bit k set: entry k stands for `...`.
        new_axis_mask: bit k set: entry k is a new axis.
        shrink_axis_mask: bit k set: entry k is the index `begin[k]`, and its axis goes.
        var: accepted for TensorFlow's sake.
        name: accepted for TensorFlow's sake.
    """
    starts, stops = shape_tuple(begin), shape_tuple(end)
    steps = (1,) * len(starts) if strides is None else shape_tuple(strides)
    key: list[Any] = []
    for k, (start, stop, step) in enumerate(zip(starts, stops, steps, strict=True)):
        bit = 1 << k
        if ellipsis_mask & bit:
            key.append(Ellipsis)
        elif new_axis_mask & bit:
            key.append(None)
        elif shrink_axis_mask & bit:
            key.append(start)
        else:
            first = None if begin_mask & bit else start
            key.append(builtins.slice(first, None if end_mask & bit else stop, step))
    return getitem(convert(input_), tuple(key))


# -- gather ------------------------------------------------------------------------------------------------------------


@public
def gather(
    params: Any,
    indices: Any,
    validate_indices: Any = None,
    axis: Any = None,
    batch_dims: int = 0,
    name: str | None = None,
) -> Tensor:
    """Slices of `params` along `axis`, one for each entry of `indices`.

    Args:
        params: a tensor.
        indices: integers in [0, params.shape[axis]).
        validate_indices: accepted for TensorFlow's sake.
        axis: the axis to look along; `batch_dims` if None.
        batch_dims: how many leading axes `params` and `indices` share.
        name: accepted for TensorFlow's sake.

    Returns:
        A tensor of shape params.shape[:axis] + indices.shape[batch_dims:] + params.shape[axis + 1:].
    """
    x = convert(params)
    where = indices_of("gather", indices)
    n = x._array.ndim
    if n == 0:
        raise InvalidArgumentError("gather: params must be at least 1 dimensional. Received a scalar.")
    shared = batch_dims + where._array.ndim if batch_dims < 0 else batch_dims
    at = shared if axis is None else int(convert(axis)._array)
    at = normalize_axis(at, n, "gather")
    if shared and at + n >= shared:
        return batched_gather(x, where, at + n, shared)
    return i.gather(x, where, axis=at)


def batched_gather(x: Tensor, where: Tensor, axis: int, shared: int) -> Any:
    """Look up in each of the batches that the first `shared` axes number, as one lookup in a longer axis."""
    shape, own = x._array.shape, where._array.shape
    batch = shape[:shared]
    if own[:shared] != batch:
        raise InvalidArgumentError(
            f"gather: params.shape[:{shared}] {list(batch)} should be equal to indices.shape[:{shared}] "
            f"{list(own[:shared])}."
        )
    n = len(shape)
    middle = tuple(range(shared, axis))
    behind = tuple(range(axis + 1, n))
    x = s.permuted(x, (*range(shared), axis, *middle, *behind))
    rest = tuple(shape[k] for k in middle + behind)
    flat = s.reshape(x, shape=(prod(batch) * shape[axis], *rest), rank=n)
    rows = i.batch_rows(where, shape=batch, size=shape[axis])
    found = i.take(flat, rows, axis=-len(rest) - 1)
    inner = len(own) - shared
    order = (
        *range(shared),
        *range(shared + inner, shared + inner + len(middle)),
        *range(shared, shared + inner),
        *range(shared + inner + len(middle), shared + inner + len(rest)),
    )
    return s.permuted(found, order)


@public
def gather_nd(
    params: Any, indices: Any, batch_dims: int = 0, name: str | None = None, bad_indices_policy: str = ""
) -> Tensor:
    """Elements or slices of `params` that the rows of `indices` point at.

    Args:
        params: a tensor.
        indices: integers of shape (..., depth); each row indexes the first `depth` axes of `params`.
        batch_dims: how many leading axes `params` and `indices` share.
        name: accepted for TensorFlow's sake.
        bad_indices_policy: accepted for TensorFlow's sake.
    """
    x = convert(params)
    where = indices_of("gather_nd", indices)
    own = where._array.shape
    rank = x._array.ndim
    if batch_dims:
        batch = own[:batch_dims]
        grid = np.indices(batch, where._array.dtype)
        grid = np.moveaxis(grid, 0, -1).reshape(batch + (1,) * (len(own) - 1 - batch_dims) + (batch_dims,))
        grid = np.broadcast_to(grid, own[:-1] + (batch_dims,))
        where = s.concat(eager(grid), where, axis=-1)
        own = where._array.shape
    if own[-1] > rank:
        raise InvalidArgumentError(
            f"gather_nd: index innermost dimension length must be <= params rank; saw: {own[-1]} vs. {rank}."
        )
    if own[-1] == 1 and len(own) == 2 and not batch_dims:
        # Rows of the first axis: TensorFlow's gradient is IndexedSlices here.
        return i.gather(x, s.reshape(where, shape=own[:-1], rank=2), axis=-rank)
    return i.gather_nd(x, where, rank=rank)


@public
def boolean_mask(tensor: Any, mask: Any, axis: Any = None, name: str = "boolean_mask") -> Tensor:
    """Slices of `tensor` where `mask`, which covers some axes from `axis` on, holds.

    Raises:
        ValueError: if the mask is a scalar, or does not fit the shape.
    """
    x = convert(tensor)
    keep = convert(mask)
    shape, own = x._array.shape, keep._array.shape
    if not own:
        raise ValueError("mask cannot be scalar.")
    at = 0 if axis is None else int(convert(axis)._array)
    at = at + len(shape) if at < 0 else at
    if shape[at : at + len(own)] != own:
        raise ValueError(f"Shapes {shape[at : at + len(own)]} and {own} are incompatible")
    flat = s.reshape(x, shape=shape[:at] + (prod(own),) + shape[at + len(own) :], rank=len(shape))
    rows = i.where_true(s.reshape(keep, shape=(prod(own),), rank=len(own)))
    rows = s.reshape(rows, shape=(rows._array.size,), rank=2)
    return i.take(flat, rows, axis=at - len(shape) + len(own) - 1)


@public
def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Tensor:
    """`x` where `condition` holds, else `y`; with neither, the coordinates of what is true or not zero.

    Args:
        condition: booleans; without `x` and `y` also numbers.
        x: values for where it holds.
        y: values for where it does not; all three broadcast.
        name: accepted for TensorFlow's sake.

    Raises:
        ValueError: if only one of `x` and `y` is given.
    """
    if x is None and y is None:
        return i.where_true(convert(condition))
    if x is None or y is None:
        raise ValueError("where: x and y must both be given, or neither of them.")
    holds = convert(condition) if is_typed(condition) else convert(condition, dtypes.bool)
    a, b = pair(x, y)
    if holds._array.dtype.kind != "b":
        raise InvalidArgumentError(
            "cannot compute SelectV2 as input #0(zero-based) was expected to be a bool tensor but is a "
            f"{holds.dtype.name} tensor."
        )
    same("SelectV2", a, b, 2)
    return select(holds, a, b)


# -- scatter -----------------------------------------------------------------------------------------------------------


def checked_updates(op: str, indices: Tensor, updates: Tensor, shape: tuple[int, ...]) -> None:
    """Updates must have a slice of `shape` for each row of `indices`."""
    own = indices._array.shape
    if not own or own[-1] > len(shape):
        raise InvalidArgumentError(
            f"{op}: the last dimension of indices must be at most {len(shape)}. Received indices of shape {own}."
        )
    wanted = own[:-1] + shape[own[-1] :]
    if updates._array.shape != wanted:
        raise InvalidArgumentError(
            f"{op}: updates must have shape {list(wanted)} for indices of shape {list(own)} and a tensor of shape "
            f"{list(shape)}. Received {list(updates._array.shape)}."
        )


@public
def scatter_nd(
    indices: Any, updates: Any, shape: Any, name: str | None = None, bad_indices_policy: str = ""
) -> Tensor:
    """Zeros of `shape` with `updates` added where the rows of `indices` point."""
    places, values, sizes = indices_of("scatter_nd", indices), convert(updates), shape_tuple(shape)
    checked_updates("scatter_nd", places, values, sizes)
    return i.scatter_nd(values, places, shape=sizes)


def scatter_arguments(op: str, tensor: Any, indices: Any, updates: Any) -> tuple[Tensor, Tensor, Tensor]:
    """The three tensors of an update, checked."""
    x, values = pair(tensor, updates)
    same(op, x, values, 2)
    places = indices_of(op, indices)
    checked_updates(op, places, values, x._array.shape)
    return x, places, values


@public
def tensor_scatter_nd_add(tensor: Any, indices: Any, updates: Any, name: str | None = None) -> Tensor:
    """`tensor` with `updates` added where the rows of `indices` point."""
    x, places, values = scatter_arguments("tensor_scatter_nd_add", tensor, indices, updates)
    return add(x, i.scatter_nd(values, places, shape=x._array.shape))


@public
def tensor_scatter_nd_sub(tensor: Any, indices: Any, updates: Any, name: str | None = None) -> Tensor:
    """`tensor` with `updates` subtracted where the rows of `indices` point."""
    x, places, values = scatter_arguments("tensor_scatter_nd_sub", tensor, indices, updates)
    return subtract(x, i.scatter_nd(values, places, shape=x._array.shape))


@public
def tensor_scatter_nd_update(
    tensor: Any, indices: Any, updates: Any, name: str | None = None, bad_indices_policy: str = ""
) -> Tensor:
    """`tensor` with `updates` in place of what the rows of `indices` point at; the last of several wins."""
    x, places, values = scatter_arguments("tensor_scatter_nd_update", tensor, indices, updates)
    return i.update_nd(x, places, values, rank=x._array.ndim)


@public
def tensor_scatter_nd_max(tensor: Any, indices: Any, updates: Any, name: str | None = None) -> Tensor:
    """The larger of `tensor` and of the `updates` that the rows of `indices` send there."""
    x, places, values = scatter_arguments("tensor_scatter_nd_max", tensor, indices, updates)
    return i.extreme_nd(x, places, values, largest=True)


@public
def tensor_scatter_nd_min(tensor: Any, indices: Any, updates: Any, name: str | None = None) -> Tensor:
    """The smaller of `tensor` and of the `updates` that the rows of `indices` send there."""
    x, places, values = scatter_arguments("tensor_scatter_nd_min", tensor, indices, updates)
    return i.extreme_nd(x, places, values, largest=False)


# -- masks -------------------------------------------------------------------------------------------------------------


@public
def one_hot(
    indices: Any,
    depth: Any,
    on_value: Any = None,
    off_value: Any = None,
    axis: int | None = None,
    dtype: Any = None,
    name: str | None = None,
) -> Tensor:
    """`on_value` at the position each index names along a new axis, `off_value` elsewhere.

    Args:
        indices: integers; one outside [0, depth) gives no `on_value` at all.
        depth: the length of the new axis.
        on_value: 1 if None.
        off_value: 0 if None.
        axis: where the new axis stands; last if None.
        dtype: the element type; that of the values, or float32.
        name: accepted for TensorFlow's sake.
    """
    where = convert(indices)
    if where._array.dtype.kind not in "iu":
        raise InvalidArgumentError(
            f"one_hot: Value for attr 'TI' of {where.dtype.name} is not in the list of allowed values: uint8, int8, "
            "int32, int64."
        )
    given = [v for v in (on_value, off_value) if v is not None]
    kinds = [convert(v, None if is_typed(v) else dtype).dtype for v in given]
    if len(kinds) == 2 and kinds[0] != kinds[1]:
        raise TypeError(f"dtype {kinds[0]} of on_value does not match dtype {kinds[1]} of off_value")
    if dtype is not None and kinds and kinds[0] != dtype:
        raise TypeError(f"dtype {kinds[0]} of on_value does not match dtype parameter {dtypes.as_dtype(dtype)}")
    kind = dtypes.as_dtype(dtype) if dtype is not None else kinds[0] if kinds else dtypes.float32
    on = convert(1 if on_value is None else on_value, kind if not is_typed(on_value) else None)
    off = convert(0 if off_value is None else off_value, kind if not is_typed(off_value) else None)
    hit = i.one_hot_mask(where, depth=int(convert(depth)._array))
    out = select(hit, on, off)
    n = out._array.ndim
    if axis is None or axis in (-1, n - 1):
        return out
    at = normalize_axis(axis, n, "one_hot") + n
    return s.permuted(out, (*range(at), n - 1, *range(at, n - 1)))


@public
def sequence_mask(lengths: Any, maxlen: Any = None, dtype: Any = dtypes.bool, name: str | None = None) -> Tensor:
    """Whether a position along a new last axis lies before the given length."""
    raw = np.asarray(convert(lengths)._array)
    longest = int(raw.max(initial=0)) if maxlen is None else int(convert(maxlen)._array)
    mask = np.arange(longest) < raw[..., None]
    return eager(mask.astype(dtypes.as_dtype(dtype).as_numpy_dtype, copy=False))


@public
def unravel_index(indices: Any, dims: Any, name: str | None = None) -> Tensor:
    """Coordinates, one row for each axis, of positions in a flat array of shape `dims`."""
    where, sizes = convert(indices), shape_tuple(dims)
    raw = where._array
    if raw.size and not (0 <= raw.min() and raw.max() < prod(sizes)):
        raise InvalidArgumentError(f"unravel_index: index is out of bound as with dims. Received dims {sizes}.")
    return eager(np.stack(np.unravel_index(raw, sizes)).astype(raw.dtype))


@public
def reverse_sequence(
    input: Any,
    seq_lengths: Any,
    seq_axis: int | None = None,
    batch_axis: int | None = None,
    name: str | None = None,
) -> Tensor:
    """The first `seq_lengths[b]` elements along `seq_axis` in reverse order, for each b along `batch_axis`."""
    x = convert(input)
    n = x._array.ndim
    along = normalize_axis(0 if seq_axis is None else seq_axis, n, "reverse_sequence") + n
    batch = normalize_axis(0 if batch_axis is None else batch_axis, n, "reverse_sequence") + n
    lengths = np.asarray(convert(seq_lengths)._array)
    size = x._array.shape[along]
    if lengths.shape != (x._array.shape[batch],) or (lengths.size and lengths.max() > size):
        raise InvalidArgumentError(
            f"reverse_sequence: seq_lengths must have {x._array.shape[batch]} entries, none above {size}. "
            f"Received {lengths.tolist()}."
        )
    steps = np.arange(size)
    rows = np.where(steps < lengths[:, None], lengths[:, None] - 1 - steps, steps).astype(np.int64)
    rest = tuple(k for k in range(n) if k not in (along, batch))
    order = (batch, along, *rest)
    moved = s.permuted(x, order)
    found = batched_gather(moved, eager(rows), 1, 1)
    return s.permuted(found, tuple(int(k) for k in np.argsort(order)))


@public
def invert_permutation(x: Any, name: str | None = None) -> Tensor:
    """The permutation that undoes the permutation `x` of 0 … n - 1."""
    raw = np.asarray(indices_of("InvertPermutation", x)._array)
    if raw.ndim != 1 or not np.array_equal(np.sort(raw), np.arange(raw.size)):
        raise InvalidArgumentError(f"invert_permutation: x must be a permutation of 0..n-1. Received {raw.tolist()}.")
    return eager(np.argsort(raw).astype(raw.dtype))
