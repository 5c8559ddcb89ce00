"""tf.sparse: sparse tensors to and from dense ones, and reductions over chosen rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.convert import convert, shape_tuple
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.sparse import SparseTensor as SparseTensor
from gradtape.core.tensor import Tensor, eager
from gradtape.tf.creation import fill
from gradtape.tf.gathering import gather_nd
from gradtape.tf.scatter import tensor_scatter_nd_update
from gradtape.tf.segment import sparse_segment_mean as segment_mean
from gradtape.tf.segment import sparse_segment_sqrt_n as segment_sqrt_n
from gradtape.tf.segment import sparse_segment_sum as segment_sum
from gradtape.tf.sparse_cross import cross as cross
from gradtape.tf.sparse_cross import cross_hashed as cross_hashed
from gradtape.tf.sparse_shape import concat as concat
from gradtape.tf.sparse_shape import expand_dims as expand_dims
from gradtape.tf.sparse_shape import eye as eye
from gradtape.tf.sparse_shape import fill_empty_rows as fill_empty_rows
from gradtape.tf.sparse_shape import reorder as reorder
from gradtape.tf.sparse_shape import reset_shape as reset_shape
from gradtape.tf.sparse_shape import reshape as reshape
from gradtape.tf.sparse_shape import retain as retain
from gradtape.tf.sparse_shape import slice as slice
from gradtape.tf.sparse_shape import split as split
from gradtape.tf.sparse_shape import transpose as transpose
from gradtape.tf.sparse_sum import add as add
from gradtape.tf.sparse_sum import bincount as bincount
from gradtape.tf.sparse_sum import map_values as map_values
from gradtape.tf.sparse_sum import maximum as maximum
from gradtape.tf.sparse_sum import minimum as minimum
from gradtape.tf.sparse_sum import reduce_max as reduce_max
from gradtape.tf.sparse_sum import reduce_sum as reduce_sum
from gradtape.tf.sparse_sum import softmax as softmax
from gradtape.tf.sparse_sum import sparse_dense_matmul as sparse_dense_matmul
from gradtape.tf.sparse_sum import to_indicator as to_indicator
from gradtape.trace.happening import happening
from gradtape.trace.rawly import rawly

__all__ = [
    "SparseTensor",
    "add",
    "bincount",
    "concat",
    "cross",
    "cross_hashed",
    "expand_dims",
    "eye",
    "fill_empty_rows",
    "from_dense",
    "map_values",
    "maximum",
    "minimum",
    "reduce_max",
    "reduce_sum",
    "reorder",
    "reset_shape",
    "reshape",
    "retain",
    "segment_mean",
    "segment_sqrt_n",
    "segment_sum",
    "slice",
    "softmax",
    "sparse_dense_matmul",
    "split",
    "to_dense",
    "to_indicator",
    "transpose",
]


@public
def to_dense(
    sp_input: Any, default_value: Any = None, validate_indices: bool = True, name: str | None = None
) -> Tensor:
    """A sparse tensor as a dense one.

    Args:
        sp_input: a SparseTensor.
        default_value: what stands where it has no element; zero, or an empty string, by default.
        validate_indices: whether places must be sorted and different.
        name: accepted for TensorFlow's sake.

    Raises:
        InvalidArgumentError: if a place lies outside, or comes out of order.

    Example:
        >>> sparse = tf.sparse.SparseTensor([[0, 1], [1, 0]], [5, 6], [2, 2])
        >>> tf.sparse.to_dense(sparse).numpy()
        array([[0, 5],
               [6, 0]], dtype=int32)
    """
    sparse = SparseTensor.from_value(sp_input)
    shape = sparse.dense_shape
    if validate_indices:
        check_places(sparse.indices, shape)
    if sparse.dtype is dtypes.string:
        filler = convert(b"" if default_value is None else default_value)
        text: Tensor = rawly(put, filler, sparse.indices, sparse.values, shape_tuple(shape))
        return text
    filler = convert(0 if default_value is None else default_value, sparse.dtype)
    return tensor_scatter_nd_update(fill(shape, filler), sparse.indices, sparse.values)


def put(filler: Any, places: Any, values: Any, shape: tuple[int, ...]) -> Any:
    """A raw array of `shape` with values at places, and the filler elsewhere."""
    dense = np.full(shape, filler[()]).astype(object)
    dense[tuple(places.T)] = values
    return dense


@happening(fails_only=True)
def check_places(indices: Any, dense_shape: Any) -> None:
    """Complain about places outside the shape, or out of order."""
    places, shape = indices._array, dense_shape._array
    outside = np.any((places < 0) | (places >= shape), axis=1)
    if outside.any():
        i = int(np.argmax(outside))
        raise InvalidArgumentError(
            f"to_dense: indices[{i}] = {places[i].tolist()} is out of bounds: need 0 <= index < "
            f"{shape.tolist()}."
        )
    if shape.size and len(places) > 1:
        flat = np.ravel_multi_index(tuple(places.T), tuple(shape))
        wrong = np.diff(flat) <= 0
        if wrong.any():
            i = int(np.argmax(wrong)) + 1
            how = "repeated" if flat[i] == flat[i - 1] else "out of order"
            raise InvalidArgumentError(
                f"to_dense: indices[{i}] = {places[i].tolist()} is {how}. Sort the places, or say "
                "validate_indices=False."
            )


@public
def from_dense(tensor: Any, name: str | None = None) -> SparseTensor:
    """The elements of a tensor that are not zero, or not an empty string."""
    dense = convert(tensor)
    indices = rawly(places_of, dense, dynamic=True)
    shape = eager(np.array(dense._array.shape, np.int64))
    return SparseTensor(indices, gather_nd(dense, indices), shape)


def places_of(array: Any) -> Any:
    """Where a raw array is not zero, or not an empty string."""
    return np.argwhere(array != b"" if array.dtype == object else array).astype(np.int64)
