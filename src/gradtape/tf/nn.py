"""tf.nn: activations, softmax and losses, normalisation; convolutions and pools are in `convolution`."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.convert import convert, shape_tuple
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.shapes import normalize_axes
from gradtape.core.tensor import Tensor, eager
from gradtape.ops import activation
from gradtape.ops import elementwise as e
from gradtape.ops import shape as s
from gradtape.ops import softmax as ops
from gradtape.ops.linalg import band_mask, matmul
from gradtape.ops.reduce import broadcast_to, reduce_mean, reduce_sum
from gradtape.ops.special import erf
from gradtape.tf.check import FLOATS, NUMBERS, REAL, is_typed, operand, pair, same, unary
from gradtape.tf.convolution import atrous_conv2d as atrous_conv2d
from gradtape.tf.convolution import avg_pool as avg_pool
from gradtape.tf.convolution import avg_pool1d as avg_pool1d
from gradtape.tf.convolution import avg_pool2d as avg_pool2d
from gradtape.tf.convolution import avg_pool3d as avg_pool3d
from gradtape.tf.convolution import conv1d as conv1d
from gradtape.tf.convolution import conv1d_transpose as conv1d_transpose
from gradtape.tf.convolution import conv2d as conv2d
from gradtape.tf.convolution import conv2d_transpose as conv2d_transpose
from gradtape.tf.convolution import conv3d as conv3d
from gradtape.tf.convolution import conv3d_transpose as conv3d_transpose
from gradtape.tf.convolution import conv_transpose as conv_transpose
from gradtape.tf.convolution import convolution as convolution
from gradtape.tf.convolution import depthwise_conv2d as depthwise_conv2d
from gradtape.tf.convolution import max_pool as max_pool
from gradtape.tf.convolution import max_pool1d as max_pool1d
from gradtape.tf.convolution import max_pool2d as max_pool2d
from gradtape.tf.convolution import max_pool3d as max_pool3d
from gradtape.tf.convolution import pool as pool
from gradtape.tf.convolution import separable_conv2d as separable_conv2d
from gradtape.tf.counting import in_top_k as in_top_k
from gradtape.tf.counting import top_k as top_k
from gradtape.tf.elementwise import sigmoid as sigmoid
from gradtape.tf.elementwise import softplus as softplus
from gradtape.tf.elementwise import softsign as softsign
from gradtape.tf.elementwise import tanh as tanh
from gradtape.tf.lookup import gather
from gradtape.tf.reduction import l2_normalize as l2_normalize
from gradtape.tf.reduction import zero_fraction as zero_fraction

FEATURES = ("features",)

# -- activations -------------------------------------------------------------------------------------------------------

relu = unary(e.relu, REAL, label="Relu", names=FEATURES)
relu6 = unary(activation.relu6, REAL, label="Relu6", names=FEATURES)
elu = unary(activation.elu, FLOATS, label="Elu", names=FEATURES)
selu = unary(activation.selu, FLOATS, label="Selu", names=FEATURES)


@public
def leaky_relu(features: Any, alpha: float = 0.2, name: str | None = None) -> Tensor:
    """`features` where they are positive, else `alpha` times them."""
    x = convert(features)
    if x.dtype.is_integer:
        x = e.discretize(x, dtype=np.dtype(np.float32))
    return activation.leaky_relu(operand("LeakyRelu", x, FLOATS), alpha=float(alpha))


@public
def crelu(features: Any, axis: int = -1, name: str | None = None) -> Tensor:
    """The positive parts of `features` and of their negative, one after the other along `axis`."""
    x = convert(features)
    n = x._array.ndim
    (at,) = normalize_axes(int(axis), n, "crelu")
    return s.concat(e.relu(x), e.relu(e.negative(x)), axis=at)


@public
def gelu(features: Any, approximate: bool = False, name: str | None = None) -> Tensor:
    """`features` times the probability that a standard normal variable lies below them.

    Args:
        features: a tensor of floats.
        approximate: use the approximation by a hyperbolic tangent.
        name: accepted for TensorFlow's sake.
    """
    x = convert(features)
    if not x.dtype.is_floating:
        raise ValueError(f"gelu: `features` must be a floating point tensor. Received {x.dtype.name}.")
    if approximate:
        inner = x + x * x * x * 0.044715
        return x * 0.5 * (e.tanh(inner * 0.7978845608028654) + 1)
    return x * 0.5 * (erf(x / 1.4142135623730951) + 1)


@public
def silu(features: Any, beta: Any = 1.0) -> Tensor:
    """`features` times the logistic function of `beta` times them."""
    x = convert(features)
    if not is_typed(beta) and beta == 1:
        return e.multiply(x, e.sigmoid(x))
    return e.multiply(x, e.sigmoid(e.multiply(*pair(x, beta))))


swish = silu


# -- softmax and losses --------------------------------------------------------------------------------------------------


def axis_of(op: str, x: Tensor, axis: Any) -> int:
    """An axis of the logits, counted from the end."""
    n = x._array.ndim
    if n == 0:
        raise InvalidArgumentError(f"{op}: logits must have >= 1 dimension, got [].")
    at = -1 if axis is None else int(convert(axis)._array)
    if not -n <= at < n:
        raise InvalidArgumentError(
            f"{op}: `dim` must be in the range [{-n}, {n}) where {n} is the number of dimensions in the input. "
            f"Received: dim={at}."
        )
    return at - n if at >= 0 else at


@public
def softmax(logits: Any, axis: int | None = None, name: str | None = None) -> Tensor:
    """Exponentials of `logits`, scaled so that they sum to one along `axis` (the last, if None)."""
    x = operand("Softmax", convert(logits), FLOATS)
    return ops.softmax(x, axis=axis_of("softmax", x, axis))


@public
def log_softmax(logits: Any, axis: int | None = None, name: str | None = None) -> Tensor:
    """Logarithm of the softmax along `axis` (the last, if None)."""
    x = operand("LogSoftmax", convert(logits), FLOATS)
    return ops.log_softmax(x, axis=axis_of("log_softmax", x, axis))


def widened(x: Tensor) -> Any:
    """Half precision in float32, where the losses are computed."""
    return e.cast(x, dtype=np.dtype(np.float32)) if x._array.dtype.itemsize == 2 else x


def narrowed(x: Any, like: Tensor) -> Any:
    """Back to the dtype of `like`."""
    return x if x._array.dtype == like._array.dtype else e.cast(x, dtype=like._array.dtype)


@public
def softmax_cross_entropy_with_logits(
    labels: Any, logits: Any, axis: int = -1, name: str | None = None
) -> Tensor:
    """Cross-entropy between `labels` and the softmax of `logits`.

    Args:
        labels: probabilities that sum to one along `axis`.
        logits: unscaled log-probabilities.
        axis: the axis of the classes.
        name: accepted for TensorFlow's sake.

    Returns:
        One loss for each distribution: the shape without `axis`.
    """
    x = operand("SoftmaxCrossEntropyWithLogits", convert(logits), FLOATS)
    y = convert(labels) if is_typed(labels) else convert(labels, x.dtype)
    if y.dtype != x.dtype:
        y = e.cast(y, dtype=x._array.dtype)
    try:
        common = np.broadcast_shapes(x._array.shape, y._array.shape)
    except ValueError:
        raise InvalidArgumentError(
            "softmax_cross_entropy_with_logits: logits and labels must be broadcastable: logits_size="
            f"{list(x._array.shape)} labels_size={list(y._array.shape)}."
        ) from None
    at = axis_of("softmax_cross_entropy_with_logits", x if x._array.ndim else y, axis)
    whole, target = (stretched(t, common) for t in (widened(x), widened(y)))
    n = len(common)
    if at != -1:
        order = (*(k for k in range(n) if k != at + n), at + n)
        whole, target = s.permuted(whole, order), s.permuted(target, order)
    return narrowed(ops.cross_entropy(whole, target, ops.softmax(whole, axis=-1)), x)


def stretched(x: Any, shape: tuple[int, ...]) -> Any:
    """`x` broadcast to `shape`."""
    own = x._array.shape
    return x if own == shape else broadcast_to(x, shape=shape, rank=len(own))


@public
def sparse_softmax_cross_entropy_with_logits(labels: Any, logits: Any, name: str | None = None) -> Tensor:
    """Minus the log-probability of the class that each label names.

    Args:
        labels: int32 or int64, of the shape of `logits` without its last axis.
        logits: unscaled log-probabilities.
        name: accepted for TensorFlow's sake.

    Raises:
        InvalidArgumentError: if a label is no class.
        ValueError: if the shapes do not go together.
    """
    y = convert(labels)
    x = convert(logits)
    if y._array.dtype not in (np.dtype(np.int32), np.dtype(np.int64)):
        raise InvalidArgumentError(
            f"sparse_softmax_cross_entropy_with_logits: Value for attr 'Tlabels' of {y.dtype.name} is not in the "
            "list of allowed values: int32, int64."
        )
    operand("SparseSoftmaxCrossEntropyWithLogits", x, FLOATS)
    if y._array.shape != x._array.shape[:-1] or not x._array.shape:
        raise ValueError(
            "`labels.shape` must equal `logits.shape` except for the last dimension. Received: labels.shape="
            f"{y.shape} and logits.shape={x.shape}"
        )
    whole = widened(x)
    return narrowed(ops.sparse_cross_entropy(whole, y, ops.softmax(whole, axis=-1)), x)


def labelled(op: str, labels: Any, logits: Any) -> tuple[Tensor, Tensor]:
    """Logits and labels of one shape and dtype."""
    x = convert(logits)
    y = convert(labels)
    if x._array.shape != y._array.shape:
        raise ValueError(f"`logits` and `labels` must have the same shape, received ({x.shape} vs {y.shape}).")
    same(op, x, y)
    return operand(op, x, FLOATS), y


@public
def sigmoid_cross_entropy_with_logits(labels: Any = None, logits: Any = None, name: str | None = None) -> Tensor:
    """Cross-entropy of independent yes-or-no labels, elementwise."""
    x, y = labelled("Mul", labels, logits)
    return ops.sigmoid_cross_entropy(x, y)


@public
def weighted_cross_entropy_with_logits(
    labels: Any, logits: Any, pos_weight: Any, name: str | None = None
) -> Tensor:
    """`sigmoid_cross_entropy_with_logits` in which yes counts `pos_weight` times."""
    x, y = labelled("Mul", labels, logits)
    weight = (convert(pos_weight, x.dtype) - 1) * y + 1
    return (1 - y) * x + weight * e.softplus(e.negative(x))


@public
def log_poisson_loss(
    targets: Any, log_input: Any, compute_full_loss: bool = False, name: str | None = None
) -> Tensor:
    """Minus the log-likelihood of counts `targets` under rates exp(`log_input`), up to a constant.

    Args:
        targets: the counts.
        log_input: logarithms of the rates.
        compute_full_loss: add Stirling's approximation of the constant.
        name: accepted for TensorFlow's sake.
    """
    x, z = labelled("Mul", targets, log_input)
    loss = e.exp(x) - x * z
    if not compute_full_loss:
        return loss
    stirling = z * e.log(z) - z + e.log(z * 6.283185307179586) * 0.5
    between = e.logical_and(e.greater_equal(z, 0), e.less_equal(z, 1))
    return loss + e.select(between, e.zeros_like(z), stirling)


@public
def l2_loss(t: Any, name: str | None = None) -> Tensor:
    """Half the sum of the squares."""
    x = operand("L2Loss", convert(t), FLOATS)
    axes = tuple(range(-x._array.ndim, 0))
    return e.divide(reduce_sum(e.square(x), axis=axes, keepdims=False), eager(x._array.dtype.type(2)))


@public
def compute_average_loss(
    per_example_loss: Any, sample_weight: Any = None, global_batch_size: Any = None
) -> Tensor:
    """Sum of losses over `global_batch_size`, their number if None."""
    x = convert(per_example_loss)
    if sample_weight is not None:
        weight = convert(sample_weight, None if is_typed(sample_weight) else x.dtype)
        x = x * e.cast(weight, dtype=x._array.dtype)
    count = x._array.shape[0] if global_batch_size is None else int(convert(global_batch_size)._array)
    return reduce_sum(x, axis=tuple(range(-x._array.ndim, 0)), keepdims=False) / float(count)


# -- normalisation -------------------------------------------------------------------------------------------------------


@public
def moments(
    x: Any, axes: Any, shift: Any = None, keepdims: bool = False, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Mean and variance of `x` along `axes`; half precision is computed in float32.

    Args:
        x: a tensor.
        axes: the axes to average over.
        shift: accepted for TensorFlow's sake.
        keepdims: keep the reduced axes with length one.
        name: accepted for TensorFlow's sake.
    """
    tensor = operand("Mean", convert(x), NUMBERS)
    y = widened(tensor)
    along = normalize_axes(shape_tuple(axes), y._array.ndim, "moments")
    mean = reduce_mean(y, axis=along, keepdims=True)
    distance = e.subtract(y, mean)
    variance = reduce_mean(e.multiply(distance, distance), axis=along, keepdims=keepdims)
    if not keepdims:
        mean = s.reshape(mean, shape=variance._array.shape, rank=mean._array.ndim)
    return narrowed(mean, tensor), narrowed(variance, tensor)


