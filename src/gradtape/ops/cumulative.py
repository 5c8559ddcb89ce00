"""Running sums, products and log-sum-exps along an axis.

With `exclusive`, element i combines only the elements before it; `reverse` runs from the end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.core.dtypes import accumulator
from gradtape.core.primitive import primitive
from gradtape.core.shape_rule import broadcast_inputs, keep_shape
from gradtape.ops.no_nan import conj_if_complex, divide_no_nan


def scan_axis(
    scan: Callable[..., Any], x: Any, axis: int, exclusive: bool, reverse: bool, start: Any
) -> Any:
    """Apply `scan` along `axis`, reversed if asked; exclusive scans begin with `start`."""
    wide = x.astype(accumulator(x.dtype), copy=False)
    if reverse:
        wide = np.flip(wide, axis)
    if exclusive:
        whole = (slice(None),) * (-axis - 1)
        first = np.full_like(wide[(..., slice(0, 1), *whole)], start)
        wide = np.concatenate((first, wide[(..., slice(0, -1), *whole)]), axis=axis)
    out = scan(wide, axis=axis, dtype=wide.dtype)
    if reverse:
        out = np.flip(out, axis)
    return out.astype(x.dtype, copy=False)


def cumsum_wrt_x(g, axis, exclusive, reverse):
    return cumsum(g, axis=axis, exclusive=exclusive, reverse=not reverse)


@primitive(x=cumsum_wrt_x, shape=keep_shape)
def cumsum(x, *, axis: int, exclusive: bool, reverse: bool):
    """Running sum along `axis`."""
    return scan_axis(np.cumsum, x, axis, exclusive, reverse, 0)


def cumprod_wrt_x(g, x, out, axis, exclusive, reverse):
    """Zero where `x` is zero, and complex factors are not conjugated, as in TensorFlow."""
    share = cumsum(g * conj_if_complex(out), axis=axis, exclusive=exclusive, reverse=not reverse)
    return divide_no_nan(share, conj_if_complex(x))


@primitive(x=cumprod_wrt_x, shape=keep_shape)
def cumprod(x, *, axis: int, exclusive: bool, reverse: bool):
    """Running product along `axis`."""
    return scan_axis(np.cumprod, x, axis, exclusive, reverse, 1)


def cumulative_logsumexp_wrt_x(g, x, out, axis, exclusive, reverse):
    """Element j gets exp(x_j - out_i) times the cotangent of each output i that includes it."""
    return weighted_cumsum(g, x, out, axis=axis, exclusive=exclusive, reverse=not reverse)


@primitive(x=cumulative_logsumexp_wrt_x, shape=keep_shape)
def cumulative_logsumexp(x, *, axis: int, exclusive: bool, reverse: bool):
    """Running logarithm of the sum of exponentials along `axis`."""
    return scan_axis(np.logaddexp.accumulate, x, axis, exclusive, reverse, -np.inf)


def weighted_cumsum_wrt_v(g, a, b, axis, exclusive, reverse):
    return weighted_cumsum(g, -b, -a, axis=axis, exclusive=exclusive, reverse=not reverse)


def weighted_cumsum_wrt_b(g, v, a, b, axis, exclusive, reverse):
    return -v * weighted_cumsum(g, -b, -a, axis=axis, exclusive=exclusive, reverse=not reverse)


@primitive(
    core=0,
    v=weighted_cumsum_wrt_v,
    a=lambda g, out: g * out,
    b=weighted_cumsum_wrt_b,
    shape=broadcast_inputs,
)
def weighted_cumsum(v, a, b, *, axis: int, exclusive: bool, reverse: bool):
    """Weighted running sum: element i is the sum of v_j · exp(a_i - b_j) over all j up to i.

    Positive and negative terms are summed separately, as logarithms, so that nothing overflows.
    """

    def part(v):
        logs = scan_axis(
            np.logaddexp.accumulate, np.log(np.maximum(v, 0)) - b, axis, exclusive, reverse, -np.inf
        )
        return np.exp(
            np.where(np.isneginf(logs) | np.isneginf(a), logs.dtype.type(-np.inf), logs + a)
        )

    return part(v) - part(-v)
