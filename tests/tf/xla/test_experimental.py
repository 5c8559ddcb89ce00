"""tf.xla.experimental."""

import numpy as np
import pytest

import gradtape as tf


def test_compile_returns_a_single_tensor_in_a_tuple():
    (out,) = tf.xla.experimental.compile(lambda x, y: x * y, [tf.constant(2.0), 3.0])
    assert out.numpy() == 6.0


def test_compile_keeps_structures_and_works_inside_a_function():
    @tf.function
    def f(x):
        first, second = tf.xla.experimental.compile(lambda: (x + 1, x * 2))
        return first * second

    assert f(tf.constant(3.0)).numpy() == 24.0


def test_gradients_flow_through_compile():
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        (y,) = tf.xla.experimental.compile(lambda: x * x)
    np.testing.assert_array_equal(tape.gradient(y, x), [2.0, 4.0])


def test_jit_scope_is_for_functions_only():
    with pytest.raises(RuntimeError, match="jit_scope"):
        tf.xla.experimental.jit_scope()

    @tf.function
    def f(x):
        with tf.xla.experimental.jit_scope():
            return x + 1

    assert f(tf.constant(1)).numpy() == 2
