"""tf.ragged functions that convert row splits and segment ids, and group rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.primitive import Spec
from gradtape.core.ragged import row_splits
from gradtape.core.ragged.conversion import as_ragged_or_tensor, ragged_from_splits
from gradtape.core.ragged.tensor import RaggedTensor
from gradtape.core.shape_rule import INT64, with_shape
from gradtape.core.tensor import Tensor
from gradtape.graph.raw_function import apply_raw, compute_integer
from gradtape.tf.array.reshape import reshape
from gradtape.tf.math.cast import cast
from gradtape.tf.ragged.conversion import (
    as_partition_vector,
    from_value_rowids,
    outer_size_of,
)
from gradtape.tf.ragged.shape import check_same_splits


@public
def row_splits_to_segment_ids(splits: Any, name: str | None = None, out_type: Any = None) -> Tensor:
    """For each value, the number of its row.

    Args:
        splits: row splits.
        name: has no effect here.
        out_type: int32 or int64.

    Returns:
        An integer vector.

    Example:
        >>> tf.ragged.row_splits_to_segment_ids([0, 2, 3]).numpy()
        array([0, 0, 1])
    """
    given = as_partition_vector("row_splits_to_segment_ids", "splits", splits)
    ids: Tensor = apply_raw(row_splits.rowids_of, given, dynamic=True)
    return ids if out_type is None else cast(ids, out_type)


@public
def segment_ids_to_row_splits(
    segment_ids: Any, num_segments: Any = None, out_type: Any = None, name: str | None = None
) -> Tensor:
    """Row splits from the row number of each value.

    Args:
        segment_ids: row numbers, in ascending order.
        num_segments: the number of rows, or None.
        out_type: int32 or int64.
        name: has no effect here.

    Returns:
        An integer vector.

    Example:
        >>> tf.ragged.segment_ids_to_row_splits([0, 0, 1]).numpy()
        array([0, 2, 3])
    """
    splits = from_value_rowids(segment_ids, num_segments, validate=False).row_splits()
    return splits if out_type is None else cast(splits, out_type)


@public
def stack_dynamic_partitions(
    data: Any, partitions: Any, num_partitions: Any, name: str | None = None
) -> RaggedTensor:
    """Group the slices of `data` into rows: slice `i` is appended to row `partitions[i]`.

    `partitions` may have more axes, with which the shape of `data` begins; `i` is then an index.

    Args:
        data: a tensor.
        partitions: a row number for each slice.
        num_partitions: the number of rows.
        name: has no effect here.

    Returns:
        A RaggedTensor.
    """
    values, numbers = as_ragged_or_tensor(data), as_ragged_or_tensor(partitions)
    values, numbers = flatten_partitions(values, numbers)
    ids = as_partition_vector("stack_dynamic_partitions", "partitions", numbers)
    count = compute_integer(np.asarray, convert(num_partitions))
    if ids._array.shape[0] != outer_size_of(values):
        raise ValueError(
            "stack_dynamic_partitions: partitions must be as long as data. Received "
            f"{ids._array.shape[0]} and {outer_size_of(values)}."
        )
    order, splits = apply_raw(group_by_partition, ids, count, outputs=True)
    from gradtape.tf.ragged.gather_slice import gather_first_axis

    kind = ids.dtype
    if isinstance(as_ragged_or_tensor(data), RaggedTensor):
        kind = dtypes.int64
    return ragged_from_splits(gather_first_axis(values, order), cast(splits, kind))


def flatten_partitions(values: Any, numbers: Any) -> tuple[Any, Any]:
    """Merge the axes of `numbers` to one, in both, so that they are a vector of partitions."""
    while isinstance(numbers, RaggedTensor):
        if not isinstance(values, RaggedTensor):
            raise InvalidArgumentError(
                "stack_dynamic_partitions: data must be ragged like partitions. Received "
                f"{type(values).__name__}."
            )
        check_same_splits("stack_dynamic_partitions", values.row_splits, numbers.row_splits)
        values, numbers = values.values, numbers.values
    rank = numbers._array.ndim
    if rank == 1:
        return values, numbers
    if isinstance(values, RaggedTensor):
        return values.merge_dims(0, rank - 1), reshape(numbers, [-1])
    if values._array.shape[:rank] != numbers._array.shape:
        raise ValueError(
            "stack_dynamic_partitions: the shape of data must begin with that of partitions. "
            f"Received {list(values._array.shape)} and {list(numbers._array.shape)}."
        )
    inner = list(values._array.shape[rank:])
    return reshape(values, [-1, *inner]), reshape(numbers, [-1])


@with_shape(lambda ids, count: [Spec((ids.shape, INT64)), Spec(((count + 1,), INT64))])
def group_by_partition(ids: Any, count: int) -> tuple[Any, Any]:
    """A stable order that sorts raw row ids, and the splits of the rows."""
    if ids.size and (ids.min() < 0 or ids.max() >= count):
        raise InvalidArgumentError(
            f"stack_dynamic_partitions: partitions must lie in [0, {count}). Received "
            f"{ids.tolist()}."
        )
    order = np.argsort(ids, kind="stable")
    return order, row_splits.splits_from_rowids(ids[order].astype(np.int64), count)
