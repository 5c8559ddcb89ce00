"""Convolutions of tf.nn: strides, paddings and data formats, put in terms of a Window."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from gradtape.core.convert import convert, shape_tuple
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.tensor import Tensor
from gradtape.ops import convolution as ops
from gradtape.ops import shape as s
from gradtape.ops.window import Window
from gradtape.tf.check import REAL, operand, pair, same

CHANNELS_FIRST = ("NCW", "NCHW", "NCDHW", "NCL")


def spread_out(value: Any, n: int, channels_first: bool, op: str, what: str) -> tuple[int, ...]:
    """One number for each of `n` spatial axes, of one number, `n`, or `n` + 2."""
    numbers = (1,) if value is None else shape_tuple(value)
    if len(numbers) == 1:
        numbers = numbers * n
    elif len(numbers) == n + 2:
        numbers = numbers[2:] if channels_first else numbers[1:-1]
    elif len(numbers) != n:
        raise ValueError(
            f"{op}: {what} must have length 1, {n} or {n + 2}. Received {list(numbers)}."
        )
    if min(numbers, default=1) < 1:
        raise InvalidArgumentError(f"{op}: {what} must be positive. Received {list(numbers)}.")
    return numbers


def window_of(
    op: str,
    spatial: tuple[int, ...],
    size: tuple[int, ...],
    strides: tuple[int, ...],
    dilations: tuple[int, ...],
    padding: Any,
    channels_first: bool,
) -> Window:
    """The window that TensorFlow's arguments describe."""
    bare = Window(size, strides, dilations, ((0, 0),) * len(size))
    if not isinstance(padding, str):
        pairs = [(int(low), int(high)) for low, high in padding]
        inner = pairs[2:] if channels_first else pairs[1:-1]
        return bare._replace(paddings=tuple(inner))
    kind = padding.upper()
    if kind == "VALID":
        return bare
    if kind != "SAME":
        raise InvalidArgumentError(
            f"{op}: padding must be 'SAME', 'VALID' or a list. Received {padding!r}."
        )
    pairs = []
    for n, span, stride in zip(spatial, bare.reach(), strides, strict=True):
        missing = max((-(-n // stride) - 1) * stride + span - n, 0)
        pairs.append((missing // 2, missing - missing // 2))
    return bare._replace(paddings=tuple(pairs))


def to_last(x: Any, channels_first: bool) -> Any:
    """`x` with its channels last."""
    n = x._array.ndim
    return s.permuted(x, (0, *range(2, n), 1)) if channels_first else x


def from_last(x: Any, channels_first: bool) -> Any:
    """`x` with its channels where the caller has them."""
    n = x._array.ndim
    return s.permuted(x, (0, n - 1, *range(1, n - 1))) if channels_first else x


def filtered(
    op: str,
    input: Any,
    filters: Any,
    n: int,
    strides: Any,
    padding: Any,
    dilations: Any,
    data_format: str | None,
) -> Tensor:
    """Convolution over `n` spatial axes, with any number of batch axes in front."""
    x, w = pair(input, filters)
    same(op, x, w)
    operand(op, x, REAL)
    first = data_format in CHANNELS_FIRST
    if x._array.ndim < n + 2 or w._array.ndim != n + 2:
        raise InvalidArgumentError(
            f"{op}: convolution input must be {n + 2}-dimensional, and so must the filter. "
            f"Received shapes {list(x._array.shape)} and {list(w._array.shape)}."
        )
    batch = x._array.shape[: x._array.ndim - n - 1]
    rank = x._array.ndim
    x = (
        s.reshape(x, shape=(prod(batch), *x._array.shape[-n - 1 :]), rank=rank)
        if len(batch) > 1
        else x
    )
    x = to_last(x, first)
    channels, depth, outs = x._array.shape[-1], w._array.shape[-2], w._array.shape[-1]
    if depth == 0 or channels % depth or (channels // depth > 1 and outs % (channels // depth)):
        raise InvalidArgumentError(
            f"{op}: input depth must be evenly divisible by filter depth: {channels} vs {depth}."
        )
    window = window_of(
        op,
        x._array.shape[1:-1],
        w._array.shape[:n],
        spread_out(strides, n, first, op, "strides"),
        spread_out(dilations, n, first, op, "dilations"),
        padding,
        first,
    )
    out = from_last(ops.convolve(x, w, window=window, groups=channels // depth, order=0), first)
    if len(batch) > 1:
        return s.reshape(out, shape=(*batch, *out._array.shape[1:]), rank=n + 2)
    return out


@public
def conv1d(
    input: Any,
    filters: Any,
    stride: Any,
    padding: Any,
    data_format: str = "NWC",
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """Convolution of sequences (..., length, channels) with filters (width, channels, outputs)."""
    return filtered("Conv1D", input, filters, 1, stride, padding, dilations, data_format)


@public
def conv2d(
    input: Any,
    filters: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NHWC",
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """Convolution of images.

    Args:
        input: (batch, height, width, channels), or with the channels second for data_format "NCHW".
        filters: (height, width, channels / groups, outputs).
        strides: one number, two, or four as for the input.
        padding: "SAME", "VALID", or a pair for each axis.
        data_format: "NHWC" or "NCHW".
        dilations: distance of the filter's elements, given as `strides`.
        name: accepted for TensorFlow's sake.

    Note:
        Grouped and dilated convolutions have gradients, which TensorFlow's CPU kernels lack.
    """
    return filtered("Conv2D", input, filters, 2, strides, padding, dilations, data_format)


@public
def conv3d(
    input: Any,
    filters: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NDHWC",
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """Convolution of volumes (batch, depth, height, width, channels)."""
    return filtered("Conv3D", input, filters, 3, strides, padding, dilations, data_format)


@public
def convolution(
    input: Any,
    filters: Any,
    strides: Any = None,
    padding: Any = "VALID",
    data_format: str | None = None,
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """Convolution over as many spatial axes as the filter has."""
    n = convert(filters)._array.ndim - 2
    return filtered("Convolution", input, filters, n, strides, padding, dilations, data_format)


@public
def atrous_conv2d(
    value: Any, filters: Any, rate: int, padding: Any, name: str | None = None
) -> Tensor:
    """Convolution of images with a filter whose elements are `rate` apart."""
    return filtered("Conv2D", value, filters, 2, 1, padding, rate, "NHWC")


def transposed(
    op: str,
    input: Any,
    filters: Any,
    output_shape: Any,
    n: int,
    strides: Any,
    padding: Any,
    dilations: Any,
    data_format: str | None,
) -> Tensor:
    """The adjoint of a convolution; filters are (*size, outputs, channels)."""
    y, w = pair(input, filters)
    same(op, y, w)
    first = data_format in CHANNELS_FIRST
    y = to_last(y, first)
    wanted = shape_tuple(output_shape)
    spatial = wanted[2:] if first else wanted[1:-1]
    if len(wanted) != n + 2:
        spatial = wanted
    window = window_of(
        op,
        spatial,
        w._array.shape[:n],
        spread_out(strides, n, first, op, "strides"),
        spread_out(dilations, n, first, op, "dilations"),
        padding,
        first,
    )
    if window.outputs(spatial) != y._array.shape[1:-1] or w._array.shape[-1] != y._array.shape[-1]:
        raise InvalidArgumentError(
            f"{op}: output_shape {list(wanted)} does not belong to an input of shape "
            f"{list(y._array.shape)} with filters of shape {list(w._array.shape)}. "
            "Check strides and padding."
        )
    return from_last(
        ops.unconvolve(y, w, window=window, groups=1, order=0, spatial=tuple(spatial)), first
    )


def transposition(
    name: str, op: str, n: int | None, data_format: str | None
) -> Callable[..., Tensor]:
    """A public adjoint over `n` spatial axes, or over as many as the filter has."""
    default = data_format

    def transpose(
        input: Any,
        filters: Any,
        output_shape: Any,
        strides: Any,
        padding: Any = "SAME",
        data_format: str | None = default,
        dilations: Any = None,
        name: str | None = None,
    ) -> Tensor:
        axes = convert(filters)._array.ndim - 2 if n is None else n
        return transposed(
            op, input, filters, output_shape, axes, strides, padding, dilations, data_format
        )

    forward = "convolution" if n is None else f"conv{n}d"
    axes = {1: "width", 2: "height, width", 3: "depth, height, width", None: "…"}[n]
    transpose.__name__ = transpose.__qualname__ = name
    transpose.__doc__ = f"""The adjoint of `{forward}`, as a layer of its own.

    Args:
        input: what `{forward}` would give, (batch, {axes}, channels).
        filters: ({axes}, outputs, channels).
        output_shape: of the result, or only its spatial axes.
        strides: of the convolution: one number, one for each spatial axis, or for each axis.
        padding: "SAME", "VALID", or a pair for each axis.
        data_format: where the channels are; by default, last.
        dilations: distance of the filter's elements, given as `strides`.
        name: accepted for TensorFlow's sake.
    """
    return public(transpose)


conv1d_transpose = transposition("conv1d_transpose", "Conv1DTranspose", 1, "NWC")
conv2d_transpose = transposition("conv2d_transpose", "Conv2DTranspose", 2, "NHWC")
conv3d_transpose = transposition("conv3d_transpose", "Conv3DTranspose", 3, "NDHWC")
conv_transpose = transposition("conv_transpose", "ConvTranspose", None, None)


@public
def depthwise_conv2d(
    input: Any,
    filter: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = None,
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """Convolution of each channel with filters (height, width, channels, multiplier)."""
    x, w = pair(input, filter)
    height, width, channels, multiplier = w._array.shape
    first = data_format in CHANNELS_FIRST
    if x._array.shape[1 if first else -1] != channels:
        raise InvalidArgumentError(
            f"depthwise_conv2d: input and filter must have the same depth: {x._array.shape[-1]} "
            f"vs {channels}."
        )
    grouped = s.reshape(w, shape=(height, width, 1, channels * multiplier), rank=4)
    return filtered(
        "DepthwiseConv2dNative", x, grouped, 2, strides, padding, dilations, data_format
    )


@public
def separable_conv2d(
    input: Any,
    depthwise_filter: Any,
    pointwise_filter: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = None,
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """`depthwise_conv2d`, then a convolution of single pixels."""
    middle = depthwise_conv2d(input, depthwise_filter, strides, padding, data_format, dilations)
    return filtered("Conv2D", middle, pointwise_filter, 2, 1, "VALID", None, data_format)
