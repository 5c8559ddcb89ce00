"""tf.ragged functions that create ragged tensors: from lists, ranges and masks."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.argument import check_callable
from gradtape.core.convert import convert, to_shape_tuple
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.open_shape import assume_same_shape
from gradtape.core.primitive import Spec
from gradtape.core.ragged import row_splits
from gradtape.core.ragged.conversion import (
    as_ragged_or_tensor,
    ragged_from_nested_splits,
    ragged_from_splits,
)
from gradtape.core.ragged.row_partition import as_splits_dtype
from gradtape.core.ragged.tensor import RaggedTensor
from gradtape.core.shape_rule import FRESH, keep_shape, with_shape
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.graph.raw_function import apply_raw
from gradtape.tf.array.gather import gather
from gradtape.tf.math.cast import cast
from gradtape.tf.ragged.shape import check_same_splits, to_ragged_rank


@public
def constant(
    pylist: Any,
    dtype: Any = None,
    ragged_rank: int | None = None,
    inner_shape: Any = None,
    name: str | None = None,
    row_splits_dtype: Any = dtypes.int64,
) -> Any:
    """A ragged tensor from nested lists.

    Args:
        pylist: nested lists, tuples or arrays; all scalars must be at one depth.
        dtype: of the elements; inferred from them if None.
        ragged_rank: the number of ragged axes. None means all axes except the first and those of
            `inner_shape`.
        inner_shape: the shape of the innermost values, which are not ragged.
        name: has no effect here.
        row_splits_dtype: int32 or int64.

    Returns:
        A RaggedTensor; a Tensor if nothing in it is ragged.

    Example:
        >>> tf.ragged.constant([[1, 2], [], [3]])
        <tf.RaggedTensor [[1, 2], [], [3]]>
    """
    kind = as_splits_dtype(row_splits_dtype)
    if not is_list_like(pylist):
        if ragged_rank:
            raise ValueError(
                f"ragged.constant: ragged_rank must be 0 for a scalar. Received {ragged_rank} and "
                f"{pylist!r}."
            )
        return convert(pylist, dtype)
    scalars, empties = nesting_depths_of(pylist)
    depth = max(empties, (ragged_rank or 0) + 1) if scalars is None else scalars
    if scalars is not None and empties > scalars:
        raise ValueError(
            f"ragged.constant: Invalid pylist={pylist!r}: empty list nesting is greater than "
            "scalar value nesting."
        )
    inner = None if inner_shape is None else tuple(to_shape_tuple(inner_shape))
    if ragged_rank is None:
        ragged_rank = depth - 1 - (0 if inner is None else len(inner))
        ragged_rank = max(ragged_rank, 0)
    if not 0 <= ragged_rank < max(depth, 1):
        raise ValueError(
            f"ragged.constant: Invalid pylist={pylist!r}: incompatible with ragged_rank="
            f"{ragged_rank}."
        )
    splits, values = [], pylist
    for _ in np.arange(ragged_rank):
        lengths = np.array([len(row) for row in values], kind.as_numpy_dtype)
        splits.append(make_tensor(row_splits.splits_from_lengths(lengths)))
        values = [item for row in values for item in row]
    flat = make_flat_values(values, dtype, depth - ragged_rank, inner, find_array_dtype(pylist))
    return ragged_from_nested_splits(flat, splits)


def is_list_like(value: Any) -> bool:
    """Whether a value is a list, or an array or tensor with at least one axis."""
    if isinstance(value, Tensor):
        return bool(value.ndim)
    return isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.ndim > 0)


def find_array_dtype(value: Any) -> Any:
    """The dtype of the first array in nested lists, if there is one."""
    while isinstance(value, (list, tuple)) and value:
        value = next((v for v in value if is_list_like(v)), value[0])
        if isinstance(value, (list, tuple)) and not value:
            return None
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "fiubc":
        return value.dtype
    return None


def nesting_depths_of(value: Any) -> tuple[int | None, int]:
    """Nesting depth of the scalars in nested lists (None without any), and of empty lists."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        return (value.ndim, 0) if value.size else (None, value.ndim)
    if not is_list_like(value):
        return 0, 0
    found = [nesting_depths_of(item) for item in value]
    scalars = {depth for depth, _ in found if depth is not None}
    if len(scalars) > 1:
        raise ValueError(
            "ragged.constant: all scalar values must have the same nesting depth. Received "
            f"{value!r:.200}."
        )
    deepest = max((empty for _, empty in found), default=0)
    return (next(iter(scalars)) + 1 if scalars else None), deepest + 1


