"""Gamma, Poisson and binomial numbers by rejection, and categorical draws, as in TensorFlow.

Every result has its own section of the stream, long enough for the numbers it rejects, so it does
not depend on other results. The kernels run all pending results in parallel until none is left.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from gradtape.core.primitive import Spec, primitive
from gradtape.core.shape_rule import fill_shape
from gradtape.ops.random.philox import draw_long_words, philox_blocks, unit64
from gradtape.ops.random.stateless import normal64

MAX_REJECTIONS = 10_000  # draws per result; no finite parameter needs as many
BLOCKS_PER_RESULT = 256  # blocks of the stream per result
BLOCKS_PER_COUNTED_RESULT = 42  # the same for binomial numbers that are drawn by counting trials
KNUTH_BELOW = 10  # mean below which Poisson and binomial numbers are drawn by counting


class ResultStreams:
    """One stream for each result, read in blocks of two 64-bit words."""

    def __init__(self, key: Any, counter: Any, count: int, apart: Any = BLOCKS_PER_RESULT) -> None:
        """Start `count` streams; stream i starts i * `apart` blocks into the stream of the key."""
        self.key, self.counter = key, counter
        self.block_positions = np.arange(count, dtype=np.uint64) * np.asarray(apart, np.uint64)

    def next_blocks(self, which: Any) -> Any:
        """Read the next block of the streams `which`."""
        found = philox_blocks(self.key, self.counter, self.block_positions[which])
        self.block_positions[which] += np.uint64(1)
        return found


class BufferedDraws:
    """Numbers that `make` computes from a block, two at a time; the second is used first."""

    def __init__(self, streams: ResultStreams, make: Any) -> None:
        """Draw from `streams`, a block at a time when needed."""
        self.streams, self.make = streams, make
        self.buffered = np.empty((len(streams.block_positions), 2))
        self.remaining = np.zeros(len(streams.block_positions), np.int8)

    def next(self, which: Any) -> Any:
        """Draw one number for each result in `which`."""
        empty = which[self.remaining[which] == 0]
        if empty.size:
            self.buffered[empty] = self.make(self.streams.next_blocks(empty))
            self.remaining[empty] = 2
        self.remaining[which] -= 1
        return self.buffered[which, self.remaining[which]]


def repeat_parameters(values: Any, shape: tuple[int, ...]) -> tuple[Any, int]:
    """Repeat the parameters for all results, as float64; also return the results per parameter.

    Results of one parameter are drawn consecutively; `arrange_results` moves them to their final
    places.
    """
    each = prod(shape[: len(shape) - np.ndim(values)])
    return np.repeat(np.reshape(values, -1).astype(np.float64), each), each


def arrange_results(drawn: Any, each: int, shape: tuple[int, ...], dtype: Any) -> Any:
    """Arrange results that were drawn parameter by parameter in the final shape."""
    return drawn.reshape(drawn.size // max(each, 1), each).T.astype(dtype).reshape(shape)[()]


@primitive(
    key=None,
    counter=None,
    alpha=None,
    shape=lambda key, counter, alpha, shape: Spec((shape, alpha.dtype)),
)
def random_gamma(key, counter, alpha, *, shape: tuple[int, ...]):
    """Gamma numbers of rate 1 (Marsaglia and Tsang, 2000); `shape` ends in `alpha`'s shape.

    As in TensorFlow, NaN compares as accepted, so the result is NaN for NaN and for `alpha` below
    -2/3, and infinite for infinity.
    """
    a, each = repeat_parameters(alpha, shape)
    streams = ResultStreams(key, counter, a.size)
    uniforms, gaussians = BufferedDraws(streams, unit64), BufferedDraws(streams, normal64)
    out = np.full(a.size, np.nan)
    plain = np.flatnonzero(a == 1)
    out[plain] = -np.log1p(-uniforms.next(plain))
    small = a < 1
    d = a + np.where(small, 2.0 / 3, -1.0 / 3)
    c = 1.0 / 3 / np.sqrt(d)
    todo = np.flatnonzero(~(a == 1))
    for _ in range(MAX_REJECTIONS):
        if not todo.size:
            break
        x = gaussians.next(todo)
        v = 1 + c[todo] * x
        open_ = ~(v <= 0)
        i, x, v = todo[open_], x[open_], v[open_] * v[open_] * v[open_]
        u = uniforms.next(i)
        ok = (u < 1 - 0.0331 * (x * x) * (x * x)) | (
            np.log(u) < 0.5 * x * x + d[i] * (1 - v + np.log(v))
        )
        done = i[ok]
        out[done] = d[done] * v[ok]
        few = done[small[done]]
        out[few] *= uniforms.next(few) ** (1 / a[few])
        todo = np.concatenate([todo[~open_], i[~ok]])
    return arrange_results(out, each, shape, alpha.dtype)


@primitive(key=None, counter=None, rate=None, shape=fill_shape)
def random_poisson(key, counter, rate, *, shape: tuple[int, ...], dtype: np.dtype):
    """Poisson numbers (Knuth, 1969; Hörmann, 1993); `shape` ends in the shape of `rate`.

    The result is 0 for a negative rate. For an infinite rate or NaN it is the rate, or 0 if `dtype`
    is an integer type.
    """
    mean, each = repeat_parameters(rate, shape)
    uniforms = BufferedDraws(ResultStreams(key, counter, mean.size), unit64)
    out = np.zeros(mean.size)
    count_products(uniforms, np.flatnonzero((mean >= 0) & (mean < KNUTH_BELOW)), mean, out)
    todo = np.flatnonzero((mean >= KNUTH_BELOW) & (mean < np.inf))
    if todo.size:
        reject_poisson(uniforms, todo, mean, out)
    if dtype.kind not in "iu":
        out = np.where(np.isnan(mean) | (mean == np.inf), mean, out)
    return arrange_results(out, each, shape, dtype)


def count_products(uniforms: BufferedDraws, todo: Any, mean: Any, out: Any) -> None:
    """Count in `out` the uniform numbers whose running product stays above exp(-mean)."""
    product, bound = np.ones(len(mean)), np.exp(-mean)
    for _ in range(MAX_REJECTIONS):
        if not todo.size:
            break
        product[todo] *= uniforms.next(todo)
        todo = todo[product[todo] > bound[todo]]
        out[todo] += 1


def reject_poisson(uniforms: BufferedDraws, todo: Any, mean: Any, out: Any) -> None:
    """Hörmann's transformed rejection for large means."""
    from scipy.special import gammaln

    b = 0.931 + 2.53 * np.sqrt(mean)
    a = -0.059 + 0.02483 * b
    inverse = 1.1239 + 1.1328 / (b - 3.4)
    for _ in range(MAX_REJECTIONS):
        if not todo.size:
            break
        i = todo
        u = uniforms.next(i) - 0.5
        v = uniforms.next(i)
        edge = 0.5 - np.abs(u)
        k = np.floor((2 * a[i] / edge + b[i]) * u + mean[i] + 0.43)
        sure = (edge >= 0.07) & (v <= 0.9277 - 3.6224 / (b[i] - 2))
        never = (k < 0) | ((edge < 0.013) & (v > edge))
        s = np.log(v * inverse[i] / (a[i] / (edge * edge) + b[i]))
        t = -mean[i] + k * np.log(mean[i]) - gammaln(np.maximum(k, 0) + 1)
        ok = sure | (~never & (s <= t))
        out[i[ok]] = k[ok]
        todo = i[~ok]


