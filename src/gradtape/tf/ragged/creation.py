"""tf.ragged functions that create ragged tensors: from lists, ranges, masks and crosses."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.ragged import row_splits
from gradtape.core.ragged.row_partition import as_splits_dtype
from gradtape.core.ragged.tensor import RaggedTensor, as_values, nested, rows_of
from gradtape.core.sparse_tensor import SparseTensor
from gradtape.core.tensor import Tensor, eager
from gradtape.graph.raw_function import number_by, rawly
from gradtape.tf.array.gather_slice import gather
from gradtape.tf.math.cast import cast
from gradtape.tf.ragged.conversion import (
    from_sparse,
    from_tensor,
    from_value_rowids,
    integers,
    number_of,
)
from gradtape.tf.ragged.shape import check_same, deepened
from gradtape.tf.strings.conversion import as_string
from gradtape.tf.strings.join import join


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
        name: accepted for TensorFlow's sake.
        row_splits_dtype: int32 or int64.

    Returns:
        A RaggedTensor; a Tensor if nothing in it is ragged.

    Example:
        >>> tf.ragged.constant([[1, 2], [], [3]])
        <tf.RaggedTensor [[1, 2], [], [3]]>
    """
    kind = as_splits_dtype(row_splits_dtype)
    if not is_list(pylist):
        if ragged_rank:
            raise ValueError(
                f"ragged.constant: ragged_rank must be 0 for a scalar. Received {ragged_rank} and "
                f"{pylist!r}."
            )
        return convert(pylist, dtype)
    scalars, empties = depths_of(pylist)
    depth = max(empties, (ragged_rank or 0) + 1) if scalars is None else scalars
    if scalars is not None and empties > scalars:
        raise ValueError(
            f"ragged.constant: Invalid pylist={pylist!r}: empty list nesting is greater than "
            "scalar value nesting."
        )
    inner = None if inner_shape is None else tuple(int(n) for n in np.ravel(inner_shape))
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
        splits.append(eager(row_splits.splits_of_lengths(lengths)))
        values = [item for row in values for item in row]
    flat = inner_values(values, dtype, depth - ragged_rank, inner, numpy_dtype_in(pylist))
    return nested(flat, splits)


def is_list(value: Any) -> bool:
    """Whether a value is a list, or an array or tensor with at least one axis."""
    if isinstance(value, Tensor):
        return bool(value.ndim)
    return isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.ndim > 0)


def numpy_dtype_in(value: Any) -> Any:
    """The dtype of the first array in nested lists, if there is one."""
    while isinstance(value, (list, tuple)) and value:
        value = next((v for v in value if is_list(v)), value[0])
        if isinstance(value, (list, tuple)) and not value:
            return None
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "fiubc":
        return value.dtype
    return None


def depths_of(value: Any) -> tuple[int | None, int]:
    """Nesting depth of the scalars in nested lists (None without any), and of empty lists."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        return (value.ndim, 0) if value.size else (None, value.ndim)
    if not is_list(value):
        return 0, 0
    found = [depths_of(item) for item in value]
    scalars = {depth for depth, _ in found if depth is not None}
    if len(scalars) > 1:
        raise ValueError(
            "ragged.constant: all scalar values must have the same nesting depth. Received "
            f"{value!r:.200}."
        )
    deepest = max((empty for _, empty in found), default=0)
    return (next(iter(scalars)) + 1 if scalars else None), deepest + 1


def inner_values(
    values: Any, dtype: Any, depth: int, inner: tuple[int, ...] | None, own: Any
) -> Tensor:
    """Flat values, with `depth` axes, from nested lists."""
    if len(values) == 0:
        shape = (0, *(inner if inner is not None else (0,) * (depth - 1)))
        kind = dtypes.as_dtype(dtypes.float32 if dtype is None else dtype)
        return eager(np.zeros(shape, kind.as_numpy_dtype))
    if dtype is None and own is not None:
        dtype = dtypes.of_numpy(own)
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
        name: accepted for TensorFlow's sake.
        row_splits_dtype: int32 or int64.

    Example:
        >>> tf.ragged.range([3, 0, 2])
        <tf.RaggedTensor [[0, 1, 2], [], [0, 1]]>
    """
    kind = as_splits_dtype(row_splits_dtype)
    begins, ends = (0, starts) if limits is None else (starts, limits)
    given = [convert(value, dtype) for value in (begins, ends, deltas)]
    widest = max((t.dtype for t in given), key=lambda d: (d.is_floating, d.size))
    first, limit, delta = [cast(t, widest) for t in given]
    splits, values = rawly(
        numbers, first, limit, delta, kind.as_numpy_dtype, dynamic=True, outputs=True
    )
    return rows_of(values, splits)


