"""Buckets: arrays of one dtype that are reduced together, as one array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from gradtape.core.dtypes import accumulator
from gradtape.core.errors import InvalidArgumentError

Array = np.ndarray[Any, Any]

BUCKET_BYTES = 25 << 20
"""Large enough that a bucket's fixed cost is small; a neighbour still waits for one bucket only."""


class Bucket(NamedTuple):
    """Arrays that are reduced together.

    Attributes:
        dtype: the dtype in which they are sent and summed; the half types are sent as float32.
        members: their positions in the list of arrays.
        size: the number of their elements.
    """

    dtype: np.dtype[Any]
    members: list[int]
    size: int


def make_buckets(arrays: Sequence[Array]) -> list[Bucket]:
    """Sort arrays into buckets by dtype; one bucket holds at most 25 MB, or one array."""
    buckets: list[Bucket] = []
    newest: dict[np.dtype[Any], int] = {}
    for i, array in enumerate(arrays):
        dtype = transfer_dtype(array)
        at = newest.get(dtype)
        if at is not None and (buckets[at].size + array.size) * dtype.itemsize <= BUCKET_BYTES:
            bucket = buckets[at]
            bucket.members.append(i)
            buckets[at] = bucket._replace(size=bucket.size + array.size)
        else:
            newest[dtype] = len(buckets)
            buckets.append(Bucket(dtype, [i], array.size))
    return buckets


def transfer_dtype(array: Array) -> np.dtype[Any]:
    """The dtype in which an array is sent."""
    if array.dtype.hasobject:
        raise InvalidArgumentError(
            f"all_reduce: values of several workers must be numbers. Received {array.dtype}."
        )
    return np.dtype(accumulator(array.dtype))


def pack_bucket(bucket: Bucket, arrays: Sequence[Array]) -> Array:
    """The arrays of a bucket as one flat array; a single array may be returned uncopied."""
    parts = [arrays[i].ravel() for i in bucket.members]
    if len(parts) == 1:
        return np.ascontiguousarray(parts[0], bucket.dtype)
    return np.concatenate(parts, dtype=bucket.dtype)


def unpack_bucket(bucket: Bucket, flat: Array, arrays: Sequence[Array]) -> list[Array]:
    """The parts of a flat array, with the shapes and dtypes of the bucket's arrays."""
    parts = []
    start = 0
    for i in bucket.members:
        array = arrays[i]
        part = flat[start : start + array.size].reshape(array.shape)
        parts.append(part.astype(array.dtype, copy=False))
        start += array.size
    return parts
