"""Loops and branches of functions without AutoGraph that cannot become nodes of the graph."""

import numpy as np

import gradtape as tf


@tf.function(autograph=False)
def sample_until_small(shape, seed):
    def trial(seed):
        return tf.random.stateless_uniform(shape, seed)

    def cond(values, done, seed):
        return ~tf.reduce_all(done)

    def body(values, done, seed):
        new = trial(seed)
        good = new < 0.5
        return tf.where(good, new, values), done | good, seed + 1

    values = trial(seed)
    return tf.while_loop(cond, body, (values, values < 0.5, seed + 1))[0]


def test_a_loop_that_reads_a_shape():
    expected = sample_until_small.python_function(tf.constant([3]), tf.constant([1, 2])).numpy()
    for _ in range(3):
        values = sample_until_small(tf.constant([3]), tf.constant([1, 2])).numpy()
        assert (values < 0.5).all()
        np.testing.assert_array_equal(values, expected)
    assert sample_until_small(tf.constant([2, 2]), tf.constant([3, 4])).shape == (2, 2)


def test_a_branch_that_reads_a_shape():
    @tf.function(autograph=False)
    def choose(shape, x):
        return tf.cond(x > 0, lambda: tf.ones(shape), lambda: tf.zeros([7]))

    for _ in range(3):
        assert choose(tf.constant([3]), tf.constant(1.0)).shape == (3,)
        assert choose(tf.constant([3]), tf.constant(-1.0)).shape == (7,)
