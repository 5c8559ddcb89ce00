"""Top-level functions that make tensors and change their shapes."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.convert import Handed, convert, lean, shape_tuple
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.shapes import TensorShape, normalize_axis
from gradtape.core.shapes import broadcast_static_shape as static_broadcast
from gradtape.core.tensor import EagerTensor, Tensor, TensorLike, eager
from gradtape.ops import shape as s
from gradtape.ops.elementwise import conj
from gradtape.ops.elementwise import identity as identity_of
from gradtape.ops.index import take
from gradtape.ops.reduce import broadcast_to as stretch
from gradtape.state.variable import Variable
from gradtape.tf.check import is_typed, same

# -- making tensors --------------------------------------------------------------------------------------------------


@public
def convert_to_tensor(
    value: Any,
    dtype: Any = None,
    dtype_hint: Any = None,
    name: str | None = None,
) -> Tensor:
    """A tensor of a Python value, array, variable or nested list of them.

    Args:
        value: what to convert.
        dtype: the dtype it must have; inferred if None.
        dtype_hint: a dtype to prefer where `dtype` is None.
        name: accepted for TensorFlow's sake.
    """
    tensor = convert(value, dtype, dtype_hint, name)
    # What is read from a variable must not count as the variable itself later on.
    return identity_of(tensor) if isinstance(value, Variable) else tensor


@public
def constant(value: Any, dtype: Any = None, shape: Any = None, name: str = "Const") -> Tensor:
    """A tensor that holds `value`.

    Args:
        value: a number, string, array or nested list.
        dtype: the element type; inferred if None.
        shape: the shape; a single element fills it.
        name: accepted for TensorFlow's sake.

    Raises:
        TypeError: if the value does not fit `dtype` or `shape`.
    """
    if dtype is not None and isinstance(value, Tensor) and value.dtype != dtype:
        raise TypeError(
            f"Expected tensor {value} with dtype {dtypes.as_dtype(dtype)!r}, but got dtype {value.dtype!r}."
        )
    tensor = convert(value.numpy() if isinstance(value, Variable) else value, dtype)
    if shape is None:
        return tensor
    wanted = shape_tuple(shape)
    have = tensor._array.shape
    if have == wanted:
        return tensor
    if prod(have) == prod(wanted):
        return s.reshape(tensor, shape=wanted, rank=len(have))
    if prod(have) == 1:
        return eager(np.full(wanted, tensor._array))
    raise TypeError(
        f"constant: value and shape must have the same number of elements. Received {prod(have)} elements, "
        f"and shape {wanted} with {prod(wanted)}."
    )


def sizes_of(shape: Any, op: str) -> tuple[int, ...]:
    """A shape to be filled; no size may be negative."""
    try:
        sizes = shape_tuple(shape)
    except TypeError:
        raise ValueError(f"{op}: a shape must consist of integers. Received {shape!r}.") from None
    for size in sizes:
        if size < 0:
            raise InvalidArgumentError(f"{op}: Dimension {size} must be >= 0. Received shape {sizes}.")
    return sizes


def full(shape: tuple[int, ...], value: Any, dtype: dtypes.DType) -> Tensor:
    """A tensor whose elements are all `value`."""
    if dtype == dtypes.string:
        if value != 0:
            raise TypeError(f"Cannot convert {value} to EagerTensor of dtype string")
        return eager(np.full(shape, b"", object))
    kind = dtype.as_numpy_dtype
    if not shape:
        return eager(np.dtype(kind).type(value))
    return eager(np.zeros(shape, kind) if value == 0 else np.ones(shape, kind))


@public
def zeros(shape: Any, dtype: Any = dtypes.float32, name: str | None = None, layout: Any = None) -> Tensor:
    """A tensor of zeros; of strings, empty ones."""
    return full(sizes_of(shape, "zeros"), 0, dtypes.as_dtype(dtype))


@public
def ones(shape: Any, dtype: Any = dtypes.float32, name: str | None = None, layout: Any = None) -> Tensor:
    """A tensor of ones."""
    return full(sizes_of(shape, "ones"), 1, dtypes.as_dtype(dtype))


def like(input: Any, value: int, dtype: Any) -> Tensor:
    """A tensor of the shape of `input`, without reading its elements."""
    raw = convert(input)._array
    return full(raw.shape, value, dtypes.of_numpy(raw.dtype) if dtype is None else dtypes.as_dtype(dtype))


@public
def zeros_like(input: Any, dtype: Any = None, name: str | None = None, layout: Any = None) -> Tensor:
    """Zeros of the shape of `input`, and of its dtype unless another is given."""
    return like(input, 0, dtype)


@public
def ones_like(input: Any, dtype: Any = None, name: str | None = None, layout: Any = None) -> Tensor:
    """Ones of the shape of `input`, and of its dtype unless another is given."""
    return like(input, 1, dtype)


@public
def fill(dims: Any, value: Any, name: str | None = None, layout: Any = None) -> Tensor:
    """A tensor of shape `dims` whose elements are all the scalar `value`."""
    tensor = convert(value)
    if tensor._array.shape != ():
        raise InvalidArgumentError(f"fill: value must be a scalar. Received shape {tensor.shape}.")
    return stretch(tensor, shape=sizes_of(dims, "fill"), rank=0)


@public
def eye(
    num_rows: Any,
    num_columns: Any = None,
    batch_shape: Any = None,
    dtype: Any = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Identity matrices of shape (*batch_shape, num_rows, num_columns)."""
    kind = dtypes.as_dtype(dtype).as_numpy_dtype
    matrix = np.eye(int(num_rows), None if num_columns is None else int(num_columns), dtype=kind)
    if batch_shape is not None:
        matrix = np.broadcast_to(matrix, (*shape_tuple(batch_shape), *matrix.shape))
    return eager(matrix)


