"""tf.io: whole files, serialized tensors, and raw, base64, compressed and JSON encodings."""

from __future__ import annotations

import base64
import os
from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.convert import convert
from gradtape.core.errors import DataLossError, InvalidArgumentError, public
from gradtape.core.primitive import Spec
from gradtape.core.shape_rule import FRESH, OBJECT, numpy_dtype_of
from gradtape.core.spec import TensorSpec
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.files.access import as_path, check_compression, decompress, translate_os_errors
from gradtape.files.limit import translate_decoder_errors
from gradtape.graph.host_function import (
    call_on_host,
    describe_as,
    describe_like,
    shape_of_argument,
)
from gradtape.graph.side_effect import side_effect
from gradtape.tf.io import gfile
from gradtape.tf.strings.byte_string import as_string_array, map_elements

BASE64_ALPHABET = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")


@public
@call_on_host(describe_as(dtype=OBJECT))
def read_file(filename: Any, name: str | None = None) -> Tensor:
    """The contents of a file, as a string.

    Args:
        filename: the path of the file.
        name: has no effect here.

    Returns:
        A string scalar.

    Raises:
        NotFoundError: if the file does not exist.

    Example:
        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "note.txt")
        >>> tf.io.write_file(path, "hello")
        >>> tf.io.read_file(path).numpy()
        b'hello'
    """
    with translate_os_errors(filename), open(as_path(filename), "rb") as file:
        return convert(file.read())


@public
@side_effect()
def write_file(filename: Any, contents: Any, name: str | None = None) -> None:
    """Write a string to a file; missing directories are created.

    Args:
        filename: the path of the file.
        contents: a string scalar.
        name: has no effect here.

    Returns:
        None.

    Example:
        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "note.txt")
        >>> tf.io.write_file(path, "hello")
        >>> tf.io.gfile.exists(path)
        True
    """
    data = as_string_array(contents)[()]
    path = as_path(filename)
    folder = gfile.join(path, "..") if path.endswith("/") else path.rpartition("/")[0]
    if folder:
        gfile.makedirs(folder)
    with translate_os_errors(filename), open(path, "wb") as file:
        file.write(data)


@public
@call_on_host(describe_as(FRESH, dtype=OBJECT))
def matching_files(pattern: Any, name: str | None = None) -> Tensor:
    """The sorted paths of files that match a pattern, or any of a vector of patterns.

    Args:
        pattern: a pattern, or a vector of patterns.
        name: has no effect here.

    Returns:
        A vector of strings.
    """
    found = {p for one in as_string_array(pattern).ravel() for p in gfile.glob(one)}
    out = np.empty(len(found), object)
    out[:] = [os.fsencode(path) for path in sorted(found)]
    return make_tensor(out)


@public
@call_on_host(describe_as(dtype=OBJECT))
def serialize_tensor(tensor: Any, name: str | None = None) -> Tensor:
    """A tensor as a serialized TensorProto.

    Args:
        tensor: a tensor.
        name: has no effect here.

    Returns:
        A string scalar.

    Example:
        >>> text = tf.io.serialize_tensor([1.0, 2.0])
        >>> tf.io.parse_tensor(text, tf.float32).numpy()
        array([1., 2.], dtype=float32)
    """
    from gradtape.files.tensor_proto import TensorProto, fill_tensor_proto

    return convert(fill_tensor_proto(TensorProto(), convert(tensor)._array).SerializeToString())


@public
@call_on_host(lambda serialized, out_type, name=None: TensorSpec(None, out_type))
def parse_tensor(serialized: Any, out_type: Any, name: str | None = None) -> Tensor:
    """The tensor in a serialized TensorProto.

    Args:
        serialized: a scalar string.
        out_type: the dtype that the tensor must have.
        name: has no effect here.

    Returns:
        A tensor of `out_type`.

    Raises:
        InvalidArgumentError: if `serialized` is not a TensorProto, or has another dtype.

    Example:
        >>> tf.io.parse_tensor(tf.io.serialize_tensor([1, 2]), tf.int32).numpy()
        array([1, 2], dtype=int32)
    """
    from gradtape.files.protobuf import parse_proto
    from gradtape.files.tensor_proto import TensorProto, array_from_proto

    text = as_string_array(serialized)
    if text.ndim:
        raise InvalidArgumentError(
            f"parse_tensor: Expected `serialized` to be a scalar, got shape {text.shape}."
        )
    try:
        message = parse_proto(TensorProto, text[()], "parse_tensor")
    except DataLossError:
        raise InvalidArgumentError(
            f"parse_tensor: Could not parse `serialized` as TensorProto: {text[()]!r:.100}"
        ) from None
    array = array_from_proto(message)
    wanted = dtypes.as_dtype(out_type)
    if dtypes.from_numpy_dtype(array.dtype) is not wanted:
        raise InvalidArgumentError(
            f"parse_tensor: Type mismatch between parsed tensor ({array.dtype}) and dtype "
            f"({wanted.name})."
        )
    return make_tensor(array if array.ndim or array.dtype == object else array[()])


def describe_decoded_bytes(
    input_bytes: Any,
    out_type: Any,
    little_endian: bool = True,
    fixed_length: int | None = None,
    name: str | None = None,
) -> Spec:
    """Result rule of `decode_raw`: another axis, whose size only the strings determine."""
    dtype = numpy_dtype_of(out_type)
    count = FRESH if fixed_length is None else fixed_length // dtype.itemsize
    return Spec(((*shape_of_argument(input_bytes), count), dtype))


