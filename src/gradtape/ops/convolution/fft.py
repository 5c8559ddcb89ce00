"""Convolution with large filters by FFT: one matrix product for each frequency.

An FFT computes a circular convolution. The transforms are at least as long as the padded input, so
only results outside the output wrap around. Spectra are (frequencies, n, c). One infinite input
makes its whole image NaN, so each function returns None if its result is not finite.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.ops.convolution.window import Window, crop_padding, pad_contiguous, sizes_with_padding
from gradtape.ops.convolution.winograd import is_all_finite


def transform_sizes_of(spatial: tuple[int, ...], window: Window) -> tuple[int, ...]:
    """Sizes of the transforms: the padded input's, rounded up to sizes with a fast FFT."""
    from scipy.fft import next_fast_len

    return tuple(next_fast_len(n, real=True) for n in sizes_with_padding(spatial, window))


def compute_spectra(x: Any, sizes: tuple[int, ...]) -> Any:
    """Transform images (n, h, w, c) to spectra (frequencies, n, c)."""
    from scipy.fft import rfft2

    return rfft2(x.transpose(1, 2, 0, 3), sizes, axes=(0, 1))


def invert_spectra(product: Any, sizes: tuple[int, ...], extent: tuple[int, ...]) -> Any:
    """Transform spectra back to images (h, w, n, c), cropped to `extent`; None if not finite."""
    from scipy.fft import irfft2

    result = irfft2(product, sizes, axes=(0, 1))[: extent[0], : extent[1]]
    result = np.ascontiguousarray(result)
    return result if is_all_finite(result) else None


def as_image_batch(result: Any) -> Any:
    """Transpose (h, w, n, c) to (n, h, w, c); None stays None."""
    return None if result is None else np.ascontiguousarray(result.transpose(2, 0, 1, 3))


def convolve(x: Any, w: Any, window: Window) -> Any:
    """Weighted sums of the windows of (n, h, w, c) by (kh, kw, c, o)."""
    sizes = transform_sizes_of(x.shape[1:-1], window)
    filters = compute_spectra(w.transpose(2, 0, 1, 3), sizes)
    product = np.matmul(compute_spectra(pad_contiguous(x, window), sizes), np.conj(filters))
    return as_image_batch(invert_spectra(product, sizes, window.outputs(x.shape[1:-1])))


def unconvolve(y: Any, w: Any, window: Window, spatial: tuple[int, ...]) -> Any:
    """Adjoint of `convolve` in `x`."""
    sizes = transform_sizes_of(spatial, window)
    filters = compute_spectra(w.transpose(3, 0, 1, 2), sizes)
    result = as_image_batch(
        invert_spectra(
            np.matmul(compute_spectra(y, sizes), filters),
            sizes,
            sizes_with_padding(spatial, window),
        )
    )
    return None if result is None else np.ascontiguousarray(crop_padding(result, window, spatial))


def correlate(x: Any, y: Any, window: Window) -> Any:
    """Adjoint of `convolve` in `w`."""
    sizes = transform_sizes_of(x.shape[1:-1], window)
    inputs = compute_spectra(pad_contiguous(x, window), sizes).swapaxes(-1, -2)
    return invert_spectra(np.matmul(inputs, np.conj(compute_spectra(y, sizes))), sizes, window.size)
