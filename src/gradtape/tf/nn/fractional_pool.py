"""Fractional pools, whose windows have random, uneven sizes (Graham, 2014)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from gradtape.core.argument import as_integer, as_real
from gradtape.core.convert import convert
from gradtape.core.dims import Dim
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.primitive import Spec
from gradtape.core.shape_rule import BOOL, FRESH, INT64, with_shape
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.graph.host_function import call_on_host
from gradtape.graph.raw_function import apply_raw
from gradtape.ops import elementwise as e
from gradtape.ops import shape as s
from gradtape.ops.gather_scatter import take, take_along
from gradtape.ops.reduce import reduce_sum
from gradtape.state.random.seed import SEEDS
from gradtape.tf.nn.dilation import argmax_last_axis
from gradtape.tf.public_op import REAL, check_dtype


class FractionalPool(NamedTuple):
    """The pooled tensor, and the starts of its windows in rows and columns."""

    output: Tensor
    row_pooling_sequence: Tensor
    col_pooling_sequence: Tensor


def draw_bounds(size: int, ratio: float, pseudo_random: bool, draws: Any) -> Any:
    """Draw the starts of the windows, and their end; each step is ⌊size / count⌋ or one more."""
    count = int(np.floor(size / ratio))
    if count < 1:
        raise InvalidArgumentError(
            f"fractional pool: pooling_ratio must be at most the size {size}. Received {ratio}."
        )
    step = size // count
    if pseudo_random:
        alpha = size / count
        most = (step + 1) / alpha - (count - 1)
        least = (size - 1) / alpha - (count - 1)
        shift = draws.random() * max(min(most, 1.0) - max(least, 0.0), 0.0) + max(least, 0.0)
        first = int(np.ceil(alpha * shift))
        marks = np.ceil(alpha * (np.arange(count + 1) + shift)).astype(np.int64) - first
        marks[-1] = size
        if np.diff(marks).min(initial=step) >= 1:
            return marks
    steps = np.full(count, step)
    steps[: size - step * count] += 1
    return np.concatenate([[0], np.cumsum(draws.permutation(steps))])


def window_positions(marks: Any, overlapping: bool) -> tuple[Any, Any]:
    """Indices (windows, longest) of the elements of each window, and a mask of the valid ones."""
    size = marks[-1]
    ends = np.minimum(marks[1:] + (1 if overlapping else 0), size)
    lengths = ends - marks[:-1]
    steps = np.arange(lengths.max())
    return np.minimum(marks[:-1, None] + steps, ends[:, None] - 1), steps < lengths[:, None]


def apply_fractional_pool(
    op: str,
    value: Any,
    ratio: tuple[float, ...],
    pseudo_random: bool,
    overlapping: bool,
    seed: Any,
    largest: bool,
) -> FractionalPool:
    """Pool by the largest elements, or by the means, of randomly drawn windows."""
    x = check_dtype(op, convert(value), REAL)
    if x._array.ndim != 4:
        raise InvalidArgumentError(
            f"{op}: tensor_in must be 4-dimensional. Received shape {list(x._array.shape)}."
        )
    rows, kept_rows, columns, kept_columns, *marks = draw_windows(
        x, op, tuple(ratio), pseudo_random, overlapping, as_integer(seed, "seed")
    )
    cells = take(take(x, rows, axis=-3), columns, axis=-2)
    batch, high, a, wide, b, depth = cells._array.shape
    cells = s.permute_axes(cells, (0, 1, 3, 5, 2, 4))
    cells = s.reshape(cells, shape=(batch, high, wide, depth, a * b), rank=6)
    if largest:
        out = s.index_axis(take_along(cells, apply_raw(argmax_last_axis, cells)), axis=-1, i=0)
    else:
        counts = apply_raw(mask_window_elements, kept_rows, kept_columns)
        total = reduce_sum(e.gate(cells, counts), axis=(-1,), keepdims=False)
        out = e.divide(total, apply_raw(count_valid_elements, counts, x._array.dtype))
    return FractionalPool(out, *marks)


def describe_windows(x: Tensor, op: str, ratio: Any, *_: Any, **__: Any) -> list[Spec]:
    """Result rule of `draw_windows`: the longest window depends on the draws."""
    sizes = [x._array.shape[i] for i in (1, 2)]
    counts = [
        FRESH if type(n) is Dim else int(np.floor(n / ratio[i]))
        for i, n in zip((1, 2), sizes, strict=True)
    ]
    found = [Spec(((n, FRESH), dtype)) for n in counts for dtype in (INT64, BOOL)]
    ends = [n + 1 if isinstance(n, int) else FRESH for n in counts]
    return [*found, *(Spec(((n,), INT64)) for n in ends)]


@call_on_host(describe_windows)
def draw_windows(
    x: Tensor, op: str, ratio: Any, pseudo_random: bool, overlapping: bool, seed: int
) -> list[Tensor]:
    """Draw windows; return indices and masks of their elements by axis, then their bounds."""
    key, counter = SEEDS.draw_stream(op, seed or None, 1)
    words = [int(word) for word in (*key, *counter)]
    draws = np.random.Generator(np.random.Philox(np.random.SeedSequence(words)))
    marks = [draw_bounds(x._array.shape[i], ratio[i], pseudo_random, draws) for i in (1, 2)]
    found = [part for m in marks for part in window_positions(m, overlapping)]
    return [make_tensor(part) for part in (*found, *(m.astype(np.int64) for m in marks))]


def mask_window_elements_spec(rows: Any, columns: Any) -> Any:
    """Spec of the result of `mask_window_elements`."""
    (height, m), (width, n) = rows.shape, columns.shape
    return Spec(((height, width, 1, m * n), BOOL))


@with_shape(mask_window_elements_spec)
def mask_window_elements(rows: Any, columns: Any) -> Any:
    """Mask (rows, columns, 1, elements) of the valid elements of each window."""
    kept = rows[:, None, :, None] & columns[:, None, :]
    return kept.reshape(len(rows), len(columns), 1, -1)


@with_shape(lambda counts, dtype: Spec((counts.shape[:-1], np.dtype(dtype))))
def count_valid_elements(counts: Any, dtype: Any) -> Any:
    """Count the valid elements of each window."""
    return counts.sum(-1).astype(dtype)


@public
def fractional_max_pool(
    value: Any,
    pooling_ratio: Any,
    pseudo_random: bool = False,
    overlapping: bool = False,
    seed: int = 0,
    name: str | None = None,
) -> FractionalPool:
    """Largest elements of windows that shrink an image by a ratio that need not be an integer.

    Args:
        value: (batch, height, width, channels).
        pooling_ratio: a number of at least 1, two for height and width, or four with ones for
            the batch and the channels.
        pseudo_random: whether the larger windows are evenly spread, instead of at random.
        overlapping: whether a window includes the first element of the next.
        seed: the seed of this op; 0 for a fresh one.
        name: has no effect here.

    Returns:
        The result, and the starts of the windows in rows and columns.

    Note:
        A seed gives the same windows every time, but not those of TensorFlow.
    """
    listed = isinstance(pooling_ratio, (list, tuple))
    given = tuple(
        as_real(r, "pooling_ratio") for r in (pooling_ratio if listed else (pooling_ratio,))
    )
    if any(r < 1 for r in given):
        raise ValueError(f"`pooling_ratio` should be >= 1.0. Received: {pooling_ratio}")
    if len(given) not in (1, 2, 4):
        raise ValueError(f"`pooling_ratio` should be of length 1, 2 or 4. Received {given}.")
    if len(given) == 4 and (given[0] != 1 or given[3] != 1):
        raise ValueError(
            f"`pooling_ratio` should have first and last elements with value 1.0. Received {given}."
        )
    ratio = given if len(given) == 4 else (1.0, given[0], given[-1], 1.0)
    op = "FractionalMaxPool"
    return apply_fractional_pool(op, value, ratio, pseudo_random, overlapping, seed, True)


@public
def fractional_avg_pool(
    value: Any,
    pooling_ratio: Sequence[float],
    pseudo_random: bool = False,
    overlapping: bool = False,
    seed: int = 0,
    name: str | None = None,
) -> FractionalPool:
    """Means of windows as in `fractional_max_pool`; here the ratio must be four numbers.

    Args:
        value: images (batch, height, width, channels).
        pooling_ratio: four numbers; the first and the last are 1.
        pseudo_random: how to choose the boundaries.
        overlapping: whether windows share their boundary.
        seed: an integer; 0: no seed.
        name: has no effect here.

    Returns:
        The means, and the boundaries of rows and columns.
    """
    if not isinstance(pooling_ratio, (list, tuple)):
        raise TypeError(f"Expected list for 'pooling_ratio', not {pooling_ratio!r}.")
    ratio = tuple(float(r) for r in pooling_ratio)
    if len(ratio) != 4 or min(ratio) < 1 or ratio[0] != 1 or ratio[3] != 1:
        raise InvalidArgumentError(
            "FractionalAvgPool: pooling_ratio must be four numbers of at least 1, the first and "
            f"last of them 1. Received {ratio}."
        )
    op = "FractionalAvgPool"
    return apply_fractional_pool(op, value, ratio, pseudo_random, overlapping, seed, False)
