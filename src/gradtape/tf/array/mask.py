"""Top-level functions that select by a mask, and those that make masks and one-hot vectors."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.convert import convert, to_dimension_size, to_shape_tuple
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.primitive import Spec
from gradtape.core.shape_rule import with_shape
from gradtape.core.size_constant import apply_open
from gradtape.core.tensor import Tensor
from gradtape.graph.raw_function import apply_raw, compute_integer
from gradtape.ops import gather_scatter, xla_lowering
from gradtape.ops import shape as s
from gradtape.ops.elementwise import select, stop_gradient
from gradtape.ops.xla_lowering import on_jax
from gradtape.tf.public_op import check_same_dtype, convert_pair, has_own_dtype


@public
def boolean_mask(tensor: Any, mask: Any, axis: Any = None, name: str = "boolean_mask") -> Tensor:
    """Slices of `tensor` where `mask` is true; the axes of `mask` start at `axis`.

    Args:
        tensor: a tensor.
        mask: bools, of fixed rank.
        axis: the first axis that the mask covers; 0 by default.
        name: has no effect here.

    Returns:
        A tensor.

    Raises:
        ValueError: if the mask is a scalar, or does not fit the shape.

    Example:
        >>> tf.boolean_mask([1, 2, 3], [True, False, True]).numpy()
        array([1, 3], dtype=int32)
    """
    x = convert(tensor)
    keep = convert(mask)
    shape, own = x._array.shape, keep._array.shape
    if not own:
        raise ValueError("mask cannot be scalar.")
    at = 0 if axis is None else int(convert(axis)._array)
    at = at + len(shape) if at < 0 else at
    if shape[at : at + len(own)] != own:
        raise ValueError(f"Shapes {shape[at : at + len(own)]} and {own} are incompatible")
    flat = s.reshape(x, shape=(*shape[:at], prod(own), *shape[at + len(own) :]), rank=len(shape))
    rows = gather_scatter.where_true(s.reshape(keep, shape=(prod(own),), rank=len(own)))
    rows = s.reshape(rows, shape=(rows._array.size,), rank=2)
    return gather_scatter.take(flat, rows, axis=at - len(shape) + len(own) - 1)


@public
def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Tensor:
    """`x` where `condition` holds, else `y`; without both, coordinates of the true elements.

    Args:
        condition: booleans; without `x` and `y` numbers are accepted, too.
        x: values where the condition holds.
        y: values elsewhere; the three arguments broadcast.
        name: has no effect here.

    Returns:
        A tensor.

    Raises:
        ValueError: if only one of `x` and `y` is given.

    Example:
        >>> tf.where([True, False], [1, 2], [3, 4]).numpy()
        array([1, 4], dtype=int32)
        >>> tf.where([0, 5, 6]).numpy()
        array([[1],
               [2]])
    """
    if x is None and y is None:
        every = convert(condition)
        if not every._array.ndim:
            raise InvalidArgumentError(
                "where: condition must have at least one axis. Received a scalar."
            )
        return gather_scatter.where_true(every)
    if x is None or y is None:
        raise ValueError("where: x and y must both be given, or neither of them. Received one.")
    holds = convert(condition) if has_own_dtype(condition) else convert(condition, dtypes.bool)
    a, b = convert_pair(x, y)
    if holds._array.dtype.kind != "b":
        raise InvalidArgumentError(
            "cannot compute SelectV2 as input #0(zero-based) was expected to be a bool tensor but "
            f"is a {holds.dtype.name} tensor."
        )
    check_same_dtype("SelectV2", a, b, 2)
    return select(holds, a, b)


@public
def one_hot(
    indices: Any,
    depth: Any,
    on_value: Any = None,
    off_value: Any = None,
    axis: int | None = None,
    dtype: Any = None,
    name: str | None = None,
) -> Tensor:
    """`on_value` at each index along a new axis, `off_value` elsewhere.

    Args:
        indices: integers; an index outside [0, depth) gives only `off_value`.
        depth: the length of the new axis.
        on_value: 1 if None.
        off_value: 0 if None.
        axis: the position of the new axis; last if None.
        dtype: the element type; that of the values, or float32.
        name: has no effect here.

    Returns:
        A tensor of one rank more.

    Example:
        >>> tf.one_hot([0, 2], 3).numpy()
        array([[1., 0., 0.],
               [0., 0., 1.]], dtype=float32)
    """
    where = convert(indices)
    if where._array.dtype.kind not in "iu":
        raise InvalidArgumentError(
            f"one_hot: Value for attr 'TI' of {where.dtype.name} is not in the list of allowed "
            "values: uint8, int8, int32, int64."
        )
    given = [v for v in (on_value, off_value) if v is not None]
    kinds = [convert(v, None if has_own_dtype(v) else dtype).dtype for v in given]
    if len(kinds) == 2 and kinds[0] != kinds[1]:
        raise TypeError(
            f"dtype {kinds[0]} of on_value does not match dtype {kinds[1]} of off_value"
        )
    if dtype is not None and kinds and kinds[0] != dtype:
        raise TypeError(
            f"dtype {kinds[0]} of on_value does not match dtype parameter {dtypes.as_dtype(dtype)}"
        )
    kind = dtypes.as_dtype(dtype) if dtype is not None else kinds[0] if kinds else dtypes.float32
    # As in TensorFlow, no gradient reaches the values.
    on, off = (
        stop_gradient(
            convert(default if value is None else value, None if has_own_dtype(value) else kind)
        )
        for value, default in ((on_value, 1), (off_value, 0))
    )
    n = where._array.ndim + 1
    (size,) = to_shape_tuple(depth)
    if size < 0 or not (axis is None or -1 <= axis < n):
        raise InvalidArgumentError(
            f"one_hot: depth must be non-negative, and axis -1 or in [0, {n}). Received {size} and "
            f"{axis}."
        )
    out = select(apply_open(gather_scatter.one_hot_mask, where, depth=size), on, off)
    if axis is None or axis in (-1, n - 1):
        return out
    return s.permute_axes(out, (*range(axis), n - 1, *range(axis, n - 1)))


@public
def sequence_mask(
    lengths: Any, maxlen: Any = None, dtype: Any = dtypes.bool, name: str | None = None
) -> Tensor:
    """Mask that is true at the first `lengths` positions of a new last axis.

    Args:
        lengths: integers.
        maxlen: the size of the new axis; by default the largest length.
        dtype: bool, or the dtype of the ones and zeros.
        name: has no effect here.

    Returns:
        A tensor of one rank more.

    Example:
        >>> tf.sequence_mask([1, 3], 3).numpy()
        array([[ True, False, False],
               [ True,  True,  True]])
    """
    ends = convert(lengths)
    longest = compute_integer(max_length_of, ends) if maxlen is None else to_dimension_size(maxlen)
    if longest < 0:
        raise InvalidArgumentError(
            f"sequence_mask: maxlen must not be negative. Received {longest}."
        )
    mask: Tensor = apply_raw(mask_lengths, ends, longest, dtypes.as_dtype(dtype).as_numpy_dtype)
    return mask


@on_jax(xla_lowering.lower_max_length_of)
def max_length_of(lengths: Any) -> int:
    """Largest of the raw lengths, rounded up."""
    return int(np.ceil(np.max(lengths, initial=0)))


@with_shape(lambda lengths, size, dtype: Spec(((*lengths.shape, size), np.dtype(dtype))))
@on_jax(xla_lowering.lower_mask_before)
def mask_lengths(lengths: Any, size: int, dtype: Any) -> Any:
    """Mask of the positions below each raw length, among `size` positions."""
    mask = np.arange(size) < np.asarray(lengths)[..., None]
    return mask.astype(dtype, copy=False)
