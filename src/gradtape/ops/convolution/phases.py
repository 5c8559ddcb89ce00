"""Transposed convolutions with stride 2 by phases: the even and odd rows and columns of the result.

The transpose of a filter of size 4 with stride 2 is a filter of size 2 with stride 1 that computes
the four phases side by side as channels. Nothing overlaps, so nothing has to be added up. Images
are divided into blocks, so that the copies of the phases stay small.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gradtape.ops.convolution import im2col
from gradtape.ops.convolution.window import Window, as_items

BLOCK_ELEMENTS = 1 << 21  # elements of the phases of one block of images
PHASE_SIZES: dict[tuple[int, ...], int] = {  # size of a filter → size of its phases
    (2, 2): 1,
    (4, 4): 2,
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


def pad_filter(w: Any, size: int) -> Any:
    """Pad a filter (k, k, c, o) with zeros to phases of this size: (size, 2, size, 2, c, o)."""
    k, _, channels, outs = w.shape
    full = np.zeros((2 * size, 2 * size, channels, outs), w.dtype)
    full[:k, :k] = w
    return full.reshape(size, 2, size, 2, channels, outs)


def flip_filter_phases(w: Any, size: int) -> Any:
    """The flipped phases of a filter (k, k, c, o), transposed: (size, size, o, 4 * c)."""
    parts = pad_filter(w, size)[::-1, :, ::-1].transpose(0, 2, 5, 1, 3, 4)
    return np.ascontiguousarray(parts).reshape(size, size, w.shape[-1], -1)


def join_phases(found: Any, images: Any, window: Window) -> None:
    """Copy phases (n, *places, 4 * c) to their rows and columns of the images."""
    places = found.shape[1:-1]
    parts = found.reshape(*found.shape[:-1], 2, 2, images.shape[-1])
    for phase, key, to in iter_phases(window, images.shape[1:-1], places):
        as_items(images[to])[...] = as_items(parts[(*key, *phase)])


def unconvolve(y: Any, w: Any, window: Window, spatial: tuple[int, ...]) -> Any:
    """Adjoint of a convolution in its input."""
    size, channels = PHASE_SIZES[window.size], w.shape[-2]
    inner = Window((size, size), (1, 1), (1, 1), ((size - 1, size - 1),) * 2)
    places = inner.outputs(y.shape[1:-1])
    filters = flip_filter_phases(w, size)
    out = np.zeros((len(y), *spatial, channels), y.dtype)
    count = max(1, BLOCK_ELEMENTS // (4 * places[0] * places[1] * channels))
    for start in range(0, len(y), count):
        found = im2col.convolve(y[start : start + count], filters, inner)
        join_phases(found, out[start : start + count], window)
    return out