@public
@call_on_host(describe_decoded_bytes)
def decode_raw(
    input_bytes: Any,
    out_type: Any,
    little_endian: bool = True,
    fixed_length: int | None = None,
    name: str | None = None,
) -> Tensor:
    r"""The bytes of strings as numbers, along a new last axis.

    Args:
        input_bytes: strings of equal length.
        out_type: the dtype of the numbers.
        little_endian: whether the lowest byte comes first.
        fixed_length: crop or zero-pad the strings to this many bytes.
        name: has no effect here.

    Returns:
        A tensor of `out_type`.

    Raises:
        InvalidArgumentError: if the strings differ in length, or the length is not a multiple of
            the size of `out_type`.

    Example:
        >>> tf.io.decode_raw(b'\x01\x00\x02\x00', tf.int16).numpy()
        array([1, 2], dtype=int16)
    """
    texts = as_string_array(input_bytes)
    dtype = np.dtype(dtypes.as_dtype(out_type).as_numpy_dtype)
    if fixed_length is not None:
        if fixed_length <= 0 or fixed_length % dtype.itemsize:
            raise InvalidArgumentError(
                f"decode_raw: fixed_length ({fixed_length}) must be a multiple of the size of "
                f"out_type ({dtype.itemsize})."
            )
        items = [text[:fixed_length].ljust(fixed_length, b"\0") for text in texts.flat]
    else:
        items = list(texts.flat)
    length = len(items[0]) if items else 0
    for i, item in enumerate(items):
        if len(item) != length:
            raise InvalidArgumentError(
                "decode_raw: DecodeRaw requires input strings to all be the same size, but element "
                f"{i} has size {length} != {len(item)}. Pass fixed_length."
            )
    if length % dtype.itemsize:
        raise InvalidArgumentError(
            f"decode_raw: Input to DecodeRaw has length {length} that is not a multiple of "
            f"{dtype.itemsize}, the size of {dtype.name}."
        )
    flat = np.frombuffer(bytearray(b"".join(items)), dtype)
    if not little_endian:
        flat = flat.byteswap()
    return make_tensor(flat.reshape(*texts.shape, length // dtype.itemsize))


@public
@call_on_host(describe_like(OBJECT))
def encode_base64(input: Any, pad: bool = False, name: str | None = None) -> Tensor:
    """Strings encoded in web-safe base64, padded with "=" if `pad`.

    Args:
        input: a tensor of strings.
        pad: whether to pad the result.
        name: has no effect here.

    Returns:
        A tensor of strings.

    Example:
        >>> tf.io.encode_base64("gradtape").numpy()
        b'Z3JhZHRhcGU'
    """

    def encode(text: bytes) -> bytes:
        out = base64.urlsafe_b64encode(text)
        return out if pad else out.rstrip(b"=")

    return map_elements(encode, as_string_array(input))


@public
@call_on_host(describe_like(OBJECT))
def decode_base64(input: Any, name: str | None = None) -> Tensor:
    """Strings decoded from web-safe base64, with or without padding.

    Args:
        input: a tensor of strings.
        name: has no effect here.

    Returns:
        A tensor of strings.

    Raises:
        InvalidArgumentError: if a string is not base64.

    Example:
        >>> tf.io.decode_base64(tf.io.encode_base64("tape")).numpy()
        b'tape'
    """

    def decode(text: bytes) -> bytes:
        bare = text.rstrip(b"=")
        if not BASE64_ALPHABET.issuperset(bare) or len(bare) % 4 == 1:
            raise InvalidArgumentError(
                f"decode_base64: Invalid character found in base64, or its end is missing: "
                f"{text!r:.100}."
            )
        return base64.urlsafe_b64decode(bare + b"=" * (-len(bare) % 4))

    return map_elements(decode, as_string_array(input))


@public
@call_on_host(describe_like(OBJECT))
def decode_compressed(bytes: Any, compression_type: str = "", name: str | None = None) -> Tensor:
    """Strings decompressed from "ZLIB" or "GZIP"; unchanged if `compression_type` is "".

    Args:
        bytes: a tensor of strings.
        compression_type: "ZLIB", "GZIP" or "".
        name: has no effect here.

    Returns:
        A tensor of strings.

    Raises:
        DataLossError: if a string is not compressed in this format, or is truncated.
        ResourceExhaustedError: if a string becomes more than 100 times as long and has more than
            256 MiB then.
    """
    kind = check_compression(compression_type)

    def decode(text: Any) -> Any:
        return decompress(text, kind, "decode_compressed") if kind else text

    return map_elements(decode, as_string_array(bytes))


@public
@call_on_host(describe_like(OBJECT))
def decode_json_example(json_examples: Any, name: str | None = None) -> Tensor:
    """Examples in JSON converted to serialized Examples.

    Args:
        json_examples: a tensor of strings.
        name: has no effect here.

    Returns:
        A tensor of strings.

    Raises:
        InvalidArgumentError: if a string is not an Example in JSON.
    """
    from gradtape.files.example import Example
    from gradtape.files.protobuf import import_protobuf

    import_protobuf()
    from google.protobuf import json_format

    def serialize(text: Any) -> Any:
        with translate_decoder_errors("decode_json_example: Error while parsing JSON"):
            return json_format.Parse(text, Example()).SerializeToString()

    return map_elements(serialize, as_string_array(json_examples))
