"""Top-level functions that change the shape of a tensor, and the view of its bits."""

from __future__ import annotations

import builtins
import operator
from math import prod
from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.context import current_trace
from gradtape.core.convert import convert, to_shape_tuple
from gradtape.core.dims import Dim
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.open_shape import assume_same_shape, has_dims
from gradtape.core.tensor import Tensor
from gradtape.ops import shape as s
from gradtape.ops.elementwise import conj
from gradtape.ops.elementwise import identity as identity_of
from gradtape.ops.integer import bitcast_to
from gradtape.ops.reduce import broadcast_to as stretch
from gradtape.tf.array.creation import as_sizes
from gradtape.tf.public_op import NUMBERS, check_dtype, raise_unsupported_dtype


@public
def reshape(tensor: Any, shape: Any, name: str | None = None) -> Tensor:
    """The elements of `tensor` in another shape; a size of -1 is inferred from the others.

    Args:
        tensor: a tensor.
        shape: a vector of sizes.
        name: has no effect here.

    Returns:
        A tensor.

    Raises:
        InvalidArgumentError: if the number of elements does not fit.

    Example:
        >>> tf.reshape(tf.range(6), (2, -1)).numpy()
        array([[0, 1, 2],
               [3, 4, 5]], dtype=int32)
    """
    x = convert(tensor)
    have = x._array.shape
    return s.reshape(x, shape=resolve_shape(have, to_shape_tuple(shape)), rank=len(have))


