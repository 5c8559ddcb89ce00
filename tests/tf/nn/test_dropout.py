"""tf.nn.dropout against results of TensorFlow 2.21."""

import numpy as np
import pytest

import gradtape as tf

X = np.arange(1, 13, dtype="float32").reshape(3, 4)
KEPT = np.array(
    [[1, 0, 1, 0], [0, 1, 0, 0], [1, 0, 0, 0]], bool
)  # for the seed [1, 2] and rate 0.3


def test_the_mask_agrees_with_tensorflow():
    y = tf.nn.experimental.stateless_dropout(X, 0.3, seed=[1, 2])
    np.testing.assert_allclose(y, np.where(KEPT, X / 0.7, 0), rtol=1e-6)
    tf.random.set_seed(4)
    y = tf.nn.dropout(X, 0.5).numpy()
    assert y.tolist() == [[2, 4, 0, 0], [0, 0, 14, 0], [0, 20, 0, 24]]


def test_a_noise_shape_drops_whole_rows():
    y = tf.nn.experimental.stateless_dropout(
        X, tf.constant(0.3), seed=[1, 2], noise_shape=[None, 1]
    )
    np.testing.assert_allclose(y, np.where([[1], [0], [1]], X / 0.7, 0), rtol=1e-6)


def test_dropped_elements_have_zero_gradient():
    x = tf.Variable(X)
    with tf.GradientTape() as tape:
        y = tf.nn.experimental.stateless_dropout(x, 0.3, seed=[1, 2])
    np.testing.assert_allclose(tape.gradient(y, x), KEPT / 0.7, rtol=1e-6)


def test_a_rate_of_zero_returns_the_input_and_advances_the_stream():
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
def test_invalid_rates_and_dtypes_raise(x, rate):
    with pytest.raises(ValueError, match="dropout"):
        tf.nn.dropout(x, rate)


def test_a_sampler_of_the_user_draws_the_mask():
    x = tf.constant([1.1, 2.2, 3.3, 4.4, 5.5])
    generator = tf.random.Generator.from_seed(7)
    dropped = tf.nn.experimental.general_dropout(x, 0.5, generator.uniform)
    np.testing.assert_allclose(dropped, [0, 4.4, 6.6, 8.8, 11])  # TensorFlow's numbers
    before = generator.state.numpy()
    assert tf.nn.experimental.general_dropout(x, 0.0, generator.uniform) is x
    np.testing.assert_array_equal(generator.state, before)
