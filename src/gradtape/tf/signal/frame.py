"""tf.signal's frame and overlap_and_add: signals to overlapping frames and back."""

from __future__ import annotations

from typing import Any

from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, OutOfBoundsError, public
from gradtape.core.tensor import Tensor
from gradtape.ops import shape as s
from gradtape.ops.reduce import broadcast_to, reduce_sum
from gradtape.ops.signal import frame as f
from gradtape.tf.array.pad import pad_with_scalar


def as_integer_scalar(op: str, what: str, value: Any) -> int:
    """Convert a number or tensor to an int; raise unless it is a scalar integer."""
    raw = convert(value)._array
    if raw.ndim:
        raise ValueError(f"{op}: {what} must be a scalar. Received shape {raw.shape}.")
    if raw.dtype.kind not in "iu":
        raise ValueError(f"{op}: {what} must be an integer. Received {raw}.")
    return int(raw)


def check_least_rank(op: str, tensor: Tensor, least: int) -> None:
    """Raise unless the tensor has at least `least` axes."""
    shape = tensor._array.shape
    if len(shape) < least:
        raise ValueError(f"{op}: Shape {shape} must have rank at least {least}.")


def check_frame_sizes(op: str, frame_length: int, frame_step: int) -> None:
    """Raise unless `frame_length` is non-negative and `frame_step` positive."""
    if frame_length < 0 or frame_step < 1:
        raise InvalidArgumentError(
            f"{op}: frame_length must not be negative, and frame_step must be positive. Received "
            f"frame_length={frame_length}, frame_step={frame_step}."
        )


@public
def frame(
    signal: Any,
    frame_length: Any,
    frame_step: Any,
    pad_end: bool = False,
    pad_value: Any = 0,
    axis: Any = -1,
    name: str | None = None,
) -> Tensor:
    """Overlapping frames of a signal, `frame_step` samples apart.

    Args:
        signal: (..., samples, ...), of any dtype.
        frame_length: samples in a frame.
        frame_step: samples from one frame to the next.
        pad_end: whether to pad with `pad_value` so that every sample is in a frame.
        pad_value: value of the padding.
        axis: of the samples.
        name: has no effect here.

    Returns:
        (..., frames, frame_length, ...).

    Example:
        >>> tf.signal.frame([1, 2, 3, 4], 2, 1).numpy().tolist()
        [[1, 2], [2, 3], [3, 4]]
    """
    x = convert(signal)
    check_least_rank("frame", x, 1)
    length = as_integer_scalar("frame", "frame_length", frame_length)
    step = as_integer_scalar("frame", "frame_step", frame_step)
    check_frame_sizes("frame", length, step)
    rank = x._array.ndim
    at = as_integer_scalar("frame", "axis", axis)
    if not -rank <= at < rank:
        raise OutOfBoundsError(f"frame: axis {at} is out of range for a signal of rank {rank}.")
    behind = rank - 1 - at % rank
    if pad_end:
        size = x._array.shape[at]
        missing = max(0, length + step * (-(-size // step) - 1) - size)
        around = ((0, missing), *((0, 0),) * behind)
        x = pad_with_scalar(x, around, convert(pad_value, x.dtype))
    if behind:
        x = s.transpose(x, perm=(*range(-behind, 0), -behind - 1))
    x = f.frame(x, length=length, step=step)
    if behind:
        x = s.transpose(x, perm=(-2, -1, *range(-behind - 2, -2)))
    return x


@public
def overlap_and_add(signal: Any, frame_step: Any, name: str | None = None) -> Tensor:
    """A signal from overlapping frames, whose overlaps are added.

    Args:
        signal: (..., frames, frame_length).
        frame_step: samples from one frame to the next.
        name: has no effect here.

    Returns:
        (..., (frames - 1) * frame_step + frame_length).

    Example:
        >>> tf.signal.overlap_and_add([[1.0, 1.0], [1.0, 1.0]], 1).numpy()
        array([1., 2., 1.], dtype=float32)
    """
    x = convert(signal)
    check_least_rank("overlap_and_add", x, 2)
    step = as_integer_scalar("overlap_and_add", "frame_step", frame_step)
    frames, length = x._array.shape[-2:]
    check_frame_sizes("overlap_and_add", length, step)
    size = max(length + step * (frames - 1), 0)
    if not frames or not length:  # zeros that stay connected to the input, for its gradient
        lead = x._array.shape[:-2]
        none = reduce_sum(x, axis=(-2, -1), keepdims=False)
        column = s.reshape(none, shape=(*lead, 1), rank=len(lead))
        return broadcast_to(column, shape=(*lead, size), rank=len(lead) + 1)
    result: Tensor = f.overlap_add(x, step=step, size=size)
    return result
