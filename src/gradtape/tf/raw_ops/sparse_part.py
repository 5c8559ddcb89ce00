"""Raw ops on the three parts of sparse tensors, on ragged parts and on sets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.argument import as_integer
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError
from gradtape.core.primitive import Spec
from gradtape.core.ragged.conversion import ragged_from_nested_splits
from gradtape.core.shape_rule import INT64, with_shape
from gradtape.core.sparse_tensor import SparseTensor
from gradtape.core.tensor import Tensor
from gradtape.graph.raw_function import apply_raw
from gradtape.tf import sets
from gradtape.tf.array.creation import fill, zeros
from gradtape.tf.array.gather import gather_nd
from gradtape.tf.array.reshape import broadcast_to
from gradtape.tf.array.scatter import tensor_scatter_nd_update
from gradtape.tf.math.cast import cast
from gradtape.tf.ragged.creation import range as ragged_range_of
from gradtape.tf.sparse import shape as s
from gradtape.tf.sparse.conversion import to_dense

Parts = tuple[Tensor, Tensor, Tensor]
SET_OPERATIONS: dict[str, Callable[..., SparseTensor]] = {
    "a-b": lambda a, b, check: sets.difference(a, b, True, check),
    "b-a": lambda a, b, check: sets.difference(a, b, False, check),
    "intersection": sets.intersection,
    "union": sets.union,
}


def parts_of(sparse: SparseTensor) -> Parts:
    """Indices, values and dense shape."""
    return sparse.indices, sparse.values, sparse.dense_shape


def concat(indices: Any, values: Any, shapes: Any, concat_dim: int) -> Parts:
    """The concatenation of sparse tensors."""
    parts = [SparseTensor(*part) for part in zip(indices, values, shapes, strict=True)]
    return parts_of(s.concat(concat_dim, parts))


def combine_with_dense(
    function: Callable[..., Tensor], indices: Any, values: Any, shape: Any, dense: Any
) -> Tensor:
    """Apply `function` to the values and to the dense elements at their places."""
    whole = broadcast_to(dense, convert(shape))
    return function(convert(values, whole.dtype), gather_nd(whole, indices))


def reshape(input_indices: Any, input_shape: Any, new_shape: Any) -> tuple[Tensor, Tensor]:
    """Indices and dense shape of a reshaped sparse tensor."""
    places = convert(input_indices, dtypes.int64)
    blank = SparseTensor(places, zeros([places._array.shape[0]]), input_shape)
    found = s.reshape(blank, new_shape)
    return found.indices, found.dense_shape


def fill_empty_rows(indices: Any, values: Any, dense_shape: Any, default_value: Any) -> Any:
    """Indices and values without empty rows, which rows were empty, and where values went."""
    sparse = SparseTensor(indices, values, dense_shape)
    filled, is_empty = s.fill_empty_rows(sparse, default_value)
    positions = apply_raw(find_new_positions, sparse.indices, filled.indices)
    return filled.indices, filled.values, is_empty, positions


@with_shape(lambda before, after: Spec((before.shape[:1], INT64)))
def find_new_positions(before: Any, after: Any) -> Any:
    """The position of each raw index in a table that contains all of them, stably by row."""
    rank = np.argsort(np.argsort(before[:, 0], kind="stable"), kind="stable")
    kept = np.isin(after[:, 0], before[:, 0])
    return np.flatnonzero(kept)[rank].astype(np.int64)


def split(split_dim: Any, indices: Any, values: Any, shape: Any, num_split: int) -> Any:
    """Lists of the parts of the pieces of a sparse tensor."""
    axis = as_integer(split_dim, "split_dim")
    pieces = s.split(SparseTensor(indices, values, shape), num_split, axis)
    return tuple(list(part) for part in zip(*map(parts_of, pieces), strict=True))


def fill_dense(
    sparse_indices: Any, output_shape: Any, sparse_values: Any, default_value: Any, validate: bool
) -> Tensor:
    """A dense tensor with values at some places; one value or one for each place."""
    places, shape = cast(sparse_indices, dtypes.int64), cast(output_shape, dtypes.int64)
    values = convert(sparse_values)
    if places._array.ndim < 2:
        places = places[..., None] if places._array.ndim else places[None, None]
    count = places._array.shape[0]
    each = broadcast_to(values, [count])
    if validate:
        return to_dense(SparseTensor(places, each, shape), convert(default_value, values.dtype))
    blank = fill(shape, convert(default_value, values.dtype))
    return tensor_scatter_nd_update(blank, places, each)


def combine_sets(set1: Any, set2: Any, set_operation: Any, validate_indices: bool) -> Parts:
    """A set operation on the last axis, by name."""
    name = set_operation.decode() if isinstance(set_operation, bytes) else set_operation
    if name not in SET_OPERATIONS:
        raise InvalidArgumentError(
            f"SetOperation: Invalid set_operation {name}. Use one of {sorted(SET_OPERATIONS)}."
        )
    return parts_of(SET_OPERATIONS[name](set1, set2, validate_indices))


def ragged_range(starts: Any, limits: Any, deltas: Any, splits_dtype: Any) -> tuple[Any, Any]:
    """Row splits and values of a ragged tensor of ranges."""
    found = ragged_range_of(starts, limits, deltas, row_splits_dtype=splits_dtype)
    return found.row_splits, found.values


def ragged_to_sparse(rt_nested_splits: Any, rt_dense_values: Any) -> Parts:
    """The parts of the sparse form of a ragged tensor."""
    splits = [convert(part) for part in rt_nested_splits]
    ragged = ragged_from_nested_splits(convert(rt_dense_values), splits)
    return parts_of(ragged.to_sparse())