@primitive(key=None, counter=None, counts=None, probs=None, shape=fill_shape)
def random_binomial(key, counter, counts, probs, *, shape: tuple[int, ...], dtype: np.dtype):
    """Binomial numbers (Hörmann, 1993); `shape` ends in the shape of the parameters.

    Probabilities below 0 count as 0, those above 1 as 1, and negative counts as 0. NaN gives NaN,
    or 0 if `dtype` is an integer type.
    """
    counts, probs = np.broadcast_arrays(counts, probs)
    n, each = repeat_parameters(counts, shape)
    p, _ = repeat_parameters(probs, shape)
    turned = p > 0.5
    q = np.where(turned, 1 - p, p)
    apart = np.where(n * q < KNUTH_BELOW, BLOCKS_PER_COUNTED_RESULT, BLOCKS_PER_RESULT)
    uniforms = BufferedDraws(ResultStreams(key, counter, n.size, apart), unit64)
    out = np.zeros(n.size)
    fine = np.isfinite(n) & np.isfinite(p) & (n > 0) & (q > 0)
    count_trials(uniforms, np.flatnonzero(fine & (n * q < KNUTH_BELOW)), n, q, out)
    todo = np.flatnonzero(fine & (n * q >= KNUTH_BELOW))
    if todo.size:
        reject_binomial(uniforms, todo, n, q, out)
    out[(n == np.inf) & (q > 0)] = np.inf
    out = np.where(turned & (n > 0), n - out, out)
    out[np.isnan(n) | np.isnan(p)] = 0 if dtype.kind in "iu" else np.nan
    return arrange_results(out, each, shape, dtype)


