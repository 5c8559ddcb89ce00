"""Gradients of convolutions as functions, and dilated convolutions by space_to_batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradtape.core.argument import check_callable
from gradtape.core.convert import convert, to_shape_tuple
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.ops import shape as s
from gradtape.ops.convolution import convolution
from gradtape.ops.convolution.window import Window
from gradtape.tf.nn.convolution import apply_convolution
from gradtape.tf.nn.space_to_batch import batch_to_space, space_to_batch
from gradtape.tf.nn.transposed_convolution import apply_transposed_convolution
from gradtape.tf.nn.window_argument import (
    CHANNELS_FIRST,
    expand_to_spatial,
    from_channels_last,
    make_window,
    to_channels_last,
)
from gradtape.tf.public_op import FLOATS, check_dtype, check_same_dtype, convert_pair


@public
def atrous_conv2d_transpose(
    value: Any, filters: Any, output_shape: Any, rate: int, padding: Any, name: str | None = None
) -> Tensor:
    """The adjoint of `tf.nn.atrous_conv2d`; filters are (height, width, outputs, channels).

    Args:
        value: images (batch, height, width, channels).
        filters: filters (height, width, outputs, channels).
        output_shape: the shape of the result.
        rate: the distance of neighbouring filter elements.
        padding: "SAME", "VALID" or "EXPLICIT".
        name: has no effect here.

    Returns:
        A tensor of shape `output_shape`.
    """
    op = "Conv2DTranspose"
    return apply_transposed_convolution(
        op, value, filters, output_shape, 2, 1, padding, rate, "NHWC"
    )


def make_image_window(
    x_shape: tuple[int, ...],
    size: tuple[int, ...],
    strides: Any,
    padding: Any,
    dilations: Any,
    first: bool,
) -> Window:
    """Make the window of a convolution of images (batch, height, width, channels)."""
    op = "DepthwiseConv2dNative"
    return make_window(
        op,
        x_shape[1:-1],
        size,
        expand_to_spatial(strides, 2, first, op, "strides"),
        expand_to_spatial(dilations, 2, first, op, "dilations"),
        padding,
        first,
    )


@public
def depthwise_conv2d_backprop_input(
    input_sizes: Any,
    filter: Any,
    out_backprop: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
) -> Tensor:
    """Gradient of `depthwise_conv2d` with respect to its input, of shape `input_sizes`.

    Args:
        input_sizes: the shape of the input.
        filter: filters (..., channels, outputs).
        out_backprop: the gradient with respect to the result of the convolution.
        strides: the step of the window for each axis.
        padding: "SAME", "VALID" or "EXPLICIT".
        data_format: where the channels are, such as "NHWC" (last) or "NCHW".
        dilations: the distance of neighbouring filter elements.
        name: has no effect here.

    Returns:
        A tensor of shape `input_sizes`.
    """
    w, y = convert_pair(filter, out_backprop)
    check_same_dtype(
        "DepthwiseConv2dNativeBackpropInput", check_dtype("DepthwiseConv2d", w, FLOATS), y
    )
    first = data_format in CHANNELS_FIRST
    y = to_channels_last(y, first)
    height, width, channels, multiplier = w._array.shape
    wanted = to_shape_tuple(input_sizes)
    shape = (wanted[0], *wanted[2:], wanted[1]) if first else wanted
    window = make_image_window(shape, (height, width), strides, padding, dilations, first)
    grouped = s.reshape(w, shape=(height, width, 1, channels * multiplier), rank=4)
    out = convolution.unconvolve(
        y, grouped, window=window, groups=channels, order=0, spatial=tuple(shape[1:-1])
    )
    return from_channels_last(out, first)


@public
def depthwise_conv2d_backprop_filter(
    input: Any,
    filter_sizes: Any,
    out_backprop: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
) -> Tensor:
    """Gradient of `depthwise_conv2d` with respect to its filter, of shape `filter_sizes`.

    Args:
        input: a tensor (batch, ..., channels).
        filter_sizes: the shape of the filter.
        out_backprop: the gradient with respect to the result of the convolution.
        strides: the step of the window for each axis.
        padding: "SAME", "VALID" or "EXPLICIT".
        data_format: where the channels are, such as "NHWC" (last) or "NCHW".
        dilations: the distance of neighbouring filter elements.
        name: has no effect here.

    Returns:
        A tensor of shape `filter_sizes`.
    """
    x, y = convert_pair(input, out_backprop)
    check_same_dtype(
        "DepthwiseConv2dNativeBackpropFilter", check_dtype("DepthwiseConv2d", x, FLOATS), y
    )
    first = data_format in CHANNELS_FIRST
    x, y = to_channels_last(x, first), to_channels_last(y, first)
    height, width, channels, multiplier = to_shape_tuple(filter_sizes)
    window = make_image_window(x._array.shape, (height, width), strides, padding, dilations, first)
    out = convolution.correlate(x, y, window=window, groups=channels, order=0)
    return s.reshape(out, shape=(height, width, channels, multiplier), rank=4)


@public
def conv2d_backprop_input_v2(
    input: Any,
    filter: Any,
    out_backprop: Any,
    strides: Any,
    padding: str,
    use_cudnn_on_gpu: bool = True,
    explicit_paddings: Any = (),
    data_format: str = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
) -> Tensor:
    """Gradient of `conv2d` with respect to its input, of which only the shape is read.

    Args:
        input: a tensor (batch, ..., channels).
        filter: filters (..., channels, outputs).
        out_backprop: the gradient with respect to the result of the convolution.
        strides: the step of the window for each axis.
        padding: "SAME", "VALID" or "EXPLICIT".
        use_cudnn_on_gpu: has no effect here.
        explicit_paddings: numbers of zeros before and after each axis, for "EXPLICIT".
        data_format: where the channels are, such as "NHWC" (last) or "NCHW".
        dilations: the distance of neighbouring filter elements.
        name: has no effect here.

    Returns:
        A tensor of the input's shape.
    """
    pairs = padding if padding != "EXPLICIT" else np.reshape(explicit_paddings, (-1, 2)).tolist()
    shape = convert(input)._array.shape
    op = "Conv2DTranspose"
    return apply_transposed_convolution(
        op, out_backprop, filter, shape, 2, strides, pairs, dilations, data_format
    )


@public
def conv2d_backprop_filter_v2(
    input: Any,
    filter: Any,
    out_backprop: Any,
    strides: Any,
    padding: str,
    use_cudnn_on_gpu: bool = True,
    explicit_paddings: Any = (),
    data_format: str = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
) -> Tensor:
    """Gradient of `conv2d` with respect to its filter, of which only the shape is read.

    Args:
        input: a tensor (batch, ..., channels).
        filter: filters (..., channels, outputs).
        out_backprop: the gradient with respect to the result of the convolution.
        strides: the step of the window for each axis.
        padding: "SAME", "VALID" or "EXPLICIT".
        use_cudnn_on_gpu: has no effect here.
        explicit_paddings: numbers of zeros before and after each axis, for "EXPLICIT".
        data_format: where the channels are, such as "NHWC" (last) or "NCHW".
        dilations: the distance of neighbouring filter elements.
        name: has no effect here.

    Returns:
        A tensor of the filter's shape.
    """
    x, y = convert_pair(input, out_backprop)
    check_same_dtype("Conv2DBackpropFilterV2", check_dtype("Conv2DBackpropFilterV2", x, FLOATS), y)
    first = data_format in CHANNELS_FIRST
    x, y = to_channels_last(x, first), to_channels_last(y, first)
    size = convert(filter)._array.shape
    pairs = padding if padding != "EXPLICIT" else np.reshape(explicit_paddings, (-1, 2)).tolist()
    window = make_image_window(x._array.shape, size[:2], strides, pairs, dilations, first)
    groups = x._array.shape[-1] // size[2]
    result: Tensor = convolution.correlate(x, y, window=window, groups=groups, order=0)
    return result


@public
def conv(
    input: Any,
    filter: Any,
    strides: Any,
    padding: str,
    explicit_paddings: Any = (),
    data_format: str = "CHANNELS_LAST",
    dilations: Any = (),
    batch_dims: int = 1,
    groups: int = 1,
    name: str | None = None,
) -> Tensor:
    """Convolution over the spatial axes of the filter, two or three.

    Args:
        input: a tensor (batch, ..., channels).
        filter: filters (..., channels, outputs).
        strides: the step of the window for each axis.
        padding: "SAME", "VALID" or "EXPLICIT".
        explicit_paddings: numbers of zeros before and after each axis, for "EXPLICIT".
        data_format: where the channels are, such as "NHWC" (last) or "NCHW".
        dilations: the distance of neighbouring filter elements.
        batch_dims: the number of leading batch axes.
        groups: the number of groups of channels.
        name: has no effect here.

    Returns:
        A tensor (batch, ..., outputs).
    """
    n = convert(filter)._array.ndim - 2
    if n not in (2, 3):
        raise InvalidArgumentError(f"Conv: filter must have 2 or 3 spatial axes. Received {n}.")
    pairs = padding if padding != "EXPLICIT" else np.reshape(explicit_paddings, (-1, 2)).tolist()
    form = "NCHW" if data_format == "CHANNELS_FIRST" else "NHWC"
    rates = dilations if len(dilations) else None
    return apply_convolution("Conv", input, filter, n, strides, pairs, rates, form)


def pad_to_multiple(size: int, block: int, low: int, high: int) -> tuple[int, int]:
    """Increase the padding (low, high) so that the padded `size` is a multiple of `block`."""
    return low, high + (-(size + low + high)) % block


@public
def required_space_to_batch_paddings(
    input_shape: Any, block_shape: Any, base_paddings: Any = None, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Paddings and crops that make sizes divisible in `space_to_batch` and `batch_to_space`.

    Args:
        input_shape: sizes of the spatial axes.
        block_shape: sizes of the blocks.
        base_paddings: the smallest padding of each axis; zeros if None.
        name: has no effect here.

    Returns:
        Paddings and crops, each with a pair for each axis.
    """
    sizes, blocks = to_shape_tuple(input_shape), to_shape_tuple(block_shape)
    base = (
        np.zeros((len(sizes), 2), int) if base_paddings is None else convert(base_paddings)._array
    )
    if len(sizes) != len(blocks) or np.shape(base) != (len(sizes), 2):
        raise ValueError(
            "required_space_to_batch_paddings: there must be a block and a pair of paddings for "
            f"each size. Received {sizes}, {blocks} and paddings of shape {np.shape(base)}."
        )
    pads = [
        pad_to_multiple(size, block, int(low), int(high))
        for size, block, (low, high) in zip(sizes, blocks, np.asarray(base), strict=True)
    ]
    crops = [(0, pad[1] - int(high)) for pad, (_, high) in zip(pads, np.asarray(base), strict=True)]
    both = (make_tensor(np.array(p, np.int32).reshape(-1, 2)) for p in (pads, crops))
    first, second = both
    return first, second


