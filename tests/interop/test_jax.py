"""Gradients flow between our tapes and JAX, at first and second order."""

import numpy as np
import pytest

import gradtape as tf

jax = pytest.importorskip("jax")
bridge = tf.interop.jax
jnp = jax.numpy

X = np.array([0.5, -1.5, 2.0], "float32")


def test_values_cross_the_border():
    ours = tf.constant(np.arange(64, dtype="float32"))
    np.testing.assert_array_equal(bridge.to_jax_array(ours), ours)
    theirs = jnp.arange(4.0)
    np.testing.assert_array_equal(bridge.from_jax_array(theirs), theirs)
    shared = bridge.from_jax_array(theirs)._array
    assert shared.ctypes.data == theirs.unsafe_buffer_pointer()
    assert bridge.from_jax_array(jnp.array([True, False])).dtype == tf.bool
    assert bridge.from_jax_array(jnp.ones(2, jnp.bfloat16)).dtype == tf.bfloat16


def test_our_tape_differentiates_a_function_of_jax():
    f = bridge.from_jax(lambda x, y: {"a": jnp.sin(x) * y, "b": (x * x).sum()})
    x, y = tf.constant(X), tf.Variable(X * 2)
    with tf.GradientTape() as tape:
        tape.watch(x)
        result = f(x, y)
        total = tf.reduce_sum(result["a"]) + result["b"]
    gx, gy = tape.gradient(total, [x, y])
    np.testing.assert_allclose(gx, np.cos(X) * 2 * X + 2 * X, rtol=1e-5)
    np.testing.assert_allclose(gy, np.sin(X), rtol=1e-5)


def test_our_tapes_differentiate_twice():
    f = bridge.from_jax(lambda x, i: (x[i] ** 3 * jnp.exp(x)).sum())
    x, i = tf.constant(X), tf.constant([0, 1, 2])
    want = tf.func.hessian(lambda x: tf.reduce_sum(x**3 * tf.exp(x)))(x)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = f(x, i)
        g = inner.gradient(y, x)
    np.testing.assert_allclose(outer.gradient(g, x), np.diag(want), rtol=1e-5)


def test_jax_differentiates_our_function():
    f = bridge.to_jax(lambda x, y: (tf.sin(x) * y, tf.reduce_sum(x)))

    def loss(x, y):
        a, b = f(x, y)
        return a.sum() + 3 * b

    gx, gy = jax.grad(loss, (0, 1))(X, X * 2)
    np.testing.assert_allclose(gx, np.cos(X) * 2 * X + 3, rtol=1e-5)
    np.testing.assert_allclose(gy, np.sin(X), rtol=1e-5)
    np.testing.assert_allclose(jax.jit(jax.grad(loss))(X, X * 2), gx, rtol=1e-6)


def test_jax_differentiates_twice():
    f = bridge.to_jax(lambda x: tf.reduce_sum(x**3))
    second = jax.grad(lambda x: jax.grad(f)(x).sum())
    np.testing.assert_allclose(second(X), 6 * X, rtol=1e-5)
    g = bridge.to_jax(lambda x, i: tf.gather(x, i) ** 2)
    found = jax.grad(lambda x: g(x, jnp.array([0, 0])).sum())(X)
    np.testing.assert_allclose(found, [4 * X[0], 0, 0], rtol=1e-6)
