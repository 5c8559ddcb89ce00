"""Isotonic regression."""

import numpy as np
import pytest

import gradtape as tf

RNG = np.random.default_rng(4)


@pytest.mark.parametrize("decreasing", [True, False])
def test_isotonic_regression_is_monotonic_and_keeps_the_means_of_its_pieces(decreasing):
    x = RNG.standard_normal((3, 8))
    out, pieces = (np.asarray(t) for t in tf.nn.isotonic_regression(x, decreasing))
    steps = np.diff(out, axis=-1)
    assert (steps <= 1e-12).all() if decreasing else (steps >= -1e-12).all()
    for row in range(3):
        for piece in np.unique(pieces[row]):
            inside = pieces[row] == piece
            np.testing.assert_allclose(out[row, inside], x[row, inside].mean())
