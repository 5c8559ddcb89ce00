"""Segment reductions: rows with the same segment id are combined."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradtape.core.convert import convert, to_dimension_size
from gradtape.core.dtypes import int32
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.open_shape import assume_same_shape
from gradtape.core.primitive import Spec
from gradtape.core.shape_rule import BOOL, broadcast_inputs, keep_shape, with_shape
from gradtape.core.tensor import Tensor
from gradtape.graph.raw_function import apply_raw, compute_integer
from gradtape.ops import elementwise as e
from gradtape.ops import segment as s
from gradtape.ops import xla_lowering
from gradtape.ops.gather_scatter import check_index_range, scatter_add, take
from gradtape.ops.shape import shape_of, slice_axis
from gradtape.ops.xla_lowering import on_jax
from gradtape.tf.example.number import SEGMENT
from gradtape.tf.math.cast import cast
from gradtape.tf.math.elementwise import QUOTIENT_DTYPES
from gradtape.tf.public_op import (
    FLOATS,
    INDICES,
    NUMBERS,
    REAL,
    add_examples,
    check_dtype,
    convert_with_hint,
    name_functions,
)

if TYPE_CHECKING:
    from gradtape.tf.op_protocol import SegmentOp, SparseSegmentOp, UnsortedSegmentOp


def check_sorted_segments(
    label: str, data: Any, segment_ids: Any, allowed: frozenset[Any], limit: int | None = None
) -> tuple[Tensor, Tensor, int, int]:
    """Convert and check the arguments of a reduction whose ids must not decrease.

    Returns data, ids, axis and number of segments: `limit`, or the last id plus one.
    """
    tensor = check_dtype(label, convert(data), allowed)
    found = check_dtype(label, convert_with_hint(segment_ids, int32), INDICES, "Tindices")
    ids = found._array
    if ids.ndim != 1:
        raise InvalidArgumentError(
            f"{label}: segment_ids should be a vector. Received shape {list(ids.shape)}."
        )
    shape = shape_of(tensor)
    if shape[:1] != ids.shape:
        raise InvalidArgumentError(
            f"{label}: segment_ids should be the same size as dimension 0 of input. "
            f"Received {ids.size} ids for input of shape {list(shape)}."
        )
    ids = apply_raw(check_sorted_ids, found, label, limit)
    size = compute_integer(count_sorted_segments, ids) if limit is None else limit
    return tensor, ids, -len(shape), size


@with_shape(keep_shape)
@on_jax(xla_lowering.skip_check)
def check_sorted_ids(ids: Any, label: str, limit: int | None) -> Any:
    """Check that raw ids do not decrease and lie in [0, limit)."""
    if ids.size and (np.diff(ids) < 0).any():
        raise InvalidArgumentError(
            f"{label}: segment ids are not increasing. Sort them, or use the unsorted form."
        )
    if ids.size and ids[0] < 0:
        raise InvalidArgumentError(
            f"{label}: Segment id {ids[0]} out of range. Ids must not be negative."
        )
    if limit is not None and ids.size and ids[-1] >= limit:
        raise InvalidArgumentError(
            f"{label}: segment ids must be < num_segments. Received {ids[-1]} and {limit}."
        )
    return ids


@on_jax(xla_lowering.lower_count_sorted_segments)
def count_sorted_segments(ids: Any) -> int:
    """Number of segments of raw ids that do not decrease."""
    return int(ids[-1]) + 1 if ids.size else 0


def check_unsorted_segments(
    label: str, data: Any, segment_ids: Any, num_segments: Any, allowed: frozenset[Any]
) -> tuple[Tensor, Tensor, int, int]:
    """Convert and check the arguments of a reduction with ids in any order.

    Returns data, ids, axis and number of segments. Negative ids become an extra last segment,
    which `drop_negative_segment` removes.
    """
    tensor = check_dtype(label, convert(data), allowed)
    found = check_dtype(label, convert(segment_ids), INDICES, "Tindices")
    ids = found._array
    size = to_dimension_size(convert(num_segments))
    shape = shape_of(tensor)
    if size < 0:
        raise InvalidArgumentError(f"{label}: Input num_segments == {size} must not be negative.")
    if not assume_same_shape(shape[: ids.ndim], ids.shape):
        raise InvalidArgumentError(
            f"{label}: data.shape = {list(shape)} does not start with segment_ids.shape = "
            f"{list(ids.shape)}."
        )
    return (
        tensor,
        apply_raw(replace_negative_ids, found, label, size),
        ids.ndim - len(shape) - 1,
        size,
    )


@with_shape(keep_shape)
@on_jax(xla_lowering.lower_replace_negative_ids)
def replace_negative_ids(ids: Any, label: str, size: int) -> Any:
    """Check that raw ids are below `size`, and replace negative ones by `size`."""
    flat = np.ravel(ids)
    if (flat >= size).any():
        where = int(np.flatnonzero(flat >= size)[0])
        raise InvalidArgumentError(
            f"{label}: segment_ids[{where}] = {flat[where]} is out of range [0, {size}). Raise "
            "num_segments."
        )
    return np.where(ids < 0, size, ids)


def make_sorted_reduction(
    function: Any, allowed: frozenset[Any], label: str, name: str, what: str, empty: bool
) -> SegmentOp:
    """Make a public reduction over sorted segments; with `empty`, empty segments give zero."""

    @public
    def reduce(data: Any, segment_ids: Any, name: str | None = None) -> Tensor:
        tensor, ids, axis, size = check_sorted_segments(label, data, segment_ids, allowed)
        out = function(tensor, ids, axis=axis, size=size)
        if not empty:
            return out
        return e.gate(out, apply_raw(mask_nonempty_segments, ids, size, out.ndim))

    return set_segment_doc(
        reduce, name, what, "segment_ids: ids of the rows of `data`, which must not decrease."
    )


def make_unsorted_reduction(
    function: Any, allowed: frozenset[Any], label: str, name: str, what: str
) -> UnsortedSegmentOp:
    """Make a public reduction over segments in any order."""

    @public
    def reduce(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Tensor:
        tensor, ids, axis, size = check_unsorted_segments(
            label, data, segment_ids, num_segments, allowed
        )
        return function(tensor, ids, axis=axis, size=size)

    return set_segment_doc(
        reduce,
        name,
        what,
        "segment_ids: ids for the first axes of `data`; rows with a negative id are dropped.\n"
        "        num_segments: number of rows of the result.",
    )


def set_segment_doc(function: Any, name: str, what: str, ids: str) -> Any:
    """Set the name and docstring of a public function."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""{what}

    Args:
        data: a tensor.
        {ids}
        name: ignored.

    Returns:
        A tensor with one row for each segment.
    """
    return function


def expand_to_rank(values: Any, rank: int) -> Any:
    """Reshape a raw vector over segments to broadcast against `rank` axes."""
    return values.reshape(values.shape + (1,) * (rank - 1))


@with_shape(lambda ids, size, rank: Spec(((size,) + (1,) * (rank - 1), BOOL)))
@on_jax(xla_lowering.lower_mask_nonempty_segments)
def mask_nonempty_segments(ids: Any, size: int, rank: int) -> Any:
    """Raw mask of the segments that have rows, shaped to broadcast against `rank` axes."""
    return expand_to_rank(s.count_segment_rows(ids, size, bool), rank)


def segment_divisors_spec(ids: Any, size: int, rank: int, power: int, dtype: Any) -> Any:
    """Spec of the result of `segment_divisors`."""
    return Spec(((size,) + (1,) * (rank - 1), np.dtype(dtype)))


@with_shape(segment_divisors_spec)
@on_jax(xla_lowering.lower_segment_divisors)
def segment_divisors(ids: Any, size: int, rank: int, power: int, dtype: Any) -> Any:
    """Number of rows of each segment, at least 1, or its square root if `power` is 2.

    Ids of `size` and more are not counted.
    """
    counts = np.maximum(s.count_segment_rows(ids, size, np.float64)[:size], 1) ** (1 / power)
    return expand_to_rank(counts.astype(dtype), rank)


def drop_negative_segment(function: Any) -> Any:
    """Wrap `function` to remove the extra segment of negative ids."""

    def reduce(tensor: Any, ids: Any, *, axis: int, size: int) -> Tensor:
        out = function(tensor, ids, axis=axis, size=size + 1)
        return slice_axis(out, axis=axis, start=0, size=size)

    return reduce


def mean_segments(tensor: Any, ids: Any, *, axis: int, size: int) -> Tensor:
    """Mean of each segment, zero for an empty one; integers are rounded towards zero."""
    total = scatter_add(tensor, ids, axis=axis, size=size)
    dtype = tensor._array.dtype
    count = apply_raw(segment_divisors, ids, size, total.ndim, 1, dtype)
    return (
        apply_raw(divide_toward_zero, total, count)
        if dtype.kind in "iu"
        else e.divide(total, count)
    )


@with_shape(broadcast_inputs)
@on_jax(xla_lowering.lower_divide_toward_zero)
def divide_toward_zero(total: Any, count: Any) -> Any:
    """Divide raw integers, rounding towards zero."""
    return ((total - np.fmod(total, count)) // count).astype(total.dtype)


def make_scaled_sum(power: int) -> Any:
    """Make a reduction: segment sums over the number of rows, or its root if `power` is 2."""

    def reduce(tensor: Any, ids: Any, *, axis: int, size: int) -> Tensor:
        tensor = cast(tensor, QUOTIENT_DTYPES.get(tensor.dtype, tensor.dtype))
        total = drop_negative_segment(scatter_add)(tensor, ids, axis=axis, size=size)
        return e.divide(
            total, apply_raw(segment_divisors, ids, size, total.ndim, power, total._array.dtype)
        )

    return reduce


segment_sum = make_sorted_reduction(
    scatter_add, NUMBERS, "SegmentSum", "segment_sum", "Sum of each segment.", False
)
segment_mean = make_sorted_reduction(
    mean_segments, NUMBERS, "SegmentMean", "segment_mean", "Mean of each segment.", False
)
segment_prod = make_sorted_reduction(
    s.segment_prod, NUMBERS, "SegmentProd", "segment_prod", "Product of each segment.", False
)
segment_max = make_sorted_reduction(
    s.segment_max,
    REAL,
    "SegmentMax",
    "segment_max",
    "Largest element of each segment; 0 for an empty one.",
    True,
)
segment_min = make_sorted_reduction(
    s.segment_min,
    REAL,
    "SegmentMin",
    "segment_min",
    "Smallest element of each segment; 0 for an empty one.",
    True,
)
unsorted_segment_sum = make_unsorted_reduction(
    drop_negative_segment(scatter_add),
    NUMBERS,
    "UnsortedSegmentSum",
    "unsorted_segment_sum",
    "Sum of each segment.",
)
unsorted_segment_prod = make_unsorted_reduction(
    drop_negative_segment(s.segment_prod),
    NUMBERS,
    "UnsortedSegmentProd",
    "unsorted_segment_prod",
    "Product of each segment.",
)
unsorted_segment_max = make_unsorted_reduction(
    drop_negative_segment(s.segment_max),
    REAL,
    "UnsortedSegmentMax",
    "unsorted_segment_max",
    "Largest element of each segment; the smallest finite number for an empty one.",
)
unsorted_segment_min = make_unsorted_reduction(
    drop_negative_segment(s.segment_min),
    REAL,
    "UnsortedSegmentMin",
    "unsorted_segment_min",
    "Smallest element of each segment; the largest finite number for an empty one.",
)
unsorted_segment_mean = make_unsorted_reduction(
    make_scaled_sum(1),
    REAL,
    "UnsortedSegmentMean",
    "unsorted_segment_mean",
    "Mean of each segment.",
)
unsorted_segment_sqrt_n = make_unsorted_reduction(
    make_scaled_sum(2),
    FLOATS,
    "UnsortedSegmentSqrtN",
    "unsorted_segment_sqrt_n",
    "Sum of each segment, divided by the square root of its number of rows.",
)


def make_sparse_reduction(
    power: int, allowed: frozenset[Any], label: str, name: str, what: str
) -> SparseSegmentOp:
    """Make a public reduction of selected rows; `power` as in `make_scaled_sum`, 0 for sums."""

    @public
    def reduce(
        data: Any,
        indices: Any,
        segment_ids: Any,
        num_segments: Any = None,
        name: str | None = None,
        sparse_gradient: bool = False,
    ) -> Tensor:
        tensor = check_dtype(label, convert(data), allowed)
        rows = check_dtype(label, convert_with_hint(indices, int32), INDICES, "Tidx")
        if rows._array.ndim != 1 or tensor._array.ndim < 1:
            raise InvalidArgumentError(
                f"{label}: indices should be a vector. Received shape {list(rows._array.shape)}."
            )
        rows = apply_raw(check_row_range, label, rows, tensor._array.shape[0])
        axis = -tensor._array.ndim
        limit = None if num_segments is None else to_dimension_size(num_segments)
        picked, ids, _, size = check_sorted_segments(
            label, take(tensor, rows, axis=axis), segment_ids, allowed, limit
        )
        total = scatter_add(picked, ids, axis=axis, size=size)
        if not power:
            return total
        return e.divide(
            total, apply_raw(segment_divisors, ids, size, total.ndim, power, total._array.dtype)
        )

    return set_segment_doc(
        reduce,
        name,
        what,
        "indices: the rows of `data` to select.\n"
        "        segment_ids: ids of the selected rows, which must not decrease.\n"
        "        num_segments: number of rows of the result; the last id plus one if None.\n"
        "        sparse_gradient: has no effect here.",
    )


@with_shape(lambda label, rows, size: rows.shape)
@on_jax(xla_lowering.skip_check_of_second)
def check_row_range(label: str, rows: Any, size: int) -> Any:
    """Check that raw indices lie in [0, size)."""
    check_index_range(label, rows, size)
    return rows


sparse_segment_sum = make_sparse_reduction(
    0, REAL, "SparseSegmentSum", "segment_sum", "Sum of the selected rows of each segment."
)
sparse_segment_mean = make_sparse_reduction(
    1, FLOATS, "SparseSegmentMean", "segment_mean", "Mean of the selected rows of each segment."
)
sparse_segment_sqrt_n = make_sparse_reduction(
    2,
    FLOATS,
    "SparseSegmentSqrtN",
    "segment_sqrt_n",
    "Sum of the selected rows of each segment, divided by the square root of their number.",
)

name_functions(__name__, globals())

add_examples(globals(), SEGMENT)
