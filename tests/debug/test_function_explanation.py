"""explain_function says why a function was traced, why it runs as Python, and on which engine."""

import pytest

import gradtape as tf
from gradtape.debug import explain_function


def test_the_argument_that_differs_is_named():
    @tf.function
    def scale(x, factor):
        return x * factor

    scale(tf.ones(2), 2.0)
    scale(tf.ones(2), 3.0)
    scale(tf.ones((2, 2), tf.float64), 3.0)
    report = explain_function(scale)
    assert report.count == 3
    first, second, third = report.traces
    assert first.difference == ""
    assert "factor was the Python value 2.0 and is the Python value 3.0" in second.difference
    assert "Pass a tensor" in second.difference
    assert "x was a tensor of float32[2] and is a tensor of float64[2, 2]" in third.difference
    assert "factor" not in third.difference
    assert "scale: traced 3 times" in str(report)


def test_guards_that_failed_have_their_line_and_values():
    @tf.function
    def branch(x):
        if tf.reduce_sum(x) > 0:
            return x
        return -x

    branch(tf.constant([1.0]))
    branch(tf.constant([-1.0]))
    branch(tf.constant([2.0]))
    (trace,) = explain_function(branch).traces
    assert trace.paths == 2
    (guard,) = trace.guards
    assert guard.has_failed
    assert guard.seen == ["True", "False"]
    file, _, line = guard.line.rpartition(":")
    assert file == __file__
    assert int(line) == branch.python_function.__code__.co_firstlineno + 2


def test_a_function_that_runs_as_python_says_why():
    @tf.function
    def many(x):
        for _ in range(int(x)):
            x = x + 0
        return x

    for i in range(40):
        many(tf.constant(i))
    (trace,) = explain_function(many).traces
    assert trace.eager_reason
    assert trace.engine == "python"
    assert trace.eager_calls > 0


def test_the_engine_has_a_reason():
    small = tf.function(lambda x: x + 1)
    small(tf.ones(3))
    (trace,) = explain_function(small).traces
    assert trace.engine == "numpy"
    assert trace.engine_reason in ("jax is not installed",) or "it is small" in trace.engine_reason
    asked = tf.function(lambda x: x + 1, jit_compile=False)
    asked(tf.ones(3))
    assert explain_function(asked).traces[0].engine_reason == "jit_compile=False"


def test_the_cost_model_explains_a_large_graph():
    pytest.importorskip("jax")
    large = tf.function(lambda x: tf.exp(tf.sin(x)) + 1)
    large(tf.ones((1 << 20,)))
    (trace,) = explain_function(large).traces
    assert trace.engine == "xla"
    assert "elementwise" in trace.engine_reason
    product = tf.function(lambda x: x @ x + 1)
    product(tf.ones((1100, 1100)))
    assert "products dominate" in explain_function(product).traces[0].engine_reason


def test_only_functions_are_explained():
    with pytest.raises(TypeError, match=r"expected a tf\.function"):
        explain_function(lambda x: x)
    assert "not called yet" in str(explain_function(tf.function(lambda x: x)))
