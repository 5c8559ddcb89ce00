"""Choice of the convolution algorithm, by a fixed rule on shapes and dtype, never by timing.

| module | algorithm | used for |
|---|---|---|
| pointwise | matrix product of pixels | window of size 1, no padding |
| depthwise | sums of products along rows | as many groups as channels |
| few_channels | columns with the taps first | taps · channels ≤ 32 |
| winograd | F(4×4, 3×3) | float32, 3×3, stride 1, many channels and tiles, little waste |
| phases | im2col or Winograd on phases, for transposes | 2×2, 4×4, and 5×5 in float32, stride 2 |
| fft | products of spectra | float32, 5×5 and larger, stride 1, many channels |
| im2col | matrix products with blocks of copied windows | all others without groups |
| None | one product with all columns at once | groups, lead axes on both operands, empty arrays |

Winograd and FFT are less accurate, so second derivatives never use them.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from gradtape.ops.convolution import (
    depthwise,
    few_channels,
    fft,
    im2col,
    phases,
    pointwise,
    winograd,
)
from gradtape.ops.convolution.window import Window, sizes_with_padding

FEW_TAPS = 32
FFT_MIN_SIZE = 5


@lru_cache(maxsize=1024)
def choose_algorithm(
    x: tuple[int, ...], w: tuple[int, ...], window: Window, groups: int, dtype: Any, order: int
) -> Any:
    """Choose the module that convolves (n, *spatial, c) with (*size, c / groups, o).

    The result is None if the generic kernel of `convolution.py` should run.

    Args:
        x: shape of the input, with lead axes merged into the batch.
        w: shape of the filter.
        window: size, strides, dilations and paddings.
        groups: number of groups of channels.
        dtype: dtype of the input, the filter and the result.
        order: how many times the convolution has been differentiated.
    """
    channels, outs = x[-1], w[-1]
    outputs = window.outputs(x[1:-1])
    if not prod(outputs) * x[0] * channels * outs * prod(w):
        return None
    if groups > 1:
        return depthwise if groups == channels else None
    if prod(window.size) == 1 and not window.is_padded():
        return pointwise
    if prod(window.size) * channels <= FEW_TAPS:
        return few_channels
    is_fast = dtype == np.float32 and order < 2 and len(window.size) == 2
    if phases.can_divide(window) and is_phases_faster(x, outs, window, is_fast):
        return phases
    if is_fast and window.is_dense():
        if window.size == (3, 3) and is_winograd_faster(x, outs, window):
            return winograd
        if min(window.size) >= FFT_MIN_SIZE and is_fft_faster(x, outs, window):
            return fft
    return im2col


def is_winograd_faster(x: tuple[int, ...], outs: int, window: Window) -> bool:
    """Whether matrix products dominate the cost and tiles hardly extend beyond the output."""
    images, *spatial, channels = x
    fewest = min(channels, outs)
    tiles = winograd.choose_tile_layout(images, tuple(spatial), window).tile_count()
    waste = 16 * tiles / (images * prod(window.outputs(tuple(spatial))))
    return fewest >= 16 and tiles >= 24 and waste <= (1.4 if fewest >= 48 else 1.2)


def is_phases_faster(x: tuple[int, ...], outs: int, window: Window, is_fast: bool) -> bool:
    """Whether there are enough places to make up for rearranging the filter.

    Filters of size 5 need Winograd's method (`is_fast`), with many channels.
    """
    places = x[0] * prod(window.outputs(x[1:-1]))
    if window.size == (5, 5):
        return is_fast and min(x[-1], outs) >= 16 and places >= 768
    return places >= 256


def is_fft_faster(x: tuple[int, ...], outs: int, window: Window) -> bool:
    """Whether the saved products outweigh the transforms and the planes are not mostly padding.

    The method transforms n·c + n·o + c·o planes, and saves k² of each of n·c·o products of planes.
    """
    images, *spatial, channels = x
    outputs = window.outputs(tuple(spatial))
    saved = prod(window.size) / (1 / images + 1 / channels + 1 / outs)
    return saved >= 100 and prod(sizes_with_padding(tuple(spatial), window)) <= 3 * prod(outputs)
