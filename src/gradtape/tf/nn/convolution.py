"""Convolutions of tf.nn."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from gradtape.core.context import current_trace
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.open_shape import has_dims
from gradtape.core.tensor import Tensor
from gradtape.ops import shape as s
from gradtape.ops.convolution import convolution as convolution_ops
from gradtape.ops.convolution.window import Window
from gradtape.ops.elementwise import gate
from gradtape.ops.reduce import broadcast_to, reduce_sum
from gradtape.tf.nn.window_argument import (
    CHANNELS_FIRST,
    KERNEL_CHECKED_OPS,
    expand_to_spatial,
    from_channels_last,
    make_window,
    to_channels_last,
)
from gradtape.tf.public_op import (
    FLOATS,
    as_numpy_dtypes,
    check_dtype,
    check_same_dtype,
    convert_pair,
)

CONVOLUTION_DTYPES = FLOATS | as_numpy_dtypes("int32")


def apply_convolution(
    op: str,
    input: Any,
    filters: Any,
    n: int,
    strides: Any,
    padding: Any,
    dilations: Any,
    data_format: str | None,
) -> Tensor:
    """Check the arguments and convolve over `n` spatial axes, with any number of batch axes."""
    x, w = convert_pair(input, filters)
    check_same_dtype(
        op, check_dtype(op, x, FLOATS if op in KERNEL_CHECKED_OPS else CONVOLUTION_DTYPES), w
    )
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
    x = to_channels_last(x, first)
    channels, depth, outs = x._array.shape[-1], w._array.shape[-2], w._array.shape[-1]
    if not w._array.size and x._array.size:
        raise InvalidArgumentError(f"{op}: filter must not have zero elements.")
    groups = channels // depth if depth else 0
    # TensorFlow supports groups of volumes only in compiled functions.
    ungrouped = n == 3 and not current_trace()
    if not depth or channels % depth or (groups > 1 and (outs % groups or ungrouped)):
        raise InvalidArgumentError(
            f"{op}: input depth must be evenly divisible by filter depth: {channels} vs {depth}."
        )
    window = make_window(
        op,
        x._array.shape[1:-1],
        w._array.shape[:n],
        expand_to_spatial(strides, n, first, op, "strides"),
        expand_to_spatial(dilations, n, first, op, "dilations"),
        padding,
        first,
    )
    if is_empty(x) or is_empty(w):
        out = convolve_empty(x, w, window)
    else:
        out = convolution_ops.convolve(x, w, window=window, groups=groups, order=0)
    out = from_channels_last(out, first)
    if len(batch) > 1:
        return s.reshape(out, shape=(*batch, *out._array.shape[1:]), rank=n + 2)
    return out


def is_empty(x: Any) -> bool:
    """Whether a tensor has no elements; with unknown sizes the kernel finds that out."""
    return not has_dims(x._array.shape) and not x._array.size


def convolve_empty(x: Any, w: Any, window: Window) -> Any:
    """Convolve operands without elements: zeros that depend on both."""
    spatial = x._array.shape[1:-1]
    shape = (x._array.shape[0], *window.outputs(spatial), w._array.shape[-1])
    ends = [reduce_sum(t, axis=tuple(range(-t._array.ndim, 0)), keepdims=False) for t in (x, w)]
    none = gate(ends[0] + ends[1], np.False_)
    return broadcast_to(none, shape=shape, rank=0)


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
    """Convolution of sequences (..., length, channels) with filters (width, channels, outputs).

    Args:
        input: a tensor of floats (batch, ..., channels).
        filters: filters (..., channels, outputs).
        stride: the step of the window.
        padding: "SAME", "VALID", or pairs of numbers for each axis.
        data_format: where the channels are, such as "NHWC" (last) or "NCHW".
        dilations: the distance of neighbouring filter elements.
        name: has no effect here.

    Returns:
        A tensor (..., length, outputs).

    Example:
        >>> x = tf.reshape([1.0, 2.0, 3.0, 4.0], [1, 4, 1])
        >>> tf.nn.conv1d(x, tf.ones([2, 1, 1]), 1, "VALID").numpy().ravel()
        array([3., 5., 7.], dtype=float32)
    """
    return apply_convolution("Conv1D", input, filters, 1, stride, padding, dilations, data_format)


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
        input: (batch, height, width, channels), or channels second for data_format "NCHW".
        filters: (height, width, channels / groups, outputs).
        strides: one number, two, or four: one for each axis of the input.
        padding: "SAME", "VALID", or a pair for each axis.
        data_format: "NHWC" or "NCHW".
        dilations: distance between the elements of the filter, in the form of `strides`.
        name: has no effect here.

    Returns:
        A tensor (batch, height, width, outputs).

    Note:
        Grouped and dilated convolutions have gradients, which TensorFlow's CPU kernels lack.

    Example:
        >>> image = tf.reshape(tf.range(9.0), [1, 3, 3, 1])
        >>> tf.nn.conv2d(image, tf.ones([2, 2, 1, 1]), 1, "VALID").numpy().reshape(2, 2)
        array([[ 8., 12.],
               [20., 24.]], dtype=float32)
    """
    return apply_convolution("Conv2D", input, filters, 2, strides, padding, dilations, data_format)


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
    """Convolution of volumes (batch, depth, height, width, channels).

    Args:
        input: a tensor of floats (batch, ..., channels).
        filters: filters (..., channels, outputs).
        strides: the step of the window, one number or one for each axis.
        padding: "SAME", "VALID", or pairs of numbers for each axis.
        data_format: where the channels are, such as "NHWC" (last) or "NCHW".
        dilations: the distance of neighbouring filter elements.
        name: has no effect here.

    Returns:
        A tensor (batch, depth, height, width, outputs).

    Example:
        >>> tf.nn.conv3d(tf.ones([1, 2, 2, 2, 1]), tf.ones([2, 2, 2, 1, 1]), [1] * 5, "VALID").shape
        TensorShape([1, 1, 1, 1, 1])
    """
    return apply_convolution("Conv3D", input, filters, 3, strides, padding, dilations, data_format)


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
    """Convolution over all spatial axes of the filter.

    Args:
        input: a tensor of floats (batch, ..., channels).
        filters: filters (..., channels, outputs).
        strides: the step of the window, one number or one for each axis.
        padding: "SAME", "VALID", or pairs of numbers for each axis.
        data_format: where the channels are, such as "NHWC" (last) or "NCHW".
        dilations: the distance of neighbouring filter elements.
        name: has no effect here.

    Returns:
        A tensor (batch, ..., outputs).

    Example:
        >>> x = tf.reshape([1.0, 2.0, 3.0, 4.0], [1, 4, 1])
        >>> tf.nn.convolution(x, tf.ones([2, 1, 1])).numpy().ravel()
        array([3., 5., 7.], dtype=float32)
    """
    n = convert(filters)._array.ndim - 2
    first = data_format in CHANNELS_FIRST
    steps = expand_to_spatial(strides, n, first, "Convolution", "strides")
    apart = expand_to_spatial(dilations, n, first, "Convolution", "dilations")
    if max(steps, default=1) > 1 and max(apart, default=1) > 1:
        raise ValueError(
            "convolution: `strides > 1` not supported in conjunction with `dilation_rate > 1`. "
            f"Received: strides={list(steps)} and dilation_rate={list(apart)}. Use tf.nn.conv2d."
        )
    return apply_convolution(
        "Convolution", input, filters, n, strides, padding, dilations, data_format
    )


