"""tf.signal's Fourier transforms of one, two and three axes."""

from __future__ import annotations

from typing import Any

from gradtape.core import dtypes
from gradtape.core.convert import convert, to_shape_tuple
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.shapes import normalize_axes
from gradtape.core.tensor import Tensor
from gradtape.ops import elementwise as e
from gradtape.ops import shape as s
from gradtape.ops.signal import fft as spectral
from gradtape.tf.public_op import COMPLEX, FULL_FLOATS, check_dtype


def apply_fft(function: Any, op: str, value: Any, rank: int) -> Tensor:
    """Apply a transform along each of the last `rank` axes."""
    x = check_dtype(op, convert(value, hint=dtypes.complex64), COMPLEX)
    if x._array.ndim < rank:
        raise InvalidArgumentError(
            f"{op}: input must have at least rank {rank} but got: {x._array.ndim}."
        )
    for axis in range(-1, -rank - 1, -1):
        x = function(x, axis=axis)
    return x


@public
def fft(input: Any, name: str | None = None) -> Tensor:
    """Fourier transform of the last axis of a complex tensor.

    Args:
        input: a complex tensor.
        name: has no effect here.

    Returns:
        A tensor like `input`.

    Example:
        >>> tf.signal.fft(tf.constant([1.0, 0.0, 0.0, 0.0], tf.complex64)).numpy()
        array([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j], dtype=complex64)
    """
    return apply_fft(spectral.fft, "FFT", input, 1)


@public
def ifft(input: Any, name: str | None = None) -> Tensor:
    """Inverse Fourier transform of the last axis of a complex tensor.

    Args:
        input: a complex tensor.
        name: has no effect here.

    Returns:
        A tensor like `input`.

    Example:
        >>> tf.signal.ifft(tf.signal.fft(tf.constant([1.0, 2.0], tf.complex64))).numpy().real
        array([1., 2.], dtype=float32)
    """
    return apply_fft(spectral.ifft, "IFFT", input, 1)


@public
def fft2d(input: Any, name: str | None = None) -> Tensor:
    """Fourier transform of the last two axes of a complex tensor.

    Args:
        input: a complex tensor.
        name: has no effect here.

    Returns:
        A tensor like `input`.

    Example:
        >>> tf.signal.fft2d(tf.ones([2, 2], tf.complex64)).numpy().real
        array([[4., 0.],
               [0., 0.]], dtype=float32)
    """
    return apply_fft(spectral.fft, "FFT2D", input, 2)


@public
def ifft2d(input: Any, name: str | None = None) -> Tensor:
    """Inverse Fourier transform of the last two axes of a complex tensor.

    Args:
        input: a complex tensor.
        name: has no effect here.

    Returns:
        A tensor like `input`.

    Example:
        >>> tf.signal.ifft2d(tf.ones([2, 2], tf.complex64)).numpy().real
        array([[1., 0.],
               [0., 0.]], dtype=float32)
    """
    return apply_fft(spectral.ifft, "IFFT2D", input, 2)


@public
def fft3d(input: Any, name: str | None = None) -> Tensor:
    """Fourier transform of the last three axes of a complex tensor.

    Args:
        input: a complex tensor.
        name: has no effect here.

    Returns:
        A tensor like `input`.
    """
    return apply_fft(spectral.fft, "FFT3D", input, 3)


@public
def ifft3d(input: Any, name: str | None = None) -> Tensor:
    """Inverse Fourier transform of the last three axes of a complex tensor.

    Args:
        input: a complex tensor.
        name: has no effect here.

    Returns:
        A tensor like `input`.
    """
    return apply_fft(spectral.ifft, "IFFT3D", input, 3)


def crop_or_pad(x: Tensor, lengths: tuple[int, ...]) -> Any:
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


def as_fft_operand(op: str, value: Any, hint: Any, allowed: frozenset[Any], rank: int) -> Tensor:
    """Convert to a tensor; raise unless it has an allowed dtype and at least this rank."""
    x = convert(value, hint=hint)
    if x._array.dtype not in allowed:
        listed = " or ".join(sorted(str(dtype) for dtype in allowed))
        raise ValueError(f"{op}: input must be {listed}. Received {x.dtype.name}. Cast it first.")
    if x._array.ndim < rank:
        raise ValueError(f"{op}: Shape {x._array.shape} must have rank at least {rank}.")
    return x


def apply_rfft(op: str, value: Any, fft_length: Any, rank: int) -> Tensor:
    """Transform real input: rfft along the last axis, fft along the other `rank` - 1."""
    x = as_fft_operand(op, value, dtypes.float32, FULL_FLOATS, rank)
    lengths = x._array.shape[-rank:] if fft_length is None else to_shape_tuple(fft_length)
    if len(lengths) != rank:
        raise InvalidArgumentError(
            f"{op}: fft_length must have {rank} entries. Received {list(lengths)}."
        )
    fitted = crop_or_pad(x, lengths)
    if not lengths[-1]:
        return e.cast(fitted, dtype=spectral.complex_of(x._array.dtype))
    out = spectral.rfft(fitted)
    for axis in range(-2, -rank - 1, -1):
        out = spectral.fft(out, axis=axis)
    return out