def make_flat_values(
    values: Any, dtype: Any, depth: int, inner: tuple[int, ...] | None, own: Any
) -> Tensor:
    """Flat values, with `depth` axes, from nested lists."""
    if len(values) == 0:
        shape = (0, *(inner if inner is not None else (0,) * (depth - 1)))
        kind = dtypes.as_dtype(dtypes.float32 if dtype is None else dtype)
        return make_tensor(np.zeros(shape, kind.as_numpy_dtype))
    if dtype is None and own is not None:
        dtype = dtypes.from_numpy_dtype(own)
    try:
        flat = convert(np.array(values) if own is not None else list(values), dtype)
    except ValueError as error:
        if "rectangular" not in str(error) and "inhomogeneous" not in str(error):
            raise
        raise ValueError(
            "ragged.constant: inner values must have one shape. Received inconsistent shapes. "
            "Increase ragged_rank."
        ) from None
    if inner is not None and flat._array.shape[1:] != inner:
        raise ValueError(
            f"ragged.constant: inner values must have inner_shape {list(inner)}. Received shape "
            f"{list(flat._array.shape[1:])}."
        )
    return flat


@public
def range(
    starts: Any,
    limits: Any = None,
    deltas: Any = 1,
    dtype: Any = None,
    name: str | None = None,
    row_splits_dtype: Any = dtypes.int64,
) -> RaggedTensor:
    """Rows of numbers: from each of `starts` to its limit, in steps of its delta.

    Args:
        starts: vector or scalar. If `limits` is None, these are the limits and starts are 0.
        limits: vector or scalar.
        deltas: vector or scalar.
        dtype: of the numbers.
        name: has no effect here.
        row_splits_dtype: int32 or int64.

    Returns:
        A RaggedTensor.

    Example:
        >>> tf.ragged.range([3, 0, 2])
        <tf.RaggedTensor [[0, 1, 2], [], [0, 1]]>
    """
    kind = as_splits_dtype(row_splits_dtype)
    begins, ends = (0, starts) if limits is None else (starts, limits)
    given = [convert(value, dtype) for value in (begins, ends, deltas)]
    widest = max((t.dtype for t in given), key=lambda d: (d.is_floating, d.size))
    first, limit, delta = [cast(t, widest) for t in given]
    splits, values = apply_raw(
        compute_ranges, first, limit, delta, kind.as_numpy_dtype, dynamic=True, outputs=True
    )
    return ragged_from_splits(values, splits)


def compute_ranges_specs(starts: Any, limits: Any, deltas: Any, dtype: Any) -> list[Any]:
    """Specs of the results of `compute_ranges`."""
    count = next((x.shape[0] for x in (starts, limits, deltas) if np.shape(x)), 1)
    return [Spec(((count + 1,), np.dtype(dtype))), Spec(((FRESH,), starts.dtype))]


@with_shape(compute_ranges_specs)
def compute_ranges(starts: Any, limits: Any, deltas: Any, dtype: Any) -> tuple[Any, Any]:
    """Row splits and values of ranges, from raw arrays."""
    shapes = {np.shape(a) for a in (starts, limits, deltas)} - {()}
    if len(shapes) > 1 or any(len(shape) != 1 for shape in shapes):
        raise InvalidArgumentError(
            f"ragged.range: starts, limits and deltas must be scalars or vectors of one length. "
            f"Received shapes {sorted(shapes)}."
        )
    count = shapes.pop()[0] if shapes else 1
    first, limit, delta = [np.broadcast_to(a, (count,)) for a in (starts, limits, deltas)]
    if (delta == 0).any():
        raise InvalidArgumentError("ragged.range: Requires delta != 0.")
    span = np.asarray(limit, np.result_type(limit, np.int64)) - first
    lengths = np.maximum(np.ceil(span / delta), 0).astype(dtype)
    splits = row_splits.splits_from_lengths(lengths)
    steps = row_splits.offsets_of(splits).astype(first.dtype)
    values = np.repeat(first, lengths) + steps * np.repeat(delta, lengths)
    return splits, values.astype(first.dtype)


