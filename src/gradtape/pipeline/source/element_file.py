"""Elements in a file: each component a record with its dtype and shape, its checksum verified."""

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
from gradtape.core.tensor import Tensor, eager
from gradtape.files.tfrecord import RecordWriter, read_records
from gradtape.pipeline.element.structure import NoneTensorSpec, flatten, packed

STRING = "string"


def encoded(tensor: Any) -> bytes:
    """A component as bytes: a line that describes it, then its data."""
    if tensor is None:
        return json.dumps({"dtype": None}).encode() + b"\n"
    if not isinstance(tensor, Tensor):
        raise NotImplementedError(
            f"Dataset: a {type(tensor).__name__} is not written to files. Turn it into tensors."
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


def decoded(record: bytes) -> Any:
    """The component that `encoded` made into bytes."""
    line, _, data = record.partition(b"\n")
    about = json.loads(line)
    if about["dtype"] is None:
        return None
    if about["dtype"] == STRING:
        ends = np.cumsum(about["lengths"], dtype=np.int64).tolist()
        parts = np.empty(len(ends), object)
        parts[:] = [data[a:b] for a, b in zip([0, *ends], ends, strict=False)]
        return eager(parts.reshape(about["shape"]))
    raw = np.dtype(dtypes.as_dtype(about["dtype"]).as_numpy_dtype)
    if len(data) != raw.itemsize * prod(about["shape"]):
        raise DataLossError(f"dataset: a component of {about} has {len(data)} bytes.")
    return eager(np.frombuffer(data, raw).reshape(about["shape"])[()])


class Writing:
    """Elements written next to where they belong, and put there when they are complete."""

    def __init__(self, path: str) -> None:
        """Write to a file of this process's own."""
        self.path, self.part = path, f"{path}.{os.getpid()}.{id(self)}.part"
        self.records = RecordWriter(self.part)

    def write(self, element: Any) -> None:
        """Append an element."""
        for leaf in flatten(element):
            self.records.write(encoded(leaf))

    def finish(self) -> None:
        """Give the file its name."""
        self.records.close()
        os.replace(self.part, self.path)

    def give_up(self) -> None:
        """Remove what was written."""
        self.records.close()
        if os.path.exists(self.part):
            os.remove(self.part)


def written(items: Iterator[Any], path: str) -> Iterator[Any]:
    """`items`, which are in the file once all have been drawn."""
    file, complete = Writing(path), False
    try:
        for element in items:
            file.write(element)
            yield element
        complete = True
    finally:
        if complete:
            file.finish()
        else:
            file.give_up()


def read(path: str, spec: Any) -> Iterator[Any]:
    """The elements in a file."""
    count = len(flatten(spec))
    leaves = []
    for record in read_records(path):
        leaves.append(decoded(record))
        if len(leaves) == count:
            yield packed(spec, iter(leaves))
            leaves = []
    if leaves:
        raise DataLossError(f"dataset: {path} ends in the middle of an element.")


def described(spec: Any) -> Any:
    """A spec as what JSON can hold."""
    if isinstance(spec, dict):
        return {"dict": {key: described(value) for key, value in spec.items()}}
    if isinstance(spec, tuple):
        return {"tuple": [described(value) for value in spec]}
    if isinstance(spec, NoneTensorSpec):
        return {"none": True}
    if not isinstance(spec, TensorSpec):
        raise NotImplementedError(f"Dataset.save: elements of {spec} are not saved.")
    shape = None if spec.shape.rank is None else spec.shape.as_list()
    return {"tensor": [shape, spec.dtype.name]}


def undescribed(about: Any) -> Any:
    """The spec that `described` described."""
    ((kind, value),) = about.items()
    if kind == "dict":
        return {key: undescribed(inner) for key, inner in value.items()}
    if kind == "tuple":
        return tuple(undescribed(inner) for inner in value)
    if kind == "none":
        return NoneTensorSpec()
    return TensorSpec(value[0], dtypes.as_dtype(value[1]))
