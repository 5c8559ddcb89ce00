"""Top-level functions that sort, find distinct elements and search in sorted rows."""

from __future__ import annotations

from math import prod
from typing import Any, Literal, NamedTuple

import numpy as np

from gradtape.core import dtypes
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.primitive import Spec
from gradtape.core.shape_rule import FRESH, with_shape
from gradtape.core.shapes import normalize_axis
from gradtape.core.tensor import Tensor
from gradtape.graph.raw_function import apply_raw
from gradtape.ops import gather_scatter, xla_lowering
from gradtape.ops import shape as s
from gradtape.ops.elementwise import discretize
from gradtape.ops.xla_lowering import on_jax
from gradtape.tf.public_op import REAL, check_dtype, check_same_dtype, convert_with_hint

SORT_DIRECTIONS = ("ASCENDING", "DESCENDING")


class Unique(NamedTuple):
    """Distinct elements `y`; element k of the input is `y[idx[k]]`."""

    y: Tensor
    idx: Tensor


class UniqueWithCounts(NamedTuple):
    """Distinct elements `y` and their counts; element k of the input is `y[idx[k]]`."""

    y: Tensor
    idx: Tensor
    count: Tensor  # type: ignore[assignment]  # TensorFlow's name; tuple has a method of that name


def move_axis_last(x: Tensor, axis: Any, direction: str, op: str) -> tuple[Tensor, tuple[int, ...]]:
    """Move `axis` last; return the tensor and the permutation that restores the order of axes."""
    if direction not in SORT_DIRECTIONS:
        raise ValueError(
            f"{op}: direction must be 'ASCENDING' or 'DESCENDING'. Received {direction!r}."
        )
    check_dtype("TopKV2", x, REAL)
    n = x._array.ndim
    if n == 0:
        raise InvalidArgumentError(
            f"{op}: input must have at least one dimension. Received a scalar."
        )
    at = normalize_axis(int(convert(axis)._array), n, op) + n
    if at == n - 1:
        return x, tuple(range(n))
    order = (*range(at), *range(at + 1, n), at)
    return s.permute_axes(x, order), (*range(at), n - 1, *range(at, n - 1))


@public
def sort(
    values: Any, axis: Any = -1, direction: str = "ASCENDING", name: str | None = None
) -> Tensor:
    """`values` sorted along `axis`.

    Args:
        values: a tensor of numbers.
        axis: the axis to sort.
        direction: "ASCENDING" or "DESCENDING".
        name: has no effect here.

    Returns:
        A tensor like `values`.

    Example:
        >>> tf.sort([3, 1, 2], direction="DESCENDING").numpy()
        array([3, 2, 1], dtype=int32)
    """
    x, back = move_axis_last(convert(values), axis, direction, "sort")
    order = gather_scatter.stable_argsort(x, descending=direction == "DESCENDING")
    out = gather_scatter.take_along(x, order)
    return out if back[-1] == len(back) - 1 else s.permute_axes(out, back)


@public
def argsort(
    values: Any,
    axis: Any = -1,
    direction: str = "ASCENDING",
    stable: bool = False,
    name: str | None = None,
) -> Tensor:
    """Positions (int32) that sort `values` along `axis`; the sort is stable.

    Args:
        values: a tensor of numbers.
        axis: the axis to sort along.
        direction: "ASCENDING" or "DESCENDING".
        stable: has no effect here.
        name: has no effect here.

    Returns:
        A tensor of int32 like `values`.

    Example:
        >>> tf.argsort([3, 1, 2]).numpy()
        array([1, 2, 0], dtype=int32)
    """
    x, back = move_axis_last(convert(values), axis, direction, "argsort")
    order = discretize(
        gather_scatter.stable_argsort(x, descending=direction == "DESCENDING"),
        dtype=np.dtype(np.int32),
    )
    return order if back[-1] == len(back) - 1 else s.permute_axes(order, back)


@public
def unique(x: Any, out_idx: Any = dtypes.int32, name: str | None = None) -> Unique:
    """Distinct elements of a vector in the order of their first occurrence.

    Args:
        x: a vector.
        out_idx: int32 or int64, the dtype of `idx`.
        name: has no effect here.

    Returns:
        `y`, the distinct elements, and `idx`, the position in `y` of each element.

    Example:
        >>> tf.unique([4, 4, 1]).y.numpy()
        array([4, 1], dtype=int32)
    """
    found = find_distinct(x, out_idx)
    return Unique(found.y, found.idx)


