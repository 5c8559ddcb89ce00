"""Pooling: sums and maxima of windows.

Each tap, taken in all windows, is one strided view, so a pool is a few operations on whole views.
Where windows do not overlap, adjoints write each view once instead of adding to zeros.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.dtypes import accumulator
from gradtape.core.primitive import primitive
from gradtape.core.shape_rule import lead_axes
from gradtape.ops.convolution.window import (
    Window,
    as_items,
    copy_items,
    crop_padding,
    pad_spatial,
    places_shape,
    sizes_with_padding,
    spatial_sizes_of,
)
from gradtape.ops.elementwise import zero_of_dtype
from gradtape.ops.reduce import lowest
from gradtape.ops.relu_kernel import BITS_DTYPE

BLOCK = 1 << 19  # elements of the images in one block


def sum_pool_wrt_x(g, x_spec, window):
    return spread_pool(g, window=window, spatial=spatial_sizes_of(x_spec.shape, window))


@primitive(x=sum_pool_wrt_x, shape=lambda x, window: places_shape(x, window, x.shape[-1]))
def sum_pool(x, *, window: Window):
    """Sums of the windows of `x`."""
    return reduce_taps(np.add, x.astype(accumulator(x.dtype), copy=False), window, 0).astype(
        x.dtype, copy=False
    )


@sum_pool.lower
def lower_sum_pool(x, *, window):
    full = pad_spatial(x, window).astype(accumulator(x.dtype))
    outputs = window.outputs(spatial_sizes_of(x.shape, window))
    return sum(full[window.key(tap, outputs)] for tap in window.taps()).astype(x.dtype)


MAX_COPIED_BYTES = 256  # size of a pixel up to which ufuncs are slow on strided pixels


def has_short_rows(view: Any, window: Window) -> bool:
    """Whether pixels lie apart from each other and are small, so that they are copied as items."""
    size = view.shape[-1] * view.itemsize
    return window.strides[-1] > 1 and view.strides[-1] == view.itemsize and size <= MAX_COPIED_BYTES


def copy_tap(view: Any, window: Window) -> Any:
    """One tap of all windows, for use in a ufunc: as a contiguous copy if that is faster."""
    return copy_items(view) if has_short_rows(view, window) else view


def write_tap(view: Any, values: Any, window: Window) -> None:
    """Write one tap of all windows."""
    if has_short_rows(view, window) and values.flags.c_contiguous and values.shape == view.shape:
        as_items(view)[...] = as_items(values)
    else:
        view[...] = values


def reduce_taps(operation: Any, x: Any, window: Window, beyond: Any) -> Any:
    """Combine all taps of the windows of `x` by a binary ufunc; `beyond` is the padding value."""
    full = pad_spatial(x, window, beyond)
    outputs = window.outputs(spatial_sizes_of(x.shape, window))
    first, *others = (full[window.key(tap, outputs)] for tap in window.taps())
    if not others:
        return first.copy()
    out = operation(first, others[0])
    for part in others[1:]:
        operation(out, part, out=out)
    return out


def spread_pool_shape(g, window, spatial):
    return (*g.shape[: -len(spatial) - 1], *spatial, g.shape[-1])


@primitive(g=lambda g, window: sum_pool(g, window=window), shape=spread_pool_shape)
def spread_pool(g, *, window: Window, spatial: tuple[int, ...]):
    """Adjoint of `sum_pool`: every place adds its value to all elements of its window."""
    outputs = spatial_sizes_of(g.shape, window)
    total = make_canvas(g, g.shape[: -len(outputs) - 1], window, spatial, accumulator(g.dtype))
    alone = is_disjoint(window)
    for tap in window.taps():
        view = total[window.key(tap, outputs)]
        np.copyto(view, g) if alone else np.add(view, g, out=view)
    return crop_padding(total, window, spatial).astype(g.dtype, copy=window.is_padded())


@spread_pool.lower
def lower_spread_pool(g, *, window, spatial):
    n = len(window.size)
    shape = (*g.shape[: -n - 1], *sizes_with_padding(spatial, window), g.shape[-1])
    total = np.zeros(shape, accumulator(g.dtype))
    for tap in window.taps():
        total = total.at[window.key(tap, spatial_sizes_of(g.shape, window))].add(g)
    return crop_padding(total, window, spatial).astype(g.dtype)


def is_disjoint(window: Window) -> bool:
    """Whether windows do not overlap."""
    return all(stride >= span for stride, span in zip(window.strides, window.reach(), strict=True))


def make_canvas(
    g: Any, front: tuple[int, ...], window: Window, spatial: tuple[int, ...], dtype: Any
) -> Any:
    """Allocate the padded result of an adjoint: zeros, or empty if windows cover all of it."""
    full = sizes_with_padding(spatial, window)
    outputs = spatial_sizes_of(g.shape, window)
    covered = tuple(n * k for n, k in zip(outputs, window.size, strict=True))
    covers = window.size == window.strides and covered == full
    return (np.empty if covers else np.zeros)((*front, *full, g.shape[-1]), dtype)


def max_pool_wrt_x(g, x, out, window, every):
    return max_unpool(g, x, out, window=window, every=every)


@primitive(
    x=max_pool_wrt_x,
    shape=lambda x, window, every: places_shape(x, window, x.shape[-1]),
    new_arrays=True,
)
def max_pool(x, *, window: Window, every: bool):
    """Largest elements of the windows of `x`.

    Of tied elements the first gets the cotangent; with `every`, each gets all of it.
    """
    return reduce_taps(np.maximum, x, window, lowest(x.dtype))


@max_pool.lower
def lower_max_pool(x, *, window, every):
    full = pad_spatial(x, window, lowest(x.dtype))
    outputs = window.outputs(spatial_sizes_of(x.shape, window))
    first, *others = (full[window.key(tap, outputs)] for tap in window.taps())
    for part in others:
        first = np.maximum(first, part)
    return first


def iter_maxima(x: Any, peak: Any, window: Window, every: bool) -> Any:
    """Iterate over taps: the key, and where the tap is the (first, unless `every`) maximum."""
    full = pad_spatial(x, window, lowest(x.dtype))
    free = np.ones(peak.shape, bool)
    for tap in window.taps():
        key = window.key(tap, spatial_sizes_of(peak.shape, window))
        hit = np.equal(full[key], peak) & free
        if not every:
            free = free ^ hit
        yield key, hit


def max_unpool_wrt_g(g, x, peak, window, every):
    return max_repool(g, x, peak, window=window, every=every)


@primitive(
    g=max_unpool_wrt_g,
    x=None,
    peak=None,
    shape=lambda g, x, peak, window, every: lead_axes(g, len(peak.shape)) + x.shape,
    new_arrays=True,
)
def max_unpool(g, x, peak, *, window: Window, every: bool):
    """Adjoint of selecting the maxima `peak` of windows of `x`: puts `g` back in their places."""
    n = len(window.size)
    lead = g.shape[: g.ndim - x.ndim]
    spatial = spatial_sizes_of(x.shape, window)
    total = make_canvas(g, (*lead, *x.shape[: -n - 1]), window, spatial, g.dtype)
    step = max(1, BLOCK * len(x) // max(x.size, 1))
    for i in range(0, len(x), step):
        some = slice(i, i + step)
        at = (..., some, *(slice(None),) * (x.ndim - 1))
        scatter_maxima(total[at], g[at], x[some], peak[some], window, every)
    return np.ascontiguousarray(crop_padding(total, window, spatial))


def scatter_maxima(total: Any, g: Any, x: Any, peak: Any, window: Window, every: bool) -> None:
    """Add `g` to `total` where `x` has its peaks."""
    full, outputs = pad_spatial(x, window, lowest(x.dtype)), spatial_sizes_of(peak.shape, window)
    bits = BITS_DTYPE.get(g.dtype.itemsize) if g.dtype.kind in "fV" else None
    alone = is_disjoint(window) and bits is not None
    hit, found = np.empty(peak.shape, bool), None
    for tap in window.taps():
        key = window.key(tap, outputs)
        np.equal(copy_tap(full[key], window), peak, out=hit)
        if found is None:
            found = hit.copy()
        elif not every:
            np.greater(hit, found, out=hit)  # the first hit only
            found |= hit
        if alone:  # bits times one or zero: faster than `where`, without inf · 0
            kept = hit.astype(bits)
            kept = np.multiply(g.view(bits), kept, out=kept if g.shape == kept.shape else None)
            write_tap(total.view(bits)[key], kept, window)
        else:
            total[key] += np.where(hit, g, zero_of_dtype(g))


@max_unpool.lower
def lower_max_unpool(g, x, peak, *, window, every):
    lead = g.shape[: g.ndim - x.ndim]
    spatial = spatial_sizes_of(x.shape, window)
    n = len(window.size)
    total = np.zeros(
        (*lead, *x.shape[: -n - 1], *sizes_with_padding(spatial, window), x.shape[-1]), g.dtype
    )
    for key, hit in iter_maxima(x, peak, window, every):
        total = total.at[key].add(np.where(hit, g, zero_of_dtype(g)))
    return crop_padding(total, window, spatial)


def max_repool_wrt_g(g, x, peak, window, every):
    return max_unpool(g, x, peak, window=window, every=every)


@primitive(
    g=max_repool_wrt_g,
    x=None,
    peak=None,
    shape=lambda g, x, peak, window, every: lead_axes(g, len(x.shape)) + peak.shape,
)
def max_repool(g, x, peak, *, window: Window, every: bool):
    """Adjoint of `max_unpool`: the elements of `g` where `x` has the maxima `peak`."""
    full = pad_spatial(g, window)
    total = 0
    for key, hit in iter_maxima(x, peak, window, every):
        total = total + np.where(hit, full[key], zero_of_dtype(g))
    return total
