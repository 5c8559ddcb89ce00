"""Loops of a graph: their size does not depend on how often they run."""

import numpy as np
import pytest

import gradtape as tf


def rnn(steps, train):
    """A recurrent network by while_loop, forward or as a training step."""
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
def test_the_loop_computes_what_python_does(steps):
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
