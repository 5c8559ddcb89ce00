"""tf.signal's discrete cosine transforms: dct, idct, mdct and its inverse."""

from __future__ import annotations

import math
from typing import Any

from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.size_constant import compute_constant, scale_power
from gradtape.core.tensor import Tensor
from gradtape.ops import elementwise as e
from gradtape.ops import shape as s
from gradtape.ops.signal.dct import cosine_transform, pad_last_to
from gradtape.tf.public_op import FULL_FLOATS
from gradtape.tf.signal.frame import as_integer_scalar, check_least_rank, frame, overlap_and_add
from gradtape.tf.signal.window import vorbis_window

INVERSE_DCT_TYPES = {1: 1, 2: 3, 3: 2, 4: 4}


def apply_dct(op: str, value: Any, kind: Any, n: Any, axis: Any, norm: Any, back: bool) -> Tensor:
    """Check the arguments and transform the last axis."""
    if axis != -1:
        raise NotImplementedError(f"{op}: axis must be -1. Received {axis}. Transpose first.")
    if n is not None and n < 1:
        raise ValueError(f"{op}: n should be a positive integer or None. Received {n}.")
    if kind not in INVERSE_DCT_TYPES:
        raise ValueError(f"{op}: type must be 1, 2, 3 or 4. Received {kind}.")
    if norm not in (None, "ortho"):
        raise ValueError(f"{op}: norm must be None or 'ortho'. Received {norm!r}.")
    x = convert(value)
    check_least_rank(op, x, 1)
    if kind == 1 and norm == "ortho":
        raise ValueError(f"{op}: norm must be None for type 1. Received 'ortho'.")
    if kind == 1 and x._array.shape[-1] < 2:
        raise ValueError(f"{op}: type 1 requires the dimension to be greater than one.")
    dtype = x._array.dtype
    if dtype not in FULL_FLOATS:
        raise TypeError(f"{op}: input must be float32 or float64. Received {dtype}. Cast it first.")
    if n is not None:
        size = as_integer_scalar(op, "n", n)
        have = x._array.shape[-1]
        x = s.slice_axis(x, axis=-1, start=0, size=size) if size < have else pad_last_to(x, size)
    if not x._array.shape[-1]:
        return x
    result: Tensor = cosine_transform(
        x, kind=INVERSE_DCT_TYPES[kind] if back else kind, dtype=dtype, ortho=norm == "ortho"
    )
    return result


@public
def dct(
    input: Any,
    type: int = 2,
    n: Any = None,
    axis: int = -1,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """Discrete cosine transform of the last axis.

    Args:
        input: float32 or float64, (..., samples).
        type: 1, 2, 3 or 4.
        n: length to truncate or pad the samples to; unchanged if None.
        axis: must be -1.
        norm: None, or "ortho" for an orthogonal transform (not of type 1).
        name: has no effect here.

    Returns:
        (..., n).

    Example:
        >>> tf.signal.dct([1.0, 1.0, 1.0]).numpy().round(3).tolist()
        [6.0, 0.0, 0.0]
    """
    return apply_dct("dct", input, type, n, axis, norm, back=False)


@public
def idct(
    input: Any,
    type: int = 2,
    n: Any = None,
    axis: int = -1,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The inverse of `dct`, up to a factor unless `norm` is "ortho".

    Args:
        input: a tensor of floats.
        type: 1, 2, 3 or 4.
        n: has no effect here.
        axis: the last axis, -1.
        norm: None or "ortho".
        name: has no effect here.

    Returns:
        A tensor like `input`.

    Example:
        >>> tf.signal.idct(tf.signal.dct([1.0, 2.0], norm="ortho"), norm="ortho").numpy().round(3)
        array([1., 2.], dtype=float32)
    """
    return apply_dct("idct", input, type, n, axis, norm, back=True)


def apply_mdct_window(frames: Any, window_fn: Any, length: int) -> Any:
    """Multiply frames by a window, or by sqrt(1/2) if there is none, so `mdct` is invertible."""
    dtype = frames.dtype
    if window_fn is None:
        return e.multiply(frames, dtype.as_numpy_dtype(math.sqrt(0.5)))
    return e.multiply(frames, convert(window_fn(length, dtype=dtype), dtype))


def reverse_last_axis(x: Any) -> Any:
    """Reverse the last axis."""
    return s.flip(x, axes=(-1,))


@public
def mdct(
    signals: Any,
    frame_length: Any,
    window_fn: Any = vorbis_window,
    pad_end: bool = False,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """Modified discrete cosine transform of half-overlapping frames.

    Args:
        signals: float32 or float64, (..., samples).
        frame_length: samples in a frame, a multiple of four.
        window_fn: function of (length, dtype=...) that returns a window, or None.
        pad_end: whether to pad with zeros so that every sample is in a frame.
        norm: None or "ortho".
        name: has no effect here.

    Returns:
        (..., frames, frame_length // 2).
    """
    x = convert(signals)
    check_least_rank("mdct", x, 1)
    length = as_integer_scalar("mdct", "frame_length", frame_length)
    if length % 4:
        raise ValueError(f"mdct: frame_length must be a multiple of 4. Received {length}.")
    frames = apply_mdct_window(frame(x, length, length // 2, pad_end=pad_end), window_fn, length)
    a, b, c, d = s.split(frames, axis=-1, sizes=(length // 4,) * 4)
    first = e.negative(e.add(reverse_last_axis(c), d))
    second = e.subtract(a, reverse_last_axis(b))
    return dct(s.concat(first, second, axis=-1), type=4, norm=norm)


@public
def inverse_mdct(
    mdcts: Any, window_fn: Any = vorbis_window, norm: str | None = None, name: str | None = None
) -> Tensor:
    """The inverse of `mdct` for the same window and norm: (..., samples).

    Args:
        mdcts: a tensor (..., frames, half of the frame).
        window_fn: function of a length that returns a window, or None.
        norm: None or "ortho".
        name: has no effect here.

    Returns:
        A tensor (..., samples).
    """
    x = convert(mdcts)
    check_least_rank("inverse_mdct", x, 2)
    if norm not in (None, "ortho"):
        raise ValueError(f"inverse_mdct: norm must be None or 'ortho'. Received {norm!r}.")
    half = x._array.shape[-1]
    if half % 2:
        raise InvalidArgumentError(
            f"inverse_mdct: the last dimension must be even. Received {half}."
        )
    out = dct(x, type=4, norm=norm)
    if norm is None:
        out = e.multiply(out, compute_constant(scale_power, half, 0.5, -1.0, out._array.dtype))
    a, b = s.split(out, axis=-1, sizes=(half // 2,) * 2)
    mirrored = (
        b,
        e.negative(reverse_last_axis(b)),
        e.negative(reverse_last_axis(a)),
        e.negative(a),
    )
    frames = s.concat(*mirrored, axis=-1)
    return overlap_and_add(apply_mdct_window(frames, window_fn, 2 * half), half)
