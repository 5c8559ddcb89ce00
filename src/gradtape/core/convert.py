"""Conversion to tensors: of numbers, nested lists, arrays, and objects that convert themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.array_conversion import to_raw_array
from gradtape.core.dims import Dim
from gradtape.core.dtypes import DType
from gradtape.core.errors import InvalidArgumentError, OperatorNotAllowedInGraphError
from gradtape.core.lazy_array import LazyArray
from gradtape.core.ports import ConversionPort
from gradtape.core.shapes import TensorShape
from gradtape.core.symbolic_tensor import check_scope
from gradtape.core.tensor import EagerTensor, Tensor, make_tensor

INT32_MAX = 2**31 - 1

# Registered by users, lowest priority first: (type, function(value, dtype, name, as_ref), priority)
CONVERSIONS: list[tuple[Any, Callable[..., Any], int]] = []


def convert(value: Any, dtype: Any = None, hint: Any = None, name: str | None = None) -> Tensor:
    """Convert `value` to a tensor of `dtype` if given, else of `hint` if the value fits."""
    if type(value) is EagerTensor:
        return value if dtype is None else require_dtype(value, dtypes.as_dtype(dtype))
    if dtype is None and hasattr(value, "_read"):  # a variable
        return value._read()
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    if isinstance(value, Tensor):
        check_scope(value)
        return value if wanted is None else require_dtype(value, wanted)
    to_tensor = getattr(type(value), "__tf_tensor__", None)
    if to_tensor is not None:
        tensor: Tensor = to_tensor(value, wanted, name)
        return tensor if wanted is None else require_dtype(tensor, wanted)
    if CONVERSIONS:
        registered = try_conversions(value, wanted, hint, name)
        if registered is not None:
            return registered
    if isinstance(value, TensorShape):
        return shape_to_tensor(value, wanted, hint)
    if isinstance(value, (list, tuple)) and has_tensors(value):
        return stack_list(value, wanted)
    if wanted is None and hint is not None:
        return make_tensor(to_preferred_dtype(value, hint))
    return make_tensor(to_raw_array(value, wanted))


def to_preferred_dtype(value: Any, hint: Any) -> Any:
    """A raw array of dtype `hint`, or of the value's own dtype if it does not fit."""
    try:
        return to_raw_array(value, dtypes.as_dtype(hint))
    except (TypeError, ValueError):
        return to_raw_array(value, None)


def require_dtype(tensor: Tensor, dtype: DType) -> Tensor:
    """Return `tensor` if it has this dtype, else raise; conversion never casts a tensor."""
    if tensor.dtype is not dtype:
        raise ValueError(
            f"Tensor conversion requested dtype {dtype.name} for Tensor with dtype "
            f"{tensor.dtype.name}: {tensor!r}. Cast it first."
        )
    return tensor


def register_conversion(
    base_type: Any, conversion_func: Callable[..., Any], priority: int = 100
) -> None:
    """Convert objects of `base_type` by `conversion_func`; the lowest `priority` goes first."""
    CONVERSIONS.append((base_type, conversion_func, priority))
    CONVERSIONS.sort(key=lambda entry: entry[2])


def try_conversions(value: Any, dtype: DType | None, hint: Any, name: str | None) -> Tensor | None:
    """Convert `value` by the first registered function that accepts it; None if none does."""
    for kind, function, _ in CONVERSIONS:
        if not isinstance(value, kind):
            continue
        result = NotImplemented
        if dtype is None and hint is not None:
            try:
                result = function(value, dtype=dtypes.as_dtype(hint), name=name, as_ref=False)
            except (TypeError, ValueError):
                result = NotImplemented
        if result is NotImplemented:
            result = function(value, dtype=dtype, name=name, as_ref=False)
        if result is NotImplemented:
            continue
        if not isinstance(result, Tensor):
            raise RuntimeError(
                f"Conversion function {function} for type {kind} returned non-Tensor: {result!r}"
            )
        if dtype is not None and result.dtype is not dtype:
            raise RuntimeError(
                f"Conversion function {function} for type {kind} returned incompatible dtype: "
                f"requested = {dtype.name}, actual = {result.dtype.name}"
            )
        tensor: Tensor = result
        return tensor
    return None


def shape_to_tensor(shape: TensorShape, dtype: DType | None, hint: Any) -> Tensor:
    """Convert a shape to a vector of integers."""
    if not shape.is_fully_defined():
        raise ValueError(f"Cannot convert a partially known TensorShape {shape} to a Tensor.")
    sizes = shape.as_list()
    if dtype is None:
        large = any(size > INT32_MAX for size in sizes)
        dtype = dtypes.int64 if large or hint == dtypes.int64 else dtypes.int32
    elif dtype not in (dtypes.int32, dtypes.int64):
        raise TypeError(
            f"Cannot convert TensorShape {shape} to dtype {dtype}. Allowed dtypes are tf.int32 "
            "and tf.int64."
        )
    return make_tensor(np.array(sizes, dtype.as_numpy_dtype))


