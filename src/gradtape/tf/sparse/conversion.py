"""tf.sparse conversions to and from dense tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.convert import convert, to_shape_tuple
from gradtape.core.dtypes import int64
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.primitive import Spec
from gradtape.core.shape_rule import FRESH, INT64, OBJECT, with_shape
from gradtape.core.sparse_tensor import SparseTensor
from gradtape.core.tensor import Tensor
from gradtape.graph.raw_function import apply_raw
from gradtape.graph.side_effect import side_effect
from gradtape.tf.array.creation import fill
from gradtape.tf.array.gather import gather_nd
from gradtape.tf.array.scatter import tensor_scatter_nd_update
from gradtape.tf.array.shape import shape as shape_tensor_of


@public
def to_dense(
    sp_input: Any, default_value: Any = None, validate_indices: bool = True, name: str | None = None
) -> Tensor:
    """A sparse tensor as a dense one.

    Args:
        sp_input: a SparseTensor.
        default_value: of the elements that are not stored; zero or an empty string if None.
        validate_indices: whether to check that indices are in range, sorted and unique.
        name: has no effect here.

    Returns:
        A tensor.

    Raises:
        InvalidArgumentError: if an index is out of range, out of order or repeated.

    Example:
        >>> sparse = tf.sparse.SparseTensor([[0, 1], [1, 0]], [5, 6], [2, 2])
        >>> tf.sparse.to_dense(sparse).numpy()
        array([[0, 5],
               [6, 0]], dtype=int32)
    """
    sparse = SparseTensor.from_value(sp_input)
    shape = sparse.dense_shape
    if validate_indices:
        check_sparse_indices(sparse.indices, shape)
    if sparse.dtype is dtypes.string:
        filler = convert(b"" if default_value is None else default_value)
        text: Tensor = apply_raw(
            scatter_strings, filler, sparse.indices, sparse.values, to_shape_tuple(shape)
        )
        return text
    filler = convert(0 if default_value is None else default_value, sparse.dtype)
    return tensor_scatter_nd_update(fill(shape, filler), sparse.indices, sparse.values)


@with_shape(lambda filler, places, values, shape: Spec((tuple(shape), OBJECT)))
def scatter_strings(filler: Any, places: Any, values: Any, shape: tuple[int, ...]) -> Any:
    """A raw array of `shape` with `values` at `places`, and `filler` elsewhere."""
    dense = np.full(shape, filler[()]).astype(object)
    dense[tuple(places.T)] = values
    return dense


@side_effect(fails_only=True)
def check_sparse_indices(indices: Any, dense_shape: Any) -> None:
    """Raise if an index is out of range, out of order or repeated."""
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
                f"to_dense: indices[{i}] = {places[i].tolist()} is {how}. Sort the indices, or set "
                "validate_indices=False."
            )


@public
def from_dense(tensor: Any, name: str | None = None) -> SparseTensor:
    """A sparse tensor of the elements that are not zero, or not an empty string.

    Args:
        tensor: a tensor.
        name: has no effect here.

    Returns:
        A SparseTensor.

    Example:
        >>> tf.sparse.from_dense([[0, 3], [0, 0]]).indices.numpy()
        array([[0, 1]])
    """
    dense = convert(tensor)
    indices = apply_raw(nonzero_indices_of, dense, dynamic=True)
    shape = shape_tensor_of(dense, int64)
    return SparseTensor(indices, gather_nd(dense, indices), shape)


@with_shape(lambda array: Spec(((FRESH, len(array.shape)), INT64)))
def nonzero_indices_of(array: Any) -> Any:
    """Indices of the elements of a raw array that are not zero, or not an empty string."""
    return np.argwhere(array != b"" if array.dtype == object else array).astype(np.int64)
