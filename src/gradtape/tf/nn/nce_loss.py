"""Losses over a few sampled classes out of many: NCE and sampled softmax."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.ops import elementwise as e
from gradtape.ops import shape as s
from gradtape.ops.linalg.matmul import matmul
from gradtape.ops.reduce import reduce_sum
from gradtape.ops.shape import swap
from gradtape.tf.nn.embedding import embedding_lookup
from gradtape.tf.nn.loss import sigmoid_cross_entropy_with_logits, softmax_cross_entropy_with_logits
from gradtape.tf.random.candidate_sampler import log_uniform_candidate_sampler


def check_true_classes(op: str, true_classes: Any, num_true: int) -> Any:
    """Convert true classes to a raw array, after a check of the shape (batch, num_true)."""
    classes = np.asarray(convert(true_classes, dtypes.int64)._array)
    if classes.ndim != 2 or classes.shape[1] != num_true:
        raise InvalidArgumentError(
            f"{op}: true_classes must be a matrix with {num_true} columns. Received shape "
            f"{list(classes.shape)}."
        )
    return classes


@public
def compute_accidental_hits(
    true_classes: Any,
    sampled_candidates: Any,
    num_true: int,
    seed: Any = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Positions at which a sampled class equals a true class.

    Args:
        true_classes: integers (batch, num_true).
        sampled_candidates: integers (sampled,).
        num_true: the number of true classes of an example.
        seed: has no effect here.
        name: has no effect here.

    Returns:
        Rows of `true_classes`, positions in `sampled_candidates`, and for each the smallest
        float32, which added to a logit excludes the class.
    """
    classes = check_true_classes("ComputeAccidentalHits", true_classes, num_true)
    found = np.asarray(convert(sampled_candidates, dtypes.int64)._array)
    rows, _, places = np.nonzero(classes[:, :, None] == found)
    least = np.full(len(rows), np.finfo(np.float32).min, np.float32)
    return (
        make_tensor(rows.astype(np.int32)),
        make_tensor(places.astype(np.int64)),
        make_tensor(least),
    )


def compute_sampled_logits(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    num_true: int,
    sampled_values: Any,
    remove_accidental_hits: bool,
    seed: Any = None,
) -> tuple[Any, Any]:
    """Compute logits of true and sampled classes, minus the log of their expected counts."""
    truth = convert(labels)
    truth = truth if truth.dtype is dtypes.int64 else e.discretize(truth, dtype=np.dtype(np.int64))
    if truth._array.ndim == 1:
        truth = s.reshape(truth, shape=(*truth._array.shape, 1), rank=1)
    x = convert(inputs)
    batch, width = x._array.shape
    if sampled_values is None:
        sampled_values = log_uniform_candidate_sampler(
            truth, num_true, num_sampled, True, num_classes, seed
        )
    sampled_ids, expected, expected_sampled = (e.stop_gradient(convert(v)) for v in sampled_values)
    flat = s.reshape(truth, shape=(batch * num_true,), rank=2)
    every = s.concat(flat, convert(sampled_ids, dtypes.int64), axis=-1)
    rows, offsets = embedding_lookup(weights, every), embedding_lookup(biases, every)
    n, m = batch * num_true, sampled_ids._array.shape[0]
    true_rows, sampled_rows = (
        s.slice_axis(rows, axis=-2, start=i, size=k) for i, k in ((0, n), (n, m))
    )
    true_biases, sampled_biases = (
        s.slice_axis(offsets, axis=-1, start=i, size=k) for i, k in ((0, n), (n, m))
    )
    true_rows = s.reshape(true_rows, shape=(batch, num_true, width), rank=2)
    true_logits = reduce_sum(
        s.reshape(x, shape=(batch, 1, width), rank=2) * true_rows, axis=(-1,), keepdims=False
    )
    true_logits = true_logits + s.reshape(true_biases, shape=(batch, num_true), rank=1)
    noise_logits = matmul(x, swap(sampled_rows)) + sampled_biases
    if remove_accidental_hits:
        hits = np.zeros((batch, m), noise_logits._array.dtype)
        at = compute_accidental_hits(truth, sampled_ids, num_true)
        np.add.at(hits, (at[0]._array, at[1]._array), at[2]._array.astype(hits.dtype))
        noise_logits = noise_logits + make_tensor(hits)
    kind = true_logits._array.dtype
    true_logits = true_logits - e.log(e.cast(expected, dtype=kind))
    noise_logits = noise_logits - e.log(e.cast(expected_sampled, dtype=kind))
    target = np.zeros((batch, num_true + m), kind)
    target[:, :num_true] = 1 / num_true
    return s.concat(true_logits, noise_logits, axis=-1), make_tensor(target)


@public
def nce_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Any = None,
    remove_accidental_hits: bool = False,
    name: str | None = "nce_loss",
) -> Tensor:
    """Noise-contrastive estimation loss (Gutmann and Hyvärinen, 2010).

    Args:
        weights: (num_classes, width), or a list of parts of that.
        biases: (num_classes,).
        labels: (batch, num_true) integers.
        inputs: (batch, width).
        num_sampled: the number of classes to sample for the batch.
        num_classes: the number of classes.
        num_true: the number of true classes of each example.
        sampled_values: the result of a candidate sampler; by default, of the log-uniform one.
        remove_accidental_hits: whether to exclude sampled classes that are true classes.
        name: has no effect here.

    Returns:
        (batch,) losses.
    """
    logits, target = compute_sampled_logits(
        weights,
        biases,
        labels,
        inputs,
        num_sampled,
        num_classes,
        num_true,
        sampled_values,
        remove_accidental_hits,
    )
    each = sigmoid_cross_entropy_with_logits(target, logits)
    return reduce_sum(each, axis=(-1,), keepdims=False)


@public
def sampled_softmax_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Any = None,
    remove_accidental_hits: bool = True,
    seed: Any = None,
    name: str | None = "sampled_softmax_loss",
) -> Tensor:
    """Softmax cross-entropy over the true classes and some sampled ones.

    The arguments are those of `nce_loss`.

    Args:
        weights: the table of class weights (classes, width), or a list of its parts.
        biases: a vector of class biases.
        labels: integers (batch, num_true).
        inputs: a tensor (batch, width).
        num_sampled: the number of classes to sample.
        num_classes: the number of classes.
        num_true: the number of true classes of an example.
        sampled_values: the result of a candidate sampler, or None.
        remove_accidental_hits: whether sampled classes that are true ones are left out.
        seed: an integer or None.
        name: has no effect here.

    Returns:
        A loss for each example (batch,).
    """
    logits, target = compute_sampled_logits(
        weights,
        biases,
        labels,
        inputs,
        num_sampled,
        num_classes,
        num_true,
        sampled_values,
        remove_accidental_hits,
        seed,
    )
    return softmax_cross_entropy_with_logits(target, logits)
