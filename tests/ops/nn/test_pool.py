"""Pools against explicit loops, with ties and infinite cotangents."""

import numpy as np
import pytest

from gradtape.ops.convolution.window import Window
from gradtape.ops.nn.pool import max_pool, max_repool, max_unpool, spread_pool, sum_pool

APART = Window((2, 2), (2, 2), (1, 1), ((0, 0), (0, 0)))
WINDOWS = [
    APART,
    Window((2, 2), (2, 2), (1, 1), ((0, 1), (1, 0))),
    Window((2, 3), (3, 4), (1, 1), ((0, 0), (0, 0))),
    Window((3, 3), (1, 2), (1, 1), ((1, 1), (1, 1))),
    Window((2, 2), (2, 1), (2, 3), ((0, 0), (1, 2))),
    Window((1, 1), (2, 2), (1, 1), ((0, 0), (0, 0))),
]
DTYPES = ["float16", "float32", "float64"]


def places(window, spatial):
    """Iterate over places of the window, each with the input positions it covers, in order."""
    for place in np.ndindex(window.outputs(spatial)):
        seen = []
        for tap in window.taps():
            at = [
                i * stride + t - low
                for i, stride, t, (low, _) in zip(
                    place, window.strides, tap, window.paddings, strict=True
                )
            ]
            if all(0 <= a < n for a, n in zip(at, spatial, strict=True)):
                seen.append(tuple(at))
        yield place, seen


def loops(x, g, window):
    """Compute maxima, their adjoint (the first maximum wins) and the adjoint of sums by loops."""
    out = np.empty(g.shape, x.dtype)
    back, spread = np.zeros(x.shape), np.zeros(x.shape)
    for place, seen in places(window, x.shape[1:-1]):
        for b, c in np.ndindex(x.shape[0], x.shape[-1]):
            values = [x[(b, *at, c)] for at in seen]
            first = values.index(max(values))
            out[(b, *place, c)] = values[first]
            back[(b, *seen[first], c)] += g[(b, *place, c)]
            for at in seen:
                spread[(b, *at, c)] += g[(b, *place, c)]
    return out, back, spread


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("spatial", [(6, 8), (7, 9)])
def test_pools_agree_with_loops(window, spatial, dtype):
    rng = np.random.default_rng(0)
    x = rng.integers(0, 4, (2, *spatial, 3)).astype(dtype)  # with many ties
    g = rng.integers(1, 9, (2, *window.outputs(spatial), 3)).astype(dtype)
    out, back, spread = loops(x, g, window)
    peak = max_pool(x, window=window, every=False)
    np.testing.assert_array_equal(peak, out)
    for got, want in [
        (max_unpool(g, x, peak, window=window, every=False), back),
        (spread_pool(g, window=window, spatial=spatial), spread),
    ]:
        assert got.dtype == dtype
        np.testing.assert_array_equal(got, want)
    v = rng.integers(1, 9, x.shape).astype(dtype)
    there = max_repool(v, x, peak, window=window, every=False)
    assert np.sum(there.astype(float) * g) == np.sum(v * back)
    assert np.sum(sum_pool(v, window=window).astype(float) * g) == np.sum(v * spread)


def test_images_are_processed_in_blocks(monkeypatch):
    rng = np.random.default_rng(1)
    x = rng.integers(0, 4, (7, 6, 6, 2)).astype(np.float32)
    peak = max_pool(x, window=APART, every=False)
    whole = max_unpool(peak, x, peak, window=APART, every=False)
    monkeypatch.setattr("gradtape.ops.nn.pool.BLOCK", 150)
    np.testing.assert_array_equal(max_unpool(peak, x, peak, window=APART, every=False), whole)


@pytest.mark.parametrize("window", WINDOWS[:4])
def test_an_infinite_cotangent_goes_to_one_place_only(window):
    x = np.random.default_rng(2).normal(size=(1, 8, 8, 2)).astype(np.float32)
    peak = max_pool(x, window=window, every=False)
    g = np.zeros_like(peak)
    g[0, 1, 1, 0] = np.inf
    back = max_unpool(g, x, peak, window=window, every=False)
    assert np.isposinf(back).sum() == 1
    assert not np.isnan(back).any()
