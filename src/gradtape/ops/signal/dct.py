"""Discrete cosine transforms of the last axis, computed by Fourier transforms."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.primitive import Spec
from gradtape.core.shape_rule import with_shape
from gradtape.core.size_constant import compute_constant, scale_power
from gradtape.ops.elementwise import cast, multiply, real
from gradtape.ops.shape import concat, flip, pad, shape_of, slice_
from gradtape.ops.signal.fft import complex_of, irfft, rfft


def pad_last_to(x: Any, size: int) -> Any:
    """Pad the end of the last axis with zeros up to this size."""
    return pad(x, paddings=((0, size - shape_of(x)[-1]),), value=0)


def slice_last(x: Any, *key: int | None) -> Any:
    """Slice the last axis."""
    return slice_(x, key=(slice(*key),), rank=1)


@with_shape(lambda n, sign, dtype: Spec(((n,), complex_of(dtype))))
def half_sample_phases(n: int, sign: int, dtype: Any) -> Any:
    """Phase factors 2 exp(± i π k / 2n) of a shift by half a sample, for k = 0 … n - 1."""
    return (2 * np.exp(sign * 0.5j * np.pi / n * np.arange(n))).astype(complex_of(dtype))


@with_shape(lambda n, power, first, other, dtype: Spec(((n,), np.dtype(dtype))))
def length_factors(n: int, power: float, first: float, other: float, dtype: Any) -> Any:
    """Factors n ** power * `first` for k = 0, and n ** power * `other` for k = 1 … n - 1."""
    return (np.where(np.arange(n) == 0, first, other) * np.float64(n) ** power).astype(dtype)


def cosine_transform(x: Any, *, kind: int, dtype: Any, ortho: bool = False) -> Any:
    """Cosine transform of type 1 to 4 (`kind`), scaled as in FFTPACK or orthonormal."""
    n = shape_of(x)[-1]
    if kind == 1:
        return real(rfft(concat(x, flip(slice_last(x, 1, -1), axes=(-1,)), axis=-1)))
    if kind == 2:
        half = slice_last(rfft(pad_last_to(x, 2 * n)), 0, n)
        out = real(multiply(half, compute_constant(half_sample_phases, n, -1, dtype)))
        if not ortho:
            return out
        return multiply(out, compute_constant(length_factors, n, -0.5, 0.5, np.sqrt(0.5), dtype))
    if kind == 3:
        power, other = (0.5, np.sqrt(0.5)) if ortho else (1.0, 1.0)
        scaled = multiply(x, compute_constant(length_factors, n, power, 1.0, other, dtype))
        phases = compute_constant(half_sample_phases, n, 1, dtype)
        spectrum = multiply(cast(scaled, dtype=complex_of(dtype)), phases)
        return slice_last(irfft(pad_last_to(spectrum, n + 1), length=2 * n), 0, n)
    # The transform of type IV is the odd entries of type II at twice the length.
    out = slice_last(cosine_transform(pad_last_to(x, 2 * n), kind=2, dtype=dtype), 1, None, 2)
    return (
        multiply(out, compute_constant(scale_power, n, np.sqrt(0.5), -0.5, dtype)) if ortho else out
    )
