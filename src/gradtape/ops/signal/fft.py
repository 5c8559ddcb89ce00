"""Discrete Fourier transforms along one axis.

The matrix of the transform is symmetric, so the transform is its own transpose and its own rule.
(The engine propagates the conjugate of TensorFlow's cotangent, so rules do not conjugate.)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.primitive import Spec, primitive
from gradtape.core.shape_rule import complex_dtype_of, keep_shape, real_dtype_of
from gradtape.ops.elementwise import cast, conj, real
from gradtape.ops.shape import pad


@primitive(x=lambda g, axis: fft(g, axis=axis), shape=keep_shape)
def fft(x, *, axis: int):
    """Fourier transform along `axis`."""
    return np.fft.fft(x, axis=axis).astype(x.dtype, copy=False) if x.size else x


@primitive(x=lambda g, axis: ifft(g, axis=axis), shape=keep_shape)
def ifft(x, *, axis: int):
    """Inverse Fourier transform along `axis`."""
    return np.fft.ifft(x, axis=axis).astype(x.dtype, copy=False) if x.size else x


def complex_of(dtype: Any) -> Any:
    """The complex dtype whose parts are of `dtype`."""
    return np.result_type(dtype, np.complex64)


def rfft_wrt_x(g, x_spec, out_spec):
    """The rule of `fft`, of which `rfft` is the first half."""
    n, m = x_spec.shape[-1], out_spec.shape[-1]
    return real(fft(pad(g, paddings=((0, n - m),), value=0), axis=-1))


def rfft_shape(x):
    return Spec(((*x.shape[:-1], x.shape[-1] // 2 + 1), complex_dtype_of(x.dtype)))


@primitive(x=rfft_wrt_x, shape=rfft_shape)
def rfft(x):
    """First half of the Fourier transform of real rows; the second half is its conjugate mirror."""
    return np.fft.rfft(x, axis=-1).astype(complex_of(x.dtype), copy=False)


def irfft_wrt_x(g, x_spec, out_spec):
    """Entries that also represent their mirror image count twice."""
    n, m = out_spec.shape[-1], x_spec.shape[-1]
    twice = np.full(m, 2)
    twice[0] = 1
    if n % 2 == 0:
        twice[-1] = 1
    weight = (twice / n).astype(out_spec.dtype)
    return conj(rfft(g)) * cast(weight, dtype=x_spec.dtype)


@primitive(
    x=irfft_wrt_x, shape=lambda x, length: Spec(((*x.shape[:-1], length), real_dtype_of(x.dtype)))
)
def irfft(x, *, length: int):
    """Inverse of `rfft`: real rows of this length, from the first half of their transform."""
    return np.fft.irfft(x, n=length, axis=-1).astype(x.real.dtype, copy=False)
