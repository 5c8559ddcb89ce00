"""tf.dynamic_partition, and its inverse tf.dynamic_stitch."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.argument import as_integer
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, ResourceExhaustedError, public
from gradtape.core.primitive import Spec
from gradtape.core.shape_rule import found_positions, with_shape
from gradtape.core.tensor import Tensor
from gradtape.graph.raw_function import apply_raw, compute_integer
from gradtape.ops.gather_scatter import take
from gradtape.ops.segment import stitch
from gradtape.ops.shape import concat, reshape, shape_of
from gradtape.tf.public_op import check_same_dtype

MOST_PARTITIONS = 10**7


@public
def dynamic_partition(
    data: Any, partitions: Any, num_partitions: int, name: str | None = None
) -> list[Tensor]:
    """Rows of `data`, divided among `num_partitions` tensors.

    Args:
        data: a tensor whose shape begins with that of `partitions`.
        partitions: for each row the number of its tensor, in [0, num_partitions).
        num_partitions: the number of tensors.
        name: ignored.

    Returns:
        A list of `num_partitions` tensors.

    Example:
        >>> [part.numpy().tolist() for part in tf.dynamic_partition([1, 2, 3], [0, 1, 0], 2)]
        [[1, 3], [2]]
    """
    tensor, numbers = convert(data), convert(partitions, hint=dtypes.int32)
    num_partitions = as_integer(num_partitions, "num_partitions")
    if num_partitions > MOST_PARTITIONS:
        raise ResourceExhaustedError(
            f"dynamic_partition: num_partitions must be at most {MOST_PARTITIONS}. Received "
            f"{num_partitions}."
        )
    shape, own = shape_of(tensor), shape_of(numbers)
    if shape[: len(own)] != own:
        raise InvalidArgumentError(
            f"dynamic_partition: data.shape must start with partitions.shape. "
            f"Received {list(shape)} and {list(own)}."
        )
    rest = shape[len(own) :]
    rows = reshape(tensor, shape=(prod(own), *rest), rank=len(shape))
    numbers = apply_raw(flatten_partitions, numbers, num_partitions)
    axis = -1 - len(rest)
    return [
        take(rows, apply_raw(positions_of_number, numbers, i, dynamic=True), axis=axis)
        for i in range(num_partitions)
    ]


@with_shape(lambda numbers, num_partitions: (prod(numbers.shape),))
def flatten_partitions(numbers: Any, num_partitions: int) -> Any:
    """Flatten raw partition numbers, after a check of their range."""
    if ((numbers < 0) | (numbers >= num_partitions)).any():
        raise InvalidArgumentError(
            f"dynamic_partition: partitions must lie in [0, {num_partitions}). "
            f"Received {numbers.min()} to {numbers.max()}."
        )
    return np.ravel(numbers)


@with_shape(found_positions)
def positions_of_number(numbers: Any, number: int) -> Any:
    """Positions of `number` in a raw vector."""
    return np.flatnonzero(numbers == number)


@public
def dynamic_stitch(indices: Any, data: Any, name: str | None = None) -> Tensor:
    """Rows of several tensors merged into one; of rows with equal indices the last one wins.

    Args:
        indices: a list of integer tensors.
        data: a list of tensors; the shape of each begins with that of its indices.
        name: ignored.

    Returns:
        A tensor with as many rows as the largest index plus one.
    """
    places = [convert(i, hint=dtypes.int32) for i in indices]
    tensors = [convert(d) for d in data]
    if not tensors or len(places) != len(tensors):
        raise ValueError(
            f"dynamic_stitch: indices and data must be lists of one length, at least 1. "
            f"Received {len(places)} and {len(tensors)}."
        )
    rests = []
    for i, t in zip(places, tensors, strict=True):
        check_same_dtype("DynamicStitch", tensors[0], t)
        own = shape_of(i)
        rests.append(shape_of(t)[len(own) :])
        if shape_of(t)[: len(own)] != own or rests[-1] != rests[0]:
            raise InvalidArgumentError(
                "dynamic_stitch: each data.shape must be indices.shape + rest, with equal rests. "
                f"Received {list(shape_of(t))} for indices {list(own)}."
            )
    axis = -1 - len(rests[0])
    rows = [
        reshape(t, shape=(prod(shape_of(i)), *rests[0]), rank=t.ndim)
        for i, t in zip(places, tensors, strict=True)
    ]
    every = apply_raw(concat_indices, *places)
    size = compute_integer(count_stitched_rows, every)
    return stitch(concat(*rows, axis=axis), every, axis=axis, size=size)


def concat_indices_spec(*places: Any) -> Any:
    """Spec of the result of `concat_indices`."""
    count = sum([prod(i.shape) for i in places])
    return Spec(((count,), np.result_type(*[i.dtype for i in places])))


@with_shape(concat_indices_spec)
def concat_indices(*places: Any) -> Any:
    """Flatten and concatenate raw indices, after a check that none is negative."""
    every = np.concatenate([np.ravel(i) for i in places])
    if every.size and every.min() < 0:
        raise InvalidArgumentError(
            f"dynamic_stitch: indices must not be negative. Received {every.min()}."
        )
    return every


def count_stitched_rows(every: Any) -> int:
    """Number of rows that raw indices need."""
    return int(every.max()) + 1 if every.size else 0
