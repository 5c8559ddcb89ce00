"""Where gradtape's tf.function differs from TensorFlow's on purpose (docs/deviations.md)."""

import numpy as np
import pytest

import gradtape as tf


def test_an_input_of_the_python_branch_not_taken_gets_none():
    @tf.function
    def f(x, y):
        if x > 0.0:
            return x * 2.0
        return y * 3.0

    for _ in range(3):
        x, y = tf.constant(1.0), tf.constant(1.0)
        with tf.GradientTape() as tape:
            tape.watch([x, y])
            z = f(x, y)
        slopes = tape.gradient(z, [x, y])
        assert float(slopes[0]) == 2.0
        assert slopes[1] is None  # TensorFlow: 0.0, as with tf.cond

    @tf.function
    def g(x, y):
        return tf.cond(x > 0.0, lambda: x * 2.0, lambda: y * 3.0)

    with tf.GradientTape() as tape:
        tape.watch([x, y])
        z = g(x, y)
    assert [float(s) for s in tape.gradient(z, [x, y])] == [2.0, 0.0]


def test_an_error_reverts_earlier_assignments_of_the_call():
    v = tf.Variable(1.0)

    @tf.function
    def f(x):
        v.assign_add(1.0)
        tf.debugging.assert_positive(x)
        return x

    f(tf.constant(1.0))
    for _ in range(3):
        with pytest.raises(tf.errors.InvalidArgumentError):
            f(tf.constant(-1.0))
        assert v.numpy() == 2.0


def test_a_size_that_python_decides_on_is_traced_again():
    f = tf.function(lambda x: x * len(x), input_signature=[tf.TensorSpec([None])])
    for n in (1, 2, 3, 1):
        f(tf.ones(n))
    assert f.experimental_get_tracing_count() == 3


def test_a_float_of_a_tensor_is_refused():
    f = tf.function(lambda x: x * float(x))
    with pytest.raises(TypeError, match=r"tf\.cast"):
        f(tf.constant(2.0))


def test_python_may_read_values_where_tensorflow_raises():
    @tf.function
    def f(x, n):
        assert n > 0
        return [10, 20, 30][n] + sum(x) + max(x[0], x[1]), n in [1, 2]

    for n in (1, 2, 1):
        total, known = f(tf.constant([1, 2]), tf.constant(n))
        assert int(total) == 10 * (n + 1) + 5
        assert bool(known)
    with pytest.raises(AssertionError):
        f(tf.constant([1, 2]), tf.constant(-1))


def test_python_values_that_are_equal_but_of_other_types_have_traces_of_their_own():
    f = tf.function(lambda n: tf.constant(n))
    for _ in range(2):
        assert [f(n).dtype for n in (1, True, 1.0)] == [tf.int32, tf.bool, tf.float32]


def test_init_scope_may_create_variables_at_every_trace():
    cells = []

    @tf.function
    def f(x):
        with tf.init_scope():
            cells.append(tf.Variable(1.0))
        return x + cells[-1]

    assert float(f(tf.constant(1.0))) == 2.0
    assert f(tf.constant([1.0, 2.0])).numpy().tolist() == [2.0, 3.0]
    assert len(cells) == 2


def test_recompute_grad_of_a_function_knows_its_variables_at_every_call():
    v = tf.Variable(2.0)
    f = tf.recompute_grad(tf.function(lambda x: x * v))
    for _ in range(3):
        with tf.GradientTape() as tape:
            y = f(tf.constant(3.0))
        assert float(tape.gradient(y, v)) == 3.0


def test_versions_assigned_in_a_loop_body_do_not_count_as_the_variable():
    v = tf.Variable(2.0)

    @tf.function
    def f(x):
        def body(i, y):
            v.assign(v * 1.5)
            return i + 1, y * v

        with tf.GradientTape() as tape:
            y = tf.while_loop(lambda i, y: i < 2, body, (0, x))[1]
        return tape.gradient(y, v)

    assert float(f(tf.constant(1.0))) == 0.0  # TensorFlow: 7.5, the sum over the versions


def test_a_loop_over_host_results_needs_no_shapes():
    @tf.function
    def f():
        total = tf.constant(0.0)
        for _ in tf.range(3):
            total += tf.numpy_function(lambda: np.float32(2), [], tf.float32)
        return total

    assert [float(f()) for _ in range(3)] == [6.0, 6.0, 6.0]


def test_grouped_ops_are_none_in_a_function():
    assert tf.function(lambda x: tf.group(x))(tf.constant(1.0)) is None


def test_random_ops_around_a_python_if_are_numbered_in_execution_order():
    tf.random.set_seed(7)

    @tf.function
    def f(x):
        if x > 0:
            x += tf.random.uniform([])
        return x, tf.random.uniform([])

    assert float(f(tf.constant(1.0))[1]) == pytest.approx(0.4604, abs=1e-4)  # TensorFlow: 0.7537
    tf.random.set_seed(None)


def test_a_function_may_call_itself():
    @tf.function
    def countdown(n):
        if n > 0:
            return countdown(n - 1) + 1
        return tf.constant(0)

    for n in (3, 5, 3):
        assert int(countdown(tf.constant(n))) == n


def test_a_variable_that_is_an_argument_and_captured():
    v, w = tf.Variable(1.0), tf.Variable(2.0)
    same = []

    @tf.function
    def f(a):
        same.append((a is v, a.ref() == v.ref()))  # TensorFlow: a is v
        a.assign_add(10.0)
        v.assign_add(1.0)
        return a + v

    assert [float(f(a)) for a in (v, w, v)] == [24.0, 25.0, 48.0]
    assert (float(v), float(w)) == (24.0, 12.0)  # TensorFlow: 23.0, 13.0
    assert same == [(False, True), (False, False)]


def test_each_rank_has_a_trace():
    seen = []

    @tf.function(input_signature=[tf.TensorSpec(None)])
    def total(x):
        seen.append(x.shape.as_list())
        return tf.reduce_sum(x)

    for shape in ([2], [3], [2, 2], [1, 3], []):
        assert total(tf.ones(shape)).numpy() == np.prod(shape)
    assert seen == [[None], [None, None], []]
