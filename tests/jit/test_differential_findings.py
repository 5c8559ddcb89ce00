"""What long runs of `tests/fuzz/programs.py` found: functions compute what eager mode does."""

import numpy as np
import pytest

import gradtape as tf

X = tf.constant([0.5, 0.25, -0.5])


def take_branch(x, w):
    return tf.cond(tf.reduce_min(x) < 1, lambda: tf.reshape(w, [1]), lambda: tf.tanh(w))


def run_loop(x, w):
    return tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, a * w), [0, tf.ones([1])])[1]


def run_map(x, w):
    return tf.map_fn(lambda one: one * w, x)


@pytest.mark.parametrize("use", [take_branch, run_loop, run_map])
@pytest.mark.parametrize("how", ["gradient", "jacobian"])
def test_a_constant_of_the_function_is_watched_in_branches_and_loops(use, how):
    def differentiate(x):
        v = tf.constant([3.0])
        with tf.GradientTape() as tape:
            tape.watch(v)
            y = use(x, v * 2)
        return getattr(tape, how)(y, v)

    expected = differentiate(X)
    compiled = tf.function(differentiate)
    for _ in range(3):
        np.testing.assert_allclose(compiled(X), expected)


def test_recompute_grad_of_a_value_that_vectorized_map_does_not_split():
    def compute(x):
        square = tf.recompute_grad(lambda t: t * t)
        return tf.vectorized_map(lambda row: square(x) + row, x)

    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    np.testing.assert_allclose(tf.function(compute)(x), compute(x))


def test_an_error_in_a_gradient_function_waits_for_the_gradient():
    @tf.function
    def compute(x):
        @tf.custom_gradient
        def constant(x):
            return tf.ones([5]), lambda g: g * x

        return constant(x)

    x = tf.ones([6])
    assert compute(x).shape == [5]
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = compute(x)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Incompatible shapes"):
        tape.gradient(y, x)


def test_recompute_grad_of_a_check():
    @tf.function
    def compute(x):
        return tf.recompute_grad(lambda t: tf.debugging.check_numerics(t, "bad") * 3)(x)

    x = tf.ones([2])
    for _ in range(2):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = compute(x)
        np.testing.assert_allclose(tape.gradient(y, x), [3, 3])


def test_an_unused_loop_may_contain_an_op_without_a_gradient():
    @tf.function
    def compute(x):
        tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, tf.linalg.lu(x)[0]), [0, 1 * x])
        return x * 2

    x = tf.eye(2)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = compute(x)
    np.testing.assert_allclose(tape.gradient(y, x), [[2, 2], [2, 2]])


def test_an_op_without_a_gradient_in_a_branch_is_a_lookup_error():
    @tf.function
    def compute(x):
        return tf.cond(tf.reduce_sum(x) > 100, lambda: x, lambda: tf.linalg.lu(x)[0])

    x = tf.eye(2)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = compute(x)
    with pytest.raises(LookupError, match="Lu"):
        tape.gradient(y, x)


def test_a_map_with_a_check_inside_a_scan():
    def compute(x):
        def add(total, one):
            checked = tf.map_fn(lambda t: tf.debugging.check_numerics(x, "bad")[0] * t, x)
            return total + one * tf.reduce_sum(checked)

        return tf.scan(add, x, initializer=tf.constant(0.5))

    np.testing.assert_allclose(tf.function(compute)(X), compute(X), rtol=1e-6)


def test_vectorized_map_draws_other_numbers_for_each_row():
    def compute(x):
        return tf.vectorized_map(lambda row: tf.random.normal([], seed=5) + 0 * row, x)

    tf.random.set_seed(1)
    expected = compute(tf.zeros([4])).numpy()
    tf.random.set_seed(1)
    found = tf.function(compute)(tf.zeros([4])).numpy()
    assert len(set(found)) == 4
    np.testing.assert_allclose(found, expected)


def test_a_random_op_in_a_loop_that_is_no_node_has_one_stream():
    tf.random.set_seed(44)

    def repeat(x):
        def body(i, a):
            drawn = tf.random.truncated_normal([1], seed=1028)
            tf.unique(tf.cast(drawn, tf.int32))  # its shape depends on values
            return i + 1, drawn

        return tf.while_loop(lambda i, a: i < 2, body, [tf.constant(0), x])[1]

    compiled = tf.function(repeat)
    found = [compiled(tf.constant([0.0])).numpy() for _ in range(3)]
    tf.random.set_seed(44)
    expected = [repeat(tf.constant([0.0])).numpy() for _ in range(3)]
    np.testing.assert_array_equal(found, expected)


def test_a_watched_constant_has_a_gradient_through_a_custom_gradient():
    def differentiate():
        x = tf.constant([0.0, 1.0])
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)

            @tf.custom_gradient
            def sine(a):
                return tf.sin(a), lambda g: -g * tf.cos(a)

            y = sine(x)
        return tape.gradient(y, x)

    compiled = tf.function(differentiate)
    for _ in range(2):
        np.testing.assert_allclose(compiled(), differentiate(), rtol=1e-6)