@public
def atrous_conv2d(
    value: Any, filters: Any, rate: int, padding: Any, name: str | None = None
) -> Tensor:
    """Convolution of images with dilation `rate`.

    Args:
        value: images (batch, height, width, channels).
        filters: filters (..., channels, outputs).
        rate: the distance of neighbouring filter elements.
        padding: "SAME", "VALID", or pairs of numbers for each axis.
        name: has no effect here.

    Returns:
        A tensor (batch, height, width, outputs).
    """
    return apply_convolution("Conv2D", value, filters, 2, 1, padding, rate, "NHWC")


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
    """Convolution of each channel with filters (height, width, channels, multiplier).

    Args:
        input: a tensor of floats (batch, ..., channels).
        filter: filters (height, width, channels, multiplier).
        strides: the step of the window, one number or one for each axis.
        padding: "SAME", "VALID", or pairs of numbers for each axis.
        data_format: where the channels are, such as "NHWC" (last) or "NCHW".
        dilations: the distance of neighbouring filter elements.
        name: has no effect here.

    Returns:
        A tensor (batch, height, width, channels * multiplier).
    """
    x, w = convert_pair(input, filter)
    if x._array.ndim != 4 or w._array.ndim != 4:
        raise InvalidArgumentError(
            "depthwise_conv2d: input and filter must be 4-dimensional. Received shapes "
            f"{list(x._array.shape)} and {list(w._array.shape)}."
        )
    height, width, channels, multiplier = w._array.shape
    first = data_format in CHANNELS_FIRST
    steps = expand_to_spatial(strides, 2, first, "DepthwiseConv2dNative", "strides")
    if steps[0] != steps[1]:
        raise InvalidArgumentError(
            f"depthwise_conv2d: strides must be equal in rows and columns. Received {list(steps)}."
        )
    if x._array.shape[1 if first else -1] != channels:
        raise InvalidArgumentError(
            f"depthwise_conv2d: input and filter must have the same depth: {x._array.shape[-1]} "
            f"vs {channels}."
        )
    grouped = s.reshape(w, shape=(height, width, 1, channels * multiplier), rank=4)
    return apply_convolution(
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
    """`depthwise_conv2d`, followed by a pointwise (1×1) convolution.

    Args:
        input: a tensor of floats (batch, ..., channels).
        depthwise_filter: filters (height, width, channels, multiplier).
        pointwise_filter: filters (1, 1, channels * multiplier, outputs).
        strides: the step of the window, one number or one for each axis.
        padding: "SAME", "VALID", or pairs of numbers for each axis.
        data_format: where the channels are, such as "NHWC" (last) or "NCHW".
        dilations: the distance of neighbouring filter elements.
        name: has no effect here.

    Returns:
        A tensor (batch, height, width, outputs).
    """
    middle = depthwise_conv2d(input, depthwise_filter, strides, padding, data_format, dilations)
    return apply_convolution("Conv2D", middle, pointwise_filter, 2, 1, "VALID", None, data_format)
