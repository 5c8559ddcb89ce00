"""Softmax and the losses of tf.nn."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, handle_error, public
from gradtape.core.replica import replica_state
from gradtape.core.tensor import EagerTensor, Tensor, make_tensor
from gradtape.core.traceback_filter import hide_library_frames
from gradtape.ops import elementwise as e
from gradtape.ops import shape as s
from gradtape.ops.nn import softmax as softmax_ops
from gradtape.ops.reduce import reduce_sum
from gradtape.tf.array.range import broadcast_to_shape
from gradtape.tf.public_op import FLOATS, NUMBERS, check_dtype, check_same_dtype, has_own_dtype

FLOAT32 = np.dtype(np.float32)


def normalize_logits_axis(op: str, x: Tensor, axis: Any) -> int:
    """Convert an axis of the logits to a negative one."""
    n = x._array.ndim
    if n == 0:
        raise InvalidArgumentError(f"{op}: logits must have >= 1 dimension, got [].")
    at = -1 if axis is None else int(convert(axis)._array)
    if not -n <= at < n:
        raise InvalidArgumentError(
            f"{op}: `dim` must be in the range [{-n}, {n}) where {n} is the number of dimensions "
            f"in the input. Received: dim={at}."
        )
    return at - n if at >= 0 else at


@public
def softmax(logits: Any, axis: int | None = None, name: str | None = None) -> Tensor:
    """Exponentials of `logits`, scaled to sum to one along `axis` (the last, if None).

    Args:
        logits: a tensor of floats.
        axis: the axis of the classes; the last, if None.
        name: has no effect here.

    Returns:
        A tensor like `logits`.

    Example:
        >>> tf.nn.softmax([0.0, 0.0]).numpy()
        array([0.5, 0.5], dtype=float32)
    """
    x = check_dtype("Softmax", convert(logits), FLOATS)
    return softmax_ops.softmax(x, axis=normalize_logits_axis("softmax", x, axis))


@public
def log_softmax(logits: Any, axis: int | None = None, name: str | None = None) -> Tensor:
    """Logarithm of the softmax along `axis` (the last, if None).

    Args:
        logits: a tensor of floats.
        axis: the axis of the classes; the last, if None.
        name: has no effect here.

    Returns:
        A tensor like `logits`.

    Example:
        >>> tf.math.log_softmax([0.0, 0.0]).numpy().round(4)
        array([-0.6931, -0.6931], dtype=float32)
    """
    x = check_dtype("LogSoftmax", convert(logits), FLOATS)
    return softmax_ops.log_softmax(x, axis=normalize_logits_axis("log_softmax", x, axis))


def widen_half(x: Tensor) -> Any:
    """Cast half precision to float32, in which losses are computed."""
    return e.cast(x, dtype=np.dtype(np.float32)) if x._array.dtype.itemsize == 2 else x


def cast_like(x: Any, like: Tensor) -> Any:
    """Cast `x` to the dtype of `like`."""
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
        name: has no effect here.

    Returns:
        One loss for each distribution: the shape without `axis`.

    Example:
        >>> tf.nn.softmax_cross_entropy_with_logits([0.0, 1.0], [0.0, 0.0]).numpy().round(4)
        np.float32(0.6931)
    """
    x = check_dtype("SoftmaxCrossEntropyWithLogits", convert(logits), FLOATS)
    y = convert(labels) if has_own_dtype(labels) else convert(labels, x.dtype)
    if y.dtype != x.dtype:
        y = e.cast(y, dtype=x._array.dtype)
    if x._array.shape == y._array.shape and axis in (-1, x._array.ndim - 1) and x._array.ndim:
        whole, target = widen_half(x), widen_half(y)
        return cast_like(
            softmax_ops.cross_entropy(whole, target, softmax_ops.softmax(whole, axis=-1)), x
        )
    at = normalize_logits_axis("softmax_cross_entropy_with_logits", x, axis)
    if at != -1:
        n = x._array.ndim
        order = (*(k for k in range(n) if k != at + n), at + n)
        x, y = (s.permute_axes(t, order) if t._array.ndim == n else t for t in (x, y))
    return cast_like(compute_row_losses(widen_half(x), widen_half(y)), x)


