"""Convolution and its adjoints in the input and in the filter, over any number of spatial axes.

All three are bilinear and are each other's derivatives, so any order of derivative exists. x is
(..., batch, *spatial, c), w (..., *size, c / groups, o) and y (..., batch, *outputs, o). Channels
are split into `groups` independent groups. `order` counts how often the op was differentiated.

`algorithm.py` chooses the algorithm. The generic kernel, which also serves as lowering, is one
matrix product with the *columns* (..., groups, places, taps * c / groups): one row for each place
of the window.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from gradtape.core.blas_thread import NUMPY_BLAS, run_product
from gradtape.core.dtypes import accumulator
from gradtape.core.open_shape import broadcast_shapes
from gradtape.core.primitive import primitive
from gradtape.ops.convolution import im2col as accurate
from gradtape.ops.convolution.algorithm import choose_algorithm
from gradtape.ops.convolution.window import (
    Window,
    add_at_view,
    crop_padding,
    lower_add_at_view,
    pad_spatial,
    sizes_with_padding,
    spatial_sizes_of,
)
from gradtape.ops.reduce import unbroadcast


def unbroadcast_operand(t: Any, spec: Any, g: Any, out_spec: Any, window: Window) -> Any:
    """Sum a cotangent over lead axes that only the other operand has."""
    return unbroadcast(t, spec.shape, len(window.size) + 2, g, out_spec.shape)


def extract_columns(x: Any, window: Window, groups: int) -> Any:
    """Copy every window of `x` to a row."""
    n, taps = len(window.size), prod(window.size)
    lead = x.shape[: x.ndim - n - 2]
    outputs = window.outputs(spatial_sizes_of(x.shape, window))
    full = pad_spatial(x, window)
    views = np.stack([full[window.key(tap, outputs)] for tap in window.taps()], axis=-2)
    rows, channels = x.shape[-n - 2] * prod(outputs), x.shape[-1]
    grouped = views.reshape(*lead, rows, taps, groups, channels // groups)
    return np.moveaxis(grouped, -2, -4).reshape(*lead, groups, rows, taps * (channels // groups))


def as_filter_matrices(w: Any, window: Window, groups: int) -> Any:
    """Reshape `w` to matrices (..., groups, taps * c / groups, o / groups)."""
    lead = w.shape[: w.ndim - len(window.size) - 2]
    rows = prod(window.size) * w.shape[-2]
    return np.moveaxis(w.reshape(*lead, rows, groups, w.shape[-1] // groups), -2, -3)


def as_output_matrices(y: Any, window: Window, groups: int) -> Any:
    """Reshape `y` to matrices (..., groups, places, o / groups)."""
    n = len(window.size)
    lead = y.shape[: y.ndim - n - 2]
    rows = prod(y.shape[-n - 2 : -1])
    return np.moveaxis(y.reshape(*lead, rows, groups, y.shape[-1] // groups), -2, -3)


def matmul_wide(a: Any, b: Any, dtype: Any) -> Any:
    """Matrix product, accumulated in float32 for the half types."""
    wide = accumulator(dtype)
    if wide is dtype:
        return run_product(np.matmul, a, b)
    return run_product(np.matmul, a.astype(wide), b.astype(wide)).astype(dtype)


def run_algorithm(how: Any, step: str, dtype: Any, *args: Any) -> Any:
    """Run `step` of an algorithm in the accumulator dtype; im2col if it returns None."""
    wide = accumulator(dtype)
    args = tuple(
        [a.astype(wide) if isinstance(a, np.ndarray) and a.dtype != wide else a for a in args]
    )
    result = NUMPY_BLAS.run(getattr(how, step), *args)
    if result is None:
        result = NUMPY_BLAS.run(getattr(accurate, step), *args)
    return result if wide is dtype else result.astype(dtype)


def merge_lead_axes(x: Any, n: int) -> Any:
    """Merge lead axes into the batch axis."""
    return x if x.ndim == n + 2 else x.reshape(-1, *x.shape[-n - 1 :])


def count_images(x: Any, n: int) -> int:
    """Number of images, lead axes included."""
    return prod(x.shape[: x.ndim - n - 1])


def convolve_wrt_x(g, w, x_spec, out_spec, window, groups, order):
    spatial = spatial_sizes_of(x_spec.shape, window)
    t = unconvolve(g, w, window=window, groups=groups, order=order + 1, spatial=spatial)
    return unbroadcast_operand(t, x_spec, g, out_spec, window)


def convolve_wrt_w(g, x, w_spec, out_spec, window, groups, order):
    t = correlate(x, g, window=window, groups=groups, order=order + 1)
    return unbroadcast_operand(t, w_spec, g, out_spec, window)


def convolve_shape(x, w, window, groups, order):
    rank = len(window.size) + 2
    places = window.outputs(spatial_sizes_of(x.shape, window))
    front = broadcast_shapes(x.shape[:-rank], w.shape[:-rank])
    return (*front, x.shape[-rank], *places, w.shape[-1])


@primitive(x=convolve_wrt_x, w=convolve_wrt_w, shape=convolve_shape, new_arrays=True)
def convolve(x, w, *, window: Window, groups: int, order: int):
    """Weighted sums of the windows of `x`."""
    n = len(window.size)
    if w.ndim == n + 2:
        shape = (count_images(x, n), *x.shape[-n - 1 :])
        how = choose_algorithm(
            "convolve", shape, w.shape, window, groups, accumulator(x.dtype), order
        )
        if how is not None:
            out = run_algorithm(how, "convolve", x.dtype, merge_lead_axes(x, n), w, window)
            return out.reshape(*x.shape[: -n - 1], *out.shape[1:])
    return lower_convolve(x, w, window=window, groups=groups, order=order)


@convolve.lower
def lower_convolve(x, w, *, window, groups, order):
    n = len(window.size)
    result = matmul_wide(
        extract_columns(x, window, groups), as_filter_matrices(w, window, groups), x.dtype
    )
    outputs = window.outputs(spatial_sizes_of(x.shape, window))
    lead = result.shape[:-3]
    return np.moveaxis(result, -3, -2).reshape(*lead, x.shape[-n - 2], *outputs, w.shape[-1])


def unconvolve_wrt_y(g, w, y_spec, out_spec, window, groups, order):
    t = convolve(g, w, window=window, groups=groups, order=order + 1)
    return unbroadcast_operand(t, y_spec, g, out_spec, window)


def unconvolve_wrt_w(g, y, w_spec, out_spec, window, groups, order):
    t = correlate(g, y, window=window, groups=groups, order=order + 1)
    return unbroadcast_operand(t, w_spec, g, out_spec, window)


def unconvolve_shape(y, w, window, groups, order, spatial):
    rank = len(window.size) + 2
    front = broadcast_shapes(y.shape[:-rank], w.shape[:-rank])
    return (*front, y.shape[-rank], *spatial, w.shape[-2] * groups)


@primitive(y=unconvolve_wrt_y, w=unconvolve_wrt_w, shape=unconvolve_shape, new_arrays=True)
def unconvolve(y, w, *, window: Window, groups: int, order: int, spatial: tuple[int, ...]):
    """Adjoint of `convolve` in `x`: each place adds its value, weighted by `w`, to its window."""
    n = len(window.size)
    if w.ndim == n + 2:
        channels = w.shape[-2] * groups
        shape = (count_images(y, n), *spatial, channels)
        how = choose_algorithm(
            "unconvolve", shape, w.shape, window, groups, accumulator(y.dtype), order
        )
        if how is not None:
            out = run_algorithm(
                how, "unconvolve", y.dtype, merge_lead_axes(y, n), w, window, spatial
            )
            if out.shape[-1] > channels:  # depthwise: one channel per output, to be summed
                out = np.add.reduce(out.reshape(*out.shape[:-1], channels, -1), axis=-1)
            return out.reshape(*y.shape[: -n - 1], *spatial, channels)
    return np.ascontiguousarray(scatter_windows(y, w, window, groups, spatial, add_at_view))


@unconvolve.lower
def lower_unconvolve(y, w, *, window, groups, order, spatial):
    return scatter_windows(y, w, window, groups, spatial, lower_add_at_view)


def scatter_windows(
    y: Any, w: Any, window: Window, groups: int, spatial: tuple[int, ...], adder: Any
) -> Any:
    """Generic kernel of `unconvolve`; `adder(total, key, part)` adds into a view of `total`."""
    n, taps = len(window.size), prod(window.size)
    rows = matmul_wide(
        as_output_matrices(y, window, groups),
        np.swapaxes(as_filter_matrices(w, window, groups), -1, -2),
        y.dtype,
    )
    lead = rows.shape[:-3]
    channels = w.shape[-2]
    by_tap = rows.reshape(*rows.shape[:-1], taps, channels)
    outputs = spatial_sizes_of(y.shape, window)
    parts = np.moveaxis(by_tap, -4, -2).reshape(
        *lead, y.shape[-n - 2], *outputs, taps, groups * channels
    )
    total = np.zeros(
        (*lead, y.shape[-n - 2], *sizes_with_padding(spatial, window), groups * channels), y.dtype
    )
    for k, tap in enumerate(window.taps()):
        total = adder(total, window.key(tap, outputs), parts[..., k, :])
    return crop_padding(total, window, spatial)


def correlate_wrt_x(g, y, x_spec, out_spec, window, groups, order):
    spatial = spatial_sizes_of(x_spec.shape, window)
    t = unconvolve(y, g, window=window, groups=groups, order=order + 1, spatial=spatial)
    return unbroadcast_operand(t, x_spec, g, out_spec, window)


def correlate_wrt_y(g, x, y_spec, out_spec, window, groups, order):
    t = convolve(x, g, window=window, groups=groups, order=order + 1)
    return unbroadcast_operand(t, y_spec, g, out_spec, window)


def correlate_shape(x, y, window, groups, order):
    rank = len(window.size) + 2
    front = broadcast_shapes(x.shape[:-rank], y.shape[:-rank])
    return (*front, *window.size, x.shape[-1] // groups, y.shape[-1])


@primitive(x=correlate_wrt_x, y=correlate_wrt_y, shape=correlate_shape, new_arrays=True)
def correlate(x, y, *, window: Window, groups: int, order: int):
    """Adjoint of `convolve` in `w`: sums of products of each tap of the windows of `x` with `y`."""
    n = len(window.size)
    if x.ndim == y.ndim == n + 2:
        shape = (*window.size, x.shape[-1] // groups, y.shape[-1])
        how = choose_algorithm(
            "correlate", x.shape, shape, window, groups, accumulator(x.dtype), order
        )
        if how is not None:
            return run_algorithm(how, "correlate", x.dtype, x, y, window)
    return lower_correlate(x, y, window=window, groups=groups, order=order)


@correlate.lower
def lower_correlate(x, y, *, window, groups, order):
    rows = np.swapaxes(extract_columns(x, window, groups), -1, -2)
    result = matmul_wide(rows, as_output_matrices(y, window, groups), x.dtype)
    lead = result.shape[:-3]
    return np.moveaxis(result, -3, -2).reshape(
        *lead, *window.size, x.shape[-1] // groups, y.shape[-1]
    )
