"""Moments along axes and standardisation, for batch and layer normalisation.

NumPy is slow at broadcasting a short vector over many rows and at summing rows. So a large array is
viewed as a matrix (`find_matrix_layout`): sums are products with a vector of ones, short rows are
merged into long ones, and all passes over a block run while it is in the cache.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from gradtape.core.blas_thread import run_sum
from gradtape.core.dtypes import accumulator
from gradtape.core.primitive import elementwise, primitive
from gradtape.core.shape_rule import lead_axes
from gradtape.ops.cache_block import block_slices
from gradtape.ops.reduce import (
    MAX_DOT_LENGTH,
    Axes,
    broadcast_to,
    count_reduced_elements,
    reduce_sum,
    reduced_shape,
    unbroadcast,
)
from gradtape.ops.shape import reshape

BLOCKS_MIN_SIZE = 1 << 17  # elements from which computing in blocks is faster
ROW_WIDTH, LONG_ROW_WIDTH = (
    1024,
    8192,
)  # row lengths; `LONG_ROW_WIDTH`, NumPy's buffer size, from `LONG_ROWS_MIN_SIZE` elements on
LONG_ROWS_MIN_SIZE = 1 << 20
BLOCK = 1 << 18
MAX_SQUARED_MEAN = 16  # largest mean² / variance for which the shorter formula is as accurate
VECDOT_MIN_WIDTH = 64  # row length from which `np.vecdot` is the fastest dot product of rows

Shape = tuple[int, ...]


class MatrixLayout(NamedTuple):
    """View of a large array as a matrix, against which operands of one shape broadcast."""

    height: int
    width: int
    by_columns: bool  # whether operands are columns; otherwise they are rows, tiled to the width
    size: int  # number of elements of an operand

    def row_slices(self) -> Iterator[slice]:
        """Slices of rows, one per block."""
        return block_slices(self.height, self.width, BLOCK)

    def lay_operand(self, operand: Any) -> Any:
        """Reshape an operand to a column, or tile it to a row, to broadcast against the matrix."""
        flat = operand.reshape(-1)
        if self.by_columns:
            return flat.reshape(-1, 1)
        return np.tile(flat, self.width // self.size).reshape(1, -1)

    def iter_blocks(self, *operands: Any) -> Any:
        """Iterate over slices of rows, each with the matching part of the laid operands."""
        for span in self.row_slices():
            yield span, *(o[span] if self.by_columns else o for o in operands)

    def sum_all_blocks(self, rows: Any, middle: Any = None, pulls: Any = None) -> Any:
        """Sum `rows` over all elements that broadcast against the same element of an operand.

        Args:
            rows: the matrix.
            middle: a laid operand to subtract from `rows` first.
            pulls: a matrix to multiply by, or True for the square.
        """
        totals, work = [], None
        for span in self.row_slices():
            block = rows[span]
            if work is None:
                work = np.empty(block.shape, block.dtype)  # stays in the cache
            room = work[: len(block)]
            if middle is not None:
                block = np.subtract(block, middle[span] if self.by_columns else middle, out=room)
            if pulls is None:
                totals.append(self.sum_block(block))
            else:
                totals.append(
                    self.sum_block_product(block, block if pulls is True else pulls[span], room)
                )
        if self.by_columns:
            return np.concatenate(totals)
        total = np.add.reduce(totals, 0, float).reshape(-1, self.size)
        return np.add.reduce(total, 0).astype(rows.dtype)

    def sum_block(self, block: Any) -> Any:
        """Sum one block along its rows, or over them."""
        ones = np.ones(block.shape[self.by_columns], block.dtype)
        return np.dot(block, ones) if self.by_columns else np.dot(ones, block)

    def sum_block_product(self, block: Any, other: Any, room: Any) -> Any:
        """Sum the product of two blocks; `room` is a buffer for it."""
        if self.by_columns and self.width >= VECDOT_MIN_WIDTH:
            return np.vecdot(block, other)
        return self.sum_block(np.multiply(block, other, out=room))


def find_matrix_layout(x: Any, *shapes: Shape) -> MatrixLayout | None:
    """Find the layout for `x` and operands of `shapes`; None if `x` is small or none fits.

    Operands that vary along the last axes are rows; those that vary along the first are columns.
    """
    if type(x) is not np.ndarray or x.size < BLOCKS_MIN_SIZE or x.dtype.char not in "fd":
        return None
    return fit_matrix_layout(x.shape, shapes)


@lru_cache(maxsize=1024)
def fit_matrix_layout(full: Shape, shapes: tuple[Shape, ...]) -> MatrixLayout | None:
    """Find the layout of a large array of shape `full`."""
    found = {(1,) * (len(full) - len(shape)) + shape for shape in shapes}
    if len(found) != 1:
        return None
    (shape,) = found
    if len(shape) > len(full) or any(n not in (1, m) for n, m in zip(shape, full, strict=True)):
        return None
    varies = [n == m for n, m in zip(shape, full, strict=True) if m > 1]
    size, rest = prod(shape), prod(full) // prod(shape)
    if varies == sorted(varies) and rest > 1:
        wide = LONG_ROW_WIDTH if size * rest >= LONG_ROWS_MIN_SIZE else ROW_WIDTH
        times = min(rest & -rest, 1 << max(wide // size, 1).bit_length() - 1)
        return MatrixLayout(rest // times, size * times, False, size)
    if varies == sorted(varies, reverse=True) and 1 < rest <= MAX_DOT_LENGTH:
        return MatrixLayout(size, rest, True, size)
    return None


def is_mean_small(mean: Any, variance: Any) -> bool:
    """Whether means are so small that subtracting them later loses no digits."""
    return not is_scalar_zero(mean) and bool(np.all(mean * mean <= MAX_SQUARED_MEAN * variance))


def is_scalar_zero(operand: Any) -> bool:
    """Whether an operand is the scalar zero, and so may be omitted."""
    return not operand.shape and operand == 0


def standardize_wrt_mean(g, mean_spec, factor, factor_spec, out_spec):
    """Sum first: `factor` is constant along the summed axes, so the product is small."""
    shape = joint_shape_of(mean_spec.shape, factor_spec.shape)
    return -unbroadcast(g, shape, 0, g, out_spec.shape) * factor


def joint_shape_of(a: Shape, b: Shape) -> Shape:
    """The shape to which two shapes broadcast."""
    return np.broadcast_shapes(a, b)


def standardize_wrt_factor(g, x, mean, factor_spec, out_spec):
    return sum_centered_product(g, x, mean, shape=factor_spec.shape, rank=len(out_spec.shape))


def standardize_wrt_x(g, x_spec, factor):
    zero = x_spec.dtype.type(0)
    return standardize(g, zero, factor, zero, zero)


@elementwise(
    x=standardize_wrt_x,
    mean=standardize_wrt_mean,
    factor=standardize_wrt_factor,
    offset=lambda g: g,
    variance=None,
    new_arrays=True,
)
def standardize(x, mean, factor, offset, variance):
    """(x - mean) * factor + offset.

    `variance`, that of `x`, only selects the more accurate formula; zero if it is unknown.
    """
    operands = [o.shape for o in (mean, factor, offset) if o is factor or not is_scalar_zero(o)]
    layout = find_matrix_layout(x, *operands)
    if layout is None:
        out = x if is_scalar_zero(mean) else x - mean
        out = out * factor
        return out if is_scalar_zero(offset) else out + offset
    if not is_scalar_zero(offset) and is_mean_small(mean, variance):
        mean, offset = x.dtype.type(0), offset - mean * factor
    return standardize_in_blocks(layout, x, mean, factor, offset)


@standardize.lower
def lower_standardize(x, mean, factor, offset, variance):
    return (x - mean) * factor + offset


def standardize_in_blocks(layout: MatrixLayout, x: Any, mean: Any, factor: Any, offset: Any) -> Any:
    """Compute `standardize` in blocks."""
    out = np.empty(x.shape, x.dtype)
    rows, results = (a.reshape(layout.height, layout.width) for a in (x, out))
    moved, shifted = not is_scalar_zero(mean), not is_scalar_zero(offset)
    used = ((mean, moved), (factor, True), (offset, shifted))
    laid = [layout.lay_operand(o) for o, wanted in used if wanted]
    if len(laid) == 1:
        np.multiply(rows, laid[0], out=results)
        return out
    for span, *operands in layout.iter_blocks(*laid):
        block, result = rows[span], results[span]
        if moved:
            block = np.subtract(block, operands[0], out=result)
        np.multiply(block, operands[moved], out=result)
        if shifted:
            result += operands[-1]
    return out


def sum_centered_product_wrt_pull(g, pull_spec, x, mean, shape, rank):
    return broadcast_cotangent(g, pull_spec.shape, shape, rank) * (x - mean)


def sum_centered_product_wrt_x(g, pull, pull_spec, x_spec, out_spec, shape, rank):
    product = broadcast_cotangent(g, pull_spec.shape, shape, rank) * pull
    return unbroadcast(product, x_spec.shape, 0, g, out_spec.shape)


def sum_centered_product_wrt_mean(g, pull, pull_spec, mean_spec, out_spec, shape, rank):
    product = broadcast_cotangent(g, pull_spec.shape, shape, rank) * pull
    return -unbroadcast(product, mean_spec.shape, 0, g, out_spec.shape)


def broadcast_cotangent(g: Any, full: Shape, shape: Shape, rank: int) -> Any:
    """Broadcast `g`, of `shape` behind its lead axes, to the last `rank` axes of `full`."""
    return broadcast_to(g, shape=full[len(full) - rank :], rank=len(shape))


def sum_centered_product_shape(pull, x, mean, shape, rank):
    return (*lead_axes(pull, rank), *shape)


@primitive(
    pull=sum_centered_product_wrt_pull,
    x=sum_centered_product_wrt_x,
    mean=sum_centered_product_wrt_mean,
    shape=sum_centered_product_shape,
    new_arrays=True,
)
def sum_centered_product(pull, x, mean, *, shape: Shape, rank: int):
    """Sum of `pull` * (x - mean) over the axes along which `shape` broadcasts to `x`.

    `pull` may have lead axes in front of its last `rank` ones.
    """
    plain = pull.shape == x.shape and pull.ndim == rank
    layout = (
        find_matrix_layout(x, shape, *([] if is_scalar_zero(mean) else [mean.shape]))
        if plain
        else None
    )
    if layout is None:
        product = pull * (x - mean)
        return unbroadcast(product, shape, 0, pull, pull.shape[pull.ndim - rank :])
    rows, pulls = (a.reshape(layout.height, layout.width) for a in (x, pull))
    middle = None if is_scalar_zero(mean) else layout.lay_operand(mean)
    return run_sum(layout.sum_all_blocks, rows, middle, pulls).reshape(shape)


@sum_centered_product.lower
def lower_sum_centered_product(pull, x, mean, *, shape, rank):
    return unbroadcast(pull * (x - mean), shape, 0, pull, pull.shape[pull.ndim - rank :])


def moments_wrt_x(g, x, x_spec, out, out_spec, axis):
    """An equal share of the mean's cotangent; the variance's is weighted by 2 (x - mean)."""
    count = count_reduced_elements(x_spec.shape, axis)
    shape, rank = keepdims_shape_of(x_spec.shape, axis), len(out_spec[0].shape)
    mean, variance, along_mean, along_variance = (
        reshape(t, shape=shape, rank=rank) for t in (*out, *g)
    )
    return standardize(x, mean, 2 * along_variance / count, along_mean / count, variance)


def keepdims_shape_of(shape: Shape, axis: Axes) -> Shape:
    """`shape` with 1 for each reduced axis."""
    return tuple(1 if i - len(shape) in axis else n for i, n in enumerate(shape))


@primitive(
    outputs=True,
    x=moments_wrt_x,
    shape=lambda x, **axes: [reduced_shape(x, **axes)] * 2,
    new_arrays=True,
)
def moments(x, *, axis: Axes, keepdims: bool):
    """Mean and variance along `axis`."""
    shape = keepdims_shape_of(x.shape, axis)
    layout = find_matrix_layout(x, shape)
    wide = accumulator(x.dtype)
    count = wide.type(count_reduced_elements(x.shape, axis, 0))
    if layout is not None:
        mean, variance = moments_in_blocks(layout, x, count)
    else:
        mean = np.add.reduce(x, axis=axis, dtype=wide, keepdims=True) / count
        distance = x - mean
        variance = np.add.reduce(distance * distance, axis=axis, keepdims=True) / count
    if not keepdims:
        shape = tuple(n for i, n in enumerate(x.shape) if i - x.ndim not in axis)
    mean, variance = (t.reshape(shape).astype(x.dtype, copy=False) for t in (mean, variance))
    return (mean, variance) if shape else (mean[()], variance[()])


@moments.lower
def lower_moments(x, *, axis, keepdims):
    wide = accumulator(x.dtype)
    count = wide.type(count_reduced_elements(x.shape, axis, 0))
    mean = reduce_sum(x.astype(wide), axis=axis, keepdims=True) / count
    distance = x - mean
    variance = reduce_sum(distance * distance, axis=axis, keepdims=True) / count
    shape = keepdims_shape_of(x.shape, axis)
    if not keepdims:
        shape = tuple(n for i, n in enumerate(x.shape) if i - x.ndim not in axis)
    return tuple([t.reshape(shape).astype(x.dtype) for t in (mean, variance)])


def moments_in_blocks(layout: MatrixLayout, x: Any, count: Any) -> tuple[Any, Any]:
    """Compute `moments` in blocks."""
    rows = x.reshape(layout.height, layout.width)
    mean = run_sum(layout.sum_all_blocks, rows) / count
    return mean, run_sum(layout.sum_all_blocks, rows, layout.lay_operand(mean), True) / count
