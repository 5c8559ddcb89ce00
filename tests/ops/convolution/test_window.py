"""Convolutions and pools against explicit loops over windows."""

import numpy as np
import pytest

from gradtape.ops.convolution import convolution
from gradtape.ops.convolution.window import Window
from gradtape.ops.nn import pool

CASES = [
    Window((2, 3), (1, 1), (1, 1), ((0, 0), (0, 0))),
    Window((3, 3), (2, 1), (1, 1), ((1, 1), (1, 0))),
    Window((2, 2), (1, 2), (2, 1), ((0, 1), (0, 0))),
]


def windows(x, window):
    """Map the place of every window of an image to its elements (taps, channels)."""
    pads = ((0, 0), *window.paddings, (0, 0))
    full = np.pad(x, pads)
    rows, columns = window.outputs(x.shape[1:3])
    (sy, sx), (dy, dx), (ky, kx) = window.strides, window.dilations, window.size
    return {
        (b, i, j): np.array(
            [full[b, i * sy + p * dy, j * sx + q * dx] for p in range(ky) for q in range(kx)]
        )
        for b in range(len(x))
        for i in range(rows)
        for j in range(columns)
    }


@pytest.mark.parametrize("window", CASES)
def test_a_convolution_is_a_weighted_sum_of_each_window(window):
    rng = np.random.default_rng(0)
    x, f = rng.normal(size=(2, 5, 6, 3)), rng.normal(size=(*window.size, 3, 4))
    out = convolution.convolve(x, f, window=window, groups=1, order=0)
    for place, part in windows(x, window).items():
        np.testing.assert_allclose(out[place], np.einsum("tc,tco->o", part, f.reshape(-1, 3, 4)))


@pytest.mark.parametrize("window", CASES)
def test_groups_are_independent(window):
    rng = np.random.default_rng(1)
    x, f = rng.normal(size=(2, 5, 6, 4)), rng.normal(size=(*window.size, 2, 6))
    whole = convolution.convolve(x, f, window=window, groups=2, order=0)
    parts = [
        convolution.convolve(
            x[..., 2 * k : 2 * k + 2], f[..., 3 * k : 3 * k + 3], window=window, groups=1, order=0
        )
        for k in range(2)
    ]
    np.testing.assert_allclose(whole, np.concatenate(parts, axis=-1), rtol=1e-12)


@pytest.mark.parametrize("window", CASES)
def test_pools_reduce_each_window(window):
    x = np.random.default_rng(2).normal(size=(2, 5, 6, 3)) + 5
    largest = pool.max_pool(x, window=window, every=False)
    total = pool.sum_pool(x, window=window)
    for place, part in windows(x, window).items():
        np.testing.assert_allclose(largest[place], part.max(axis=0))
        np.testing.assert_allclose(total[place], part.sum(axis=0))


def test_the_first_or_every_tied_maximum_gets_the_cotangent():
    window = Window((2, 2), (1, 1), (1, 1), ((0, 0), (0, 0)))
    x, peak, g = np.ones((1, 2, 2, 1)), np.ones((1, 1, 1, 1)), np.full((1, 1, 1, 1), 3.0)
    first = pool.max_unpool(g, x, peak, window=window, every=False)
    assert first.ravel().tolist() == [3, 0, 0, 0]
    assert pool.max_unpool(g, x, peak, window=window, every=True).ravel().tolist() == [3] * 4


def test_a_window_larger_than_the_input_has_no_place():
    window = Window((3, 3), (1, 1), (1, 1), ((0, 0), (0, 0)))
    out = convolution.convolve(
        np.ones((1, 2, 2, 1)), np.ones((3, 3, 1, 2)), window=window, groups=1, order=0
    )
    assert out.shape == (1, 0, 0, 2)
