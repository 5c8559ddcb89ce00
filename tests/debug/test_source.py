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
