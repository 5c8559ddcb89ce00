"""Softmax and its losses for extreme logits and invalid labels."""

import numpy as np
import pytest

import gradtape as tf


def test_large_logits_do_not_overflow():
    x = tf.constant([1e4, 0.0, -1e4])
    np.testing.assert_array_equal(tf.nn.softmax(x), [1, 0, 0])
    np.testing.assert_array_equal(tf.nn.log_softmax(x), [0, -1e4, -2e4])


def test_small_losses_are_accurate():
    logits = tf.constant([[20.0, 10.0]])
    loss = tf.nn.sparse_softmax_cross_entropy_with_logits([0], logits)
    np.testing.assert_allclose(loss, [np.log1p(np.exp(-10.0))], rtol=2e-3)


def test_the_fused_loss_keeps_the_softmax_and_has_second_derivatives():
    logits = np.random.default_rng(0).normal(size=(2, 3))
    x = tf.constant(logits)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            loss = tf.nn.softmax_cross_entropy_with_logits([[0, 0, 1.0], [1, 0, 0]], x)
        g = inner.gradient(loss, x)
    p = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    np.testing.assert_allclose(g, p - [[0, 0, 1], [1, 0, 0]], rtol=1e-12)
    rows = np.arange(2)
    want = np.zeros((2, 3, 2, 3))
    want[rows, :, rows] = np.einsum("bi,ij->bij", p, np.eye(3)) - p[:, :, None] * p[:, None]
    np.testing.assert_allclose(outer.jacobian(g, x), want, atol=1e-12)


def test_both_forms_of_the_loss_agree():
    x = tf.constant(np.random.default_rng(1).normal(size=(4, 5)).astype(np.float32))
    labels = [0, 4, 2, 2]
    sparse = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, x)
    whole = tf.nn.softmax_cross_entropy_with_logits(tf.one_hot(labels, 5), x)
    np.testing.assert_allclose(sparse, whole, rtol=1e-6)


def test_a_label_out_of_range_raises():
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"label value of 3 .* \[0, 2\)"):
        tf.nn.sparse_softmax_cross_entropy_with_logits([3], [[1.0, 2.0]])


def exact_softmax(x):
    """The softmax of each row on its own, in float64."""
    x = np.asarray(x, float)
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


@pytest.mark.parametrize("shift", [0.0, 50.0, 70.0, 1e4, -5.0, -50.0, -1e4])
@pytest.mark.parametrize("shape", [(2, 3), (2, 128), (3, 5, 40), (300, 200), (2, 8193)], ids=str)
def test_softmax_of_many_rows_is_accurate_for_any_shift(shape, shift):
    x = np.random.default_rng(3).normal(size=shape).astype(np.float32) + np.float32(shift)
    np.testing.assert_allclose(tf.nn.softmax(x), exact_softmax(x), rtol=3e-6)


def test_rows_far_below_others_of_their_block_are_right():
    x = np.random.default_rng(4).normal(size=(64, 16)).astype(np.float32)
    x[1] -= 8
    x[2] -= 200
    x[3] += 300
    x[4, 1:] -= 500
    np.testing.assert_allclose(tf.nn.softmax(x), exact_softmax(x), rtol=3e-6, atol=1e-30)


def test_a_row_with_nan_or_infinity_affects_no_other_row():
    x = np.random.default_rng(5).normal(size=(64, 16)).astype(np.float32)
    x[1, 3], x[2, 4], x[3], x[4, 5] = np.nan, np.inf, -np.inf, -np.inf
    got = tf.nn.softmax(x).numpy()
    assert np.isnan(got[1:4]).all()
    assert got[4, 5] == 0
    rest = [0, *range(5, 64)]
    np.testing.assert_allclose(got[rest], exact_softmax(x[rest]), rtol=3e-6)


def test_a_logit_of_minus_infinity_makes_the_loss_nan_but_not_its_gradient():
    x = tf.constant([[-np.inf, 1.0, 2.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = tf.nn.softmax_cross_entropy_with_logits([[0.0, 1.0, 0.0]], x)
    assert np.isnan(loss).all()
    np.testing.assert_allclose(tape.gradient(loss, x), [[0, -0.7310586, 0.7310586]], rtol=1e-6)
    sparse = tf.nn.sparse_softmax_cross_entropy_with_logits([1], x)
    np.testing.assert_allclose(sparse, [1.3132617], rtol=1e-6)


def test_the_weighted_loss_has_tensorflows_slope_at_zero():
    x = tf.zeros(2)
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = tf.nn.weighted_cross_entropy_with_logits([0.0, 0.25], x, 2.0)
    np.testing.assert_array_equal(tape.gradient(loss, x), [1.0, 0.75])
