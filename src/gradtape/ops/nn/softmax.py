"""Softmax along an axis, and the cross-entropy losses."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any

import numpy as np

from gradtape.core.blas_thread import run_sum
from gradtape.core.dtypes import accumulator
from gradtape.core.errors import InvalidArgumentError
from gradtape.core.open_shape import broadcast_shapes
from gradtape.core.primitive import Spec, elementwise, primitive
from gradtape.core.shape_rule import broadcast_inputs, keep_shape
from gradtape.ops.cache_block import block_slices
from gradtape.ops.elementwise import exp, sigmoid
from gradtape.ops.reduce import MAX_DOT_LENGTH, ones_vector, reduce_sum, spread, unbroadcast
from gradtape.ops.shape import as_scalar_unless_string, reshape


def multiply_softmax_jacobian_wrt_share(g, x, share, share_spec, out_spec, axis):
    """Sum over lead axes that only `x` has."""
    total = partial(reduce_sum, axis=(axis,), keepdims=True)
    slope = g * (x - total(x * share)) - x * total(g * share)
    return unbroadcast(slope, share_spec.shape, 0, g, out_spec.shape)


@primitive(
    x=lambda g, share, axis: multiply_softmax_jacobian(g, share, axis=axis),
    share=multiply_softmax_jacobian_wrt_share,
    shape=broadcast_inputs,
    new_arrays=True,
)
def multiply_softmax_jacobian(x, share, *, axis: int):
    """The product share * (x - sum(x * share)) along `axis`.

    If `share` is a softmax, this is `x` times the softmax's Jacobian, a symmetric matrix.
    """
    if has_short_rows(x, axis) and x.shape == share.shape:
        return run_sum(multiply_softmax_jacobian_by_rows, x, share)
    product = x.astype(accumulator(x.dtype), copy=False) * share
    mean = np.add.reduce(product, axis=axis, keepdims=True).astype(x.dtype, copy=False)
    return (x - mean) * share


@primitive(
    x=lambda g, out, axis: multiply_softmax_jacobian(g, out, axis=axis),
    shape=keep_shape,
    new_arrays=True,
)
def softmax(x, *, axis: int):
    """Exponentials along `axis`, scaled so that they sum to one."""
    if not x.size:
        return x
    if has_short_rows(x, axis):
        width = x.shape[-1]
        return (
            softmax_block(x, width)
            if x.ndim == 2 and x.size <= BLOCK
            else run_sum(softmax_by_rows, x, width)
        )
    e = np.exp(x - np.maximum.reduce(x, axis=axis, keepdims=True))
    total = np.add.reduce(e, axis=axis, keepdims=True, dtype=accumulator(x.dtype))
    return e / total.astype(x.dtype, copy=False)


ROWS_MIN_SIZE = (
    256  # elements from which this is faster, also than the other form in compiled plans
)
BLOCK = 1 << 16
VECDOT_MIN_ROW = 64  # row length from which `np.vecdot` is the fastest dot product of rows
MIN_EXP_SUM = 1e-3  # sums of exponentials below this are computed again
MAX_SAFE_LOGIT = 60  # logits up to here have exponentials whose sum fits in float32


def has_short_rows(x: Any, axis: int) -> bool:
    """Whether `x` is a raw array and `axis` its last one, with short rows."""
    return (
        axis == -1
        and type(x) is np.ndarray
        and x.size >= ROWS_MIN_SIZE
        and x.dtype.char in "fd"
        and x.ndim > 1
        and x.shape[-1] <= MAX_DOT_LENGTH
    )


def softmax_by_rows(x: Any, width: int) -> Any:
    """Softmax of many rows."""
    out = np.empty(x.shape, x.dtype)
    rows, results = (a.reshape(-1, width) for a in (x, out))
    for span in block_slices(len(rows), width, BLOCK):
        if span.start == 0:
            e = np.empty(results[span].shape, x.dtype)  # stays in the cache
        softmax_block(rows[span], width, e, results[span])
    return out


def softmax_block(rows: Any, width: int, e: Any = None, out: Any = None) -> Any:
    """Softmax of a block of rows.

    The largest element of the block is subtracted only if an exponential might overflow or
    underflow. Rows with a small or NaN sum are computed again, relative to their own maximum. If
    `e` is given, with at least as many rows, exponentials are written to it.
    """
    top = rows.item(rows.argmax())
    if e is None:
        e = np.exp(rows if -MAX_SAFE_LOGIT < top < MAX_SAFE_LOGIT else rows - top)
    else:
        e = e[: len(rows)]
        np.exp(
            rows if -MAX_SAFE_LOGIT < top < MAX_SAFE_LOGIT else np.subtract(rows, top, out=e), out=e
        )
    ones = ones_vector(width, rows.dtype)
    total = e.dot(ones)
    if not total.item(total.argmin()) > MIN_EXP_SUM:
        again = ~(total > MIN_EXP_SUM)
        some = rows[again]
        e[again] = some = np.exp(some - np.maximum.reduce(some, axis=1, keepdims=True))
        total[again] = some.dot(ones)
    return e / total[:, None] if out is None else np.divide(e, total[:, None], out=out)


def multiply_softmax_jacobian_by_rows(x: Any, share: Any) -> Any:
    """Compute `multiply_softmax_jacobian` along rows, in blocks."""
    width = x.shape[-1]
    out = np.empty(x.shape, x.dtype)
    xs, shares, outs = (a.reshape(-1, width) for a in (x, share, out))
    for span in block_slices(len(xs), width, BLOCK):
        some, result = shares[span], outs[span]
        np.subtract(xs[span], average_rows(xs[span], some)[:, None], out=result)
        result *= some
    return out


def average_rows(x: Any, share: Any) -> Any:
    """Means of rows, weighted by `share`."""
    if x.shape[1] >= VECDOT_MIN_ROW:
        return np.vecdot(x, share)
    return (x * share).dot(ones_vector(x.shape[1], x.dtype))


def log_softmax_wrt_x(g, out, axis):
    return g - exp(out) * reduce_sum(g, axis=(axis,), keepdims=True)


@primitive(x=log_softmax_wrt_x, shape=keep_shape)
def log_softmax(x, *, axis: int):
    """Logarithm of the softmax along `axis`."""
    if not x.size:
        return x
    shifted = x - np.maximum.reduce(x, axis=axis, keepdims=True)
    total = np.add.reduce(np.exp(shifted), axis=axis, keepdims=True, dtype=accumulator(x.dtype))
    return shifted - np.log(total).astype(x.dtype, copy=False)


def spread_last_axis(g: Any, spec: Any) -> Any:
    """Repeat `g` along a new last axis, to the shape of `spec`."""
    return spread(g, axis=(-1,), keepdims=False, shape=spec.shape)


# The losses take the softmax `p` of their logits as a third input without a rule. The tape keeps
# it, so the backward pass computes no exponentials, and second derivatives differentiate the
# recorded softmax.


def cross_entropy_wrt_logits(g, labels, p, logits_spec):
    """As in TensorFlow, this assumes that the labels sum to one."""
    return spread_last_axis(g, logits_spec) * (p - labels)


def cross_entropy_wrt_labels(g, logits, logits_spec):
    return -spread_last_axis(g, logits_spec) * log_softmax(logits, axis=-1)


@primitive(
    logits=cross_entropy_wrt_logits,
    labels=cross_entropy_wrt_labels,
    p=None,
    shape=lambda logits, labels, p: broadcast_shapes(logits.shape, labels.shape)[:-1],
)
def cross_entropy(logits, labels, p):
    """Cross-entropy -sum(labels * log p) over the last axis; `p` is the softmax of `logits`."""
    if not logits.size:
        return np.zeros(logits.shape[:-1], logits.dtype)
    likely = np.maximum.reduce(p, axis=-1, keepdims=True)
    surprise = np.maximum.reduce(logits, axis=-1, keepdims=True) - logits - np.log(likely)
    # As in TensorFlow, a logit of -inf makes the loss NaN even where its label is zero.
    total = np.add.reduce(labels * surprise, axis=-1, dtype=accumulator(logits.dtype))
    return total.astype(logits.dtype, copy=False)


def sparse_cross_entropy_wrt_logits(g, labels, p, logits_spec):
    column = reshape(g, shape=(*logits_spec.shape[:-1], 1), rank=len(logits_spec.shape) - 1)
    return column * subtract_one_hot(p, labels)


@primitive(p=lambda g: g, labels=None, shape=keep_shape)
def subtract_one_hot(p, labels):
    """`p` minus the one-hot vectors of `labels` along the last axis."""
    at = find_label_positions(labels, p.shape[-1])
    out = p.copy()
    chosen = out.take(at)
    chosen -= ONE_OF_DTYPE.get(p.dtype.char, 1)
    out.put(at, chosen)
    return out


# A ufunc accepts a 0-d array in half the time of a Python number.
ONE_OF_DTYPE = {char: np.ones((), char) for char in "fd"}


def find_label_positions(labels: Any, classes: int) -> Any:
    """Positions of the labelled classes in the flattened array of all rows."""
    flat = labels if labels.ndim == 1 else labels.reshape(-1)
    n = flat.size
    columns, starts = (
        make_label_tables(n, classes) if n <= 4096 else make_label_tables.__wrapped__(n, classes)
    )
    if labels.itemsize == 4:
        try:  # as unsigned, a negative label is large, and `take` raises
            at = columns.take(flat.view(UINT32))
        except IndexError:
            check_labels(labels, classes)
            raise
    else:
        check_labels(labels, classes)
        at = flat.copy()
    at += starts
    return at


UINT32 = np.dtype("uint32")


@lru_cache(maxsize=64)
def make_label_tables(n: int, classes: int) -> tuple[Any, Any]:
    """The class numbers, and the flat positions where the rows of (n, classes) start."""
    return np.arange(classes), np.arange(0, n * classes, classes)


@subtract_one_hot.lower
def lower_subtract_one_hot(p, labels):
    classes = np.arange(p.shape[-1], dtype=labels.dtype)
    return p - (labels[..., None] == classes).astype(p.dtype)


MIN_PROBABILITY = {"e": 1e-6, "f": 1e-30, "d": 1e-290}


@primitive(
    logits=sparse_cross_entropy_wrt_logits,
    labels=None,
    p=None,
    shape=lambda logits, labels, p: Spec((labels.shape, logits.dtype)),
)
def sparse_cross_entropy(logits, labels, p):
    """Minus the logarithm of `p`, the softmax of `logits`, at the class of each label."""
    at = find_label_positions(labels, logits.shape[-1])
    chosen = p.take(at)
    if chosen.size and chosen.item(chosen.argmin()) > MIN_PROBABILITY.get(p.dtype.char, 1e-30):
        out = np.log(chosen, out=chosen)
        out = np.negative(out, out=out)
        return out if labels.ndim == 1 else as_scalar_unless_string(out.reshape(labels.shape))
    # Where `p` underflows, compute its logarithm from the logits; NaN stays NaN.
    logit = logits.take(at).reshape(labels.shape)
    likely = np.maximum.reduce(p, axis=-1)
    return np.maximum.reduce(logits, axis=-1) - logit - np.log(likely)


def check_labels(labels: Any, classes: int) -> None:
    """Raise unless all labels lie in [0, classes). As unsigned, a negative label is large."""
    flat = labels.reshape(-1).view(UNSIGNED_LABEL[labels.itemsize])
    if flat.size and flat.item(flat.argmax()) >= classes:  # three times faster than `max`
        labels = np.asarray(labels)
        bad = labels[(labels < 0) | (labels >= classes)].ravel()[0]
        raise InvalidArgumentError(
            f"sparse_softmax_cross_entropy_with_logits: Received a label value of {bad} which is "
            f"outside the valid range of [0, {classes}). Check the labels."
        )


UNSIGNED_LABEL = {4: np.dtype("uint32"), 8: np.dtype("uint64")}


@sparse_cross_entropy.lower
def lower_sparse_cross_entropy(logits, labels, p):
    chosen = np.take_along_axis(logits, labels[..., None], axis=-1)[..., 0]
    return np.max(logits, axis=-1) - chosen - np.log(np.max(p, axis=-1))


@elementwise(
    logits=lambda g, logits, labels: g * (sigmoid(logits) - labels),
    labels=lambda g, logits: -g * logits,
)
def sigmoid_cross_entropy(logits, labels):
    """Cross-entropy of independent binary labels, without overflow or cancellation."""
    return np.maximum(logits, 0) - logits * labels + np.log1p(np.exp(-np.abs(logits)))