@public
def with_space_to_batch(
    input: Any,
    dilation_rate: Any,
    padding: str,
    op: Callable[[Any, int, str], Any],
    filter_shape: Sequence[int] | None = None,
    spatial_dims: Sequence[int] | None = None,
    data_format: str | None = None,
) -> Tensor:
    """Result of `op` with dilated windows, by running it on interleaved parts of the input.

    Args:
        input: (batch, *spatial, channels).
        dilation_rate: the distance between elements of a window along each spatial axis.
        padding: "SAME" or "VALID".
        op: called with the parts, the number of spatial axes and "VALID"; with `padding` itself
            if no rate is above 1.
        filter_shape: size of the window, needed for "SAME".
        spatial_dims: the spatial axes, counted from 1; the first ones if None.
        data_format: the order of the axes; channels are second if it starts with "NC".

    Returns:
        A tensor.
    """
    check_callable(op, "op")
    rates = to_shape_tuple(dilation_rate)
    x = convert(input)
    if min(rates, default=1) < 1:
        raise ValueError(f"with_space_to_batch: rates must be positive. Received {list(rates)}.")
    if all(rate == 1 for rate in rates):
        return convert(op(x, len(rates), padding))
    first = data_format is not None and data_format.startswith("NC")
    start = 2 if first else 1
    axes = list(spatial_dims or range(start, start + len(rates)))
    if padding not in ("SAME", "VALID"):
        raise ValueError(
            f"with_space_to_batch: padding must be 'SAME' or 'VALID'. Received {padding!r}."
        )
    base = np.zeros((len(rates), 2), int)
    if padding == "SAME":
        if filter_shape is None:
            raise ValueError(
                "with_space_to_batch: padding 'SAME' needs filter_shape. Received None."
            )
        spans = [(int(k) - 1) * rate for k, rate in zip(filter_shape, rates, strict=False)]
        base = np.array([(span // 2, span - span // 2) for span in spans])
    low, high = min(axes), max(axes)
    blocks = [1] * (high - low + 1)
    pairs = np.zeros((len(blocks), 2), int)
    for axis, rate, (before, after) in zip(axes, rates, base, strict=True):
        blocks[axis - low], pairs[axis - low] = rate, (before, after)
    lead = low - 1
    sizes = [x._array.shape[k] for k in range(low, high + 1)]
    pads, crops = required_space_to_batch_paddings(sizes, blocks, pairs)
    whole_blocks = [1] * lead + blocks
    zeros = np.zeros((lead, 2), int)
    parts = space_to_batch(x, whole_blocks, np.concatenate([zeros, pads._array]))
    result = convert(op(parts, len(rates), "VALID"))
    return batch_to_space(result, whole_blocks, np.concatenate([zeros, crops._array]))
