"""tf.ragged_fill_empty_rows: a default value in each row that has none."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gradtape.core import dtypes
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.tensor import Tensor
from gradtape.graph.raw_function import apply_raw
from gradtape.tf.array.concat_split import concat
from gradtape.tf.array.gather import gather
from gradtape.tf.array.reshape import expand_dims
from gradtape.tf.math.elementwise import subtract
from gradtape.tf.math.reduce import reduce_sum


class RaggedFillEmptyRows(NamedTuple):
    """Rows and values without empty rows, which rows were empty, and where the values went."""

    output_value_rowids: Tensor
    output_values: Tensor
    empty_row_indicator: Tensor
    reverse_index_map: Tensor


class RaggedFillEmptyRowsGrad(NamedTuple):
    """Gradients of the values and of the default value."""

    d_values: Tensor
    d_default_value: Tensor


@public
def ragged_fill_empty_rows(
    value_rowids: Any, values: Any, nrows: Any, default_value: Any, name: str | None = None
) -> RaggedFillEmptyRows:
    """Insert `default_value` into each row of a ragged tensor that is empty.

    Args:
        value_rowids: the row of each value, an int64 vector.
        values: the values, a vector.
        nrows: the number of rows, an int64 scalar.
        default_value: a scalar of the dtype of `values`.
        name: has no effect here.

    Returns:
        A named tuple: the rows of all values, the values, for each row whether it was empty, and
        for each old value its new position.

    Raises:
        InvalidArgumentError: if a row is not in [0, nrows).
    """
    data = convert(values)
    rows, count = convert(value_rowids, dtypes.int64), convert(nrows, dtypes.int64)
    rowids, source, is_empty, positions = apply_raw(
        fill_rows, rows, count, dynamic=True, outputs=True
    )
    pool = concat([data, expand_dims(convert(default_value, data.dtype), 0)], 0)
    return RaggedFillEmptyRows(rowids, gather(pool, source), is_empty, positions)


def fill_rows(rows: Any, count: Any) -> tuple[Any, Any, Any, Any]:
    """Raw row ids, positions of the values in the input with the default behind it, and so on."""
    if count < 0 or (len(rows) and count == 0):
        raise InvalidArgumentError(
            f"ragged_fill_empty_rows: nrows must fit the row ids. Received {count}."
        )
    if len(rows) and (rows.min() < 0 or rows.max() >= count):
        bad = rows[(rows < 0) | (rows >= count)][0]
        raise InvalidArgumentError(
            f"ragged_fill_empty_rows: value_rowids must lie in [0, {count}). Received {bad}."
        )
    counts = np.bincount(rows, minlength=int(count))
    missing = np.flatnonzero(counts == 0)
    rowids = np.concatenate([rows, missing]).astype(np.int64)
    source = np.concatenate([np.arange(len(rows)), np.full(len(missing), len(rows))])
    order = np.argsort(rowids, kind="stable")
    positions = np.argsort(order, kind="stable")[: len(rows)]
    return rowids[order], source[order], counts == 0, positions


@public
def ragged_fill_empty_rows_grad(
    reverse_index_map: Any, grad_values: Any, name: str | None = None
) -> RaggedFillEmptyRowsGrad:
    """Gradients of `ragged_fill_empty_rows`.

    Args:
        reverse_index_map: the position of each value in the output.
        grad_values: the gradient of the output values.
        name: has no effect here.

    Returns:
        The gradients of the values and of the default value.
    """
    grads = convert(grad_values)
    d_values = gather(grads, convert(reverse_index_map, dtypes.int64))
    d_default = subtract(reduce_sum(grads), reduce_sum(d_values))
    return RaggedFillEmptyRowsGrad(d_values, d_default)
