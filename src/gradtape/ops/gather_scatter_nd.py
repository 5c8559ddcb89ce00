"""Gather and scatter by index tuples, and their adjoints."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from gradtape.core.errors import InvalidArgumentError
from gradtape.core.primitive import primitive
from gradtape.core.shape_rule import (
    keep_shape,
    lead_axes,
)
from gradtape.ops.elementwise import cast, equal
from gradtape.ops.gather_scatter import box_string, is_in_range, sum_rows_by_id
from gradtape.ops.reduce import unbroadcast
from gradtape.ops.shape import as_scalar_unless_string, zeros


def gather_nd_wrt_params(g, params_spec, indices, rank):
    return scatter_nd(g, indices, shape=params_spec.shape[len(params_spec.shape) - rank :])


def gather_nd_shape(params, indices, rank):
    front, depth = lead_axes(params, rank), operator.index(indices.shape[-1])
    return (*front, *indices.shape[:-1], *params.shape[len(front) + depth :])


@primitive(params=gather_nd_wrt_params, indices=None, shape=gather_nd_shape)
def gather_nd(params, indices, *, rank: int):
    """Slices of the last `rank` axes of `params` that the rows of `indices` point at."""
    lead = params.shape[: params.ndim - rank]
    own = params.shape[params.ndim - rank :]
    depth = indices.shape[-1]
    rows = flatten_nd_indices("gather_nd", indices, own)
    flat = (
        params.reshape(*lead, -1, *own[depth:])
        if params.size
        else flatten_empty(params, lead, own, depth)
    )
    out = flat.take(rows, axis=len(lead))
    return (
        out.reshape(lead + indices.shape[:-1] + own[depth:])
        if out.ndim
        else box_string(as_scalar_unless_string(out))
    )


def flatten_empty(params: Any, lead: tuple[int, ...], own: tuple[int, ...], depth: int) -> Any:
    """Flatten the indexed axes of an array without elements, where -1 cannot be inferred."""
    return params.reshape(*lead, int(np.prod(own[:depth])), *own[depth:])


def flatten_nd_indices(op: str, indices: Any, shape: tuple[int, ...]) -> Any:
    """Convert rows of `indices` to positions in the flattened first axes of `shape`."""
    if indices.shape[-1] == 1 and indices.size and is_in_range(indices, shape[0]):
        return indices[..., 0]
    sizes = np.array(shape[: indices.shape[-1]], indices.dtype)
    bad = (indices < 0) | (indices >= sizes)
    if bad.any():
        where = np.argwhere(bad.any(axis=-1))[0]
        place = "".join(f"[{i}]" for i in where)
        raise InvalidArgumentError(
            f"{op}: indices{place} = {indices[tuple(where)].tolist()} does not index into shape "
            f"{str(list(shape)).replace(' ', '')}. Mask or clip the indices first."
        )
    weights = [1] * len(sizes)
    for i in range(len(sizes) - 1, 0, -1):
        weights[i - 1] = weights[i] * shape[i]
    return (indices * np.array(weights, np.int64)).sum(axis=-1)


@gather_nd.lower
def lower_gather_nd(params, indices, *, rank):
    lead = (slice(None),) * (params.ndim - rank)
    return params[(*lead, *(indices[..., i] for i in range(indices.shape[-1])))]


def scatter_nd_wrt_updates(g, indices, shape):
    return gather_nd(g, indices, rank=len(shape))


def scatter_nd_shape(updates, indices, shape):
    inner = len(indices.shape) - 1 + len(shape) - operator.index(indices.shape[-1])
    return (*lead_axes(updates, inner), *shape)


@primitive(updates=scatter_nd_wrt_updates, indices=None, shape=scatter_nd_shape)
def scatter_nd(updates, indices, *, shape: tuple[int, ...]):
    """Zeros of `shape` with `updates` added where the rows of `indices` point."""
    slices, lead, rows = prepare_scatter_nd("scatter_nd", updates, indices, shape)
    depth = indices.shape[-1]
    total = sum_rows_by_id(slices, rows, int(np.prod(shape[:depth])))
    return np.moveaxis(total, 0, len(lead)).reshape(lead + shape)


def prepare_scatter_nd(
    op: str, updates: Any, indices: Any, shape: tuple[int, ...]
) -> tuple[Any, tuple[int, ...], Any]:
    """Prepare a scatter: updates as rows (rows first, then lead axes), lead axes, and positions."""
    n = indices.ndim - 1
    behind = len(shape) - indices.shape[-1]
    at = np.ndim(updates) - n - behind
    lead = np.shape(updates)[:at]
    rows = np.ravel(flatten_nd_indices(op, indices, shape))
    flat = np.reshape(updates, (*lead, rows.size, *np.shape(updates)[at + n :]))
    return np.moveaxis(flat, at, 0), lead, rows


@scatter_nd.lower
def lower_scatter_nd(updates, indices, *, shape):
    n = indices.ndim - 1
    lead = updates.shape[: updates.ndim - n - len(shape) + indices.shape[-1]]
    key = ((slice(None),) * len(lead)) + tuple(indices[..., i] for i in range(indices.shape[-1]))
    return np.zeros(lead + shape, updates.dtype).at[key].add(updates)


def update_nd_wrt_x(g, indices, x_spec, updates_spec, rank):
    """Zero where `x` was overwritten."""
    return update_nd(g, indices, zeros(updates_spec.shape, x_spec.dtype), rank=rank)


def update_nd_wrt_updates(g, indices, updates_spec, out_spec, rank):
    """The cotangent at the written positions, summed over lead axes that only `x` has."""
    shape = updates_spec.shape
    return unbroadcast(gather_nd(g, indices, rank=rank), shape, len(shape), g, out_spec.shape)


@primitive(x=update_nd_wrt_x, indices=None, updates=update_nd_wrt_updates, shape=keep_shape)
def update_nd(x, indices, updates, *, rank: int):
    """`x` with `updates` written where the rows of `indices` point.

    The last of several updates to one position wins.
    """
    out = np.array(x, order="C")
    write_nd(out, indices, updates, rank)
    return out


def write_nd(x: Any, indices: Any, updates: Any, rank: int) -> None:
    """Write `updates` into the raw, C-contiguous array `x` where the rows of `indices` point."""
    lead = x.shape[: x.ndim - rank]
    own = x.shape[x.ndim - rank :]
    depth = indices.shape[-1]
    rows = flatten_nd_indices("tensor_scatter_nd_update", indices, own)
    flat = x.reshape((*lead, int(np.prod(own[:depth])), *own[depth:]))
    flat[(*((slice(None),) * len(lead)), rows)] = updates


@update_nd.lower
def lower_update_nd(x, indices, updates, *, rank):
    key = ((slice(None),) * (x.ndim - rank)) + tuple(
        indices[..., i] for i in range(indices.shape[-1])
    )
    return x.at[key].set(updates)


def find_ties(x, indices, updates, out, x_spec):
    """Where `x` and `updates` equal the extreme, and how many of them tie in each position."""
    own = cast(equal(x, out), dtype=x_spec.dtype)
    other = cast(
        equal(updates, gather_nd(out, indices, rank=len(x_spec.shape))), dtype=x_spec.dtype
    )
    return own, other, own + scatter_nd(other, indices, shape=x_spec.shape)


def scatter_nd_extreme_wrt_x(g, x, indices, updates, out, x_spec):
    """Elements that tie for the extreme share the cotangent equally."""
    own, _, count = find_ties(x, indices, updates, out, x_spec)
    return g * own / count


def scatter_nd_extreme_wrt_updates(g, x, indices, updates, out, x_spec):
    _, other, count = find_ties(x, indices, updates, out, x_spec)
    return gather_nd(g / count, indices, rank=len(x_spec.shape)) * other


@primitive(
    x=scatter_nd_extreme_wrt_x,
    indices=None,
    updates=scatter_nd_extreme_wrt_updates,
    shape=keep_shape,
)
def scatter_nd_extreme(x, indices, updates, *, largest: bool):
    """Elementwise maximum (or minimum) of `x` and of the `updates` at `indices`."""
    slices, _, rows = prepare_scatter_nd("tensor_scatter_nd_max", updates, indices, x.shape)
    depth = indices.shape[-1]
    out = np.array(x).reshape((int(np.prod(x.shape[:depth])), *x.shape[depth:]))
    (np.maximum if largest else np.minimum).at(out, rows, slices)
    return out.reshape(x.shape)


@scatter_nd_extreme.lower
def lower_scatter_nd_extreme(x, indices, updates, *, largest):
    target = x.at[tuple(indices[..., i] for i in range(indices.shape[-1]))]
    return target.max(updates) if largest else target.min(updates)
