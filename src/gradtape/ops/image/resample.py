"""Product of an axis with a band matrix, which changes its length."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from gradtape.core.dtypes import accumulator
from gradtape.core.primitive import primitive
from gradtape.core.shape_rule import replace_axis
from gradtape.ops.image.filter_matrix import (
    FilterMatrixSpec,
    dense_matrix,
    list_taps,
    multichannel_matrix,
    sparse_matrix,
)
from gradtape.ops.linalg.nonfinite import has_finite_sum

# Multiplications above which a sparse matrix is faster than a dense one, measured on one core: for
# all rows together, and for each row. Narrow rows have at most `NARROW_WIDTH` elements behind the
# axis.
DENSE_MAX_TOTAL_COST = 2**16
DENSE_MAX_COST_PER_ROW = 2**16
NARROW_WIDTH = 4


def resample_wrt_x(g, axis, band, back):
    return resample(g, axis=axis, band=band, back=not back)


def resample_shape(x, axis, band, back):
    return replace_axis(x.shape, axis, band.n if back else band.m)


@primitive(x=resample_wrt_x, shape=resample_shape)
def resample(x, *, axis: int, band: FilterMatrixSpec, back: bool):
    """`x` with `axis` multiplied by the matrix `band`, or by its transpose if `back`."""
    front, behind = x.shape[:axis], x.shape[x.ndim + axis + 1 :]
    wide = accumulator(x.dtype)
    rows = x.astype(wide, copy=False).reshape(prod(front), x.shape[axis], prod(behind))
    out = multiply_rows(rows, band, back, wide)
    m = band.n if back else band.m
    return out.reshape(*front, m, *behind).astype(x.dtype, copy=False)


def multiply_rows(rows: Any, band: FilterMatrixSpec, back: bool, dtype: Any) -> Any:
    """Multiply the matrix with each of `rows` (count, n, behind), by the fastest method."""
    count, n, behind = rows.shape
    narrow = behind <= NARROW_WIDTH
    cost = band.n * band.m * behind
    if cost * count < DENSE_MAX_TOTAL_COST if narrow else cost < DENSE_MAX_COST_PER_ROW:
        out = np.matmul(dense_matrix(band, back, dtype), rows)
        if has_finite_sum(out):
            return out
        # Zeros of the dense matrix would spread infinities and NaN over the whole axis.
    if narrow:
        return rows.reshape(count, n * behind) @ multichannel_matrix(band, back, dtype, behind)
    matrix = sparse_matrix(band, back, dtype)
    return np.array([matrix @ row for row in rows])


@resample.lower
def lower_resample(x, *, axis, band, back):
    columns, weights = list_taps(band, back, accumulator(x.dtype))
    weights = weights.reshape(*weights.shape, *(1,) * (-axis - 1))
    taps = np.take(x, columns, axis=axis).astype(weights.dtype)
    # A weight of zero must not make NaN of an infinity.
    return np.sum(np.where(weights != 0, taps * weights, 0), axis=axis).astype(x.dtype)
