"""Diagonals and bands of matrices."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from gradtape.core.argument import as_index
from gradtape.core.convert import convert, to_dimension_size, to_shape_tuple
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.primitive import Spec
from gradtape.core.shape_rule import BOOL, with_shape
from gradtape.core.size_constant import compute_constant
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.ops import elementwise as e
from gradtape.ops import shape as s
from gradtape.ops.linalg import diagonal as diagonal_ops
from gradtape.ops.reduce import reduce_sum
from gradtape.tf.array.dynamic_index import is_traced
from gradtape.tf.array.pad import pad_with_scalar
from gradtape.tf.public_op import (
    NUMBERS,
    check_dtype,
    check_same_dtype,
    convert_pair,
    convert_to_dtype,
)

DIAGONAL_ALIGNMENTS = ("LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT")


def as_matrices(op: str, value: Any) -> Tensor:
    """Convert an argument to a tensor of at least two axes."""
    x = convert(value)
    if x._array.ndim < 2:
        raise InvalidArgumentError(
            f"{op}: input must be at least 2-dim, received shape: {list(x._array.shape)}."
        )
    return x


def diagonal_offsets(k: Any, rows: int, columns: int, op: str) -> range:
    """Offsets of the diagonals that `k` selects, in ascending order."""
    given = to_shape_tuple(k)
    if len(given) not in (1, 2):
        raise InvalidArgumentError(f"{op}: diag_index must have 1 or 2 entries. Received {given}.")
    low, high = given[0], given[-1]
    for name, offset in (("lower_diag_index", low), ("upper_diag_index", high)):
        if not (-rows < offset < columns or offset == 0):
            raise InvalidArgumentError(
                f"{op}: {name} is out of bound: {offset}. It must be between {-rows} and {columns}."
            )
    if low > high:
        raise InvalidArgumentError(
            f"{op}: lower_diag_index must not be larger than upper_diag_index: {low} > {high}."
        )
    return range(low, high + 1)


def is_right_aligned(offset: int, align: str) -> bool:
    """Whether a diagonal shorter than the longest is aligned to the right of its row."""
    superdiagonal, subdiagonal = align.split("_")
    return (superdiagonal if offset >= 0 else subdiagonal) == "RIGHT"


def check_align(align: str) -> None:
    """Raise unless `align` is one of `DIAGONAL_ALIGNMENTS`."""
    if align not in DIAGONAL_ALIGNMENTS:
        raise InvalidArgumentError(
            f"diag: align must be one of {', '.join(DIAGONAL_ALIGNMENTS)}. Received {align!r}."
        )


@public
def diag_part(
    input: Any,
    name: str = "diag_part",
    k: Any = 0,
    padding_value: Any = 0,
    align: str = "RIGHT_LEFT",
) -> Tensor:
    """Diagonals of matrices.

    Args:
        input: (..., m, n).
        name: has no effect here.
        k: the offset of a diagonal, or the lowest and the highest of several.
        padding_value: fills up diagonals that are shorter than the longest.
        align: the alignment of shorter super- and subdiagonals, such as "RIGHT_LEFT".

    Returns:
        (..., length), or (..., number, length) for several, from the highest offset down.

    Example:
        >>> tf.linalg.diag_part([[1, 2], [3, 4]]).numpy()
        array([1, 4], dtype=int32)
    """
    x = as_matrices("diag_part", input)
    check_align(align)
    rows, columns = x._array.shape[-2:]
    offsets = diagonal_offsets(k, rows, columns, "diag_part")
    longest = max(diagonal_ops.diagonal_length(rows, columns, d) for d in offsets)
    blank = not is_traced(padding_value) and not np.any(convert(padding_value)._array)
    value = (
        make_tensor(x._array.dtype.type(0)) if blank else convert_to_dtype(padding_value, x.dtype)
    )
    found = []
    for d in reversed(offsets):
        one = diagonal_ops.diagonal(x, offset=d)
        gap = longest - diagonal_ops.diagonal_length(rows, columns, d)
        if gap:
            ends = (gap, 0) if is_right_aligned(d, align) else (0, gap)
            one = pad_with_scalar(one, (ends,), value)
        found.append(one)
    return found[0] if len(found) == 1 else s.stack(*found, axis=-2)


def make_band_matrices(d: Tensor, offsets: range, rows: int, columns: int, align: str) -> Any:
    """Make matrices (..., rows, columns) with the rows of `d` on diagonals, and zeros elsewhere."""
    total = None
    several = len(offsets) > 1
    for row, offset in enumerate(reversed(offsets)):
        one = s.index_axis(s.swap(d), axis=-1, i=row) if several else d
        length = diagonal_ops.diagonal_length(rows, columns, offset)
        gap = one._array.shape[-1] - length
        if gap:
            start = gap if several and is_right_aligned(offset, align) else 0
            one = s.slice_axis(one, axis=-1, start=start, size=length)
        part = diagonal_ops.place_diagonal(one, rows=rows, columns=columns, offset=offset)
        total = part if total is None else e.add(total, part)
    return total


@with_shape(lambda first, last, rows, columns: Spec(((rows, columns), BOOL)))
def mask_diagonals(first: int, last: int, rows: int, columns: int) -> Any:
    """Mask (rows, columns) of the diagonals with the offsets `first` to `last`."""
    distance = np.arange(columns) - np.arange(rows)[:, None]
    return (distance >= first) & (distance <= last)


@public
def diag(
    diagonal: Any,
    name: str = "diag",
    k: Any = 0,
    num_rows: int = -1,
    num_cols: int = -1,
    padding_value: Any = 0,
    align: str = "RIGHT_LEFT",
) -> Tensor:
    """Matrices with given diagonals.

    Args:
        diagonal: (..., length), or (..., number, length) for several diagonals, from the highest
            offset down.
        name: has no effect here.
        k: the offset of the diagonal, or the lowest and the highest of several.
        num_rows: the number of rows; as few as possible if -1.
        num_cols: the number of columns; as few as possible if -1.
        padding_value: the value outside of the diagonals.
        align: the alignment of shorter super- and subdiagonals, such as "RIGHT_LEFT".

    Returns:
        Matrices (..., rows, columns).

    Example:
        >>> tf.linalg.diag([1, 2]).numpy()
        array([[1, 0],
               [0, 2]], dtype=int32)
    """
    d = convert(diagonal)
    if d._array.ndim < 1:
        raise InvalidArgumentError("diag: diagonal must be at least 1-dim, received a scalar.")
    check_align(align)
    given = to_shape_tuple(k)
    low, high = given[0], given[-1]
    length = d._array.shape[-1]
    least_rows, least_cols = length - min(high, 0), length + max(low, 0)
    rows = to_dimension_size(num_rows)
    columns = to_dimension_size(num_cols)
    if rows == -1 and columns == -1:
        rows = columns = max(least_rows, least_cols)
    rows = least_rows if rows == -1 else rows
    columns = least_cols if columns == -1 else columns
    offsets = diagonal_offsets(k, rows, columns, "diag")
    longest = max(diagonal_ops.diagonal_length(rows, columns, o) for o in offsets)
    number = d._array.shape[-2] if len(offsets) > 1 and d._array.ndim > 1 else 1
    if number != len(offsets) or longest != length:
        raise InvalidArgumentError(
            f"diag: diagonal must hold {len(offsets)} diagonals of length {longest} for k = "
            f"{list(given)} and matrices of shape {[rows, columns]}. Received shape "
            f"{list(d._array.shape)}."
        )
    out = make_band_matrices(d, offsets, rows, columns, align)
    if not is_traced(padding_value) and not np.any(convert(padding_value)._array):
        return out
    value = convert_to_dtype(padding_value, d.dtype)
    return e.select(
        compute_constant(mask_diagonals, offsets[0], offsets[-1], rows, columns), out, value
    )


@public
def set_diag(
    input: Any, diagonal: Any, name: str = "set_diag", k: Any = 0, align: str = "RIGHT_LEFT"
) -> Tensor:
    """`input` with some diagonals replaced; see `diag` for `k` and `align`.

    Args:
        input: matrices (..., m, n).
        diagonal: the new elements, as for `diag`.
        name: has no effect here.
        k: the offset of the diagonal, or the lowest and the highest of several.
        align: the alignment of shorter diagonals.

    Returns:
        A tensor like `input`.

    Example:
        >>> tf.linalg.set_diag([[1, 2], [3, 4]], [0, 0]).numpy()
        array([[0, 2],
               [3, 0]], dtype=int32)
    """
    x, d = convert_pair(as_matrices("set_diag", input), diagonal)
    check_same_dtype("MatrixSetDiagV3", x, d)
    check_align(align)
    shape = x._array.shape
    rows, columns = shape[-2:]
    offsets = diagonal_offsets(k, rows, columns, "set_diag")
    longest = max(diagonal_ops.diagonal_length(rows, columns, o) for o in offsets)
    wanted = shape[:-2] + ((len(offsets),) if len(offsets) > 1 else ()) + (longest,)
    if d._array.shape != wanted:
        raise InvalidArgumentError(
            f"set_diag: the diagonal must have shape {list(wanted)}. Received "
            f"{list(d._array.shape)}."
        )
    return e.select(
        compute_constant(mask_diagonals, offsets[0], offsets[-1], rows, columns),
        make_band_matrices(d, offsets, rows, columns, align),
        x,
    )


@public
def band_part(input: Any, num_lower: Any, num_upper: Any, name: str | None = None) -> Tensor:
    """`input` with zeros outside of a band around the main diagonal.

    The band has `num_lower` subdiagonals and `num_upper` superdiagonals; -1 means all.

    Args:
        input: matrices (..., m, n).
        num_lower: the number of subdiagonals to keep; -1: all.
        num_upper: the number of superdiagonals to keep; -1: all.
        name: has no effect here.

    Returns:
        A tensor like `input`.

    Example:
        >>> tf.linalg.band_part([[1, 2], [3, 4]], 0, -1).numpy()
        array([[1, 2],
               [0, 4]], dtype=int32)
    """
    x = as_matrices("band_part", input)
    lower, upper = as_index(num_lower, "num_lower"), as_index(num_upper, "num_upper")
    rows, columns = x._array.shape[-2:]
    if lower > rows or upper > columns:
        raise InvalidArgumentError(
            f"band_part: num_lower must be negative or at most {rows}, and num_upper at most "
            f"{columns}. Received {lower} and {upper}."
        )
    return diagonal_ops.keep_band(x, lower=lower, upper=upper)


@public
def trace(x: Any, name: str | None = None) -> Tensor:
    """Sum of the main diagonal.

    Args:
        x: matrices (..., m, n).
        name: has no effect here.

    Returns:
        A tensor (...,).

    Example:
        >>> tf.linalg.trace([[1, 2], [3, 4]]).numpy()
        np.int32(5)
    """
    matrices = check_dtype("Sum", as_matrices("trace", x), NUMBERS)
    return reduce_sum(diagonal_ops.diagonal(matrices), axis=(-1,), keepdims=False)


@public
def tensor_diag(diagonal: Any, name: str | None = None) -> Tensor:
    """Tensor of shape (*s, *s), zero except for out[i, i] = diagonal[i] at each multi-index i.

    Args:
        diagonal: a tensor of shape s.
        name: has no effect here.

    Returns:
        A tensor of twice the rank.

    Example:
        >>> tf.linalg.tensor_diag([1, 2]).numpy()
        array([[1, 0],
               [0, 2]], dtype=int32)
    """
    d = convert(diagonal)
    shape = d._array.shape
    if not shape:
        raise InvalidArgumentError("tensor_diag: Input must be at least rank 1, got 0.")
    n = prod(shape)
    matrix = diagonal_ops.place_diagonal(
        s.reshape(d, shape=(n,), rank=len(shape)), rows=n, columns=n
    )
    return s.reshape(matrix, shape=shape + shape, rank=2)


@public
def tensor_diag_part(input: Any, name: str | None = None) -> Tensor:
    """Tensor of shape s with out[i] = input[i, i], for `input` of shape (*s, *s).

    Args:
        input: a tensor of shape (*s, *s).
        name: has no effect here.

    Returns:
        A tensor of half the rank.

    Example:
        >>> tf.linalg.tensor_diag_part([[1, 0], [0, 2]]).numpy()
        array([1, 2], dtype=int32)
    """
    x = convert(input)
    shape = x._array.shape
    half = shape[: len(shape) // 2]
    if len(shape) % 2 or not shape or shape != half + half:
        raise InvalidArgumentError(
            f"tensor_diag_part: the shape must consist of two equal halves. Received {list(shape)}."
        )
    n = prod(half)
    return s.reshape(
        diagonal_ops.diagonal(s.reshape(x, shape=(n, n), rank=len(shape))), shape=half, rank=1
    )
