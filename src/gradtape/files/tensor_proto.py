"""TensorProto, the message for tensors in `serialize_tensor` and event files."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.errors import InvalidArgumentError
from gradtape.files.leveldb_table import read_varint
from gradtape.files.limit import array_from_bytes, count_elements, expansion_limit
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
    **dict.fromkeys(("qint8", "quint8", "qint16", "quint16", "qint32"), "int_val"),
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
    count = count_elements(shape, numpy_dtype.itemsize)
    if message.tensor_shape.unknown_rank or count is None:
        raise InvalidArgumentError(f"parse_tensor: invalid shape {shape!s:.200}.")
    size = message.ByteSize()
    if count * numpy_dtype.itemsize > expansion_limit(size):
        raise InvalidArgumentError(
            f"parse_tensor: invalid shape {shape!s:.200}: the {dtype.name} tensor would have "
            f"{count * numpy_dtype.itemsize} bytes. Received a message of {size} bytes."
        )
    if message.tensor_content and count:
        return read_content(message.tensor_content, dtype, numpy_dtype, count).reshape(shape)
    return read_value_list(message, dtype, numpy_dtype, count).reshape(shape)


def read_content(data: bytes, dtype: dtypes.DType, numpy_dtype: Any, count: int) -> Any:
    """The elements of a message that stores them as bytes; strings come after their lengths."""
    if dtype is dtypes.string:
        try:
            return split_strings(data, count)
        except ValueError as error:
            raise InvalidArgumentError(f"parse_tensor: invalid strings: {error}.") from None
    if len(data) != count * numpy_dtype.itemsize:
        raise InvalidArgumentError(
            f"parse_tensor: {len(data)} bytes for a {dtype.name} tensor of {count} elements."
        )
    if dtype is dtypes.bool and max(data) > 1:
        raise InvalidArgumentError(f"parse_tensor: a bool must be 0 or 1. Received {max(data)}.")
    return array_from_bytes(data, numpy_dtype)


def split_strings(data: bytes, count: int) -> Any:
    """Split the lengths of `count` strings and the strings themselves into an array."""
    if count > len(data):
        raise ValueError(f"{len(data)} bytes for {count} strings")
    lengths, at = [], 0
    for _ in range(count):
        length, at = read_varint(data, at)
        lengths.append(length)
    if sum(lengths) != len(data) - at:
        raise ValueError(f"the lengths of {count} strings do not add up")
    out = np.empty(count, object)
    for i, length in enumerate(lengths):
        out[i] = data[at : at + length]
        at += length
    return out


def read_value_list(message: Any, dtype: dtypes.DType, numpy_dtype: Any, count: int) -> Any:
    """The elements of a message that stores them in a repeated field."""
    field = VALUE_FIELD_BY_DTYPE.get(dtype.name)
    values = [] if field is None else list(getattr(message, field))[: 2 * count]
    array = convert_values(values, field, dtype, numpy_dtype)[:count]
    filler = np.array([b""], object) if dtype is dtypes.string else np.zeros(1, numpy_dtype)
    last = array[-1:] if len(array) else filler
    return np.concatenate([array, np.repeat(last, count - len(array))])


def convert_values(values: list[Any], field: str | None, dtype: dtypes.DType, kind: Any) -> Any:
    """The values of a repeated field as an array; integers wrap, as in TensorFlow."""
    if dtype is dtypes.string:
        array = np.empty(len(values), object)
        array[:] = values
        return array
    if field == "half_val":
        return np.array(values, np.int64).astype(np.uint16).view(kind)
    if field == "int_val":  # a quantized dtype has one field
        return np.array(values, np.int64).astype(kind[0] if kind.fields else kind).view(kind)
    if dtype.is_complex:
        reals = np.array(values, dtype.real_dtype.as_numpy_dtype)
        return reals[: len(values) // 2 * 2].view(kind)
    return np.array(values, kind)
