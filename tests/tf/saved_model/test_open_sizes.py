"""Saved functions of unknown sizes: graphs for all sizes, assumptions, sizes found in data."""

import numpy as np
import pytest

import gradtape as tf

RNG = np.random.default_rng(0)


def normal(*shape):
    return tf.constant(RNG.normal(size=shape).astype(np.float32))


def save_and_load(path, function, *specs, **attributes):
    """The function of a module that was saved and loaded."""
    module = tf.Module()
    for name, value in attributes.items():
        setattr(module, name, value)
    module.f = tf.function(function, input_signature=[*specs])
    tf.saved_model.save(module, str(path / "model"))
    return tf.saved_model.load(str(path / "model"))


def assert_same(ours, theirs):
    for a, b in zip(tf.nest.flatten(ours), tf.nest.flatten(theirs), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


class Dense(tf.Module):
    """A layer whose weights are made by the first call."""

    def __init__(self, units, activation=tf.identity):
        super().__init__()
        self.units, self.activation, self.built = units, activation, False

    def __call__(self, x):
        if not self.built:
            self.w = tf.Variable(normal(x.shape[-1], self.units) * 0.1)
            self.b = tf.Variable(tf.zeros([self.units]))
            self.built = True
        return self.activation(x @ self.w + self.b)


class Classifier(tf.Module):
    """Layers that are trained, with the preparation of raw data, as the guides export them."""

    def __init__(self, layers, prepare, finish):
        super().__init__()
        self.layers, self.prepare, self.finish = layers, prepare, finish

    def logits(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def train(model, x, y, loss):
    """A few steps of gradient descent, compiled."""

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            value = loss(y, model.logits(x))
        variables = model.trainable_variables
        for v, g in zip(variables, tape.gradient(value, variables), strict=True):
            v.assign_sub(0.1 * g)
        return value

    model.logits(x)  # makes the weights
    return [float(step(x, y)) for _ in range(20)]


def test_a_regression_with_normalised_columns(tmp_path):
    data = normal(60, 9) * 3.0 + 2.0
    mean, deviation = tf.reduce_mean(data, 0), tf.math.reduce_std(data, 0)
    model = Classifier([Dense(1)], lambda x: (x - mean) / deviation, lambda y: tf.squeeze(y, 1))
    target = tf.reduce_sum(data[:, :2], 1, keepdims=True)
    losses = train(model, model.prepare(data), target, lambda y, z: tf.reduce_mean((y - z) ** 2))
    assert losses[-1] < losses[0]

    def serve(x):
        return model.finish(model.logits(model.prepare(x)))

    # Neither the number of rows nor that of columns is stated: the weights say that there are 9.
    loaded = save_and_load(tmp_path, serve, tf.TensorSpec([None, None]), model=model)
    for count in (1, 2, 5, 60, 0):
        assert_same(loaded.f(data[:count]), serve(data[:count]))
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"Incompatible shapes: \[2,4\] vs. \[9\]"
    ):
        loaded.f(normal(2, 4))


def test_a_network_for_pictures(tmp_path):
    pictures = tf.constant(RNG.integers(0, 255, (40, 6, 6, 1)), tf.uint8)
    labels = tf.constant(RNG.integers(0, 3, 40), tf.int64)

    def prepare(x):
        return tf.cast(tf.reshape(x, [-1, 6 * 6]), tf.float32) / 255

    layers = [Dense(8, tf.nn.relu), Dense(8, tf.nn.relu), Dense(3)]
    model = Classifier(layers, prepare, lambda z: tf.argmax(tf.nn.softmax(z), axis=1))
    losses = train(
        model,
        prepare(pictures),
        labels,
        lambda y, z: tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=z)
        ),
    )
    assert losses[-1] < losses[0]

    def serve(x):
        return model.finish(model.logits(model.prepare(x)))

    spec = tf.TensorSpec([None, None, None, None], tf.uint8)
    loaded = save_and_load(tmp_path, serve, spec, model=model)
    for count in (1, 3, 40):
        assert_same(loaded.f(pictures[:count]), serve(pictures[:count]))


def test_a_logistic_regression(tmp_path):
    data = normal(50, 5)
    labels = tf.cast(data[:, :1] > 0, tf.float32)
    model = Classifier([Dense(1)], tf.identity, lambda z: tf.cast(tf.sigmoid(z) > 0.5, tf.int32))
    losses = train(
        model,
        data,
        labels,
        lambda y, z: tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=z)),
    )
    assert losses[-1] < losses[0]

    def serve(x):
        return {"class": model.finish(model.logits(x)), "count": tf.shape(x)[0]}

    loaded = save_and_load(tmp_path, serve, tf.TensorSpec([None, None]), model=model)
    for count in (1, 7, 50):
        assert_same(loaded.f(data[:count]), serve(data[:count]))
        served = loaded.signatures["serving_default"](x=data[:count])
        assert_same(served, serve(data[:count]))


def test_tracing_for_saving_computes_nothing_and_runs_python_once(tmp_path):
    calls = []

    def f(x):
        calls.append(x.shape.as_list())
        huge = tf.fill([1 << 20, 1 << 20, tf.shape(x)[0]], 1.0)
        return tf.reduce_sum(huge) + tf.reduce_sum(x)

    module = tf.Module()
    module.f = tf.function(f, input_signature=[tf.TensorSpec([None])])
    tf.saved_model.save(module, str(tmp_path / "m"))
    assert calls == [[None]]


