"""Names in the source of a plan: objects never take the names that the plan uses for itself."""

import ast
import builtins

import numpy as np
import pytest

import gradtape as tf
from gradtape.compile.numpy import codegen
from gradtape.compile.numpy.program import Program
from gradtape.compile.numpy.source_writer import RESERVED_NAMES, VALUE_NAME, SourceWriter


@pytest.fixture
def sources(monkeypatch):
    """The sources of all plans that are generated, with the names of their objects."""
    found = []
    execute = codegen.execute_source

    def note(kind, source, space):
        found.append(source)
        return execute(kind, source, space)

    monkeypatch.setattr(codegen, "execute_source", note)
    return found


def own_names(source):
    """The names that a plan assigns, and those that it reads without being given them."""
    (make,) = ast.parse(source).body
    given = {argument.arg for argument in make.args.args}
    (plan, _) = make.body
    names = {node.id for node in ast.walk(plan) if isinstance(node, ast.Name)}
    names |= {node.name for node in ast.walk(plan) if isinstance(node, ast.ExceptHandler)}
    return {name for name in names - {None} if name not in given} | {make.name, plan.name}, given


def test_every_name_of_a_plan_is_reserved(sources):
    w = tf.Variable(tf.ones([1 << 16]))
    matrix = tf.eye(3)

    @tf.function
    def step(x):
        y = tf.tanh(x * w) + tf.exp(-x)
        w.assign_sub(0.1 * y)
        return tf.reduce_sum(y), tf.linalg.cholesky(matrix * tf.reduce_mean(tf.abs(x)))

    @tf.function
    def chain(x):
        return tf.reduce_sum(tf.tanh(tf.exp(x) * 2.0 + x))

    for _ in range(3):
        step(tf.ones([1 << 16]))
        chain(tf.ones([1 << 12]))
    assert any("for s" in source for source in sources)  # a loop over blocks
    assert any("spare(" in source for source in sources)  # a plan with buffers
    for source in sources:
        used, given = own_names(source)
        for name in used:
            assert name in RESERVED_NAMES or VALUE_NAME.fullmatch(name), source
        for name in given - {"busy", "enter", "leave", "spare"}:
            assert name not in RESERVED_NAMES
            assert not VALUE_NAME.fullmatch(name)


@pytest.mark.parametrize(
    "name", ["i0", "i1", "v3", "t0", "object", "abs", "busy", "enter", "leave", "spare", "lambda"]
)
def test_objects_get_other_names(name):
    writer = SourceWriter(Program([], [], [], {}))
    first, second = writer.name_object(object(), name), writer.name_object([], name)
    assert len({first, second, name}) == 3
    assert first.isidentifier()
    assert first not in vars(builtins)


@pytest.mark.parametrize("op", [tf.math.bessel_i0, tf.math.bessel_i1, tf.abs])
def test_functions_named_like_values_work_in_blocks(op):
    x = tf.constant(np.linspace(0, 2, 1 << 17), tf.float32)
    compiled = tf.function(lambda x: op(x * 2.0) + tf.abs(x))
    expected = op(x * 2.0) + tf.abs(x)
    for _ in range(3):
        np.testing.assert_allclose(compiled(x), expected, rtol=1e-6)
