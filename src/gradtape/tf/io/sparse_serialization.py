"""tf.io: sparse tensors as strings, one protobuf for each of their three parts."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.sparse_tensor import SparseTensor, SparseTensorValue
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.tf.array.concat_split import stack
from gradtape.tf.io.serialization import parse_tensor, serialize_tensor


def as_sparse_input(op: str, sp_input: Any) -> SparseTensor:
    """The sparse tensor to serialize."""
    if not isinstance(sp_input, (SparseTensor, SparseTensorValue)):
        raise TypeError(f"{op}: Input must be a SparseTensor. Received {type(sp_input).__name__}.")
    return SparseTensor.from_value(sp_input)


def check_string_type(op: str, out_type: Any) -> None:
    """Raise unless the parts are wanted as strings."""
    if dtypes.as_dtype(out_type) is not dtypes.string:
        raise NotImplementedError(f"{op}: out_type must be tf.string. Received {out_type}.")


@public
def serialize_sparse(
    sp_input: Any, out_type: Any = dtypes.string, name: str | None = None
) -> Tensor:
    """Indices, values and dense shape of a sparse tensor, as a vector of three strings.

    Args:
        sp_input: a SparseTensor.
        out_type: `tf.string`.
        name: has no effect here.

    Returns:
        A vector of three strings.

    Raises:
        TypeError: if `sp_input` is not sparse.
    """
    check_string_type("serialize_sparse", out_type)
    sparse = as_sparse_input("serialize_sparse", sp_input)
    parts = (sparse.indices, sparse.values, sparse.dense_shape)
    return stack([serialize_tensor(part) for part in parts])


@public
def serialize_many_sparse(
    sp_input: Any, out_type: Any = dtypes.string, name: str | None = None
) -> Tensor:
    """The slices of a sparse tensor along its first axis, each as three strings.

    Args:
        sp_input: a SparseTensor with at least two axes.
        out_type: `tf.string`.
        name: has no effect here.

    Returns:
        A tensor of strings of shape (slices, 3), for `deserialize_many_sparse`.
    """
    check_string_type("serialize_many_sparse", out_type)
    sparse = as_sparse_input("serialize_many_sparse", sp_input)
    indices, values, shape = (
        part.numpy() for part in (sparse.indices, sparse.values, sparse.dense_shape)
    )
    if len(shape) < 2:
        raise InvalidArgumentError(
            "serialize_many_sparse: Rank of input SparseTensor should be > 1. Received "
            f"{len(shape)}."
        )
    rows = [
        serialize_sparse(SparseTensor(indices[own, 1:], values[own], shape[1:]))
        for own in (indices[:, 0] == i for i in range(shape[0]))
    ]
    return stack(rows) if rows else make_tensor(np.empty((0, 3), object))


@public
def deserialize_many_sparse(
    serialized_sparse: Any, dtype: Any, rank: int | None = None, name: str | None = None
) -> SparseTensor:
    """One sparse tensor from the strings of several, stacked along a new first axis.

    Args:
        serialized_sparse: strings of shape (n, 3).
        dtype: the dtype of the values.
        rank: the rank of each sparse tensor; by default that of the data.
        name: has no effect here.

    Returns:
        A SparseTensor whose shape is the largest along each axis.

    Raises:
        InvalidArgumentError: if ranks or dtypes differ.
    """
    texts = convert(serialized_sparse).numpy()
    indices, values, shapes = [], [], []
    for i, (places, data, shape) in enumerate(texts):
        own = parse_tensor(places, dtypes.int64).numpy()
        indices.append(np.insert(own, 0, i, axis=1))
        values.append(parse_tensor(data, dtype).numpy())
        shapes.append(parse_tensor(shape, dtypes.int64).numpy())
    if len({len(shape) for shape in shapes} | ({rank} if rank is not None else set())) > 1:
        raise InvalidArgumentError(
            "deserialize_many_sparse: Inconsistent shape across SparseTensors: ranks "
            f"{[len(shape) for shape in shapes]}."
        )
    return SparseTensor(
        np.concatenate(indices),
        np.concatenate(values),
        np.array([len(shapes), *np.max(shapes, axis=0)], np.int64),
    )