@public
def weighted_moments(
    x: Any, axes: Any, frequency_weights: Any, keepdims: bool = False, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Mean and variance of `x` along `axes`, where elements count as often as `frequency_weights` says."""
    tensor = convert(x)
    y = widened(tensor)
    along = normalize_axes(shape_tuple(axes), y._array.ndim, "weighted_moments")
    weight = stretched(convert(frequency_weights, y.dtype), y._array.shape)
    total = reduce_sum(weight, axis=along, keepdims=True)
    mean = reduce_sum(e.multiply(weight, y), axis=along, keepdims=True) / total
    distance = e.subtract(y, mean)
    variance = reduce_sum(e.multiply(weight, distance * distance), axis=along, keepdims=True) / total
    if not keepdims:
        shape = tuple(n for k, n in enumerate(y._array.shape) if k - y._array.ndim not in along)
        mean, variance = (s.reshape(t, shape=shape, rank=t._array.ndim) for t in (mean, variance))
    return narrowed(mean, tensor), narrowed(variance, tensor)


@public
def sufficient_statistics(
    x: Any, axes: Any, shift: Any = None, keepdims: bool = False, name: str | None = None
) -> tuple[Tensor, Tensor, Tensor, Any]:
    """Count, sum and sum of squares along `axes`, of `x` or of its distance from `shift`."""
    tensor = convert(x)
    along = normalize_axes(shape_tuple(axes), tensor._array.ndim, "sufficient_statistics")
    count = np.dtype(tensor._array.dtype).type(np.prod([tensor._array.shape[k] for k in along]))
    moved = tensor if shift is None else tensor - convert(shift, tensor.dtype)
    sums = reduce_sum(moved, axis=along, keepdims=keepdims)
    squares = reduce_sum(e.square(moved), axis=along, keepdims=keepdims)
    return eager(count), sums, squares, None if shift is None else convert(shift, tensor.dtype)


@public
def normalize_moments(
    counts: Any, mean_ss: Any, variance_ss: Any, shift: Any, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Mean and variance from what `sufficient_statistics` gives."""
    share = e.reciprocal(convert(counts))
    middle = convert(mean_ss) * share
    mean = middle if shift is None else middle + convert(shift, middle.dtype)
    return mean, convert(variance_ss) * share - middle * middle


@public
def batch_normalization(
    x: Any, mean: Any, variance: Any, offset: Any, scale: Any, variance_epsilon: float, name: str | None = None
) -> Tensor:
    """`x` shifted and scaled to zero mean and unit variance, then by `scale` and `offset` if they are given."""
    tensor = convert(x)
    factor = e.rsqrt(convert(variance) + variance_epsilon)
    if scale is not None:
        factor = factor * convert(scale)
    start = convert(mean) * factor
    bias = e.negative(start) if offset is None else convert(offset) - start
    kind = tensor._array.dtype
    factor, bias = (t if t._array.dtype == kind else e.cast(t, dtype=kind) for t in (factor, bias))
    return e.add(e.multiply(tensor, factor), bias)


@public
def bias_add(value: Any, bias: Any, data_format: str | None = None, name: str | None = None) -> Tensor:
    """`value` with a vector added along its channels: the last axis, or the second for "NC…" formats."""
    x, b = pair(value, bias)
    same("BiasAdd", x, b)
    if data_format is not None and not data_format.startswith("N"):
        raise ValueError(f"bias_add: `data_format` must be of the form `N...C` or `NC...`. Received {data_format!r}.")
    first = data_format is not None and data_format.startswith("NC")
    n = x._array.ndim
    if n < 2:
        raise InvalidArgumentError(f"bias_add: Input tensor must be at least 2D: {list(x._array.shape)}.")
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
    """`input` over a power of the sum of squares of its neighbours along the last axis.

    Args:
        input: (batch, height, width, channels).
        depth_radius: how many channels on either side count.
        bias: added to the sum.
        alpha: weight of the sum.
        beta: the power.
        name: accepted for TensorFlow's sake.
    """
    x = operand("LRN", convert(input), FLOATS)
    channels = x._array.shape[-1]
    near = band_mask(channels, channels, depth_radius, depth_radius).astype(x._array.dtype)
    total = matmul(e.square(x), eager(near))
    return x / (total * alpha + bias) ** beta


lrn = local_response_normalization


# -- lookups and rearrangements -------------------------------------------------------------------------------------------


@public
def embedding_lookup(params: Any, ids: Any, max_norm: Any = None, name: str | None = None) -> Tensor:
    """Rows of `params`, one for each of `ids`, scaled down to length `max_norm` if that is given.

    The gradient is IndexedSlices.
    """
    if isinstance(params, (list, tuple)):
        if len(params) != 1:
            raise ValueError("embedding_lookup: partitioned tables are not supported. Give one tensor or variable.")
        params = params[0]
    rows = gather(params, ids)
    if max_norm is None:
        return rows
    inner = tuple(range(convert(ids)._array.ndim - rows._array.ndim, 0))
    square = reduce_sum(e.square(rows), axis=inner, keepdims=True)
    limit = convert(max_norm, rows.dtype)
    length = e.sqrt(square)
    return rows * limit / e.maximum(length, limit)


@public
def space_to_depth(input: Any, block_size: int, data_format: str = "NHWC", name: str | None = None) -> Tensor:
    """Blocks of pixels moved into the channels."""
    x = convert(input)
    batch, height, width, channels = x._array.shape
    k = block_size
    if height % k or width % k:
        raise InvalidArgumentError(f"space_to_depth: Image height {height} and width {width} must be divisible by {k}.")
    apart = s.reshape(x, shape=(batch, height // k, k, width // k, k, channels), rank=4)
    moved = s.permuted(apart, (0, 1, 3, 2, 4, 5))
    return s.reshape(moved, shape=(batch, height // k, width // k, k * k * channels), rank=6)


@public
def depth_to_space(input: Any, block_size: int, data_format: str = "NHWC", name: str | None = None) -> Tensor:
    """Channels moved into blocks of pixels; the inverse of `space_to_depth`."""
    x = convert(input)
    batch, height, width, channels = x._array.shape
    k = block_size
    if channels % (k * k):
        raise InvalidArgumentError(f"depth_to_space: Input depth {channels} must be divisible by {k * k}.")
    apart = s.reshape(x, shape=(batch, height, width, k, k, channels // (k * k)), rank=4)
    moved = s.permuted(apart, (0, 1, 3, 2, 4, 5))
    return s.reshape(moved, shape=(batch, height * k, width * k, channels // (k * k)), rank=6)
