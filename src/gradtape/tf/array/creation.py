"""Top-level functions that create tensors: from values, filled with a constant, or as a range."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.context import current_trace
from gradtape.core.convert import convert, to_dimension_size, to_shape_tuple
from gradtape.core.dims import max_size
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.lazy_array import TracedArray
from gradtape.core.open_shape import broadcast_shapes, has_dims, is_same_shape
from gradtape.core.primitive import Spec
from gradtape.core.shape_rule import FRESH, with_shape
from gradtape.core.shapes import normalize_axis
from gradtape.core.size_constant import compute_constant, to_scalar
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.graph.raw_function import apply_raw
from gradtape.graph.size_tensor import make_filled_tensor, make_range_tensor
from gradtape.ops import shape as s
from gradtape.ops.elementwise import discretize
from gradtape.ops.elementwise import identity as identity_of
from gradtape.ops.reduce import broadcast_to as stretch
from gradtape.state.variable.variable import Variable
from gradtape.tf.public_op import has_own_dtype


@public
def convert_to_tensor(
    value: Any,
    dtype: Any = None,
    dtype_hint: Any = None,
    name: str | None = None,
) -> Tensor:
    """A tensor made from a Python value, array, variable or nested list of them.

    Args:
        value: the value to convert.
        dtype: the dtype of the result; inferred if None.
        dtype_hint: a dtype to prefer where `dtype` is None.
        name: has no effect here.

    Returns:
        A tensor.

    Example:
        >>> tf.convert_to_tensor([1.5, 2.5])
        <tf.Tensor: shape=(2,), dtype=float32, numpy=array([1.5, 2.5], dtype=float32)>
    """
    tensor = convert(value, dtype, dtype_hint, name)
    # A tape must not take the value read from a variable for the variable itself.
    return identity_of(tensor) if isinstance(value, Variable) else tensor


@public
def constant(value: Any, dtype: Any = None, shape: Any = None, name: str = "Const") -> Tensor:
    """A tensor that holds `value`.

    Args:
        value: a number, string, array or nested list.
        dtype: the element type; inferred if None.
        shape: the shape; a single element is repeated to fill it.
        name: has no effect here.

    Returns:
        A tensor.

    Raises:
        TypeError: if the value does not fit `dtype` or `shape`.

    Example:
        >>> tf.constant([[1, 2], [3, 4]])
        <tf.Tensor: shape=(2, 2), dtype=int32, numpy=
        array([[1, 2],
               [3, 4]], dtype=int32)>
        >>> tf.constant(0.0, shape=(2, 2)).numpy().tolist()
        [[0.0, 0.0], [0.0, 0.0]]
    """
    if dtype is not None and isinstance(value, Tensor) and value.dtype != dtype:
        raise TypeError(
            f"Expected tensor {value} with dtype {dtypes.as_dtype(dtype)!r}, but got dtype "
            f"{value.dtype!r}."
        )
    tensor = convert(value.numpy() if isinstance(value, Variable) else value, dtype)
    if shape is None:
        return tensor
    wanted = to_shape_tuple(shape)
    have = tensor._array.shape
    if have == wanted:
        return tensor
    if prod(have) == prod(wanted):
        return s.reshape(tensor, shape=wanted, rank=len(have))
    if prod(have) == 1:
        return make_tensor(np.full(wanted, tensor._array))
    raise TypeError(
        "constant: value and shape must have the same number of elements. "
        f"Received {prod(have)} elements, and shape {wanted} with {prod(wanted)}."
    )


def as_sizes(shape: Any, op: str) -> tuple[int, ...]:
    """Convert `shape` to a tuple of non-negative sizes."""
    sizes = to_shape_tuple(shape)
    for size in sizes:
        if size < 0:
            raise InvalidArgumentError(
                f"{op}: Dimension {size} must be >= 0. Received shape {sizes}."
            )
    return sizes


def make_full(shape: tuple[int, ...], value: Any, dtype: dtypes.DType) -> Tensor:
    """Make a tensor whose elements are all `value`, which is 0 or 1."""
    if dtype == dtypes.string:
        if value != 0:
            raise TypeError(f"Cannot convert {value} to EagerTensor of dtype string")
        return make_tensor(np.full(shape, b"", object))
    kind = dtype.as_numpy_dtype
    if not shape:
        return make_tensor(np.dtype(kind).type(value))
    if has_dims(shape):
        return make_filled_tensor(shape, value, np.dtype(kind))
    return make_tensor(np.zeros(shape, kind) if value == 0 else np.ones(shape, kind))


@public
def zeros(
    shape: Any, dtype: Any = dtypes.float32, name: str | None = None, layout: Any = None
) -> Tensor:
    """A tensor of zeros, or of empty strings if `dtype` is string.

    Args:
        shape: a list of sizes, or a vector.
        dtype: the dtype of the result.
        name: has no effect here.
        layout: has no effect here.

    Returns:
        A tensor.

    Example:
        >>> tf.zeros((2, 3), tf.int32).numpy()
        array([[0, 0, 0],
               [0, 0, 0]], dtype=int32)
    """
    return make_full(as_sizes(shape, "zeros"), 0, dtypes.as_dtype(dtype))


@public
def ones(
    shape: Any, dtype: Any = dtypes.float32, name: str | None = None, layout: Any = None
) -> Tensor:
    """A tensor of ones.

    Args:
        shape: a list of sizes, or a vector.
        dtype: the dtype of the result.
        name: has no effect here.
        layout: has no effect here.

    Returns:
        A tensor.

    Example:
        >>> tf.ones([2, 2]).numpy()
        array([[1., 1.],
               [1., 1.]], dtype=float32)
    """
    return make_full(as_sizes(shape, "ones"), 1, dtypes.as_dtype(dtype))


def make_full_like(input: Any, value: int, dtype: Any) -> Tensor:
    """Make a tensor filled with `value`, of the shape of `input`; does not read its elements."""
    raw = convert(input)._array
    return make_full(
        raw.shape,
        value,
        dtypes.from_numpy_dtype(raw.dtype) if dtype is None else dtypes.as_dtype(dtype),
    )


@public
def zeros_like(
    input: Any, dtype: Any = None, name: str | None = None, layout: Any = None
) -> Tensor:
    """Zeros of the shape of `input`, and of its dtype unless `dtype` is given.

    Args:
        input: a tensor, or a value that converts to one.
        dtype: another dtype, or None.
        name: has no effect here.
        layout: has no effect here.

    Returns:
        A tensor.
    """
    return make_full_like(input, 0, dtype)


@public
def ones_like(input: Any, dtype: Any = None, name: str | None = None, layout: Any = None) -> Tensor:
    """Ones of the shape of `input`, and of its dtype unless `dtype` is given.

    Args:
        input: a tensor, or a value that converts to one.
        dtype: another dtype, or None.
        name: has no effect here.
        layout: has no effect here.

    Returns:
        A tensor.

    Example:
        >>> tf.ones_like([1.0, 2.0]).numpy()
        array([1., 1.], dtype=float32)
    """
    return make_full_like(input, 1, dtype)


@public
def fill(dims: Any, value: Any, name: str | None = None, layout: Any = None) -> Tensor:
    """A tensor of shape `dims` whose elements are all the scalar `value`.

    Args:
        dims: a list of sizes, or a vector.
        value: a scalar.
        name: has no effect here.
        layout: has no effect here.

    Returns:
        A tensor of shape `dims`.

    Example:
        >>> tf.fill([2, 2], 7).numpy()
        array([[7, 7],
               [7, 7]], dtype=int32)
    """
    tensor = convert(value)
    if tensor._array.shape not in ((), (1,)):
        raise InvalidArgumentError(f"fill: value must be a scalar. Received shape {tensor.shape}.")
    wanted = convert(dims, hint=dtypes.int32)
    scalar = s.reshape(tensor, shape=(), rank=tensor._array.ndim)
    if getattr(wanted._array, "dims", None) is not None:
        trace = current_trace()[0]
        static = {"shape": as_sizes(wanted, "fill"), "rank": 0}
        filled: Tensor = trace.bind(stretch.op, (scalar,), static)
        return filled
    sizes = np.asarray(wanted._array)
    if sizes.dtype.kind not in "iu":
        raise InvalidArgumentError(f"fill: dims must be integers. Received {dims}.")
    if sizes.ndim > 1:
        raise InvalidArgumentError(f"fill: dims must be a vector. Received shape {sizes.shape}.")
    return stretch(scalar, shape=as_sizes(sizes, "fill"), rank=0)


@public
def eye(
    num_rows: Any,
    num_columns: Any = None,
    batch_shape: Any = None,
    dtype: Any = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Identity matrices of shape (*batch_shape, num_rows, num_columns).

    Args:
        num_rows: the number of rows.
        num_columns: the number of columns; that of rows by default.
        batch_shape: sizes of leading axes, or None.
        dtype: the dtype of the result.
        name: has no effect here.

    Returns:
        A tensor (*batch_shape, num_rows, num_columns).

    Example:
        >>> tf.eye(2).numpy()
        array([[1., 0.],
               [0., 1.]], dtype=float32)
    """
    kind = dtypes.as_dtype(dtype).as_numpy_dtype
    given = (num_rows, num_rows if num_columns is None else num_columns)
    rows, columns = as_sizes(
        [n if has_own_dtype(n) else to_dimension_size(n) for n in given], "eye"
    )
    matrix = np.eye(rows, columns, dtype=kind)
    if batch_shape is not None:
        matrix = np.broadcast_to(matrix, (*to_shape_tuple(batch_shape), *matrix.shape))
    return make_tensor(matrix)


