"""tf.signal's Fourier transforms along any number of axes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.convert import convert, to_shape_tuple
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.shapes import normalize_axis
from gradtape.core.size_function import max_size
from gradtape.core.tensor import Tensor
from gradtape.ops import elementwise as e
from gradtape.ops import shape as s
from gradtape.ops.signal import fft
from gradtape.tf.public_op import COMPLEX, FULL_FLOATS
from gradtape.tf.signal.fft import as_fft_operand

FFT_NORMS = (None, "backward", "ortho", "forward")


def crop_or_pad_axis(x: Any, axis: int, size: int) -> Any:
    """Truncate, or pad with zeros, an axis to `size`."""
    have = s.shape_of(x)[axis]
    if size < have:
        return s.slice_axis(x, axis=axis, start=0, size=size)
    behind = ((0, 0),) * (-axis - 1)
    return s.pad(x, paddings=((0, size - have), *behind), value=0) if size > have else x


def apply_along_axis(function: Any, x: Any, axis: int) -> Any:
    """Apply a function of the last axis along `axis`."""
    perm = tuple(range(axis, 0))
    swapped = (perm[-1], *perm[1:-1], perm[0]) if len(perm) > 1 else perm
    return s.transpose(function(s.transpose(x, perm=swapped)), perm=swapped)


def plan_fft_axes(op: str, x: Tensor, fft_length: Any, axes: Any, norm: Any, half: bool) -> Any:
    """Pairs of (axis, length), and the factor of the norm."""
    rank = x._array.ndim
    chosen = range(rank) if axes is None else to_shape_tuple(axes)
    places = [normalize_axis(axis, rank, op) for axis in chosen]
    if len(set(places)) != len(places):
        raise InvalidArgumentError(f"{op}: axes must differ. Received {list(chosen)}.")
    sizes = [x._array.shape[axis] for axis in places]
    if half and sizes:
        sizes[-1] = max_size(2 * (sizes[-1] - 1), 0)
    lengths = sizes if fft_length is None else list(to_shape_tuple(fft_length))
    if len(lengths) != len(places):
        raise InvalidArgumentError(
            f"{op}: fft_length must have {len(places)} entries. Received {lengths}."
        )
    if norm not in FFT_NORMS:
        raise ValueError(f"{op}: norm must be one of {FFT_NORMS}. Received {norm!r}.")
    count = math.prod(lengths)
    factor = math.sqrt(count) if norm == "ortho" else count if norm == "forward" else 1
    return list(zip(places, lengths, strict=True)), factor


def scale_spectrum(x: Any, factor: float) -> Any:
    """Multiply `x` by `factor`."""
    return x if factor == 1 else e.multiply(x, np.asarray(factor, x._array.dtype)[()])


@public
def fftnd(
    input_tensor: Any,
    fft_length: Any = None,
    axes: Any = None,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """Fourier transform along several axes.

    Args:
        input_tensor: complex.
        fft_length: the length to truncate or pad each axis to; unchanged if None.
        axes: all if None.
        norm: "backward" (or None) scales the inverse, "forward" this transform, "ortho" both.
        name: has no effect here.

    Returns:
        A complex tensor.

    Note:
        TensorFlow has no CPU kernel for this function.
    """
    x: Any = as_fft_operand("FFTND", input_tensor, dtypes.complex64, COMPLEX, 0)
    pairs, factor = plan_fft_axes("fftnd", x, fft_length, axes, norm, False)
    for axis, length in pairs:
        x = fft.fft(crop_or_pad_axis(x, axis, length), axis=axis)
    return convert(scale_spectrum(x, 1 / factor))


@public
def ifftnd(
    input_tensor: Any,
    fft_length: Any = None,
    axes: Any = None,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The inverse of `fftnd`.

    Args:
        input_tensor: a tensor.
        fft_length: the length along each transformed axis, or None.
        axes: the axes to transform, or None.
        norm: None, "ortho", "forward" or "backward": where to divide by the number of elements.
        name: has no effect here.

    Returns:
        A complex tensor.
    """
    x: Any = as_fft_operand("IFFTND", input_tensor, dtypes.complex64, COMPLEX, 0)
    pairs, factor = plan_fft_axes("ifftnd", x, fft_length, axes, norm, False)
    for axis, length in pairs:
        x = fft.ifft(crop_or_pad_axis(x, axis, length), axis=axis)
    return convert(scale_spectrum(x, factor))


@public
def rfftnd(
    input_tensor: Any,
    fft_length: Any = None,
    axes: Any = None,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """Fourier transform of real input along several axes; non-negative frequencies of the last.

    Args:
        input_tensor: a tensor.
        fft_length: the length along each transformed axis, or None.
        axes: the axes to transform, or None.
        norm: None, "ortho", "forward" or "backward": where to divide by the number of elements.
        name: has no effect here.

    Returns:
        A complex tensor.
    """
    x: Any = as_fft_operand("RFFTND", input_tensor, dtypes.float32, FULL_FLOATS, 1)
    pairs, factor = plan_fft_axes("rfftnd", x, fft_length, axes, norm, False)
    for axis, length in reversed(pairs):
        x = crop_or_pad_axis(x, axis, length)
    x = apply_along_axis(fft.rfft, x, pairs[-1][0])
    for axis, _ in pairs[:-1]:
        x = fft.fft(x, axis=axis)
    return convert(scale_spectrum(x, 1 / factor))


@public
def irfftnd(
    input_tensor: Any,
    fft_length: Any = None,
    axes: Any = None,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The inverse of `rfftnd`.

    Args:
        input_tensor: a tensor.
        fft_length: the length along each transformed axis, or None.
        axes: the axes to transform, or None.
        norm: None, "ortho", "forward" or "backward": where to divide by the number of elements.
        name: has no effect here.

    Returns:
        A real tensor.
    """
    x: Any = as_fft_operand("IRFFTND", input_tensor, dtypes.complex64, COMPLEX, 1)
    pairs, factor = plan_fft_axes("irfftnd", x, fft_length, axes, norm, True)
    for axis, length in pairs[:-1]:
        x = fft.ifft(crop_or_pad_axis(x, axis, length), axis=axis)
    axis, length = pairs[-1]
    x = crop_or_pad_axis(x, axis, length // 2 + 1)
    x = apply_along_axis(lambda y: fft.irfft(y, length=length), x, axis)
    return convert(scale_spectrum(x, factor))
