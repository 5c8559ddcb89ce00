"""Products with band matrices, and linear equations with them.

`bands` (..., k, n) holds k diagonals of (n, n) matrices, the highest first. Element i of a diagonal
stands in row i of the matrix; elements outside the matrix are ignored. `below` of the k diagonals
lie below the main diagonal.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.open_shape import broadcast_shapes
from gradtape.core.primitive import primitive
from gradtape.ops.elementwise import conj
from gradtape.ops.linalg.nonfinite import nan_of
from gradtape.ops.reduce import reduce_sum
from gradtape.ops.shape import index_axis, pad, reshape, shape_of, slice_axis, stack


def shift_axis(x: Any, by: int, *, axis: int) -> Any:
    """Shift `x` along `axis`: element i becomes element i + `by`, or zero outside."""
    n = shape_of(x)[axis]
    by = max(-n, min(by, n))
    kept = slice_axis(x, axis=axis, start=max(by, 0), size=n - abs(by))
    ends = (max(-by, 0), max(by, 0))
    return pad(kept, paddings=(ends,) + ((0, 0),) * (-axis - 1), value=0)


def diagonal_offsets_of(bands: Any, below: int) -> list[int]:
    """Offset of each diagonal above the main diagonal."""
    k = shape_of(bands)[-2]
    return [k - 1 - below - row for row in range(k)]


def transpose_bands(bands: Any, below: int) -> Any:
    """Compute the diagonals of the transposed matrices."""
    rows = [
        shift_axis(index_axis(bands, axis=-2, i=i), -offset, axis=-1)
        for i, offset in enumerate(diagonal_offsets_of(bands, below))
    ]
    return stack(*reversed(rows), axis=-2)


def vector_as_column(x: Any) -> Any:
    """Reshape (..., n) to (..., n, 1)."""
    n = shape_of(x)[-1]
    return reshape(x, shape=(n, 1), rank=1)


def banded_matmul(bands: Any, x: Any, *, below: int) -> Any:
    """Product of band matrices and `x` (..., n, m)."""
    total = None
    for i, offset in enumerate(diagonal_offsets_of(bands, below)):
        part = vector_as_column(index_axis(bands, axis=-2, i=i)) * shift_axis(x, offset, axis=-2)
        total = part if total is None else total + part
    return total


def banded_solve_wrt_bands(g, bands, out, below, crossed):
    """The diagonals of -y xᵀ, where y solves the transposed system for the cotangent."""
    y, x = banded_solve_wrt_b(g, bands, below, crossed), conj(out) if crossed else out
    rows = [
        -reduce_sum(y * shift_axis(x, offset, axis=-2), axis=(-1,), keepdims=False)
        for offset in diagonal_offsets_of(bands, below)
    ]
    return stack(*rows, axis=-2)


def banded_solve_wrt_b(g, bands, below, crossed):
    k = shape_of(bands)[-2]
    turned = transpose_bands(bands, below)
    turned = conj(turned) if crossed else turned
    return banded_solve(turned, g, below=k - 1 - below, crossed=False)


def banded_solve_shape(bands, b, **static):
    return (*broadcast_shapes(bands.shape[:-2], b.shape[:-2]), *b.shape[-2:])


@primitive(core=2, bands=banded_solve_wrt_bands, b=banded_solve_wrt_b, shape=banded_solve_shape)
def banded_solve(bands, b, *, below: int, crossed: bool):
    """The solution `x` of A @ x = b, by elimination within the band; NaN if A is singular.

    TensorFlow's gradient of tridiagonal systems does not conjugate complex factors, unlike other
    gradients. The engine propagates conjugate cotangents, so with `crossed` the rule conjugates the
    factors to undo that.
    """
    from scipy.linalg import LinAlgError, solve_banded

    k, n = bands.shape[-2:]
    lead = np.broadcast_shapes(bands.shape[:-2], b.shape[:-2])
    out = np.empty((*lead, *b.shape[-2:]), b.dtype)
    if not out.size:
        return out
    by_column = np.stack(
        [np.roll(bands[..., i, :], d, -1) for i, d in enumerate(diagonal_offsets_of(bands, below))],
        axis=-2,
    )
    every = np.broadcast_to(by_column, (*lead, k, n))
    right = np.broadcast_to(b, out.shape)
    for i in np.ndindex(lead):
        try:
            out[i] = solve_banded((below, k - 1 - below), every[i], right[i], check_finite=False)
        except LinAlgError:
            out[i] = nan_of(out.dtype)
        if n == 1 and every[i][k - 1 - below, 0] == 0:
            out[i] = nan_of(out.dtype)
    return out


@banded_solve.lower
def lower_banded_solve(bands, b, *, below, crossed):
    n = b.shape[-2]
    row, column = np.arange(n)[:, None], np.arange(n)
    dense = sum(
        np.where(column - row == d, bands[..., i, :, None], 0)
        for i, d in enumerate(diagonal_offsets_of(bands, below))
    )
    return np.linalg.solve(dense, b)
