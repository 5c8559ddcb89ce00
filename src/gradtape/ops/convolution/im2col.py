"""Convolution by im2col: every window is copied to a row of a matrix, block by block.

This is the accurate algorithm for any number of spatial axes, strides, dilations and paddings. A
block is small enough to stay in the cache between the copy and the product.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from gradtape.ops.convolution.window import (
    Window,
    copy_items,
    crop_padding,
    iter_image_blocks,
    pad_contiguous,
    sizes_with_padding,
    view_windows,
)

BLOCK = 1 << 18  # elements of a block of columns


def flip_filter(w: Any) -> Any:
    """Make the filter of the adjoint: spatial axes flipped, input and output channels exchanged."""
    flip = (slice(None, None, -1),) * (w.ndim - 2)
    return np.ascontiguousarray(w[flip].swapaxes(-1, -2))


def convolve(x: Any, w: Any, window: Window) -> Any:
    """Weighted sums of the windows of (n, *spatial, c) by (*size, c, o)."""
    outputs = window.outputs(x.shape[1:-1])
    filters = w.reshape(-1, w.shape[-1])
    out = np.empty((x.shape[0], *outputs, w.shape[-1]), x.dtype)
    views = view_windows(pad_contiguous(x, window), window, outputs)
    for at in iter_column_blocks(outputs, x.shape[0], len(filters)):
        part = out[at].reshape(-1, w.shape[-1])
        np.matmul(copy_window_rows(views[at], filters), filters, out=part)
    return out


def iter_column_blocks(outputs: tuple[int, ...], images: int, depth: int) -> Any:
    """Iterate over keys that cut the places into blocks, for columns of `depth` elements."""
    return iter_image_blocks(images, outputs[0], prod(outputs[1:]) * depth, BLOCK)


def copy_window_rows(views: Any, filters: Any) -> Any:
    """Copy windows to rows that match the filters."""
    rows = views.reshape(*views.shape[:-2], -1)  # a view, unless the last axis is dilated
    return copy_items(rows).reshape(-1, len(filters))


def unconvolve(y: Any, w: Any, window: Window, spatial: tuple[int, ...]) -> Any:
    """Adjoint of `convolve` in `x`.

    With stride 1 this convolves `y` with the flipped filter, unless `y` has far more channels.
    Otherwise products are added back window by window.
    """
    mirror = window.mirror()
    if mirror is not None and w.shape[-1] <= 2 * w.shape[-2]:
        return convolve(y, flip_filter(w), mirror)
    outputs = y.shape[1:-1]
    filters = w.reshape(-1, w.shape[-1])
    total = np.zeros((y.shape[0], *sizes_with_padding(spatial, window), w.shape[-2]), y.dtype)
    views = view_windows(total, window, outputs)
    for at in iter_column_blocks(outputs, y.shape[0], len(filters)):
        parts = np.matmul(y[at].reshape(-1, w.shape[-1]), filters.T).reshape(views[at].shape)
        for tap in np.ndindex(window.size):
            key = (slice(None),) * (1 + len(outputs)) + tap
            views[at][key] += parts[key]
    return np.ascontiguousarray(crop_padding(total, window, spatial))


def correlate(x: Any, y: Any, window: Window) -> Any:
    """Adjoint of `convolve` in `w`."""
    outputs = y.shape[1:-1]
    channels, outs = x.shape[-1], y.shape[-1]
    total = np.zeros((prod(window.size) * channels, outs), x.dtype)
    views = view_windows(pad_contiguous(x, window), window, outputs)
    for at in iter_column_blocks(outputs, x.shape[0], len(total)):
        total += np.matmul(copy_window_rows(views[at], total).T, y[at].reshape(-1, outs))
    return total.reshape(*window.size, channels, outs)
