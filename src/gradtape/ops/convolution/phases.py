"""Transposed convolutions with stride 2 by phases: the even and odd rows and columns of the result.

The transpose of a filter of size 4 with stride 2 is a filter of size 2 with stride 1 that computes
the four phases side by side as channels. Nothing overlaps, so nothing has to be added up. Filters
of size 5 get a row and a column of zeros; Winograd's method makes up for these. Images are divided
into blocks, so that the copies of the phases stay small.

The other two steps are those of `im2col`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gradtape.ops.convolution import im2col, winograd
from gradtape.ops.convolution.im2col import convolve as convolve
from gradtape.ops.convolution.im2col import correlate as correlate
from gradtape.ops.convolution.window import Window

BLOCK_ELEMENTS = 1 << 21  # elements of the phases of one block of images
PHASE_SIZES: dict[tuple[int, ...], int] = {  # size of a filter → size of its phases
    (2, 2): 1,
    (4, 4): 2,
    (5, 5): 3,
}


def can_divide(window: Window) -> bool:
    """Whether a window has two axes, stride 2, no dilation, and a size that this module knows."""
    return window.strides == (2, 2) and window.dilations == (1, 1) and window.size in PHASE_SIZES


def find_phase_slices(padding: int, phase: int, length: int, count: int) -> tuple[slice, slice]:
    """Where a phase lies along an axis: among its `count` places, and in the image of `length`."""
    first = max(0, -(-(padding - phase) // 2))
    start = 2 * first + phase - padding
    n = max(0, min(-(-(length - start) // 2), count - first))
    return slice(first, first + n), slice(start, start + 2 * n, 2)


def iter_phases(window: Window, spatial: Any, places: Any) -> Iterator[tuple[Any, Any, Any]]:
    """Iterate over the phases: their numbers, and the keys of their places and in the images."""
    for a in (0, 1):
        for b in (0, 1):
            (from_row, row), (from_column, column) = (
                find_phase_slices(window.paddings[k][0], phase, spatial[k], places[k])
                for k, phase in enumerate((a, b))
            )
            yield (a, b), (slice(None), from_row, from_column), (slice(None), row, column)


def flip_filter_phases(w: Any, size: int) -> Any:
    """The flipped phases of a filter (k, k, c, o), transposed: (size, size, o, 4 * c)."""
    k, _, channels, outs = w.shape
    full = np.zeros((2 * size, 2 * size, channels, outs), w.dtype)
    full[:k, :k] = w
    parts = full.reshape(size, 2, size, 2, channels, outs)[::-1, :, ::-1]
    return np.ascontiguousarray(parts.transpose(0, 2, 5, 1, 3, 4)).reshape(size, size, outs, -1)


def unconvolve(y: Any, w: Any, window: Window, spatial: tuple[int, ...]) -> Any:
    """Adjoint of `convolve` in `x`; None if Winograd's result is not finite."""
    size, channels = PHASE_SIZES[window.size], w.shape[-2]
    how = winograd if size == 3 else im2col
    inner = Window((size, size), (1, 1), (1, 1), ((size - 1, size - 1),) * 2)
    places = tuple([n + size - 1 for n in y.shape[1:-1]])
    filters = flip_filter_phases(w, size)
    out = np.zeros((len(y), *spatial, channels), y.dtype)
    count = max(1, BLOCK_ELEMENTS // (4 * places[0] * places[1] * channels))
    for start in range(0, len(y), count):
        found = how.convolve(y[start : start + count], filters, inner)
        if found is None:
            return None
        parts = found.reshape(len(found), *places, 2, 2, channels)
        images = out[start : start + count]
        for phase, key, to in iter_phases(window, spatial, places):
            images[to] = parts[(*key, *phase)]
    return out
