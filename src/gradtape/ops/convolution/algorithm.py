"""Choice of the convolution algorithm, by a fixed rule on shapes and dtype, never by timing.

| module | algorithm | used for |
|---|---|---|
| pointwise | matrix product of pixels | window of size 1, no padding |
| depthwise | sums of products along rows | as many groups as channels |
| few_channels | columns with the taps first | taps · channels ≤ 32 |
| winograd | F(4×4, 3×3) | float32, 3×3, stride 1, many channels and tiles, little waste |
| winograd_phases | Winograd on phases | float32, 4×4 and 5×5, stride 2, many channels and places |
| phases | im2col on phases | `unconvolve` with 2×2 and 4×4, stride 2 |
| fft | products of spectra | float32, 5×5 and larger, stride 1, many channels |
| few_outputs | the adjoint of few_channels | stride 1, at most 4 outputs of more channels |
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
    few_outputs,
    fft,
    im2col,
    phases,
    pointwise,
    winograd,
    winograd_phases,
)
from gradtape.ops.convolution.window import Window, sizes_with_padding

FFT_MIN_SIZE = 5


@lru_cache(maxsize=1024)
def choose_algorithm(
    step: str,
    x: tuple[int, ...],
    w: tuple[int, ...],
    window: Window,
    groups: int,
    dtype: Any,
    order: int,
) -> Any:
    """Choose the module whose function `step` runs for (n, *spatial, c) and (*size, c / groups, o).

    The result is None if the generic kernel of `convolution.py` should run.

    Args:
        step: "convolve", "unconvolve" or "correlate".
        x: shape of the input of `convolve`, with lead axes merged into the batch.
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
    if few_channels.is_narrow(window, channels):
        return few_channels
    if dtype == np.float32 and order < 2 and len(window.size) == 2:
        fast = choose_fast_algorithm(step, x, outs, window)
        if fast is not None:
            return fast
    if step == "unconvolve" and phases.can_divide(window) and count_places(x, window) >= 256:
        return phases
    return few_outputs if is_few_outputs_faster(step, x, outs, window) else im2col


def choose_fast_algorithm(step: str, x: tuple[int, ...], outs: int, window: Window) -> Any:
    """Choose an algorithm for float32 images that is less accurate, or None."""
    if winograd_phases.can_divide(window):
        return winograd_phases if is_winograd_phases_faster(step, x, outs, window) else None
    if window.is_dense():
        if window.size == (3, 3) and is_winograd_faster(x, outs, window):
            return winograd
        if min(window.size) >= FFT_MIN_SIZE and is_fft_faster(x, outs, window):
            return fft
    return None


def count_places(x: tuple[int, ...], window: Window) -> int:
    """Number of places of the window on all images."""
    return x[0] * prod(window.outputs(x[1:-1]))


def is_few_outputs_faster(step: str, x: tuple[int, ...], outs: int, window: Window) -> bool:
    """Whether columns of the output are much shorter than columns of the input."""
    if outs > 4 or x[-1] < 4 * outs or window.mirror() is None or count_places(x, window) < 256:
        return False
    return step != "unconvolve" or few_channels.is_narrow(window, outs)


def is_winograd_faster(x: tuple[int, ...], outs: int, window: Window) -> bool:
    """Whether matrix products dominate the cost and tiles hardly extend beyond the output."""
    images, *spatial, channels = x
    fewest = min(channels, outs)
    tiles = winograd.choose_tile_layout(images, tuple(spatial), window).tile_count()
    waste = 16 * tiles / (images * prod(window.outputs(tuple(spatial))))
    return fewest >= 16 and tiles >= 24 and waste <= (1.4 if fewest >= 48 else 1.2)


def is_winograd_phases_faster(step: str, x: tuple[int, ...], outs: int, window: Window) -> bool:
    """Whether there are enough places and channels to make up for the transforms.

    The zeros in a padded filter of size 5 cost the more the fewer channels there are. Its transpose
    has few products in all, but computes a margin around small images.
    """
    fewest = min(x[-1], outs)
    if count_places(x, window) < 768:
        return False
    if window.size == (4, 4):
        return fewest >= 32
    if step == "unconvolve":
        return fewest >= 16 and min(window.outputs(x[1:-1])) >= 6
    return fewest >= 48


def is_fft_faster(x: tuple[int, ...], outs: int, window: Window) -> bool:
    """Whether the saved products outweigh the transforms and the planes are not mostly padding.

    The method transforms n·c + n·o + c·o planes, and saves k² of each of n·c·o products of planes.
    """
    images, *spatial, channels = x
    outputs = window.outputs(tuple(spatial))
    saved = prod(window.size) / (1 / images + 1 / channels + 1 / outs)
    return saved >= 100 and prod(sizes_with_padding(tuple(spatial), window)) <= 3 * prod(outputs)
