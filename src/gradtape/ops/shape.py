"""Ops that rearrange elements: reshape, transpose, concatenate, slice, pad.

Axes are counted from the right.
"""

from __future__ import annotations

import operator
from math import prod
from typing import Any

import numpy as np

from gradtape.core.open_shape import slice_size
from gradtape.core.primitive import primitive
from gradtape.core.shape_rule import keep_shape, lead_axes, replace_axis
from gradtape.core.tensor import Tensor

lax: Any = None  # `jax.lax` in the copy of this module that runs on JAX


def shape_of(x: Any) -> tuple[int, ...]:
    """Shape of a raw array or Tensor, as a tuple."""
    shape: tuple[int, ...] = x._array.shape if isinstance(x, Tensor) else x.shape
    return shape


def zeros(shape: tuple[int, ...], dtype: Any) -> Any:
    """Raw array of zeros; of empty strings for the string dtype."""
    return np.full(shape, b"", dtype) if np.dtype(dtype).char == "O" else np.zeros(shape, dtype)


def as_scalar_unless_string(x: Any) -> Any:
    """Convert a 0-d array to a NumPy scalar; an array of strings stays an array."""
    return x if x.dtype.char == "O" else x[()]


@primitive(
    x=lambda g, x_spec, out_spec: reshape(g, shape=x_spec.shape, rank=len(out_spec.shape)),
    shape=lambda x, shape, rank: lead_axes(x, rank) + shape,
)
def reshape(x, *, shape: tuple[int, ...], rank: int):
    """`x` with its last `rank` axes reshaped to `shape`."""
    out = x.reshape(x.shape[: x.ndim - rank] + shape)
    return out if out.ndim else as_scalar_unless_string(out)


@primitive(x=lambda g: swap(g), shape=lambda x: (*x.shape[:-2], x.shape[-1], x.shape[-2]))
def swap(x):
    """`x` with its last two axes exchanged."""
    return x.swapaxes(-1, -2)


def inverse_permutation(perm: tuple[int, ...]) -> tuple[int, ...]:
    """The inverse of the permutation `perm` of negative axes."""
    n = len(perm)
    back = [0] * n
    for i, p in enumerate(perm):
        back[p + n] = i - n
    return tuple(back)


def transpose_shape(x, perm):
    return (*lead_axes(x, len(perm)), *[x.shape[p] for p in perm])


@primitive(x=lambda g, perm: transpose(g, perm=inverse_permutation(perm)), shape=transpose_shape)
def transpose(x, *, perm: tuple[int, ...]):
    """`x` with its last axes in the order `perm` (negative numbers)."""
    lead = x.ndim - len(perm)
    return np.transpose(x, (*range(lead), *(p + x.ndim for p in perm)))


def concat_wrt_xs(g, xs_spec, axis, i):
    """The slice of the cotangent that belongs to the i-th input."""
    start = sum(spec.shape[axis] for spec in xs_spec[:i])
    return slice_axis(g, axis=axis, start=start, size=xs_spec[i].shape[axis])


def concat_shape(*xs, axis):
    """Sizes add up along `axis`; a known size of another axis holds for all."""
    rest = [replace_axis(x.shape, axis, 1) for x in xs]
    total = sum([x.shape[axis] for x in xs])
    return replace_axis(merge_shapes(*rest), axis, total)


def merge_shapes(*shapes):
    """The common shape of arrays that have the same shape: a known size wins."""
    return tuple(
        [
            next((n for n in sizes if type(n) is int), sizes[0])
            for sizes in zip(*shapes, strict=True)
        ]
    )


@primitive(xs=concat_wrt_xs, shape=concat_shape)
def concat(*xs, axis: int):
    """Arrays concatenated along `axis`."""
    return np.concatenate(xs, axis=axis)


def stack_shape(*xs, axis):
    shape = merge_shapes(*[x.shape for x in xs])
    at = len(shape) + 1 + axis
    return (*shape[:at], len(xs), *shape[at:])


@primitive(xs=lambda g, axis, i: index_axis(g, axis=axis, i=i), shape=stack_shape)
def stack(*xs, axis: int):
    """Arrays stacked along a new `axis`."""
    return np.stack(xs, axis=axis)


def index_axis(g: Any, *, axis: int, i: int) -> Any:
    """The i-th slice along `axis`, without that axis."""
    return slice_(g, key=(i,) + (slice(None),) * (-axis - 1), rank=-axis)


