"""tf.sparse arithmetic: sums, extremes, reductions, products and counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.core import nest
from gradtape.core.argument import check_callable
from gradtape.core.convert import convert, to_shape_tuple
from gradtape.core.dtypes import int32, int64
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.shapes import normalize_axis
from gradtape.core.sparse_tensor import SparseTensor
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.tf.array.concat_split import concat
from gradtape.tf.array.creation import fill, zeros_like
from gradtape.tf.array.gather import gather, gather_nd
from gradtape.tf.array.mask import where
from gradtape.tf.array.reshape import (
    broadcast_to,
    expand_dims,
    reshape,
    transpose,
)
from gradtape.tf.array.scatter import tensor_scatter_nd_add, tensor_scatter_nd_update
from gradtape.tf.math import elementwise as e
from gradtape.tf.math.cast import cast, conj
from gradtape.tf.math.reduce import reduce_prod
from gradtape.tf.math.segment import unsorted_segment_max, unsorted_segment_sum
from gradtape.tf.sparse import index as sparse_index
from gradtape.tf.sparse import shape as s


def check_equal_arrays(op: str, a: Any, b: Any) -> None:
    """Raise unless two tensors, of shapes or of indices, are equal."""
    x, y = sparse_index.as_raw_integers(a).tolist(), sparse_index.as_raw_integers(b).tolist()
    if x != y:
        raise InvalidArgumentError(f"{op}: shapes or indices must be equal. Received {x} and {y}.")


@public
def add(a: Any, b: Any, threshold: Any = 0) -> Any:
    """The sum of two tensors, one of which is sparse; sparse if both are.

    Args:
        a: a tensor or SparseTensor.
        b: a tensor or SparseTensor of the same shape.
        threshold: elements of a sparse sum with a smaller magnitude are dropped.

    Returns:
        A SparseTensor or a tensor.

    Raises:
        TypeError: if both are dense.
        InvalidArgumentError: if the shapes differ.

    Example:
        >>> a = tf.sparse.from_dense([0.0, 1.0])
        >>> tf.sparse.to_dense(tf.sparse.add(a, a)).numpy()
        array([0., 2.], dtype=float32)
    """
    if not isinstance(a, SparseTensor) and not isinstance(b, SparseTensor):
        raise TypeError("At least one input should be SparseTensor; do you mean to use tf.add()?")
    if isinstance(a, SparseTensor) and isinstance(b, SparseTensor):
        check_equal_arrays("sparse.add", a.dense_shape, b.dense_shape)
        total = combine_sparse(a, b, e.add)
        if not isinstance(threshold, (int, float)) or threshold:
            magnitude = e.abs(total.values)
            total = s.retain(total, magnitude >= cast(threshold, magnitude.dtype))
        return total
    sparse, dense = (a, convert(b)) if isinstance(a, SparseTensor) else (b, convert(a))
    check_equal_arrays("sparse.add", sparse.dense_shape, make_tensor(np.array(dense._array.shape)))
    return tensor_scatter_nd_add(dense, sparse.indices, sparse.values)


def combine_sparse(a: SparseTensor, b: SparseTensor, function: Callable[..., Any]) -> SparseTensor:
    """Apply `function` at every index that either tensor has; missing elements count as zero."""
    indices, mine, others = sparse_index.merge_indices(a.indices, b.indices, a.dense_shape)
    count = indices._array.shape[0]
    x = unsorted_segment_sum(a.values, mine, count)
    y = unsorted_segment_sum(b.values, others, count)
    return SparseTensor(indices, function(x, y), a.dense_shape)


@public
def maximum(sp_a: Any, sp_b: Any, name: str | None = None) -> SparseTensor:
    """Elementwise maximum of two sparse tensors; missing elements count as zero.

    Args:
        sp_a: a SparseTensor.
        sp_b: a SparseTensor of the same shape.
        name: has no effect here.

    Returns:
        A SparseTensor.
    """
    sp_a, sp_b = SparseTensor.from_value(sp_a), SparseTensor.from_value(sp_b)
    check_equal_arrays("sparse.maximum", sp_a.dense_shape, sp_b.dense_shape)
    return combine_sparse(sp_a, sp_b, e.maximum)


@public
def minimum(sp_a: Any, sp_b: Any, name: str | None = None) -> SparseTensor:
    """Elementwise minimum of two sparse tensors; missing elements count as zero.

    Args:
        sp_a: a SparseTensor.
        sp_b: a SparseTensor of the same shape.
        name: has no effect here.

    Returns:
        A SparseTensor.
    """
    sp_a, sp_b = SparseTensor.from_value(sp_a), SparseTensor.from_value(sp_b)
    check_equal_arrays("sparse.minimum", sp_a.dense_shape, sp_b.dense_shape)
    return combine_sparse(sp_a, sp_b, e.minimum)


@public
def map_values(op: Any, *args: Any, **kwargs: Any) -> SparseTensor:
    """Apply a function to the values; all sparse arguments must have the same indices.

    Args:
        op: a function of tensors.
        *args: its arguments.
        **kwargs: its keyword arguments.

    Returns:
        A SparseTensor, or what `op` returns if no argument is sparse.

    Raises:
        ValueError: if there is no sparse argument, or the result has another number of elements.

    Example:
        >>> tf.sparse.map_values(tf.square, tf.sparse.from_dense([0.0, 3.0])).values.numpy()
        array([9.], dtype=float32)
    """
    found = [v for v in nest.flatten((args, kwargs)) if isinstance(v, SparseTensor)]
    if not found:
        raise ValueError("map_values: No SparseTensor in argument list of map_values")
    for other in found[1:]:
        check_equal_arrays("map_values", found[0].indices, other.indices)

    def values_of(v: Any) -> Any:
        return v.values if isinstance(v, SparseTensor) else v

    check_callable(op, "op")
    result = op(*nest.map_structure(values_of, args), **nest.map_structure(values_of, kwargs))
    found[0].values.shape.assert_is_compatible_with(result.shape)
    return SparseTensor(found[0].indices, result, found[0].dense_shape)


def reduce_sparse(
    sparse: SparseTensor, axis: Any, keepdims: Any, is_sparse: bool, segment: Any, name: str
) -> Any:
    """Reduce the stored elements with the function `segment`; zero where there are none."""
    rank = s.sparse_rank_of(sparse)
    given = (
        range(rank)
        if axis is None
        else np.ravel(sparse_index.as_raw_integers(convert(axis))).tolist()
    )
    axes = tuple(sorted(normalize_axis(a, rank, name) + rank for a in given))
    places, group, positions, shape = sparse_index.group_indices(
        sparse.indices, sparse.dense_shape, axes, bool(keepdims)
    )
    if is_sparse:
        values = segment(sparse.values, group, places._array.shape[0])
        return SparseTensor(places, values, shape)
    count = reduce_prod(shape)
    flat = segment(sparse.values, positions, count)
    if segment is unsorted_segment_max:
        stored = unsorted_segment_sum(e.abs(cast(positions * 0 + 1, int32)), positions, count) > 0
        flat = where(stored, flat, zeros_like(flat))
    return reshape(flat, shape)


@public
def reduce_sum(
    sp_input: Any,
    axis: Any = None,
    keepdims: Any = None,
    output_is_sparse: bool = False,
    name: str | None = None,
) -> Any:
    """Sum along `axis`; a SparseTensor if `output_is_sparse`.

    Args:
        sp_input: a SparseTensor.
        axis: an axis, a list of axes, or None for all.
        keepdims: whether to keep the reduced axes with size one.
        output_is_sparse: whether the result is a SparseTensor.
        name: has no effect here.

    Returns:
        A tensor or a SparseTensor.

    Example:
        >>> tf.sparse.reduce_sum(tf.sparse.from_dense([[1, 0], [2, 3]]), axis=1).numpy()
        array([1, 5], dtype=int32)
    """
    sparse = SparseTensor.from_value(sp_input)
    return reduce_sparse(
        sparse, axis, keepdims, output_is_sparse, unsorted_segment_sum, "reduce_sum"
    )


@public
def reduce_max(
    sp_input: Any,
    axis: Any = None,
    keepdims: Any = None,
    output_is_sparse: bool = False,
    name: str | None = None,
) -> Any:
    """Maximum of the stored elements along `axis`; zero if there are none.

    Args:
        sp_input: a SparseTensor.
        axis: an axis, a list of axes, or None for all.
        keepdims: whether to keep the reduced axes with size one.
        output_is_sparse: whether the result is a SparseTensor.
        name: has no effect here.

    Returns:
        A tensor or a SparseTensor.

    Example:
        >>> tf.sparse.reduce_max(tf.sparse.from_dense([[1, 0], [2, 3]]), axis=1).numpy()
        array([1, 3], dtype=int32)
    """
    sparse = SparseTensor.from_value(sp_input)
    return reduce_sparse(
        sparse, axis, keepdims, output_is_sparse, unsorted_segment_max, "reduce_max"
    )


@public
def sparse_dense_matmul(
    sp_a: Any, b: Any, adjoint_a: bool = False, adjoint_b: bool = False, name: str | None = None
) -> Tensor:
    """Product of a sparse and a dense matrix, in either order.

    Args:
        sp_a: a sparse or dense matrix.
        b: a dense or sparse matrix.
        adjoint_a: whether to transpose and conjugate the first one.
        adjoint_b: whether to transpose and conjugate the second one.
        name: has no effect here.

    Returns:
        A matrix.

    Raises:
        InvalidArgumentError: if their shapes do not fit.
    """
    if isinstance(b, SparseTensor):
        return conj(transpose(sparse_dense_matmul(b, sp_a, not adjoint_b, not adjoint_a)))
    sparse, dense = SparseTensor.from_value(sp_a), convert(b)
    values = conj(sparse.values) if adjoint_a else sparse.values
    row, column = (1, 0) if adjoint_a else (0, 1)
    if adjoint_b:
        dense = conj(transpose(dense))
    sizes, have = to_shape_tuple(sparse.dense_shape), dense._array.shape
    if len(sizes) != 2 or len(have) != 2 or sizes[column] != have[0]:
        raise InvalidArgumentError(
            "sparse_dense_matmul: Cannot multiply A and B because inner dimension does not match. "
            f"Received {list(sizes)} (adjoint_a={adjoint_a}) and {list(have)}."
        )
    terms = values[:, None] * gather(dense, sparse.indices[:, column])
    return unsorted_segment_sum(terms, sparse.indices[:, row], sizes[row])


def apply_with_dense(
    sparse: SparseTensor, other: Any, function: Callable[..., Any]
) -> SparseTensor:
    """Apply `function` to the stored elements and those of `other`, which is broadcast."""
    if isinstance(other, SparseTensor):
        raise TypeError(
            "SparseTensor: the other factor must be a dense tensor. Received a SparseTensor."
        )
    dense = convert(other, sparse.dtype)
    others = gather_nd(broadcast_to(dense, sparse.dense_shape), sparse.indices)
    return SparseTensor(sparse.indices, function(sparse.values, others), sparse.dense_shape)


@public
def softmax(sp_input: Any, name: str | None = None) -> SparseTensor:
    """Softmax over the stored elements along the last axis.

    Args:
        sp_input: a SparseTensor.
        name: has no effect here.

    Returns:
        A SparseTensor.

    Example:
        >>> tf.sparse.softmax(tf.sparse.from_dense([[1.0, 1.0, 0.0]])).values.numpy()
        array([0.5, 0.5], dtype=float32)
    """
    sparse = SparseTensor.from_value(sp_input)
    last = (s.sparse_rank_of(sparse) - 1,)
    places, group, _, _ = sparse_index.group_indices(
        sparse.indices, sparse.dense_shape, last, False
    )
    count = places._array.shape[0]
    top = gather(unsorted_segment_max(sparse.values, group, count), group)
    power = e.exp(sparse.values - top)
    total = gather(unsorted_segment_sum(power, group, count), group)
    return SparseTensor(sparse.indices, power / total, sparse.dense_shape)


@public
def to_indicator(sp_input: Any, vocab_size: Any, name: str | None = None) -> Tensor:
    """For each row, a bool per integer below `vocab_size`: whether the row contains it.

    Args:
        sp_input: a SparseTensor.
        vocab_size: the number of integers.
        name: has no effect here.

    Returns:
        A tensor of bools (..., vocab_size).
    """
    sparse = SparseTensor.from_value(sp_input)
    ids = cast(sparse.values, int64)
    places = concat([sparse.indices[:, :-1], expand_dims(ids, 1)], 1)
    shape = concat([sparse.dense_shape[:-1], cast(convert([vocab_size]), int64)], 0)
    marks = cast(zeros_like(ids) + 1, "bool")
    return tensor_scatter_nd_update(fill(shape, False), places, marks)