def compute_row_losses(logits: Any, labels: Any) -> Any:
    """Compute the losses of matrices of rows; all axes but the last are flattened.

    As in TensorFlow, the flattened arguments broadcast.
    """
    shape = logits._array.shape
    if not labels._array.ndim:
        raise InvalidArgumentError(
            "softmax_cross_entropy_with_logits: labels must have an axis. Received a scalar."
        )
    rows = [s.reshape(t, shape=matrix_shape_of(t), rank=t._array.ndim) for t in (logits, labels)]
    sizes = [t._array.shape for t in rows]
    if any(n != m and 1 not in (n, m) for n, m in zip(*sizes, strict=True)):
        raise InvalidArgumentError(
            "softmax_cross_entropy_with_logits: logits and labels must be broadcastable: "
            f"logits_size={list(sizes[0])} labels_size={list(sizes[1])}."
        )
    common = (max(sizes[0][0], sizes[1][0]), max(sizes[0][1], sizes[1][1]))
    if common[0] != prod(shape[:-1]):
        raise InvalidArgumentError(
            "softmax_cross_entropy_with_logits: labels must not have more rows than logits. "
            f"Received {common[0]} rows for logits of shape {list(shape)}. Repeat the logits first."
        )
    whole, target = (broadcast_to_shape(t, common) for t in rows)
    loss = softmax_ops.cross_entropy(whole, target, softmax_ops.softmax(whole, axis=-1))
    return s.reshape(loss, shape=shape[:-1], rank=1)


def matrix_shape_of(x: Any) -> tuple[int, int]:
    """The shape of `x` with all axes but the last flattened into one."""
    shape = x._array.shape or (1,)
    return prod(shape[:-1]), shape[-1]


def sparse_softmax_cross_entropy_with_logits(
    labels: Any, logits: Any, name: str | None = None
) -> Tensor:
    """Cross-entropy of integer labels: minus the log-probability of each label's class.

    Args:
        labels: int32 or int64, of the shape of `logits` without its last axis.
        logits: unscaled log-probabilities.
        name: has no effect here.

    Returns:
        A tensor of the shape of `labels`.

    Raises:
        InvalidArgumentError: if a label is out of range.
        ValueError: if the shapes are incompatible.

    Example:
        >>> tf.nn.sparse_softmax_cross_entropy_with_logits([1], [[0.0, 0.0]]).numpy().round(4)
        array([0.6931], dtype=float32)
    """
    try:
        return compute_sparse_loss(labels, logits)
    except Exception as error:
        loss = sparse_softmax_cross_entropy_with_logits
        try:
            return handle_error(error, loss, (labels, logits), {})
        except Exception as final:
            hide_library_frames(final)
            raise


def compute_sparse_loss(labels: Any, logits: Any) -> Tensor:
    """Compute `sparse_softmax_cross_entropy_with_logits` of dense tensors."""
    y = labels if type(labels) is EagerTensor else convert(labels)
    x = logits if type(logits) is EagerTensor else convert(logits)
    ids, raw = y._array, x._array
    if ids.dtype.char not in "ilq":
        raise InvalidArgumentError(
            f"sparse_softmax_cross_entropy_with_logits: Value for attr 'Tlabels' of {y.dtype.name} "
            "is not in the list of allowed values: int32, int64."
        )
    if raw.dtype is not FLOAT32:
        check_dtype("SparseSoftmaxCrossEntropyWithLogits", x, FLOATS)
    if ids.shape != raw.shape[:-1] or not raw.shape:
        raise ValueError(
            "`labels.shape` must equal `logits.shape` except for the last dimension. Received: "
            f"labels.shape={y.shape} and logits.shape={x.shape}"
        )
    if raw.dtype.itemsize > 2:
        return softmax_ops.sparse_cross_entropy(x, y, softmax_ops.softmax(x, axis=-1))
    whole = widen_half(x)
    return cast_like(
        softmax_ops.sparse_cross_entropy(whole, y, softmax_ops.softmax(whole, axis=-1)), x
    )


def convert_logits_and_labels(op: str, labels: Any, logits: Any) -> tuple[Tensor, Tensor]:
    """Convert logits and labels, after a check that shapes and dtypes are equal."""
    x = convert(logits)
    y = convert(labels)
    if x._array.shape != y._array.shape:
        raise ValueError(
            f"`logits` and `labels` must have the same shape, received ({x.shape} vs {y.shape})."
        )
    check_same_dtype(op, x, y)
    return check_dtype(op, x, FLOATS), y


@public
def sigmoid_cross_entropy_with_logits(
    labels: Any = None, logits: Any = None, name: str | None = None
) -> Tensor:
    """Cross-entropy of independent binary labels, elementwise.

    Args:
        labels: probabilities between 0 and 1, of the shape of `logits`.
        logits: a tensor of floats.
        name: has no effect here.

    Returns:
        A tensor like `logits`.
    """
    x, y = convert_logits_and_labels("Mul", labels, logits)
    return softmax_ops.sigmoid_cross_entropy(x, y)


