"""Transposed convolutions of tf.nn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtape.core.convert import convert, to_shape_tuple
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.tensor import Tensor
from gradtape.ops.convolution import convolution as convolution_ops
from gradtape.tf.example.other import TRANSPOSED_CONVOLUTION
from gradtape.tf.nn.convolution import (
    CONVOLUTION_DTYPES,
)
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
    add_examples,
    check_dtype,
    check_same_dtype,
    convert_pair,
)


def apply_transposed_convolution(
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
    """Check the arguments and apply a transposed convolution.

    Filters are (*size, outputs, channels).
    """
    y, w = convert_pair(input, filters)
    check_same_dtype(
        op, check_dtype(op, y, FLOATS if op in KERNEL_CHECKED_OPS else CONVOLUTION_DTYPES), w
    )
    first = data_format in CHANNELS_FIRST
    y = to_channels_last(y, first)
    wanted = to_shape_tuple(output_shape)
    spatial = wanted[2:] if first else wanted[1:-1]
    if len(wanted) == n:
        spatial = wanted
    elif len(wanted) != n + 2 or y._array.ndim != n + 2 or w._array.ndim != n + 2:
        raise InvalidArgumentError(
            f"{op}: input, filters and output_shape must have {n + 2} axes. Received shapes "
            f"{list(y._array.shape)}, {list(w._array.shape)} and {list(wanted)}."
        )
    else:
        outer = (wanted[0], wanted[1 if first else -1])
        check_output_shape(op, outer, (y._array.shape[0], w._array.shape[-2]))
    window = make_window(
        op,
        spatial,
        w._array.shape[:n],
        expand_to_spatial(strides, n, first, op, "strides"),
        expand_to_spatial(dilations, n, first, op, "dilations"),
        padding,
        first,
    )
    if window.outputs(spatial) != y._array.shape[1:-1] or w._array.shape[-1] != y._array.shape[-1]:
        raise InvalidArgumentError(
            f"{op}: output_shape {list(wanted)} is incompatible with an input of shape "
            f"{list(y._array.shape)} and filters of shape {list(w._array.shape)}. "
            "Check strides and padding."
        )
    return from_channels_last(
        convolution_ops.unconvolve(y, w, window=window, groups=1, order=0, spatial=tuple(spatial)),
        first,
    )


def check_output_shape(op: str, wanted: tuple[int, int], given: tuple[int, int]) -> None:
    """Raise unless batch and channels of an output_shape are those of the operands."""
    if wanted != given:
        raise InvalidArgumentError(
            f"{op}: output_shape must have the input's batch size and the filters' outputs, "
            f"{given[0]} and {given[1]}. Received {wanted[0]} and {wanted[1]}."
        )


def make_transposed_convolution(
    name: str, op: str, n: int | None, data_format: str | None
) -> Callable[..., Tensor]:
    """Make a public transposed convolution over `n` spatial axes, or those of the filter."""
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
        return apply_transposed_convolution(
            op, input, filters, output_shape, axes, strides, padding, dilations, data_format
        )

    forward = "convolution" if n is None else f"conv{n}d"
    axes = {1: "width", 2: "height, width", 3: "depth, height, width", None: "…"}[n]
    transpose.__name__ = transpose.__qualname__ = name
    transpose.__doc__ = f"""Transposed convolution: the adjoint of `{forward}`.

    Args:
        input: (batch, {axes}, channels), of the shape of a result of `{forward}`.
        filters: ({axes}, outputs, channels).
        output_shape: the shape of the result, or only its spatial axes.
        strides: one number, one for each spatial axis, or one for each axis.
        padding: "SAME", "VALID", or a pair for each axis.
        data_format: the order of the axes; by default, channels last.
        dilations: distance between the elements of the filter, in the form of `strides`.
        name: has no effect here.

    Returns:
        A tensor of shape `output_shape`.
    """
    return public(transpose)


conv1d_transpose = make_transposed_convolution("conv1d_transpose", "Conv1DTranspose", 1, "NWC")


conv2d_transpose = make_transposed_convolution("conv2d_transpose", "Conv2DTranspose", 2, "NHWC")


conv3d_transpose = make_transposed_convolution("conv3d_transpose", "Conv3DTranspose", 3, "NDHWC")


conv_transpose = make_transposed_convolution("conv_transpose", "ConvTranspose", None, None)

add_examples(globals(), TRANSPOSED_CONVOLUTION)
