"""Discrete cosine transforms of the last axis, computed by Fourier transforms."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.ops.elementwise import cast, multiply, real
from gradtape.ops.shape import concat, flip, pad, shape_of, slice_
from gradtape.ops.signal.fft import complex_of, irfft, rfft


def pad_last_to(x: Any, size: int) -> Any:
    """Pad the end of the last axis with zeros up to this size."""
    return pad(x, paddings=((0, size - shape_of(x)[-1]),), value=0)


def slice_last(x: Any, *key: int | None) -> Any:
    """Slice the last axis."""
    return slice_(x, key=(slice(*key),), rank=1)


def half_sample_phases(n: int, sign: int, dtype: Any) -> Any:
    """Phase factors 2 exp(± i π k / 2n) of a shift by half a sample, for k = 0 … n - 1."""
    return (2 * np.exp(sign * 0.5j * np.pi / n * np.arange(n))).astype(complex_of(dtype))


def orthonormal_factors(n: int, first: float, other: float, dtype: Any) -> Any:
    """Factors that make a transform of length n orthonormal: `first` for k = 0, else `other`."""
    return np.where(np.arange(n) == 0, first, other).astype(dtype)


def cosine_transform(x: Any, *, kind: int, dtype: Any, ortho: bool = False) -> Any:
    """Cosine transform of type 1 to 4 (`kind`), scaled as in FFTPACK or orthonormal."""
    n = shape_of(x)[-1]
    if kind == 1:
        return real(rfft(concat(x, flip(slice_last(x, 1, -1), axes=(-1,)), axis=-1)))
    if kind == 2:
        half = slice_last(rfft(pad_last_to(x, 2 * n)), 0, n)
        out = real(multiply(half, half_sample_phases(n, -1, dtype)))
        weights = (
            orthonormal_factors(n, 0.5 / np.sqrt(n), np.sqrt(0.5 / n), dtype) if ortho else None
        )
        return out if weights is None else multiply(out, weights)
    if kind == 3:
        first, other = (np.sqrt(n), np.sqrt(n / 2)) if ortho else (n, n)
        scaled = multiply(x, orthonormal_factors(n, first, other, dtype))
        spectrum = multiply(cast(scaled, dtype=complex_of(dtype)), half_sample_phases(n, 1, dtype))
        return slice_last(irfft(pad_last_to(spectrum, n + 1), length=2 * n), 0, n)
    # The transform of type IV is the odd entries of type II at twice the length.
    out = slice_last(cosine_transform(pad_last_to(x, 2 * n), kind=2, dtype=dtype), 1, None, 2)
    return multiply(out, np.asarray(np.sqrt(0.5 / n), dtype)[()]) if ortho else out
