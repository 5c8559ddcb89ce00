"""Generated functions are specialised templates or plans, and templates lose only dead blocks."""

import ast
import gc
import re
from pathlib import Path
from types import FunctionType

import numpy as np
import pytest

import gradtape as tf
from gradtape.core.fastpath import codegen
from gradtape.core.fastpath.specialise import Template, blank_dead_blocks
from gradtape.core.primitive import REGISTRY
from gradtape.ops import shape as shape  # registers `concat` and `mark_no_gradient`
from gradtape.ops.nn import lstm as lstm
from gradtape.tape import backward

ROOT = Path(tf.__file__).parent
TEMPLATES = {codegen.TEMPLATE_FILE, backward.TEMPLATE_FILE}


def call_name(node):
    return ast.unparse(node.func) if isinstance(node, ast.Call) else ""


def test_source_is_compiled_in_two_places_only():
    found = {
        path.relative_to(ROOT).as_posix()
        for path in ROOT.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if call_name(node) in ("exec", "compile", "eval")
    }
    # These compile the user's own source: the program to run, and loops with options.
    users = {"dropin/run.py", "jit/loop_option.py"}
    assert found == {"core/fastpath/specialise.py", "core/generated_code.py", *users}


def test_only_plans_and_commits_are_written_by_code():
    users = {
        path.relative_to(ROOT).as_posix()
        for path in ROOT.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if call_name(node) == "execute_source"
    }
    # Commits of variables are straight lines, which no thread and no signal handler divides. Raw
    # ops are rows of a table: a signature and an expression.
    plans = {"compile/numpy/codegen.py", "state/variable/commit.py"}
    assert users == {*plans, "tf/raw_ops/registry.py"}


def test_every_generated_function_is_a_specialised_template_or_a_plan():
    @tf.function
    def f(x):
        return tf.reduce_sum(tf.tanh(x) * x)

    x = tf.Variable(np.ones((2, 3), np.float32))
    for _ in range(3):
        with tf.GradientTape() as tape:
            y = f(x) + tf.reduce_sum(tf.where(x > 0, x * x, 1.0) @ tf.transpose(x))
        tape.gradient(y, x)
    named = {path.name: path for path in map(Path, TEMPLATES)}
    defined = {
        node.name
        for path in named.values()
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef)
    }
    for function in gc.get_objects():
        if type(function) is not FunctionType:
            continue
        code, space = function.__code__, function.__globals__
        if not str(space.get("__name__", "")).startswith("gradtape."):
            continue
        if code.co_filename in TEMPLATES:
            lines = Path(code.co_filename).read_text("utf-8").splitlines()
            header = lines[code.co_firstlineno - 1]
            assert header.removeprefix("def ").partition("(")[0] in defined, header
        elif code.co_filename.startswith("<"):
            assert code.co_filename.startswith(("<gradtape plan ", "<frozen ", "<string>")), code


DEAD_BLOCKS = """
def f(x):
    if A and x:
        one()
    elif B and x:
        two()
    if B:
        three()
    else:
        four()
    if A and (
        x
    ):
        five()
    return x
"""


def test_dead_blocks_are_blanked_and_line_numbers_stay():
    lines = DEAD_BLOCKS.strip().splitlines()
    kept = blank_dead_blocks(lines, ["A", "B"])
    assert len(kept) == len(lines)
    left = "def f(x):\n    if B:\n        three()\n    else:\n        four()\n    return x"
    assert [line for line in kept if line] == left.splitlines()


def test_flags_do_not_occur_in_other_words():
    one_rule = codegen.flags_of(REGISTRY["tanh"], (True, True), True)
    for form in ("unary", "binary", "primitive_one", "primitive_two", "primitive_three"):
        text = Template(codegen.TEMPLATE_FILE, form).resolve(one_rule)
        capitals = set(re.findall(r"\b[A-Z_]{3,}\b", text))
        assert capitals <= {"STATIC", "BROADCASTS", "REDISPATCH", "SCALAR_CACHE"}


@pytest.mark.parametrize("name", ["mark_no_gradient", "lstm", "concat"])
def test_primitives_without_a_template_use_the_readable_function(name):
    assert codegen.primitive_template_name(REGISTRY[name]) is None


def test_parameters_have_the_names_of_the_op():
    from gradtape.ops.elementwise import atan2, select

    one, two = tf.constant(1.0), tf.constant(2.0)
    assert float(atan2(x=two, y=one)) == float(atan2(one, two)) < 0.5
    chosen = select(b=two, a=one, condition=tf.constant(True))
    assert float(chosen) == 1.0
