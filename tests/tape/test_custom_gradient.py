"""Gradients defined by the user."""

import numpy as np
import pytest

import gradtape as tf
from gradtape.debug import saved_bytes


def test_second_order_flows_through_values_captured_by_the_gradient_function():
    @tf.custom_gradient
    def cube(x):
        square = x * x
        return square * x, lambda g: g * 3.0 * square

    x = tf.Variable(2.0)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = cube(x)
        slope = inner.gradient(y, x)
    assert float(slope) == 12.0
    assert float(outer.gradient(slope, x)) == 12.0


def test_a_tape_inside_the_gradient_function():
    @tf.custom_gradient
    def f(x):
        def grad(g):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.sin(x)
            return g * tape.gradient(y, x)

        return tf.sin(x), grad

    x = tf.constant([0.1, 0.2])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    np.testing.assert_allclose(tape.gradient(y, x), np.cos([0.1, 0.2]), rtol=1e-6)


def test_several_outputs_of_which_one_is_used():
    @tf.custom_gradient
    def both(x):
        return (x * 2.0, x * 3.0), lambda a, b: 2.0 * a + 3.0 * b

    x = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        _, y = both(x)
        z = y * 5.0
    assert float(tape.gradient(z, x)) == 15.0


def test_keyword_arguments_reach_the_function():
    @tf.custom_gradient
    def scale(x, *, k):
        return x * k, lambda g: g * k

    x = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        y = scale(x, k=4.0)
    assert float(tape.gradient(y, x)) == 4.0


def test_a_method_can_have_a_custom_gradient():
    class Layer:
        k = 3.0

        @tf.custom_gradient
        def call(self, x):
            return x * self.k, lambda g: g * self.k

    x = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        y = Layer().call(x)
    assert float(tape.gradient(y, x)) == 3.0


def test_a_jacobian_calls_the_gradient_function_for_each_element():
    @tf.custom_gradient
    def f(x):
        return x * x, lambda g: tf.reshape(g, (3,)) * 2.0 * x

    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    np.testing.assert_allclose(tape.jacobian(y, x), np.diag([2.0, 4.0, 6.0]))


def test_the_gradient_function_gets_complex_cotangents_in_tensorflows_convention():
    seen = []

    @tf.custom_gradient
    def f(z):
        def grad(g):
            seen.append(complex(g.numpy()))
            return g * tf.constant(2.0 + 0.0j)

        return z * 2.0, grad

    z = tf.constant(1.0 + 2.0j)
    with tf.GradientTape() as tape:
        tape.watch(z)
        y = f(z)
    g = tape.gradient(y, z, output_gradients=tf.constant(1.0 + 3.0j))
    assert seen == [1 + 3j]
    assert complex(g.numpy()) == 2 + 6j


def test_a_missing_gradient_of_a_variable_is_an_error():
    w = tf.Variable(3.0)

    @tf.custom_gradient
    def f(x):
        return x * w, lambda g, variables: (g * w, [])

    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = f(x)
    with pytest.raises(ValueError, match="variable"):
        tape.gradient(y, x)


def test_variables_that_the_gradient_function_does_not_accept_are_an_error():
    w = tf.Variable(3.0)

    @tf.custom_gradient
    def f(x):
        return x * w, lambda g: g * 3.0

    with pytest.raises(TypeError, match="variables"):
        f(tf.constant(2.0))


def test_recompute_saves_memory_and_gives_the_same_gradients():
    rng = np.random.default_rng(0)
    weights = [tf.Variable(rng.normal(size=(32, 32)).astype("float32") / 6) for _ in range(16)]
    x = tf.constant(rng.normal(size=(64, 32)).astype("float32"))

    def block(w, h):
        h = tf.tanh(tf.matmul(h, w))
        h = tf.exp(-h * h) * tf.sin(h)
        return tf.tanh(h) + tf.sigmoid(h)

    def run(wrap):
        with tf.GradientTape() as tape:
            h = x
            for w in weights:
                h = wrap(lambda h, w=w: block(w, h))(h)
            loss = tf.reduce_sum(h * h)
        held = saved_bytes(tape)
        return held, tape.gradient(loss, weights)

    plain, expected = run(lambda f: f)
    frugal, got = run(tf.recompute_grad)
    assert frugal <= 0.4 * plain
    for a, b in zip(got, expected, strict=True):
        np.testing.assert_array_equal(a, b)


def test_recompute_is_differentiable_twice():
    f = tf.recompute_grad(lambda x: x * x * x)
    x = tf.Variable(2.0)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = f(x)
        slope = inner.gradient(y, x)
    assert float(outer.gradient(slope, x)) == 12.0


def test_the_gradient_function_gets_one_cotangent_for_each_tensor_however_nested():
    seen = []

    @tf.custom_gradient
    def f(x):
        def grad(*cotangents):
            seen.extend(float(c) for c in cotangents)
            return cotangents[0]

        return {"a": x, "b": [x * 2.0, (x * 3.0,)]}, grad

    x = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        y = f(x)
        z = y["a"] + 10.0 * y["b"][0] + 100.0 * y["b"][1][0]
    tape.gradient(z, x)
    assert seen == [1.0, 10.0, 100.0]


def test_the_gradient_function_may_return_slices_without_a_dense_shape():
    @tf.custom_gradient
    def first_row(table):
        return table[:1], lambda g: tf.IndexedSlices(g, tf.constant([0]))

    table = tf.Variable([[1.0], [2.0]])
    with tf.GradientTape() as tape:
        y = first_row(table * 3.0)
    assert tape.gradient(y, table).numpy().tolist() == [[3.0], [0.0]]


def test_recompute_treats_an_argument_passed_twice_as_two():
    square = tf.recompute_grad(lambda a, b: a * b)
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = square(x, x)
    assert float(tape.gradient(y, x)) == 6.0


def test_a_recomputed_gradient_is_dense():
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = tf.recompute_grad(lambda t: tf.gather(t, [0, 0]))(x)
    assert tape.gradient(y, x).numpy().tolist() == [2.0, 0.0]


@pytest.mark.parametrize("decorator", [tf.recompute_grad, tf.grad_pass_through])
def test_a_method_can_be_decorated(decorator):
    class Layer:
        k = 3.0

        @decorator
        def call(self, x):
            """Triple."""
            return self.k * x

    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = Layer().call(x)
    assert float(y) == 6.0
    assert float(tape.gradient(y, x)) == (3.0 if decorator is tf.recompute_grad else 1.0)
    assert Layer.call.__doc__ == "Triple."


def test_variables_of_a_grad_pass_through_function_get_no_gradient():
    x, k = tf.Variable(2.0), tf.Variable(5.0)
    with tf.GradientTape() as tape:
        y = tf.grad_pass_through(lambda t: t * k)(x)
    gx, gk = tape.gradient(y, [x, k])
    assert float(gx) == 1.0
    assert gk is None


def test_variable_references_can_be_dictionary_keys_of_arguments():
    a, b = tf.Variable([1.0, 2.0]), tf.Variable(3.0)
    double = tf.recompute_grad(lambda table: {key: 2.0 * t for key, t in table.items()})
    with tf.GradientTape() as tape:
        y = double({a.ref(): a, b.ref(): b})
    assert tape.gradient(y[a.ref()], a).numpy().tolist() == [2.0, 2.0]
