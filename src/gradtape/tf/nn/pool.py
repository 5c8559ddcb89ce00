"""Pools of tf.nn: largest elements and means of windows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from gradtape.core.convert import convert, shape_tuple
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.tensor import Tensor, eager
from gradtape.ops.convolution.window import Window
from gradtape.ops.elementwise import divide
from gradtape.ops.nn import pool as ops
from gradtape.tf.nn.window_argument import CHANNELS_FIRST, from_last, spread_out, to_last, window_of
from gradtape.tf.public_op import FLOATS, REAL, operand


def pooled(
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
    """Largest elements, or means, of windows over `n` spatial axes."""
    x = operand(op, convert(input), REAL if largest else FLOATS)
    if x._array.ndim != n + 2:
        raise InvalidArgumentError(
            f"{op}: input must have {n} spatial dimensions. Received shape {list(x._array.shape)}."
        )
    first = data_format in CHANNELS_FIRST
    x = to_last(x, first)
    window = window_of(
        op,
        x._array.shape[1:-1],
        spread_out(size, n, first, op, "ksize"),
        spread_out(strides, n, first, op, "strides"),
        spread_out(dilations, n, first, op, "dilations"),
        padding,
        first,
    )
    if any(max(ends) >= k for ends, k in zip(window.paddings, window.reach(), strict=True)) and (
        not isinstance(padding, str)
    ):
        raise InvalidArgumentError(
            f"{op}: padding must be smaller than the window. Received {padding} and {size}."
        )
    if largest:
        # TensorFlow's kernel for volumes gives every one of several equal maxima the gradient.
        return from_last(ops.max_pool(x, window=window, every=n == 3), first)
    total = ops.sum_pool(x, window=window)
    count = counts(window, x._array.shape[1:-1], x._array.dtype)
    return from_last(divide(total, eager(count)), first)


def counts(window: Window, spatial: tuple[int, ...], dtype: Any) -> Any:
    """How many elements of the input, without padding, each place of the window covers."""
    if not any(low or high for low, high in window.paddings):
        return np.dtype(dtype).type(prod(window.size))
    return ops.sum_pool(np.ones((*spatial, 1), dtype), window=window)


def pooling(
    name: str, op: str, n: int | None, data_format: str | None, what: str
) -> Callable[..., Tensor]:
    """A public pool over `n` spatial axes, or over as many as the input has."""
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
        return pooled(op, input, axes, ksize, strides, padding, data_format, largest)

    axes = {1: "length", 2: "height, width", 3: "depth, height, width", None: "…"}[n]
    pool.__name__ = pool.__qualname__ = name
    pool.__doc__ = f"""{what}

    Args:
        input: (batch, {axes}, channels), or with the channels second if `data_format` says so.
        ksize: size of the windows: one number, one for each spatial axis, or one for each axis.
        strides: from one window to the next, given as `ksize`.
        padding: "SAME", "VALID", or a pair for each axis.
        data_format: where the channels are; by default, last.
        name: accepted for TensorFlow's sake.
    """
    return public(pool)


LARGEST = "Largest elements of windows; of equals the first gets the gradient."
MEANS = "Means of windows; padding does not count."

max_pool = pooling("max_pool", "MaxPool", None, None, LARGEST)
max_pool1d = pooling("max_pool1d", "MaxPool", 1, "NWC", LARGEST)
max_pool2d = pooling("max_pool2d", "MaxPool", 2, "NHWC", LARGEST)
max_pool3d = pooling(
    "max_pool3d",
    "MaxPool3D",
    3,
    "NDHWC",
    "Largest elements of windows; all of several equals get the gradient.",
)
avg_pool = pooling("avg_pool", "AvgPool", None, None, MEANS)
avg_pool1d = pooling("avg_pool1d", "AvgPool", 1, "NWC", MEANS)
avg_pool2d = pooling("avg_pool2d", "AvgPool", 2, "NHWC", MEANS)
avg_pool3d = pooling("avg_pool3d", "AvgPool3D", 3, "NDHWC", MEANS)


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
    """Largest elements ("MAX") or means ("AVG") of windows, which may have holes."""
    if pooling_type not in ("MAX", "AVG"):
        raise ValueError(f"pool: pooling_type must be 'MAX' or 'AVG'. Received {pooling_type!r}.")
    n = len(window_shape)
    check_pool(convert(input), tuple(window_shape), strides, padding, dilations)
    return pooled(
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


def check_pool(
    x: Tensor, size: tuple[int, ...], strides: Any, padding: Any, dilations: Any
) -> None:
    """Raise for what TensorFlow's `pool` rules out before it looks at values."""
    n = len(size)
    if x._array.ndim != n + 2:
        raise ValueError(
            f"pool: input must have {n} spatial axes. Received shape {list(x._array.shape)}."
        )
    steps, holes = one_for_each("strides", strides, n), one_for_each("dilations", dilations, n)
    if max(holes, default=1) > 1 and max(steps, default=1) > 1:
        raise ValueError("pool: strides > 1 are not supported together with dilations > 1.")
    if max(holes, default=1) > 1 and padding == "SAME":
        raise ValueError("pool: padding 'SAME' is not supported together with dilations > 1.")
    if any(step > window for step, window in zip(steps, size, strict=True)):
        raise ValueError(
            f"pool: strides must not exceed window_shape. Received {list(steps)} and {list(size)}."
        )


def one_for_each(what: str, value: Any, n: int) -> tuple[int, ...]:
    """A positive number for each of `n` axes; ones if None."""
    numbers = (1,) * n if value is None else shape_tuple(value)
    if len(numbers) != n or min(numbers, default=1) < 1:
        raise ValueError(f"pool: {what} must be {n} positive numbers. Received {value}.")
    return numbers
