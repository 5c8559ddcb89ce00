"""Pools of tf.nn: largest elements and means of windows."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.tensor import Tensor, eager
from gradtape.ops import window as ops
from gradtape.ops.elementwise import divide
from gradtape.ops.window import Window
from gradtape.tf.check import FLOATS, REAL, operand
from gradtape.tf.convolution import CHANNELS_FIRST, from_last, spread_out, to_last, window_of


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
    if (
        largest
    ):  # TensorFlow's kernel for volumes gives every one of several equal maxima the gradient
        return from_last(ops.max_pool(x, window=window, every=n == 3), first)
    total = ops.sum_pool(x, window=window)
    count = counts(window, x._array.shape[1:-1], x._array.dtype)
    return from_last(divide(total, eager(count)), first)


def counts(window: Window, spatial: tuple[int, ...], dtype: Any) -> Any:
    """How many elements of the input, without padding, each place of the window covers."""
    if not any(low or high for low, high in window.paddings):
        return np.dtype(dtype).type(prod(window.size))
    return ops.sum_pool(np.ones((*spatial, 1), dtype), window=window)


def spatial_rank(input: Any) -> int:
    """How many spatial axes (batch, …, channels) has."""
    return convert(input)._array.ndim - 2


@public
def max_pool(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = None,
    name: str | None = None,
) -> Tensor:
    """Largest elements of windows over all spatial axes; of equals the first gets the gradient."""
    return pooled(
        "MaxPool", input, spatial_rank(input), ksize, strides, padding, data_format, largest=True
    )


@public
def max_pool1d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NWC",
    name: str | None = None,
) -> Tensor:
    """Largest elements of windows over (batch, length, channels)."""
    return pooled("MaxPool", input, 1, ksize, strides, padding, data_format, largest=True)


@public
def max_pool2d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NHWC",
    name: str | None = None,
) -> Tensor:
    """Largest elements of windows over (batch, height, width, channels).

    Of equals the first gets the gradient.
    """
    return pooled("MaxPool", input, 2, ksize, strides, padding, data_format, largest=True)


@public
def max_pool3d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NDHWC",
    name: str | None = None,
) -> Tensor:
    """Largest elements of windows over (batch, depth, height, width, channels)."""
    return pooled("MaxPool3D", input, 3, ksize, strides, padding, data_format, largest=True)


@public
def avg_pool(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = None,
    name: str | None = None,
) -> Tensor:
    """Means of windows over all spatial axes; padding does not count."""
    return pooled(
        "AvgPool", input, spatial_rank(input), ksize, strides, padding, data_format, largest=False
    )


@public
def avg_pool1d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NWC",
    name: str | None = None,
) -> Tensor:
    """Means of windows over (batch, length, channels); padding does not count."""
    return pooled("AvgPool", input, 1, ksize, strides, padding, data_format, largest=False)


@public
def avg_pool2d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NHWC",
    name: str | None = None,
) -> Tensor:
    """Means of windows over (batch, height, width, channels); padding does not count."""
    return pooled("AvgPool", input, 2, ksize, strides, padding, data_format, largest=False)


@public
def avg_pool3d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NDHWC",
    name: str | None = None,
) -> Tensor:
    """Means of windows over (batch, depth, height, width, channels); padding does not count."""
    return pooled("AvgPool3D", input, 3, ksize, strides, padding, data_format, largest=False)


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
