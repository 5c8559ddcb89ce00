"""Convolution to few output channels with stride 1, as the adjoint of one of few input channels.

Columns of the input would hold every pixel once for each tap, for a product with few columns. The
adjoint exchanges input and output, so `few_channels` multiplies first and adds the taps of the
small result. Its window is the mirror, its filter is flipped.
"""

from __future__ import annotations

from typing import Any

from gradtape.ops.convolution import few_channels
from gradtape.ops.convolution.im2col import flip_filter
from gradtape.ops.convolution.window import Window


def mirror_of(window: Window) -> Window:
    """The window of the adjoint; `algorithm.py` chooses this module only if it exists."""
    mirror = window.mirror()
    assert mirror is not None
    return mirror


def convolve(x: Any, w: Any, window: Window) -> Any:
    """Weighted sums of the windows of (n, *spatial, c) by (*size, c, o)."""
    outputs = window.outputs(x.shape[1:-1])
    return few_channels.unconvolve(x, flip_filter(w), mirror_of(window), outputs)


def unconvolve(y: Any, w: Any, window: Window, spatial: tuple[int, ...]) -> Any:
    """Adjoint of `convolve` in `x`."""
    return few_channels.convolve(y, flip_filter(w), mirror_of(window))


def correlate(x: Any, y: Any, window: Window) -> Any:
    """Adjoint of `convolve` in `w`."""
    return flip_filter(few_channels.correlate(y, x, mirror_of(window)))