def apply_irfft(op: str, value: Any, fft_length: Any, rank: int) -> Tensor:
    """The inverse of `apply_rfft`."""
    x = as_fft_operand(op, value, dtypes.complex64, COMPLEX, rank)
    have = x._array.shape
    if fft_length is None:
        lengths = (*have[len(have) - rank : -1], max(2 * (have[-1] - 1), 0))
    else:
        lengths = to_shape_tuple(fft_length)
    if len(lengths) != rank:
        raise InvalidArgumentError(
            f"{op}: fft_length must have {rank} entries. Received {list(lengths)}."
        )
    if not lengths[-1]:
        return e.real(crop_or_pad(x, lengths))
    out = crop_or_pad(x, (*lengths[:-1], lengths[-1] // 2 + 1))
    for axis in range(-rank, -1):
        out = spectral.ifft(out, axis=axis)
    return spectral.irfft(out, length=lengths[-1])


@public
def rfft(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """Fourier transform of a real last axis: the non-negative frequencies.

    Args:
        input_tensor: float32 or float64, (..., n).
        fft_length: a list with the length to truncate or pad to; n if None.
        name: has no effect here.

    Returns:
        A complex tensor (..., fft_length // 2 + 1).

    Example:
        >>> tf.signal.rfft([1.0, 1.0, 1.0, 1.0]).numpy().real
        array([4., 0., 0.], dtype=float32)
    """
    return apply_rfft("RFFT", input_tensor, fft_length, 1)


@public
def irfft(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """The inverse of `rfft`: a real last axis from its non-negative frequencies.

    Args:
        input_tensor: a tensor.
        fft_length: the length along each transformed axis, or None.
        name: has no effect here.

    Returns:
        A real tensor.

    Example:
        >>> tf.signal.irfft(tf.signal.rfft([1.0, 2.0, 3.0, 4.0])).numpy().round(3)
        array([1., 2., 3., 4.], dtype=float32)
    """
    return apply_irfft("IRFFT", input_tensor, fft_length, 1)


@public
def rfft2d(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """Fourier transform of two real last axes; non-negative frequencies of the last.

    Args:
        input_tensor: a tensor.
        fft_length: the length along each transformed axis, or None.
        name: has no effect here.

    Returns:
        A complex tensor.
    """
    return apply_rfft("RFFT2D", input_tensor, fft_length, 2)


@public
def irfft2d(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """The inverse of `rfft2d`.

    Args:
        input_tensor: a tensor.
        fft_length: the length along each transformed axis, or None.
        name: has no effect here.

    Returns:
        A real tensor.
    """
    return apply_irfft("IRFFT2D", input_tensor, fft_length, 2)


@public
def rfft3d(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """Fourier transform of three real last axes; non-negative frequencies of the last.

    Args:
        input_tensor: a tensor.
        fft_length: the length along each transformed axis, or None.
        name: has no effect here.

    Returns:
        A complex tensor.
    """
    return apply_rfft("RFFT3D", input_tensor, fft_length, 3)


@public
def irfft3d(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """The inverse of `rfft3d`.

    Args:
        input_tensor: a tensor.
        fft_length: the length along each transformed axis, or None.
        name: has no effect here.

    Returns:
        A real tensor.
    """
    return apply_irfft("IRFFT3D", input_tensor, fft_length, 3)


def roll_by_half(x: Any, axes: Any, back: bool) -> Tensor:
    """Roll axes by half their length, backwards if `back`."""
    tensor = convert(x)
    n = tensor._array.ndim
    for axis in normalize_axes(None if axes is None else to_shape_tuple(axes), n, "fftshift"):
        half = tensor._array.shape[axis] // 2
        tensor = s.roll(tensor, shift=-half if back else half, axis=axis)
    return tensor


@public
def fftshift(x: Any, axes: Any = None, name: str | None = None) -> Tensor:
    """`x` with the zero frequency moved to the middle of `axes` (all, if None).

    Args:
        x: a tensor.
        axes: axes, or None.
        name: has no effect here.

    Returns:
        A tensor like `x`.

    Example:
        >>> tf.signal.fftshift([0, 1, 2, 3]).numpy()
        array([2, 3, 0, 1], dtype=int32)
    """
    return roll_by_half(x, axes, back=False)


@public
def ifftshift(x: Any, axes: Any = None, name: str | None = None) -> Tensor:
    """The inverse of `fftshift`.

    Args:
        x: a tensor.
        axes: axes, or None.
        name: has no effect here.

    Returns:
        A tensor like `x`.

    Example:
        >>> tf.signal.ifftshift([0, 1, 2, 3]).numpy()
        array([2, 3, 0, 1], dtype=int32)
    """
    return roll_by_half(x, axes, back=True)
