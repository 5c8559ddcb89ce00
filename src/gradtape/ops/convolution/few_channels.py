"""Convolution of few channels, by columns with the taps first.

Rows of kh · kw · c elements are too short for efficient copies. Columns laid out as (taps, places)
are filled by one long copy for each tap and channel.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from gradtape.ops.convolution.window import Window, crop_padding, pad_contiguous, sizes_with_padding

BLOCK = 1 << 20  # elements of a block of columns
FEW_TAPS = 32  # most elements of a window for which this method is faster than im2col


def is_narrow(window: Window, channels: int) -> bool:
    """Whether windows have few elements."""
    return prod(window.size) * channels <= FEW_TAPS


def extract_tap_columns(full: Any, window: Window, outputs: tuple[int, ...]) -> Any:
    """Copy the windows of a padded array to columns (taps * c, places)."""
    channels = full.shape[-1]
    found = np.empty((prod(window.size), channels, full.shape[0], *outputs), full.dtype)
    for part, tap in zip(found, window.taps(), strict=True):
        view = full[window.key(tap, outputs)]
        for c in range(channels):
            part[c] = view[..., c]
    return found.reshape(prod(window.size) * channels, -1)


def iter_image_runs(count: int, outputs: tuple[int, ...], depth: int) -> Any:
    """Iterate over slices of images whose columns fill a block."""
    step = max(1, BLOCK // (prod(outputs) * depth))
    for i in range(0, count, step):
        yield slice(i, min(i + step, count))


def convolve(x: Any, w: Any, window: Window) -> Any:
    """Weighted sums of the windows of (n, *spatial, c) by (*size, c, o)."""
    outputs = window.outputs(x.shape[1:-1])
    filters = w.reshape(-1, w.shape[-1])
    out = np.empty((x.shape[0], *outputs, w.shape[-1]), x.dtype)
    full = pad_contiguous(x, window)
    for some in iter_image_runs(len(x), outputs, len(filters)):
        part = out[some].reshape(-1, w.shape[-1])
        np.dot(extract_tap_columns(full[some], window, outputs).T, filters, out=part)
    return out


def unconvolve(y: Any, w: Any, window: Window, spatial: tuple[int, ...]) -> Any:
    """Adjoint of `convolve` in `x`."""
    outputs, channels = y.shape[1:-1], w.shape[-2]
    filters = w.reshape(-1, w.shape[-1])
    total = np.zeros((y.shape[0], *sizes_with_padding(spatial, window), channels), y.dtype)
    for some in iter_image_runs(len(y), outputs, len(filters)):
        parts = np.dot(filters, y[some].reshape(-1, w.shape[-1]).T)
        parts = parts.reshape(-1, channels, *y[some].shape[:-1])
        for part, tap in zip(parts, window.taps(), strict=True):
            view = total[some][window.key(tap, outputs)]
            for c in range(channels):
                view[..., c] += part[c]
    return np.ascontiguousarray(crop_padding(total, window, spatial))


def correlate(x: Any, y: Any, window: Window) -> Any:
    """Adjoint of `convolve` in `w`."""
    outputs, outs = y.shape[1:-1], y.shape[-1]
    depth = prod(window.size) * x.shape[-1]
    total = np.zeros((depth, outs), x.dtype)
    full = pad_contiguous(x, window)
    for some in iter_image_runs(len(x), outputs, depth):
        total += np.dot(extract_tap_columns(full[some], window, outputs), y[some].reshape(-1, outs))
    return total.reshape(*window.size, x.shape[-1], outs)
