"""Kernel overrides for recording: same results as the kernels in `ops`, without filling buffers."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from gradtape.compile.numpy.abstract_array import AbstractArray, OpaqueError
from gradtape.compile.numpy.kernel_namespace import clone_for_recording
from gradtape.compile.numpy.program import ValueSpec
from gradtape.graph.trace_op import make_trace_op
from gradtape.ops import reduce
from gradtape.ops.nn.softmax import MIN_PROBABILITY, check_labels
from gradtape.ops.relu_kernel import BITS_DTYPE


def spread(g: Any, *, axis: tuple[int, ...], keepdims: bool, shape: tuple[int, ...]) -> Any:
    """`spread` as a broadcast view, which the `broadcast` pass can remove."""
    lead = g.shape[: g.ndim - len(shape) + (0 if keepdims else len(axis))]
    full = lead + shape
    if not keepdims and g.shape:
        sizes = list(full)
        for a in axis:
            sizes[a] = 1
        g = g.reshape(tuple(sizes))
    return np.broadcast_to(g, full)


def reduce_sum(x: Any, *, axis: tuple[int, ...], keepdims: bool) -> Any:
    """A sum over all axes as one call, so that a chain in blocks can end with it."""
    if type(x) is AbstractArray and len(axis) == x.ndim and x.dtype.char in "fd":
        if x.ndim == 1 and x.size <= reduce.MAX_SHORT_VECTOR:  # as the kernel does
            total = x.dot(reduce.ones_vector(x.size, x.dtype))
            return total.reshape(1) if keepdims else total
        return x.recorder.record_reduction(np.add, x, axis, None, keepdims)
    return clone_for_recording(reduce.reduce_sum)(x, axis=axis, keepdims=keepdims)


def reduce_mean(x: Any, *, axis: tuple[int, ...], keepdims: bool) -> Any:
    """A mean over all axes as one sum, so that a chain in blocks can end with it."""
    if type(x) is AbstractArray and len(axis) == x.ndim and x.dtype.char in "fd":
        return reduce_sum(x, axis=axis, keepdims=keepdims) / x.dtype.type(x.size)
    return clone_for_recording(reduce.reduce_mean)(x, axis=axis, keepdims=keepdims)


def gate(g: Any, mask: Any) -> Any:
    """Multiply the bits by one or zero; a separate cast of the mask is faster in NumPy."""
    if type(g) is not AbstractArray or g.dtype.kind != "f":
        return np.where(mask, g, g.dtype.type(0))
    bits = BITS_DTYPE[g.dtype.itemsize]
    if type(mask) is AbstractArray:
        mask = mask.astype(bits)
    return np.multiply(g.view(bits), mask).view(g.dtype)


def where_positive(g: Any, y: Any) -> Any:
    """`g` where `y` is positive, else zero."""
    return gate(g, y > 0)


def relu(x: Any) -> Any:
    """The positive part as one ufunc, so that it can be part of a chain in blocks."""
    return np.maximum(x, 0)


# A loss and its gradient index with the same labels: CSE computes and checks the indices once.


def label_places(labels: Any, *, columns: Any, offsets: Any) -> Any:
    """The index of each label's class in the flat array of probabilities."""
    if labels.itemsize == 4:
        try:  # viewed as unsigned, a negative label is too large, and `take` raises
            return columns.take(labels.ravel().view(np.uint32)) + offsets
        except IndexError:
            check_labels(labels, columns.size)
            raise
    check_labels(labels, columns.size)
    return labels.ravel() + offsets


def label_loss(logits: Any, p: Any, places: Any, chosen: Any, *, least: float) -> Any:
    """Minus the logarithm of `chosen`, the probabilities at `places`, exact under underflow."""
    if chosen.size and chosen[chosen.argmin()] > least:
        out = np.log(chosen)
        return np.negative(out, out)
    likely = np.maximum.reduce(p, axis=-1).ravel()
    return np.maximum.reduce(logits, axis=-1).ravel() - logits.take(places) - np.log(likely)


LABEL_PLACES = make_trace_op(label_places)
LABEL_LOSS = make_trace_op(label_loss)
LABEL_PLACES.new_arrays = LABEL_LOSS.new_arrays = True


def makes_new_arrays(op: Any) -> bool:
    """Whether the results of a primitive or an effect never share memory with its inputs."""
    return getattr(op, "new_arrays", False) or get_deferrable_parts(op) is not None


def get_deferrable_parts(op: Any) -> tuple[Any, Any, Any] | None:
    """Function, arguments and places of inputs of an update of some elements; else None."""
    parts = getattr(getattr(op, "kernel", None), "parts", None)
    return parts if parts is not None and hasattr(parts[0], "can_defer") else None


@lru_cache(maxsize=256)
def label_tables(classes: int, count: int) -> dict[str, Any]:
    """The class numbers, and the start of each row in the flat array."""
    return {
        "columns": np.arange(classes, dtype=np.int64),
        "offsets": np.arange(count, dtype=np.int64) * classes,
    }


def take_at_labels(p: Any, labels: Any) -> tuple[Any, Any]:
    """Flat indices of the labels in `p`, and the elements of `p` at these."""
    if p.dtype.char not in "fd" or not labels.shape or labels.dtype.char not in "ilq":
        raise OpaqueError
    count = labels.size
    static = label_tables(p.shape[-1], count)
    known = ValueSpec((count,), np.dtype("int64"), True)
    places = labels.recorder.emit("opaque", LABEL_PLACES, (labels,), known, static)
    chosen = p.recorder.emit("call", "take", (p, places), ValueSpec((count,), p.dtype, True))
    return places, chosen


def subtract_one_hot(p: Any, labels: Any) -> Any:
    """`p` minus the one-hot vectors of `labels`."""
    places, chosen = take_at_labels(p, labels)
    known = ValueSpec(p.shape, p.dtype, True)
    return p.recorder.emit("put", "put", (p, places, chosen - 1), known)


def sparse_cross_entropy(logits: Any, labels: Any, p: Any) -> Any:
    """Minus the logarithm of `p` at the labels."""
    places, chosen = take_at_labels(p, labels)
    static = {"least": MIN_PROBABILITY[p.dtype.char]}
    args = (logits, p, places, chosen)
    out = p.recorder.emit(
        "opaque", LABEL_LOSS, args, ValueSpec(chosen.shape, p.dtype, True), static
    )
    return out if len(labels.shape) == 1 else out.reshape(labels.shape)


KERNEL_OVERRIDES: dict[str, Callable[..., Any]] = {
    "spread": spread,
    "reduce_sum": reduce_sum,
    "reduce_mean": reduce_mean,
    "gate": gate,
    "where_positive": where_positive,
    "relu": relu,
    "subtract_one_hot": subtract_one_hot,
    "sparse_cross_entropy": sparse_cross_entropy,
}
