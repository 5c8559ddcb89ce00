"""Softmax and the losses on top of it: what normalises along an axis by exponentials."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.dtypes import accumulator
from gradtape.core.errors import InvalidArgumentError
from gradtape.core.primitive import elementwise, primitive
from gradtape.ops.elementwise import cast, exp, sigmoid
from gradtape.ops.index import one_hot_mask
from gradtape.ops.reduce import reduce_sum, spread


def softmax_wrt_x(g, out, axis):
    return (g - reduce_sum(g * out, axis=(axis,), keepdims=True)) * out


@primitive(x=softmax_wrt_x)
def softmax(x, *, axis: int):
    """Exponentials along `axis`, scaled so that they sum to one."""
    e = np.exp(x - np.maximum.reduce(x, axis=axis, keepdims=True))
    total = np.add.reduce(e, axis=axis, keepdims=True, dtype=accumulator(x.dtype))
    return e / total.astype(x.dtype, copy=False)


def log_softmax_wrt_x(g, out, axis):
    return g - exp(out) * reduce_sum(g, axis=(axis,), keepdims=True)


@primitive(x=log_softmax_wrt_x)
def log_softmax(x, *, axis: int):
    """Logarithm of the softmax along `axis`."""
    shifted = x - np.maximum.reduce(x, axis=axis, keepdims=True)
    total = np.add.reduce(np.exp(shifted), axis=axis, keepdims=True, dtype=accumulator(x.dtype))
    return shifted - np.log(total).astype(x.dtype, copy=False)


def along_last(g: Any, spec: Any) -> Any:
    """`g` repeated along a new last axis, to the shape of `spec`."""
    return spread(g, axis=(-1,), keepdims=False, shape=spec.shape)


# The losses take the softmax `p` of their logits as a third input without a rule: the tape keeps
# it, so the backward
# pass computes no exponential, and a second derivative goes through the softmax that was recorded.


def cross_entropy_wrt_logits(g, labels, p, logits_spec):
    """As TensorFlow, which takes labels to sum to one."""
    return along_last(g, logits_spec) * (p - labels)


def cross_entropy_wrt_labels(g, logits, logits_spec):
    return -along_last(g, logits_spec) * log_softmax(logits, axis=-1)


@primitive(logits=cross_entropy_wrt_logits, labels=cross_entropy_wrt_labels, p=None)
def cross_entropy(logits, labels, p):
    """Minus the expected logarithm of `p`, the softmax of `logits`, over the last axis."""
    likely = np.maximum.reduce(p, axis=-1, keepdims=True)
    surprise = np.maximum.reduce(logits, axis=-1, keepdims=True) - logits - np.log(likely)
    weighted = np.where(np.equal(labels, 0), surprise.dtype.type(0), labels * surprise)
    total = np.add.reduce(weighted, axis=-1, dtype=accumulator(logits.dtype))
    return total.astype(logits.dtype, copy=False)


def sparse_cross_entropy_wrt_logits(g, labels, p, logits_spec):
    hit = one_hot_mask(labels, depth=logits_spec.shape[-1])
    return along_last(g, logits_spec) * (p - cast(hit, dtype=logits_spec.dtype))


@primitive(logits=sparse_cross_entropy_wrt_logits, labels=None, p=None)
def sparse_cross_entropy(logits, labels, p):
    """Minus the logarithm of `p`, the softmax of `logits`, at the class each label names."""
    classes = logits.shape[-1]
    labels = np.asarray(labels)
    if labels.size and not (labels.min() >= 0 and labels.max() < classes):
        bad = labels[(labels < 0) | (labels >= classes)].ravel()[0]
        raise InvalidArgumentError(
            "sparse_softmax_cross_entropy_with_logits: Received a label value of "
            f"{bad} which is outside the valid range of [0, {classes}). Check the labels."
        )
    likely = np.maximum.reduce(p, axis=-1)
    rows = logits.reshape(-1, classes)
    chosen = rows[np.arange(len(rows)), labels.ravel()].reshape(labels.shape)
    return np.maximum.reduce(logits, axis=-1) - chosen - np.log(likely)


@elementwise(
    logits=lambda g, logits, labels: g * (sigmoid(logits) - labels),
    labels=lambda g, logits: -g * logits,
)
def sigmoid_cross_entropy(logits, labels):
    """Cross-entropy of independent yes-or-no labels, without overflow or cancellation."""
    return np.maximum(logits, 0) - logits * labels + np.log1p(np.exp(-np.abs(logits)))
