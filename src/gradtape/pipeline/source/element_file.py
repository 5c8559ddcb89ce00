"""Files of elements: one TFRecord for each component, with its dtype and shape."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.errors import DataLossError
from gradtape.core.spec import TensorSpec
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.files.tfrecord import RecordWriter, read_records
from gradtape.pipeline.element.structure import NoneTensorSpec, flatten_element, pack_element

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


def decode_component(record: bytes) -> Any:
    """Decode a component that `encode_component` encoded."""
    line, _, data = record.partition(b"\n")
    about = json.loads(line)
    if about["dtype"] is None:
        return None
    if about["dtype"] == STRING:
        ends = np.cumsum(about["lengths"], dtype=np.int64).tolist()
        parts = np.empty(len(ends), object)
        parts[:] = [data[a:b] for a, b in zip([0, *ends], ends, strict=False)]
        return make_tensor(parts.reshape(about["shape"]))
    raw = np.dtype(dtypes.as_dtype(about["dtype"]).as_numpy_dtype)
    if len(data) != raw.itemsize * prod(about["shape"]):
        raise DataLossError(
            f"dataset: the size of a component must match {about}. Received {len(data)} bytes."
        )
    return make_tensor(np.frombuffer(data, raw).reshape(about["shape"])[()])


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


def read_elements(path: str, spec: Any) -> Iterator[Any]:
    """Yield the elements of a file."""
    count = len(flatten_element(spec))
    leaves = []
    for record in read_records(path):
        leaves.append(decode_component(record))
        if len(leaves) == count:
            yield pack_element(spec, iter(leaves))
            leaves = []
    if leaves:
        raise DataLossError(f"dataset: {path} ends in the middle of an element.")


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


def spec_from_json(about: Any) -> Any:
    """Convert the JSON value of `spec_to_json` back to a spec."""
    ((kind, value),) = about.items()
    if kind == "dict":
        return {key: spec_from_json(inner) for key, inner in value.items()}
    if kind == "tuple":
        return tuple(spec_from_json(inner) for inner in value)
    if kind == "none":
        return NoneTensorSpec()
    return TensorSpec(value[0], dtypes.as_dtype(value[1]))