def is_tensor_like(value: Any) -> bool:
    """Whether `value` is a tensor, or converts itself to one."""
    return isinstance(value, Tensor) or hasattr(type(value), "__tf_tensor__")


def has_tensors(values: Any) -> bool:
    """Whether a nested list contains a tensor or an object that converts itself to one."""
    return next(find_tensors(values), None) is not None


def find_tensors(values: Any) -> Iterator[Any]:
    """Yield the tensors of a nested list, and objects that convert themselves to one."""
    for value in values:
        kind = type(value)
        if kind is float or kind is int:
            continue
        if is_tensor_like(value) or (
            CONVERSIONS and isinstance(value, tuple(c[0] for c in CONVERSIONS))
        ):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from find_tensors(value)


def stack_list(values: Sequence[Any], dtype: DType | None) -> Tensor:
    """Stack a nested list of tensors and numbers; Python numbers take the tensors' dtype."""
    own = convert(next(find_tensors(values))).dtype
    parts = [convert_list_item(value, own) for value in values]
    packed = ConversionPort.stack(parts)
    return packed if dtype is None or dtype is own else ConversionPort.cast(packed, dtype)


def convert_list_item(value: Any, dtype: DType) -> Tensor:
    """Convert one item of a list that contains tensors."""
    if isinstance(value, (list, tuple)) and has_tensors(value):
        return ConversionPort.stack([convert_list_item(v, dtype) for v in value])
    if not has_tensors((value,)):
        return convert(value, dtype)
    tensor = convert(value)
    if tensor.dtype is not dtype:
        raise InvalidArgumentError(
            "convert_to_tensor: all tensors of a list must have one dtype. "
            f"Received {dtype.name} and {tensor.dtype.name}. Cast them first."
        )
    return tensor


def to_shape_tuple(shape: Any) -> tuple[int, ...]:
    """Convert a tensor, array, TensorShape, int, or list of ints and scalar tensors to a shape."""
    if isinstance(shape, TensorShape):
        return tuple(shape.as_list())
    if isinstance(shape, Tensor):
        dims = getattr(shape._array, "dims", None)
        if dims is not None:  # sizes that are not known
            return tuple(dims.flat)
        sizes = read_symbolic_sizes(shape._array)
        if sizes is not None:
            return sizes
        shape = np.asarray(shape._array)
    elif hasattr(shape, "__tf_tensor__") and type(shape) is not Dim:
        shape = shape.__tf_tensor__(None, None)._array
    if isinstance(shape, LazyArray):  # the trace records that the value is read
        shape = shape.value()
    if isinstance(shape, (np.ndarray, np.generic)):
        return tuple(to_dimension_size(n) for n in np.ravel(shape).tolist())
    if isinstance(shape, (list, tuple, range)):
        return tuple([n if type(n) is int else to_dimension_size(n) for n in shape])
    return (to_dimension_size(shape),)


def read_symbolic_sizes(held: Any) -> tuple[Any, ...] | None:
    """The integers of a traced array as symbolic sizes; None if they must be numbers."""
    if (
        not getattr(getattr(held, "trace", None), "reads_unknown_sizes", False)
        or held.dtype.kind not in "iu"
    ):
        return None
    shape = held.shape
    if not shape:
        return (held.trace.read_integer(held),)
    is_vector = len(shape) == 1 and type(shape[0]) is int
    return held.trace.read_integers(held) if is_vector else None


def is_symbolic_float(value: Any) -> bool:
    """Whether a value is a float of a trace, which counts as a size if it is cast."""
    held = getattr(value, "_array", None)
    return hasattr(held, "number") and bool(value.dtype.is_floating)


def to_dimension_size(value: Any) -> int:
    """Convert one size of a shape to an int; Python's floats are refused, tensors are cast."""
    if value is None:
        raise ValueError("Attempt to convert a value (None) with an unsupported type to a Tensor.")
    if isinstance(value, (float, np.floating)):
        raise TypeError(f"Cannot convert {value} to EagerTensor of dtype int32")
    if type(value) is Dim:
        return value  # type: ignore[return-value]
    dims = getattr(getattr(value, "_array", None), "dims", None)
    if dims is not None and dims.size == 1:
        size: int = dims.item()
        return size
    if is_symbolic_float(value):
        value = convert([value], dtypes.int32)[0]
    sizes = read_symbolic_sizes(getattr(value, "_array", None))
    if sizes is not None and len(sizes) == 1:
        return sizes[0]
    try:
        if not isinstance(value, (str, bytes)):
            return int(value)
    except OperatorNotAllowedInGraphError:
        raise
    except (TypeError, ValueError):
        pass
    raise TypeError(f"The sizes of a shape must be integers. Received {value!r:.60}.")
