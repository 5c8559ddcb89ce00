"""tf.signal's short-time Fourier transform, its inverse and the inverse window."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtape.core.convert import convert
from gradtape.core.errors import public
from gradtape.core.tensor import Tensor
from gradtape.ops import elementwise as e
from gradtape.ops import reduce as r
from gradtape.ops import shape as s
from gradtape.tf.signal.fft import crop_or_pad, irfft, rfft
from gradtape.tf.signal.frame import (
    as_integer_scalar,
    check_frame_sizes,
    check_least_rank,
    frame,
    overlap_and_add,
)
from gradtape.tf.signal.window import hann_window


def resolve_stft_lengths(op: str, frame_length: Any, fft_length: Any) -> tuple[int, int]:
    """Frame length and transform length; the latter defaults to the next power of two."""
    length = as_integer_scalar(op, "frame_length", frame_length)
    enclosing = 1 << max(length - 1, 0).bit_length()
    return length, enclosing if fft_length is None else as_integer_scalar(
        op, "fft_length", fft_length
    )


def apply_window(frames: Any, window_fn: Any, length: int) -> Any:
    """Multiply frames by a window, if there is one."""
    if window_fn is None:
        return frames
    return e.multiply(frames, convert(window_fn(length, dtype=frames.dtype), frames.dtype))


@public
def stft(
    signals: Any,
    frame_length: Any,
    frame_step: Any,
    fft_length: Any = None,
    window_fn: Any = hann_window,
    pad_end: bool = False,
    name: str | None = None,
) -> Tensor:
    """Short-time Fourier transform of real signals.

    Args:
        signals: float32 or float64, (..., samples).
        frame_length: samples in a frame.
        frame_step: samples from one frame to the next.
        fft_length: of the transforms; the smallest power of two >= frame_length if None.
        window_fn: function of (frame_length, dtype=...) that returns a window, or None.
        pad_end: whether to pad with zeros so that every sample is in a frame.
        name: has no effect here.

    Returns:
        A complex tensor (..., frames, fft_length // 2 + 1).

    Example:
        >>> tf.signal.stft(tf.ones([64]), frame_length=16, frame_step=8).shape
        TensorShape([7, 9])
    """
    x = convert(signals)
    check_least_rank("stft", x, 1)
    length, size = resolve_stft_lengths("stft", frame_length, fft_length)
    frames = frame(x, length, frame_step, pad_end=pad_end)
    return rfft(apply_window(frames, window_fn, length), [size])


@public
def inverse_stft(
    stfts: Any,
    frame_length: Any,
    frame_step: Any,
    fft_length: Any = None,
    window_fn: Any = hann_window,
    name: str | None = None,
) -> Tensor:
    """Real signals from short-time Fourier transforms.

    It is the inverse of `stft` if `window_fn` comes from `inverse_stft_window_fn`.

    Args:
        stfts: complex, (..., frames, fft_length // 2 + 1).
        frame_length: samples in a frame.
        frame_step: samples from one frame to the next.
        fft_length: of the transforms; the smallest power of two >= frame_length if None.
        window_fn: function of (frame_length, dtype=...) that returns a window, or None.
        name: has no effect here.

    Returns:
        (..., (frames - 1) * frame_step + frame_length).

    Example:
        >>> stft = tf.signal.stft(tf.ones([64]), 16, 8)
        >>> tf.signal.inverse_stft(stft, 16, 8).shape
        TensorShape([64])
    """
    x = convert(stfts)
    check_least_rank("inverse_stft", x, 2)
    length, size = resolve_stft_lengths("inverse_stft", frame_length, fft_length)
    frames = crop_or_pad(irfft(x, [size]), (length,))
    return overlap_and_add(apply_window(frames, window_fn, length), frame_step)


@public
def inverse_stft_window_fn(
    frame_step: Any, forward_window_fn: Any = hann_window, name: str | None = None
) -> Callable[..., Tensor]:
    """A `window_fn` that makes `inverse_stft` the inverse of `stft` with `forward_window_fn`.

    Args:
        frame_step: samples from one frame to the next.
        forward_window_fn: the window of `stft`.
        name: has no effect here.

    Returns:
        A function of (frame_length, dtype) that returns a window (Griffin and Lim 1984, eq. 7).
    """
    step = as_integer_scalar("inverse_stft_window_fn", "frame_step", frame_step)

    def window_fn(frame_length: Any, dtype: Any) -> Tensor:
        length = as_integer_scalar("inverse_stft_window_fn", "frame_length", frame_length)
        check_frame_sizes("inverse_stft_window_fn", length, step)
        window = convert(forward_window_fn(length, dtype=dtype))
        count = -(-length // step)
        rows = s.pad(e.square(window), paddings=((0, count * step - length),), value=0)
        rows = s.reshape(rows, shape=(count, step), rank=1)
        total = r.reduce_sum(rows, axis=(-2,), keepdims=True)
        total = r.broadcast_to(total, shape=(count, step), rank=2)
        total = s.slice_axis(
            s.reshape(total, shape=(count * step,), rank=2), axis=-1, start=0, size=length
        )
        is_zero = e.equal(total, e.zeros_like(total))
        result: Tensor = e.select(is_zero, e.zeros_like(window), e.divide(window, total))
        return result

    return window_fn
