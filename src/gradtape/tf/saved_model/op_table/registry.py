"""The registry: every op that a model file may name, and the functions that it may not."""

from __future__ import annotations

from typing import Any

from gradtape.tf.saved_model.failure import CannotSave, MalformedModel, shorten
from gradtape.tf.saved_model.op_schema import HostOp, OpSchema
from gradtape.tf.saved_model.op_table.array import ARRAY_OPS
from gradtape.tf.saved_model.op_table.file_format import (
    FEATURE_RECORDS,
    FILE_FORMAT_OPS,
    PARTITION_RECORDS,
)
from gradtape.tf.saved_model.op_table.math import MATH_OPS
from gradtape.tf.saved_model.op_table.primitive import FILTER, GRAPH_OPS, WINDOW, find_primitive
from gradtape.tf.saved_model.op_table.ragged_sparse import RAGGED_SPARSE_OPS
from gradtape.tf.saved_model.op_table.size_constant import SIZE_CONSTANT_OPS
from gradtape.tf.saved_model.op_table.state import STATE_OPS
from gradtape.tf.saved_model.op_table.text import TEXT_OPS

HOST_OPS: dict[str, HostOp] = {
    op.name: op
    for table in (
        ARRAY_OPS,
        FILE_FORMAT_OPS,
        MATH_OPS,
        RAGGED_SPARSE_OPS,
        SIZE_CONSTANT_OPS,
        STATE_OPS,
        TEXT_OPS,
    )
    for op in table
}
RECORDS = {
    record.kind.__name__: record
    for record in (WINDOW, FILTER, *FEATURE_RECORDS, *PARTITION_RECORDS)
}

# Functions that act on the world outside of the program, and what they do.
REFUSED = {
    "py_function": "tf.py_function calls Python",
    "numpy_function": "tf.numpy_function calls Python",
    "read_file": "tf.io.read_file reads a file",
    "write_file": "tf.io.write_file writes a file",
    "matching_files": "tf.io.matching_files lists files",
    "summary": "tf.summary writes a file",
    "count_buckets": "tf.summary.histogram writes a file",
    "gather_over_workers": "tf.distribute talks to other workers",
    "all_reduce": "tf.distribute talks to other workers",
    "broadcast": "tf.distribute talks to other workers",
    "has_next": "it iterates over a dataset",
    "get_next": "it iterates over a dataset",
    "iterate": "it iterates over a dataset",
}


def find_op(name: Any) -> OpSchema:
    """The op that a file calls `name`.

    Raises:
        MalformedModel: if there is none.
    """
    if isinstance(name, str):
        found = HOST_OPS.get(name) or GRAPH_OPS.get(name) or find_primitive(name)
        if found is not None:
            return found
    raise MalformedModel(f"there is no op {shorten(name)}")


def find_host_op(function: Any) -> HostOp:
    """The op of a function of the library.

    Raises:
        CannotSave: if there is none.
    """
    module = getattr(function, "__module__", None)
    for op in HOST_OPS.values():
        if op.module == module and op.is_made_of(function):
            return op
    name = getattr(function, "__name__", repr(function))
    raise CannotSave(explain_refusal(name))


def explain_refusal(name: str) -> str:
    """Why an op cannot be saved."""
    why = REFUSED.get(name, f"{name} calls Python")
    return f"{why} when the function runs"