# Order in which TensorFlow widens the dtypes of range's arguments.
RANGE_DTYPE_ORDER = {
    name: k
    for k, name in enumerate(("int32", "int64", "float16", "bfloat16", "float32", "float64"))
}


@public
def range(
    start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None, name: str | None = "range"
) -> Tensor:
    """The numbers from `start` up to, but not including, `limit`, in steps of `delta`.

    Args:
        start: the first number. Without `limit`, this is the limit and the range starts at 0.
        limit: the end, not included.
        delta: the step; may be negative.
        dtype: the element type; the widest dtype of the arguments if None.
        name: has no effect here.

    Returns:
        A vector.

    Raises:
        InvalidArgumentError: if `delta` is zero or points away from `limit`.

    Example:
        >>> tf.range(5).numpy()
        array([0, 1, 2, 3, 4], dtype=int32)
        >>> tf.range(1.0, 2.0, 0.25).numpy()
        array([1.  , 1.25, 1.5 , 1.75], dtype=float32)
    """
    if limit is None:
        start, limit = 0, start
    if dtype is None and type(start) is type(limit) is type(delta) is int:
        fits_int32 = delta > 0 and -(2**31) <= start <= limit < 2**31
        if fits_int32:
            return make_tensor(np.arange(start, limit, delta, dtype=np.int32))
    parts = [t if has_own_dtype(t) else convert(t, dtype) for t in (start, limit, delta)]
    raws = [convert(t)._array for t in parts]
    bounds = [size_of_scalar(raw) for raw in raws]
    if any(raw.ndim for raw in raws):
        raise InvalidArgumentError("range: start, limit and delta must be scalars.")
    if dtype is None:
        found = [dtypes.from_numpy_dtype(raw.dtype) for raw in raws]
        wide = max(found, key=lambda d: RANGE_DTYPE_ORDER.get(d.name, len(RANGE_DTYPE_ORDER)))
    else:
        wide = dtypes.as_dtype(dtype)
    kind = np.dtype(wide.as_numpy_dtype)
    if has_dims(bounds) and None not in bounds and kind.kind in "iu" and bounds[2] > 0:
        return make_range_tensor(bounds[0], bounds[1], bounds[2], kind)
    # An integer range with known start and delta is determined by its size: it is a constant.
    varying = raws if kind.kind not in "iu" else (raws[0], raws[2])
    if any(type(raw) is TracedArray for raw in varying):
        result: Tensor = apply_raw(compute_range, *map(convert, parts), kind, dynamic=True)
        return result
    start, limit, delta = raws
    return make_tensor(compute_range(start, limit, delta, kind))


