"""check_gradients finds wrong gradients and names the worst element."""

import numpy as np
import pytest

import gradtape as tf
from gradtape.debug import check_gradients

X = tf.constant([[0.3, 1.7], [2.9, -0.8]], tf.float64)


@tf.custom_gradient
def wrong_in_one_row(x):
    scale = np.array([[1.0, 1.0], [1.0, 1.5]])
    return x * x, lambda g: 2 * g * x * scale


@tf.custom_gradient
def wrong_at_second_order(x):
    return x * x, lambda g: 2 * g * tf.stop_gradient(x)


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (lambda x: tf.sin(x) * x, X),
        (tf.linalg.matmul, (X, X)),
        (tf.function(tf.exp), X),
        (lambda x: tf.nn.relu(x), tf.constant([0.0, 1.0], tf.float64)),
        (lambda x: tf.abs(x * x), tf.constant([1 + 2j], tf.complex128)),
        (lambda parts: parts["a"] * parts["b"], {"a": X, "b": tf.constant(2.0, tf.float64)}),
        (lambda x: tf.tanh(x), tf.constant([0.5, 1.0])),
        (lambda x, i: tf.gather(x, i), (X, tf.constant([0, 0]))),
    ],
)
def test_right_gradients_pass(f, args):
    report = check_gradients(f, args)
    assert report, str(report)


def test_the_worst_element_is_named():
    report = check_gradients(wrong_in_one_row, X)
    assert not report
    assert report.worst.source == "argument 0"
    assert report.worst.index == (1, 1)
    assert report.worst.order == 1
    np.testing.assert_allclose(report.worst.by_tape / report.worst.by_difference, 1.5, rtol=1e-6)
    assert "argument 0[1, 1]" in str(report)


def test_the_second_order_is_checked():
    assert check_gradients(wrong_at_second_order, X, order=1)
    report = check_gradients(wrong_at_second_order, X, order=2)
    assert not report
    assert report.worst.order == 2


def test_variables_are_checked_and_keep_their_values():
    class Layer(tf.Module):
        def __init__(self):
            self.w = tf.Variable([1.0, 2.0], dtype=tf.float64, name="w")

        def __call__(self, x):
            return wrong_in_one_row(x * self.w)

    layer = Layer()
    report = check_gradients(layer, X)
    assert {element.source for element in report.wrong} == {"argument 0", "w"}
    np.testing.assert_array_equal(layer.w, [1.0, 2.0])


def test_elements_at_kinks_are_skipped():
    report = check_gradients(tf.nn.relu, tf.constant([0.0, 1.0], tf.float64), order=1)
    assert (report.passed, report.compared, report.skipped) == (True, 1, 1)


def test_functions_must_be_deterministic_and_have_something_to_check():
    with pytest.raises(ValueError, match="must be deterministic"):
        check_gradients(lambda x: x * tf.random.normal([], dtype=tf.float64), X)
    with pytest.raises(ValueError, match="there must be a floating argument"):
        check_gradients(lambda x: x, tf.constant([1, 2]))
    with pytest.raises(ValueError, match="order must be 1 or 2"):
        check_gradients(tf.sin, X, order=3)
