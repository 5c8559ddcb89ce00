"""Forward mode: ForwardAccumulator."""

import weakref

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


def test_tangents_through_a_functions_ops_take_precedence_over_its_custom_gradient():
    @tf.custom_gradient
    def f(x):
        return (x * x, tf.stop_gradient(x)), lambda g, h: g * 100.0 + h * 10.0

    x = tf.constant(3.0)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(2.0)) as acc:
        y, z = f(x)
    assert float(acc.jvp(y)) == 12.0
    assert float(acc.jvp(z)) == 20.0


def test_a_tangent_of_another_shape_raises():
    with pytest.raises(ValueError, match="shape"):
        tf.autodiff.ForwardAccumulator(tf.constant([1.0, 2.0]), tf.constant([1.0]))


def test_an_assigned_variable_keeps_its_tangent():
    v = tf.Variable(2.0)
    with tf.autodiff.ForwardAccumulator(v, tf.constant(1.0)) as acc:
        v.assign(3.0)
        y = v * v
    assert float(acc.jvp(y)) == 6.0


def test_exiting_twice_is_allowed():
    acc = tf.autodiff.ForwardAccumulator(tf.constant(1.0), tf.constant(1.0))
    with acc:
        pass
    assert acc.__exit__(None, None, None) is None


def test_an_integer_primal_warns(caplog):
    tf.autodiff.ForwardAccumulator(tf.constant(1), tf.constant(1))
    assert "must be floating" in caplog.text


def test_a_batch_accumulator_carries_several_tangents():
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    directions = tf.reshape(tf.eye(4), (4, 2, 2))
    with tf.autodiff.ForwardAccumulator._batch_accumulator(x, directions) as acc:
        y = tf.nn.softmax(x @ x)
        constant = tf.constant([1.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        z = tf.nn.softmax(x @ x)
    jacobian = tf.reshape(tape.jacobian(z, x), (4, 4))
    tangents = tf.transpose(tf.reshape(acc.jvp(y), (4, 4)))
    np.testing.assert_allclose(tangents, jacobian, atol=1e-6)
    assert acc.jvp(constant, unconnected_gradients="zero").shape == (4, 1)
    with pytest.raises(ValueError, match="shape"):
        tf.autodiff.ForwardAccumulator._batch_accumulator(x, tf.ones((3, 2)))


def test_a_tangent_is_freed_with_its_tensor():
    x = tf.constant([1.0, 2.0])
    with tf.autodiff.ForwardAccumulator(x, tf.ones(2)) as acc:
        y = x * x
        tangent = weakref.ref(acc.jvp(y))
        assert tangent() is not None
        del y
        assert tangent() is None


def test_a_repeated_primal_raises_but_watching_it_again_adds_tangents():
    x = tf.constant(2.0)
    with pytest.raises(ValueError, match="multiple times"):
        tf.autodiff.ForwardAccumulator([x, x], [1.0, 1.0])
    with tf.autodiff.ForwardAccumulator(x, 3.0) as acc:
        acc._watch(x, tf.constant(10.0))
        y = x * 2.0
    assert float(acc.jvp(y)) == 26.0
