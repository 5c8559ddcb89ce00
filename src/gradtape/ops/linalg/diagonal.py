"""Diagonals, bands and triangles of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.primitive import Spec
from gradtape.core.shape_rule import BOOL, with_shape
from gradtape.core.size_constant import compute_constant
from gradtape.ops.elementwise import gate
from gradtape.ops.shape import place, reshape, shape_of, slice_


def diagonal(x: Any, *, offset: int = 0) -> Any:
    """One diagonal of matrices (m, n): every (n + 1)-th element of the flattened matrix."""
    rows, columns = shape_of(x)[-2:]
    key = diagonal_key(rows, columns, offset)
    return slice_(reshape(x, shape=(rows * columns,), rank=2), key=key, rank=1)


def place_diagonal(d: Any, *, rows: int, columns: int, offset: int = 0) -> Any:
    """Matrices of zeros with `d` on one diagonal; the adjoint of `diagonal`."""
    key = diagonal_key(rows, columns, offset)
    flat = place(d, key=key, rank=1, shape=(rows * columns,))
    return reshape(flat, shape=(rows, columns), rank=1)


def diagonal_key(rows: int, columns: int, offset: int) -> tuple[slice, ...]:
    """Slice of the flattened matrix that is a diagonal."""
    start = offset if offset >= 0 else -offset * columns
    length = diagonal_length(rows, columns, offset)
    return (slice(start, start + length * (columns + 1) - columns, columns + 1),)


def diagonal_length(rows: int, columns: int, offset: int) -> int:
    """Number of elements of a diagonal."""
    return min(rows + min(offset, 0), columns - max(offset, 0))


@with_shape(lambda rows, columns, lower, upper: Spec(((rows, columns), BOOL)))
def band_mask(rows: int, columns: int, lower: int, upper: int) -> Any:
    """Mask of the elements at most `lower` below and `upper` above the diagonal.

    A negative bound means any distance.
    """
    below = np.arange(rows)[:, None] - np.arange(columns)
    keep = np.ones((rows, columns), bool)
    if lower >= 0:
        keep &= below <= lower
    if upper >= 0:
        keep &= -below <= upper
    return keep


def keep_band(x: Any, *, lower: int, upper: int) -> Any:
    """`x` with zeros outside a band around the diagonal."""
    rows, columns = shape_of(x)[-2:]
    return gate(x, compute_constant(band_mask, rows, columns, lower, upper))


def lower_with_half_diagonal(x: Any) -> Any:
    """The lower triangle of `x` with the diagonal halved."""
    return keep_band(x, lower=-1, upper=0) - keep_band(x, lower=0, upper=0) / 2
