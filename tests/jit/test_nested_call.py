"""A tf.function called inside another one: later calls replay what the first one traced."""

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
