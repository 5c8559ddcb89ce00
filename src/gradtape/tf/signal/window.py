"""tf.signal's window functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.ops import elementwise as e
from gradtape.ops import shape as s
from gradtape.ops.cumulative import cumsum
from gradtape.tf.math.cast import cast
from gradtape.tf.math.special import bessel_i0e


def check_window_arguments(op: str, window_length: Any, dtype: Any) -> tuple[int, Any]:
    """Convert the arguments of a window to an int and a NumPy dtype, and check them."""
    kind = dtypes.as_dtype(dtype)
    if not kind.is_floating:
        raise ValueError(f"{op}: dtype must be a floating point type. Received {kind.name}.")
    length = convert(window_length, dtypes.int32)._array
    if length.ndim:
        raise ValueError(f"{op}: window_length must be a scalar. Received shape {length.shape}.")
    if length < 0:
        raise InvalidArgumentError(f"{op}: window_length must not be negative. Received {length}.")
    return int(length), np.dtype(kind.as_numpy_dtype)


def make_raised_cosine(
    op: str, window_length: Any, periodic: Any, dtype: Any, level: float, swing: float
) -> Tensor:
    """The window level - swing * cos(2π i / period)."""
    n, raw = check_window_arguments(op, window_length, dtype)
    if n == 1:
        return make_tensor(np.ones(1, raw))
    # TensorFlow returns a symmetric window for every odd length, even if `periodic`.
    period = max(n if periodic and n % 2 == 0 else n - 1, 1)
    return make_tensor((level - swing * np.cos(2 * np.pi / period * np.arange(n))).astype(raw))


@public
def hann_window(
    window_length: Any,
    periodic: Any = True,
    dtype: Any = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Hann window: a raised cosine that reaches zero.

    Args:
        window_length: number of samples.
        periodic: whether to drop the last sample of a symmetric window that is one longer, for
            use with Fourier transforms. It has no effect on odd lengths.
        dtype: a floating type.
        name: has no effect here.

    Returns:
        A tensor (window_length,).

    Example:
        >>> tf.signal.hann_window(4).numpy().round(3)
        array([0. , 0.5, 1. , 0.5], dtype=float32)
    """
    return make_raised_cosine("hann_window", window_length, periodic, dtype, 0.5, 0.5)


@public
def hamming_window(
    window_length: Any,
    periodic: Any = True,
    dtype: Any = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Hamming window: a raised cosine that does not reach zero. See `hann_window`.

    Args:
        window_length: the number of samples.
        periodic: whether the window is for periodic signals.
        dtype: a floating dtype.
        name: has no effect here.

    Returns:
        A vector.

    Example:
        >>> tf.signal.hamming_window(4).numpy().round(3)
        array([0.08, 0.54, 1.  , 0.54], dtype=float32)
    """
    return make_raised_cosine("hamming_window", window_length, periodic, dtype, 0.54, 0.46)


@public
def vorbis_window(
    window_length: Any, dtype: Any = dtypes.float32, name: str | None = None
) -> Tensor:
    """Window of Ogg Vorbis; its squares sum to one at an overlap of half.

    Args:
        window_length: the number of samples.
        dtype: a floating dtype.
        name: has no effect here.

    Returns:
        A vector.
    """
    n, raw = check_window_arguments("vorbis_window", window_length, dtype)
    rise = np.sin(np.pi / max(n, 1) * (np.arange(n) + 0.5))
    return make_tensor(np.sin(np.pi / 2 * rise * rise).astype(raw))


@public
def kaiser_window(
    window_length: Any,
    beta: Any = 12.0,
    dtype: Any = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Kaiser window.

    Args:
        window_length: number of samples.
        beta: shape parameter; larger is narrower. Differentiable.
        dtype: a floating type.
        name: has no effect here.

    Returns:
        A tensor (window_length,).

    Example:
        >>> tf.signal.kaiser_window(3).numpy().round(3)
        array([0., 1., 0.], dtype=float32)
    """
    n, raw = check_window_arguments("kaiser_window", window_length, dtype)
    if n == 1:
        return make_tensor(np.ones(1, raw))
    place = np.linspace(-1, 1, n)
    circle = np.sqrt(np.maximum(1 - place * place, 0)).astype(raw)
    peak = cast(beta, dtype)
    bow = e.multiply(peak, circle)
    ratio = e.divide(bessel_i0e(bow), bessel_i0e(peak))
    window: Tensor = e.multiply(e.exp(e.subtract(bow, peak)), ratio)
    return window


@public
def kaiser_bessel_derived_window(
    window_length: Any,
    beta: Any = 12.0,
    dtype: Any = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Kaiser-Bessel derived window; its squares sum to one at an overlap of half.

    Args:
        window_length: the number of samples.
        beta: the shape parameter.
        dtype: a floating dtype.
        name: has no effect here.

    Returns:
        A vector.
    """
    half, _ = check_window_arguments("kaiser_bessel_derived_window", window_length, dtype)
    half //= 2
    total = cumsum(kaiser_window(half + 1, beta, dtype), axis=-1, exclusive=False, reverse=False)
    rising, last = s.split(total, axis=-1, sizes=(half, 1))
    rising = e.sqrt(e.divide(rising, last))
    window: Tensor = s.concat(rising, s.flip(rising, axes=(-1,)), axis=-1)
    return window