@public
def unique_with_counts(
    x: Any, out_idx: Any = dtypes.int32, name: str | None = None
) -> UniqueWithCounts:
    """Distinct elements of a vector in the order of first occurrence, and their counts.

    Args:
        x: a vector.
        out_idx: int32 or int64, the dtype of `idx` and `count`.
        name: has no effect here.

    Returns:
        `y`, `idx` and `count`.
    """
    return find_distinct(x, out_idx)


def find_distinct(x: Any, out_idx: Any) -> UniqueWithCounts:
    """Find the distinct elements of a vector, their indices and counts."""
    tensor = convert(x)
    if tensor._array.ndim != 1:
        raise InvalidArgumentError(
            f"unique: unique expects a 1D vector. Received shape {tensor.shape}."
        )
    kind = dtypes.as_dtype(out_idx).as_numpy_dtype
    return UniqueWithCounts(*apply_raw(find_unique, tensor, kind, dynamic=True, outputs=True))


def find_unique_specs(raw: Any, kind: Any) -> list[Any]:
    """Specs of the results of `find_unique`."""
    return [(FRESH,), Spec((raw.shape, np.dtype(kind))), Spec(((FRESH,), np.dtype(kind)))]


@with_shape(find_unique_specs)
def find_unique(raw: Any, kind: Any) -> tuple[Any, Any, Any]:
    """Find the distinct elements of a raw vector, the index of each element, and the counts."""
    # NumPy does not sort NaN of ml_dtypes to the end.
    keys = raw.astype(np.float32) if raw.dtype.kind == "V" else raw
    _, first, inverse, counts = np.unique(
        keys, return_index=True, return_inverse=True, return_counts=True, equal_nan=False
    )
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return raw[first[order]], rank[inverse.reshape(-1)].astype(kind), counts[order].astype(kind)


@public
def searchsorted(
    sorted_sequence: Any,
    values: Any,
    side: Literal["left", "right"] = "left",
    out_type: Any = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """Positions at which `values` would be inserted into sorted rows.

    Args:
        sorted_sequence: rows (..., n), each ascending.
        values: the values to insert, (..., m).
        side: "left" for positions before equal elements, "right" for those after them.
        out_type: the dtype of the positions.
        name: has no effect here.

    Returns:
        An integer tensor of the shape of `values`.

    Example:
        >>> tf.searchsorted([1, 3, 5], [2, 5]).numpy()
        array([1, 2], dtype=int32)
    """
    if side not in ("left", "right"):
        raise ValueError(f"searchsorted: side must be 'left' or 'right'. Received {side!r}.")
    rows = convert(sorted_sequence)
    some = convert_with_hint(values, rows.dtype)
    check_same_dtype("LowerBound" if side == "left" else "UpperBound", rows, some)
    if not rows._array.ndim or not some._array.ndim:
        raise InvalidArgumentError(
            f"searchsorted: both arguments must have an axis. Received shapes {rows.shape} and "
            f"{some.shape}."
        )
    if prod(rows._array.shape[:-1]) != prod(some._array.shape[:-1]):
        raise InvalidArgumentError(
            f"searchsorted: leading dimensions must agree. Received {rows.shape} and {some.shape}."
        )
    kind = dtypes.as_dtype(out_type).as_numpy_dtype
    result: Tensor = apply_raw(search_rows, rows, some, side, kind)
    return result


@with_shape(lambda table, wanted, side, kind: Spec((wanted.shape, np.dtype(kind))))
@on_jax(xla_lowering.lower_search_rows)
def search_rows(table: Any, wanted: Any, side: Literal["left", "right"], kind: Any) -> Any:
    """Search raw values in raw sorted rows."""
    if table.ndim == 1 and wanted.ndim == 1:
        return np.searchsorted(table, wanted, side).astype(kind)
    lines = prod(table.shape[:-1])
    pairs = zip(*(t.reshape(lines, t.shape[-1]) for t in (table, wanted)), strict=True)
    found = [np.searchsorted(row, these, side) for row, these in pairs]
    return np.array(found, kind).reshape(wanted.shape)
