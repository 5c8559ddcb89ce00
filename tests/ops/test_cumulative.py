"""Running sums, products and log-sum-exps."""

import numpy as np
import pytest

import gradtape as tf


@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
def test_scans_agree_with_sums_over_prefixes(exclusive, reverse):
    x = np.array([1.0, 2.0, 4.0], np.float32)
    parts = [x[i + exclusive :] if reverse else x[: i + (not exclusive)] for i in range(3)]
    flags = {"exclusive": exclusive, "reverse": reverse}
    np.testing.assert_array_equal(tf.cumsum(x, **flags).numpy(), [p.sum() for p in parts])
    np.testing.assert_array_equal(tf.math.cumprod(x, **flags).numpy(), [p.prod() for p in parts])
    want = [np.log(np.exp(p).sum()) if p.size else -np.inf for p in parts]
    got = tf.math.cumulative_logsumexp(x, **flags).numpy()
    np.testing.assert_allclose(got, want, rtol=1e-6)


def test_a_running_logsumexp_and_its_gradient_do_not_overflow():
    x = tf.constant([1000.0, -1000.0, 1000.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.math.cumulative_logsumexp(x)
    np.testing.assert_allclose(y.numpy(), [1000, 1000, 1000 + np.log(2)])
    np.testing.assert_allclose(tape.gradient(y, x).numpy(), [2.5, 0, 0.5], rtol=1e-4)


def test_small_integers_wrap_around():
    out = tf.cumsum(tf.constant([100, 100], tf.int8))
    assert out.dtype == tf.int8
    assert out.numpy().tolist() == [100, -56]
