"""Raw reductions: counts with given sizes, cross entropies with their gradients."""

from __future__ import annotations

from typing import Any

from gradtape.core.argument import as_integer
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError
from gradtape.core.tensor import Tensor
from gradtape.tf.array.mask import one_hot
from gradtape.tf.math.bincount import bincount
from gradtape.tf.math.reduce import reduce_sum
from gradtape.tf.nn.loss import (
    log_softmax,
    softmax,
    sparse_softmax_cross_entropy_with_logits,
)


def as_bin_count(size: Any) -> int:
    """The number of bins, after a check."""
    count = as_integer(size, "size")
    if count < 0:
        raise InvalidArgumentError(f"Bincount: size ({count}) must be non-negative.")
    return count


def weights_or_none(weights: Any) -> Any:
    """None for weights without elements, which stand for ones."""
    given = convert(weights)
    return given if 0 not in given._array.shape else None


def count_weighted(arr: Any, size: Any, weights: Any) -> Tensor:
    """The sum of weights, or the number of elements, of each integer below `size`."""
    count, given = as_bin_count(size), convert(weights)
    return bincount(arr, weights_or_none(given), count, count, given.dtype)


def count_dense(input: Any, size: Any, weights: Any, binary_output: bool) -> Tensor:
    """As `count_weighted`, of a vector or of each row of a matrix."""
    x, count, given = convert(input), as_bin_count(size), convert(weights)
    if x._array.ndim > 2:
        raise InvalidArgumentError(
            f"DenseBincount: Shape must be at most rank 2 but is rank {x._array.ndim}."
        )
    axis = -1 if x._array.ndim == 2 else None
    return bincount(
        x,
        weights_or_none(given),
        count,
        count,
        given.dtype,
        axis=axis,
        binary_output=binary_output,
    )


def softmax_cross_entropy(features: Any, labels: Any) -> tuple[Tensor, Tensor]:
    """The loss of each row, and its gradient with respect to the logits."""
    logits = convert(features)
    wanted = convert(labels, logits.dtype)
    loss = -reduce_sum(wanted * log_softmax(logits), -1)
    return loss, softmax(logits) - wanted


def sparse_softmax_cross_entropy(features: Any, labels: Any) -> tuple[Tensor, Tensor]:
    """The loss of each row for its class, and its gradient with respect to the logits."""
    logits, classes = convert(features), convert(labels)
    loss = sparse_softmax_cross_entropy_with_logits(classes, logits)
    return loss, softmax(logits) - one_hot(classes, logits._array.shape[-1], dtype=logits.dtype)