def size_of_scalar(raw: Any) -> Any:
    """A raw integer scalar as an int or a symbolic size; None if it is neither."""
    if raw.shape or raw.dtype.kind not in "iu":
        return None
    if type(raw) is TracedArray:
        if raw.dims is None:
            return raw.trace.read_integer(raw) if raw.trace.is_abstract else None
        return raw.dims.item()
    return int(raw)


@with_shape(lambda start, limit, delta, kind: Spec(((FRESH,), np.dtype(kind))))
def compute_range(start: Any, limit: Any, delta: Any, kind: Any) -> Any:
    """Compute a range from raw scalars."""
    first, last, step = (raw.astype(kind)[()] for raw in (start, limit, delta))
    if step == 0:
        raise InvalidArgumentError("range: Requires delta != 0: 0.")
    if kind.kind not in "iu" and not np.isfinite(np.float64(first + last + step)):
        raise InvalidArgumentError(
            f"range: start, limit and delta must be finite. Received {first}, {last} and {step}."
        )
    if (first > last) if step > 0 else (first < last):
        raise InvalidArgumentError(
            f"range: Requires start {'<=' if step > 0 else '>='} limit when delta "
            f"{'>' if step > 0 else '<'} 0: {first}/{last}."
        )
    if kind.kind in "iu":
        return np.arange(int(first), int(last), int(step), dtype=kind)
    # Divide in the dtype itself, as TensorFlow does: 0.3 / 0.1 is 3 in float32, not in float64.
    count = int(np.ceil(abs((last - first) / step)))
    return (first + np.arange(count).astype(kind) * step).astype(kind, copy=False)