def slice_axis(x: Any, *, axis: int, start: int, size: int) -> Any:
    """The elements `start` to `start + size` along `axis`."""
    key = (slice(start, start + size),) + (slice(None),) * (-axis - 1)
    return slice_(x, key=key, rank=-axis)


def slice_wrt_x(g, x_spec, key, rank):
    return place(g, key=key, rank=rank, shape=x_spec.shape[len(x_spec.shape) - rank :])


def slice_shape(x, key, rank):
    front = lead_axes(x, rank)
    sizes, at = list(front), len(front)
    for k in key:
        if k is None:
            sizes.append(1)
            continue
        if isinstance(k, slice):
            sizes.append(slice_size(k, x.shape[at]))
        at += 1
    return (*sizes, *x.shape[at:])


@primitive(x=slice_wrt_x, shape=slice_shape)
def slice_(x, *, key: tuple[Any, ...], rank: int):
    """Basic indexing of the last `rank` axes: an int or slice for each, None for a new axis."""
    if x.ndim == rank and x.dtype.char != "O":
        return x[key]
    return x[(..., *key)]


@primitive(
    x=lambda g, key, rank: slice_(g, key=key, rank=rank),
    shape=lambda x, key, rank, shape: lead_shape_of(x, key) + shape,
)
def place(x, *, key: tuple[Any, ...], rank: int, shape: tuple[int, ...]):
    """Adjoint of `slice_`: zeros of `shape` with `x` written at `key`."""
    lead = lead_shape_of(x, key)
    if prod(x.shape[len(lead) :]) == prod(shape) and all(map(is_forward_key, key)):
        return x.reshape(lead + shape)  # only axes of length one differ, so there are no zeros
    out = np.zeros(lead + shape, x.dtype)
    out[(..., *key)] = x
    return out


@place.lower
def lower_place(x, *, key, rank, shape):
    return np.zeros(lead_shape_of(x, key) + shape, x.dtype).at[(..., *key)].set(x)


def is_forward_key(k: Any) -> bool:
    """Whether a part of a key preserves the order of elements."""
    return not isinstance(k, slice) or k.step is None or k.step > 0


def lead_shape_of(x: Any, key: tuple[Any, ...]) -> tuple[int, ...]:
    """Lead axes of a raw array, in front of the axes that indexing with `key` produces."""
    own = sum(1 for k in key if not isinstance(k, int))
    lead: tuple[int, ...] = x.shape[: len(x.shape) - own]
    return lead


def slice_from_wrt_x(g, starts, x_spec, sizes):
    return place_from(g, starts, shape=x_spec.shape[len(x_spec.shape) - len(sizes) :])


@primitive(
    x=slice_from_wrt_x, starts=None, shape=lambda x, starts, sizes: lead_axes(x, len(sizes)) + sizes
)
def slice_from(x, starts, *, sizes: tuple[int, ...]):
    """The block of these sizes in the last axes of `x`, starting at `starts`."""
    out = x[(..., *block_key(starts, sizes))]
    return out if x.dtype.char != "O" else np.array(out)


@slice_from.lower
def lower_slice_from(x, starts, *, sizes):
    lead = x.ndim - len(sizes)
    return lax.dynamic_slice(x, prepend_lead_starts(starts, lead), (*x.shape[:lead], *sizes))


def place_from_wrt_x(g, starts, x_spec, shape):
    return slice_from(g, starts, sizes=x_spec.shape[len(x_spec.shape) - len(shape) :])


@primitive(
    x=place_from_wrt_x, starts=None, shape=lambda x, starts, shape: lead_axes(x, len(shape)) + shape
)
def place_from(x, starts, *, shape: tuple[int, ...]):
    """Adjoint of `slice_from`: zeros of `shape` with `x` written at `starts`."""
    lead = x.ndim - len(shape)
    out = np.zeros(x.shape[:lead] + shape, x.dtype)
    out[(..., *block_key(starts, x.shape[lead:]))] = x
    return out


@place_from.lower
def lower_place_from(x, starts, *, shape):
    lead = x.ndim - len(shape)
    empty = np.zeros(x.shape[:lead] + shape, x.dtype)
    return lax.dynamic_update_slice(empty, x, prepend_lead_starts(starts, lead))