def numbers(starts: Any, limits: Any, deltas: Any, dtype: Any) -> tuple[Any, Any]:
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
    splits = row_splits.splits_of_lengths(lengths)
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
    result = op(*flats, **named)
    if not found:
        return result
    first = found[0]
    for other in found[1:]:
        if len(other.nested_row_splits) != len(first.nested_row_splits):
            raise ValueError("map_flat_values: All ragged inputs must have the same ragged_rank.")
        for a, b in zip(first.nested_row_splits, other.nested_row_splits, strict=True):
            if a is not b:
                check_same("map_flat_values", a, b)
    result = as_values(result)
    size = first.flat_values._array.shape[0]
    if result.shape.rank == 0 or result.shape[0] != size:
        raise ValueError(
            "tf.ragged.map_flat_values requires that the output of `op` have the same "
            f"outer-dimension size as flat_values of any ragged inputs. (output shape: "
            f"{result.shape}; expected outer dimension size: {size})"
        )
    return first.with_flat_values(result)


@public
def boolean_mask(data: Any, mask: Any, name: str | None = None) -> Any:
    """The elements of `data` for which `mask` holds; no row is dropped, but rows may get shorter.

    Args:
        data: a tensor or ragged tensor.
        mask: bools for the first axes of `data`.
        name: accepted for TensorFlow's sake.

    Example:
        >>> tf.ragged.boolean_mask([[1, 2], [3, 4]], [[True, False], [True, True]])
        <tf.RaggedTensor [[1], [3, 4]]>
    """
    values, held = as_values(data), as_values(mask, dtypes.bool)
    if not isinstance(held, RaggedTensor) and held.ndim == 0:
        raise ValueError("ragged.boolean_mask: mask cannot be scalar.")
    rank = held.ndim if isinstance(held, Tensor) else held.ragged_rank + held.flat_values.ndim
    if rank == 1:
        kept = rawly(np.flatnonzero, held, dynamic=True)
        if not isinstance(values, RaggedTensor):
            return gather(values, kept)
        from gradtape.tf.ragged.gather_slice import taken

        return taken(values, kept)
    kind = next(
        (v.row_splits.dtype for v in (values, held) if isinstance(v, RaggedTensor)), dtypes.int64
    )
    values, held = deepened(values, own_depth(values, rank), kind), deepened(held, rank - 1, kind)
    return masked(values, held)


def own_depth(values: Any, rank: int) -> int:
    """How many axes of `values` must be ragged for a mask of rank `rank`."""
    return max(rank - 1, values.ragged_rank if isinstance(values, RaggedTensor) else 0)


def masked(values: Any, held: Any) -> Any:
    """The kernel of `boolean_mask`, for a mask whose axes after the first are all ragged."""
    check_same("ragged.boolean_mask", values.row_splits, held.row_splits)
    if held.ragged_rank > 1:
        return values.with_values(masked(values.values, held.values))
    inside = boolean_mask(values.values, held.values)
    splits = rawly(held_by, held.row_splits, held.values)
    return rows_of(inside, splits)


def held_by(splits: Any, mask: Any) -> Any:
    """Raw row splits after the elements for which `mask` is False are dropped."""
    before = np.concatenate([[0], np.cumsum(mask)])
    return before[splits].astype(splits.dtype)


