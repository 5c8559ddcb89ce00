"""Moments and normalisation of tf.nn."""

from __future__ import annotations

from math import prod
from typing import Any

from gradtape.core.argument import check_text
from gradtape.core.convert import convert, to_shape_tuple
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.open_shape import broadcast_shapes
from gradtape.core.shapes import normalize_axes
from gradtape.core.size_constant import compute_constant, to_scalar
from gradtape.core.tensor import Tensor
from gradtape.ops import elementwise as e
from gradtape.ops import shape as s
from gradtape.ops.linalg.diagonal import band_mask
from gradtape.ops.linalg.matmul import matmul
from gradtape.ops.nn import normalization
from gradtape.ops.no_nan import divide_no_nan
from gradtape.ops.reduce import reduce_mean, reduce_sum
from gradtape.tf.array.range import broadcast_to_shape
from gradtape.tf.nn.loss import cast_like, widen_half
from gradtape.tf.public_op import (
    FLOATS,
    FULL_FLOATS,
    INDICES,
    INEXACT,
    check_dtype,
    check_same_dtype,
    convert_pair,
)


@public
def moments(
    x: Any, axes: Any, shift: Any = None, keepdims: bool = False, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Mean and variance of `x` along `axes`; half precision is computed in float32.

    Args:
        x: a tensor.
        axes: the axes to average over.
        shift: has no effect here.
        keepdims: keep the reduced axes with length one.
        name: has no effect here.

    Returns:
        Mean and variance.

    Example:
        >>> mean, variance = tf.nn.moments(tf.constant([[1.0, 2.0], [3.0, 6.0]]), axes=[0])
        >>> mean.numpy(), variance.numpy()
        (array([2., 4.], dtype=float32), array([1., 4.], dtype=float32))
    """
    tensor = check_dtype("SquaredDifference", convert(x), INEXACT | INDICES)
    y = widen_half(tensor)
    every = None if axes is None else to_shape_tuple(axes)
    along = normalize_axes(every, y._array.ndim, "moments")
    if y._array.dtype in FULL_FLOATS:
        mean, variance = normalization.moments(y, axis=along, keepdims=bool(keepdims))
        return cast_like(mean, tensor), cast_like(variance, tensor)
    mean = e.stop_gradient(reduce_mean(y, axis=along, keepdims=True))
    variance = reduce_mean(e.squared_difference(y, mean), axis=along, keepdims=bool(keepdims))
    return reduce_mean(y, axis=along, keepdims=bool(keepdims)), variance


def squared_magnitude(distance: Any) -> Any:
    """Square of the absolute value, for real or complex numbers."""
    complex_ = distance._array.dtype.kind == "c"
    return e.multiply(distance, e.conj(distance) if complex_ else distance)


@public
def weighted_moments(
    x: Any, axes: Any, frequency_weights: Any, keepdims: bool = False, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Mean and variance of `x` along `axes`, with elements weighted by `frequency_weights`.

    Args:
        x: a tensor.
        axes: the axes to reduce.
        frequency_weights: weights that broadcast with `x`.
        keepdims: whether to keep the reduced axes with size one.
        name: has no effect here.

    Returns:
        Mean and variance.
    """
    tensor = convert(x)
    y = widen_half(tensor)
    along = normalize_axes(to_shape_tuple(axes), y._array.ndim, "weighted_moments")
    weight = broadcast_to_shape(
        widen_half(convert(frequency_weights, tensor.dtype)), y._array.shape
    )
    total = reduce_sum(weight, axis=along, keepdims=True)
    mean = divide_no_nan(reduce_sum(e.multiply(weight, y), axis=along, keepdims=True), total)
    distance = squared_magnitude(e.subtract(y, mean))
    spread = reduce_sum(e.multiply(weight, distance), axis=along, keepdims=True)
    variance = divide_no_nan(spread, total)
    if not keepdims:
        shape = tuple(n for k, n in enumerate(y._array.shape) if k - y._array.ndim not in along)
        mean, variance = (s.reshape(t, shape=shape, rank=t._array.ndim) for t in (mean, variance))
    return cast_like(mean, tensor), cast_like(variance, tensor)


@public
def sufficient_statistics(
    x: Any, axes: Any, shift: Any = None, keepdims: bool = False, name: str | None = None
) -> tuple[Tensor, Tensor, Tensor, Any]:
    """Count, sum and sum of squares along `axes`, of `x` or of `x` minus `shift`.

    Args:
        x: a tensor.
        axes: the axes to reduce.
        shift: a value near the mean that is subtracted first, or None.
        keepdims: whether to keep the reduced axes with size one.
        name: has no effect here.

    Returns:
        Count, sum, sum of squares, and `shift`.
    """
    tensor = convert(x)
    along = normalize_axes(to_shape_tuple(axes), tensor._array.ndim, "sufficient_statistics")
    size = prod([tensor._array.shape[k] for k in along])
    count = compute_constant(to_scalar, size, tensor._array.dtype)
    shifted = tensor if shift is None else tensor - convert(shift, tensor.dtype)
    sums = reduce_sum(shifted, axis=along, keepdims=keepdims)
    squares = reduce_sum(e.square(shifted), axis=along, keepdims=keepdims)
    return (
        convert(count),
        sums,
        squares,
        None if shift is None else convert(shift, tensor.dtype),
    )


@public
def normalize_moments(
    counts: Any, mean_ss: Any, variance_ss: Any, shift: Any, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Mean and variance from the results of `sufficient_statistics`.

    Args:
        counts: the number of elements.
        mean_ss: their sum.
        variance_ss: the sum of their squares.
        shift: a value near the mean that is subtracted first, or None.
        name: has no effect here.

    Returns:
        Mean and variance.
    """
    share = e.reciprocal(convert(counts))
    middle = convert(mean_ss) * share
    mean = middle if shift is None else middle + convert(shift, middle.dtype)
    return mean, convert(variance_ss) * share - middle * middle


@public
def batch_normalization(
    x: Any,
    mean: Any,
    variance: Any,
    offset: Any,
    scale: Any,
    variance_epsilon: float,
    name: str | None = None,
) -> Tensor:
    """`x` normalised by `mean` and `variance`, then scaled and shifted if those are given.

    Args:
        x: a tensor.
        mean: the mean.
        variance: the variance.
        offset: what is added at the end, or None.
        scale: the factor, or None.
        variance_epsilon: a small number that avoids a division by zero.
        name: has no effect here.

    Returns:
        A tensor like `x`.

    Example:
        >>> x = tf.constant([[1.0], [3.0]])
        >>> tf.nn.batch_normalization(x, 2.0, 1.0, None, None, 0.0).numpy().ravel()
        array([-1.,  1.], dtype=float32)
    """
    tensor = convert(x)
    middle, spread = convert(mean), convert(variance)
    factor = e.rsqrt(spread + variance_epsilon)
    if scale is not None:
        scale = convert(scale)
    shift = None if offset is None else convert(offset)
    given = [t._array for t in (tensor, middle, factor, scale, shift) if t is not None]
    if given[0].dtype in FULL_FLOATS and all(a.dtype == given[0].dtype for a in given):
        return standardize_batch(tensor, middle, factor, scale, shift, spread)
    if scale is not None:
        factor = factor * scale
    start = middle * factor
    bias = e.negative(start) if shift is None else shift - start
    kind = tensor._array.dtype
    factor, bias = (t if t._array.dtype == kind else e.cast(t, dtype=kind) for t in (factor, bias))
    return e.add(e.multiply(tensor, factor), bias)


def standardize_batch(
    x: Tensor, mean: Tensor, factor: Tensor, scale: Any, offset: Any, variance: Tensor
) -> Tensor:
    """Compute batch normalisation in float32 or float64.

    Factor and scale are multiplied first if they vary along the same axes. Otherwise, as in layer
    normalisation, their product would be as large as `x`.
    """
    zero = x._array.dtype.type(0)
    last = zero if offset is None else offset
    if scale is None or is_small_broadcast(factor._array.shape, scale._array.shape):
        factor = factor if scale is None else factor * scale
        return normalization.standardize(x, mean, factor, last, variance)
    normal = normalization.standardize(x, mean, factor, zero, variance)
    return normalization.standardize(normal, zero, scale, last, zero)


def is_small_broadcast(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    """Whether arrays of two shapes broadcast to a size no larger than one of them."""
    try:
        size = prod(broadcast_shapes(a, b))
    except InvalidArgumentError:
        return True  # the product will raise
    return bool(size <= prod(a) or size <= prod(b))


@public
def bias_add(
    value: Any, bias: Any, data_format: str | None = None, name: str | None = None
) -> Tensor:
    """`value` plus a vector along its channels: the last axis, or the second for "NC…".

    Args:
        value: a tensor.
        bias: a vector, one number for each channel.
        data_format: "N...C" or "NC...".
        name: has no effect here.

    Returns:
        A tensor like `value`.

    Example:
        >>> tf.nn.bias_add([[1.0, 2.0]], [10.0, 20.0]).numpy()
        array([[11., 22.]], dtype=float32)
    """
    x, b = convert_pair(value, bias)
    check_same_dtype("BiasAdd", x, b)
    if data_format is not None:
        check_text(data_format, "data_format")
    if data_format is not None and not data_format.startswith("N"):
        raise ValueError(
            "bias_add: `data_format` must be of the form `N...C` or `NC...`. Received "
            f"{data_format!r}."
        )
    first = data_format is not None and data_format.startswith("NC")
    n = x._array.ndim
    if n < 2:
        raise InvalidArgumentError(
            f"bias_add: Input tensor must be at least 2D: {list(x._array.shape)}."
        )
    if b._array.ndim != 1:
        raise InvalidArgumentError(f"bias_add: Biases must be 1D: {list(b._array.shape)}.")
    if b._array.shape[0] != x._array.shape[1 if first else -1]:
        raise InvalidArgumentError(
            f"bias_add: Must provide as many biases as the channel dimension of the input tensor: "
            f"{list(b._array.shape)} vs. {list(x._array.shape)}."
        )
    if first:
        b = s.reshape(b, shape=(b._array.shape[0],) + (1,) * (n - 2), rank=1)
    return e.add(x, b)


@public
def local_response_normalization(
    input: Any,
    depth_radius: int = 5,
    bias: float = 1,
    alpha: float = 1,
    beta: float = 0.5,
    name: str | None = None,
) -> Tensor:
    """`input` divided by a power of the sum of squares of neighbouring channels.

    Args:
        input: (batch, height, width, channels).
        depth_radius: the number of channels on either side to sum over.
        bias: a number added to the weighted sum.
        alpha: the weight of the sum.
        beta: the exponent.
        name: has no effect here.

    Returns:
        A tensor like `input`.
    """
    x = check_dtype("LRN", convert(input), FLOATS)
    if x._array.ndim != 4:
        raise InvalidArgumentError(
            f"lrn: input must be 4-dimensional. Received shape {list(x._array.shape)}."
        )
    channels = x._array.shape[-1]
    near = compute_constant(band_mask, channels, channels, depth_radius, depth_radius)
    total = matmul(e.square(x), e.cast(convert(near), dtype=x._array.dtype))
    return x / (total * alpha + bias) ** beta


lrn = local_response_normalization


@public
def batch_norm_with_global_normalization(
    input: Any,
    mean: Any,
    variance: Any,
    beta: Any,
    gamma: Any,
    variance_epsilon: float,
    scale_after_normalization: bool,
    name: str | None = None,
) -> Tensor:
    """`batch_normalization` with offset `beta`, and optionally scale `gamma`.

    Args:
        input: a tensor.
        mean: the mean.
        variance: the variance.
        beta: the offset.
        gamma: the scale.
        variance_epsilon: a small number that avoids a division by zero.
        scale_after_normalization: whether to use `gamma`.
        name: has no effect here.

    Returns:
        A tensor like `input`.
    """
    scale = gamma if scale_after_normalization else None
    return batch_normalization(input, mean, variance, beta, scale, variance_epsilon)
