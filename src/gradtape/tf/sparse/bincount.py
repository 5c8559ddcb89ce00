"""tf.sparse.bincount: counts of the integers that occur, as a sparse tensor."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.convert import convert
from gradtape.core.dtypes import int64
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.primitive import Spec
from gradtape.core.ragged.tensor import RaggedTensor
from gradtape.core.shape_rule import FRESH, INT32, INT64
from gradtape.core.sparse_tensor import SparseTensor
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.graph.host_function import call_on_host
from gradtape.tf.array.creation import zeros_like
from gradtape.tf.array.reshape import reshape
from gradtape.tf.math.cast import cast
from gradtape.tf.sparse import index as sparse_index


def describe_counts(
    values: Tensor, rows: Tensor, weights: Any, shape: tuple[int, ...], most: Any, binary: bool
) -> tuple[Spec, Spec, Spec]:
    """Result rule of `count_integers`."""
    dtype = INT32 if weights is None else weights._array.dtype
    rank = len(shape)
    return Spec(((FRESH, rank), INT64)), Spec(((FRESH,), dtype)), Spec(((rank,), INT64))


@call_on_host(describe_counts)
def count_integers(
    values: Tensor, rows: Tensor, weights: Any, shape: tuple[int, ...], most: Any, binary: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """The kernel of `bincount`: indices, counts and dense shape.

    `shape` is (rows, least length), or (least length,) if all rows are counted together.
    """
    number, row = np.asarray(values._array), sparse_index.as_raw_integers(rows)
    weight = None if weights is None else np.asarray(weights._array)
    if number.min(initial=0) < 0:
        raise InvalidArgumentError(
            f"sparse.bincount: Input values must all be non-negative. Received {number.min()}."
        )
    width = max(shape[-1], int(number.max(initial=-1)) + 1)
    if most is not None:
        fits = number < most
        number, row = number[fits], row[fits]
        weight = None if weight is None else weight[fits]
        width = most
    occurring, group = np.unique(row * width + number, return_inverse=True)
    if binary:
        sums = np.ones(len(occurring), np.int32 if weight is None else weight.dtype)
    else:
        sums = np.bincount(group, weight, len(occurring)).astype(
            np.int32 if weight is None else weight.dtype
        )
    sizes = (*shape[:-1], width)
    if len(shape) > 1:
        places = np.stack([occurring // width, occurring % width], 1)
    else:
        places = occurring[:, None]
    return (
        sparse_index.make_int64_tensor(places),
        make_tensor(sums),
        sparse_index.make_int64_tensor(sizes),
    )


@public
def bincount(
    values: Any,
    weights: Any = None,
    axis: Any = 0,
    minlength: Any = None,
    maxlength: Any = None,
    binary_output: bool = False,
    name: str | None = None,
) -> SparseTensor:
    """The count of each integer, as a sparse tensor.

    Args:
        values: a tensor, SparseTensor or RaggedTensor of non-negative integers.
        weights: of the kind and shape of `values`.
        axis: 0 or None to count all, -1 to count in each row.
        minlength: the least length of the result.
        maxlength: the length of the result; larger integers are not counted.
        binary_output: whether to return 1, not the count, for each integer that occurs.
        name: has no effect here.

    Returns:
        A SparseTensor.

    Raises:
        ValueError: for another axis, weights of another kind, or weights with `binary_output`.
        InvalidArgumentError: for negative integers, or weights of another shape.
    """
    if axis not in (None, 0, -1):
        raise ValueError(f"sparse.bincount: axis must be 0, None or -1. Received {axis}.")
    if weights is not None and binary_output:
        raise ValueError(
            "sparse.bincount: Arguments `binary_output` and `weights` are mutually exclusive. "
            "Please specify only one."
        )
    given, rows, row_count = split_rows(values)
    flat = None if weights is None else match_weights(values, given, weights)
    by_row = axis == -1 and rows is not None
    own = rows if by_row else zeros_like(cast(given, int64))
    most = None if maxlength is None else int(maxlength)
    least = (row_count, int(minlength or 0)) if by_row else (int(minlength or 0),)
    found = count_integers(given, own, flat, least, most, bool(binary_output))
    if flat is None and given.dtype is int64:
        found = (found[0], cast(found[1], int64), found[2])
    return SparseTensor(*found)


def split_rows(values: Any) -> tuple[Tensor, Any, int]:
    """The integers as a vector, the row of each (None for a vector), and the number of rows."""
    if isinstance(values, SparseTensor):
        shape = sparse_index.as_raw_integers(values.dense_shape).tolist()
        return values.values, values.indices[:, 0] if len(shape) > 1 else None, shape[0]
    if isinstance(values, RaggedTensor):
        return values.flat_values, values.value_rowids(), int(values.nrows())
    given = convert(values)
    shape = list(given._array.shape)
    rows = None
    if len(shape) > 1:
        rows = make_tensor(np.repeat(np.arange(shape[0]), int(np.prod(shape[1:]))))
    return reshape(given, [-1]), rows, shape[0] if shape else 1


def match_weights(values: Any, given: Tensor, weights: Any) -> Tensor:
    """The weights as a vector, after a check of their kind and shape."""
    for kind in (SparseTensor, RaggedTensor):
        if isinstance(values, kind) != isinstance(weights, kind):
            raise ValueError(
                f"sparse.bincount: Argument `weights` must be a {kind.__name__} if and only if "
                f"`values` is one. Received {type(weights).__name__}."
            )
    if isinstance(weights, SparseTensor):
        flat = weights.values
    elif isinstance(weights, RaggedTensor):
        flat = weights.flat_values
    else:
        flat = reshape(convert(weights), [-1])
    if flat._array.shape != given._array.shape:
        raise InvalidArgumentError(
            "sparse.bincount: weights must have the shape of values. Received "
            f"{flat._array.shape[0]} weights for {given._array.shape[0]} values."
        )
    return flat
