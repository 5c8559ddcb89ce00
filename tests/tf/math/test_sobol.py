"""Sobol sequences."""

import gradtape as tf


def test_sobol_points_start_after_the_origin():
    assert tf.math.sobol_sample(1, 3).numpy().ravel().tolist() == [0.5, 0.75, 0.25]