def count_trials(uniforms: BufferedDraws, todo: Any, n: Any, p: Any, out: Any) -> None:
    """Count in `out` the geometric waiting times that fit into `n` trials."""
    waited = np.zeros(len(n))
    for _ in range(MAX_REJECTIONS):
        if not todo.size:
            break
        waited[todo] += np.ceil(np.log(uniforms.next(todo)) / np.log1p(-p[todo]))
        todo = todo[waited[todo] <= n[todo]]
        out[todo] += 1


def stirling_remainder(k: Any) -> Any:
    """Error of Stirling's formula for log k!."""
    table = np.array(
        [
            0.0810614667953272,
            0.0413406959554092,
            0.0276779256849983,
            0.02079067210376509,
            0.0166446911898211,
            0.0138761288230707,
            0.0118967099458917,
            0.0104112652619720,
            0.00925546218271273,
            0.00833056343336287,
        ]
    )
    next_ = (k + 1) * (k + 1)
    series = (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / next_) / next_) / (k + 1)
    return np.where(k <= 9, table[np.clip(k, 0, 9).astype(np.int64)], series)


def reject_binomial(uniforms: BufferedDraws, todo: Any, n: Any, p: Any, out: Any) -> None:
    """Hörmann's transformed rejection with squeeze for large means."""
    spread = np.sqrt(n * p * (1 - p))
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * p
    c = n * p + 0.5
    v_r = 0.92 - 4.2 / b
    r = p / (1 - p)
    alpha = (2.83 + 5.1 / b) * spread
    m = np.floor((n + 1) * p)
    for _ in range(MAX_REJECTIONS):
        if not todo.size:
            break
        i = todo
        u = uniforms.next(i) - 0.5
        v = uniforms.next(i)
        us = 0.5 - np.abs(u)
        k = np.floor((2 * a[i] / us + b[i]) * u + c[i])
        sure = (us >= 0.07) & (v <= v_r[i])
        never = (k < 0) | (k > n[i])
        height = np.log(v * alpha[i] / (a[i] / (us * us) + b[i]))
        kk = np.clip(k, 0, n[i])
        bound = (
            (m[i] + 0.5) * np.log((m[i] + 1) / (r[i] * (n[i] - m[i] + 1)))
            + (n[i] + 1) * np.log((n[i] - m[i] + 1) / (n[i] - kk + 1))
            + (kk + 0.5) * np.log(r[i] * (n[i] - kk + 1) / (kk + 1))
            + stirling_remainder(m[i])
            + stirling_remainder(n[i] - m[i])
            - stirling_remainder(kk)
            - stirling_remainder(n[i] - kk)
        )
        ok = sure | (~never & (height <= bound))
        out[i[ok]] = k[ok]
        todo = i[~ok]


def random_classes_shape(key, counter, logits, samples, dtype):
    return Spec(((logits.shape[0], samples), np.dtype(dtype)))


@primitive(key=None, counter=None, logits=None, shape=random_classes_shape)
def random_classes(key, counter, logits, *, samples: int, dtype: np.dtype):
    """Classes (b, samples), drawn with odds exp(logits) for logits (b, n)."""
    rows = len(logits)
    u = unit64(draw_long_words(key, counter, rows * samples)).reshape(rows, samples)
    finite = np.isfinite(logits)
    wide = np.where(finite, logits, -np.inf)
    top = np.max(wide, axis=1, keepdims=True, initial=-np.inf)
    odds = np.where(finite, np.exp((logits - top).astype(np.float64)), 0.0)
    sums = np.cumsum(odds, axis=1)
    target = u * sums[:, -1:]
    if rows * samples * sums.shape[1] <= 1 << 16:
        return (sums[:, None, :] <= target[:, :, None]).sum(axis=2).astype(dtype)
    found = [np.searchsorted(s, t, side="right") for s, t in zip(sums, target, strict=True)]
    return np.stack(found).astype(dtype)


for by_rejection in (random_gamma, random_poisson, random_binomial):
    by_rejection.keep_on_host("how many numbers are rejected depends on the numbers")