@pytest.mark.parametrize(
    ("function", "examples"),
    [
        (lambda x: tf.boolean_mask(x, x > 0) * 2.0, [[1.0, -1.0, 3.0], [-1.0], []]),
        (
            lambda x: tf.unique(x).y + tf.cast(tf.size(tf.unique(x).y), tf.float32),
            [[1.0, 1.0, 2.0]],
        ),
        (lambda x: tf.reverse(tf.where(x > 0), [0]), [[1.0, 2.0, -1.0], [0.0]]),
        (lambda x: tf.repeat(x, tf.cast(x, tf.int32)), [[1.0, 3.0], [0.0, 2.0, 1.0]]),
        (lambda x: tf.ones([tf.cast(x[0], tf.int32), 2]) * x[1], [[2.0, 5.0], [0.0, 1.0]]),
        (lambda x: tf.sequence_mask(tf.cast(x, tf.int32)), [[1.0, 3.0], [2.0]]),
        (
            lambda x: tf.cond(tf.reduce_sum(x) > 0, lambda: x[:1], lambda: x),
            [[1.0, 2.0], [-3.0, 1.0]],
        ),
    ],
)
def test_sizes_that_only_data_determines(tmp_path, function, examples):
    loaded = save_and_load(tmp_path, function, tf.TensorSpec([None]))
    for _ in range(2):
        for values in examples:
            x = tf.constant(values, tf.float32)
            assert_same(loaded.f(x), function(x))


def test_a_recurrent_loop_over_any_number_of_steps(tmp_path):
    w, u = normal(3, 4), normal(4, 4)

    def f(x):
        steps = tf.transpose(x, [1, 0, 2])
        count = tf.shape(steps)[0]
        given = tf.TensorArray(tf.float32, size=count).unstack(steps)
        out = tf.TensorArray(tf.float32, size=count, element_shape=(None, 4))

        def body(i, h, out):
            h = tf.tanh(given.read(i) @ w + h @ u)
            return i + 1, h, out.write(i, h)

        start = (0, tf.zeros([tf.shape(x)[0], 4]), out)
        _, last, out = tf.while_loop(lambda i, *_: i < count, body, start)
        return last, tf.transpose(out.stack(), [1, 0, 2])

    loaded = save_and_load(tmp_path, f, tf.TensorSpec([None, None, 3]))
    for shape in ((2, 5, 3), (1, 1, 3), (3, 2, 3)):
        x = normal(*shape)
        gradients = []
        for function in (f, loaded.f):
            with tf.GradientTape() as tape:
                tape.watch(x)
                total = tf.reduce_sum(function(x)[1] ** 2)
            gradients.append(tape.gradient(total, x))
        assert_same(loaded.f(x), f(x))
        assert_same(*gradients)
    assert loaded.f.experimental_get_tracing_count() == 1


def test_one_trace_serves_all_sizes_of_a_loaded_function(tmp_path):
    w = normal(4, 2)
    loaded = save_and_load(tmp_path, lambda x: tf.nn.softmax(x @ w), tf.TensorSpec([None, 4]))
    for count in range(1, 8):
        for _ in range(3):
            loaded.f(normal(count, 4))
    assert loaded.f.experimental_get_tracing_count() == 1


def test_equal_and_different_batches_have_their_own_graphs(tmp_path):
    a, b = tf.TensorSpec([None, 2, 3]), tf.TensorSpec([None, 3, 2])
    loaded = save_and_load(tmp_path, lambda x, y: tf.matmul(x, y), a, b)
    for m, n in ((4, 4), (1, 5), (5, 1), (1, 1)):
        x, y = normal(m, 2, 3), normal(n, 3, 2)
        assert_same(loaded.f(x, y), tf.matmul(x, y))


def test_a_violated_assumption_is_named_in_functions_and_under_tapes(tmp_path):
    loaded = save_and_load(tmp_path, lambda x: tf.reshape(x, [-1, 3]), tf.TensorSpec([None]))
    match = r"\(x.shape\[0\] % 3\) == 0. Received x.shape\[0\] = 4"
    x = tf.zeros(4)
    with tf.GradientTape() as tape:
        tape.watch(x)
        with pytest.raises(tf.errors.InvalidArgumentError, match=match):
            loaded.f(x)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"% 3\) == 0"):
        tf.function(lambda x: loaded.f(x) + 1.0)(x)
    assert loaded.f(tf.zeros(6)).shape == (2, 3)


def test_a_loaded_function_inside_a_function_of_unknown_sizes(tmp_path):
    w = normal(4, 2)
    loaded = save_and_load(
        tmp_path, lambda x: tf.concat([x @ w, x[:, :1]], 1), tf.TensorSpec([None, 4])
    )
    outer = tf.function(
        lambda x: loaded.f(tf.concat([x, x], 0)) * 2.0, input_signature=[tf.TensorSpec([None, 4])]
    )
    assert outer.get_concrete_function().structured_outputs == tf.TensorSpec([None, 3])
    for count in (1, 3, 8):
        x = normal(count, 4)
        twice = tf.concat([x, x], 0)
        assert_same(outer(x), tf.concat([twice @ w, twice[:, :1]], 1) * 2.0)
    assert outer.experimental_get_tracing_count() == 1