@public
def map_flat_values(op: Any, *args: Any, **kwargs: Any) -> Any:
    """Apply `op` to the flat values of ragged arguments and keep their rows.

    Args:
        op: function whose result has the same outer size as the flat values.
        *args: arguments of `op`. The ragged ones, also inside lists, must have the same rows.
        **kwargs: keyword arguments of `op`, treated likewise.

    Returns:
        A RaggedTensor, or what `op` returns if no argument is ragged.

    Example:
        >>> tf.ragged.map_flat_values(tf.square, tf.ragged.constant([[1, 2], [3]]))
        <tf.RaggedTensor [[1, 4], [9]]>
    """
    found: list[RaggedTensor] = []

    def take_flat(value: Any) -> Any:
        if isinstance(value, RaggedTensor):
            found.append(value)
            return value.flat_values
        if isinstance(value, (list, tuple)) and any(isinstance(v, RaggedTensor) for v in value):
            return [take_flat(v) for v in value]
        return value

    flats = [take_flat(a) for a in args]
    named = {key: take_flat(value) for key, value in kwargs.items()}
    check_callable(op, "op")
    result = op(*flats, **named)
    if not found:
        return result
    first = found[0]
    for other in found[1:]:
        if len(other.nested_row_splits) != len(first.nested_row_splits):
            raise ValueError("map_flat_values: All ragged inputs must have the same ragged_rank.")
        for a, b in zip(first.nested_row_splits, other.nested_row_splits, strict=True):
            if a is not b:
                check_same_splits("map_flat_values", a, b)
    result = as_ragged_or_tensor(result)
    size = first.flat_values._array.shape[0]
    if not has_rows(result, size):
        raise ValueError(
            "tf.ragged.map_flat_values requires that the output of `op` have the same "
            f"outer-dimension size as flat_values of any ragged inputs. (output shape: "
            f"{result.shape}; expected outer dimension size: {size})"
        )
    return first.with_flat_values(result)


def has_rows(result: Any, size: Any) -> bool:
    """Whether a result has `size` rows; unknown sizes are assumed to be equal."""
    if not isinstance(result, Tensor):
        return result.shape[0] is None or bool(result.shape[0] == size)
    shape = result._array.shape
    return bool(shape) and assume_same_shape(shape[:1], (size,))


@public
def boolean_mask(data: Any, mask: Any, name: str | None = None) -> Any:
    """The elements of `data` for which `mask` holds; no row is dropped, but rows may get shorter.

    Args:
        data: a tensor or ragged tensor.
        mask: bools for the first axes of `data`.
        name: has no effect here.

    Returns:
        A RaggedTensor or a tensor.

    Example:
        >>> tf.ragged.boolean_mask([[1, 2], [3, 4]], [[True, False], [True, True]])
        <tf.RaggedTensor [[1], [3, 4]]>
    """
    values, held = as_ragged_or_tensor(data), as_ragged_or_tensor(mask, dtypes.bool)
    if not isinstance(held, RaggedTensor) and held.ndim == 0:
        raise ValueError("ragged.boolean_mask: mask cannot be scalar.")
    rank = held.ndim if isinstance(held, Tensor) else held.ragged_rank + held.flat_values.ndim
    if rank == 1:
        kept = apply_raw(np.flatnonzero, held, dynamic=True)
        if not isinstance(values, RaggedTensor):
            return gather(values, kept)
        from gradtape.tf.ragged.gather_slice import gather_rows

        return gather_rows(values, kept)
    kind = next(
        (v.row_splits.dtype for v in (values, held) if isinstance(v, RaggedTensor)), dtypes.int64
    )
    values, held = (
        to_ragged_rank(values, required_ragged_rank(values, rank), kind),
        to_ragged_rank(held, rank - 1, kind),
    )
    return mask_rows(values, held)


def required_ragged_rank(values: Any, rank: int) -> int:
    """How many axes of `values` must be ragged for a mask of rank `rank`."""
    return max(rank - 1, values.ragged_rank if isinstance(values, RaggedTensor) else 0)


def mask_rows(values: Any, held: Any) -> Any:
    """The kernel of `boolean_mask`, for a mask whose axes after the first are all ragged."""
    check_same_splits("ragged.boolean_mask", values.row_splits, held.row_splits)
    if held.ragged_rank > 1:
        return values.with_values(mask_rows(values.values, held.values))
    inside = boolean_mask(values.values, held.values)
    splits = apply_raw(mask_row_splits, held.row_splits, held.values)
    return ragged_from_splits(inside, splits)


@with_shape(keep_shape)
def mask_row_splits(splits: Any, mask: Any) -> Any:
    """Raw row splits after the elements for which `mask` is False are dropped."""
    before = np.concatenate([[0], np.cumsum(mask)])
    return before[splits].astype(splits.dtype)
