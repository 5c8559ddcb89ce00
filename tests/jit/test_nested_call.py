"""A tf.function called inside another one: later calls replay what the first one traced."""

import numpy as np
import pytest

import gradtape as tf

joined = {
    "separate": lambda a, b: a * 10.0 + b,
    "loop": lambda a, b: tf.while_loop(
        lambda i, y: i < 1, lambda i, y: (i + 1, y * 10.0 + b), [0, a]
    )[1],
}


@pytest.mark.parametrize("body", joined.values(), ids=joined)
def test_arguments_that_were_one_tensor_may_be_two_later(body):
    inner = tf.function(body)
    outer = tf.function(lambda x: (inner(x, x), inner(x + 1.0, x), inner(x, x + 1.0)))
    for _ in range(3):
        assert [float(y) for y in outer(tf.constant(1.0))] == [11.0, 21.0, 12.0]


def test_tensors_of_a_structure_that_were_one_may_be_two_later():
    inner = tf.function(lambda pair: pair["a"] * 10.0 + pair["b"])
    outer = tf.function(lambda x: (inner({"a": x, "b": x}), inner({"a": x + 1.0, "b": x})))
    for _ in range(3):
        assert [float(y) for y in outer(tf.constant(1.0))] == [11.0, 21.0]


def test_an_argument_may_be_the_value_of_a_variable_that_the_function_reads():
    w = tf.Variable(3.0)
    inner = tf.function(lambda a: a * 10.0 + w)
    outer = tf.function(lambda x: (inner(tf.convert_to_tensor(w)), inner(x)))
    for _ in range(3):
        assert [float(y) for y in outer(tf.constant(1.0))] == [33.0, 13.0]


def test_an_argument_may_be_a_tensor_that_the_function_captures():
    k = tf.constant(2.0)
    inner = tf.function(lambda a: a * 10.0 + k)
    outer = tf.function(lambda x: (inner(k), inner(x)))
    for _ in range(3):
        assert [float(y) for y in outer(tf.constant(1.0))] == [22.0, 12.0]


def test_updates_of_a_variable_depend_on_both_arguments():
    total = tf.Variable(0.0)

    @tf.function
    def add(a, b):
        total.assign_add(a * 10.0 + b)

    @tf.function
    def outer(x):
        add(x, x)
        add(x + 1.0, x)

    for call in (1, 2, 3):
        outer(tf.constant(1.0))
        assert float(total) == 32.0 * call


def test_a_function_called_on_unknown_sizes_is_traced_once():
    seen = []

    @tf.function
    def cell(x, h, scale):
        seen.append((x.shape.as_list(), scale))
        return tf.tanh(x + h) * scale

    @tf.function(input_signature=[tf.TensorSpec([None, None, 3])])
    def run(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            h = tf.zeros([tf.shape(x)[0], 3])
            _, h = tf.while_loop(
                lambda i, _: i < tf.shape(x)[1],
                lambda i, h: (i + 1, cell(x[:, i], h, 0.5)),
                (0, h),
            )
            total = tf.reduce_sum(cell(h, h, 0.5) + cell(h, h, 2.0))
        return total, tape.gradient(total, x)

    def wanted(x):
        h = tf.zeros([x.shape[0], 3])
        with tf.GradientTape() as tape:
            tape.watch(x)
            for i in range(x.shape[1]):
                h = tf.tanh(x[:, i] + h) * 0.5
            total = tf.reduce_sum(tf.tanh(h + h) * 2.5)
        return total, tape.gradient(total, x)

    for rows, steps in ((2, 3), (1, 4), (3, 1)):
        x = tf.random.stateless_normal([rows, steps, 3], [1, 2])
        for one, other in zip(run(x), wanted(x), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
    assert seen == [([None, 3], 0.5), ([None, 3], 2.0)]
    assert run.experimental_get_tracing_count() == 1


def test_a_function_of_unknown_sizes_that_closes_over_the_outer_trace_runs_in_it():
    @tf.function(input_signature=[tf.TensorSpec([None])])
    def outer(x):
        inner = tf.function(lambda y: y * tf.reduce_sum(x))
        return inner(x) + inner(x * 2.0)

    assert outer(tf.constant([1.0, 2.0])).numpy().tolist() == [9.0, 18.0]
    assert outer(tf.constant([1.0, 2.0, 3.0])).numpy().tolist() == [18.0, 36.0, 54.0]


def test_a_nested_function_of_unknown_sizes_updates_its_variable():
    count = tf.Variable(0)

    @tf.function
    def add_rows(x):
        count.assign_add(tf.shape(x)[0])
        return x + 1.0

    @tf.function(input_signature=[tf.TensorSpec([None, 2])])
    def outer(x):
        return add_rows(add_rows(x))

    for rows in (1, 4, 2):
        assert outer(tf.zeros([rows, 2])).numpy().tolist() == [[2.0, 2.0]] * rows
    assert count.numpy() == 14
    assert add_rows.experimental_get_tracing_count() == 1
