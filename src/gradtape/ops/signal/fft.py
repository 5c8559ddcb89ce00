"""Discrete Fourier transforms along one axis.

The transform's matrix is symmetric, so the transform is its own transpose, and that is the rule
(cotangents are the conjugates of TensorFlow's, see `elementwise`).
"""

from __future__ import annotations

import numpy as np

from gradtape.core.primitive import primitive
from gradtape.ops.elementwise import cast, conj, real
from gradtape.ops.shape import pad


@primitive(x=lambda g, axis: fft(g, axis=axis))
def fft(x, *, axis: int):
    """Fourier transform along `axis`."""
    return np.fft.fft(x, axis=axis).astype(x.dtype, copy=False) if x.size else x


@primitive(x=lambda g, axis: ifft(g, axis=axis))
def ifft(x, *, axis: int):
    """Inverse Fourier transform along `axis`."""
    return np.fft.ifft(x, axis=axis).astype(x.dtype, copy=False) if x.size else x


def complex_of(dtype):
    """The complex dtype whose parts are of `dtype`."""
    return np.result_type(dtype, np.complex64)


def rfft_wrt_x(g, x_spec, out_spec):
    """As for the whole transform, of which this is the first half."""
    n, m = x_spec.shape[-1], out_spec.shape[-1]
    return real(fft(pad(g, paddings=((0, n - m),), value=0), axis=-1))


@primitive(x=rfft_wrt_x)
def rfft(x):
    """The first half of the Fourier transform of real rows; the rest mirrors it."""
    return np.fft.rfft(x, axis=-1).astype(complex_of(x.dtype), copy=False)


def irfft_wrt_x(g, x_spec, out_spec):
    """Entries that stand for their mirror image too count twice."""
    n, m = out_spec.shape[-1], x_spec.shape[-1]
    twice = np.full(m, 2)
    twice[0] = 1
    if n % 2 == 0:
        twice[-1] = 1
    weight = (twice / n).astype(out_spec.dtype)
    return conj(rfft(g)) * cast(weight, dtype=x_spec.dtype)


@primitive(x=irfft_wrt_x)
def irfft(x, *, length: int):
    """Real rows of this length of whose Fourier transform `x` is the first half."""
    return np.fft.irfft(x, n=length, axis=-1).astype(x.real.dtype, copy=False)
