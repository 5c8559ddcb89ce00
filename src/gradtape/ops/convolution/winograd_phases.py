"""Convolutions with stride 2 by Winograd's method on phases.

A *phase* is every other row and column of the padded input. With the four phases side by side as
channels, a filter of size 4 with stride 2 is a filter of size 2 with stride 1. Filters of size 5
get a row and a column of zeros. Images are divided into blocks, so that the copies of the phases
stay small.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gradtape.ops.convolution import winograd
from gradtape.ops.convolution.phases import flip_filter_phases, iter_phases, join_phases, pad_filter
from gradtape.ops.convolution.window import Window, as_items

BLOCK_ELEMENTS = 1 << 21  # elements of the phases of one block of images
PHASE_SIZES: dict[tuple[int, ...], int] = {(4, 4): 2, (5, 5): 3}  # of a filter → of its phases


def can_divide(window: Window) -> bool:
    """Whether a window has two axes, stride 2, no dilation, and a size that this module knows."""
    return window.strides == (2, 2) and window.dilations == (1, 1) and window.size in PHASE_SIZES


def inner_window_of(window: Window, padding: int = 0) -> Window:
    """The window of the filter's phases."""
    size = PHASE_SIZES[window.size]
    return Window((size, size), (1, 1), (1, 1), ((padding, padding),) * 2)


def iter_image_slices(images: int, elements: int) -> Iterator[slice]:
    """Iterate over slices of images, of which each has so many `elements`."""
    step = max(1, BLOCK_ELEMENTS // elements)
    for start in range(0, images, step):
        yield slice(start, min(start + step, images))


def split_phases(x: Any, window: Window, places: tuple[int, ...]) -> Any:
    """Copy the phases of padded images to channels: (n, *places, 4 * c)."""
    out = np.zeros((len(x), *places, 2, 2, x.shape[-1]), x.dtype)
    for phase, key, at in iter_phases(window, x.shape[1:-1], places):
        as_items(out[(*key, *phase)])[...] = as_items(x[at])
    return out.reshape(len(x), *places, -1)


def split_filter(w: Any, size: int) -> Any:
    """The phases of a filter (k, k, c, o) as channels: (size, size, 4 * c, o)."""
    parts = pad_filter(w, size).transpose(0, 2, 1, 3, 4, 5)
    return np.ascontiguousarray(parts).reshape(size, size, -1, w.shape[-1])


def convolve(x: Any, w: Any, window: Window) -> Any:
    """Weighted sums of the windows of (n, h, w, c) by (k, k, c, o)."""
    inner = inner_window_of(window)
    size, outputs = inner.size[0], window.outputs(x.shape[1:-1])
    places = tuple([n + size - 1 for n in outputs])
    filters = winograd.transform_filters(split_filter(w, size))
    out = np.empty((len(x), *outputs, w.shape[-1]), x.dtype)
    for some in iter_image_slices(len(x), 4 * places[0] * places[1] * x.shape[-1]):
        found = winograd.convolve_transformed(split_phases(x[some], window, places), filters, inner)
        if found is None:
            return None
        out[some] = found
    return out


def unconvolve(y: Any, w: Any, window: Window, spatial: tuple[int, ...]) -> Any:
    """Adjoint of `convolve` in `x`."""
    size, channels = PHASE_SIZES[window.size], w.shape[-2]
    inner = inner_window_of(window, size - 1)
    filters = winograd.transform_filters(flip_filter_phases(w, size))
    places = inner.outputs(y.shape[1:-1])
    out = np.zeros((len(y), *spatial, channels), y.dtype)
    for some in iter_image_slices(len(y), 4 * places[0] * places[1] * channels):
        found = winograd.convolve_transformed(y[some], filters, inner)
        if found is None:
            return None
        join_phases(found, out[some], window)
    return out


def correlate(x: Any, y: Any, window: Window) -> Any:
    """Adjoint of `convolve` in `w`."""
    inner = inner_window_of(window)
    size, channels, outs = inner.size[0], x.shape[-1], y.shape[-1]
    places = tuple([n + size - 1 for n in y.shape[1:-1]])
    total: Any = 0
    for some in iter_image_slices(len(x), 4 * places[0] * places[1] * channels):
        phases = split_phases(x[some], window, places)
        total = total + winograd.correlate_transformed(phases, y[some], inner)
    found = winograd.invert_filters(total, size)
    if found is None:
        return None
    parts = found.reshape(size, size, 2, 2, channels, outs).transpose(0, 2, 1, 3, 4, 5)
    full = parts.reshape(2 * size, 2 * size, channels, outs)
    return np.ascontiguousarray(full[: window.size[0], : window.size[1]])
