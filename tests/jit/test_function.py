"""tf.function: when Python runs, which calls share a trace, and what a call returns."""

import gc
import logging
import weakref

import numpy as np
import pytest

import gradtape as tf


@pytest.fixture
def eager():
    tf.config.run_functions_eagerly(True)
    yield
    tf.config.run_functions_eagerly(False)


@tf.function(
    input_signature=[tf.TensorSpec((), "float32")], jit_compile=True, reduce_retracing=True
)
def double(x):
    """Twice `x`."""
    return x * 2


class Doubler:
    """An object whose method is a tf.function."""

    factor = 2

    @tf.function
    def __call__(self, x):
        return x * self.factor


@pytest.mark.usefixtures("eager")
def test_run_eagerly_it_calls_the_python_function():
    assert tf.config.functions_run_eagerly()
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = double(x)
    assert tape.gradient(y, x) == 2.0
    assert Doubler()(tf.constant(3.0)) == 6.0


def missing(x):
    """Apply an op that fails unless there are two elements."""
    return tf.gather(x, [1]) * 2.0


def test_an_op_that_fails_is_no_error_if_its_result_is_not_used():
    def unused(x):
        missing(x)
        return x

    def differentiated(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            missing(x)
            y = x * 3.0
        return tape.gradient(y, x) / 3.0 * x

    for f in map(tf.function, (unused, differentiated)):
        for _ in range(3):
            assert f(tf.constant([5.0])).numpy() == [5.0]
            assert f(tf.constant([5.0, 6.0]))[1].numpy() == 6.0


V = tf.Variable(1.0)


def looked_at(x):
    return x if missing(x)[0] > 0 else -x


@pytest.mark.parametrize(
    "use",
    [
        lambda x: (x, tf.reduce_sum(missing(x))),
        lambda x: (V.assign(missing(x)[0]), x)[1],
        lambda x: (tf.print(missing(x)), x)[1],
        looked_at,
        tf.custom_gradient(lambda x: (missing(x), lambda g: g)),
        lambda x: tf.matmul(x[:, None], missing(x)[:, None])[0] if V > 100.0 else missing(x),
    ],
)
def test_an_op_that_fails_is_an_error_if_its_result_is_used(use):
    V.assign(1.0)
    f = tf.function(use)
    for _ in range(3):
        with pytest.raises(tf.errors.InvalidArgumentError, match="gather: indices"):
            f(tf.constant([5.0]))
        assert float(V) in (1.0, 12.0)
        f(tf.constant([5.0, 6.0]))


def test_an_op_on_wrong_shapes_is_an_error_even_if_it_is_not_used():
    f = tf.function(lambda x: (tf.matmul(x, x), x)[1])
    for _ in range(2):
        with pytest.raises(ValueError, match="matmul"):
            f(tf.constant([1.0]))


def test_a_function_keeps_the_name_and_the_signature():
    fresh = tf.function(double.python_function, input_signature=double.input_signature)
    assert fresh.__doc__ == "Twice `x`."
    assert fresh.name == fresh.__name__ == "double"
    assert fresh.python_function(2) == 4
    assert fresh.input_signature == [tf.TensorSpec((), "float32")]
    assert fresh.experimental_get_tracing_count() == 0


def test_only_callables_can_be_functions():
    with pytest.raises(TypeError, match="callable"):
        tf.function(3)


def test_a_method_has_traces_for_each_instance_and_does_not_keep_it_alive():
    one = Doubler()
    assert one(tf.constant(3.0)) == 6.0
    assert one(tf.constant(4.0)) == 8.0
    alive = weakref.ref(one)
    del one
    gc.collect()
    assert alive() is None


def test_tensors_of_a_closed_trace_cannot_be_used():
    leaked = []

    @tf.function
    def f(x):
        leaked.append(x + 1.0)
        return x

    f(tf.constant(1.0))
    with pytest.raises(TypeError, match="out of scope"):
        leaked[0] + 1.0
    assert leaked[0].shape == ()
    assert repr(leaked[0]) == "<tf.Tensor 'add:0' shape=() dtype=float32>"


def test_a_variable_is_created_in_the_first_call_only():
    class Layer:
        v = None

        @tf.function
        def __call__(self, x):
            if self.v is None:
                self.v = tf.Variable(2.0)
            return x * self.v

    layer = Layer()
    assert [float(layer(tf.constant(a))) for a in (1.0, 2.0, 3.0)] == [2.0, 4.0, 6.0]

    @tf.function
    def always(x):
        return x * tf.Variable(1.0)

    with pytest.raises(ValueError, match="only supports singleton"):
        always(tf.constant(1.0))


def test_assignment_stops_the_gradient_as_in_eager_mode():
    v = tf.Variable(2.0)

    @tf.function
    def f():
        v.assign(v * 2.0)
        return v * v

    def g():
        v.assign(v * 2.0)
        return v * v

    for function in (g, f, f, f):
        v.assign(2.0)
        with tf.GradientTape() as tape:
            y = function()
        assert tape.gradient(y, v) == 8.0, function


def test_an_error_changes_no_variable():
    v = tf.Variable(1.0)

    @tf.function
    def f(i):
        v.assign_add(1.0)
        return tf.gather([1.0, 2.0], i)

    for index, value in ((0, 2.0), (1, 3.0)):
        f(tf.constant(index))
        assert v.numpy() == value
    for _ in range(2):
        with pytest.raises(tf.errors.InvalidArgumentError):
            f(tf.constant(7))
        assert v.numpy() == 3.0


def test_the_warning_about_retracing_names_the_argument_that_changes(caplog):
    @tf.function
    def f(x, n):
        return x * n

    with caplog.at_level(logging.WARNING, "gradtape"):
        for n in range(8):
            f(tf.constant(1.0), float(n))
    assert "retracing" in caplog.text
    assert "value 1 of the arguments" in caplog.text


def test_many_shapes_stay_within_the_bound():
    f = tf.function(lambda x: x + 1.0)
    for n in range(400):
        f(tf.zeros(n))
    assert len(f._cache) <= 256


def test_an_object_among_the_arguments_is_not_kept_alive():
    class Config:
        k = 2.0

    f = tf.function(lambda x, c: x * c.k)
    config = Config()
    assert f(tf.constant(3.0), config) == 6.0
    alive = weakref.ref(config)
    del config
    gc.collect()
    assert alive() is None
    assert not f._cache


def test_numpy_refuses_symbolic_tensors():
    @tf.function
    def f(x):
        return np.sin(x)

    with pytest.raises(NotImplementedError, match="symbolic"):
        f(tf.constant(1.0))


def test_structures_and_python_values_come_back_as_tensors():
    v = tf.Variable(5.0)
    out = tf.function(lambda: {"a": 1, "b": "s", "c": None, "d": v, "e": (True, 2.5)})()
    assert out["a"].dtype is tf.int32
    assert out["b"].numpy() == b"s"
    assert out["c"] is None
    assert out["d"].numpy() == 5.0
    assert out["e"][0].dtype is tf.bool
    with pytest.raises(TypeError, match="return value of type object"):
        tf.function(object)()


def test_a_captured_tensor_can_be_watched_inside():
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    w = tf.Variable([[1.0, 0.5], [0.0, 2.0]])

    @tf.function
    def f():
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = tf.sin(x @ w)
        return tape.gradient(y, x), tape.jacobian(y, x), tape.batch_jacobian(y, x)

    for scale in (1.0, 2.0, 3.0):
        w.assign(w * scale)
        expected = f.python_function()
        for a, b in zip(expected, f(), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-6)


def test_equal_instances_have_methods_of_their_own():
    class Scale:
        def __init__(self, k):
            self.k = k

        def __eq__(self, other):
            return True

        def __hash__(self):
            return 0

        @tf.function
        def __call__(self, x):
            return x * self.k

    two, three = Scale(2.0), Scale(3.0)
    assert [float(two(tf.constant(1.0))), float(three(tf.constant(1.0)))] == [2.0, 3.0]


def test_a_first_call_that_creates_variables_calls_the_host_once():
    calls, made = [], []

    @tf.function
    def f(x):
        if not made:
            made.append(tf.Variable(1.0))
        if made[0] < 3.0:
            made[0].assign_add(x)
        return tf.numpy_function(lambda a: calls.append(1) or a, [made[0]], tf.float32)

    assert [float(f(tf.constant(2.0))) for _ in range(3)] == [3.0, 3.0, 3.0]
    assert len(calls) == 3


def test_a_function_can_be_decorated_before_its_first_trace():
    f = tf.function(lambda x: x + 1)
    f._decorate(lambda g: lambda x: 10 * g(x))
    assert int(f(tf.constant(1))) == 20
    with pytest.raises(ValueError, match="before its first call"):
        f._decorate(lambda g: g)


def test_attributes_of_a_callable_object_are_those_of_its_function():
    class Scale(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable(3.0)

        def __call__(self, x):
            return self.w * x

    scale = Scale()
    f = tf.function(scale)
    assert f.w is scale.w
    assert float(f(tf.constant(2.0))) == 6.0


def test_a_tensor_array_has_a_computed_size_without_autograph():
    @tf.function(autograph=False)
    def double(x, n):
        n = n + 1
        out = tf.TensorArray(x.dtype, n)
        body = lambda i, out: (i + 1, out.write(i, 2 * x[i]))  # noqa: E731
        return tf.while_loop(lambda i, out: i < n, body, (0, out))[1].stack()

    np.testing.assert_array_equal(double(tf.range(4), tf.constant(2)), [0, 2, 4])
    np.testing.assert_array_equal(double(tf.range(4), tf.constant(1)), [0, 2])
