"""Clipping by value and by norm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

import numpy as np

from gradtape.core.convert import convert
from gradtape.core.errors import public
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.ops import elementwise as e
from gradtape.ops import reduce
from gradtape.ops.shape import stack
from gradtape.tape.indexed_slices import IndexedSlices
from gradtape.tf.math.elementwise import maximum, minimum
from gradtape.tf.math.reduce import reduction_axes
from gradtape.tf.public_op import (
    FLOATS,
    INEXACT,
    check_dtype,
    check_same_dtype,
    convert_to_dtype,
    has_own_dtype,
)


def slice_values_of(t: Any) -> Tensor:
    """The tensor, or the values of IndexedSlices."""
    return convert(t.values if isinstance(t, IndexedSlices) else t)


def replace_values(t: Any, values: Tensor) -> Any:
    """Replace the values of `t`, a tensor or IndexedSlices, by `values`."""
    return (
        IndexedSlices(values, t.indices, t.dense_shape) if isinstance(t, IndexedSlices) else values
    )


def check_same_shape(op: str, before: Tensor, after: Tensor) -> Tensor:
    """Check that broadcasting against the bounds did not change the shape."""
    if before.shape != after.shape:
        raise ValueError(
            f"{op}: Shapes {before.shape} and {after.shape} are incompatible: the bounds must "
            "broadcast to the shape of the tensor."
        )
    return after


@overload
def clip_by_value(
    t: IndexedSlices, clip_value_min: Any, clip_value_max: Any, name: str | None = None
) -> IndexedSlices: ...
@overload
def clip_by_value(
    t: Any, clip_value_min: Any, clip_value_max: Any, name: str | None = None
) -> Tensor: ...
@public
def clip_by_value(t: Any, clip_value_min: Any, clip_value_max: Any, name: str | None = None) -> Any:
    """Elements clipped to an interval; the lower bound wins if it exceeds the upper one.

    Args:
        t: a tensor or IndexedSlices.
        clip_value_min: the least value, a scalar or a tensor that broadcasts to `t`.
        clip_value_max: the largest value, likewise.
        name: ignored.

    Returns:
        A tensor, or IndexedSlices if `t` is.

    Example:
        >>> tf.clip_by_value([-2.0, 0.5, 2.0], -1.0, 1.0)
        <tf.Tensor: shape=(3,), dtype=float32, numpy=array([-1. ,  0.5,  1. ], dtype=float32)>
    """
    values = slice_values_of(t)
    below = check_same_shape("clip_by_value", values, minimum(values, clip_value_max))
    return replace_values(
        t, check_same_shape("clip_by_value", values, maximum(below, clip_value_min))
    )


@overload
def clip_by_norm(
    t: IndexedSlices, clip_norm: Any, axes: Any = None, name: str | None = None
) -> IndexedSlices: ...
@overload
def clip_by_norm(t: Any, clip_norm: Any, axes: Any = None, name: str | None = None) -> Tensor: ...
@public
def clip_by_norm(t: Any, clip_norm: Any, axes: Any = None, name: str | None = None) -> Any:
    """`t` scaled down so that its Euclidean norm is at most `clip_norm`.

    Args:
        t: a tensor or IndexedSlices.
        clip_norm: the largest norm.
        axes: axes along which the norm is computed; all if None.
        name: ignored.

    Returns:
        A tensor, or IndexedSlices if `t` is.
    """
    values = check_dtype("Sqrt", slice_values_of(t), INEXACT)
    bound = maximum(e.cast(as_bound(clip_norm, values), dtype=values._array.dtype), 0)
    total = reduce.reduce_sum(
        values * values, axis=reduction_axes(axes, values.ndim, "Sum"), keepdims=True
    )
    positive = e.greater(total, 0)
    # sqrt has an infinite derivative at zero, so zero sums are replaced by one before it.
    root = e.sqrt(e.select(positive, total, e.ones_like(total)))
    norm = e.select(positive, root, total)
    scaled = check_same_shape("clip_by_norm", values, values * bound)
    return replace_values(t, e.identity(scaled / e.maximum(norm, bound)))


@public
def clip_by_average_norm(t: Any, clip_norm: Any, name: str | None = None) -> Tensor:
    """`t` scaled down so that its norm divided by its size is at most `clip_norm`.

    Args:
        t: a tensor.
        clip_norm: the largest average norm.
        name: ignored.

    Returns:
        A tensor like `t`.
    """
    values = check_dtype("Sqrt", convert(t), INEXACT)
    bound = as_bound(clip_norm, values)
    total = reduce.reduce_sum(
        values * values, axis=reduction_axes(None, values.ndim, "Sum"), keepdims=False
    )
    size = convert_to_dtype(float(values._array.size), values.dtype)
    share = e.minimum(size * e.rsqrt(total), e.reciprocal(bound))
    return e.multiply(values * bound, share)


def as_bound(value: Any, tensor: Tensor) -> Tensor:
    """Convert a bound to a tensor; without a dtype it takes that of `tensor`."""
    return convert(value) if has_own_dtype(value) else convert_to_dtype(value, tensor.dtype)


def as_tensor_list(op: str, t_list: Any) -> list[Any]:
    """Convert the entries of a list to tensors; None and IndexedSlices stay as they are."""
    if not isinstance(t_list, Sequence) or isinstance(t_list, str):
        raise TypeError(f"{op}: `t_list` should be a sequence of tensors. Received {type(t_list)}.")
    return [t if t is None or isinstance(t, IndexedSlices) else convert(t) for t in t_list]


@public
def global_norm(t_list: Any, name: str | None = None) -> Tensor:
    """Euclidean norm of all elements of several tensors.

    Args:
        t_list: a list of tensors and IndexedSlices; None entries are skipped.
        name: ignored.

    Returns:
        A scalar.

    Raises:
        TypeError: if `t_list` is not a list.

    Example:
        >>> tf.linalg.global_norm([[3.0], [4.0]]).numpy()
        np.float32(5.0)
    """
    tensors = [
        check_dtype("L2Loss", slice_values_of(t), FLOATS)
        for t in as_tensor_list("global_norm", t_list)
        if t is not None
    ]
    if not tensors:
        return make_tensor(np.float32(0))
    for i, tensor in enumerate(tensors):
        check_same_dtype("Pack", tensors[0], tensor, i)
    halves = [
        reduce.reduce_sum(e.square(t), axis=reduction_axes(None, t.ndim, "Sum"), keepdims=False) / 2
        for t in tensors
    ]
    return e.sqrt(reduce.reduce_sum(stack(*halves, axis=-1), axis=(-1,), keepdims=False) * 2)


@public
def clip_by_global_norm(
    t_list: Any, clip_norm: Any, use_norm: Any = None, name: str | None = None
) -> tuple[list[Any], Tensor]:
    """Tensors scaled by one factor so that their global norm is at most `clip_norm`.

    Args:
        t_list: a list of tensors, IndexedSlices and None, such as gradients.
        clip_norm: the largest norm.
        use_norm: the global norm, if it is already known.
        name: ignored.

    Returns:
        The clipped entries, and the norm before clipping. If that is not finite, all entries
        are NaN.

    Raises:
        TypeError: if `t_list` is not a list.

    Example:
        >>> clipped, norm = tf.clip_by_global_norm([tf.constant([3.0]), tf.constant([4.0])], 1.0)
        >>> norm
        <tf.Tensor: shape=(), dtype=float32, numpy=5.0>
    """
    entries = as_tensor_list("clip_by_global_norm", t_list)
    norm = global_norm(entries) if use_norm is None else convert(use_norm)
    bound = as_bound(clip_norm, norm)
    if bound.dtype != norm.dtype:
        raise TypeError(
            "clip_by_global_norm: the norm and clip_norm must have the same dtype, got "
            f"{norm.dtype.name} != {bound.dtype.name}."
        )
    scale = bound * e.minimum(e.reciprocal(norm), e.reciprocal(bound))
    scale = e.select(e.is_finite(norm), scale, convert_to_dtype(float("nan"), norm.dtype))
    clipped = [
        None if t is None else replace_values(t, scale_to(slice_values_of(t), scale))
        for t in entries
    ]
    return clipped, norm


def scale_to(values: Tensor, scale: Tensor) -> Tensor:
    """Multiply by `scale`, which may have another dtype."""
    return values * e.cast(scale, dtype=values._array.dtype)
