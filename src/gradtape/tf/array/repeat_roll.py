"""Top-level functions that repeat, reverse and roll the slices of tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.context import current_trace
from gradtape.core.convert import convert, to_shape_tuple
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.open_shape import has_dims
from gradtape.core.primitive import Spec
from gradtape.core.shape_rule import INT64, found_positions, with_shape
from gradtape.core.shapes import normalize_axis
from gradtape.core.tensor import Tensor
from gradtape.graph.raw_function import apply_raw
from gradtape.ops import shape as s
from gradtape.ops.elementwise import identity as identity_of
from gradtape.ops.gather_scatter import take
from gradtape.ops.reduce import broadcast_to as stretch
from gradtape.tf.array.dynamic_index import is_traced


@public
def tile(input: Any, multiples: Any, name: str | None = None) -> Tensor:
    """Copies of `input`, `multiples[k]` of them along axis k.

    Args:
        input: a tensor.
        multiples: a number for each axis.
        name: has no effect here.

    Returns:
        A larger tensor.

    Example:
        >>> tf.tile([1, 2], [3]).numpy()
        array([1, 2, 1, 2, 1, 2], dtype=int32)
    """
    x = convert(input)
    have = x._array.shape
    counts = to_shape_tuple(multiples)
    if len(counts) != len(have):
        raise InvalidArgumentError(
            f"tile: Expected multiples argument to be a vector of length {len(have)} but got "
            f"length {len(counts)}."
        )
    for i, n in enumerate(counts):
        if n < 0:
            raise InvalidArgumentError(f"tile: Expected multiples[{i}] >= 0, but got {n}.")
    split = tuple(n for size in have for n in (1, size))
    whole = tuple(n for pair in zip(counts, have, strict=True) for n in pair)
    apart = s.reshape(x, shape=split, rank=len(have))
    copies: Any
    if has_dims(whole):
        static = {"shape": whole, "rank": len(split)}
        copies = current_trace()[0].bind(stretch.op, (apart,), static)
    else:
        copies = stretch(apart, shape=whole, rank=len(split))
    final = tuple(n * size for n, size in zip(counts, have, strict=True))
    return s.reshape(copies, shape=final, rank=len(whole))


@public
def repeat(input: Any, repeats: Any, axis: int | None = None, name: str | None = None) -> Tensor:
    """Elements along `axis`, each `repeats` times; `input` is flattened if `axis` is None.

    Args:
        input: a tensor.
        repeats: one count, or one for each element.
        axis: the axis to repeat along.
        name: has no effect here.

    Returns:
        A tensor.

    Example:
        >>> tf.repeat([1, 2], [2, 3]).numpy()
        array([1, 1, 2, 2, 2], dtype=int32)
    """
    x = convert(input)
    if axis is None or not x._array.shape:
        x = s.reshape(x, shape=(x._array.size,), rank=x._array.ndim)
        axis = 0
    n = x._array.ndim
    if not -n <= axis < n:
        raise ValueError(f"repeat: axis={axis} out of bounds: expected {-n}<=axis<{n}")
    at = normalize_axis(axis, n, "repeat")
    size = x._array.shape[at]
    counts = convert(repeats, hint=dtypes.int32)
    if counts._array.dtype.kind not in "iu":
        raise TypeError(
            f"repeat: repeats must have an integer dtype. Received {counts.dtype.name}. Cast it."
        )
    if counts._array.size not in (1, size):
        raise ValueError(f"repeat: Dimensions {size} and {counts._array.size} are not compatible.")
    return take(x, apply_raw(repeat_positions, counts, size, dynamic=True), axis=at)


@with_shape(found_positions)
def repeat_positions(counts: Any, size: int) -> Any:
    """Repeat each position 0 … size - 1 by its raw count, or all by the only count."""
    counts = np.ravel(counts)
    if counts.size and counts.min() < 0:
        raise InvalidArgumentError(
            f"repeat: repeats must not be negative. Received {counts.tolist()}."
        )
    return np.repeat(np.arange(size), counts if counts.size == size else int(counts[0]))


@public
def reverse(tensor: Any, axis: Any, name: str | None = None) -> Tensor:
    """`tensor` reversed along the axes in the list `axis`.

    Args:
        tensor: a tensor.
        axis: a list of axes.
        name: has no effect here.

    Returns:
        A tensor like `tensor`.

    Example:
        >>> tf.reverse([1, 2, 3], [0]).numpy()
        array([3, 2, 1], dtype=int32)
    """
    x = convert(tensor)
    dims = convert(axis, hint=dtypes.int32)._array
    if dims.ndim != 1:
        raise InvalidArgumentError(
            f"reverse: 'dims' must be 1-dimension, not {dims.ndim}. Pass a list of axes."
        )
    axes = tuple(normalize_axis(int(a), x._array.ndim, "reverse") for a in dims)
    if len(set(axes)) < len(axes):
        raise InvalidArgumentError(
            f"reverse: axis must not contain an axis twice. Received {dims.tolist()}."
        )
    return s.flip(x, axes=axes) if axes else identity_of(x)


@public
def roll(input: Any, shift: Any, axis: Any, name: str | None = None) -> Tensor:
    """`input` shifted by `shift` positions along `axis`.

    Elements that are shifted past the end re-enter at the front.

    Args:
        input: a tensor.
        shift: by how many positions, one number or one for each axis.
        axis: an axis, or several.
        name: has no effect here.

    Returns:
        A tensor like `input`.

    Example:
        >>> tf.roll([1, 2, 3], 1, 0).numpy()
        array([3, 1, 2], dtype=int32)
    """
    x = convert(input)
    axes = to_shape_tuple(axis)
    if isinstance(shift, Tensor) and is_traced(shift) and shift._array.size == len(axes):
        for k, a in enumerate(axes):
            at = normalize_axis(a, x._array.ndim, "roll")
            x = take(x, apply_raw(roll_positions, shift, k, x._array.shape[at]), axis=at)
        return x
    shifts = to_shape_tuple(shift)
    if len(shifts) != len(axes):
        raise InvalidArgumentError(
            f"roll: shift and axis must have the same size. Received {len(shifts)} and {len(axes)}."
        )
    for by, a in zip(shifts, axes, strict=True):
        along = normalize_axis(a, x._array.ndim, "roll")
        x = s.roll(x, shift=by, axis=along)
    return x


@with_shape(lambda shifts, k, n: Spec(((n,), INT64)))
def roll_positions(shifts: Any, k: int, n: int) -> Any:
    """Source position of each of `n` positions, after a shift by the raw `shifts[k]`."""
    return (np.arange(n) - np.ravel(shifts)[k]) % max(n, 1)
