"""tf.raw_ops.UniqueV2, UniqueWithCountsV2 and Bucketize."""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

import numpy as np

from gradtape.core import dtypes
from gradtape.core.argument import as_host_array
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.primitive import Spec
from gradtape.core.shape_rule import FRESH, INT32
from gradtape.core.symbolic_tensor import SymbolicTensor
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.graph.host_function import call_on_host, describe_like


class UniqueV2(NamedTuple):
    """The unique slices, and for each slice its index among them."""

    y: Tensor
    idx: Tensor


class UniqueWithCountsV2(NamedTuple):
    """The unique slices, for each slice its index among them, and the counts."""

    y: Tensor
    idx: Tensor
    count: Tensor  # type: ignore[assignment]


def describe_unique_slices(x: Tensor, axes: Tensor, kind: str) -> tuple[Spec, Spec, Spec]:
    """Result rule of `find_unique_slices`."""
    shape = x._array.shape
    if isinstance(axes, SymbolicTensor):
        found = Spec(((FRESH,), np.dtype(kind)))
        return Spec(((FRESH,) * len(shape), x._array.dtype)), found, found
    along = np.ravel(axes._array).tolist()
    axis = along[0] % len(shape) if along else 0
    slices = Spec(((*shape[:axis], FRESH, *shape[axis + 1 :]), x._array.dtype))
    return slices, Spec(((shape[axis],), np.dtype(kind))), Spec(((FRESH,), np.dtype(kind)))


@call_on_host(describe_unique_slices)
def find_unique_slices(x: Tensor, axes: Tensor, kind: str) -> tuple[Tensor, Tensor, Tensor]:
    """Unique slices in order of first occurrence, indices and counts."""
    array, along = np.asarray(x._array), np.asarray(axes._array).ravel().tolist()
    if len(along) > 1 or (not along and array.ndim != 1):
        raise InvalidArgumentError(
            f"unique: axis must be given once, unless x is a vector. Received {along}."
        )
    axis = along[0] if along else 0
    rows = np.moveaxis(array, axis, 0)
    first, idx = number_slices(rows.reshape(len(rows), prod(rows.shape[1:])))
    counts = np.bincount(idx, minlength=len(first))
    return (
        make_tensor(np.take(array, first, axis)),
        make_tensor(idx.astype(kind)),
        make_tensor(counts.astype(kind)),
    )


def number_slices(rows: Any) -> tuple[Any, Any]:
    """Find the first of equal rows, and the number of each row among the different ones.

    NaN equals nothing, so a row with NaN is different from all others.
    """
    numbers: dict[Any, int] = {}
    first: list[int] = []
    idx: list[int] = []
    for i, row in enumerate(rows):
        key = tuple(row.tolist())
        number = numbers.setdefault(i if any(x != x for x in key) else key, len(first))
        if number == len(first):
            first.append(i)
        idx.append(number)
    return np.array(first, np.int64), np.array(idx, np.int64)


@public
def unique(x: Any, axis: Any, out_idx: Any = dtypes.int32, name: str | None = None) -> UniqueV2:
    """The unique slices of `x` along `axis`, in order of first occurrence."""
    kind = dtypes.as_dtype(out_idx).name
    y, idx, _ = find_unique_slices(convert(x), convert(axis, dtypes.int64), kind)
    return UniqueV2(y, idx)


@public
def unique_with_counts(
    x: Any, axis: Any, out_idx: Any = dtypes.int32, name: str | None = None
) -> UniqueWithCountsV2:
    """The unique slices of `x` along `axis`, with their counts."""
    kind = dtypes.as_dtype(out_idx).name
    return UniqueWithCountsV2(*find_unique_slices(convert(x), convert(axis, dtypes.int64), kind))


@call_on_host(describe_like(INT32))
def find_buckets(x: Tensor, boundaries: tuple[float, ...]) -> Tensor:
    """The bucket of each element."""
    edges = as_host_array(boundaries, "boundaries").astype(np.float32)
    found = np.searchsorted(edges, np.asarray(x._array), side="right")
    return make_tensor(np.asarray(found, np.int32)[()])


@public
def bucketize(input: Any, boundaries: Any, name: str | None = None) -> Tensor:
    """For each element, the number of sorted `boundaries` that are <= it.

    Raises:
        InvalidArgumentError: if `boundaries` are not sorted.
    """
    edges = tuple(float(edge) for edge in boundaries)
    if list(edges) != sorted(edges):
        raise InvalidArgumentError(f"Bucketize: Expected sorted boundaries. Received {edges}.")
    return find_buckets(convert(input), edges)