RANGE_ORDER = [dtypes.int32, dtypes.int64, dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64]


@public
def range(
    start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None, name: str | None = "range"
) -> Tensor:
    """The numbers from `start` up to, but not including, `limit`, in steps of `delta`.

    Args:
        start: the first number; with `limit` left out, the limit, and the first is 0.
        limit: where to stop.
        delta: the step; may be negative.
        dtype: the element type; the widest of the arguments' if None.
        name: accepted for TensorFlow's sake.

    Raises:
        InvalidArgumentError: if `delta` is zero or leads away from `limit`.
    """
    if limit is None:
        start, limit = 0, start
    parts = [t if is_typed(t) else convert(t, dtype) for t in (start, limit, delta)]
    raws = [convert(t)._array for t in parts]
    if dtype is None:
        found = [dtypes.of_numpy(raw.dtype) for raw in raws]
        wide = max(found, key=lambda d: RANGE_ORDER.index(d) if d in RANGE_ORDER else len(RANGE_ORDER))
    else:
        wide = dtypes.as_dtype(dtype)
    kind = np.dtype(wide.as_numpy_dtype)
    first, last, step = (raw.astype(kind)[()] for raw in raws)
    if step == 0:
        raise InvalidArgumentError("range: Requires delta != 0: 0.")
    if (first > last) if step > 0 else (first < last):
        raise InvalidArgumentError(
            f"range: Requires start {'<=' if step > 0 else '>='} limit when delta {'>' if step > 0 else '<'} 0: "
            f"{first}/{last}."
        )
    if kind.kind in "iu":
        return eager(np.arange(int(first), int(last), int(step), dtype=kind))
    count = int(np.ceil(abs((float(last) - float(first)) / float(step))))
    return eager((first + np.arange(count).astype(kind) * step).astype(kind, copy=False))


@public
def linspace(start: Any, stop: Any, num: Any, name: str | None = None, axis: int = 0) -> Tensor:
    """`num` evenly spaced numbers from `start` to `stop`, both included, along a new axis.

    Args:
        start: the first value or values.
        stop: the last, of the same dtype.
        num: how many.
        name: accepted for TensorFlow's sake.
        axis: where the new axis stands.
    """
    first = convert(start)
    last = convert(stop, first.dtype)
    if first.dtype.is_integer:
        first, last = (eager(t._array.astype(np.float64)) for t in (first, last))
    count = int(convert(num)._array)
    if count < 0:
        raise InvalidArgumentError(f"linspace: num must not be negative. Received {count}.")
    common = np.broadcast_shapes(first._array.shape, last._array.shape)
    rank = len(common) + 1
    at = normalize_axis(axis, rank, "linspace")
    first, last = (s.reshape(raised(t, common), shape=opened(common, at), rank=len(common)) for t in (first, last))
    if count == 1:
        return first
    inner = np.arange(1, max(count - 1, 1)).astype(first._array.dtype)
    inner = inner.reshape((-1,) + (1,) * (-at - 1))
    middle = first + (last - first) / max(count - 1, 1) * eager(inner)
    whole = s.concat(first, middle, last, axis=at)
    return s.cut(whole, axis=at, start=0, size=count)


