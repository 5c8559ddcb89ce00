"""Convolutions and pools: what slides a window over the spatial axes of (batch, …, channels).

A window has one static parameter, `window`, that says how it moves. Convolution, its adjoint and
the correlation that gives the filter are bilinear and are each other's derivatives, so any order
of derivative exists.
"""

from __future__ import annotations

from itertools import product as cartesian
from math import prod
from typing import Any, NamedTuple

import numpy as np

from gradtape.core.dtypes import accumulator
from gradtape.core.primitive import primitive
from gradtape.ops.elementwise import zero
from gradtape.ops.reduce import fold, lowest


class Window(NamedTuple):
    """How a window moves over the spatial axes; each field has an entry for each of them."""

    size: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    paddings: tuple[tuple[int, int], ...]

    def reach(self) -> tuple[int, ...]:
        """How many elements the window spans, holes included."""
        return tuple((k - 1) * d + 1 for k, d in zip(self.size, self.dilations, strict=True))

    def outputs(self, spatial: tuple[int, ...]) -> tuple[int, ...]:
        """At how many places it stands on an input of this size."""
        return tuple(
            max((n + low + high - span) // stride + 1, 0)
            for n, (low, high), span, stride in zip(
                spatial, self.paddings, self.reach(), self.strides, strict=True
            )
        )

    def taps(self) -> Any:
        """Offsets of the window's elements, in order."""
        steps = (range(0, k * d, d) for k, d in zip(self.size, self.dilations, strict=True))
        return cartesian(*steps)

    def key(self, tap: tuple[int, ...], outputs: tuple[int, ...]) -> tuple[Any, ...]:
        """Indexes the element at offset `tap` of every window, in the padded input."""
        steps = zip(tap, outputs, self.strides, strict=True)
        inner = (slice(at, at + max((n - 1) * stride + 1, 0), stride) for at, n, stride in steps)
        return (..., *inner, slice(None))


def padded(x: Any, window: Window, value: Any = 0) -> Any:
    """`x` with `value` around its spatial axes."""
    if not any(low or high for low, high in window.paddings):
        return x
    widths = ((0, 0),) * (x.ndim - len(window.size) - 1) + window.paddings + ((0, 0),)
    return np.pad(x, widths, constant_values=value)


def grown(shape: tuple[int, ...], window: Window) -> tuple[int, ...]:
    """Spatial sizes with the padding."""
    return tuple(n + low + high for n, (low, high) in zip(shape, window.paddings, strict=True))


def cropped(x: Any, window: Window, shape: tuple[int, ...]) -> Any:
    """Adjoint of `padded`."""
    key = tuple(slice(low, low + n) for (low, _), n in zip(window.paddings, shape, strict=True))
    return x[(..., *key, slice(None))]


def inner_shape(shape: tuple[int, ...], window: Window) -> tuple[int, ...]:
    """The spatial sizes in a whole shape."""
    return shape[-1 - len(window.size) : -1]


# -- convolution: x (..., batch, *spatial, c), w (..., *size, c / groups, o), y (..., batch, *output
#
# Each kernel is one matrix product with the *columns* (..., groups, places, taps * c / groups),
# which have a row for each place of the window. Channels and outputs belong to `groups` groups that
# do not see each other.


def folded(t: Any, spec: Any, g: Any, out_spec: Any, window: Window) -> Any:
    """A cotangent summed over lead axes that only the other operand had."""
    return fold(t, spec.shape, len(window.size) + 2, g, out_spec.shape)


def columns(x: Any, window: Window, groups: int) -> Any:
    """Every window of `x` as a row."""
    n, taps = len(window.size), prod(window.size)
    lead = x.shape[: x.ndim - n - 2]
    outputs = window.outputs(inner_shape(x.shape, window))
    full = padded(x, window)
    views = np.stack([full[window.key(tap, outputs)] for tap in window.taps()], axis=-2)
    rows, channels = x.shape[-n - 2] * prod(outputs), x.shape[-1]
    apart = views.reshape(*lead, rows, taps, groups, channels // groups)
    return np.moveaxis(apart, -2, -4).reshape(*lead, groups, rows, taps * (channels // groups))


def filters(w: Any, window: Window, groups: int) -> Any:
    """`w` as matrices (..., groups, taps * c / groups, o / groups)."""
    lead = w.shape[: w.ndim - len(window.size) - 2]
    rows = prod(window.size) * w.shape[-2]
    return np.moveaxis(w.reshape(*lead, rows, groups, w.shape[-1] // groups), -2, -3)


def places(y: Any, window: Window, groups: int) -> Any:
    """`y` as matrices (..., groups, places, o / groups)."""
    n = len(window.size)
    lead = y.shape[: y.ndim - n - 2]
    rows = prod(y.shape[-n - 2 : -1])
    return np.moveaxis(y.reshape(*lead, rows, groups, y.shape[-1] // groups), -2, -3)


def multiplied(a: Any, b: Any, dtype: Any) -> Any:
    """Matrix product, accumulated in float32 for the half types."""
    wide = accumulator(dtype)
    if wide is dtype:
        return np.matmul(a, b)
    return np.matmul(a.astype(wide), b.astype(wide)).astype(dtype)


def convolve_wrt_x(g, w, x_spec, out_spec, window, groups):
    t = unconvolve(g, w, window=window, groups=groups, spatial=inner_shape(x_spec.shape, window))
    return folded(t, x_spec, g, out_spec, window)


def convolve_wrt_w(g, x, w_spec, out_spec, window, groups):
    return folded(correlate(x, g, window=window, groups=groups), w_spec, g, out_spec, window)


@primitive(x=convolve_wrt_x, w=convolve_wrt_w)
def convolve(x, w, *, window: Window, groups: int):
    """Weighted sums of the windows of `x`."""
    n = len(window.size)
    result = multiplied(columns(x, window, groups), filters(w, window, groups), x.dtype)
    outputs = window.outputs(inner_shape(x.shape, window))
    lead = result.shape[:-3]
    return np.moveaxis(result, -3, -2).reshape(*lead, x.shape[-n - 2], *outputs, w.shape[-1])


def unconvolve_wrt_y(g, w, y_spec, out_spec, window, groups):
    return folded(convolve(g, w, window=window, groups=groups), y_spec, g, out_spec, window)


def unconvolve_wrt_w(g, y, w_spec, out_spec, window, groups):
    return folded(correlate(g, y, window=window, groups=groups), w_spec, g, out_spec, window)


@primitive(y=unconvolve_wrt_y, w=unconvolve_wrt_w)
def unconvolve(y, w, *, window: Window, groups: int, spatial: tuple[int, ...]):
    """Adjoint of `convolve` in `x`: spread places over their windows, add what overlaps."""
    return unconvolved(y, w, window, groups, spatial, add_view)


@unconvolve.lower
def unconvolve_lowered(y, w, *, window, groups, spatial):
    return unconvolved(y, w, window, groups, spatial, add_view_lowered)


def unconvolved(
    y: Any, w: Any, window: Window, groups: int, spatial: tuple[int, ...], adder: Any
) -> Any:
    """The kernel of `unconvolve`; `adder` adds into a view."""
    n, taps = len(window.size), prod(window.size)
    rows = multiplied(
        places(y, window, groups), np.swapaxes(filters(w, window, groups), -1, -2), y.dtype
    )
    lead = rows.shape[:-3]
    channels = w.shape[-2]
    apart = rows.reshape(*rows.shape[:-1], taps, channels)
    outputs = inner_shape(y.shape, window)
    parts = np.moveaxis(apart, -4, -2).reshape(
        *lead, y.shape[-n - 2], *outputs, taps, groups * channels
    )
    total = np.zeros((*lead, y.shape[-n - 2], *grown(spatial, window), groups * channels), y.dtype)
    for k, tap in enumerate(window.taps()):
        total = adder(total, window.key(tap, outputs), parts[..., k, :])
    return cropped(total, window, spatial)


def add_view(total: Any, key: Any, part: Any) -> Any:
    """Add into a view of a buffer of our own."""
    total[key] += part
    return total


def add_view_lowered(total: Any, key: Any, part: Any) -> Any:
    """The same where arrays do not change."""
    return total.at[key].add(part)


def correlate_wrt_x(g, y, x_spec, out_spec, window, groups):
    t = unconvolve(y, g, window=window, groups=groups, spatial=inner_shape(x_spec.shape, window))
    return folded(t, x_spec, g, out_spec, window)


def correlate_wrt_y(g, x, y_spec, out_spec, window, groups):
    return folded(convolve(x, g, window=window, groups=groups), y_spec, g, out_spec, window)


@primitive(x=correlate_wrt_x, y=correlate_wrt_y)
def correlate(x, y, *, window: Window, groups: int):
    """Adjoint of `convolve` in `w`: how each tap of the windows of `x` goes together with `y`."""
    rows = np.swapaxes(columns(x, window, groups), -1, -2)
    result = multiplied(rows, places(y, window, groups), x.dtype)
    lead = result.shape[:-3]
    return np.moveaxis(result, -3, -2).reshape(
        *lead, *window.size, x.shape[-1] // groups, y.shape[-1]
    )


# -- pools -----------------------------------------------------------------------------------------


def sum_pool_wrt_x(g, x_spec, window):
    return spread_pool(g, window=window, spatial=inner_shape(x_spec.shape, window))


@primitive(x=sum_pool_wrt_x)
def sum_pool(x, *, window: Window):
    """Sums of the windows of `x`."""
    full = padded(x, window).astype(accumulator(x.dtype), copy=False)
    outputs = window.outputs(inner_shape(x.shape, window))
    total: Any = 0
    for tap in window.taps():
        total = total + full[window.key(tap, outputs)]
    return total.astype(x.dtype, copy=False)


@primitive(g=lambda g, window: sum_pool(g, window=window))
def spread_pool(g, *, window: Window, spatial: tuple[int, ...]):
    """Adjoint of `sum_pool`: every place adds its value to all of its window."""
    return spread_over(g, window, spatial, add_view)


@spread_pool.lower
def spread_pool_lowered(g, *, window, spatial):
    return spread_over(g, window, spatial, add_view_lowered)


def spread_over(g: Any, window: Window, spatial: tuple[int, ...], adder: Any) -> Any:
    """The kernel of `spread_pool`."""
    n = len(window.size)
    total = np.zeros(
        (*g.shape[: -n - 1], *grown(spatial, window), g.shape[-1]), accumulator(g.dtype)
    )
    for tap in window.taps():
        total = adder(total, window.key(tap, inner_shape(g.shape, window)), g)
    return cropped(total, window, spatial).astype(g.dtype, copy=False)


def max_pool_wrt_x(g, x, out, window, every):
    return max_unpool(g, x, out, window=window, every=every)


@primitive(x=max_pool_wrt_x)
def max_pool(x, *, window: Window, every: bool):
    """Largest elements of the windows of `x`.

    Of equals the first gets the cotangent, or `every` one all of it.
    """
    full = padded(x, window, lowest(x.dtype))
    outputs = window.outputs(inner_shape(x.shape, window))
    out = None
    for tap in window.taps():
        part = full[window.key(tap, outputs)]
        out = part if out is None else np.maximum(out, part)
    return out


def hits(x: Any, peak: Any, window: Window, every: bool) -> Any:
    """For each tap its key, and where it is the (first, unless `every`) maximum of a window."""
    full = padded(x, window, lowest(x.dtype))
    free = np.ones(peak.shape, bool)
    for tap in window.taps():
        key = window.key(tap, inner_shape(peak.shape, window))
        hit = np.equal(full[key], peak) & free
        if not every:
            free = free & ~hit
        yield key, hit


def max_unpool_wrt_g(g, x, peak, window, every):
    return max_repool(g, x, peak, window=window, every=every)


@primitive(g=max_unpool_wrt_g, x=None, peak=None)
def max_unpool(g, x, peak, *, window: Window, every: bool):
    """Adjoint of choosing the maxima `peak` of windows of `x`: each goes back to its place."""
    return max_unpooled(g, x, peak, window, every, add_view)


@max_unpool.lower
def max_unpool_lowered(g, x, peak, *, window, every):
    return max_unpooled(g, x, peak, window, every, add_view_lowered)


def max_unpooled(g: Any, x: Any, peak: Any, window: Window, every: bool, adder: Any) -> Any:
    """The kernel of `max_unpool`."""
    lead = g.shape[: g.ndim - x.ndim]
    spatial = inner_shape(x.shape, window)
    n = len(window.size)
    total = np.zeros((*lead, *x.shape[: -n - 1], *grown(spatial, window), x.shape[-1]), g.dtype)
    for key, hit in hits(x, peak, window, every):
        total = adder(total, key, np.where(hit, g, zero(g)))
    return cropped(total, window, spatial)


def max_repool_wrt_g(g, x, peak, window, every):
    return max_unpool(g, x, peak, window=window, every=every)


@primitive(g=max_repool_wrt_g, x=None, peak=None)
def max_repool(g, x, peak, *, window: Window, every: bool):
    """Elements of `g` where `x` has the maxima `peak` of its windows."""
    full = padded(g, window)
    total = 0
    for key, hit in hits(x, peak, window, every):
        total = total + np.where(hit, full[key], zero(g))
    return total


# -- patches ---------------------------------------------------------------------------------------


def patches_wrt_x(g, x_spec, window):
    return unpatch(g, window=window, spatial=inner_shape(x_spec.shape, window))


@primitive(x=patches_wrt_x)
def patches(x, *, window: Window):
    """The windows of `x`, each laid out in the last axis: (..., *outputs, taps * channels)."""
    full = padded(x, window)
    outputs = window.outputs(inner_shape(x.shape, window))
    return np.concatenate([full[window.key(tap, outputs)] for tap in window.taps()], axis=-1)


@primitive(g=lambda g, window: patches(g, window=window))
def unpatch(g, *, window: Window, spatial: tuple[int, ...]):
    """Adjoint of `patches`: put every window back, and add up what overlaps."""
    return unpatched(g, window, spatial, add_view)


@unpatch.lower
def unpatch_lowered(g, *, window, spatial):
    return unpatched(g, window, spatial, add_view_lowered)


def unpatched(g: Any, window: Window, spatial: tuple[int, ...], adder: Any) -> Any:
    """The kernel of `unpatch`."""
    n = len(window.size)
    channels = g.shape[-1] // prod(window.size)
    total = np.zeros((*g.shape[: -n - 1], *grown(spatial, window), channels), g.dtype)
    for k, tap in enumerate(window.taps()):
        key = window.key(tap, inner_shape(g.shape, window))
        total = adder(total, key, g[..., k * channels : (k + 1) * channels])
    return cropped(total, window, spatial)
