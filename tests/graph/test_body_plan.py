"""Plans of loop bodies: sizes that a body does not depend on share one plan."""

import gc

import numpy as np
import pytest

import gradtape as tf
from gradtape.compile.numpy.lowering import lower_graph
from gradtape.core.primitive import REGISTRY, Spec
from gradtape.graph.body_plan import LOOKUPS, BodyPlan
from gradtape.graph.graph import Graph, Node

ROWS = tf.TensorSpec([None, None, 3], tf.float32)


def sum_rows(x, w, read):
    """The sum of tanh(row @ w) over the rows of x, by a while_loop."""

    def body(t, total):
        return t + 1, total + tf.tanh(read(x, t) @ w)

    n, zero = tf.shape(x)[0], tf.zeros([tf.shape(x)[1], 3])
    return tf.while_loop(lambda t, _: t < n, body, (0, zero))[1]


READS = {
    "index": lambda x, t: x[t],
    "from the end": lambda x, t: x[-1 - t],
    "gather": tf.gather,
    "gather_nd": lambda x, t: tf.gather_nd(x, [t]),
    "whole": lambda x, t: x[t] + tf.reduce_sum(x, 0),
}


@pytest.mark.parametrize("read", READS.values(), ids=READS)
@pytest.mark.parametrize("wrt_x", [False, True], ids=["weights", "weights and rows"])
def test_new_lengths_give_the_results_and_gradients_of_eager_calls(read, wrt_x):
    w = tf.constant(np.linspace(-1, 1, 9, dtype="f4").reshape(3, 3))

    def step(x):
        sources = [w, x] if wrt_x else [w]
        with tf.GradientTape() as tape:
            tape.watch(sources)
            y = tf.reduce_sum(sum_rows(x, w, read) ** 2)
        return [y, *tape.gradient(y, sources)]

    traced = tf.function(step, input_signature=[ROWS])
    rng = np.random.default_rng(0)
    for n, m in [(4, 2), (7, 2), (60, 2), (9, 2), (90, 2), (5, 3), (80, 2), (1, 2), (6, 1), (3, 2)]:
        x = tf.constant(rng.normal(size=(n, m, 3)).astype("f4") / n)
        for given, wanted in zip(traced(x), step(x), strict=True):
            wanted = tf.convert_to_tensor(wanted)
            np.testing.assert_allclose(tf.convert_to_tensor(given), wanted, 1e-4, 1e-5)
    assert traced.experimental_get_tracing_count() == 1


def test_second_derivatives_of_new_lengths():
    w = tf.constant(np.linspace(-1, 1, 9, dtype="f4").reshape(3, 3))

    def step(x):
        with tf.GradientTape() as outer:
            outer.watch(w)
            with tf.GradientTape() as tape:
                tape.watch([w, x])
                y = tf.reduce_sum(sum_rows(x, w, READS["index"]) ** 2)
            g, dx = tape.gradient(y, [w, x])
            z = tf.reduce_sum(g * g) + tf.reduce_sum(dx * dx)
        return outer.gradient(z, w)

    traced = tf.function(step, input_signature=[ROWS])
    for n in (2, 3, 5, 4):
        x = tf.constant(np.linspace(-1, 1, n * 6, dtype="f4").reshape(n, 2, 3))
        np.testing.assert_allclose(traced(x), step(x), 1e-4, 1e-4)


def test_written_rows_of_new_lengths():
    @tf.function(input_signature=[ROWS])
    def accumulate(x):
        n = tf.shape(x)[0]
        rows = tf.TensorArray(tf.float32, n, element_shape=[None, 3])

        def body(t, total, rows):
            total = total + x[t]
            return t + 1, total, rows.write(t, total)

        zero = tf.zeros([tf.shape(x)[1], 3])
        return tf.while_loop(lambda t, *_: t < n, body, (0, zero, rows))[2].stack()

    for n in (3, 70, 80, 5, 90):
        x = np.arange(n * 6, dtype="f4").reshape(n, 2, 3)
        np.testing.assert_allclose(accumulate(tf.constant(x)), np.cumsum(x, 0))


def test_a_tape_around_calls_of_new_lengths():
    w = tf.constant(np.eye(3, dtype="f4"))
    traced = tf.function(lambda x: sum_rows(x, w, READS["index"]), input_signature=[ROWS])
    for n in (3, 5, 4, 90, 60):
        x = tf.constant(np.linspace(-1, 1, n * 6, dtype="f4").reshape(n, 2, 3))
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = traced(x)
        np.testing.assert_allclose(tape.gradient(y, x), 1 - np.tanh(x.numpy()) ** 2, 1e-4)


@pytest.mark.parametrize("read", [READS["index"], READS["gather"]], ids=["index", "gather"])
def test_an_index_is_checked_against_the_size_of_the_call(read):
    @tf.function(input_signature=[ROWS, tf.TensorSpec([], tf.int32)])
    def sum_first(x, n):
        def body(t, total):
            return t + 1, total + tf.reduce_sum(read(x, t))

        return tf.while_loop(lambda t, _: t < n, body, (0, 0.0))[1]

    for n in (120, 150, 90):
        assert sum_first(tf.ones([n, 1, 3]), n) == 3 * n
    with pytest.raises(tf.errors.InvalidArgumentError):
        sum_first(tf.ones([5, 1, 3]), 6)


def test_lengths_share_a_plan_and_widths_do_not():
    traced = tf.function(lambda x: sum_rows(x, tf.eye(3), READS["index"]), input_signature=[ROWS])
    traced(tf.ones([2, 2, 3]))
    gc.collect()
    before = {id(o) for o in gc.get_objects() if type(o) is BodyPlan}

    def count_new():
        return sum(type(o) is BodyPlan and id(o) not in before for o in gc.get_objects())

    keep = [traced(tf.ones([n, 2, 3])) for n in range(3, 9)]
    gc.collect()
    assert count_new() == 0
    keep.append(traced(tf.ones([3, 5, 3])))
    gc.collect()
    assert count_new() > 0


@pytest.mark.parametrize("name", [name for name in LOOKUPS if name in REGISTRY])
def test_the_kernel_of_a_lookup_stays_one_call(name):
    specs = {
        0: Spec(((7, 3), np.dtype("f4"))),
        1: Spec(((2,), np.dtype("i8"))),
        2: Spec(((), np.dtype("f4"))),
    }
    static = {
        "gather": {"axis": -2},
        "gather_nd": {"rank": 2},
        "update_nd": {"rank": 2},
        "slice_from": {"sizes": (1, 3)},
    }[name]
    inputs = [0, 1, 2][: len(REGISTRY[name].inputs)]
    specs[9] = specs[0]
    graph = Graph(inputs, [Node(REGISTRY[name], tuple(inputs), static, (9,))], [9], specs)
    assert [call.kind for call in lower_graph(graph).calls] == ["opaque"]
