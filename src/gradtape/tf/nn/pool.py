"""Pools of tf.nn: maxima and means of windows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from gradtape.core.convert import convert, to_shape_tuple
from gradtape.core.errors import InvalidArgumentError, UnimplementedError, public
from gradtape.core.primitive import Spec
from gradtape.core.shape_rule import with_shape
from gradtape.core.size_constant import compute_constant
from gradtape.core.tensor import Tensor
from gradtape.ops.convolution.window import Window
from gradtape.ops.elementwise import divide
from gradtape.ops.nn import pool as pool_ops
from gradtape.ops.reduce import reduce_max
from gradtape.ops.shape import reshape
from gradtape.tf.example.other import POOL
from gradtape.tf.nn.window_argument import (
    CHANNELS_FIRST,
    expand_to_spatial,
    from_channels_last,
    make_window,
    to_channels_last,
)
from gradtape.tf.public_op import FLOATS, REAL, add_examples, check_dtype


def apply_pool(
    op: str,
    input: Any,
    n: int,
    size: Any,
    strides: Any,
    padding: Any,
    data_format: str | None,
    largest: bool,
    dilations: Any = None,
) -> Tensor:
    """Check the arguments and pool over `n` spatial axes: the largest elements, or the means."""
    x = check_dtype(op, convert(input), REAL if largest else FLOATS)
    if x._array.ndim != n + 2:
        raise InvalidArgumentError(
            f"{op}: input must have {n} spatial dimensions. Received shape {list(x._array.shape)}."
        )
    first = data_format in CHANNELS_FIRST
    if largest and n < 3 and not first and pools_channels(size, n):
        return max_pool_channels(op, x, to_shape_tuple(size), to_shape_tuple(strides), padding)
    x = to_channels_last(x, first)
    window = make_window(
        op,
        x._array.shape[1:-1],
        expand_to_spatial(size, n, first, op, "ksize"),
        expand_to_spatial(strides, n, first, op, "strides"),
        expand_to_spatial(dilations, n, first, op, "dilations"),
        padding,
        first,
    )
    if not isinstance(padding, str) and any(
        max(ends) >= k for ends, k in zip(window.paddings, window.reach(), strict=True)
    ):
        raise InvalidArgumentError(
            f"{op}: padding must be smaller than the window. Received {padding} and {size}."
        )
    if largest:
        # TensorFlow's kernel for volumes passes the gradient to all maxima that tie.
        return from_channels_last(pool_ops.max_pool(x, window=window, every=n == 3), first)
    total = pool_ops.sum_pool(x, window=window)
    count = (
        compute_constant(count_window_elements, window, x._array.shape[1:-1], x._array.dtype)
        if is_padded(window)
        else np.dtype(x._array.dtype).type(prod(window.size))
    )
    return from_channels_last(divide(total, convert(count)), first)


def pools_channels(size: Any, n: int) -> bool:
    """Whether the window has more than one channel."""
    numbers = to_shape_tuple(size)
    return len(numbers) == n + 2 and numbers[-1] > 1


def max_pool_channels(
    op: str, x: Tensor, size: tuple[int, ...], strides: tuple[int, ...], padding: Any
) -> Tensor:
    """Largest elements of groups of channels; spatial strides have no effect, as in TensorFlow."""
    shape, group = x._array.shape, size[-1]
    fits = len(strides) == len(size) and strides[-1] == group and shape[-1] % group == 0
    if any(k != 1 for k in size[:-1]) or not fits or not isinstance(padding, str):
        raise UnimplementedError(
            f"{op}: depthwise max pooling requires windows of one pixel, a stride of the channels "
            "that equals their window and divides the number of channels, and padding 'SAME' or "
            f"'VALID'. Received ksize {list(size)}, strides {list(strides)}, padding {padding} "
            f"and input shape {list(shape)}. Reshape and use tf.reduce_max instead."
        )
    groups = reshape(x, shape=(*shape[:-1], shape[-1] // group, group), rank=len(shape))
    return reduce_max(groups, axis=(-1,), keepdims=False)


def is_padded(window: Window) -> bool:
    """Whether a window has padding; one of unknown width counts as padding."""
    return any(type(n) is not int or n for pair in window.paddings for n in pair)


@with_shape(lambda window, spatial, dtype: Spec(((*window.outputs(spatial), 1), np.dtype(dtype))))
def count_window_elements(window: Window, spatial: tuple[int, ...], dtype: Any) -> Any:
    """Count the input elements, without padding, that the window covers at each position."""
    return pool_ops.sum_pool(np.ones((*spatial, 1), dtype), window=window)


def make_pool(
    name: str, op: str, n: int | None, data_format: str | None, what: str
) -> Callable[..., Tensor]:
    """Make a public pool over `n` spatial axes, or over as many as the input has."""
    default, largest = data_format, name.startswith("max")

    def pool(
        input: Any,
        ksize: Any,
        strides: Any,
        padding: Any,
        data_format: str | None = default,
        name: str | None = None,
    ) -> Tensor:
        axes = convert(input)._array.ndim - 2 if n is None else n
        return apply_pool(op, input, axes, ksize, strides, padding, data_format, largest)

    axes = {1: "length", 2: "height, width", 3: "depth, height, width", None: "…"}[n]
    pool.__name__ = pool.__qualname__ = name
    pool.__doc__ = f"""{what}

    Args:
        input: (batch, {axes}, channels), or channels second if `data_format` starts with "NC".
        ksize: size of the windows: one number, one for each spatial axis, or one for each axis.
        strides: the distance between windows, in the form of `ksize`.
        padding: "SAME", "VALID", or a pair for each axis.
        data_format: the order of the axes; by default, channels last.
        name: has no effect here.

    Returns:
        A tensor with fewer elements along the axes of the window.
    """
    return public(pool)


MAX_POOL_DOC = "Largest elements of windows; of ties the first one gets the gradient."
AVG_POOL_DOC = "Means of windows, without the padding."

max_pool = make_pool("max_pool", "MaxPool", None, None, MAX_POOL_DOC)
max_pool1d = make_pool("max_pool1d", "MaxPool", 1, "NWC", MAX_POOL_DOC)
max_pool2d = make_pool("max_pool2d", "MaxPool", 2, "NHWC", MAX_POOL_DOC)
max_pool3d = make_pool(
    "max_pool3d",
    "MaxPool3D",
    3,
    "NDHWC",
    "Largest elements of windows; all elements that tie get the gradient.",
)
avg_pool = make_pool("avg_pool", "AvgPool", None, None, AVG_POOL_DOC)
avg_pool1d = make_pool("avg_pool1d", "AvgPool", 1, "NWC", AVG_POOL_DOC)
avg_pool2d = make_pool("avg_pool2d", "AvgPool", 2, "NHWC", AVG_POOL_DOC)
avg_pool3d = make_pool("avg_pool3d", "AvgPool3D", 3, "NDHWC", AVG_POOL_DOC)


@public
def pool(
    input: Any,
    window_shape: Sequence[int],
    pooling_type: str,
    strides: Any = None,
    padding: Any = "VALID",
    data_format: str | None = None,
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """Largest elements ("MAX") or means ("AVG") of windows, which may be dilated.

    Args:
        input: a tensor (batch, ..., channels).
        window_shape: the size of the window for each spatial axis.
        pooling_type: "MAX" or "AVG".
        strides: the step of the window for each spatial axis.
        padding: "SAME" or "VALID".
        data_format: where the channels are.
        dilations: the distance of neighbouring elements of a window.
        name: has no effect here.

    Returns:
        A tensor (batch, ..., channels).

    Example:
        >>> tf.nn.pool(tf.reshape([1.0, 5.0, 3.0, 2.0], [1, 4, 1]), [2], "MAX").numpy().ravel()
        array([5., 5., 3.], dtype=float32)
    """
    if pooling_type not in ("MAX", "AVG"):
        raise ValueError(f"pool: pooling_type must be 'MAX' or 'AVG'. Received {pooling_type!r}.")
    n = len(window_shape)
    check_pool_arguments(convert(input), tuple(window_shape), strides, padding, dilations)
    return apply_pool(
        "Pool",
        input,
        n,
        window_shape,
        strides,
        padding,
        data_format,
        pooling_type == "MAX",
        dilations,
    )


def check_pool_arguments(
    x: Tensor, size: tuple[int, ...], strides: Any, padding: Any, dilations: Any
) -> None:
    """Raise the errors that TensorFlow's `pool` raises in Python."""
    n = len(size)
    if x._array.ndim != n + 2:
        raise ValueError(
            f"pool: input must have {n} spatial axes. Received shape {list(x._array.shape)}."
        )
    steps, rates = (
        numbers_per_axis("strides", strides, n),
        numbers_per_axis("dilations", dilations, n),
    )
    if max(rates, default=1) > 1 and max(steps, default=1) > 1:
        raise ValueError("pool: strides > 1 are not supported together with dilations > 1.")
    if max(rates, default=1) > 1 and padding == "SAME":
        raise ValueError("pool: padding 'SAME' is not supported together with dilations > 1.")
    if any(step > window for step, window in zip(steps, size, strict=True)):
        raise ValueError(
            f"pool: strides must not exceed window_shape. Received {list(steps)} and {list(size)}."
        )


def numbers_per_axis(what: str, value: Any, n: int) -> tuple[int, ...]:
    """Convert to `n` positive numbers, one for each axis; ones if None."""
    numbers = (1,) * n if value is None else to_shape_tuple(value)
    if len(numbers) != n or min(numbers, default=1) < 1:
        raise ValueError(f"pool: {what} must be {n} positive numbers. Received {value}.")
    return numbers


add_examples(globals(), POOL)