@public
def cross(inputs: Any, name: str | None = None) -> RaggedTensor:
    """All combinations of one element from each input, row by row, joined by "_X_".

    Args:
        inputs: ragged, sparse or dense tensors of rank 2 with strings or integers; the last of
            them varies fastest.
        name: accepted for TensorFlow's sake.

    Example:
        >>> tf.ragged.cross([tf.ragged.constant([["a"], ["b", "c"]]), [["d"], ["e"]]])
        <tf.RaggedTensor [[b'a_X_d'], [b'b_X_e', b'c_X_e']]>
    """
    parts = [as_rows(one) for one in inputs]
    if len({number_of(part) for part in parts}) > 1:
        raise InvalidArgumentError("ragged.cross: inputs must have the same number of rows.")
    found = rawly(crossed, *(part.row_splits for part in parts), dynamic=True, outputs=True)
    splits, *index = found
    words = [as_string(gather(p.values, at)) for p, at in zip(parts, index, strict=True)]
    return rows_of(join(words, "_X_"), splits)


def as_rows(value: Any) -> RaggedTensor:
    """Convert a sparse or dense tensor of rank 2 to a ragged one."""
    if isinstance(value, SparseTensor):
        return from_sparse(value)
    found = as_values(value)
    return found if isinstance(found, RaggedTensor) else from_tensor(found)


def crossed(*input_splits: Any) -> tuple[Any, ...]:
    """Row splits of all combinations, and for each input the index of the value in each."""
    lengths = [row_splits.lengths_of(splits).astype(np.int64) for splits in input_splits]
    new = row_splits.splits_of_lengths(np.prod(lengths, axis=0))
    ids, rest = row_splits.rowids_of(new), row_splits.offsets_of(new)
    found = []
    for splits, own in zip(reversed(input_splits), reversed(lengths), strict=True):
        rest, at = np.divmod(rest, own[ids])
        found.append(splits[ids] + at)
    return (new, *reversed(found))


@public
def row_splits_to_segment_ids(splits: Any, name: str | None = None, out_type: Any = None) -> Tensor:
    """For each value, the number of its row."""
    given = integers("row_splits_to_segment_ids", "splits", splits)
    ids: Tensor = rawly(row_splits.rowids_of, given, dynamic=True)
    return ids if out_type is None else cast(ids, out_type)


@public
def segment_ids_to_row_splits(
    segment_ids: Any, num_segments: Any = None, out_type: Any = None, name: str | None = None
) -> Tensor:
    """Row splits from the row number of each value."""
    splits = from_value_rowids(segment_ids, num_segments, validate=False).row_splits()
    return splits if out_type is None else cast(splits, out_type)


@public
def stack_dynamic_partitions(
    data: Any, partitions: Any, num_partitions: Any, name: str | None = None
) -> RaggedTensor:
    """Group the slices of `data` into rows: slice `i` is appended to row `partitions[i]`."""
    values = as_values(data)
    ids = integers("stack_dynamic_partitions", "partitions", partitions)
    count = number_by(np.asarray, convert(num_partitions))
    if ids._array.shape[0] != number_of(values):
        raise ValueError(
            "stack_dynamic_partitions: partitions must be as long as data. Received "
            f"{ids._array.shape[0]} and {number_of(values)}."
        )
    order, splits = rawly(sorted_by, ids, count, outputs=True)
    from gradtape.tf.ragged.gather_slice import chosen

    return rows_of(chosen(values, order), splits)


def sorted_by(ids: Any, count: int) -> tuple[Any, Any]:
    """A stable order that sorts raw row ids, and the splits of the rows."""
    if ids.size and (ids.min() < 0 or ids.max() >= count):
        raise InvalidArgumentError(
            f"stack_dynamic_partitions: partitions must lie in [0, {count}). Received "
            f"{ids.tolist()}."
        )
    order = np.argsort(ids, kind="stable")
    return order, row_splits.splits_of_rowids(ids[order].astype(np.int64), count)
