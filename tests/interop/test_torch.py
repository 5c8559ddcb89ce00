"""Gradients flow between our tapes and PyTorch's autograd, at first and second order."""

import numpy as np
import pytest

import gradtape as tf

torch = pytest.importorskip("torch")
bridge = tf.interop.torch

X = np.array([0.5, -1.5, 2.0])


def test_memory_is_shared_both_ways():
    ours = tf.constant(np.arange(6.0))
    theirs = bridge.to_torch_tensor(ours)
    assert theirs.data_ptr() == ours._array.ctypes.data
    back = bridge.from_torch_tensor(theirs)
    assert back._array.ctypes.data == theirs.data_ptr()


def test_a_variable_does_not_write_into_shared_memory():
    theirs = torch.zeros(1000)
    v = tf.Variable(bridge.from_torch_tensor(theirs))
    for _ in range(3):
        v.assign_add(tf.ones(1000))
    assert float(theirs.sum()) == 0.0
    assert float(tf.reduce_sum(v)) == 3000.0


def test_our_tape_differentiates_a_function_of_torch():
    f = bridge.from_torch(lambda x, y: {"a": torch.sin(x) * y, "b": (x * x).sum()})
    x, y = tf.constant(X), tf.Variable(X * 2)
    with tf.GradientTape() as tape:
        tape.watch(x)
        result = f(x, y)
        total = tf.reduce_sum(result["a"]) + result["b"]
    gx, gy = tape.gradient(total, [x, y])
    np.testing.assert_allclose(gx, np.cos(X) * 2 * X + 2 * X)
    np.testing.assert_allclose(gy, np.sin(X))


def test_our_tapes_differentiate_twice():
    f = bridge.from_torch(lambda x: (x**3 * torch.exp(x)).sum())
    x = tf.constant(X)
    want = tf.func.hessian(lambda x: tf.reduce_sum(x**3 * tf.exp(x)))(x)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = f(x)
        g = inner.gradient(y, x)
    np.testing.assert_allclose(outer.gradient(g, x), np.diag(want), rtol=1e-12)
    assert tf.debug.check_gradients(f, x)


def test_integers_and_unused_arguments_get_none_or_zeros():
    f = bridge.from_torch(lambda x, i, z: x[i].sum())
    x, z = tf.constant(X), tf.constant(X)
    with tf.GradientTape() as tape:
        tape.watch([x, z])
        y = f(x, tf.constant([0, 0]), z)
    gx, gz = tape.gradient(y, [x, z])
    np.testing.assert_array_equal(gx, [2.0, 0.0, 0.0])
    np.testing.assert_array_equal(gz, np.zeros(3))


def test_autograd_differentiates_our_function():
    f = bridge.to_torch(lambda x, y: (tf.sin(x) * y, tf.reduce_sum(x)))
    x = torch.tensor(X, requires_grad=True)
    y = torch.tensor(X * 2, requires_grad=True)
    a, b = f(x, y)
    (a.sum() + 3 * b).backward()
    np.testing.assert_allclose(x.grad, np.cos(X) * 2 * X + 3)
    np.testing.assert_allclose(y.grad, np.sin(X))


def test_autograd_differentiates_twice():
    f = bridge.to_torch(lambda x: tf.reduce_sum(x**3 * tf.exp(x)))
    x = torch.tensor(X, requires_grad=True)
    assert torch.autograd.gradcheck(f, (x,))
    assert torch.autograd.gradgradcheck(f, (x,))


def test_inside_a_function_there_are_no_values():
    f = bridge.from_torch(torch.sin)
    with pytest.raises(NotImplementedError, match="needs values"):
        tf.function(f)(tf.constant(X))
