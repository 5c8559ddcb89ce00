"""Indices on XLA: those that cannot be wrong, those that the host checks, and the others."""

import numpy as np
import pytest

import gradtape as tf
from gradtape.compile import cost_model
from gradtape.compile.cost_model import calls_until_xla
from gradtape.compile.index_check import find_index_checks
from gradtape.compile.xla.kernel_namespace import has_jax

needs_jax = pytest.mark.skipif(not has_jax(), reason="needs jax")


def graph_of(python, *args):
    function = tf.function(python)
    return function.get_concrete_function(*args)._path.graph


TABLE = tf.Variable(np.arange(40.0, dtype="float32").reshape(10, 4))
IDS = tf.constant([1, 2, 9])


def test_an_index_that_is_an_argument_is_checked_on_the_host():
    graph = graph_of(lambda ids: tf.gather(TABLE, ids), IDS)
    (check,) = find_index_checks(graph)
    assert (check.name, check.size) == ("gather", 10)
    check.kernel(np.array([0, 9]))
    for bad in (-1, 10):
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"not in \[0, 10\)"):
            check.kernel(np.array([0, bad]))


def test_an_index_that_is_computed_is_checked_on_the_host():
    graph = graph_of(lambda ids: tf.gather(TABLE, tf.cast(ids, tf.int64) * 2, axis=0), IDS)
    assert [check.size for check in find_index_checks(graph)] == [10]


def test_labels_are_checked_once_for_the_loss_and_its_gradient():
    def loss(x, labels):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, x)
        return tape.gradient(y, x)

    (check,) = find_index_checks(graph_of(loss, tf.ones([3, 5]), IDS))
    with pytest.raises(tf.errors.InvalidArgumentError, match="label"):
        check.kernel(np.array([5], np.int32))


def sum_rows(values, read):
    def body(i, total):
        return i + 1, total + read(values, i)

    return tf.while_loop(lambda i, total: i < 10, body, (tf.constant(0), tf.zeros([4])))[1]


def test_the_counter_of_a_loop_needs_no_check():
    graph = graph_of(lambda: sum_rows(TABLE, lambda v, i: tf.gather(v, i)))
    assert find_index_checks(graph) == []


def test_an_argument_as_index_inside_a_loop_cannot_be_checked():
    graph = graph_of(lambda ids: sum_rows(TABLE, lambda v, i: tf.gather(v, ids[0] + i * 0)), IDS)
    assert find_index_checks(graph) is None
    assert calls_until_xla(graph) is None


def test_a_loop_that_ends_by_an_argument_cannot_be_checked():
    def python(n):
        body = lambda i, t: (i + 1, t + tf.gather(TABLE, i))  # noqa: E731 - as users write it
        return tf.while_loop(lambda i, t: i < n, body, (tf.constant(0), tf.zeros([4])))[1]

    assert find_index_checks(graph_of(python, tf.constant(5))) is None


def test_an_index_in_a_branch_cannot_be_checked():
    def python(flag, ids):
        return tf.cond(flag, lambda: tf.gather(TABLE, ids), lambda: tf.zeros([3, 4]))

    assert find_index_checks(graph_of(python, tf.constant(True), IDS)) is None


@needs_jax
def test_a_training_step_moves_to_xla_and_still_checks_indices(monkeypatch):
    monkeypatch.setattr(cost_model, "COMPILE_COST_IN_OPS", 2000)
    table = tf.Variable(TABLE / 40)

    @tf.function
    def step(ids, labels):
        with tf.GradientTape() as tape:
            x = tf.gather(table, ids)
            for _ in range(120):
                x = x + tf.tanh(x) * 0.001
            loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, x)
        g = tf.convert_to_tensor(tape.gradient(loss, table))
        table.assign_sub(0.1 * g)
        return loss

    labels = tf.constant([0, 3, 1])
    for _ in range(6):
        step(IDS, labels)
    (compiled,) = step._cache.values()
    assert "xla" in type(compiled.plan).__module__
    before = table.numpy().copy()
    for ids, wrong in (([1, 2, 10], [0, 3, 1]), ([1, 2, -1], [0, 3, 1]), ([1, 2, 3], [0, 4, 1])):
        with pytest.raises(tf.errors.InvalidArgumentError):
            step(tf.constant(ids), tf.constant(wrong))
        np.testing.assert_array_equal(table, before)
    step(IDS, labels)
    assert not np.array_equal(table, before)
