"""Size tensors: integer tensors of a trace that follow from unknown sizes, such as `tf.shape`.

A size tensor has the symbolic sizes in `TracedArray.dims`. It is a node without inputs, which is
folded into a constant once the sizes are known.
"""

from __future__ import annotations

from typing import Any

from gradtape.core import dtypes
from gradtape.core.context import current_trace
from gradtape.core.open_shape import has_dims
from gradtape.core.ports import ConversionPort, SizePort
from gradtape.core.size_function import evaluate
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.graph.trace_op import make_trace_op
from gradtape.ops.shape import as_scalar_unless_string, zeros
from gradtape.ops.size_array import (
    as_size_array,
    fill_array,
    fold_sizes,
    has_only_numbers,
    infer_range_shape,
    infer_static_shape,
    is_integer_dtype,
    make_integers,
    make_size_array,
    range_array,
    size_array,
)

SIZE_ARRAY = make_trace_op(size_array)
SIZE_ARRAY.shape_rule = infer_static_shape
FILL_ARRAY = make_trace_op(fill_array)
FILL_ARRAY.shape_rule = infer_static_shape
RANGE_ARRAY = make_trace_op(range_array)
RANGE_ARRAY.shape_rule = infer_range_shape


def make_size_tensor(trace: Any, dims: Any, dtype: Any) -> Tensor:
    """A tensor of an array of ints and symbolic sizes; a constant if there are only ints."""
    if has_only_numbers(dims):
        return make_tensor(make_integers(dims, dtype))
    static = {"sizes": tuple(dims.flat), "shape": dims.shape, "dtype": dtype}
    raw: Any = infer_static_shape(**static)
    hints = trace.sizes.hints
    if hints is not None:
        known = tuple([evaluate(size, hints) for size in dims.flat])
        raw = size_array(sizes=known, shape=dims.shape, dtype=dtype)
    tensor = trace.make_value(raw)
    tensor._array.dims = dims
    trace.record_node(SIZE_ARRAY, (), static, (tensor,))
    made: Tensor = tensor
    return made


def make_shape_tensor(shape: tuple[Any, ...], dtype: Any) -> Tensor:
    """A vector of sizes, of which some are symbolic."""
    return make_size_tensor(current_trace()[0], make_size_array(shape), dtype)


def make_scalar_size(size: Any, dtype: Any = None) -> Tensor:
    """A symbolic size as a scalar tensor, int32 by default."""
    wanted = dtypes.int32 if dtype is None else dtypes.as_dtype(dtype)
    whole = wanted if wanted.is_integer else dtypes.int64
    trace = current_trace()[0]
    tensor = make_size_tensor(trace, as_size_array(size), whole.as_numpy_dtype)
    return tensor if whole is wanted else ConversionPort.cast(tensor, wanted)


def make_filled_tensor(shape: tuple[Any, ...], value: Any, dtype: Any) -> Tensor:
    """A tensor of unknown sizes whose elements are all `value`."""
    static = {"value": value, "shape": tuple(shape), "dtype": dtype}
    filled: Tensor = current_trace()[0].bind_open(FILL_ARRAY, static)
    return filled


def make_zeros_tensor(shape: tuple[Any, ...], dtype: Any) -> Tensor:
    """Zeros, whose sizes may be unknown."""
    if has_dims(shape):
        return make_filled_tensor(shape, 0, dtype)
    return make_tensor(as_scalar_unless_string(zeros(shape, dtype)))


def make_range_tensor(start: Any, stop: Any, step: Any, dtype: Any) -> Tensor:
    """The integers from `start` to `stop`, some of which are symbolic sizes."""
    static = {"start": start, "stop": stop, "step": step, "dtype": dtype}
    numbers: Tensor = current_trace()[0].bind_open(RANGE_ARRAY, static)
    return numbers


def fold_size_tensors(trace: Any, op: Any, views: tuple[Any, ...], static: dict[str, Any]) -> Any:
    """The results of an op whose operands follow from sizes; None if it has others."""
    if all(getattr(view, "dims", None) is None for view in views):
        return None
    dtype = static.get("dtype", next((v.dtype for v in views if hasattr(v, "dtype")), None))
    if dtype is None or not is_integer_dtype(dtype):
        return None
    arrays = [as_size_array(view) for view in views]
    if any(array is None for array in arrays):
        return None
    results = fold_sizes(op, arrays, static)
    if results is None:
        return None
    tensors = tuple([make_size_tensor(trace, one, dtype) for one in results])
    return tensors if op.outputs else tensors[0]


SizePort.supply(make_scalar=make_scalar_size, make_filled=make_filled_tensor)
