"""Forward mode."""

import numpy as np
import pytest

import gradtape as tf


def test_forward_over_forward_gives_a_second_derivative():
    x = tf.constant(2.0)
    one = tf.constant(1.0)
    with tf.autodiff.ForwardAccumulator(x, one) as outer:
        with tf.autodiff.ForwardAccumulator(x, one) as inner:
            y = x * x * x
        slope = inner.jvp(y)
    assert float(slope) == 12.0
    assert float(outer.jvp(slope)) == 12.0


def test_reverse_over_forward_equals_forward_over_reverse():
    x = tf.constant([1.0, 2.0])
    v = tf.constant([1.0, -1.0])

    def f(x):
        return tf.reduce_sum(tf.sin(x) * x * x)

    with tf.GradientTape() as tape:
        tape.watch(x)
        with tf.autodiff.ForwardAccumulator(x, v) as acc:
            y = f(x)
        slope = acc.jvp(y)
    backward = tape.gradient(slope, x)
    with tf.autodiff.ForwardAccumulator(x, v) as acc, tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
        g = tape.gradient(y, x)
    np.testing.assert_allclose(backward, acc.jvp(g), rtol=1e-5)


def test_ops_with_several_outputs_carry_tangents():
    x = tf.constant([3.0, 1.0, 2.0])
    with tf.autodiff.ForwardAccumulator(x, tf.constant([10.0, 20.0, 30.0])) as acc:
        values, _ = tf.math.top_k(x, 2)
        pieces = tf.split(x, [1, 2])
    assert acc.jvp(values).numpy().tolist() == [10.0, 30.0]
    assert acc.jvp(pieces[1]).numpy().tolist() == [20.0, 30.0]


def test_a_function_with_a_custom_gradient_carries_tangents():
    @tf.custom_gradient
    def f(x):
        return x * x, lambda g: g * 100.0

    x = tf.constant(3.0)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(2.0)) as acc:
        y = f(x)
    assert float(acc.jvp(y)) == 200.0


def test_a_tangent_of_another_shape_is_refused():
    with pytest.raises(ValueError, match="shape"):
        tf.autodiff.ForwardAccumulator(tf.constant([1.0, 2.0]), tf.constant([1.0]))


def test_an_assigned_variable_keeps_its_tangent():
    v = tf.Variable(2.0)
    with tf.autodiff.ForwardAccumulator(v, tf.constant(1.0)) as acc:
        v.assign(3.0)
        y = v * v
    assert float(acc.jvp(y)) == 6.0
