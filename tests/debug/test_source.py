"""`debug.source` returns the code that runs, and tracebacks show its lines."""

import os
import subprocess
import sys
import traceback
from pathlib import Path

import pytest

import gradtape as tf
from gradtape.core.fastpath import codegen
from gradtape.core.generated_code import REFERENCE
from gradtape.core.primitive import REGISTRY, primitive
from gradtape.ops.elementwise import tanh

generated = pytest.mark.skipif(REFERENCE, reason="nothing is generated")


@generated
def test_the_source_of_an_elementwise_function_names_its_kernel_and_calls_it():
    text = tf.debug.source(tf.tanh)
    assert "# op = <primitive tanh>" in text
    assert "# kernel = numpy.tanh" in text
    assert "r = kernel(x_)" in text


@generated
def test_operators_show_the_expression_that_runs():
    assert "r = x_ * y_" in tf.debug.source(tf.multiply)
    assert "r = x_ * y_" in tf.debug.source(tf.Tensor.__mul__)


@generated
def test_the_source_of_a_primitive_is_complete_before_its_first_call():
    assert tf.debug.source(tanh).splitlines()[-1].strip() == "return kernel(x)"


@generated
def test_the_source_of_a_backward_step_calls_the_rules():
    text = tf.debug.source(tf.multiply, backward=True)
    assert "# a_rule = gradtape.ops.elementwise.<lambda>" in text
    assert "a_rule(g, b)" in text
    assert "b_rule(g, a)" in text


def test_ordinary_functions_show_their_own_source():
    assert tf.debug.source(tf.matmul).startswith("def matmul(")


def test_the_source_of_a_function_is_its_plan_with_the_bodies_of_loops_and_branches():
    @tf.function
    def f(x):
        def body(i, s):
            return i + 1, tf.cond(s > 100.0, lambda: s, lambda: s * x)

        return tf.while_loop(lambda i, s: i < 3, body, (0, tf.tanh(x)))[1]

    assert tf.debug.source(f) == "# f: no plan, because no call needed one"
    f(tf.constant(2.0))
    assert tf.debug.source(f).endswith("# not compiled yet")
    f(tf.constant(2.0))
    titles = [line for line in tf.debug.source(f).splitlines() if line.startswith("# f(")]
    parts = [title.rpartition(": ")[2] for title in titles]
    assert parts[0] == "plan"
    assert sum("body" in part for part in parts) == 4
    assert "# tanh = numpy.tanh" in tf.debug.source(f)
    assert "def plan(v0):" in tf.debug.source(f)
    concrete = f.get_concrete_function(tf.TensorSpec([], tf.float32))
    assert tf.debug.source(concrete).startswith("# f(")


def test_the_source_of_a_function_with_guards_has_its_segments():
    @tf.function
    def f(x):
        return x * 3.0 if tf.reduce_sum(x) > 0.0 else -x

    for sign in (1.0, -1.0) * 3:
        f(tf.constant([sign, sign]))
    text = tf.debug.source(f)
    for words in ("from the start, up to the guard on v2", "where v2 is True", "where v2 is False"):
        assert words in text
    assert text.count("def plan(") == 3


def test_the_plans_of_gradients_are_shown():
    f = tf.function(lambda x: tf.tanh(x) * 3.0)
    x = tf.Variable([1.0, 2.0])
    for _ in range(3):
        with tf.GradientTape() as tape:
            y = f(x)
        tape.gradient(y, x)
    text = tf.debug.source(f, backward=True)
    assert "forward plan for the gradients of inputs [0]" in text
    assert "backward plan for the gradients of inputs [0]" in text
    assert text.count("def plan(") == 2


def test_a_function_that_runs_python_says_why():
    @tf.function
    def f(x):
        for i in range(40):
            if x > i:
                x = x - 0.5
        return x

    for i in range(40):
        f(tf.constant(float(i)))
    assert "calls run the Python function" in tf.debug.source(f)


def test_a_plan_of_xla_is_shown_as_jax_prints_it():
    pytest.importorskip("jax")
    f = tf.function(lambda x: x * 3.0, jit_compile=True)
    for _ in range(2):
        f(tf.constant([1.0, 2.0]))
    assert "lambda" in tf.debug.source(f)


def test_a_backward_step_needs_a_differentiable_primitive():
    for function in (tf.matmul, tf.floor):
        with pytest.raises(ValueError, match="one differentiable primitive"):
            tf.debug.source(function, backward=True)


@generated
def test_a_traceback_shows_generated_lines():
    x = tf.constant([1.0, 2.0])
    tf.debugging.disable_traceback_filtering()
    try:
        tf.add(x, tf.constant([1.0, 2.0, 3.0]))
    except tf.errors.InvalidArgumentError as error:
        lines = [frame.line for frame in traceback.extract_tb(error.__traceback__)]
    finally:
        tf.debugging.enable_traceback_filtering()
    assert "r = explain_kernel_error(error, op, (x_, y_), {})" in lines


@generated
def test_a_traceback_shows_the_lines_of_a_backward_step():
    @primitive(x=lambda g: 1 / 0)
    def fail_backwards(x):
        """The identity, whose rule fails."""
        return x

    try:
        x = tf.constant(1.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = fail_backwards(x)
        tf.debugging.disable_traceback_filtering()
        try:
            tape.gradient(y, x)
        except ZeroDivisionError as error:
            frames = traceback.extract_tb(error.__traceback__)
        finally:
            tf.debugging.enable_traceback_filtering()
    finally:
        del REGISTRY["fail_backwards"]
    shown = [(Path(frame.filename).name, frame.line) for frame in frames]
    assert ("step_template.py", "t = x_rule(g, ...)") in shown


@generated
def test_debuggers_and_coverage_see_the_lines_of_the_template():
    tf.tanh(0.5)
    template = Path(codegen.TEMPLATE_FILE)
    assert tf.tanh.__code__.co_filename == str(template)
    lines = template.read_text("utf-8").splitlines()
    first = tf.tanh.__code__.co_firstlineno
    assert lines[first - 1] == "def unary(x, name=None):"
    used = {line for _, _, line in tf.tanh.__code__.co_lines() if line}
    assert any(lines[line - 1].strip() == "r = kernel(x_)" for line in used)


@generated
def test_dead_blocks_of_a_template_are_not_compiled():
    tf.less(1.0, 2.0)
    lines = Path(codegen.TEMPLATE_FILE).read_text("utf-8").splitlines()
    used = {lines[line - 1].strip() for _, _, line in tf.less.__code__.co_lines() if line}
    assert "r = kernel(x_, y_)" in used
    assert not any("record" in line for line in used)


def test_the_reference_mode_generates_nothing_and_computes_the_same():
    program = """
import gradtape as tf
x = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
with tf.GradientTape() as outer:
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.tanh(x @ x) * 2.0 - [1.0, 2.0])
    g = tape.gradient(y, x)
print(y.numpy().tolist(), g.numpy().tolist(), outer.gradient(g, x).numpy().tolist())
print(tf.tanh.__code__.co_name)
"""
    found = []
    for reference in ("0", "1"):
        environment = {**os.environ, "GRADTAPE_REFERENCE": reference}
        run = subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, text=True
        )
        assert run.returncode == 0, run.stderr
        found.append(run.stdout.splitlines())
    assert found[0][0] == found[1][0]
    assert [lines[1] for lines in found] == ["tanh", "function"]