def opened(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    """`shape` with a new axis of length one at `axis`, counted from the end of the result."""
    at = len(shape) + 1 + axis
    return (*shape[:at], 1, *shape[at:])


def raised(tensor: Tensor, shape: tuple[int, ...]) -> Any:
    """`tensor` stretched to `shape`."""
    own = tensor._array.shape
    return tensor if own == shape else stretch(tensor, shape=shape, rank=len(own))


# -- asking ------------------------------------------------------------------------------------------------------------


@public
def shape(input: Any, out_type: Any = None, name: str | None = None) -> Tensor:
    """The shape of `input` as a vector, int32 unless `out_type` says otherwise."""
    kind = np.int32 if out_type is None else dtypes.as_dtype(out_type).as_numpy_dtype
    raw = input._array if type(input) is EagerTensor else convert(input)._array
    return eager(np.array(raw.shape, kind))


@public
def shape_n(input: Sequence[Any], out_type: Any = dtypes.int32, name: str | None = None) -> list[Tensor]:
    """The shapes of several tensors."""
    return [shape(t, out_type) for t in input]


@public
def rank(input: Any, name: str | None = None) -> Tensor:
    """The number of axes of `input`, as an int32 scalar."""
    return eager(np.int32(convert(input)._array.ndim))


@public
def size(input: Any, out_type: Any = None, name: str | None = None) -> Tensor:
    """The number of elements of `input`, int32 unless `out_type` says otherwise."""
    kind = np.int32 if out_type is None else dtypes.as_dtype(out_type).as_numpy_dtype
    return eager(kind(convert(input)._array.size))


def is_tensor(x: Any) -> bool:
    """Whether `x` is a tensor, a variable or another value that acts as one."""
    return isinstance(x, TensorLike) or hasattr(type(x), "__tf_tensor__")


@public
def ensure_shape(x: Any, shape: Any, name: str | None = None) -> Tensor:
    """`x`, after a check that its shape is compatible with `shape`."""
    tensor = convert(x)
    wanted = TensorShape(shape)
    if not tensor.shape.is_compatible_with(wanted):
        raise InvalidArgumentError(
            f"ensure_shape: Shape of tensor {list(tensor.shape)} is not compatible with expected shape {wanted}."
        )
    return identity_of(tensor)


@public
def identity(input: Any, name: str | None = None) -> Tensor:
    """A tensor of its own with the value of `input`."""
    return identity_of(convert(input))


@public
def identity_n(input: Sequence[Any], name: str | None = None) -> list[Tensor]:
    """Tensors of their own with the values of `input`."""
    return list(s.identity_n(*(convert(t) for t in input)))


def broadcast_static_shape(shape_x: Any, shape_y: Any) -> TensorShape:
    """The shape that tensors of two known shapes broadcast to."""
    return static_broadcast(shape_x, shape_y)


@public
def broadcast_dynamic_shape(shape_x: Any, shape_y: Any) -> Tensor:
    """The shape, as a tensor, that two shapes given as tensors broadcast to."""
    x, y = convert(shape_x), convert(shape_y)
    try:
        common = np.broadcast_shapes(shape_tuple(x), shape_tuple(y))
    except ValueError:
        raise InvalidArgumentError(
            f"broadcast_dynamic_shape: Incompatible shapes: {list(shape_tuple(x))} vs. {list(shape_tuple(y))}."
        ) from None
    return eager(np.array(common, x._array.dtype))


# -- one tensor, another shape -------------------------------------------------------------------------------------------


@public
def reshape(tensor: Any, shape: Any, name: str | None = None) -> Tensor:
    """The elements of `tensor` in another shape; one size may be -1, which means what is left.

    Raises:
        InvalidArgumentError: if the number of elements does not fit.
    """
    x = convert(tensor)
    have = x._array.shape
    return s.reshape(x, shape=completed(have, shape_tuple(shape)), rank=len(have))


def completed(have: tuple[int, ...], wanted: tuple[int, ...]) -> tuple[int, ...]:
    """`wanted` with its -1 worked out for an array of shape `have`."""
    count = prod(have)
    if -1 not in wanted:
        for i, n in enumerate(wanted):
            if n < 0:
                raise InvalidArgumentError(f"reshape: Size {i} must be non-negative, not {n}.")
        if prod(wanted) != count:
            raise InvalidArgumentError(
                f"reshape: Input to reshape is a tensor with {count} values, but the requested shape has "
                f"{prod(wanted)}. Received shape {wanted}."
            )
        return wanted
    at = wanted.index(-1)
    rest = wanted[:at] + wanted[at + 1 :]
    if any(n < 0 for n in rest):
        raise InvalidArgumentError(f"reshape: Only one input size may be -1. Received shape {wanted}.")
    known = prod(rest)
    if known == 0 and count == 0:
        return (*wanted[:at], 0, *wanted[at + 1 :])
    if known == 0 or count % known:
        raise InvalidArgumentError(
            f"reshape: Input to reshape is a tensor with {count} values, but the requested shape requires a "
            f"multiple of {known}. Received shape {wanted}."
        )
    return (*wanted[:at], count // known, *wanted[at + 1 :])


@public
def transpose(a: Any, perm: Any = None, conjugate: bool = False, name: str = "transpose") -> Tensor:
    """`a` with its axes in the order `perm`; reversed if that is None.

    Args:
        a: a tensor.
        perm: a permutation of the axes.
        conjugate: also take the complex conjugate.
        name: accepted for TensorFlow's sake.
    """
    x = convert(a)
    n = x._array.ndim
    order = tuple(builtins.range(n - 1, -1, -1)) if perm is None else shape_tuple(perm)
    if len(order) != n:
        raise InvalidArgumentError(
            f"transpose: perm must have one entry for each of the {n} dimensions. Received {list(order)}."
        )
    axes = tuple(p + n if p < 0 else p for p in order)
    if sorted(axes) != list(builtins.range(n)):
        raise InvalidArgumentError(
            f"transpose: perm must be a permutation of 0..{n - 1}. Received {list(order)}."
        )
    out = s.permuted(x, axes) if n > 1 else identity_of(x)
    return conj(out) if conjugate and out._array.dtype.kind == "c" else out


@public
def expand_dims(input: Any, axis: Any, name: str | None = None) -> Tensor:
    """`input` with a new axis of length one in front of `axis`."""
    x = convert(input)
    have = x._array.shape
    n = len(have)
    try:
        at = operator.index(axis if isinstance(axis, int) else convert(axis)._array.item())
    except ValueError:
        raise InvalidArgumentError(f"expand_dims: axis must be a single value. Received {axis}.") from None
    if not -n - 1 <= at <= n:
        raise InvalidArgumentError(
            f"expand_dims: Tried to expand dim index {at} for tensor with {n} dimensions."
        )
    at = at + n + 1 if at < 0 else at
    return s.reshape(x, shape=(*have[:at], 1, *have[at:]), rank=n)


@public
def squeeze(input: Any, axis: Any = None, name: str | None = None) -> Tensor:
    """`input` without axes of length one: all of them, or those named by `axis`."""
    x = convert(input)
    have = x._array.shape
    n = len(have)
    axes = () if axis is None else shape_tuple(axis)
    for a in axes:
        if not -n <= a < n:
            raise InvalidArgumentError(f"squeeze: Tried to squeeze dim index {a} for tensor with {n} dimensions.")
        if have[a] != 1:
            raise InvalidArgumentError(
                f"squeeze: Can not squeeze dim[{a % n}], expected a dimension of 1, got {have[a]}."
            )
    gone = {a % n for a in axes} if axes else {i for i, size in enumerate(have) if size == 1}
    return s.reshape(x, shape=tuple(d for i, d in enumerate(have) if i not in gone), rank=n)


@public
def broadcast_to(input: Any, shape: Any, name: str | None = None) -> Tensor:
    """`input` stretched to `shape`."""
    x = convert(input)
    wanted = sizes_of(shape, "broadcast_to")
    have = x._array.shape
    pairs = zip(reversed(have), reversed(wanted), strict=False)
    if len(have) > len(wanted) or any(a not in (1, b) for a, b in pairs):
        raise InvalidArgumentError(
            f"broadcast_to: Incompatible shapes: {list(have)} vs. {list(wanted)}. Sizes must be equal or 1."
        )
    return stretch(x, shape=wanted, rank=len(have))


@public
def tile(input: Any, multiples: Any, name: str | None = None) -> Tensor:
    """Copies of `input` side by side: `multiples` has a count for each axis."""
    x = convert(input)
    have = x._array.shape
    counts = shape_tuple(multiples)
    if len(counts) != len(have):
        raise InvalidArgumentError(
            f"tile: Expected multiples argument to be a vector of length {len(have)} but got length {len(counts)}."
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
    """Each element along `axis` `repeats` times in a row; of the flat tensor if `axis` is None.

    Args:
        input: a tensor.
        repeats: how often, one number or one for each element.
        axis: the axis to repeat along.
        name: accepted for TensorFlow's sake.
    """
    x = convert(input)
    if axis is None or not x._array.shape:
        x = s.reshape(x, shape=(x._array.size,), rank=x._array.ndim)
        axis = 0
    at = normalize_axis(axis, x._array.ndim, "repeat")
    size = x._array.shape[at]
    counts = np.ravel(convert(repeats)._array)
    if counts.size not in (1, size):
        raise ValueError(f"repeat: Dimensions {size} and {counts.size} are not compatible.")
    which = np.repeat(np.arange(size), counts if counts.size == size else int(counts[0]))
    return take(x, which, axis=at)


@public
def reverse(tensor: Any, axis: Any, name: str | None = None) -> Tensor:
    """`tensor` with the order of the elements reversed along the axes in the list `axis`."""
    x = convert(tensor)
    dims = convert(axis, hint=dtypes.int32)._array
    if dims.ndim != 1:
        raise InvalidArgumentError(f"reverse: 'dims' must be 1-dimension, not {dims.ndim}. Give a list of axes.")
    axes = tuple(normalize_axis(int(a), x._array.ndim, "reverse") for a in dims)
    if len(set(axes)) < len(axes):
        raise InvalidArgumentError(f"reverse: each axis may be named once. Received {dims.tolist()}.")
    return s.flip(x, axes=axes) if axes else identity_of(x)


@public
def roll(input: Any, shift: Any, axis: Any, name: str | None = None) -> Tensor:
    """`input` moved on by `shift` places along `axis`; what falls off the end comes in at the front."""
    x = convert(input)
    shifts, axes = shape_tuple(shift), shape_tuple(axis)
    if len(shifts) != len(axes):
        raise InvalidArgumentError(
            f"roll: shift and axis must have the same size. Received {len(shifts)} and {len(axes)}."
        )
    for by, a in zip(shifts, axes, strict=True):
        x = s.roll(x, shift=by, axis=normalize_axis(a, x._array.ndim, "roll"))
    return x


@public
def pad(
    tensor: Any, paddings: Any, mode: str = "CONSTANT", constant_values: Any = 0, name: str | None = None
) -> Tensor:
    """`tensor` with elements added around it.

    Args:
        tensor: what to pad.
        paddings: for each axis how many elements in front and behind.
        mode: "CONSTANT", "REFLECT" (mirror without the edge) or "SYMMETRIC" (mirror with it), in any case.
        constant_values: what to add in mode "CONSTANT".
        name: accepted for TensorFlow's sake.

    Raises:
        ValueError: if `mode` is none of the three.
        InvalidArgumentError: if `paddings` do not fit.
    """
    x = convert(tensor)
    have = x._array.shape
    widths = convert(paddings, hint=dtypes.int32)._array
    kind = mode.upper()
    if kind not in ("CONSTANT", "REFLECT", "SYMMETRIC"):
        raise ValueError(f"pad: mode must be CONSTANT, REFLECT or SYMMETRIC. Received {mode!r}.")
    if widths.shape != (len(have), 2):
        raise InvalidArgumentError(
            f"pad: The first dimension of paddings must be the rank of inputs {list(widths.shape)} {list(have)}."
        )
    if widths.size and widths.min() < 0:
        raise InvalidArgumentError(f"pad: Paddings must be non-negative. Received {widths.tolist()}.")
    pairs = tuple((int(low), int(high)) for low, high in widths)
    if kind == "CONSTANT":
        value = convert(constant_values, x.dtype)._array
        return s.pad(x, paddings=pairs, value=value)
    return mirrored(x, pairs, edge=kind == "SYMMETRIC")


def mirrored(x: Tensor, pairs: tuple[tuple[int, int], ...], edge: bool) -> Any:
    """`x` continued by its mirror image, with or without the edge itself."""
    n = len(pairs)
    for i, (low, high) in enumerate(pairs):
        size = x._array.shape[i]
        if max(low, high) > (size if edge else size - 1) and (low or high):
            raise InvalidArgumentError(
                f"pad: paddings must be {'no greater' if edge else 'less'} than the dimension size: "
                f"{low}, {high} {'greater' if edge else 'not less'} than {size}."
            )
        if low or high:
            which = np.pad(np.arange(size), (low, high), mode="symmetric" if edge else "reflect")
            x = take(x, which, axis=i - n)
    return x


@public
def bitcast(input: Any, type: Any, name: str | None = None) -> Tensor:
    """The same bits read as another dtype; the last axis holds or provides the bytes where sizes differ."""
    raw = convert(input)._array
    kind = np.dtype(dtypes.as_dtype(type).as_numpy_dtype)
    array = np.ascontiguousarray(raw).reshape(raw.shape)
    if kind.itemsize == raw.dtype.itemsize:
        return eager(lean(array.view(kind)))
    if kind.itemsize < raw.dtype.itemsize:
        return eager(array.reshape(*raw.shape, 1).view(kind))
    if not raw.shape or raw.shape[-1] * raw.dtype.itemsize != kind.itemsize:
        raise InvalidArgumentError(
            f"bitcast: Cannot bitcast from {raw.dtype} to {kind}: the last dimension of shape {list(raw.shape)} "
            f"must hold {kind.itemsize} bytes."
        )
    return eager(lean(array.view(kind).reshape(raw.shape[:-1])))


# -- several tensors -----------------------------------------------------------------------------------------------------


def matching(values: Any, op: str) -> list[Tensor]:
    """Tensors of one dtype; what has none of its own takes that of the first that has."""
    if isinstance(values, Tensor):
        return list(s.unstack(values, axis=-values.ndim))
    items = list(values)
    first = next((convert(v) for v in items if is_typed(v)), None)
    if first is None and items:
        whole = [convert(v) for v in items]
        kinds = {t.dtype for t in whole}
        if len(kinds) == 1:
            return whole
        first = next((t for t in whole if t.dtype.is_floating), whole[0])
    tensors = [convert(v) if is_typed(v) else convert(v, None if first is None else first.dtype) for v in items]
    for i, t in enumerate(tensors):
        same(op, tensors[0], t, i)
    return tensors


@public
def concat(values: Any, axis: Any, name: str = "concat") -> Tensor:
    """Tensors one after another along `axis`; all other sizes must agree."""
    if not isinstance(values, (list, tuple)):
        values = [values]
    tensors = matching(values, "ConcatV2")
    if not tensors:
        raise InvalidArgumentError("concat: at least one tensor is needed. Received an empty list.")
    at = axis if isinstance(axis, int) else int(convert(axis)._array)
    first = tensors[0]._array.shape
    if len(tensors) == 1:
        normalize_axis(at, max(len(first), 1), "concat")
        return identity_of(tensors[0])
    if not first:
        raise InvalidArgumentError("concat: ConcatOp : Can't concatenate scalars (use tf.stack instead).")
    at = normalize_axis(at, len(first), "concat")
    for i, t in enumerate(tensors):
        have = t._array.shape
        if len(have) != len(first):
            raise InvalidArgumentError(
                f"concat: ConcatOp : Ranks of all input tensors should match: shape[0] = {list(first)} vs. "
                f"shape[{i}] = {list(have)}."
            )
        for k, (a, b) in enumerate(zip(first, have, strict=True)):
            if a != b and k != at + len(first):
                raise InvalidArgumentError(
                    f"concat: ConcatOp : Dimension {k} in both shapes must be equal: shape[0] = {list(first)} "
                    f"vs. shape[{i}] = {list(have)}."
                )
    return s.concat(*tensors, axis=at)


@public
def stack(values: Any, axis: int = 0, name: str = "stack") -> Tensor:
    """Tensors of one shape side by side along a new `axis`."""
    tensors = matching(values, "Pack")
    if not tensors:
        return eager(np.zeros((0,), np.float32))
    return stacked(tensors, axis)


def stacked(tensors: Sequence[Tensor], axis: int = 0) -> Tensor:
    """The kernel of `stack`, for tensors of one dtype."""
    first = tensors[0]._array.shape
    for i, t in enumerate(tensors):
        if t._array.shape != first:
            raise InvalidArgumentError(
                f"stack: Shapes of all inputs must match: values[0].shape = {list(first)} != values[{i}].shape "
                f"= {list(t._array.shape)}."
            )
    n = len(first) + 1
    if not -n <= axis < n:
        raise ValueError(f"Argument `axis` = {axis} not in range [{-n}, {n})")
    return s.stack(*tensors, axis=axis - n if axis >= 0 else axis)  # type: ignore[no-any-return]


Handed.stack = stacked


@public
def unstack(value: Any, num: int | None = None, axis: int = 0, name: str = "unstack") -> list[Tensor]:
    """Slices of `value` along `axis`, each without that axis.

    Args:
        value: a tensor.
        num: how many slices there are; found out if None.
        axis: the axis to take apart.
        name: accepted for TensorFlow's sake.
    """
    x = convert(value)
    n = x._array.ndim
    if not -n <= axis < n:
        raise ValueError(f"Argument `axis` = {axis} not in range [{-n}, {n})")
    size = x._array.shape[axis]
    if num is not None and num != size:
        raise InvalidArgumentError(
            f"unstack: Input shape axis {axis % n} must equal {num}, got shape {list(x._array.shape)}."
        )
    return list(s.unstack(x, axis=axis - n if axis >= 0 else axis))


@public
def split(
    value: Any, num_or_size_splits: Any, axis: Any = 0, num: int | None = None, name: str = "split"
) -> list[Tensor]:
    """`value` cut along `axis` into equal pieces, or into pieces of given sizes.

    Args:
        value: a tensor.
        num_or_size_splits: the number of pieces, or a list of their sizes, one of which may be -1.
        axis: the axis to cut.
        num: accepted for TensorFlow's sake.
        name: accepted for TensorFlow's sake.
    """
    x = convert(value)
    n = x._array.ndim
    at = axis if isinstance(axis, int) else int(convert(axis)._array)
    if not -n <= at < n:
        raise InvalidArgumentError(f"split: -input rank(-{n}) <= split_dim < input rank ({n}), but got {at}.")
    at = at - n if at >= 0 else at
    size = x._array.shape[at]
    wanted = convert(num_or_size_splits, hint=dtypes.int32)._array
    if wanted.ndim == 0:
        count = int(wanted)
        if count < 1 or size % count:
            raise InvalidArgumentError(
                "split: Number of ways to split should evenly divide the split dimension, but got split_dim "
                f"{at + n} (size = {size}) and num_split {count}."
            )
        sizes = (size // count,) * count
    else:
        sizes = tuple(int(k) for k in wanted)
        if sizes.count(-1) == 1:
            rest = size - sum(sizes) - 1
            sizes = tuple(rest if k == -1 else k for k in sizes)
        if sum(sizes) != size or any(k < 0 for k in sizes):
            raise InvalidArgumentError(
                f"split: Determined shape must either match input shape along split_dim exactly, or be less than "
                f"the size of the input. Received sizes {list(sizes)} for size {size}."
            )
    return list(s.split(x, axis=at, sizes=sizes))


@public
def meshgrid(*args: Any, indexing: str = "xy", name: str | None = None) -> list[Tensor]:
    """Coordinate grids of vectors.

    Args:
        *args: vectors.
        indexing: "xy" puts the second vector's axis first, as for pictures; "ij" keeps the order.
        name: accepted for TensorFlow's sake.
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: indexing must be 'xy' or 'ij'. Received {indexing!r}.")
    tensors = [convert(a) for a in args]
    sizes = [t._array.size for t in tensors]
    order = list(builtins.range(len(sizes)))
    if indexing == "xy" and len(order) > 1:
        order[0], order[1] = 1, 0
    whole = tuple(sizes[i] for i in order)
    grids = []
    for i, t in enumerate(tensors):
        own = tuple(sizes[i] if k == i else 1 for k in order)
        column = s.reshape(t, shape=own, rank=t._array.ndim)
        grids.append(stretch(column, shape=whole, rank=len(whole)))
    return grids
