"""Discrete cosine transforms of the last axis, by way of Fourier's."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.ops.elementwise import cast, multiply, real
from gradtape.ops.shape import concat, flip, pad, shape_of, slice_
from gradtape.ops.signal.fft import complex_of, irfft, rfft


def stretched(x: Any, size: int) -> Any:
    """`x` with zeros behind, up to this size."""
    return pad(x, paddings=((0, size - shape_of(x)[-1]),), value=0)


def part(x: Any, *key: int | None) -> Any:
    """A slice of the last axis."""
    return slice_(x, key=(slice(*key),), rank=1)


def turns(n: int, sign: int, dtype: Any) -> Any:
    """Twice the turns by half a sample of a transform of length 2 n."""
    return (2 * np.exp(sign * 0.5j * np.pi / n * np.arange(n))).astype(complex_of(dtype))


def orthogonal(n: int, first: float, other: float, dtype: Any) -> Any:
    """Factors that make a transform of length n orthogonal."""
    return np.where(np.arange(n) == 0, first, other).astype(dtype)


def cosine_transform(x: Any, *, kind: int, dtype: Any, ortho: bool = False) -> Any:
    """Transform of type I, II, III or IV (`kind`), scaled as by FFTPACK, or orthogonal."""
    n = shape_of(x)[-1]
    if kind == 1:
        return real(rfft(concat(x, flip(part(x, 1, -1), axes=(-1,)), axis=-1)))
    if kind == 2:
        half = part(rfft(stretched(x, 2 * n)), 0, n)
        out = real(multiply(half, turns(n, -1, dtype)))
        weights = orthogonal(n, 0.5 / np.sqrt(n), np.sqrt(0.5 / n), dtype) if ortho else None
        return out if weights is None else multiply(out, weights)
    if kind == 3:
        first, other = (np.sqrt(n), np.sqrt(n / 2)) if ortho else (n, n)
        scaled = multiply(x, orthogonal(n, first, other, dtype))
        spectrum = multiply(cast(scaled, dtype=complex_of(dtype)), turns(n, 1, dtype))
        return part(irfft(stretched(spectrum, n + 1), length=2 * n), 0, n)
    # The fourth kind is the odd entries of the second kind of twice the length.
    out = part(cosine_transform(stretched(x, 2 * n), kind=2, dtype=dtype), 1, None, 2)
    return multiply(out, np.asarray(np.sqrt(0.5 / n), dtype)[()]) if ortho else out
