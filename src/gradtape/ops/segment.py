"""Reductions over segments: rows with the same id are combined.

Ids lie in [0, size). The axes of `ids` are replaced by one axis of length `size`, as in
`scatter_add`, which is the segment sum.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.primitive import primitive
from gradtape.ops.elementwise import (
    cast,
    equal,
    gate,
    less,
    logical_not,
    maximum,
    ones_like,
    select,
)
from gradtape.ops.gather_scatter import move_slices_first, scatter_add, scatter_add_shape, take
from gradtape.ops.no_nan import conj_if_complex


def segment_extreme_wrt_data(g, data, data_spec, ids, out, axis, size):
    """Rows that tie for the extreme of their segment share the cotangent equally."""
    hit = equal(data, take(out, ids, axis=axis))
    ties = scatter_add(cast(hit, dtype=data_spec.dtype), ids, axis=axis, size=size)
    return gate(take(g / maximum(ties, 1), ids, axis=axis), hit)


@primitive(data=segment_extreme_wrt_data, ids=None, shape=scatter_add_shape)
def segment_max(data, ids, *, axis: int, size: int):
    """Largest elements of each segment; the smallest finite number for an empty segment."""
    return combine_segments(
        np.maximum, data, ids, axis, size, data.dtype.type(dtype_limits_of(data.dtype).min)
    )


@segment_max.lower
def lower_segment_max(data, ids, *, axis, size):
    slices = move_slices_first(data, ids, axis)
    start = np.full((size, *slices.shape[1:]), dtype_limits_of(data.dtype).min, data.dtype)
    return np.moveaxis(start.at[np.ravel(ids)].max(slices), 0, axis)


@primitive(data=segment_extreme_wrt_data, ids=None, shape=scatter_add_shape)
def segment_min(data, ids, *, axis: int, size: int):
    """Smallest elements of each segment; the largest finite number for an empty segment."""
    return combine_segments(
        np.minimum, data, ids, axis, size, data.dtype.type(dtype_limits_of(data.dtype).max)
    )


@segment_min.lower
def lower_segment_min(data, ids, *, axis, size):
    slices = move_slices_first(data, ids, axis)
    start = np.full((size, *slices.shape[1:]), dtype_limits_of(data.dtype).max, data.dtype)
    return np.moveaxis(start.at[np.ravel(ids)].min(slices), 0, axis)


def segment_prod_wrt_data(g, data, data_spec, ids, out, axis, size):
    """The product of the other rows; for a row that is zero, of the rows that are not zero."""
    zero = equal(data, 0)
    safe = select(zero, ones_like(data), data)
    zeros = scatter_add(cast(zero, dtype=data_spec.dtype), ids, axis=axis, size=size)
    rest = gate(segment_prod(safe, ids, axis=axis, size=size), less(zeros, 2))
    back = take(g, ids, axis=axis)
    alone = gate(take(rest, ids, axis=axis), zero)
    shared = gate(take(out, ids, axis=axis) / safe, logical_not(zero))
    return back * conj_if_complex(alone + shared)  # as in TensorFlow, not conjugated


@primitive(data=segment_prod_wrt_data, ids=None, shape=scatter_add_shape)
def segment_prod(data, ids, *, axis: int, size: int):
    """Product of the rows of each segment; one for an empty segment."""
    return combine_segments(np.multiply, data, ids, axis, size, 1)


@segment_prod.lower
def lower_segment_prod(data, ids, *, axis, size):
    slices = move_slices_first(data, ids, axis)
    start = np.ones((size, *slices.shape[1:]), data.dtype)
    return np.moveaxis(start.at[np.ravel(ids)].multiply(slices), 0, axis)


def combine_segments(ufunc: Any, data: Any, ids: Any, axis: int, size: int, start: Any) -> Any:
    """Combine the rows of each segment with `ufunc`, starting from `start`."""
    slices = move_slices_first(data, ids, axis)
    out = np.full((size, *slices.shape[1:]), start, data.dtype)
    ufunc.at(out, np.ravel(ids), slices)
    return np.moveaxis(out, 0, axis)


def dtype_limits_of(dtype: Any) -> Any:
    """Smallest and largest finite values of a real dtype (`.min`, `.max`)."""
    if dtype.kind in "iu":
        return np.iinfo(dtype)
    import ml_dtypes

    return ml_dtypes.finfo(dtype)


def count_segment_rows(ids: Any, size: int, dtype: Any) -> Any:
    """Count the rows of each segment, as a raw array."""
    return np.bincount(np.ravel(ids), minlength=size).astype(dtype)


@primitive(
    data=lambda g, indices, axis: take(g, indices, axis=axis), indices=None, shape=scatter_add_shape
)
def stitch(data, indices, *, axis: int, size: int):
    """Zeros of length `size` along `axis`, with rows of `data` written at `indices`; the last wins.

    As in TensorFlow, a row that was overwritten gets the cotangent of the row that replaced it.
    """
    slices = move_slices_first(data, indices, axis)
    out = np.zeros((size, *slices.shape[1:]), data.dtype)
    out[np.ravel(indices)] = slices
    return np.moveaxis(out, 0, axis)


@stitch.lower
def lower_stitch(data, indices, *, axis, size):
    slices = move_slices_first(data, indices, axis)
    out = np.zeros((size, *slices.shape[1:]), data.dtype)
    return np.moveaxis(out.at[np.ravel(indices)].set(slices), 0, axis)
