"""Functions of open sizes: one trace serves all sizes that satisfy its assumptions."""

import numpy as np
import pytest

import gradtape as tf
from gradtape.core.ports import CompilerPort

SPEC = tf.TensorSpec


def rows(n, columns=3, seed=0):
    return tf.constant(np.random.default_rng(seed).normal(size=(n, columns)).astype(np.float32))


def test_shapes_show_none_for_open_sizes():
    seen = []

    @tf.function(input_signature=[SPEC([None, 3])])
    def f(x):
        y = tf.matmul(x, tf.ones([3, 4]))
        made = [
            x,
            y,
            tf.reshape(y, [tf.shape(x)[0], 2, 2]),
            tf.reshape(y, [-1]),
            tf.concat([x, x], 0),
            x[1:],
            tf.reduce_sum(x, 0),
            tf.zeros([tf.shape(x)[0], 5]),
            tf.range(tf.shape(x)[0]),
            tf.tile(x, [2, 1]),
            tf.transpose(x),
            tf.ones_like(x),
            tf.fill(tf.shape(x), 2.0),
            x + tf.ones([1, 3]),
        ]
        seen.append([t.shape.as_list() for t in made])
        return made

    for n in (2, 5, 1, 0):
        results = f(rows(n))
        sizes = [n, n, n, 4 * n, 2 * n, max(n - 1, 0), 3, n, n, 2 * n, 3, n, n, n]
        assert [t.shape[0] for t in results] == sizes
    none = None
    assert seen == [
        [
            [none, 3],
            [none, 4],
            [none, 2, 2],
            [none],
            [none, 3],
            [none, 3],
            [3],
            [none, 5],
            [none],
            [none, 3],
            [3, none],
            [none, 3],
            [none, 3],
            [none, 3],
        ]
    ]
    assert f.experimental_get_tracing_count() == 1


PROGRAMS = {
    "dense": lambda x: tf.nn.softmax(x @ tf.ones([3, 4]) + tf.range(4.0)),
    "statistics": lambda x: (x - tf.reduce_mean(x, 0)) / tf.math.reduce_std(x, 0),
    "attention": lambda x: tf.nn.softmax(x @ tf.transpose(x) / 2.0) @ x,
    "pairs": lambda x: tf.reshape(x[:, None] - x[None], [-1, 3]),
    "size as a number": lambda x: x / tf.cast(tf.shape(x)[0], tf.float32),
    "half": lambda x: x[: tf.shape(x)[0] // 2],
    "last": lambda x: x[-1],
    "padding": lambda x: tf.pad(x, [[0, 4], [1, 1]]),
    "map": lambda x: tf.map_fn(lambda row: row * 2.0, x),
    "scan": lambda x: tf.scan(lambda a, row: a + row, x),
    "cond": lambda x: tf.cond(tf.reduce_sum(x) > 0.0, lambda: x * 2.0, lambda: x - 1.0),
    "while": lambda x: tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * 2.0), [0, x])[1],
    "gather": lambda x: tf.gather(x, tf.range(tf.shape(x)[0] - 1, -1, -1)),
    "one hot": lambda x: tf.one_hot(tf.argmax(x, -1), 3),
    "sort": lambda x: tf.sort(x, 0),
    "top": lambda x: tf.math.top_k(x, 2)[0],
    "cumulative": lambda x: tf.cumsum(x, 0),
    "image": lambda x: tf.nn.conv2d(tf.reshape(x, [1, -1, 3, 1]), tf.ones([3, 3, 1, 2]), 1, "SAME"),
    "broadcast": lambda x: tf.broadcast_to(x[0], tf.shape(x)),
    "stack": lambda x: tf.stack([x, x * 2.0], 1),
    "split": lambda x: tf.split(x, 3, 1),
    "where": lambda x: tf.where(x > 0.0, x, tf.zeros_like(x)),
    "einsum": lambda x: tf.einsum("ij,kj->ik", x, x),
    "repeat": lambda x: tf.repeat(x, 2, 0),
    "norm": lambda x: tf.linalg.l2_normalize(x, -1),
    "random": lambda x: tf.random.stateless_normal(tf.shape(x), [1, 2]) * x,
}

