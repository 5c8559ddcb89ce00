"""compare_engines names the first primitive whose value differs."""

import numpy as np
import pytest

import gradtape
import gradtape as tf
from gradtape.compile.xla.kernel_namespace import has_jax
from gradtape.ops import elementwise as e

X = tf.constant(np.random.default_rng(1).normal(size=(3, 3)), tf.float32)


def test_engines_agree_on_a_step_with_variables_and_control_flow():
    variable = tf.Variable(X)

    def step(x):
        variable.assign_add(x)
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.tanh(variable) @ x)
        slope = tape.gradient(y, variable)
        return slope, tf.cond(y > 0, lambda: y, lambda: 2 * y), tf.sin(y) if y > 0 else y

    found = gradtape.debug.compare_engines(step, X)
    assert found.equal, str(found)
    assert found.engines == (("function", "numpy", "xla") if has_jax() else ("function", "numpy"))
    assert str(found).startswith("equal: function, numpy")
    np.testing.assert_array_equal(variable.numpy(), X.numpy())


def test_it_accepts_a_tf_function():
    assert gradtape.debug.compare_engines(tf.function(lambda x: x * 2), X).equal


def test_a_nondeterministic_function_is_reported():
    count = iter(range(100))
    found = gradtape.debug.compare_engines(lambda x: x * float(next(count)), X)
    assert [d.engine for d in found.differences] == ["function"]
    assert "function: result differs by" in str(found)


def test_a_function_that_creates_variables_has_no_graph():
    with pytest.raises(ValueError, match="creates variables"):
        gradtape.debug.compare_engines(lambda x: tf.Variable(x) * 2, X)


@pytest.mark.skipif(not has_jax(), reason="needs jax")
def test_the_first_wrong_primitive_is_named(monkeypatch):
    monkeypatch.setattr(e.tanh.op, "lowering", lambda x: x * 3)
    found = gradtape.debug.compare_engines(lambda x: tf.exp(tf.tanh(tf.sin(x))) + 1.0, X)
    (difference,) = found.differences
    assert (difference.engine, difference.primitive, difference.node) == ("xla", "tanh", 1)
    assert difference.by > 0.1
    assert "tanh" in difference.line


@pytest.mark.skipif(not has_jax(), reason="needs jax")
def test_the_reason_is_reported_if_xla_cannot_run():
    found = gradtape.debug.compare_engines(lambda x: tf.boolean_mask(x, x > 0), X)
    assert found.equal
    assert found.declined.startswith("where_true stays on the host")
    assert "xla did not run: where_true" in str(found)