@public
def linspace(start: Any, stop: Any, num: Any, name: str | None = None, axis: int = 0) -> Tensor:
    """`num` evenly spaced numbers from `start` to `stop`, both included, along a new axis.

    Args:
        start: the first value or values.
        stop: the last value or values, of the same dtype.
        num: the length of the new axis.
        name: has no effect here.
        axis: the position of the new axis.

    Returns:
        A tensor.

    Example:
        >>> tf.linspace(0.0, 1.0, 5).numpy()
        array([0.  , 0.25, 0.5 , 0.75, 1.  ], dtype=float32)
    """
    first = convert(start)
    last = convert(stop, first.dtype)
    if first.dtype.is_integer:
        kind = np.dtype(np.float32 if first.dtype.size < 4 else np.float64)
        first, last = (discretize(t, dtype=kind) for t in (first, last))
    (count,) = to_shape_tuple(num)
    if count < 0:
        raise InvalidArgumentError(f"linspace: num must not be negative. Received {count}.")
    try:
        common = broadcast_shapes(first._array.shape, last._array.shape)
    except InvalidArgumentError:
        raise InvalidArgumentError(
            "linspace: start and stop must broadcast. Received shapes "
            f"{list(first._array.shape)} and {list(last._array.shape)}."
        ) from None
    rank = len(common) + 1
    at = normalize_axis(axis, rank, "linspace")
    first, last = (
        s.reshape(
            broadcast_to_shape(t, common), shape=insert_unit_axis(common, at), rank=len(common)
        )
        for t in (first, last)
    )
    if type(count) is int and count == 1:
        return first
    kind = first._array.dtype
    inner = convert(compute_constant(inner_positions, count, (1,) * (-at - 1), kind))
    steps = max_size(count - 1, 1)
    steps = steps if type(steps) is int else compute_constant(to_scalar, steps, kind)
    middle = first + (last - first) / steps * inner
    whole = s.concat(first, middle, last, axis=at)
    return s.slice_axis(whole, axis=at, start=0, size=count)


def infer_inner_shape(count: Any, tail: tuple[int, ...], dtype: Any) -> Spec:
    """The shape of `inner_positions`."""
    return Spec(((max_size(count - 2, 0), *tail), np.dtype(dtype)))


@with_shape(infer_inner_shape)
def inner_positions(count: int, tail: tuple[int, ...], dtype: Any) -> Any:
    """Positions between the first and the last of `count` points, and axes `tail` of size 1."""
    return np.arange(1, max(count - 1, 1)).astype(dtype).reshape(-1, *tail)


def insert_unit_axis(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    """Insert an axis of length one at `axis`, counted from the end of the result."""
    at = len(shape) + 1 + axis
    return (*shape[:at], 1, *shape[at:])


def broadcast_to_shape(tensor: Tensor, shape: tuple[int, ...]) -> Any:
    """Broadcast `tensor` to `shape` unless it has that shape."""
    own = tensor._array.shape
    return tensor if is_same_shape(own, shape) else stretch(tensor, shape=shape, rank=len(own))
