"""Isotonic regression: the monotonic sequence with the least squared distance to a given one."""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

import numpy as np

from gradtape.core.convert import convert
from gradtape.core.dtypes import float32, float64
from gradtape.core.errors import public
from gradtape.core.primitive import Spec
from gradtape.core.shape_rule import INT32, INT64, with_shape
from gradtape.core.shapes import normalize_axis
from gradtape.core.tensor import Tensor
from gradtape.graph.raw_function import apply_raw
from gradtape.ops import elementwise as e
from gradtape.ops import shape as s
from gradtape.ops.gather_scatter import scatter_add, take
from gradtape.tf.math.cast import cast
from gradtape.tf.public_op import REAL, check_dtype


class IsotonicRegression(NamedTuple):
    """The monotonic sequence, and for each element the number of its constant piece."""

    output: Tensor
    segments: Tensor


@public
def isotonic_regression(inputs: Any, decreasing: bool = True, axis: int = -1) -> IsotonicRegression:
    """Monotonic sequences along `axis` with the least squared distance to `inputs`.

    Each is piecewise constant: the mean of the input on each piece. The gradient is averaged over
    each piece, too.

    Args:
        inputs: a tensor; integers become floats.
        decreasing: whether the result decreases; otherwise it increases.
        axis: the axis of the sequences.

    Returns:
        A tensor like `inputs`, and the segments.
    """
    x = check_dtype("IsotonicRegression", convert(inputs), REAL)
    if x.dtype.is_integer:
        x = cast(x, float32 if x.dtype.size <= 2 else float64)
    n = x._array.ndim
    at = normalize_axis(axis, n, "isotonic_regression")
    order = (*(i for i in range(n) if i != at % n), at % n)
    x = s.permute_axes(x, order)
    shape = x._array.shape
    rows = s.reshape(x, shape=(prod(shape[:-1]), shape[-1]), rank=n)
    size = rows._array.size
    pieces, ids, counts = apply_raw(pool_rows, rows, decreasing, outputs=True)
    flat = s.reshape(rows, shape=(size,), rank=2)
    means = e.divide(scatter_add(flat, ids, axis=-1, size=size), counts)
    out = s.reshape(take(means, ids, axis=-1), shape=shape, rank=1)
    pieces = s.reshape(pieces, shape=shape, rank=2)
    back = tuple(int(i) for i in np.argsort(order))
    return IsotonicRegression(s.permute_axes(out, back), s.permute_axes(pieces, back))


def pool_rows_specs(rows: Any, decreasing: bool) -> list[Any]:
    """Specs of the results of `pool_rows`."""
    count = (prod(rows.shape),)
    return [Spec((rows.shape, INT32)), Spec((count, INT64)), count]


@with_shape(pool_rows_specs)
def pool_rows(rows: Any, decreasing: bool) -> tuple[Any, Any, Any]:
    """Find the constant pieces of raw rows: piece numbers by row, global ids, and their sizes."""
    pieces = np.array([find_pieces(row if decreasing else -row) for row in rows], np.int32)
    pieces = pieces.reshape(rows.shape)
    ids = (pieces + np.arange(len(rows))[:, None] * max(rows.shape[-1], 1)).reshape(-1)
    counts = np.bincount(ids, minlength=rows.size).astype(rows.dtype)
    return pieces, ids, np.maximum(counts, 1)


def find_pieces(row: Any) -> list[int]:
    """Number of the constant piece of each element, by pooling adjacent increasing values."""
    sums: list[float] = []
    counts: list[int] = []
    for value in row.tolist():
        sums.append(value)
        counts.append(1)
        while len(sums) > 1 and sums[-2] * counts[-1] < sums[-1] * counts[-2]:
            last, many = sums.pop(), counts.pop()
            sums[-1] += last
            counts[-1] += many
    return [i for i, count in enumerate(counts) for _ in range(count)]
