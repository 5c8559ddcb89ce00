"""Branches, loops and custom gradients that use tensors of the function around them."""

import numpy as np
import pytest

import gradtape as tf

K = tf.constant([1.0, 2.0])


def check_calls(function, *cases):
    """Check the results of a function at its first, second and third call."""
    for _ in range(3):
        for argument, expected in cases:
            np.testing.assert_allclose(function(argument), expected, rtol=1e-5)


def test_a_branch_returns_an_outer_tensor_of_a_nested_branch():
    @tf.function
    def f(x):
        return tf.cond(x > 0, lambda: tf.cond(x > 1, lambda: K, lambda: K * 2), lambda: K)

    check_calls(f, (tf.constant(2.0), [1, 2]), (tf.constant(0.5), [2, 4]), (tf.constant(-1.0), K))


def test_a_branch_returns_a_tensor_array():
    @tf.function
    def f(x):
        array = tf.TensorArray(tf.float32, 2).unstack(x)
        chosen = tf.cond(tf.reduce_sum(x) > 0, lambda: array, lambda: array.write(0, 9.0))
        return chosen.stack()

    check_calls(f, (K, [1, 2]), (-K, [9, -2]))


def test_a_write_in_one_branch_does_not_change_the_array_of_the_other():
    @tf.function
    def f(x):
        array = tf.TensorArray(tf.float32, 2, element_shape=[])
        array = array.write(0, x).write(1, x + 1)
        return tf.cond(x > 0, lambda: array.write(0, 7.0).stack(), lambda: array.stack())

    check_calls(f, (tf.constant(1.0), [7, 2]), (tf.constant(-1.0), [-1, 0]))


def test_a_loop_returns_an_outer_tensor_array():
    @tf.function
    def f(x):
        array = tf.TensorArray(tf.float32, 2).unstack(x)
        return tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, array), [0, array])[1].stack()

    check_calls(f, (K, [1, 2]), (2 * K, [2, 4]))


def test_branches_that_return_nothing():
    v = tf.Variable(0.0)

    @tf.function
    def f(x):
        tf.cond(x > 0, lambda: None, lambda: None)
        tf.cond(x > 0, lambda: v.assign_add(x, read_value=False), lambda: None)

    for _ in range(3):
        f(tf.constant(1.0))
        f(tf.constant(-1.0))
    assert float(v) == 3.0


def test_gradients_of_outer_tensors_in_branches_and_loops():
    @tf.function
    def f(x):
        y = x * 2
        z = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, y), [0, x])[1]
        return tf.cond(tf.reduce_sum(x) > 0, lambda: z, lambda: x)

    for _ in range(3):
        for x, slope in ((K, 2.0), (-K, 1.0)):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(x)
            assert tape.gradient(y, x).numpy().tolist() == [slope] * 2


def test_a_custom_gradient_sends_nothing_to_tensors_it_closes_over():
    @tf.function
    def f(x):
        scale = tf.custom_gradient(lambda c: (x * c, lambda dy: dy * 5.0))
        return scale(tf.constant([2.0, 2.0]))

    for _ in range(3):
        with tf.GradientTape() as tape:
            tape.watch(K)
            y = f(K)
        assert y.numpy().tolist() == [2.0, 4.0]
        assert tape.gradient(y, K) is None


def test_recompute_grad_closes_over_a_traced_tensor_under_a_tape():
    @tf.function
    def f(x):
        h = tf.sin(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.recompute_grad(lambda c: c * c * h)(x)
        return tape.gradient(y, x)

    check_calls(f, (K, 2 * K.numpy() * np.sin(K.numpy())))


@pytest.mark.parametrize("is_inside", [True, False])
def test_forward_mode_over_branches_and_loops(is_inside):
    def run(x):
        y = tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, a * x), [0, x])[1]
        return tf.cond(tf.reduce_sum(x) > 0, lambda: y, lambda: tf.zeros_like(x))

    inner = run if is_inside else tf.function(run)

    def jvp(x):
        with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as accumulator:
            y = inner(x)
        return accumulator.jvp(y)

    function = tf.function(jvp) if is_inside else jvp
    check_calls(function, (K, 3 * K.numpy() ** 2), (-K, [0, 0]))


def test_functions_that_are_too_large_to_compile_have_gradients(monkeypatch):
    monkeypatch.setattr("gradtape.jit.function.MAX_NODES", 50)

    @tf.function
    def f(x):
        for _ in range(60):
            x = x * 1.0 + x * 0.5
        return x

    x = tf.constant(2.0)
    for _ in range(3):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        np.testing.assert_allclose(tape.gradient(y, x), 1.5**60, rtol=1e-4)


def test_a_large_backward_pass_is_not_cut_off(monkeypatch):
    monkeypatch.setattr("gradtape.jit.function.MAX_NODES", 50)

    g = tf.function(sum_of_sines)
    for _ in range(3):
        with tf.GradientTape() as tape:
            tape.watch(K)
            y = g(K)
        np.testing.assert_allclose(tape.gradient(y, K), 20 * np.cos(K.numpy()), rtol=1e-4)


def sum_of_sines(x):
    total = x * 0.0
    for _ in range(20):
        total += tf.sin(x)
    return total


def test_a_stop_of_the_users_own_iterator_stays_what_it_is():
    @tf.function
    def f(x):
        return x + next(iter([]))

    with pytest.raises((StopIteration, RuntimeError)):
        f(K)


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64])
def test_an_outer_tensor_that_is_watched_has_gradient_one_by_itself(dtype):
    outer = tf.constant(2.0, dtype)

    @tf.function
    def f(x):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(outer)
            y = outer * x
        return tape.gradient(outer, outer), tape.gradient(y, outer)

    for _ in range(3):
        assert [float(g) for g in f(tf.constant(3.0, dtype))] == [1.0, 3.0]
