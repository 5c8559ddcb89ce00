"""Overlapping frames of a signal, and their sum."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.dtypes import accumulator
from gradtape.core.primitive import primitive
from gradtape.core.size_function import max_size


def count_frames(size: int, length: int, step: int) -> int:
    """Number of whole frames in a signal of this size."""
    return max_size((size - length) // step + 1, 0)


def frame_shape(x, length, step):
    return (*x.shape[:-1], count_frames(x.shape[-1], length, step), length)


@primitive(
    x=lambda g, x_spec, step: overlap_add(g, step=step, size=x_spec.shape[-1]), shape=frame_shape
)
def frame(x, *, length: int, step: int):
    """Frames of the last axis, `step` apart: (..., frames, length)."""
    count = count_frames(x.shape[-1], length, step)
    if not count or not length:
        return np.empty((*x.shape[:-1], count, length), x.dtype)
    windows = np.lib.stride_tricks.sliding_window_view(x, length, axis=-1)
    return windows[..., : (count - 1) * step + 1 : step, :]


@frame.lower
def lower_frame(x, *, length, step):
    count = count_frames(x.shape[-1], length, step)
    where = np.arange(count)[:, None] * step + np.arange(length)
    return np.take(x, where, axis=-1)


@primitive(
    x=lambda g, x_spec, step: frame(g, length=x_spec.shape[-1], step=step),
    shape=lambda x, step, size: (*x.shape[:-2], size),
)
def overlap_add(x, *, step: int, size: int):
    """Adjoint of `frame`: the sum of frames (..., frames, length) in a signal of this size."""
    return sum_frames(x, step, size, add_at_slice)


@overlap_add.lower
def lower_overlap_add(x, *, step, size):
    return sum_frames(x, step, size, lower_add_at_slice)


def sum_frames(x: Any, step: int, size: int, adder: Any) -> Any:
    """Kernel of `overlap_add`: the k-th pieces (`step` long) of all frames are adjacent."""
    frames, length = x.shape[-2:]
    pieces = -(-length // step)
    lead = x.shape[:-2]
    rows = max(frames + pieces, -(-size // step))
    total = np.zeros((*lead, rows, step), accumulator(x.dtype))
    for k in range(pieces):
        part = x[..., k * step : (k + 1) * step]
        key = (..., slice(k, k + frames), slice(0, part.shape[-1]))
        total = adder(total, key, part)
    flat = total.reshape(*lead, rows * step)
    return flat[..., :size].astype(x.dtype, copy=False)


def add_at_slice(total: Any, key: Any, part: Any) -> Any:
    """Add `part` in place to the view `total[key]`."""
    total[key] += part
    return total


def lower_add_at_slice(total: Any, key: Any, part: Any) -> Any:
    """Add `part` to `total[key]` of an immutable JAX array."""
    return total.at[key].add(part)
