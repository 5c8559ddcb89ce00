"""Random programs compute the same eagerly and as functions: values, variables, gradients."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import gradtape
import gradtape as tf

UNARY = [
    tf.sin,
    tf.tanh,
    tf.sigmoid,
    tf.nn.softplus,
    tf.abs,
    tf.square,
    lambda x: tf.exp(-tf.square(x)),
    lambda x: tf.transpose(x),
    lambda x: tf.reverse(x, [0]),
    lambda x: tf.cumsum(x, 1),
    lambda x: tf.nn.softmax(x),
    lambda x: tf.reshape(tf.reshape(x, [-1]), x.shape),
    lambda x: tf.reduce_mean(x, 0, keepdims=True) + x,
    lambda x: tf.stop_gradient(x) * 0.5 + x,
    lambda x: tf.gather(1 * x, [1, 0, 1]),
    lambda x: tf.where(x > 0, x, 0.1 * x),
]
BINARY = [
    tf.add,
    tf.subtract,
    tf.multiply,
    tf.maximum,
    lambda a, b: a / (2.0 + tf.square(b)),
    lambda a, b: a @ tf.transpose(b),
    lambda a, b: tf.concat([a, b], 0)[1:4],
]


@tf.custom_gradient
def doubled(x):
    """A custom gradient: twice the true one."""
    return tf.sin(x), lambda g: 2.0 * g * tf.cos(x)


def looped(x):
    """Three iterations of a loop node."""
    return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, tf.sin(y) + x), (0, x))[1]


def branched(x):
    """A cond node."""
    return tf.cond(tf.reduce_sum(x) > 0.0, lambda: tf.sin(x), lambda: x * 0.5)


def chosen(x):
    """A branch of Python."""
    return tf.sin(x) if tf.reduce_sum(x) > 0.0 else x * 0.5


def scanned(x):
    """A scan over rows."""
    return tf.scan(lambda a, row: 0.5 * a + tf.sin(row), x)


OTHER = [doubled, looped, branched, chosen, scanned, tf.recompute_grad(lambda x: tf.sin(x) * x)]
STEPS = st.tuples(
    st.sampled_from(["unary", "unary", "binary", "other", "assign", "read"]),
    st.integers(0, 100),
    st.integers(0, 100),
    st.integers(0, 100),
)


def program(steps):
    """A function of two 3 × 3 matrices and two variables, made of `steps`."""

    def run(x, y, variables):
        values = [x, y]
        for kind, which, i, j in steps:
            a, b = values[i % len(values)], values[j % len(values)]
            if kind == "unary":
                values.append(UNARY[which % len(UNARY)](a))
            elif kind == "binary":
                values.append(BINARY[which % len(BINARY)](a, b))
            elif kind == "other":
                values.append(OTHER[which % len(OTHER)](a))
            elif kind == "assign":
                variables[i % 2].assign(0.5 * variables[i % 2] + 0.1 * b)
            else:
                values.append(variables[i % 2] * b)
        return values[-1], tf.reduce_sum(values[len(values) // 2])

    return run


def outcome(function, arrays, dtype):
    """Values, variables, first and second derivatives of three calls."""
    x, y, *starts = (tf.constant(a, dtype) for a in arrays)
    variables = [tf.Variable(s) for s in starts]
    found = []
    for turn in range(3):
        inputs = [x + 0.1 * turn, y - 0.2 * turn]
        with tf.GradientTape(persistent=True) as outer:
            outer.watch(inputs)
            with tf.GradientTape() as inner:
                inner.watch(inputs)
                first, second = function(*inputs, variables)
                target = tf.reduce_sum(first * first) + second
            slopes = inner.gradient(target, inputs + variables)
            kept = [tf.reduce_sum(s * s) for s in slopes if s is not None]
        curves = outer.gradient(kept, inputs) if kept else []
        del outer
        found.append([first, second, *slopes, *curves, *variables])
    return found


def compare(a, b, rtol):
    """Compare two outcomes; None equals zeros where a path was not taken."""
    for one, other in zip(a, b, strict=True):
        for p, q in zip(one, other, strict=True):
            left = np.zeros(()) if p is None else tf.convert_to_tensor(p).numpy()
            right = np.zeros(()) if q is None else tf.convert_to_tensor(q).numpy()
            left, right = np.broadcast_arrays(left, right)
            scale = max(1.0, float(np.max(np.abs(left), initial=0)))
            np.testing.assert_allclose(right, left, rtol=rtol, atol=rtol * scale)


@pytest.mark.parametrize(("dtype", "rtol"), [("float32", 2e-5), ("float64", 1e-11)])
@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(steps=st.lists(STEPS, min_size=1, max_size=9), seed=st.integers(0, 1000))
def test_a_function_computes_the_same_as_python(steps, seed, dtype, rtol):
    arrays = np.random.default_rng(seed).normal(size=(4, 3, 3))
    python = program(steps)
    compare(outcome(python, arrays, dtype), outcome(tf.function(python), arrays, dtype), rtol)


def on_xla(python):
    """The function on XLA, except what XLA cannot express, such as gradients of `looped`."""
    pytest.importorskip("jax")
    function = tf.function(python)
    gradtape.engine.use("xla", function)
    return function


@pytest.mark.parametrize(("dtype", "rtol"), [("float32", 2e-5), ("float64", 1e-11)])
@settings(max_examples=20, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(steps=st.lists(STEPS, min_size=1, max_size=9), seed=st.integers(0, 1000))
def test_a_function_on_xla_computes_the_same_as_python(steps, seed, dtype, rtol):
    arrays = np.random.default_rng(seed).normal(size=(4, 3, 3))
    python = program(steps)
    compare(outcome(python, arrays, dtype), outcome(on_xla(python), arrays, dtype), rtol)


def stepping(steps):
    """A training step on a program."""
    body = program(steps)

    def step(x, y, variables):
        with tf.GradientTape() as tape:
            first, second = body(x, y, variables)
            loss = tf.reduce_mean(first) + 0.01 * second
        slopes = tape.gradient(loss, variables)
        for variable, slope in zip(variables, slopes, strict=True):
            if slope is not None:
                variable.assign_sub(0.1 * slope)
        return loss

    return step


def train(function, arrays):
    """Losses and variables of four steps."""
    x, y, *starts = (tf.constant(a) for a in arrays)
    variables = [tf.Variable(s) for s in starts]
    losses = [function(x + 0.1 * turn, y, variables) for turn in range(4)]
    return [losses + variables]


@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(steps=st.lists(STEPS, min_size=1, max_size=9), seed=st.integers(0, 1000))
def test_a_training_step_computes_the_same_inside_a_function(steps, seed):
    arrays = np.random.default_rng(seed).normal(size=(4, 3, 3))
    step = stepping(steps)
    compare(train(step, arrays), train(tf.function(step), arrays), 1e-11)


@settings(max_examples=20, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(steps=st.lists(STEPS, min_size=1, max_size=9), seed=st.integers(0, 1000))
def test_a_training_step_computes_the_same_on_xla(steps, seed):
    arrays = np.random.default_rng(seed).normal(size=(4, 3, 3))
    step = stepping(steps)
    compare(train(step, arrays), train(on_xla(step), arrays), 1e-11)
