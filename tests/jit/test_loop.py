"""Loops of a graph: their size does not depend on the number of iterations."""

import numpy as np
import pytest

import gradtape as tf
from gradtape.ops.gather_scatter_nd import update_nd


def test_loops_over_strings():
    for body, dtype in ((tf.strings.length, tf.int32), (lambda s: s + "x", tf.string)):
        f = tf.function(lambda x, b=body, d=dtype: tf.map_fn(b, x, fn_output_signature=d))
        for _ in range(3):
            text = tf.constant(["a", "bb"])
            assert f(text).numpy().tolist() == tf.map_fn(body, text, dtype).numpy().tolist()


def rnn(steps, train):
    """A recurrent network with while_loop, forward or as a training step."""
    rng = np.random.default_rng(0)
    a, b, c = (tf.Variable(rng.normal(size=s) * 0.3) for s in ((3, 4), (4, 4), (4,)))

    def run(x):
        def body(t, state, total):
            state = tf.tanh(x[t] @ a + state @ b + c)
            return t + 1, state, total + tf.reduce_sum(state)

        zeros = tf.zeros((2, 4), tf.float64), tf.constant(0.0, tf.float64)
        return tf.while_loop(lambda t, *_: t < steps, body, (0, *zeros))[2]

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = run(x)
        for w, g in zip((a, b, c), tape.gradient(loss, (a, b, c)), strict=True):
            w.assign_sub(0.01 * g)
        return loss

    return step if train else tf.function(run)


@pytest.mark.parametrize("train", [False, True])
def test_a_recurrent_network_of_any_length_is_one_graph(train):
    sizes = {}
    for steps in (1, 10, 100):
        spec = tf.TensorSpec((steps, 2, 3), tf.float64)
        graph = rnn(steps, train).get_concrete_function(spec).graph
        sizes[steps] = len(graph.nodes)
        loops = [n for n in graph.nodes if n.op.name == "loop"]
        assert len(loops) == (2 if train else 1)
    assert len(set(sizes.values())) == 1, sizes
    assert sizes[100] < (40 if train else 10), sizes


@pytest.mark.parametrize("steps", [1, 7, 100])
def test_the_loop_computes_the_same_as_python(steps):
    x = tf.constant(np.random.default_rng(1).normal(size=(steps, 2, 3)))
    compiled = rnn(steps, True)
    plain = rnn(steps, True).python_function
    for _ in range(3):
        np.testing.assert_allclose(compiled(x), plain(x), rtol=1e-12)


def test_map_fn_and_scan_of_any_length_are_one_node():
    @tf.function
    def f(x):
        return tf.map_fn(lambda a: tf.sin(a) * 2.0, x), tf.scan(lambda s, a: s * 0.5 + a, x)

    sizes = {
        len(f.get_concrete_function(tf.TensorSpec((n, 3), tf.float32)).graph.nodes)
        for n in (2, 5, 50)
    }
    assert len(sizes) == 1
    assert sizes.pop() < 12


# -- in-place updates of carries, and row lookups --------------------------------------------------


def running(table, order):
    """Cumulative sums of looked-up rows, each written to an array and read again."""
    count = tf.shape(order)[0]

    def body(i, total, sums):
        total = total + table[order[i]] * tf.cast(i + 1, tf.float32)
        row = tf.gather(table, order[i])
        return i + 1, total, sums.write(i, total * row + sums.read(tf.maximum(i - 1, 0)))

    sums = tf.TensorArray(tf.float32, count, element_shape=(3,), clear_after_read=False)
    start = (0, tf.zeros(3), sums)
    _, total, sums = tf.while_loop(lambda i, *_: i < count, body, start)
    return tf.concat([sums.stack(), total[None]], 0)


def test_rows_written_and_looked_up_in_a_loop_have_all_derivatives():
    table = tf.constant(np.random.default_rng(0).normal(size=(4, 3)), tf.float32)
    order = tf.constant([2, 0, 2, 3, 2])

    def slopes(function):
        with tf.GradientTape(persistent=True) as outer:
            outer.watch(table)
            with tf.GradientTape() as inner:
                inner.watch(table)
                result = function(table, order)
            slope = inner.gradient(result, table)
            norm = tf.reduce_sum(tf.convert_to_tensor(slope) ** 2)
        return (
            result,
            tf.convert_to_tensor(slope),
            tf.convert_to_tensor(outer.gradient(norm, table)),
        )

    compiled = tf.function(running)
    for _ in range(3):
        for got, want in zip(slopes(compiled), slopes(running), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


def rewriting(x, keeps):
    """A loop that updates rows of `x`, and also returns the array of the previous iteration."""

    def body(i, x, before):
        changed = tf.tensor_scatter_nd_update(x, [[i]], [tf.cast(i, tf.float32)])
        return i + 1, changed, x if keeps else before

    return tf.while_loop(lambda i, *_: i < 4, body, (0, x, x))[1:]


@pytest.mark.parametrize("keeps", [True, False])
def test_in_place_updates_do_not_change_other_values(keeps):
    x = tf.constant([9.0, 9.0, 9.0, 9.0, 9.0])
    function = tf.function(rewriting)
    for _ in range(3):
        last, before = function(x, keeps)
        np.testing.assert_array_equal(last, [0, 1, 2, 3, 9])
        np.testing.assert_array_equal(before, [0, 1, 2, 9, 9] if keeps else x)
        np.testing.assert_array_equal(x, 9)


def test_a_long_loop_copies_the_array_that_it_fills_only_once(monkeypatch):
    copies = []
    monkeypatch.setattr(update_nd.op, "kernel", counted(update_nd.op.kernel, copies))

    @tf.function
    def squares(n):
        array = tf.TensorArray(tf.int32, 50)
        loop = tf.while_loop(
            lambda i, _: i < n, lambda i, a: (i + 1, a.write(i, i * i)), (0, array)
        )
        return loop[1].stack()

    for _ in range(2):
        np.testing.assert_array_equal(squares(tf.constant(50)), np.arange(50) ** 2)
    assert len(copies) < 10


def counted(kernel, calls):
    """The kernel, with each call added to a list."""

    def marked(*args, **static):
        calls.append(1)
        return kernel(*args, **static)

    return marked
