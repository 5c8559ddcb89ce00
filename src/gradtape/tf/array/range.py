"""Top-level functions that create ranges of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.convert import convert, to_shape_tuple
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.lazy_array import TracedArray
from gradtape.core.open_shape import broadcast_shapes, has_dims, is_same_shape
from gradtape.core.primitive import Spec
from gradtape.core.shape_rule import FRESH, with_shape
from gradtape.core.shapes import normalize_axis
from gradtape.core.size_constant import compute_constant, to_scalar
from gradtape.core.size_function import max_size
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.graph.raw_function import apply_raw
from gradtape.graph.size_tensor import make_range_tensor
from gradtape.ops import shape as s
from gradtape.ops.elementwise import discretize
from gradtape.ops.reduce import broadcast_to as stretch
from gradtape.tf.public_op import has_own_dtype

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
            return raw.trace.read_integer(raw) if raw.trace.reads_unknown_sizes else None
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