# Programs that read a size as a number: they are traced for each size. The list may only shrink.
PINNING = {"gather", "half", "random", "repeat"}


@pytest.mark.parametrize("name", PROGRAMS)
def test_one_trace_gives_what_eager_gives_for_every_size(name):
    program = PROGRAMS[name]
    f = tf.function(program, input_signature=[SPEC([None, 3])])
    for n in (4, 7, 3, 7, 4, 7):
        x = rows(n, seed=n)
        expected = tf.nest.flatten(program(x))
        for ours, theirs in zip(tf.nest.flatten(f(x)), expected, strict=True):
            assert ours.shape == theirs.shape
            np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-5, atol=1e-6)
    assert f.experimental_get_tracing_count() <= (3 if name in PINNING else 1)


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name != "one hot"])
def test_gradients_of_a_function_of_open_sizes(name):
    program = PROGRAMS[name]

    def total(x):
        return tf.add_n([tf.reduce_sum(tf.square(y)) for y in tf.nest.flatten(program(x))])

    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = total(x)
        return tf.convert_to_tensor(tape.gradient(loss, x))

    inside = tf.function(gradient, input_signature=[SPEC([None, 3])])
    outside = tf.function(total, input_signature=[SPEC([None, 3])])
    for n in (4, 7, 3, 7):
        x = rows(n, seed=n)
        expected = gradient(x).numpy()
        np.testing.assert_allclose(inside(x).numpy(), expected, rtol=1e-4, atol=1e-5)
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = outside(x)
        found = tf.convert_to_tensor(tape.gradient(loss, x))
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-4, atol=1e-5)
    assert outside.experimental_get_tracing_count() <= (3 if name in PINNING else 1)


def test_two_open_arguments_that_broadcast():
    @tf.function(input_signature=[SPEC([None, None]), SPEC([None])])
    def f(x, y):
        return x * y + 1.0

    for shape, n in (((2, 3), 3), ((2, 4), 1), ((5, 1), 4), ((4, 2), 2)):
        x, y = tf.ones(shape), tf.range(float(n))
        np.testing.assert_allclose(f(x, y).numpy(), (x * y + 1.0).numpy())
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\[2,3\] vs\. \[4\]"):
        f(tf.ones([2, 3]), tf.ones(4))
    assert f.experimental_get_tracing_count() == 1


def test_a_decision_about_a_size_is_an_assumption():
    seen = []

    @tf.function(input_signature=[SPEC([None])])
    def f(x):
        seen.append(1)
        return x * 2.0 if len(x) > 3 else x * 3.0

    for n in (5, 2, 5, 2):
        assert f(tf.ones(n)).numpy()[0] == (2.0 if n > 3 else 3.0)
    assert len(seen) == 2


def test_python_control_flow_on_values():
    @tf.function(input_signature=[SPEC([None])])
    def f(x):
        if tf.reduce_sum(x) > 0:
            return x * 2.0
        return x - 1.0

    for n in (2, 3, 4, 2):
        for sign in (1.0, -1.0):
            x = tf.fill([n], sign)
            np.testing.assert_allclose(f(x).numpy(), [2.0 if sign > 0 else -2.0] * n)


def test_variables_are_updated_at_every_size():
    total = tf.Variable(0.0)
    count = tf.Variable(0, dtype=tf.int32)

    @tf.function(input_signature=[SPEC([None])])
    def f(x):
        total.assign_add(tf.reduce_sum(x))
        count.assign_add(tf.size(x))
        return total / tf.cast(count, tf.float32)

    for n in (2, 3, 2, 3, 1):
        f(tf.ones(n))
    assert (total.numpy(), count.numpy()) == (11.0, 11)
    assert f.experimental_get_tracing_count() == 1


def test_variables_created_in_the_first_call():
    class Layer(tf.Module):
        def __init__(self):
            self.w = None

        @tf.function(input_signature=[SPEC([None, 3])])
        def __call__(self, x):
            if self.w is None:
                self.w = tf.Variable(tf.ones([x.shape[-1], 2]))
            return x @ self.w

    layer = Layer()
    for n in (2, 4, 3):
        np.testing.assert_allclose(layer(tf.ones([n, 3])).numpy(), np.full((n, 2), 3.0))


