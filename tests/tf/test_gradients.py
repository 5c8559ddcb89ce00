"""Graph-mode gradient functions, and the gradient check by finite differences."""

import numpy as np
import pytest

import gradtape as tf


def test_graph_gradients_raise_in_eager_mode():
    x = tf.constant(1.0)
    for function in (tf.gradients, tf.hessians):
        with pytest.raises(RuntimeError, match="GradientTape"):
            function(x, x)
    assert tf.AggregationMethod.DEFAULT == tf.AggregationMethod.ADD_N


@pytest.mark.parametrize(
    ("f", "x", "jacobian"),
    [
        (lambda t: t * t, tf.constant([1 + 2j], tf.complex64), [[2, -4], [4, 2]]),
        (lambda t: tf.math.real(t * t), tf.constant([1 + 2j], tf.complex64), [[2, -4]]),
        (lambda t: tf.complex(t, t * t), tf.constant([1.0, 2.0]), [[1, 0], [2, 0], [0, 1], [0, 4]]),
    ],
)
def test_complex_numbers_count_as_two(f, x, jacobian):
    (theory,), (numeric,) = tf.test.compute_gradient(f, [x])
    np.testing.assert_allclose(theory, jacobian)
    np.testing.assert_allclose(numeric, jacobian, atol=1e-3)
    assert theory.dtype == numeric.dtype == np.float32


def test_empty_jacobians_have_their_shape():
    (theory,), (numeric,) = tf.test.compute_gradient(lambda t: t[:0], [tf.constant([1.0, 2.0])])
    assert theory.shape == numeric.shape == (0, 2)
    (theory,), (numeric,) = tf.test.compute_gradient(tf.reduce_sum, [tf.zeros((0,))])
    assert theory.shape == numeric.shape == (1, 0)


def test_an_integer_argument_is_an_error():
    with pytest.raises(AssertionError, match="int32"):
        tf.test.compute_gradient(lambda t: tf.cast(t, tf.float32), [tf.constant([1])])


def test_no_gradient_reaches_the_values_of_one_hot():
    on = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = tf.one_hot([1], 3, on_value=on, off_value=0.0)
    np.testing.assert_array_equal(y, [[0, 2, 0]])
    assert tape.gradient(y, on) is None
