"""Moments along axes, and bringing to zero mean and unit variance: batch and layer normalisation.

NumPy is slow at repeating a short vector along many rows, and at adding rows up. So a large array
is seen as a matrix (`layout_of`): sums are products with a vector of ones, short rows are joined
to long ones, and all passes over a block are made while it is in the cache.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from gradtape.core.dtypes import accumulator
from gradtape.core.primitive import elementwise, primitive
from gradtape.ops.cache_block import spans
from gradtape.ops.reduce import LONGEST, Axes, broadcast_to, count_of, fold
from gradtape.ops.shape import reshape

LARGE = 1 << 17  # elements from which the blocks pay
WIDE, WIDEST = 1024, 8192  # rows as long as NumPy's own buffers are the best, if there are many
MANY = 1 << 20
BLOCK = 1 << 18
NEAR = 16  # squares of means, in variances, up to which a shorter formula is as good
DOTTED = 64  # elements of a row from which its product with another is best made alone

Shape = tuple[int, ...]


class Layout(NamedTuple):
    """The matrix as which a large array meets smaller operands, all of the same shape."""

    height: int
    width: int
    upright: bool  # whether operands are columns of the matrix; else rows, repeated to the width
    size: int  # of an operand

    def spans(self) -> Iterator[slice]:
        """Slices of rows, a block each."""
        return spans(self.height, self.width, BLOCK)

    def lay(self, operand: Any) -> Any:
        """An operand as it meets the matrix."""
        flat = operand.reshape(-1)
        if self.upright:
            return flat.reshape(-1, 1)
        return np.tile(flat, self.width // self.size).reshape(1, -1)

    def blocks(self, *operands: Any) -> Any:
        """Pairs of a span of rows and what of each laid operand belongs to it."""
        for span in self.spans():
            yield span, *(o[span] if self.upright else o for o in operands)

    def totals(self, rows: Any, middle: Any = None, pulls: Any = None) -> Any:
        """Sums over all that shares an element of an operand.

        Of `rows`; if `middle`, a laid operand, is given, of the distance from it; and if `pulls`
        is, of the product with that, or with itself if it is True.
        """
        totals, work = [], None
        for span in self.spans():
            block = rows[span]
            if work is None:
                work = np.empty(block.shape, block.dtype)  # stays in the cache
            room = work[: len(block)]
            if middle is not None:
                block = np.subtract(block, middle[span] if self.upright else middle, out=room)
            if pulls is None:
                totals.append(self.total(block))
            else:
                totals.append(self.product(block, block if pulls is True else pulls[span], room))
        if self.upright:
            return np.concatenate(totals)
        total = np.add.reduce(totals, 0, float).reshape(-1, self.size)
        return np.add.reduce(total, 0).astype(rows.dtype)

    def total(self, block: Any) -> Any:
        """Sums of one block, along its rows or over them."""
        ones = np.ones(block.shape[self.upright], block.dtype)
        return np.dot(block, ones) if self.upright else np.dot(ones, block)

    def product(self, block: Any, other: Any, room: Any) -> Any:
        """Sums of the product of two blocks, for which there is `room`."""
        if self.upright and self.width >= DOTTED:
            return np.vecdot(block, other)
        return self.total(np.multiply(block, other, out=room))


def layout_of(x: Any, *shapes: Shape) -> Layout | None:
    """How `x` meets operands of `shapes`: None if it is small, or they vary in another way.

    Operands are rows if they vary along the last axes, columns if along the first.
    """
    if type(x) is not np.ndarray or x.size < LARGE or x.dtype.char not in "fd":
        return None
    return fitting(x.shape, shapes)


@lru_cache(maxsize=1024)
def fitting(full: Shape, shapes: tuple[Shape, ...]) -> Layout | None:
    """The layout of a large array of shape `full`."""
    found = {(1,) * (len(full) - len(shape)) + shape for shape in shapes}
    if len(found) != 1:
        return None
    (shape,) = found
    if len(shape) > len(full) or any(n not in (1, m) for n, m in zip(shape, full, strict=True)):
        return None
    varies = [n == m for n, m in zip(shape, full, strict=True) if m > 1]
    size, rest = prod(shape), prod(full) // prod(shape)
    if varies == sorted(varies) and rest > 1:
        wide = WIDEST if size * rest >= MANY else WIDE
        times = min(rest & -rest, 1 << max(wide // size, 1).bit_length() - 1)
        return Layout(rest // times, size * times, False, size)
    if varies == sorted(varies, reverse=True) and 1 < rest <= LONGEST:
        return Layout(size, rest, True, size)
    return None


def is_near(mean: Any, variance: Any) -> bool:
    """Whether means are so near to zero that to subtract them later loses no digits."""
    return not is_zero(mean) and bool(np.all(mean * mean <= NEAR * variance))


def is_zero(operand: Any) -> bool:
    """Whether an operand is the number zero, and so may be left out."""
    return not operand.shape and operand == 0


# -- the primitives --------------------------------------------------------------------------------


def standardize_wrt_mean(g, mean_spec, factor, factor_spec, out_spec):
    """The factors are alike for what is summed first, so that the product is a small one."""
    shape = joint(mean_spec.shape, factor_spec.shape)
    return -fold(g, shape, 0, g, out_spec.shape) * factor


def joint(a: Shape, b: Shape) -> Shape:
    """The shape that operands of two shapes broadcast to."""
    return np.broadcast_shapes(a, b)


def standardize_wrt_factor(g, x, mean, factor_spec, out_spec):
    return tally(g, x, mean, shape=factor_spec.shape, rank=len(out_spec.shape))


def standardize_wrt_x(g, x_spec, factor):
    zero = x_spec.dtype.type(0)
    return standardize(g, zero, factor, zero, zero)


@elementwise(
    x=standardize_wrt_x,
    mean=standardize_wrt_mean,
    factor=standardize_wrt_factor,
    offset=lambda g: g,
    variance=None,
)
def standardize(x, mean, factor, offset, variance):
    """Distance of `x` from `mean`, times `factor`, plus `offset`.

    `variance`, of `x` about `mean`, only says how digits are best kept; zero if it is not known.
    """
    operands = [o.shape for o in (mean, factor, offset) if o is factor or not is_zero(o)]
    layout = layout_of(x, *operands)
    if layout is None:
        out = x if is_zero(mean) else x - mean
        out = out * factor
        return out if is_zero(offset) else out + offset
    if not is_zero(offset) and is_near(mean, variance):
        mean, offset = x.dtype.type(0), offset - mean * factor
    return standardize_by(layout, x, mean, factor, offset)


@standardize.lower
def standardize_lowered(x, mean, factor, offset, variance):
    return (x - mean) * factor + offset


def standardize_by(layout: Layout, x: Any, mean: Any, factor: Any, offset: Any) -> Any:
    """`standardize` in blocks."""
    out = np.empty(x.shape, x.dtype)
    rows, results = (a.reshape(layout.height, layout.width) for a in (x, out))
    moved, shifted = not is_zero(mean), not is_zero(offset)
    used = ((mean, moved), (factor, True), (offset, shifted))
    laid = [layout.lay(o) for o, wanted in used if wanted]
    if len(laid) == 1:
        np.multiply(rows, laid[0], out=results)
        return out
    for span, *operands in layout.blocks(*laid):
        block, result = rows[span], results[span]
        if moved:
            block = np.subtract(block, operands[0], out=result)
        np.multiply(block, operands[moved], out=result)
        if shifted:
            result += operands[-1]
    return out


def tally_wrt_pull(g, pull_spec, x, mean, shape, rank):
    return stretched(g, pull_spec.shape, shape, rank) * (x - mean)


def tally_wrt_x(g, pull, pull_spec, x_spec, out_spec, shape, rank):
    product = stretched(g, pull_spec.shape, shape, rank) * pull
    return fold(product, x_spec.shape, 0, g, out_spec.shape)


def tally_wrt_mean(g, pull, pull_spec, mean_spec, out_spec, shape, rank):
    product = stretched(g, pull_spec.shape, shape, rank) * pull
    return -fold(product, mean_spec.shape, 0, g, out_spec.shape)


def stretched(g: Any, full: Shape, shape: Shape, rank: int) -> Any:
    """`g`, of `shape` behind its lead axes, repeated to the last `rank` axes of `full`."""
    return broadcast_to(g, shape=full[len(full) - rank :], rank=len(shape))


@primitive(pull=tally_wrt_pull, x=tally_wrt_x, mean=tally_wrt_mean)
def tally(pull, x, mean, *, shape: Shape, rank: int):
    """Sum of `pull` times the distance of `x` from `mean`, over what a `shape` is stretched along.

    `pull` may have lead axes in front of its last `rank` ones.
    """
    plain = pull.shape == x.shape and pull.ndim == rank
    layout = layout_of(x, shape, *([] if is_zero(mean) else [mean.shape])) if plain else None
    if layout is None:
        product = pull * (x - mean)
        return fold(product, shape, 0, pull, pull.shape[pull.ndim - rank :])
    rows, pulls = (a.reshape(layout.height, layout.width) for a in (x, pull))
    middle = None if is_zero(mean) else layout.lay(mean)
    return layout.totals(rows, middle, pulls).reshape(shape)


@tally.lower
def tally_lowered(pull, x, mean, *, shape, rank):
    return fold(pull * (x - mean), shape, 0, pull, pull.shape[pull.ndim - rank :])


def moments_wrt_x(g, x, x_spec, out, out_spec, axis):
    """An equal share of the mean's cotangent, and of the variance's one in proportion."""
    count = count_of(x_spec.shape, axis)
    shape, rank = kept(x_spec.shape, axis), len(out_spec[0].shape)
    mean, variance, along_mean, along_variance = (
        reshape(t, shape=shape, rank=rank) for t in (*out, *g)
    )
    return standardize(x, mean, 2 * along_variance / count, along_mean / count, variance)


def kept(shape: Shape, axis: Axes) -> Shape:
    """`shape` with ones where it is reduced."""
    return tuple(1 if i - len(shape) in axis else n for i, n in enumerate(shape))


@primitive(outputs=True, x=moments_wrt_x)
def moments(x, *, axis: Axes, keepdims: bool):
    """Mean and variance along `axis`."""
    shape = kept(x.shape, axis)
    layout = layout_of(x, shape)
    wide = accumulator(x.dtype)
    count = wide.type(count_of(x.shape, axis, 0))
    if layout is not None:
        mean, variance = moments_by(layout, x, count)
    else:
        mean = np.add.reduce(x, axis=axis, dtype=wide, keepdims=True) / count
        distance = x - mean
        variance = np.add.reduce(distance * distance, axis=axis, keepdims=True) / count
    if not keepdims:
        shape = tuple(n for i, n in enumerate(x.shape) if i - x.ndim not in axis)
    mean, variance = (t.reshape(shape).astype(x.dtype, copy=False) for t in (mean, variance))
    return (mean, variance) if shape else (mean[()], variance[()])


def moments_by(layout: Layout, x: Any, count: Any) -> tuple[Any, Any]:
    """`moments` in blocks."""
    rows = x.reshape(layout.height, layout.width)
    mean = layout.totals(rows) / count
    return mean, layout.totals(rows, layout.lay(mean), True) / count
