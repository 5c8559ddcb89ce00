"""tf.raw_ops.FusedBatchNorm, its versions and its gradient."""

from __future__ import annotations

from typing import Any

from gradtape.core import dtypes
from gradtape.core.convert import convert
from gradtape.core.tensor import Tensor
from gradtape.tf.array.creation import zeros
from gradtape.tf.array.reshape import reshape
from gradtape.tf.math.cast import cast
from gradtape.tf.math.elementwise import rsqrt, square
from gradtape.tf.math.reduce import reduce_mean, reduce_sum


def channel_layout(x: Tensor, data_format: Any) -> tuple[list[int], list[int]]:
    """The axes other than channels, and the shape in which channels broadcast to `x`."""
    rank = x._array.ndim
    channels = 1 if data_format in ("NCHW", b"NCHW", "NCDHW", b"NCDHW") else rank - 1
    return [a for a in range(rank) if a != channels], [
        -1 if a == channels else 1 for a in range(rank)
    ]


def count_per_channel(x: Tensor, axes: list[int]) -> int:
    """The number of elements of a channel."""
    count = 1
    for axis in axes:
        count *= x._array.shape[axis]
    return count


def fused_batch_norm(
    x: Any,
    scale: Any,
    offset: Any,
    mean: Any,
    variance: Any,
    epsilon: float,
    exponential_avg_factor: float,
    data_format: Any,
    is_training: bool,
) -> tuple[Tensor, ...]:
    """Normalised `x`, new mean and variance, and what the gradient needs.

    In training the new variance is that of the population, as an estimate: it is divided by n - 1.
    The moments move towards those of the batch by `exponential_avg_factor`.
    """
    given = convert(x)
    axes, shape = channel_layout(given, data_format)
    wide = cast(given, dtypes.float32)
    gamma, beta = convert(scale, dtypes.float32), convert(offset, dtypes.float32)
    old_mean, old_variance = convert(mean, dtypes.float32), convert(variance, dtypes.float32)
    nothing = zeros([], dtypes.float32)
    if not is_training:
        y = normalize_channels(wide, gamma, beta, old_mean, old_variance, epsilon, shape)
        out = cast(y, given.dtype)
        return out, old_mean, old_variance, old_mean, old_variance, nothing
    batch_mean = reduce_mean(wide, axes)
    batch_variance = reduce_mean(square(wide - reshape(batch_mean, shape)), axes)
    y = normalize_channels(wide, gamma, beta, batch_mean, batch_variance, epsilon, shape)
    count = count_per_channel(given, axes)
    new_mean, new_variance = batch_mean, batch_variance * (count / max(count - 1, 1))
    if exponential_avg_factor != 1:
        keep = 1 - exponential_avg_factor
        new_mean = keep * old_mean + exponential_avg_factor * new_mean
        new_variance = keep * old_variance + exponential_avg_factor * new_variance
    out = cast(y, given.dtype)
    return out, new_mean, new_variance, batch_mean, batch_variance, nothing


def normalize_channels(
    x: Tensor,
    scale: Tensor,
    offset: Tensor,
    mean: Tensor,
    variance: Tensor,
    epsilon: float,
    shape: Any,
) -> Tensor:
    """Subtract the mean and divide by the deviation of each channel, then scale and shift."""
    factor = reshape(scale * rsqrt(variance + epsilon), shape)
    return (x - reshape(mean, shape)) * factor + reshape(offset, shape)


def fused_batch_norm_gradient(
    y_backprop: Any,
    x: Any,
    scale: Any,
    reserve_space_1: Any,
    reserve_space_2: Any,
    epsilon: float,
    data_format: Any,
    is_training: bool,
) -> tuple[Tensor, ...]:
    """Gradients with respect to `x`, scale and offset, and two empty tensors."""
    given = convert(x)
    axes, shape = channel_layout(given, data_format)
    g, wide = cast(convert(y_backprop), dtypes.float32), cast(given, dtypes.float32)
    gamma = convert(scale, dtypes.float32)
    mean, variance = (convert(v, dtypes.float32) for v in (reserve_space_1, reserve_space_2))
    inverse = rsqrt(variance + epsilon)
    centred = wide - reshape(mean, shape)
    normal = centred * reshape(inverse, shape)
    scale_gradient, offset_gradient = reduce_sum(g * normal, axes), reduce_sum(g, axes)
    factor = reshape(gamma * inverse, shape)
    if is_training:
        count = count_per_channel(given, axes)
        mean_part = reshape(offset_gradient / count, shape)
        g = g - mean_part - normal * reshape(scale_gradient / count, shape)
    nothing = zeros([0], dtypes.float32)
    return cast(g * factor, given.dtype), scale_gradient, offset_gradient, nothing, nothing
