"""tf.nn.dropout against what TensorFlow 2.21 gives."""

import numpy as np
import pytest

import gradtape as tf

X = np.arange(1, 13, dtype="float32").reshape(3, 4)
KEPT = np.array([[1, 0, 1, 0], [0, 1, 0, 0], [1, 0, 0, 0]], bool)  # of the seed [1, 2], rate 0.3


def test_the_mask_is_tensorflows():
    y = tf.nn.experimental.stateless_dropout(X, 0.3, seed=[1, 2])
    np.testing.assert_allclose(y, np.where(KEPT, X / 0.7, 0), rtol=1e-6)
    tf.random.set_seed(4)
    y = tf.nn.dropout(X, 0.5).numpy()
    assert y.tolist() == [[2, 4, 0, 0], [0, 0, 14, 0], [0, 20, 0, 24]]


def test_rows_are_dropped_as_a_whole():
    y = tf.nn.experimental.stateless_dropout(
        X, tf.constant(0.3), seed=[1, 2], noise_shape=[None, 1]
    )
    np.testing.assert_allclose(y, np.where([[1], [0], [1]], X / 0.7, 0), rtol=1e-6)


def test_gradients_pass_where_elements_did():
    x = tf.Variable(X)
    with tf.GradientTape() as tape:
        y = tf.nn.experimental.stateless_dropout(x, 0.3, seed=[1, 2])
    np.testing.assert_allclose(tape.gradient(y, x), KEPT / 0.7, rtol=1e-6)


def test_a_rate_of_zero_changes_nothing_but_what_is_drawn_next():
    x = tf.constant(X)
    after = []
    for rate in (0, 0.5):
        tf.random.set_seed(4)
        y = tf.nn.dropout(x, rate)
        assert (y is x) == (rate == 0)
        after.append(tf.random.uniform([2]).numpy().tolist())
    assert after[0] == after[1]


@pytest.mark.parametrize(
    ("x", "rate"),
    [
        (X, 1.0),
        (X, -1),
        (X, [0.5]),
        (X, "a"),
        (X, tf.constant(0.5, tf.float64)),
        (X.astype("int32"), 0.5),
    ],
)
def test_bad_rates_and_dtypes(x, rate):
    with pytest.raises(ValueError, match="dropout"):
        tf.nn.dropout(x, rate)
