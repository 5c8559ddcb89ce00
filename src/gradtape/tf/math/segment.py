"""Segment reductions: rows with the same segment id are combined."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.convert import convert
from gradtape.core.dtypes import int32
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.tensor import Tensor
from gradtape.graph.raw_function import number_by, rawly
from gradtape.ops import elementwise as e
from gradtape.ops import segment as s
from gradtape.ops import xla_lowering
from gradtape.ops.gather_scatter import check_range, scatter_add, take
from gradtape.ops.shape import cut, shape_of
from gradtape.ops.xla_lowering import on_jax
from gradtape.tf.math.cast import cast
from gradtape.tf.math.elementwise import QUOTIENTS
from gradtape.tf.protocol import OfChosenRows, OfSegments, OfUnsortedSegments
from gradtape.tf.public_op import FLOATS, INDICES, NUMBERS, REAL, operand, prefer


def sorted_ids(
    label: str, data: Any, segment_ids: Any, allowed: frozenset[Any], limit: int | None = None
) -> tuple[Tensor, Tensor, int, int]:
    """Convert and check the arguments of a reduction whose ids must not decrease.

    Returns data, ids, axis and number of segments: `limit`, or the last id plus one.
    """
    tensor = operand(label, convert(data), allowed)
    found = operand(label, prefer(segment_ids, int32), INDICES, "Tindices")
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
    ids = rawly(increasing, found, label, limit)
    size = number_by(one_more_than_last, ids) if limit is None else limit
    return tensor, ids, -len(shape), size


@on_jax(xla_lowering.as_given)
def increasing(ids: Any, label: str, limit: int | None) -> Any:
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


@on_jax(xla_lowering.one_more_than_last)
def one_more_than_last(ids: Any) -> int:
    """Number of segments of raw ids that do not decrease."""
    return int(ids[-1]) + 1 if ids.size else 0


def unsorted_ids(
    label: str, data: Any, segment_ids: Any, num_segments: Any, allowed: frozenset[Any]
) -> tuple[Tensor, Tensor, int, int]:
    """Convert and check the arguments of a reduction with ids in any order.

    Returns data, ids, axis and number of segments. Negative ids become an extra last segment,
    which `clipped` removes.
    """
    tensor = operand(label, convert(data), allowed)
    found = operand(label, convert(segment_ids), INDICES, "Tindices")
    ids = found._array
    size = int(convert(num_segments)._array)
    shape = shape_of(tensor)
    if size < 0:
        raise InvalidArgumentError(f"{label}: Input num_segments == {size} must not be negative.")
    if shape[: ids.ndim] != ids.shape:
        raise InvalidArgumentError(
            f"{label}: data.shape = {list(shape)} does not start with segment_ids.shape = "
            f"{list(ids.shape)}."
        )
    return tensor, rawly(folded, found, label, size), ids.ndim - len(shape) - 1, size


@on_jax(xla_lowering.folded)
def folded(ids: Any, label: str, size: int) -> Any:
    """Check that raw ids are below `size`, and replace negative ones by `size`."""
    flat = np.ravel(ids)
    if (flat >= size).any():
        where = int(np.flatnonzero(flat >= size)[0])
        raise InvalidArgumentError(
            f"{label}: segment_ids[{where}] = {flat[where]} is out of range [0, {size}). Raise "
            "num_segments."
        )
    return np.where(ids < 0, size, ids)


def ordered(
    function: Any, allowed: frozenset[Any], label: str, name: str, what: str, empty: bool
) -> OfSegments:
    """Make a public reduction over sorted segments; with `empty`, empty segments give zero."""

    @public
    def reduce(data: Any, segment_ids: Any, name: str | None = None) -> Tensor:
        tensor, ids, axis, size = sorted_ids(label, data, segment_ids, allowed)
        out = function(tensor, ids, axis=axis, size=size)
        if not empty:
            return out
        return e.gate(out, rawly(occupied, ids, size, out.ndim))

    return described(
        reduce, name, what, "segment_ids: ids of the rows of `data`, which must not decrease."
    )


def anyhow(
    function: Any, allowed: frozenset[Any], label: str, name: str, what: str
) -> OfUnsortedSegments:
    """Make a public reduction over segments in any order."""

    @public
    def reduce(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Tensor:
        tensor, ids, axis, size = unsorted_ids(label, data, segment_ids, num_segments, allowed)
        return function(tensor, ids, axis=axis, size=size)

    return described(
        reduce,
        name,
        what,
        "segment_ids: ids for the first axes of `data`; rows with a negative id are dropped.\n"
        "        num_segments: number of rows of the result.",
    )


def described(function: Any, name: str, what: str, ids: str) -> Any:
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


def column(values: Any, rank: int) -> Any:
    """Reshape a raw vector over segments to broadcast against `rank` axes."""
    return values.reshape(values.shape + (1,) * (rank - 1))


@on_jax(xla_lowering.occupied)
def occupied(ids: Any, size: int, rank: int) -> Any:
    """Raw mask of the segments that have rows, shaped to broadcast against `rank` axes."""
    return column(s.counts(ids, size, bool), rank)


@on_jax(xla_lowering.divisors)
def divisors(ids: Any, size: int, rank: int, power: int, dtype: Any) -> Any:
    """Number of rows of each segment, at least 1, or its square root if `power` is 2.

    Ids of `size` and more are not counted.
    """
    counts = np.maximum(s.counts(ids, size, np.float64)[:size], 1) ** (1 / power)
    return column(counts.astype(dtype), rank)


def clipped(function: Any) -> Any:
    """Wrap `function` to remove the extra segment of negative ids."""

    def reduce(tensor: Any, ids: Any, *, axis: int, size: int) -> Tensor:
        out = function(tensor, ids, axis=axis, size=size + 1)
        return cut(out, axis=axis, start=0, size=size)

    return reduce


def mean(tensor: Any, ids: Any, *, axis: int, size: int) -> Tensor:
    """Mean of each segment, zero for an empty one; integers are rounded towards zero."""
    total = scatter_add(tensor, ids, axis=axis, size=size)
    dtype = tensor._array.dtype
    count = rawly(divisors, ids, size, total.ndim, 1, dtype)
    return rawly(whole, total, count) if dtype.kind in "iu" else e.divide(total, count)


@on_jax(xla_lowering.whole)
def whole(total: Any, count: Any) -> Any:
    """Divide raw integers, rounding towards zero."""
    return ((total - np.fmod(total, count)) // count).astype(total.dtype)


def divided(power: int) -> Any:
    """Make a reduction: segment sums over the number of rows, or its root if `power` is 2."""

    def reduce(tensor: Any, ids: Any, *, axis: int, size: int) -> Tensor:
        tensor = cast(tensor, QUOTIENTS.get(tensor.dtype, tensor.dtype))
        total = clipped(scatter_add)(tensor, ids, axis=axis, size=size)
        return e.divide(total, rawly(divisors, ids, size, total.ndim, power, total._array.dtype))

    return reduce


segment_sum = ordered(
    scatter_add, NUMBERS, "SegmentSum", "segment_sum", "Sum of each segment.", False
)
segment_mean = ordered(mean, NUMBERS, "SegmentMean", "segment_mean", "Mean of each segment.", False)
segment_prod = ordered(
    s.segment_prod, NUMBERS, "SegmentProd", "segment_prod", "Product of each segment.", False
)
segment_max = ordered(
    s.segment_max,
    REAL,
    "SegmentMax",
    "segment_max",
    "Largest element of each segment; 0 for an empty one.",
    True,
)
segment_min = ordered(
    s.segment_min,
    REAL,
    "SegmentMin",
    "segment_min",
    "Smallest element of each segment; 0 for an empty one.",
    True,
)
unsorted_segment_sum = anyhow(
    clipped(scatter_add),
    NUMBERS,
    "UnsortedSegmentSum",
    "unsorted_segment_sum",
    "Sum of each segment.",
)
unsorted_segment_prod = anyhow(
    clipped(s.segment_prod),
    NUMBERS,
    "UnsortedSegmentProd",
    "unsorted_segment_prod",
    "Product of each segment.",
)
unsorted_segment_max = anyhow(
    clipped(s.segment_max),
    REAL,
    "UnsortedSegmentMax",
    "unsorted_segment_max",
    "Largest element of each segment; the smallest finite number for an empty one.",
)
unsorted_segment_min = anyhow(
    clipped(s.segment_min),
    REAL,
    "UnsortedSegmentMin",
    "unsorted_segment_min",
    "Smallest element of each segment; the largest finite number for an empty one.",
)
unsorted_segment_mean = anyhow(
    divided(1), REAL, "UnsortedSegmentMean", "unsorted_segment_mean", "Mean of each segment."
)
unsorted_segment_sqrt_n = anyhow(
    divided(2),
    FLOATS,
    "UnsortedSegmentSqrtN",
    "unsorted_segment_sqrt_n",
    "Sum of each segment, divided by the square root of its number of rows.",
)


def chosen(power: int, allowed: frozenset[Any], label: str, name: str, what: str) -> OfChosenRows:
    """Make a public reduction of selected rows; `power` as for `divided`, 0 for plain sums."""

    @public
    def reduce(
        data: Any,
        indices: Any,
        segment_ids: Any,
        num_segments: Any = None,
        name: str | None = None,
        sparse_gradient: bool = False,
    ) -> Tensor:
        tensor = operand(label, convert(data), allowed)
        rows = operand(label, prefer(indices, int32), INDICES, "Tidx")
        if rows._array.ndim != 1 or tensor._array.ndim < 1:
            raise InvalidArgumentError(
                f"{label}: indices should be a vector. Received shape {list(rows._array.shape)}."
            )
        rows = rawly(in_range, label, rows, tensor._array.shape[0])
        axis = -tensor._array.ndim
        limit = None if num_segments is None else int(convert(num_segments)._array)
        picked, ids, _, size = sorted_ids(
            label, take(tensor, rows, axis=axis), segment_ids, allowed, limit
        )
        total = scatter_add(picked, ids, axis=axis, size=size)
        if not power:
            return total
        return e.divide(total, rawly(divisors, ids, size, total.ndim, power, total._array.dtype))

    return described(
        reduce,
        name,
        what,
        "indices: the rows of `data` to select.\n"
        "        segment_ids: ids of the selected rows, which must not decrease.\n"
        "        num_segments: number of rows of the result; the last id plus one if None.\n"
        "        sparse_gradient: accepted for TensorFlow's sake.",
    )


@on_jax(xla_lowering.second_as_given)
def in_range(label: str, rows: Any, size: int) -> Any:
    """Check that raw indices lie in [0, size)."""
    check_range(label, rows, size)
    return rows


sparse_segment_sum = chosen(
    0, REAL, "SparseSegmentSum", "segment_sum", "Sum of the selected rows of each segment."
)
sparse_segment_mean = chosen(
    1, FLOATS, "SparseSegmentMean", "segment_mean", "Mean of the selected rows of each segment."
)
sparse_segment_sqrt_n = chosen(
    2,
    FLOATS,
    "SparseSegmentSqrtN",
    "segment_sqrt_n",
    "Sum of the selected rows of each segment, divided by the square root of their number.",
)
