"""tf.signal's Fourier transforms of one, two and three axes."""

from __future__ import annotations

from typing import Any

from gradtape.core import dtypes
from gradtape.core.convert import convert, shape_tuple
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.shapes import normalize_axes
from gradtape.core.tensor import Tensor
from gradtape.ops import shape as s
from gradtape.ops.signal import fft as spectral
from gradtape.tf.public_op import COMPLEX, SINGLES, operand


def transformed(function: Any, op: str, value: Any, rank: int) -> Tensor:
    """Apply a transform along each of the last `rank` axes."""
    x = operand(op, convert(value, hint=dtypes.complex64), COMPLEX)
    if x._array.ndim < rank:
        raise InvalidArgumentError(
            f"{op}: input must have at least rank {rank} but got: {x._array.ndim}."
        )
    for axis in range(-1, -rank - 1, -1):
        x = function(x, axis=axis)
    return x


@public
def fft(input: Any, name: str | None = None) -> Tensor:
    """Fourier transform of the last axis of a complex tensor."""
    return transformed(spectral.fft, "FFT", input, 1)


@public
def ifft(input: Any, name: str | None = None) -> Tensor:
    """Inverse Fourier transform of the last axis of a complex tensor."""
    return transformed(spectral.ifft, "IFFT", input, 1)


@public
def fft2d(input: Any, name: str | None = None) -> Tensor:
    """Fourier transform of the last two axes of a complex tensor."""
    return transformed(spectral.fft, "FFT2D", input, 2)


@public
def ifft2d(input: Any, name: str | None = None) -> Tensor:
    """Inverse Fourier transform of the last two axes of a complex tensor."""
    return transformed(spectral.ifft, "IFFT2D", input, 2)


@public
def fft3d(input: Any, name: str | None = None) -> Tensor:
    """Fourier transform of the last three axes of a complex tensor."""
    return transformed(spectral.fft, "FFT3D", input, 3)


@public
def ifft3d(input: Any, name: str | None = None) -> Tensor:
    """Inverse Fourier transform of the last three axes of a complex tensor."""
    return transformed(spectral.ifft, "IFFT3D", input, 3)


def fitted(x: Tensor, lengths: tuple[int, ...]) -> Any:
    """Truncate, or pad with zeros, the last axes to `lengths`."""
    rank = len(lengths)
    have = x._array.shape[-rank:]
    if have == lengths:
        return x
    if any(n > m for n, m in zip(have, lengths, strict=True)):
        x = s.slice_(x, key=tuple(slice(0, m) for m in lengths), rank=rank)
        have = x._array.shape[-rank:]
    missing = tuple((0, m - n) for n, m in zip(have, lengths, strict=True))
    return s.pad(x, paddings=missing, value=0) if any(high for _, high in missing) else x


def spectrum_or_signal(
    op: str, value: Any, hint: Any, allowed: frozenset[Any], rank: int
) -> Tensor:
    """Convert to a tensor; raise unless it has an allowed dtype and at least this rank."""
    x = convert(value, hint=hint)
    if x._array.dtype not in allowed:
        listed = " or ".join(sorted(str(dtype) for dtype in allowed))
        raise ValueError(f"{op}: input must be {listed}. Received {x.dtype.name}. Cast it first.")
    if x._array.ndim < rank:
        raise ValueError(f"{op}: Shape {x._array.shape} must have rank at least {rank}.")
    return x


def real_transform(op: str, value: Any, fft_length: Any, rank: int) -> Tensor:
    """Transform real input: rfft along the last axis, fft along the other `rank` - 1."""
    x = spectrum_or_signal(op, value, dtypes.float32, SINGLES, rank)
    lengths = x._array.shape[-rank:] if fft_length is None else shape_tuple(fft_length)
    if len(lengths) != rank:
        raise InvalidArgumentError(
            f"{op}: fft_length must have {rank} entries. Received {list(lengths)}."
        )
    out = spectral.rfft(fitted(x, lengths))
    for axis in range(-2, -rank - 1, -1):
        out = spectral.fft(out, axis=axis)
    return out


def inverse_real_transform(op: str, value: Any, fft_length: Any, rank: int) -> Tensor:
    """The inverse of `real_transform`."""
    x = spectrum_or_signal(op, value, dtypes.complex64, COMPLEX, rank)
    have = x._array.shape
    if fft_length is None:
        lengths = (*have[len(have) - rank : -1], max(2 * (have[-1] - 1), 0))
    else:
        lengths = shape_tuple(fft_length)
    if len(lengths) != rank:
        raise InvalidArgumentError(
            f"{op}: fft_length must have {rank} entries. Received {list(lengths)}."
        )
    out = fitted(x, (*lengths[:-1], lengths[-1] // 2 + 1))
    for axis in range(-rank, -1):
        out = spectral.ifft(out, axis=axis)
    return spectral.irfft(out, length=lengths[-1])


@public
def rfft(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """Fourier transform of a real last axis: the non-negative frequencies.

    Args:
        input_tensor: float32 or float64, (..., n).
        fft_length: a list with the length to truncate or pad to; n if None.
        name: accepted for TensorFlow's sake.

    Returns:
        A complex tensor (..., fft_length // 2 + 1).
    """
    return real_transform("RFFT", input_tensor, fft_length, 1)


@public
def irfft(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """The inverse of `rfft`: a real last axis from its non-negative frequencies."""
    return inverse_real_transform("IRFFT", input_tensor, fft_length, 1)


@public
def rfft2d(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """Fourier transform of two real last axes; non-negative frequencies of the last."""
    return real_transform("RFFT2D", input_tensor, fft_length, 2)


@public
def irfft2d(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """The inverse of `rfft2d`."""
    return inverse_real_transform("IRFFT2D", input_tensor, fft_length, 2)


@public
def rfft3d(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """Fourier transform of three real last axes; non-negative frequencies of the last."""
    return real_transform("RFFT3D", input_tensor, fft_length, 3)


@public
def irfft3d(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """The inverse of `rfft3d`."""
    return inverse_real_transform("IRFFT3D", input_tensor, fft_length, 3)


def shifted(x: Any, axes: Any, back: bool) -> Tensor:
    """Roll axes by half their length, backwards if `back`."""
    tensor = convert(x)
    n = tensor._array.ndim
    for axis in normalize_axes(None if axes is None else shape_tuple(axes), n, "fftshift"):
        half = tensor._array.shape[axis] // 2
        tensor = s.roll(tensor, shift=-half if back else half, axis=axis)
    return tensor


@public
def fftshift(x: Any, axes: Any = None, name: str | None = None) -> Tensor:
    """`x` with the zero frequency moved to the middle of `axes` (all, if None)."""
    return shifted(x, axes, back=False)


@public
def ifftshift(x: Any, axes: Any = None, name: str | None = None) -> Tensor:
    """The inverse of `fftshift`."""
    return shifted(x, axes, back=True)