def block_key(starts: Any, sizes: tuple[int, ...]) -> tuple[Any, ...]:
    """Slices of these sizes that start at raw positions."""
    return tuple(slice(at, at + n) for at, n in zip(starts.tolist(), sizes, strict=True))


def prepend_lead_starts(starts: Any, lead: int) -> list[Any]:
    """Prepend zero start positions for lead axes."""
    return [np.zeros((), starts.dtype)] * lead + [starts[i] for i in range(starts.shape[0])]


def interior_key(paddings: tuple[tuple[int, int], ...], shape: tuple[int, ...]) -> tuple[Any, ...]:
    """Slices of a padded array that hold the original array of `shape`."""
    return tuple(slice(low, low + n) for (low, _), n in zip(paddings, shape, strict=True))


def pad_wrt_x(g, x_spec, paddings):
    rank = len(paddings)
    return slice_(
        g, key=interior_key(paddings, x_spec.shape[len(x_spec.shape) - rank :]), rank=rank
    )


def pad_shape(x, paddings, value):
    front = lead_axes(x, len(paddings))
    own = zip(paddings, x.shape[len(front) :], strict=True)
    return (*front, *[low + n + high for (low, high), n in own])


@primitive(x=pad_wrt_x, shape=pad_shape)
def pad(x, *, paddings: tuple[tuple[int, int], ...], value: Any):
    """`x` padded with `value`: `paddings` are (before, after) for each of the last axes."""
    lead = x.ndim - len(paddings)
    sizes = (low + n + high for (low, high), n in zip(paddings, x.shape[lead:], strict=True))
    out = np.empty(x.shape[:lead] + tuple(sizes), x.dtype)
    out[...] = value
    out[(..., *interior_key(paddings, x.shape[lead:]))] = x
    return out


@pad.lower
def lower_pad(x, *, paddings, value):
    return np.pad(x, ((0, 0),) * (x.ndim - len(paddings)) + paddings, constant_values=value)


@primitive(xs=lambda g, i: g[i], outputs=True, shape=lambda *xs: list(xs))
def identity_n(*xs):
    """The arrays themselves, as one op; the gradient of an unused one is zeros."""
    return xs


@primitive(x=lambda g, axes: flip(g, axes=axes), shape=keep_shape)
def flip(x, *, axes: tuple[int, ...]):
    """`x` reversed along `axes`."""
    return np.flip(x, axes)


@primitive(
    x=lambda g, axis: concat(*g, axis=axis),
    outputs=True,
    shape=lambda x, axis, sizes: [replace_axis(x.shape, axis, n) for n in sizes],
)
def split(x, *, axis: int, sizes: tuple[int, ...]):
    """Pieces of `x` along `axis`, of these sizes."""
    behind = (slice(None),) * (-axis - 1)
    pieces, start = [], 0
    for size in sizes:
        pieces.append(x[(..., slice(start, start + size), *behind)])
        start += size
    return tuple(pieces)


@primitive(
    x=lambda g, axis: stack(*g, axis=axis),
    outputs=True,
    shape=lambda x, axis: [replace_axis(x.shape, axis)] * operator.index(x.shape[axis]),
)
def unstack(x, *, axis: int):
    """Slices of `x` along `axis`, each without that axis."""
    x = np.moveaxis(x, axis, 0)
    return (
        tuple(x)
        if x.ndim > 1 and x.dtype.char != "O"
        else tuple(as_scalar_unless_string(x[i, ...]) for i in range(len(x)))
    )


def roll(x: Any, *, shift: int, axis: int) -> Any:
    """`x` shifted by `shift` along `axis`; elements beyond the end reappear at the front."""
    n = shape_of(x)[axis]
    if n == 0 or shift % n == 0:
        return x
    front, back = split(x, axis=axis, sizes=(n - shift % n, shift % n))
    return concat(back, front, axis=axis)


def permute_axes(x: Any, order: tuple[int, ...]) -> Any:
    """Transpose `x`; `order` lists all its axes, counted from the left."""
    n = len(order)
    return transpose(x, perm=tuple(i % n - n for i in order))


@primitive(x=None, source=None, shape=keep_shape)
def mark_no_gradient(x, source, *, op: str):
    """`x`, marked as the result of an op without gradient in TensorFlow (`tape/no_gradient.py`).

    `source` is the input of that op.
    """
    return x
