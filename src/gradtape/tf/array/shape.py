"""Top-level functions that query and change shapes."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Sequence
from math import prod
from typing import Any, overload

import numpy as np

from gradtape.core import dtypes, nest
from gradtape.core.argument import as_sequence
from gradtape.core.context import current_trace
from gradtape.core.convert import convert, to_shape_tuple
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.open_shape import assume_same_shape, has_dims
from gradtape.core.primitive import Spec
from gradtape.core.shape_rule import INT64, found_positions, with_shape
from gradtape.core.shapes import TensorShape, normalize_axis
from gradtape.core.shapes import broadcast_static_shape as static_broadcast
from gradtape.core.sparse_tensor import SparseTensor
from gradtape.core.tensor import EagerTensor, Tensor, TensorLike, make_tensor
from gradtape.graph.raw_function import apply_raw
from gradtape.graph.size_tensor import make_scalar_size, make_shape_tensor
from gradtape.ops import shape as s
from gradtape.ops.elementwise import conj
from gradtape.ops.elementwise import identity as identity_of
from gradtape.ops.gather_scatter import take
from gradtape.ops.integer import bitcast_to
from gradtape.ops.reduce import broadcast_to as stretch
from gradtape.tape.indexed_slices import IndexedSlices
from gradtape.tf.array.creation import as_sizes
from gradtape.tf.array.dynamic_index import is_traced
from gradtape.tf.math.cast import cast
from gradtape.tf.public_op import NUMBERS, check_dtype, raise_unsupported_dtype


@public
def shape(input: Any, out_type: Any = None, name: str | None = None) -> Tensor:
    """The shape of `input` as a vector of `out_type`, int32 by default."""
    kind = np.int32 if out_type is None else dtypes.as_dtype(out_type).as_numpy_dtype
    if isinstance(input, SparseTensor):
        return cast(input.dense_shape, kind)
    raw = input._array if type(input) is EagerTensor else convert(input)._array
    if has_dims(raw.shape):
        return make_shape_tensor(raw.shape, np.dtype(kind))
    return make_tensor(np.array(raw.shape, kind))


@public
def shape_n(
    input: Sequence[Any], out_type: Any = dtypes.int32, name: str | None = None
) -> list[Tensor]:
    """The shapes of several tensors."""
    return [shape(t, out_type) for t in as_sequence(input, "input")]


@public
def rank(input: Any, name: str | None = None) -> Tensor:
    """The number of axes of `input`, as an int32 scalar."""
    if isinstance(input, SparseTensor):
        input = input.dense_shape
        return make_tensor(np.int32(input._array.shape[0]))
    return make_tensor(np.int32(convert(input)._array.ndim))


@public
def size(input: Any, out_type: Any = None, name: str | None = None) -> Tensor:
    """The number of elements of `input`, of dtype `out_type`, int32 by default."""
    kind = np.int32 if out_type is None else dtypes.as_dtype(out_type).as_numpy_dtype
    if isinstance(input, SparseTensor):
        from gradtape.tf.math.reduce import reduce_prod

        return reduce_prod(cast(input.dense_shape, kind))
    count = convert(input)._array.size
    if has_dims(count):
        return make_scalar_size(count, np.dtype(kind))
    return make_tensor(kind(count))


def is_tensor(x: Any) -> bool:
    """Whether `x` is a tensor, a variable or another value that acts as one."""
    return isinstance(x, TensorLike)


@public
def ensure_shape(x: Any, shape: Any, name: str | None = None) -> Tensor:
    """`x`, after a check that its shape is compatible with `shape`."""
    tensor = convert(x)
    wanted = TensorShape(shape)
    out: Any = identity_of(tensor)
    try:
        out.set_shape(wanted)
    except ValueError:
        raise InvalidArgumentError(
            f"ensure_shape: Shape of tensor {list(tensor.shape)} is not compatible with expected "
            f"shape {wanted}."
        ) from None
    checked: Tensor = out
    return checked


@overload
def identity(input: IndexedSlices, name: str | None = None) -> IndexedSlices: ...
@overload
def identity(input: Any, name: str | None = None) -> Tensor: ...
@public
def identity(input: Any, name: str | None = None) -> Any:
    """A new tensor with the value of `input`; IndexedSlices are rebuilt from new components."""
    if isinstance(input, (IndexedSlices, SparseTensor)):
        return nest.map_structure(identity, input, expand_composites=True)
    return identity_of(convert(input))


@public
def identity_n(input: Sequence[Any], name: str | None = None) -> list[Tensor]:
    """New tensors with the values of `input`."""
    return list(s.identity_n(*(convert(t) for t in as_sequence(input, "input"))))


@public
def broadcast_static_shape(shape_x: Any, shape_y: Any) -> TensorShape:
    """The shape that tensors of two known shapes broadcast to."""
    return static_broadcast(shape_x, shape_y)


@public
def broadcast_dynamic_shape(shape_x: Any, shape_y: Any) -> Tensor:
    """The shape, as a tensor, that two shapes given as tensors broadcast to."""
    x, y = convert(shape_x), convert(shape_y)
    try:
        common = np.broadcast_shapes(to_shape_tuple(x), to_shape_tuple(y))
    except ValueError:
        raise InvalidArgumentError(
            f"broadcast_dynamic_shape: Incompatible shapes: {list(to_shape_tuple(x))} vs. "
            f"{list(to_shape_tuple(y))}."
        ) from None
    return make_tensor(np.array(common, x._array.dtype))


@public
def reshape(tensor: Any, shape: Any, name: str | None = None) -> Tensor:
    """The elements of `tensor` in another shape; a size of -1 is inferred from the others.

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
    removed = {a % n for a in axes} if axes else {i for i, size in enumerate(have) if size == 1}
    return s.reshape(x, shape=tuple(d for i, d in enumerate(have) if i not in removed), rank=n)


@public
def broadcast_to(input: Any, shape: Any, name: str | None = None) -> Tensor:
    """`input` broadcast to `shape`."""
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
def tile(input: Any, multiples: Any, name: str | None = None) -> Tensor:
    """Copies of `input`, `multiples[k]` of them along axis k.

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
    copies = stretch(s.reshape(x, shape=split, rank=len(have)), shape=whole, rank=len(split))
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
    """`tensor` reversed along the axes in the list `axis`."""
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


@public
def bitcast(input: Any, type: Any, name: str | None = None) -> Tensor:
    """The same bits, read as another dtype.

    If the item sizes differ, a last axis is added or removed to hold the bytes of one item.
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
