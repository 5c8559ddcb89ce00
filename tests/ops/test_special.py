"""Special functions where SciPy and TensorFlow differ, and the derivative that SciPy lacks."""

import numpy as np
from scipy.special import gammainc

import gradtape as tf
from gradtape.ops.special import igamma_slope


def test_scipy_is_not_imported_before_it_is_needed():
    import subprocess
    import sys

    code = "import gradtape, sys; sys.exit('scipy.special' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_poles_give_nan():
    assert np.isnan(tf.math.digamma([0.0, -1.0]).numpy()).all()
    assert np.isnan(tf.math.polygamma([-1.0, 1.5], [1.0, 1.0]).numpy()).all()
    assert np.isnan(tf.math.igamma([0.0, 1.0], [1.0, -1.0]).numpy()).all()
    assert np.isnan(tf.math.special.expint([-1.0]).numpy()).all()


def test_the_slope_of_igamma_agrees_with_finite_differences():
    a = np.array([0.05, 0.5, 2.5, 30.0, 30.0, 200.0])
    x = np.array([0.5, 0.1, 2.0, 25.0, 55.0, 210.0])
    h = 1e-5 * a
    want = (gammainc(a + h, x) - gammainc(a - h, x)) / (2 * h)
    np.testing.assert_allclose(igamma_slope(a, x), want, rtol=1e-6, atol=1e-11)


def test_halves_are_computed_in_single_precision():
    x = tf.constant([0.3, 1.7], tf.float16)
    assert tf.math.lgamma(x).dtype == tf.float16
    np.testing.assert_allclose(tf.math.erf(x).numpy(), [0.3286, 0.9838], rtol=1e-3)


def test_bessel_functions_have_tensorflows_slopes_at_zero():
    slopes = {tf.math.bessel_i1: 1.0, tf.math.bessel_i1e: 0.5, tf.math.special.bessel_j1: 0.5}
    x = tf.constant(0.0)
    for function, expected in slopes.items():
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x)
        assert tape.gradient(y, x).numpy() == expected
