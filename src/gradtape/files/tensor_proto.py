"""TensorProto, the message for tensors in `serialize_tensor` and event files."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.errors import InvalidArgumentError
from gradtape.files.protobuf import make_message_classes

VALUE_FIELDS_SCHEMA = (  # the fields for the values of a tensor; the dtype decides which is used
    "tensor_content:4:bytes half_val:13:int32* float_val:5:float* double_val:6:double* "
    "int_val:7:int32* string_val:8:bytes* scomplex_val:9:float* int64_val:10:int64* "
    "bool_val:11:bool* dcomplex_val:12:double* uint32_val:16:uint32* uint64_val:17:uint64*"
)
TENSOR_SCHEMA = {
    "TensorProto": "dtype:1:int32 tensor_shape:2:TensorShapeProto version_number:3:int32 "
    + VALUE_FIELDS_SCHEMA,
    "TensorShapeProto": "dim:2:Dim* unknown_rank:3:bool",
    "Dim": "size:1:int64 name:2:string",
}
TensorProto, TensorShapeProto, Dim = make_message_classes(
    "gradtape/tensor.proto", TENSOR_SCHEMA, __name__
)
VALUE_FIELD_BY_DTYPE = {
    **dict.fromkeys(("float16", "bfloat16"), "half_val"),
    **dict.fromkeys(("int32", "int16", "int8", "uint8", "uint16"), "int_val"),
    "float32": "float_val",
    "float64": "double_val",
    "string": "string_val",
    "complex64": "scomplex_val",
    "int64": "int64_val",
    "bool": "bool_val",
    "complex128": "dcomplex_val",
    "uint32": "uint32_val",
    "uint64": "uint64_val",
}
MAX_PROTO_ELEMENTS = 1 << 33  # elements that the shape of a message may have


def fill_tensor_proto(message: Any, raw: Any) -> Any:
    """Store a raw array in an empty TensorProto."""
    array = np.asarray(raw)
    message.dtype = dtypes.from_numpy_dtype(array.dtype).as_datatype_enum
    message.tensor_shape.SetInParent()
    for size in array.shape:
        message.tensor_shape.dim.add(size=size)
    if array.dtype == object:
        message.string_val.extend(array.ravel().tolist())
    else:
        message.tensor_content = array.tobytes()
    return message


def array_from_proto(message: Any) -> Any:
    """The array of a TensorProto; a short list of values is filled with its last element."""
    try:
        dtype = dtypes.as_dtype(message.dtype)
        numpy_dtype = np.dtype(dtype.as_numpy_dtype)
    except (TypeError, KeyError):
        raise InvalidArgumentError(
            f"parse_tensor: NumPy cannot represent a tensor of type number {message.dtype}."
        ) from None
    shape = tuple(dim.size for dim in message.tensor_shape.dim)
    count = 1
    for size in shape:
        count *= size
        if size < 0 or count > MAX_PROTO_ELEMENTS:
            raise InvalidArgumentError(f"parse_tensor: invalid shape {shape}.")
    if message.tensor_content:
        data = message.tensor_content
        if dtype is dtypes.string or len(data) != count * numpy_dtype.itemsize:
            raise InvalidArgumentError(
                f"parse_tensor: {len(data)} bytes for a {dtype.name} tensor of shape {shape}."
            )
        return np.frombuffer(bytearray(data), numpy_dtype).reshape(shape)
    return read_value_list(message, dtype, numpy_dtype, count).reshape(shape)


def read_value_list(message: Any, dtype: dtypes.DType, numpy_dtype: Any, count: int) -> Any:
    """The elements of a message that stores them in a repeated field."""
    field = VALUE_FIELD_BY_DTYPE.get(dtype.name)
    values = [] if field is None else list(getattr(message, field))
    if dtype is dtypes.string:
        array = np.empty(len(values), object)
        array[:] = values
    elif field == "half_val":
        array = np.array(values, np.uint16).view(numpy_dtype)
    elif dtype.is_complex:
        array = np.array(values, dtype.real_dtype.as_numpy_dtype)
        array = array[: len(values) // 2 * 2].view(numpy_dtype)
    else:
        array = np.array(values, numpy_dtype)
    if len(array) > count or (count and not len(array) and dtype is dtypes.string):
        array = np.resize(array, count) if len(array) else np.full(count, b"", object)
    last = array[-1:] if len(array) else np.zeros(1, numpy_dtype)
    return np.concatenate([array, np.repeat(last, count - len(array))])