@public
def weighted_cross_entropy_with_logits(
    labels: Any, logits: Any, pos_weight: Any, name: str | None = None
) -> Tensor:
    """`sigmoid_cross_entropy_with_logits` with positive labels weighted by `pos_weight`.

    Args:
        labels: probabilities between 0 and 1, of the shape of `logits`.
        logits: a tensor of floats.
        pos_weight: the weight of positive labels.
        name: has no effect here.

    Returns:
        A tensor like `logits`.

    Example:
        >>> tf.nn.weighted_cross_entropy_with_logits([1.0], [0.0], pos_weight=2.0).numpy().round(4)
        array([1.3863], dtype=float32)
    """
    x, y = convert_logits_and_labels("Mul", labels, logits)
    weight = (convert(pos_weight, x.dtype) - 1) * y + 1
    # TensorFlow's formula: at a logit of zero its derivative differs from that of softplus.
    tail = e.log1p(e.exp(e.negative(e.absolute(x)))) + e.relu(e.negative(x))
    return (1 - y) * x + weight * tail


@public
def log_poisson_loss(
    targets: Any, log_input: Any, compute_full_loss: bool = False, name: str | None = None
) -> Tensor:
    """Minus the log-likelihood of counts `targets` under rates exp(`log_input`), up to a constant.

    Args:
        targets: the counts.
        log_input: logarithms of the rates.
        compute_full_loss: whether to add Stirling's approximation of the constant.
        name: has no effect here.

    Returns:
        A tensor like `targets`.
    """
    x, z = convert_logits_and_labels("Mul", targets, log_input)
    loss = e.exp(x) - x * z
    if not compute_full_loss:
        return loss
    stirling = z * e.log(z) - z + e.log(z * 6.283185307179586) * 0.5
    between = e.logical_and(e.greater_equal(z, 0), e.less_equal(z, 1))
    return loss + e.select(between, e.zeros_like(z), stirling)


@public
def l2_loss(t: Any, name: str | None = None) -> Tensor:
    """Half the sum of the squares.

    Args:
        t: a tensor of floats.
        name: has no effect here.

    Returns:
        A scalar.

    Example:
        >>> print(tf.nn.l2_loss([3.0, 4.0]).numpy())
        12.5
    """
    x = check_dtype("L2Loss", convert(t), FLOATS)
    axes = tuple(range(-x._array.ndim, 0))
    return e.divide(
        reduce_sum(e.square(x), axis=axes, keepdims=False), make_tensor(x._array.dtype.type(2))
    )


@public
def compute_average_loss(
    per_example_loss: Any, sample_weight: Any = None, global_batch_size: Any = None
) -> Tensor:
    """Sum of losses divided by the number of examples of all replicas.

    Args:
        per_example_loss: losses of this replica, one for each example.
        sample_weight: a factor for each example, or None.
        global_batch_size: number of examples of all replicas; by default the number of losses
            times the number of replicas.

    Returns:
        A scalar. The sum of those of all replicas is the mean over the global batch.

    Raises:
        ValueError: if `per_example_loss` is a scalar.
        RuntimeError: in the scope of a strategy, outside of its replicas.

    Example:
        >>> tf.nn.compute_average_loss([1.0, 3.0], global_batch_size=4).numpy()
        np.float32(1.0)
    """
    x = convert(per_example_loss)
    if not x._array.ndim:
        raise ValueError(
            "compute_average_loss: per_example_loss must have at least rank 1. Received a scalar."
        )
    if sample_weight is not None:
        weight = convert(sample_weight, None if has_own_dtype(sample_weight) else x.dtype)
        x = x * e.cast(weight, dtype=x._array.dtype)
    total = reduce_sum(x, axis=tuple(range(-x._array.ndim, 0)), keepdims=False)
    if global_batch_size is not None:
        return total / float(int(convert(global_batch_size)._array))
    if replica_state.strategy is not None and replica_state.replica is None:
        raise RuntimeError(
            "You are calling `compute_average_loss` in cross replica context, while it was "
            "expected to be called in replica context."
        )
    return total / float(x._array.shape[0] * count_replicas())


@public
def scale_regularization_loss(regularization_loss: Any) -> Tensor:
    """Sum of a regularization loss, divided by the number of replicas.

    Args:
        regularization_loss: the loss of this replica.

    Returns:
        A scalar. The sum of those of all replicas is the loss.

    Raises:
        RuntimeError: in the scope of a strategy, outside of its replicas.
    """
    if replica_state.strategy is not None and replica_state.replica is None:
        raise RuntimeError(
            "You are calling `scale_regularization_loss` in cross replica context, while it was "
            "expected to be called in replica context."
        )
    x = check_dtype("Sum", convert(regularization_loss), NUMBERS)
    total = reduce_sum(x, axis=tuple(range(-x._array.ndim, 0)), keepdims=False)
    count = count_replicas()
    return total if count == 1 else total / float(count)


def count_replicas() -> int:
    """The number of replicas of the current strategy."""
    strategy = replica_state.strategy
    return 1 if strategy is None else int(strategy.num_replicas_in_sync)
