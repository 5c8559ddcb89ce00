"""Functions traced on specs, without values."""

import numpy as np
import pytest

import gradtape as tf

SPEC = tf.TensorSpec
N = None

# What TensorFlow 2.21 infers for an argument of shape [None, 3]
INFERRED = {
    "dense": (lambda x: tf.nn.relu(x @ tf.ones([3, 4])), [N, 4]),
    "pairs": (lambda x: tf.reshape(x[:, None] - x[None], [-1, 3]), [N, 3]),
    "sum": (lambda x: tf.reduce_sum(x, 0), [3]),
    "sum, kept": (lambda x: tf.reduce_sum(x, 1, keepdims=True), [N, 1]),
    "last": (lambda x: x[-1], [3]),
    "rest": (lambda x: x[1:], [N, 3]),
    "padded": (lambda x: tf.pad(x, [[0, 4], [1, 1]]), [N, 5]),
    "joined": (lambda x: tf.concat([x, tf.zeros([2, 3])], 0), [N, 3]),
    "columns": (lambda x: tf.stack([x, x], 1), [N, 2, 3]),
    "gram": (lambda x: x @ tf.transpose(x), [N, N]),
    "classes": (lambda x: tf.argmax(x, -1), [N]),
    "one hot": (lambda x: tf.one_hot(tf.argmax(x, -1), 3), [N, 3]),
    "mask": (lambda x: tf.boolean_mask(x, x[:, 0] > 0), [N, 3]),
    "found": (lambda x: tf.where(x > 0), [N, 2]),
    "map": (lambda x: tf.map_fn(lambda row: row * 2.0, x), [N, 3]),
    "scan": (lambda x: tf.scan(lambda a, row: a + row, x), [N, 3]),
    "cond": (lambda x: tf.cond(x[0, 0] > 0.0, lambda: x * 2.0, lambda: x), [N, 3]),
    "zeros": (lambda x: tf.zeros([tf.shape(x)[0], 2]), [N, 2]),
    "counted": (lambda x: tf.range(tf.shape(x)[0]), [N]),
    "noise": (lambda x: x + tf.random.normal(tf.shape(x)), [N, 3]),
    "assertion": (lambda x: checked(x), [N, 3]),
}


def checked(x):
    tf.debugging.assert_non_negative(x)
    return x * 2.0


@pytest.mark.parametrize("name", INFERRED)
def test_the_specs_of_the_results_are_tensorflows(name):
    program, shape = INFERRED[name]
    calls = []

    def counted(x):
        calls.append(x.shape.as_list())
        return program(x)

    concrete = tf.function(counted).get_concrete_function(SPEC([None, 3]))
    assert concrete.structured_outputs.shape.as_list() == shape
    assert calls == [[None, 3]]


def test_a_function_that_is_only_traced_allocates_nothing():
    f = tf.function(lambda a, b: tf.nn.softmax(a @ b))
    large = SPEC([1_000_000, 1_000_000])
    assert f.get_concrete_function(large, large).structured_outputs.shape == [1_000_000, 1_000_000]
    assert f.get_concrete_function(SPEC([None, 10**9]), SPEC([10**9, 10**9])).outputs


def test_calls_that_fit_use_the_trace_of_the_specs():
    calls = []

    @tf.function
    def f(x):
        calls.append(1)
        return tf.reduce_mean(x * x, 0)

    concrete = f.get_concrete_function(SPEC([None, 3]))
    for n in (2, 5, 2):
        x = tf.ones([n, 3])
        np.testing.assert_allclose(concrete(x).numpy(), [1.0] * 3)
        np.testing.assert_allclose(f(x).numpy(), [1.0] * 3)
    assert f.experimental_get_tracing_count() == len(calls) == 1
    f(tf.ones([2, 4]))
    assert f.experimental_get_tracing_count() == 2


@pytest.mark.parametrize("shape", [[4, 3], [None, 3]])
def test_sizes_that_only_the_data_determines(shape):
    f = tf.function(lambda x: tf.boolean_mask(x, x[:, 0] > 0.0) * 2.0)
    concrete = f.get_concrete_function(SPEC(shape))
    assert concrete.structured_outputs.shape.as_list() == [None, 3]
    for count in (1, 3, 1):
        x = np.full((4, 3), -1.0, np.float32)
        x[:count] = 1.0
        assert concrete(tf.constant(x)).shape == (count, 3)
        assert f(tf.constant(x)).shape == (count, 3)


def test_the_trace_of_an_input_signature_serves_its_calls():
    f = tf.function(lambda x: x * 2.0, input_signature=[SPEC([None])])
    f.get_concrete_function()
    for n in (1, 2, 3):
        assert f(tf.ones(n)).shape == (n,)
    assert f.experimental_get_tracing_count() == 1


def test_variables_are_not_changed_by_tracing():
    total = tf.Variable(0.0)

    @tf.function(input_signature=[SPEC([None])])
    def f(x):
        total.assign_add(tf.reduce_sum(x))
        return total / 2.0

    concrete = f.get_concrete_function()
    assert total.numpy() == 0.0
    assert list(concrete.variables) == [total]
    assert concrete(tf.ones(4)).numpy() == 2.0
    assert f(tf.ones(6)).numpy() == 5.0


def test_a_gradient_inside_the_function():
    w = tf.Variable([[1.0], [2.0]])

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(x @ w - y))
        gradient = tape.gradient(loss, w)
        w.assign_sub(0.1 * gradient)
        return loss, gradient

    specs = step.get_concrete_function(SPEC([None, 2]), SPEC([None, 1])).structured_outputs
    assert [s.shape.as_list() for s in specs] == [[], [2, 1]]
    for n in (3, 4):
        x, y = tf.ones([n, 2]), tf.zeros([n, 1])
        before = w.numpy()
        _, gradient = step(x, y)
        np.testing.assert_allclose(gradient.numpy(), np.full((2, 1), 2 * before.sum()), rtol=1e-5)
    assert step.experimental_get_tracing_count() == 1


def test_a_function_that_branches_on_values_is_traced_on_calls():
    @tf.function
    def f(x):
        if tf.reduce_sum(x) > 0:
            return x * 2.0
        return x

    concrete = f.get_concrete_function(SPEC([None]))
    np.testing.assert_allclose(concrete(tf.ones(2)).numpy(), [2.0, 2.0])
    np.testing.assert_allclose(concrete(-tf.ones(3)).numpy(), [-1.0] * 3)


def test_an_error_of_the_function_is_raised():
    f = tf.function(lambda x: x @ tf.ones([4, 2]))
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
        f.get_concrete_function(SPEC([None, 3]))