def test_a_side_effect_and_a_custom_gradient():
    seen = []

    @tf.custom_gradient
    def double(x):
        return x * 2.0, lambda g: g * tf.ones_like(x) * 5.0

    @tf.function(input_signature=[SPEC([None])])
    def f(x):
        tf.py_function(lambda y: seen.append(len(y)), [x], [])
        return double(x)

    for n in (2, 3, 2):
        x = tf.ones(n)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        np.testing.assert_allclose(tape.gradient(y, x).numpy(), [5.0] * n)
    assert seen == [2, 3, 2]


def test_reduce_retracing_generalises_the_sizes_that_differ():
    seen = []

    @tf.function(reduce_retracing=True)
    def f(x):
        seen.append(x.shape.as_list())
        return x * 2.0

    for shape in ((2, 3), (5, 3), (1, 3), (2, 3), (4, 4), (7, 9)):
        assert f(tf.ones(shape)).shape == shape
    assert seen == [[2, 3], [None, 3], [None, None]]
    assert f.experimental_get_tracing_count() == 3


def test_reduce_retracing_keeps_python_values_and_dtypes_apart():
    @tf.function(reduce_retracing=True)
    def f(x, flag):
        return x + 1 if flag else x - 1

    for n in (1, 2, 3, 4):
        assert f(tf.ones(n), True).numpy()[0] == 2
        assert f(tf.ones(n), False).numpy()[0] == 0
        assert f(tf.ones(n, tf.int32), True).dtype is tf.int32
    assert f.experimental_get_tracing_count() == 6


def test_a_nested_function_is_called_with_open_sizes():
    inner = tf.function(lambda x: tf.reduce_sum(x) + tf.cast(tf.size(x), tf.float32))

    @tf.function(input_signature=[SPEC([None])])
    def outer(x):
        return inner(x) + inner(x[:1])

    for n in (2, 5, 3):
        assert outer(tf.ones(n)).numpy() == 2 * n + 2
        assert inner(tf.ones(n)).numpy() == 2 * n


def test_set_shape_states_a_size():
    seen = []

    @tf.function(input_signature=[SPEC([None, None])])
    def f(x):
        x.set_shape([None, 3])
        seen.append(x.shape.as_list())
        return x * 1.0

    for n in (2, 4):
        f(rows(n))
    assert seen == [[None, 3]]
    with pytest.raises(ValueError, match="set_shape"):
        f(rows(2, 4))


def test_an_error_of_the_function_is_raised_once():
    calls = []

    @tf.function(input_signature=[SPEC([None])])
    def f(x):
        calls.append(1)
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        f(tf.ones(2))
    assert len(calls) == 1


def test_a_wrong_size_is_an_error_and_the_next_call_works():
    f = tf.function(lambda x: x @ tf.ones([3, 2]), input_signature=[SPEC([None, None])])
    assert f(tf.ones([2, 3])).shape == (2, 2)
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError)):
        f(tf.ones([2, 4]))
    assert f(tf.ones([5, 3])).shape == (5, 2)


def test_an_open_size_of_a_method():
    class Model(tf.Module):
        @tf.function(input_signature=[SPEC([None])])
        def double(self, x):
            return x * 2.0

    model = Model()
    for n in (1, 2, 3):
        assert model.double(tf.ones(n)).shape == (n,)
    assert model.double.experimental_get_tracing_count() == 1


def test_the_body_of_a_loop_is_compiled_only_for_sizes_that_occur_often(monkeypatch):
    compiled = []
    compile_body = CompilerPort.compile
    monkeypatch.setattr(
        CompilerPort, "compile", lambda graph: compiled.append(graph) or compile_body(graph)
    )

    @tf.function(input_signature=[tf.TensorSpec([None])])
    def f(x):
        count = tf.shape(x)[0]
        return tf.while_loop(
            lambda i, y: i < count, lambda i, y: (i + 1, y * 0.5 + x), (0, tf.zeros_like(x))
        )[1]

    for count in range(1, 5):
        f(tf.ones(count))
    assert not compiled
    for _ in range(60):
        result = f(tf.ones(4))
    assert compiled
    assert result.numpy().tolist() == [1.875] * 4
