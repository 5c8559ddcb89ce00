"""Depthwise convolution: sums of products along rows, without copies of windows.

A filter is (*size, 1, c * m): each channel has `m` outputs. With stride 1 along the last spatial
axis, that axis and the channels form one long *row*, and the filter is repeated along it. With a
larger stride, a row is the channels of one pixel.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from gradtape.ops.convolution.window import (
    Window,
    crop_padding,
    iter_image_blocks,
    pad_contiguous,
    sizes_with_padding,
    view_windows,
)

BLOCK = 1 << 18  # elements of the output in a block


def has_long_rows(window: Window) -> bool:
    """Whether a row covers the whole last spatial axis rather than one pixel."""
    return window.strides[-1] == 1


def view_window_rows(full: Any, window: Window, outputs: tuple[int, ...]) -> Any:
    """View of the windows of a padded array: (n, *places, *size, row)."""
    found = view_windows(full, window, outputs)
    if not has_long_rows(window):
        return found
    n = len(outputs)
    shape = (*found.shape[:n], *window.size, outputs[-1] * full.shape[-1])
    return np.ndarray(shape, full.dtype, full, 0, found.strides[:n] + found.strides[n + 1 :])


def as_place_rows(y: Any, window: Window) -> Any:
    """Reshape (n, *outputs, c) to (n, *places, row)."""
    return y.reshape(*y.shape[:-2], -1) if has_long_rows(window) else y


def einsum_axes_of(window: Window) -> tuple[list[int], list[int], list[int]]:
    """Axis numbers for `np.einsum` of windows, filters and outputs."""
    n = len(window.size)
    places = list(range(n if has_long_rows(window) else n + 1))
    taps = list(range(len(places), len(places) + n))
    row = [len(places) + n]
    return places + taps + row, taps + row, places + row


def iter_row_blocks(places: Any) -> Any:
    """Iterate over keys that cut (n, *places, row) into blocks."""
    rows = places.shape[1] if places.ndim > 2 else 1
    found = iter_image_blocks(len(places), rows, prod(places.shape[1:]) // rows, BLOCK)
    return found if places.ndim > 2 else (at[:1] for at in found)


def convolve(x: Any, w: Any, window: Window) -> Any:
    """Weighted sums of the windows of (n, *spatial, c), channel by channel."""
    outputs, channels = window.outputs(x.shape[1:-1]), w.shape[-1]
    filters = w.reshape(*window.size, channels)
    if has_long_rows(window):
        along = (*window.size, outputs[-1], channels)
        filters = np.broadcast_to(filters[..., None, :], along).reshape(*window.size, -1)
    views = view_window_rows(pad_contiguous(repeat_channels(x, w), window), window, outputs)
    out = np.empty((x.shape[0], *outputs, channels), x.dtype)
    places = as_place_rows(out, window)
    all_axes, tap_axes, place_axes = einsum_axes_of(window)
    for at in iter_row_blocks(places):
        np.einsum(views[at], all_axes, filters, tap_axes, place_axes, out=places[at])
    return out


def repeat_channels(x: Any, w: Any) -> Any:
    """Repeat each channel once for each of its outputs."""
    times = w.shape[-1] // x.shape[-1]
    return np.repeat(x, times, axis=-1) if times > 1 else x


def unconvolve(y: Any, w: Any, window: Window, spatial: tuple[int, ...]) -> Any:
    """Adjoint of `convolve` in `x`, before the outputs of one channel are summed."""
    mirror = window.mirror()
    if mirror is not None:
        flip = (slice(None, None, -1),) * len(window.size)
        return convolve(y, np.ascontiguousarray(w[flip]), mirror)
    outputs = y.shape[1:-1]
    total = np.zeros((y.shape[0], *sizes_with_padding(spatial, window), y.shape[-1]), y.dtype)
    for i in range(len(y)):
        for tap, weights in zip(window.taps(), w.reshape(-1, w.shape[-1]), strict=True):
            total[i][window.key(tap, outputs)] += y[i] * weights
    return np.ascontiguousarray(crop_padding(total, window, spatial))


def correlate(x: Any, y: Any, window: Window) -> Any:
    """Adjoint of `convolve` in `w`."""
    outputs, channels = y.shape[1:-1], y.shape[-1]
    views = view_window_rows(pad_contiguous(repeat_channels(x, y), window), window, outputs)
    places = as_place_rows(y, window)
    _, tap_axes, place_axes = einsum_axes_of(window)
    total = np.empty((*window.size, places.shape[-1]), y.dtype)
    rows = (slice(None),) * (len(place_axes) - 1)
    for tap in np.ndindex(window.size):  # tap by tap, so that the sums stay in the cache
        np.einsum(views[rows + tap], place_axes, places, place_axes, tap_axes[-1:], out=total[tap])
    if has_long_rows(window):
        total = total.reshape(*window.size, outputs[-1], channels).sum(axis=-2)
    return total.reshape(*window.size, 1, channels)
