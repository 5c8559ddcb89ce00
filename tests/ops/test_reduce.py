"""Reductions: products at zeros, half precision, empty arrays, NaN, long sums."""

import numpy as np
import pytest

import gradtape as tf
from gradtape.ops.reduce import broadcast_to


def test_the_gradient_of_a_product_is_right_at_zeros_to_second_order():
    x = tf.constant([2.0, 0.0, 3.0])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.reduce_prod(x)
        g = inner.gradient(y, x)
        third = tf.reduce_sum(g * [1.0, 0.0, 0.0])
    np.testing.assert_array_equal(g.numpy(), [0, 6, 0])
    np.testing.assert_array_equal(outer.gradient(third, x).numpy(), [0, 3, 0])


@pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16])
def test_halves_are_summed_in_single_precision(dtype):
    x = tf.cast(np.full(4096, 0.1), dtype)
    want = np.float32(x.numpy()[0]) * 4096
    np.testing.assert_allclose(np.float32(tf.reduce_sum(x).numpy()), want, rtol=1e-2)
    assert tf.reduce_mean(x).dtype == dtype


def test_reductions_of_empty_arrays():
    nothing = tf.constant(np.zeros((0, 2), np.float32))
    np.testing.assert_array_equal(tf.reduce_sum(nothing, 0).numpy(), [0, 0])
    np.testing.assert_array_equal(tf.reduce_prod(nothing, 0).numpy(), [1, 1])
    np.testing.assert_array_equal(tf.reduce_max(nothing, 0).numpy(), [-np.inf, -np.inf])
    np.testing.assert_array_equal(tf.reduce_logsumexp(nothing, 0).numpy(), [-np.inf, -np.inf])
    assert np.isnan(tf.reduce_mean(nothing).numpy())


def test_means_of_integers_are_rounded_towards_zero():
    assert tf.reduce_mean([1, 2]).numpy() == 1
    assert tf.reduce_mean([-1, -2]).numpy() == -1
    assert tf.reduce_mean(tf.constant([200, 250], tf.uint8)).numpy() == 225


def test_logsumexp_does_not_overflow():
    x = tf.constant([[1000.0, 1000.0], [-np.inf, -np.inf], [np.inf, 1.0]])
    want = [1000 + np.log(2), -np.inf, np.inf]
    np.testing.assert_allclose(tf.reduce_logsumexp(x, 1).numpy(), want)


def test_nan_is_neither_largest_nor_smallest():
    x = [1.0, np.nan, 3.0]
    assert tf.argmax(x).numpy() == 2
    assert tf.argmin(x).numpy() == 0
    assert tf.argmax([np.nan, np.nan]).numpy() == 0


def test_the_gradient_of_broadcasting_is_summed_behind_lead_axes():
    x = tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = broadcast_to(x, shape=(2, 3), rank=1)  # axis 0 is a lead axis
    g = np.arange(12, dtype=np.float32).reshape(2, 2, 3)
    np.testing.assert_array_equal(y[1], [[4, 5, 6], [4, 5, 6]])
    np.testing.assert_array_equal(tape.gradient(y, x, output_gradients=g), g.sum(1))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(40_000,), (200, 500), (32, 1024), (7, 5003)])
def test_long_sums_by_dot_products_are_accurate(dtype, shape):
    x = np.random.default_rng(0).normal(size=shape).astype(dtype)
    for array in (x, x[..., ::-1]):
        for keepdims in (False, True):
            got = tf.reduce_sum(array, keepdims=keepdims)
            want = np.sum(array, dtype=np.longdouble, keepdims=keepdims)
            assert got.shape == want.shape
            np.testing.assert_allclose(got.numpy(), want, atol=2e5 * np.finfo(dtype).eps / 64)
    x.flat[3] = np.inf
    assert tf.reduce_sum(x).numpy() == np.inf
    x.flat[-1] = np.nan
    assert np.isnan(tf.reduce_sum(x).numpy())


def test_a_bias_gets_the_sum_over_the_batch():
    x, b = tf.ones((5, 3)), tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        y = (x + b) * [[1.0, 2.0, 3.0]]
    assert tape.gradient(y, b).numpy().tolist() == [5.0, 10.0, 15.0]
