"""Raw convolutions: explicit paddings as an attribute, and gradients by sizes."""

from __future__ import annotations

from typing import Any

from gradtape.core.convert import convert
from gradtape.core.tensor import Tensor
from gradtape.tf.array.creation import zeros
from gradtape.tf.nn import convolution as c
from gradtape.tf.nn import convolution_gradient as back
from gradtape.tf.raw_ops.pullback import pull_back


def join_paddings(padding: Any, explicit_paddings: Any) -> Any:
    """The padding as public functions take it: a name, or pairs for "EXPLICIT"."""
    name = padding.decode() if isinstance(padding, bytes) else padding
    if name != "EXPLICIT":
        return name
    numbers = list(explicit_paddings)
    return [[low, high] for low, high in zip(numbers[::2], numbers[1::2], strict=True)]


def conv2d(
    input: Any, filter: Any, strides: Any, padding: Any, pairs: Any, form: str, dilations: Any
) -> Tensor:
    """A convolution of images."""
    return c.conv2d(input, filter, strides, join_paddings(padding, pairs), form, dilations)


def depthwise_conv2d(
    input: Any, filter: Any, strides: Any, padding: Any, pairs: Any, form: str, dilations: Any
) -> Tensor:
    """A convolution of each channel."""
    spatial = dilations[2:4] if form in ("NCHW", b"NCHW") else dilations[1:3]
    return c.depthwise_conv2d(input, filter, strides, join_paddings(padding, pairs), form, spatial)


def conv2d_filter_gradient(
    input: Any,
    filter_sizes: Any,
    out_backprop: Any,
    strides: Any,
    padding: Any,
    pairs: Any,
    form: str,
    dilations: Any,
) -> Tensor:
    """Gradient of a convolution of images with respect to the filter."""
    g = convert(out_backprop)
    filters = zeros(filter_sizes, g.dtype)
    return back.conv2d_backprop_filter_v2(
        input, filters, g, strides, padding, True, pairs, form, dilations
    )


def conv2d_input_gradient(
    input_sizes: Any,
    filter: Any,
    out_backprop: Any,
    strides: Any,
    padding: Any,
    pairs: Any,
    form: str,
    dilations: Any,
) -> Tensor:
    """Gradient of a convolution of images with respect to the images."""
    g = convert(out_backprop)
    images = zeros(input_sizes, g.dtype)
    return back.conv2d_backprop_input_v2(
        images, filter, g, strides, padding, True, pairs, form, dilations
    )


def conv3d_filter_gradient(
    input: Any,
    filter_sizes: Any,
    out_backprop: Any,
    strides: Any,
    padding: Any,
    form: str,
    dilations: Any,
) -> Tensor:
    """Gradient of a convolution of volumes with respect to the filter."""
    g = convert(out_backprop)
    filters = zeros(filter_sizes, g.dtype)
    return pull_back(lambda w: c.conv3d(input, w, strides, padding, form, dilations), filters, g)


def conv3d_input_gradient(
    input_sizes: Any,
    filter: Any,
    out_backprop: Any,
    strides: Any,
    padding: Any,
    form: str,
    dilations: Any,
) -> Tensor:
    """Gradient of a convolution of volumes with respect to the volumes."""
    g = convert(out_backprop)
    volumes = zeros(input_sizes, g.dtype)
    return pull_back(lambda x: c.conv3d(x, filter, strides, padding, form, dilations), volumes, g)
