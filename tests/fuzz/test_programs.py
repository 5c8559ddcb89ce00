"""Some random programs in CI, and tests of the generator, the comparison and the shrinking."""

import io
import re
from random import Random

import pytest

import gradtape
from tests.fuzz import programs
from tests.fuzz.comparison import find_differences
from tests.fuzz.generator.features import OFF, ON, REFUSALS
from tests.fuzz.generator.program import draw_program
from tests.fuzz.generator.scope import Scope, Setting
from tests.fuzz.generator.source import Block, Program, Statement
from tests.fuzz.shrink import shrink

PER_TEST = 25


@pytest.fixture(autouse=True)
def engine():
    yield
    gradtape.engine.use(None)


def run(*argv):
    """The exit code of a run, and what it printed."""
    out = io.StringIO()
    return programs.main([str(a) for a in argv], out), out.getvalue()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("start", range(0, 8 * PER_TEST, PER_TEST))
def test_programs_compute_the_same_eagerly_and_as_functions(start):
    code, printed = run("--runs", PER_TEST, "--start", start)
    assert code == 0, printed
    assert re.search(rf"^{PER_TEST} programs, 0 differ", printed, re.MULTILINE)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("start", range(1000, 1030, 5))
def test_programs_compute_the_same_eagerly_and_on_xla(start):
    pytest.importorskip("jax")
    code, printed = run("--runs", 5, "--start", start, "--engine", "xla")
    assert code == 0, printed


def test_a_seed_and_a_number_give_one_program():
    texts = [draw_program(5, n).render() for n in range(20)]
    assert texts == [draw_program(5, n).render() for n in range(20)]
    assert len(set(texts)) == 20


def make_program(*lines, order=0, outputs="v9"):
    """A program of one argument whose statements define v1, v2 and so on."""
    statements = [Statement(line.split(" = ")[0], line, spec=("float32", (2,))) for line in lines]
    return Program(
        setup=[],
        body=Block(statements, f"return {outputs}"),
        parameters=["x1"],
        calls=[["tf.constant([1.0, -2.0])"], ["tf.constant([3.0, 4.0])"]],
        variables=[],
        order=order,
        decorator="@tf.function",
        traits=frozenset({"compiled"}),
    )


EAGER = "tf.config.functions_run_eagerly()"
DIFFERENCES = {
    "value": f"v9 = x1 * (2.0 if {EAGER} else 3.0)",
    "dtype": f"v9 = tf.cast(x1, 'float64' if {EAGER} else 'float32')",
    "shape": f"v9 = x1 if {EAGER} else x1[:1]",
    "number": f"v9 = [x1] if {EAGER} else [x1, x1]",
    "none": f"v9 = None if {EAGER} else x1",
    "error InvalidArgumentError ": f"v9 = tf.gather(x1, [5]) if {EAGER} else x1",
    "error  ZeroDivisionError": f"v9 = x1 if {EAGER} else 1 // 0",
}


@pytest.mark.parametrize(("what", "line"), DIFFERENCES.items(), ids=list(DIFFERENCES))
def test_a_difference_is_found(what, line):
    found, is_rounding = find_differences(make_program(line))
    assert not is_rounding
    assert re.sub(r" \(.*?\)", "", found[0].what) == what


def test_a_gradient_that_is_missing_is_found():
    line = f"v9 = x1 * 2.0 if {EAGER} else tf.stop_gradient(x1 * 2.0)"
    found, _ = find_differences(make_program(line, order=1))
    assert {d.part for d in found} == {"gradients"}


def test_what_rounding_explains_is_no_difference():
    noisy = f"v1 = x1 * (1.0 if {EAGER} else 1.0000002)"
    found, is_rounding = find_differences(make_program(noisy, "v9 = tf.sin(v1 * 1e7)"))
    assert found
    assert is_rounding
    assert not find_differences(make_program(noisy, "v9 = tf.sin(v1)"))[0]


def test_an_error_whose_result_is_not_used_is_no_difference():
    assert not find_differences(make_program("v1 = tf.gather(x1, [5])", "v9 = x1 * 2.0"))[0]


def test_a_program_is_shrunk_to_what_differs():
    lines = ["v1 = tf.sin(x1)", DIFFERENCES["value"].replace("v9", "v2").replace("x1", "v1")]
    lines += ["v3 = tf.cos(v1)", "v4 = v2 + v3", "v9 = tf.tanh(v4)"]
    program = make_program(*lines, order=2, outputs="(v9, v3)")
    small = shrink(program, lambda p: any(d.what == "value" for d in find_differences(p)[0]))
    assert [s.target for s in small.body.statements] == ["v1", "v2"]
    assert small.body.ending == "return v2"
    assert small.order == 0
    assert len(small.calls) == 1


def test_a_failing_program_is_printed_as_source(monkeypatch):
    program = make_program(DIFFERENCES["value"])
    monkeypatch.setattr(programs, "draw_program", lambda *args: program)
    code, printed = run("--runs", 1)
    assert code == 1
    assert "1 programs, 1 differ" in printed
    source = printed[printed.index("import numpy") : printed.index("# call")]
    space = {}
    exec(source, space)
    function, states = space["make"]()
    (x,) = space["make_calls"]()[0]
    assert function(x).numpy().tolist() == (3 * x.numpy()).tolist()
    assert states == []


def test_functions_that_use_variables_are_hidden_with_them():
    setting = Setting(Random(0), [], {}, states=["w1"], functions={"h2": [], "h3": [], "h4": []})
    lines = {"h2": "return w1 + a", "h3": "return h2(a)", "h4": "return a"}
    setting.setup = [Statement(h, f"def {h}(a):\n    {line}") for h, line in lines.items()]
    scope = Scope(setting)
    scope.env = dict.fromkeys(["tf", "w1", *lines])
    scope.hide_variables()
    assert list(scope.env) == ["tf", "h4"]


def test_every_refusal_belongs_to_a_feature():
    assert REFUSALS.keys() <= OFF.keys() | ON.keys()
    assert not OFF.keys() & ON.keys()
