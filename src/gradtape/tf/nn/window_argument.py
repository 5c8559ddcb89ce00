"""Conversion of TensorFlow's strides, paddings and data formats to a Window."""

from __future__ import annotations

from typing import Any

from gradtape.core.argument import as_host_array, describe
from gradtape.core.convert import to_shape_tuple
from gradtape.core.errors import InvalidArgumentError, UnimplementedError
from gradtape.core.size_function import max_size
from gradtape.ops import shape as s
from gradtape.ops.convolution.window import Window

CHANNELS_FIRST = ("NCW", "NCHW", "NCDHW", "NCL")


def expand_to_spatial(
    value: Any, n: int, channels_first: bool, op: str, what: str
) -> tuple[int, ...]:
    """Expand 1, `n` or `n` + 2 numbers (with batch and channels) to one for each spatial axis."""
    numbers = (1,) if value is None else to_shape_tuple(value)
    if len(numbers) == 1:
        numbers = numbers * n
    elif len(numbers) == n + 2:
        inner = slice(2, None) if channels_first else slice(1, -1)
        deep = numbers[1 if channels_first else -1]
        # TensorFlow's pools ignore the stride of the channels.
        check_outer_axes(op, (numbers[0], 1 if "Pool" in op and what == "strides" else deep), what)
        numbers = numbers[inner]
    elif len(numbers) != n:
        kind = InvalidArgumentError if op in KERNEL_CHECKED_OPS else ValueError
        raise kind(f"{op}: {what} must have length 1, {n} or {n + 2}. Received {list(numbers)}.")
    if min(numbers, default=1) < 1:
        raise InvalidArgumentError(f"{op}: {what} must be positive. Received {list(numbers)}.")
    return numbers


# Ops whose strides TensorFlow checks in the kernel, not in Python.
KERNEL_CHECKED_OPS = ("Conv3D", "DepthwiseConv2dNative", "Conv3DTranspose")


def check_outer_axes(op: str, outer: tuple[int, ...], what: str) -> None:
    """Raise unless the numbers for batch and channels are 1."""
    if outer == (1, 1):
        return
    kind = (
        InvalidArgumentError if op in KERNEL_CHECKED_OPS or min(outer) < 0 else UnimplementedError
    )
    raise kind(
        f"{op}: {what} of the batch and the channels must be 1. Received {list(outer)}. "
        "Slice the tensor instead."
    )


def make_window(
    op: str,
    spatial: tuple[int, ...],
    size: tuple[int, ...],
    strides: tuple[int, ...],
    dilations: tuple[int, ...],
    padding: Any,
    channels_first: bool,
) -> Window:
    """Make the window that TensorFlow's arguments describe."""
    unpadded = Window(size, strides, dilations, ((0, 0),) * len(size))
    if not isinstance(padding, str):
        window = unpadded._replace(
            paddings=parse_explicit_padding(op, padding, len(size), channels_first)
        )
        return check_window_fits(op, window, spatial)
    if padding == "VALID":
        return check_window_fits(op, unpadded, spatial)
    if padding != "SAME":
        raise InvalidArgumentError(
            f"{op}: padding must be 'SAME', 'VALID' or a list. Received {padding!r}."
        )
    pairs = []
    for n, span, stride in zip(spatial, unpadded.reach(), strides, strict=True):
        missing = max_size((-(-n // stride) - 1) * stride + span - n, 0)
        pairs.append((missing // 2, missing - missing // 2))
    return unpadded._replace(paddings=tuple(pairs))


def parse_explicit_padding(
    op: str, padding: Any, n: int, channels_first: bool
) -> tuple[tuple[int, int], ...]:
    """Check a list with a pair for each axis, and return the pairs of the spatial axes."""
    rows = as_host_array(padding, f"{op}: padding")
    if rows.ndim != 2 or rows.shape[1] != 2 or rows.dtype.kind not in "iu":
        raise InvalidArgumentError(
            f"{op}: padding must be 'SAME', 'VALID' or a list of pairs of integers. Received "
            f"{describe(padding)}."
        )
    pairs = [(int(low), int(high)) for low, high in rows]
    outer = (pairs[:2] if channels_first else [pairs[0], pairs[-1]]) if pairs else []
    negative = any(min(pair) < 0 for pair in pairs)
    if len(pairs) != n + 2 or negative or any(any(pair) for pair in outer):
        raise InvalidArgumentError(
            f"{op}: padding must be {n + 2} pairs, none negative, and zero for the batch and the "
            f"channels. Received {padding}."
        )
    return tuple(pairs[2:] if channels_first else pairs[1:-1])


def check_window_fits(op: str, window: Window, spatial: tuple[int, ...]) -> Window:
    """Raise if the window is so much larger than the input that the output size is negative."""
    for n, span, stride, ends in zip(
        spatial, window.reach(), window.strides, window.paddings, strict=True
    ):
        if n + sum(ends) - span <= -2 * stride:
            raise InvalidArgumentError(
                f"{op}: Computed output size would be negative: a window that spans {span} in an "
                f"input of size {n}. Pad the input, or use a smaller window."
            )
    return window


def to_channels_last(x: Any, channels_first: bool) -> Any:
    """Move the channels of `x` last."""
    n = x._array.ndim
    return s.permute_axes(x, (0, *range(2, n), 1)) if channels_first else x


def from_channels_last(x: Any, channels_first: bool) -> Any:
    """Move the channels of `x` from the last axis back to the caller's position."""
    n = x._array.ndim
    return s.permute_axes(x, (0, n - 1, *range(1, n - 1))) if channels_first else x
