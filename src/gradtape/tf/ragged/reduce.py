"""Reductions of ragged tensors, computed as segment reductions of the flat values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.convert import convert
from gradtape.core.errors import public
from gradtape.core.ragged import row_splits
from gradtape.core.ragged.conversion import ragged_from_nested_splits
from gradtape.core.ragged.tensor import RaggedTensor
from gradtape.core.tensor import Tensor
from gradtape.graph.raw_function import apply_raw, compute_integer
from gradtape.ops import segment
from gradtape.ops.elementwise import log
from gradtape.ops.elementwise import sqrt as root
from gradtape.ops.gather_scatter import scatter_add
from gradtape.tf.array.creation import ones_like
from gradtape.tf.math import elementwise
from gradtape.tf.math import reduce as reduction
from gradtape.tf.math.cast import cast
from gradtape.tf.ragged.conversion import total_rank_of
from gradtape.tf.ragged.shape import insert_axis, normalize_ragged_axis

ReduceFunction = Callable[..., Any]


def normalize_reduce_axes(axis: Any, rank: int, op: str) -> list[int]:
    """The axes as non-negative ints, from the last to the first."""
    found = np.ravel(np.asarray(axis if isinstance(axis, int) else convert(axis)))
    if found.size and found.dtype.kind not in "iu":
        raise TypeError(f"{op}: axis must be an integer. Received {axis!r}.")
    places = {normalize_ragged_axis(a, rank, op) for a in found.tolist()}
    return sorted(places, reverse=True)


def make_ragged_reduction(dense: Any, combine: ReduceFunction) -> ReduceFunction:
    """Make a reduction from `dense`, for plain tensors, and `combine`, for segments of values."""
    name = dense.__name__

    def reduce_axis(values: Any, at: int, keepdims: bool) -> Any:
        """Reduce one axis."""
        if not isinstance(values, RaggedTensor):
            return dense(values, at, keepdims)
        depth = values.ragged_rank
        if at > depth:
            return values.with_flat_values(dense(values.flat_values, at - depth, keepdims))
        splits = values.nested_row_splits
        *kept, group = apply_raw(
            row_splits.reduction_segments, at, *splits, dynamic=True, outputs=True
        )
        if at == 0:
            count = compute_integer(count_reduced_values, *splits)
        else:
            count = (
                splits[at - 1]._array.shape[0] - 1
                if at == depth
                else compute_integer(last_split, kept[-1])
            )
        sizes = [p._uniform for p in values._nested_row_partitions]
        left = sizes[:0] if at == 0 else sizes[: at - 1]
        flat = combine(values.flat_values, group, count)
        result = ragged_from_nested_splits(flat, kept, [*left, *[None] * (len(kept) - len(left))])
        return insert_axis(result, at) if keepdims else result

    @public
    def reduce(
        input_tensor: Any, axis: Any = None, keepdims: Any = False, name: str | None = None
    ) -> Any:
        rank = total_rank_of(input_tensor)
        if axis is None:
            result = dense(input_tensor.flat_values, None, False)
            if keepdims:
                for _ in range(rank):
                    result = insert_axis(result, 0)
            return result
        result = input_tensor
        for at in normalize_reduce_axes(axis, rank, dense.__name__):
            result = reduce_axis(result, at, bool(keepdims))
        return result

    reduce.__name__ = reduce.__qualname__ = name
    return reduce


def last_split(splits: Any) -> int:
    """The last of raw row splits, which is the number of values."""
    return int(splits[-1])


def count_reduced_values(*nested_splits: Any) -> int:
    """The number of values that remain when the first axis is reduced."""
    *kept, _group = row_splits.reduction_segments(0, *nested_splits)
    if kept:
        return int(kept[-1][-1])
    return row_splits.longest_row_length(nested_splits[0])


def sum_segments(values: Tensor, group: Tensor, count: int) -> Any:
    """The sum of each segment."""
    return scatter_add(values, group, axis=-values.ndim, size=count)


def make_segment_combiner(primitive: Any) -> ReduceFunction:
    """Make a combining function from a segment primitive."""
    return lambda values, group, count: primitive(values, group, axis=-values.ndim, size=count)


def all_in_segments(values: Tensor, group: Tensor, count: int) -> Any:
    """Whether all values of each segment are True."""
    numbers = cast(elementwise.logical_not(values), dtypes.int32)
    return elementwise.equal(sum_segments(numbers, group, count), 0)


def any_in_segments(values: Tensor, group: Tensor, count: int) -> Any:
    """Whether any value of each segment is True."""
    return elementwise.greater(sum_segments(cast(values, dtypes.int32), group, count), 0)


reduce_sum = make_ragged_reduction(reduction.reduce_sum, sum_segments)
reduce_prod = make_ragged_reduction(
    reduction.reduce_prod, make_segment_combiner(segment.segment_prod)
)
reduce_max = make_ragged_reduction(reduction.reduce_max, make_segment_combiner(segment.segment_max))
reduce_min = make_ragged_reduction(reduction.reduce_min, make_segment_combiner(segment.segment_min))
reduce_all = make_ragged_reduction(reduction.reduce_all, all_in_segments)
reduce_any = make_ragged_reduction(reduction.reduce_any, any_in_segments)


def count_elements(values: Any, axis: Any, keepdims: bool) -> Any:
    """The number of elements that are reduced to each result."""
    return reduce_sum(values.with_flat_values(ones_like(values.flat_values)), axis, keepdims)


@public
def reduce_mean(
    input_tensor: Any, axis: Any = None, keepdims: Any = False, name: str | None = None
) -> Any:
    """Mean along axes; integers give a floating result, as in TensorFlow."""
    if axis is None:
        total = reduce_sum(input_tensor, None, keepdims)
        size = convert(input_tensor.flat_values._array.size, total.dtype)
        return elementwise.truediv(total, size)
    total = reduce_sum(input_tensor, axis, keepdims)
    count = count_elements(input_tensor, axis, bool(keepdims))
    if not isinstance(total, RaggedTensor):
        return elementwise.truediv(total, count)
    return total.with_flat_values(elementwise.truediv(total.flat_values, count.flat_values))


@public
def reduce_variance(
    input_tensor: Any, axis: Any = None, keepdims: Any = False, name: str | None = None
) -> Any:
    """Variance along axes."""
    if axis is None:
        return reduction.reduce_variance(input_tensor.flat_values)
    squares = reduce_mean(input_tensor * input_tensor, axis, keepdims)
    mean = reduce_mean(input_tensor, axis, keepdims)
    return squares - mean * mean


@public
def reduce_std(
    input_tensor: Any, axis: Any = None, keepdims: Any = False, name: str | None = None
) -> Any:
    """Standard deviation along axes: the root of the variance."""
    variance = reduce_variance(input_tensor, axis, keepdims)
    if isinstance(variance, RaggedTensor):
        return variance.with_flat_values(root(variance.flat_values))
    return root(variance)


@public
def softmax(logits: Any, axis: Any = None, name: str | None = None) -> Any:
    """Exponentials divided by their sum along `axis`, the last one by default."""
    rank, depth = total_rank_of(logits), logits.ragged_rank
    at = normalize_ragged_axis(-1 if axis is None else axis, rank, "softmax")
    if at != depth:
        from gradtape.tf.api.nn import softmax as dense

        if at < depth:
            raise NotImplementedError(
                "softmax: axis must be the innermost ragged axis or a uniform inner axis. Received "
                f"{axis}."
            )
        return logits.with_flat_values(dense(logits.flat_values, axis=at - depth))
    from gradtape.tf.array.gather import gather

    flat, splits = logits.flat_values, logits.nested_row_splits[-1]
    ids = logits._nested_row_partitions[-1].value_rowids()
    count = splits._array.shape[0] - 1
    from gradtape.ops.elementwise import exp, stop_gradient

    most = segment.segment_max(flat, ids, axis=-flat.ndim, size=count)
    powers = exp(flat - gather(stop_gradient(most), ids))
    total = sum_segments(powers, ids, count)
    return logits.with_flat_values(powers / gather(total, ids))


@public
def reduce_logsumexp(
    input_tensor: Any, axis: Any = None, keepdims: Any = False, name: str | None = None
) -> Any:
    """Logarithm of the sum of exponentials along axes."""
    if axis is None:
        return reduction.reduce_logsumexp(input_tensor.flat_values, None, keepdims)
    powers = input_tensor.with_flat_values(elementwise.exp(input_tensor.flat_values))
    total = reduce_sum(powers, axis, keepdims)
    if isinstance(total, RaggedTensor):
        return total.with_flat_values(log(total.flat_values))
    return log(total)
