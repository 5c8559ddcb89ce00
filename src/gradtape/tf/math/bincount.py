"""Counts of values: tf.math.bincount, confusion matrices and histograms."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.convert import convert, to_dimension_size
from gradtape.core.dtypes import as_dtype
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.open_shape import broadcast_shapes
from gradtape.core.primitive import Spec
from gradtape.core.shape_rule import INT64, broadcast_pair, with_shape
from gradtape.core.tensor import Tensor
from gradtape.graph.raw_function import apply_raw, compute_integer
from gradtape.ops import segment, xla_lowering
from gradtape.ops.gather_scatter import scatter_add
from gradtape.ops.shape import reshape, shape_of, slice_axis
from gradtape.ops.xla_lowering import on_jax
from gradtape.tf.array.creation import make_full
from gradtape.tf.array.reshape import squeeze
from gradtape.tf.math.cast import cast
from gradtape.tf.public_op import FULL_FLOATS, INDICES, REAL, check_dtype


@public
def bincount(
    arr: Any,
    weights: Any = None,
    minlength: Any = None,
    maxlength: Any = None,
    dtype: Any = dtypes.int32,
    name: str | None = None,
    axis: Any = None,
    binary_output: bool = False,
) -> Tensor:
    """Number of occurrences of each integer.

    Args:
        arr: non-negative integers.
        weights: the weight of each entry; ones if None.
        minlength: the smallest number of bins.
        maxlength: the largest number of bins; integers beyond it are not counted.
        dtype: the dtype of the counts, if there are no weights.
        name: ignored.
        axis: -1 to count in each row of a matrix; None or 0 to count all elements.
        binary_output: whether to return 1 for each integer that occurs, instead of its count.

    Returns:
        Bins (n,), or (rows, n).

    Example:
        >>> tf.math.bincount([1, 1, 3]).numpy()
        array([0, 2, 0, 1], dtype=int32)
    """
    values = as_bincount_input(arr)
    size = bincount_size(values, minlength, maxlength)
    if axis is not None and axis not in (0, -1):
        raise ValueError(f"bincount: Unsupported value for argument axis={axis}. Use 0 or -1.")
    own = shape_of(values)
    rows = axis == -1 and len(own) == 2
    lines = own[0] if rows else 1
    ids = apply_raw(assign_bins, values, lines, size)
    shape = (lines, size) if rows else (size,)
    return fill_bins(ids, own, shape, weights, dtype, binary_output)


def as_bincount_input(arr: Any) -> Tensor:
    """Convert to a tensor of int32 or int64."""
    values = convert(arr)
    if not values.dtype.is_integer:
        values = cast(values, dtypes.int32)
    return check_dtype("DenseBincount", values, INDICES, "Tidx")


def bincount_size(values: Tensor, minlength: Any, maxlength: Any) -> int:
    """The number of bins."""
    least = 0 if minlength is None else int(convert(minlength)._array)
    most = None if maxlength is None else int(convert(maxlength)._array)
    return least if least == most else compute_integer(count_bins, values, least, most)


def count_by_row(
    arr: Any,
    rows: Tensor,
    lines: int,
    weights: Any,
    minlength: Any,
    maxlength: Any,
    dtype: Any,
    binary_output: bool,
) -> Tensor:
    """Number of occurrences of each integer of a vector, for each of `lines` rows."""
    values = as_bincount_input(arr)
    size = bincount_size(values, minlength, maxlength)
    ids = apply_raw(assign_bins_by_row, values, rows, size)
    return fill_bins(ids, shape_of(values), (lines, size), weights, dtype, binary_output)


@with_shape(broadcast_pair)
def assign_bins_by_row(numbers: Any, rows: Any, size: int) -> Any:
    """Assign each raw integer its bin; integers >= `size` go to an extra bin of their row."""
    return np.minimum(numbers, size) + (size + 1) * rows


def fill_bins(
    ids: Tensor,
    own: tuple[int, ...],
    shape: tuple[int, ...],
    weights: Any,
    dtype: Any,
    binary_output: bool,
) -> Tensor:
    """Count the `ids`, or sum their weights, in bins of `shape`."""
    size, lines = shape[-1], prod(shape[:-1])
    if weights is None or binary_output:
        what = convert(weights).dtype if weights is not None else as_dtype(dtype)
        counts: Tensor = apply_raw(
            count_ids, ids, shape, binary_output, np.dtype(what.as_numpy_dtype)
        )
        return counts
    share = check_dtype("DenseBincount", convert(weights), INDICES | FULL_FLOATS)
    if shape_of(share) != own:
        raise InvalidArgumentError(
            f"DenseBincount: weights must have the shape of arr. Received {share.shape} for "
            f"{list(own)}."
        )
    share = reshape(share, shape=(prod(own),), rank=share.ndim)
    bins = scatter_add(share, ids, axis=-1, size=lines * (size + 1))
    bins = slice_axis(reshape(bins, shape=(lines, size + 1), rank=1), axis=-1, start=0, size=size)
    return reshape(bins, shape=shape, rank=2)


@on_jax(xla_lowering.lower_count_bins)
def count_bins(numbers: Any, least: int, most: int | None) -> int:
    """Number of bins that raw integers need, between `least` and `most`."""
    check_bincount_input(numbers)
    size = max(int(numbers.max()) + 1 if numbers.size else 0, least)
    size = size if most is None else min(size, most)
    if size < 0:
        raise InvalidArgumentError(
            f"DenseBincount: size ({size}) must be non-negative. Raise maxlength."
        )
    return size


def check_bincount_input(numbers: Any) -> None:
    """Raise if a raw number is negative."""
    if (np.asarray(numbers) < 0).any():
        raise InvalidArgumentError("DenseBincount: Input arr must be non-negative! Clip it first.")


@with_shape(lambda numbers, lines, size: Spec(((prod(numbers.shape),), INT64)))
@on_jax(xla_lowering.lower_assign_bins)
def assign_bins(numbers: Any, lines: int, size: int) -> Any:
    """Assign each raw integer its bin, row by row; integers >= `size` go to an extra bin."""
    check_bincount_input(numbers)
    flat = numbers.reshape(lines, numbers.size // max(lines, 1))
    return (np.minimum(flat, size) + (size + 1) * np.arange(lines)[:, None]).ravel()


@with_shape(lambda ids, shape, binary, dtype: Spec((shape, np.dtype(dtype))))
@on_jax(xla_lowering.lower_count_ids)
def count_ids(ids: Any, shape: tuple[int, ...], binary: bool, dtype: Any) -> Any:
    """Count raw ids in each bin, without the extra bin of each row."""
    size = shape[-1]
    lines = prod(shape[:-1])
    bins = np.bincount(ids, minlength=lines * (size + 1)).reshape(lines, size + 1)[:, :size]
    return (np.minimum(bins, 1) if binary else bins).astype(dtype).reshape(shape)


@public
def confusion_matrix(
    labels: Any,
    predictions: Any,
    num_classes: Any = None,
    weights: Any = None,
    dtype: Any = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """Number of times each class was predicted for each label.

    Args:
        labels: integers (n,).
        predictions: integers (n,).
        num_classes: the number of rows and columns; the largest class plus one if None.
        weights: the weight of each pair; ones if None.
        dtype: the dtype of the result.
        name: ignored.

    Returns:
        A matrix with labels as rows and predictions as columns.

    Example:
        >>> tf.math.confusion_matrix([0, 1, 1], [0, 1, 0]).numpy()
        array([[1, 0],
               [1, 1]], dtype=int32)
    """
    rows, columns = (cast(convert(v), dtypes.int64) for v in (labels, predictions))
    if rows.ndim == columns.ndim + 1 and shape_of(rows)[-1] == 1:
        rows = squeeze(rows, [-1])
    elif columns.ndim == rows.ndim + 1 and shape_of(columns)[-1] == 1:
        columns = squeeze(columns, [-1])
    own = shape_of(rows)
    if own != shape_of(columns):
        raise (ValueError if rows.ndim == columns.ndim else InvalidArgumentError)(
            f"confusion_matrix: Shapes of all inputs must match: labels {own}, "
            f"predictions {shape_of(columns)}."
        )
    if num_classes is None:
        size = compute_integer(count_classes, rows, columns)
    else:
        size = to_dimension_size(num_classes)
    cells = apply_raw(flatten_pairs, rows, columns, size)
    wanted = as_dtype(dtype)
    share = make_full(own, 1, wanted) if weights is None else cast(convert(weights), wanted)
    if shape_of(share) != own:
        raise ValueError(
            f"confusion_matrix: weights must have the shape of predictions. Received {share.shape}."
        )
    share = reshape(share, shape=(prod(own),), rank=share.ndim)
    total = scatter_add(share, cells, axis=-1, size=size * size)
    return reshape(total, shape=(size, size), rank=1)


def count_classes(*numbers: Any) -> int:
    """Number of classes: the largest raw integer plus one."""
    return max((int(n.max()) for n in numbers if n.size), default=-1) + 1


def flatten_pairs_spec(rows: Any, columns: Any, size: int) -> Any:
    """Spec of the result of `flatten_pairs`."""
    count = prod(broadcast_shapes(rows.shape, columns.shape))
    return Spec(((count,), np.result_type(rows.dtype, columns.dtype)))


@with_shape(flatten_pairs_spec)
@on_jax(xla_lowering.lower_flatten_pairs)
def flatten_pairs(rows: Any, columns: Any, size: int) -> Any:
    """Convert raw pairs (row, column) to positions in a flat matrix, after a check of the range."""
    for what, numbers in (("labels", rows), ("predictions", columns)):
        if (np.asarray(numbers) < 0).any():
            raise InvalidArgumentError(f"confusion_matrix: `{what}` contains negative values.")
        if (np.asarray(numbers) >= size).any():
            raise InvalidArgumentError(
                f"confusion_matrix: `{what}` out of bound: they must be below {size}. Raise "
                "num_classes."
            )
    return np.ravel(rows * size + columns)


@public
def histogram_fixed_width_bins(
    values: Any,
    value_range: Any,
    nbins: Any = 100,
    dtype: Any = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """The bin of each value, for bins of equal width; outliers go to the first or last bin.

    Args:
        values: a tensor of real numbers.
        value_range: the lower and upper end of the bins.
        nbins: the number of bins.
        dtype: the dtype of the result.
        name: ignored.

    Returns:
        Integers of the shape of `values`.
    """
    tensor = check_dtype("HistogramFixedWidth", convert(values), REAL)
    limits = convert(value_range, tensor.dtype)
    kind = as_dtype(dtype).as_numpy_dtype
    result: Tensor = apply_raw(assign_equal_bins, tensor, limits, int(convert(nbins)._array), kind)
    return result


@with_shape(lambda values, limits, count, kind: Spec((values.shape, np.dtype(kind))))
@on_jax(xla_lowering.lower_assign_equal_bins)
def assign_equal_bins(values: Any, limits: Any, count: int, kind: Any) -> Any:
    """Assign raw values to `count` bins of equal width between two limits."""
    if limits.shape != (2,) or not limits[0] < limits[1] or count < 1:
        raise InvalidArgumentError(
            f"histogram_fixed_width: value_range must be two increasing numbers, nbins positive. "
            f"Received {limits.tolist()} and {count}."
        )
    if not np.isfinite(np.asarray(values, np.float64)).all():
        raise InvalidArgumentError("histogram_fixed_width: values must be finite.")
    low, high = (np.float64(v) for v in limits)
    scaled = (np.asarray(values, np.float64) - low) / (high - low)
    return np.clip(np.floor(scaled * count), 0, count - 1).astype(kind)


@public
def histogram_fixed_width(
    values: Any,
    value_range: Any,
    nbins: Any = 100,
    dtype: Any = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """Number of values in each of `nbins` bins of equal width.

    Args:
        values: a tensor of real numbers.
        value_range: the lower and upper end of the bins.
        nbins: the number of bins.
        dtype: the dtype of the result.
        name: ignored.

    Returns:
        Integers (nbins,).
    """
    bins = histogram_fixed_width_bins(values, value_range, nbins, dtypes.int64)
    count = to_dimension_size(nbins)
    result: Tensor = apply_raw(count_in_bins, bins, count, as_dtype(dtype).as_numpy_dtype)
    return result


@with_shape(lambda bins, count, dtype: Spec(((count,), np.dtype(dtype))))
@on_jax(xla_lowering.lower_count_in_bins)
def count_in_bins(bins: Any, count: int, dtype: Any) -> Any:
    """Count how often each of `count` bins occurs."""
    return segment.count_segment_rows(bins, count, dtype)