def resolve_shape(have: tuple[int, ...], wanted: tuple[int, ...]) -> tuple[int, ...]:
    """Replace the -1 in `wanted` by the size that an array of shape `have` needs."""
    count = prod(have)
    if -1 not in wanted:
        for i, n in enumerate(wanted):
            if n < 0:
                raise InvalidArgumentError(f"reshape: Size {i} must be non-negative, not {n}.")
        if not assume_same_shape((prod(wanted),), (count,)):
            raise InvalidArgumentError(
                f"reshape: Input to reshape is a tensor with {count} values, but the requested "
                f"shape has {prod(wanted)}. Received shape {wanted}."
            )
        return wanted
    at = wanted.index(-1)
    rest = wanted[:at] + wanted[at + 1 :]
    if any(n < 0 for n in rest):
        raise InvalidArgumentError(
            f"reshape: Only one input size may be -1. Received shape {wanted}."
        )
    known = prod(rest)
    if known == 0 and count == 0:
        # With zeros on both sides TensorFlow divides the products of the non-zero sizes.
        left, taken = (prod(n for n in sizes if n) for sizes in (have, rest))
        return (*wanted[:at], left // taken, *wanted[at + 1 :])
    if known == 0 or count % known:
        raise InvalidArgumentError(
            f"reshape: Input to reshape is a tensor with {count} values, but the requested shape "
            f"requires a multiple of {known}. Received shape {wanted}."
        )
    return (*wanted[:at], count // known, *wanted[at + 1 :])


@public
def transpose(a: Any, perm: Any = None, conjugate: bool = False, name: str = "transpose") -> Tensor:
    """`a` with its axes in the order `perm`, or in reverse order if that is None.

    Args:
        a: a tensor.
        perm: a permutation of the axes.
        conjugate: also take the complex conjugate.
        name: has no effect here.

    Returns:
        A tensor.

    Example:
        >>> tf.transpose([[1, 2, 3], [4, 5, 6]]).numpy()
        array([[1, 4],
               [2, 5],
               [3, 6]], dtype=int32)
    """
    x = convert(a)
    n = x._array.ndim
    order = tuple(builtins.range(n - 1, -1, -1)) if perm is None else to_shape_tuple(perm)
    if len(order) != n:
        raise InvalidArgumentError(
            f"transpose: perm must have one entry for each of the {n} dimensions. Received "
            f"{list(order)}."
        )
    axes = tuple(p + n if p < 0 else p for p in order)
    if sorted(axes) != list(builtins.range(n)):
        raise InvalidArgumentError(
            f"transpose: perm must be a permutation of 0..{n - 1}. Received {list(order)}."
        )
    out = identity_of(x) if n < 2 else s.swap(x) if axes == (1, 0) else s.permute_axes(x, axes)
    return conj(out) if conjugate and out._array.dtype.kind == "c" else out


@public
def expand_dims(input: Any, axis: Any, name: str | None = None) -> Tensor:
    """`input` with a new axis of length one at position `axis`.

    Args:
        input: a tensor.
        axis: the position of the new axis.
        name: has no effect here.

    Returns:
        A tensor of one rank more.

    Example:
        >>> tf.expand_dims([1, 2, 3], axis=0).shape
        TensorShape([1, 3])
    """
    x = convert(input)
    have = x._array.shape
    n = len(have)
    given = axis if isinstance(axis, int) else convert(axis)._array
    try:
        at = operator.index(given if isinstance(given, int) else given.item())
    except ValueError:
        raise InvalidArgumentError(
            f"expand_dims: axis must be a single value. Received {axis}."
        ) from None
    if not -n - 1 <= at <= n:
        raise InvalidArgumentError(
            f"expand_dims: Tried to expand dim index {at} for tensor with {n} dimensions."
        )
    at = at + n + 1 if at < 0 else at
    return s.reshape(x, shape=(*have[:at], 1, *have[at:]), rank=n)


@public
def squeeze(input: Any, axis: Any = None, name: str | None = None) -> Tensor:
    """`input` without its axes of length one: all of them, or those in `axis`.

    Args:
        input: a tensor.
        axis: a list of axes of length one, or None for all.
        name: has no effect here.

    Returns:
        A tensor of smaller rank.

    Example:
        >>> tf.squeeze([[[1], [2]]]).numpy()
        array([1, 2], dtype=int32)
    """
    x = convert(input)
    have = x._array.shape
    n = len(have)
    axes = () if axis is None else to_shape_tuple(axis)
    for a in axes:
        if not -n <= a < n:
            raise InvalidArgumentError(
                f"squeeze: Tried to squeeze dim index {a} for tensor with {n} dimensions."
            )
        if have[a] != 1:
            raise InvalidArgumentError(
                f"squeeze: Can not squeeze dim[{a % n}], expected a dimension of 1, got {have[a]}."
            )
    if not axes and may_be_one(have):
        unranked: Tensor = current_trace()[0].make_unranked(x)
        return unranked
    removed = {a % n for a in axes} if axes else {i for i, size in enumerate(have) if size == 1}
    return s.reshape(x, shape=tuple(d for i, d in enumerate(have) if i not in removed), rank=n)


def may_be_one(shape: tuple[Any, ...]) -> bool:
    """Whether a size may be one, in a trace without values, so that the rank is not known."""
    return any(
        type(n) is Dim and n.context.hints is None and n.context.prove("==", n - 1) is None
        for n in shape
    )


@public
def broadcast_to(input: Any, shape: Any, name: str | None = None) -> Tensor:
    """`input` broadcast to `shape`.

    Args:
        input: a tensor.
        shape: a vector of sizes.
        name: has no effect here.

    Returns:
        A tensor of shape `shape`.

    Example:
        >>> tf.broadcast_to([1, 2], [2, 2]).numpy()
        array([[1, 2],
               [1, 2]], dtype=int32)
    """
    x = convert(input)
    wanted = as_sizes(shape, "broadcast_to")
    have = x._array.shape
    pairs = zip(reversed(have), reversed(wanted), strict=False)
    if len(have) > len(wanted) or any(a not in (1, b) for a, b in pairs):
        raise InvalidArgumentError(
            f"broadcast_to: Incompatible shapes: {list(have)} vs. {list(wanted)}. Sizes must be "
            "equal or 1."
        )
    if has_dims(wanted):
        stretched: Tensor = current_trace()[0].bind(
            stretch.op, (x,), {"shape": wanted, "rank": len(have)}
        )
        return stretched
    return stretch(x, shape=wanted, rank=len(have))


@public
def bitcast(input: Any, type: Any, name: str | None = None) -> Tensor:
    """The same bits, read as another dtype.

    If the item sizes differ, a last axis is added or removed to hold the bytes of one item.

    Args:
        input: a tensor.
        type: a dtype.
        name: has no effect here.

    Returns:
        A tensor of dtype `type`.
    """
    x = check_dtype("Bitcast", convert(input), NUMBERS)
    raw = x._array
    kind = np.dtype(dtypes.as_dtype(type).as_numpy_dtype)
    if kind not in NUMBERS:
        raise_unsupported_dtype("Bitcast", dtypes.as_dtype(type), NUMBERS, "type")
    narrower = kind.itemsize <= raw.dtype.itemsize
    if not narrower and (not raw.shape or raw.shape[-1] * raw.dtype.itemsize != kind.itemsize):
        raise InvalidArgumentError(
            f"bitcast: Cannot bitcast from {raw.dtype} to {kind}: the last dimension of shape "
            f"{list(raw.shape)} must hold {kind.itemsize} bytes."
        )
    return bitcast_to(x, dtype=kind)
