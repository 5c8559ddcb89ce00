"""Random ops in functions draw TensorFlow's numbers; each graph counts its own ops."""

import numpy as np
import pytest

import gradtape as tf

# The first three numbers of streams in TensorFlow with the global seed 7, for the first and the
# second op without a seed in a graph, drawn one or two at a time.
FIRST = [0.7537, 0.5876, 0.3971]
SECOND = [0.4604, 0.5190, 0.7408]


def draw(n=1):
    return tf.random.uniform([n])


def first_numbers(function, calls=3):
    return [[float(t[0]) for t in function()] for _ in range(calls)]


@pytest.fixture(autouse=True)
def seed():
    tf.random.set_seed(7)
    yield
    tf.random.set_seed(None)


def is_close(found, *columns):
    np.testing.assert_allclose(found, np.transpose(columns), atol=1e-4)


def test_a_nested_function_counts_its_own_random_ops():
    inner = tf.function(lambda: draw())
    is_close(first_numbers(tf.function(lambda: (draw(), inner(), draw()))), FIRST, FIRST, SECOND)


def test_each_call_of_a_nested_function_has_streams_of_its_own():
    inner = tf.function(lambda: draw())
    outer = tf.function(lambda: (inner(), inner(), draw()))
    inner()
    is_close(first_numbers(outer), FIRST, FIRST, FIRST)
    is_close([[float(inner()[0])]], [FIRST[1]])  # as if no other function had called it


def test_the_branches_of_a_cond_count_their_own_random_ops():
    @tf.function
    def f(p):
        return draw(), tf.cond(p, lambda: draw(), lambda: draw()), draw()

    found = first_numbers(lambda: f(tf.constant(True)))
    is_close(found, FIRST, FIRST, SECOND)
    assert float(f(tf.constant(False))[1][0]) == pytest.approx(FIRST[0], abs=1e-4)


def test_a_loop_whose_body_draws_ends():
    @tf.function
    def f():
        i, total = tf.constant(0), tf.zeros([1])
        step = lambda i, s: (i + 1, s + draw())  # noqa: E731
        _, total = tf.while_loop(lambda i, s: i < 3, step, [i, total])
        return total, draw()

    found = first_numbers(f)
    is_close(found, [1.7384, 1.8377, 1.0126], FIRST)
    assert found[0][0] == pytest.approx(sum(FIRST), abs=1e-3)


def test_one_trace_for_all_shapes_means_one_stream():
    spec = tf.TensorSpec([None])
    f = tf.function(lambda x: tf.random.uniform(tf.shape(x)), input_signature=[spec])
    sizes = iter([1, 2, 1, 2])
    found = first_numbers(lambda: [f(tf.zeros([next(sizes)]))], 4)
    is_close(found, [0.7537, 0.5876, 0.7915, 0.1782])


def test_a_first_run_that_creates_variables_draws_only_for_them():
    made = []

    @tf.function
    def f():
        before = draw()
        if not made:
            made.append(tf.Variable(draw()))
        return before, made[0] + 0, draw()

    is_close(first_numbers(f), FIRST, [SECOND[0]] * 3, SECOND)


def test_assignments_of_a_first_run_that_creates_variables_do_not_count():
    count, made = tf.Variable(0), []

    @tf.function
    def f():
        if not made:
            made.append(tf.Variable(5))
        return count.assign_add(1) + made[0].assign_add(1)

    assert [int(f()) for _ in range(2)] == [7, 9]
    assert int(count) == 2


def test_a_path_without_a_random_op_does_not_move_the_streams_of_others():
    @tf.function
    def f(x):
        counts = tf.math.bincount(x)  # branches of different shapes: only one of them is traced
        is_never = tf.reduce_max(counts) < 0
        tf.cond(is_never, lambda: tf.cast(tf.random.normal([2]) > 0, tf.int32), lambda: counts)
        return tf.random.uniform([1], seed=3)

    longer, shorter = tf.constant([0, 1, 2]), tf.constant([0, 1, 1])
    found = [float(f(x)[0]) for x in (longer, shorter, longer, shorter)]
    tf.random.set_seed(7)
    assert found == [float(tf.random.uniform([1], seed=3)[0]) for _ in range(4)]


def test_an_op_in_the_branch_of_one_iteration_keeps_its_stream():
    @tf.function
    def f(xs):
        total = tf.zeros([1])
        for x in xs:
            if x > 0:
                total += tf.random.normal([1], seed=1)
            total += tf.random.uniform([1], seed=3)
        return total

    orders = [[1, 0], [0, 1], [0, 0], [1, 1]]
    found = [float(f(tf.constant(order))[0]) for order in orders]
    tf.random.set_seed(7)
    normals = [float(tf.random.normal([1], seed=1)[0]) for _ in range(4)]
    uniforms = [float(tf.random.uniform([1], seed=3)[0]) for _ in range(8)]
    sums = [sum(uniforms[i : i + 2]) for i in range(0, 8, 2)]
    drawn = [normals[0], normals[1], 0.0, normals[2] + normals[3]]
    np.testing.assert_allclose(found, np.add(sums, drawn), rtol=1e-5)
