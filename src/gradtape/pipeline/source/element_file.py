"""Files of elements: one TFRecord for each component, with its dtype and shape."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.errors import DataLossError
from gradtape.core.spec import TensorSpec
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.files.access import translate_os_errors
from gradtape.files.limit import (
    array_from_bytes,
    count_elements,
    translate_decoder_errors,
)
from gradtape.files.tfrecord import RecordWriter, frame_record, read_records
from gradtape.pipeline.base import UNKNOWN
from gradtape.pipeline.element.structure import (
    NoneTensorSpec,
    component_spec_of,
    flatten_element,
    pack_element,
)

STRING = "string"


def encode_component(tensor: Any) -> bytes:
    """Encode a component: a line of JSON with dtype and shape, then the data."""
    if tensor is None:
        return json.dumps({"dtype": None}).encode() + b"\n"
    if not isinstance(tensor, Tensor):
        raise NotImplementedError(
            f"Dataset: components must be tensors to be written to files. Received "
            f"{type(tensor).__name__}. Convert it to tensors."
        )
    array = np.asarray(tensor._array)
    about: dict[str, Any] = {"dtype": tensor.dtype.name, "shape": array.shape}
    if about["dtype"] == STRING:
        parts = array.ravel().tolist()
        about["lengths"] = [len(part) for part in parts]
        data = b"".join(parts)
    else:
        data = np.ascontiguousarray(array).tobytes()
    return json.dumps(about).encode() + b"\n" + data


def decode_component(record: bytes, name: str) -> Any:
    """Decode a component that `encode_component` encoded; errors call its file `name`."""
    line, _, data = record.partition(b"\n")
    about = as_fields(parse_json(line, name), name)
    if "dtype" in about and about["dtype"] is None:
        return None
    dtype = parse_dtype(about.get("dtype"), name)
    shape: Any = about.get("shape")
    if not is_list_of_sizes(shape):
        raise element_error(name, f"the shape {shape!s:.100}")
    if dtype is dtypes.string:
        array = decode_strings(about.get("lengths"), data, name)
    else:
        raw = np.dtype(dtype.as_numpy_dtype)
        if len(data) % raw.itemsize:
            raise element_error(name, f"{len(data)} bytes of {dtype.name}")
        array = array_from_bytes(data, raw)
    if count_elements(shape, 1) != array.size:
        raise element_error(name, f"{array.size} elements for the shape {shape!s:.100}")
    array = array.reshape(shape)
    return make_tensor(array if dtype is dtypes.string else array[()])


def decode_strings(lengths: Any, data: bytes, name: str) -> Any:
    """An array of the strings of these lengths in `data`."""
    if not is_list_of_sizes(lengths) or sum(lengths) != len(data):
        raise element_error(name, f"the lengths {lengths!s:.100} of strings in {len(data)} bytes")
    parts, at = np.empty(len(lengths), object), 0
    for i, length in enumerate(lengths):
        parts[i] = data[at : at + length]
        at += length
    return parts


def is_list_of_sizes(value: Any) -> bool:
    """Whether a value from JSON is a list of non-negative integers."""
    return isinstance(value, list) and all(type(size) is int and size >= 0 for size in value)


def parse_json(text: str | bytes, name: str) -> Any:
    """Parse JSON in the file `name`."""
    with translate_decoder_errors(f"dataset: {name} is corrupt", DataLossError):
        return json.loads(text)


def as_fields(value: Any, name: str) -> dict[str, Any]:
    """A value from JSON that must be an object."""
    if not isinstance(value, dict):
        raise element_error(name, f"{value!s:.100} in place of fields")
    return value


def parse_dtype(value: Any, name: str) -> dtypes.DType:
    """The dtype of this name."""
    with translate_decoder_errors(f"dataset: {name} is corrupt", DataLossError):
        dtype = dtypes.as_dtype(value) if isinstance(value, str) else None
    if dtype is None or not dtype.is_numpy_compatible:
        raise element_error(name, f"the dtype {value!s:.100}")
    return dtype


def element_error(name: str, what: str) -> DataLossError:
    """The error for a file whose elements or spec are invalid."""
    return DataLossError(f"dataset: {name} is corrupt. Received {what}. Save the dataset again.")


class ElementWriter:
    """Writes elements to a temporary file, which `finish` renames to its final path."""

    def __init__(self, path: str) -> None:
        """Open a temporary file that is unique to this process and writer."""
        self.path, self.temporary_path = path, f"{path}.{os.getpid()}.{id(self)}.part"
        self.records = RecordWriter(self.temporary_path)

    def write(self, element: Any) -> None:
        """Append an element."""
        for leaf in flatten_element(element):
            self.records.write(encode_component(leaf))

    def commit(self) -> None:
        """Rename the file to its final path."""
        self.records.close()
        os.replace(self.temporary_path, self.path)

    def discard(self) -> None:
        """Delete the temporary file."""
        self.records.close()
        if os.path.exists(self.temporary_path):
            os.remove(self.temporary_path)


def write_through(items: Iterator[Any], path: str) -> Iterator[Any]:
    """Yield `items` and write them; the file exists once all were read."""
    file, complete = ElementWriter(path), False
    try:
        for element in items:
            file.write(element)
            yield element
        complete = True
    finally:
        if complete:
            file.commit()
        else:
            file.discard()


def read_elements(path: str, spec: Any, size: int = UNKNOWN) -> Iterator[Any]:
    """Yield the elements of a file.

    Raises:
        DataLossError: if the file is truncated or corrupt, its elements do not match `spec`, or
            there are not `size` of them.
    """
    specs = flatten_element(spec)
    leaves: list[Any] = []
    count = 0
    for record in read_records(path):
        leaf = decode_component(record, path)
        if not specs or not is_component_of(specs[len(leaves)], leaf):
            raise element_error(path, f"the component {component_spec_of(leaf)} for {spec!s:.300}")
        leaves.append(leaf)
        if len(leaves) == len(specs):
            yield pack_element(spec, iter(leaves))
            leaves = []
            count += 1
    if leaves:
        raise DataLossError(f"dataset: {path} ends in the middle of an element.")
    if size not in (UNKNOWN, count):
        raise element_error(path, f"{count} of {size} elements")


def check_element_count(path: str, spec: Any, size: int) -> None:
    """Raise DataLossError if a file cannot have `size` elements, because it is too short."""
    with translate_os_errors(path):
        length = os.path.getsize(path)
    if size > length // (len(frame_record(b"")) * max(len(flatten_element(spec)), 1)):
        raise element_error(path, f"{length} bytes for {size} elements")


def is_component_of(spec: Any, leaf: Any) -> bool:
    """Whether a component that was read matches the spec."""
    if leaf is None or not isinstance(spec, TensorSpec):
        return leaf is None and not isinstance(spec, TensorSpec)
    return leaf.dtype is spec.dtype and spec.shape.is_compatible_with(leaf.shape)


def spec_to_json(spec: Any) -> Any:
    """Convert a spec to a JSON value."""
    if isinstance(spec, dict):
        return {"dict": {key: spec_to_json(value) for key, value in spec.items()}}
    if isinstance(spec, tuple):
        return {"tuple": [spec_to_json(value) for value in spec]}
    if isinstance(spec, NoneTensorSpec):
        return {"none": True}
    if not isinstance(spec, TensorSpec):
        raise NotImplementedError(f"Dataset.save: components must be tensors. Received {spec}.")
    shape = None if spec.shape.rank is None else spec.shape.as_list()
    return {"tensor": [shape, spec.dtype.name]}


def spec_from_json(about: Any, name: str) -> Any:
    """Convert the JSON value of `spec_to_json` in the file `name` back to a spec."""
    kind, value = next(iter(as_fields(about, name).items()), (None, None))
    if kind == "dict" and isinstance(value, dict):
        return {key: spec_from_json(inner, name) for key, inner in value.items()}
    if kind == "tuple" and isinstance(value, list):
        return tuple(spec_from_json(inner, name) for inner in value)
    if kind == "none":
        return NoneTensorSpec()
    if kind == "tensor" and isinstance(value, list) and len(value) == 2:
        shape, dtype = value[0], parse_dtype(value[1], name)
        sizes = [1 if size is None else size for size in shape] if shape else []
        if shape is None or (is_list_of_sizes(sizes) and count_elements(sizes, 1) is not None):
            return TensorSpec(shape, dtype)
    raise element_error(name, f"the spec {about!s:.100}")


def read_description(path: str) -> tuple[Any, int]:
    """The spec and the number of elements in the description of a saved dataset.

    Raises:
        DataLossError: if the file is truncated or corrupt.
    """
    with translate_os_errors(path), open(path, "rb") as file:
        about = as_fields(parse_json(file.read(), path), path)
    size = about.get("size")
    if type(size) is not int:
        raise element_error(path, f"the number of elements {size!s:.100}")
    with translate_decoder_errors(f"dataset: {path} is corrupt", DataLossError):
        spec = spec_from_json(about.get("spec"), path)
    return spec, size if size >= 0 else UNKNOWN
