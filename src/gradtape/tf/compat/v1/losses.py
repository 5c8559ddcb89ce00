"""tf.compat.v1.losses: weighted losses."""

from __future__ import annotations

from typing import Any

from gradtape.core.errors import public
from gradtape.core.tensor import Tensor
from gradtape.tf.api import math
from gradtape.tf.array.creation import convert_to_tensor, ones_like, zeros_like
from gradtape.tf.array.mask import where
from gradtape.tf.array.reshape import (
    broadcast_to,
    squeeze,
)
from gradtape.tf.gradients import stop_gradient
from gradtape.tf.math import elementwise as e
from gradtape.tf.math.cast import cast
from gradtape.tf.math.reduce import reduce_mean, reduce_sum
from gradtape.tf.nn import loss as cross_entropy


class Reduction:
    """How the losses of all elements are reduced to one."""

    NONE = "none"
    SUM = "weighted_sum"
    SUM_OVER_BATCH_SIZE = "weighted_sum_over_batch_size"
    MEAN = "weighted_mean"
    SUM_BY_NONZERO_WEIGHTS = SUM_OVER_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights"


DEFAULT_REDUCTION = Reduction.SUM_BY_NONZERO_WEIGHTS


@public
def compute_weighted_loss(
    losses: Any,
    weights: Any = 1.0,
    scope: Any = None,
    loss_collection: Any = "losses",
    reduction: str = DEFAULT_REDUCTION,
) -> Tensor:
    """Losses times weights, reduced.

    Args:
        losses: the loss of each element.
        weights: broadcast to the shape of `losses`.
        scope: has no effect here.
        loss_collection: has no effect here; eager programs have no collections.
        reduction: one of `Reduction`.
    """
    losses = convert_to_tensor(losses)
    given = losses.dtype
    losses = cast(losses, "float32") if not given.is_floating else losses
    weights = cast(convert_to_tensor(weights), losses.dtype)
    if weights.shape.rank not in (0, losses.shape.rank):
        raise ValueError(
            f"weights can not be broadcast to values. values.rank={losses.shape.rank}. "
            f"weights.rank={weights.shape.rank}. Reshape the weights."
        )
    weighted = losses * weights
    if reduction == Reduction.NONE:
        return cast(weighted, given)
    total = reduce_sum(weighted)
    if reduction == Reduction.SUM_OVER_BATCH_SIZE:
        total = reduce_mean(weighted)
    elif reduction == Reduction.MEAN:
        total = math.divide_no_nan(total, reduce_sum(ones_like(losses) * weights))
    elif reduction == DEFAULT_REDUCTION:
        present = where(math.equal(weights, 0), zeros_like(weights), ones_like(weights))
        total = math.divide_no_nan(total, reduce_sum(broadcast_to(present, losses.shape)))
    elif reduction != Reduction.SUM:
        raise ValueError(f"Invalid Reduction Key {reduction}.")
    return cast(total, given)


def as_float_pair(labels: Any, predictions: Any) -> tuple[Any, Any]:
    """Convert both to float32 and check that the shapes agree."""
    if labels is None or predictions is None:
        raise ValueError("Arguments `labels` and `predictions` must not be None.")
    predictions = cast(convert_to_tensor(predictions), "float32")
    labels = cast(convert_to_tensor(labels), "float32")
    predictions.shape.assert_is_compatible_with(labels.shape)
    return labels, predictions


@public
def absolute_difference(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    scope: Any = None,
    loss_collection: Any = "losses",
    reduction: str = DEFAULT_REDUCTION,
) -> Tensor:
    """|labels - predictions|."""
    labels, predictions = as_float_pair(labels, predictions)
    losses = e.abs(predictions - labels)
    return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


@public
def mean_squared_error(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    scope: Any = None,
    loss_collection: Any = "losses",
    reduction: str = DEFAULT_REDUCTION,
) -> Tensor:
    """(labels - predictions)²."""
    labels, predictions = as_float_pair(labels, predictions)
    losses = math.squared_difference(predictions, labels)
    return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


@public
def huber_loss(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    delta: float = 1.0,
    scope: Any = None,
    loss_collection: Any = "losses",
    reduction: str = DEFAULT_REDUCTION,
) -> Tensor:
    """Huber loss: half the squared error up to `delta`, linear beyond it."""
    labels, predictions = as_float_pair(labels, predictions)
    distance = e.abs(predictions - labels)
    small = e.minimum(distance, delta)
    losses = 0.5 * small * small + delta * (distance - small)
    return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


@public
def log_loss(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    epsilon: float = 1e-7,
    scope: Any = None,
    loss_collection: Any = "losses",
    reduction: str = DEFAULT_REDUCTION,
) -> Tensor:
    """Cross entropy of probabilities."""
    labels, predictions = as_float_pair(labels, predictions)
    losses = -labels * math.log(predictions + epsilon)
    losses = losses - (1 - labels) * math.log(1 - predictions + epsilon)
    return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


@public
def hinge_loss(
    labels: Any,
    logits: Any,
    weights: Any = 1.0,
    scope: Any = None,
    loss_collection: Any = "losses",
    reduction: str = DEFAULT_REDUCTION,
) -> Tensor:
    """max(0, 1 - logits) for labels 1, max(0, 1 + logits) for labels 0."""
    labels, logits = as_float_pair(labels, logits)
    losses = e.maximum(1 - (2 * labels - 1) * logits, 0.0)
    return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


@public
def sigmoid_cross_entropy(
    multi_class_labels: Any,
    logits: Any,
    weights: Any = 1.0,
    label_smoothing: float = 0,
    scope: Any = None,
    loss_collection: Any = "losses",
    reduction: str = DEFAULT_REDUCTION,
) -> Tensor:
    """Cross entropy of independent classes."""
    logits = convert_to_tensor(logits)
    labels = cast(multi_class_labels, logits.dtype)
    if label_smoothing > 0:
        labels = labels * (1 - label_smoothing) + 0.5 * label_smoothing
    losses = cross_entropy.sigmoid_cross_entropy_with_logits(labels, logits)
    return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


@public
def softmax_cross_entropy(
    onehot_labels: Any,
    logits: Any,
    weights: Any = 1.0,
    label_smoothing: float = 0,
    scope: Any = None,
    loss_collection: Any = "losses",
    reduction: str = DEFAULT_REDUCTION,
) -> Tensor:
    """Cross entropy of mutually exclusive classes; the labels get no gradient."""
    logits = convert_to_tensor(logits)
    labels = stop_gradient(cast(onehot_labels, logits.dtype))
    if label_smoothing > 0:
        labels = labels * (1 - label_smoothing) + label_smoothing / labels.shape[1]
    losses = cross_entropy.softmax_cross_entropy_with_logits(labels, logits)
    return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


@public
def sparse_softmax_cross_entropy(
    labels: Any,
    logits: Any,
    weights: Any = 1.0,
    scope: Any = None,
    loss_collection: Any = "losses",
    reduction: str = DEFAULT_REDUCTION,
) -> Tensor:
    """As `softmax_cross_entropy`, with class indices as labels."""
    labels, logits = convert_to_tensor(labels), convert_to_tensor(logits)
    if labels.shape.rank == logits.shape.rank:
        labels = squeeze(labels, [-1])
    losses = cross_entropy.sparse_softmax_cross_entropy_with_logits(labels, logits)
    return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)
