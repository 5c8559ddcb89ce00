"""The recipes of CONTRIBUTING.md work: each block runs in the module that its first line names."""

import ast
import importlib
import re
from pathlib import Path

import numpy as np
import pytest

import gradtape as tf
from gradtape.compile.numpy.engine import PASSES, compile_graph
from gradtape.core.primitive import REGISTRY
from gradtape.ops.elementwise import multiply, negative
from tests.compile.numpy.builder import Builder
from tests.documentation import BLOCK

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
BLOCKS = BLOCK.findall(TEXT)


def recipe(path):
    """The block that begins with a comment about `path`."""
    (block,) = [block for block in BLOCKS if block.startswith(f"# {path}")]
    return block


def run(path, **extra):
    """Names after the block has run in a copy of the module's namespace, if the module exists."""
    space = dict(extra)
    if (ROOT / path).exists():
        name = path.removeprefix("src/").removesuffix(".py").replace("/", ".")
        space = vars(importlib.import_module(name)) | space
    source = f"from __future__ import annotations\n{recipe(path)}"
    exec(compile(source, path, "exec"), space)
    return space


@pytest.fixture
def cube():
    path = "src/gradtape/ops/elementwise.py"
    try:
        yield run(path)["cube"]
    finally:
        del REGISTRY["cube"]


def test_the_op_has_the_gradient_of_its_rule(cube):
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = cube(x.read_value())
    assert y.numpy().tolist() == [1.0, 8.0]
    assert tape.gradient(y, x).numpy().tolist() == [3.0, 12.0]


def test_the_public_function_checks_and_converts(cube):
    path = "src/gradtape/tf/math/elementwise.py"
    module = type("module", (), {"cube": staticmethod(cube)})
    public = run(path, e=module)["cube"]
    assert public([2.0]).numpy().tolist() == [8.0]
    with pytest.raises((TypeError, tf.errors.InvalidArgumentError)):
        public(["text"])


def test_the_table_of_the_namespace_has_such_lines():
    line = recipe("src/gradtape/tf/api/math.py").splitlines()[1]
    table = (ROOT / "src/gradtape/tf/api/math.py").read_text(encoding="utf-8")
    assert line.replace("cube", "tanh") in table.splitlines()


def test_the_sample_is_made_as_others_are():
    path = "tests/sweep/samples/elementwise.py"
    line = recipe(path).splitlines()[1].strip()
    space = vars(importlib.import_module("tests.sweep.samples.elementwise"))
    assert list(eval(f"{{{line}}}", dict(space))) == ["cube"]


def test_the_pass_removes_pairs_of_negations(monkeypatch):
    double_negation = run("src/gradtape/compile/numpy/passes/double_negation.py")["double_negation"]
    monkeypatch.setitem(PASSES, "double_negation", double_negation)
    x = np.array([1.0, 2.0], "float32")
    builder = Builder(x)
    twice = builder.apply(negative, builder.apply(negative, 0))
    graph = builder.graph(builder.apply(multiply, twice, 0))
    plan = compile_graph(graph, passes=("double_negation",))
    assert plan.pretty().count("negative") == 1  # `dead` removes the other one
    np.testing.assert_array_equal(plan(x)[0], x * x)


def test_the_dataset_method_selects_elements():
    every = run("src/gradtape/pipeline/transformation/order.py")["every"]
    numbers = tf.data.Dataset.range(7)
    assert [int(x) for x in every(numbers, 3)] == [0, 3, 6]
    assert len(every(numbers, 3)) == 3
    assert [b.numpy().tolist() for b in every(numbers, 3).batch(2)] == [[0, 3], [6]]
    assert list(every(numbers.take(0), 3)) == []
    assert int(every(numbers.repeat(), 3).cardinality()) == tf.data.INFINITE_CARDINALITY
    with pytest.raises(tf.errors.InvalidArgumentError, match="at least 1"):
        every(numbers, 0)


def test_the_block_about_functions_prints_plans(capsys):
    (block,) = [block for block in BLOCKS if "def double(" in block]
    exec(block, {"tf": tf})
    assert "def plan(v0):" in capsys.readouterr().out


def test_every_block_is_python():
    for block in BLOCKS:
        lines = block.splitlines()
        text = "\n".join(lines if not lines[1].startswith("    ") else [f"{{{lines[1].strip()}}}"])
        ast.parse(text)


def test_files_named_in_backticks_exist():
    named = re.findall(r"`((?:src|tests|docs|tools|tf|ops|core|tape|compile)/[\w/]+\.\w+)`", TEXT)
    assert len(named) > 12
    roots = ROOT, ROOT / "src" / "gradtape"
    assert [name for name in named if not any((root / name).exists() for root in roots)] == []
