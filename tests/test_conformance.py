"""Recorded cases of TensorFlow 2.21: programs with tensors, variables and tapes, and single ops.

Each corpus runs once in a process of its own. Every program is a test, so that a failure names its
id. The programs that use Keras run in `tests/keras/test_conformance.py`.
"""

from functools import cache
from pathlib import Path

import pytest

from tests.corpora import KNOWN_DEVIATION, area_of, list_areas, list_cases, run_corpus

PROGRAMS = {case["id"]: case for case in list_cases("tape") if "keras" not in case["needs"]}
PLAIN = "core,function,random,data,ragged"

# What gradtape prints or raises instead, where it differs on purpose: docs/deviations.md
DOCUMENTED = {
    "shape/dynamic_versus_static": "static [3, 2]",
    "function/input_signature": "2.0 5.0 2",
    "function/float_builtin_inside_is_a_cast": "float() of a symbolic tf.Tensor",
    "autograph/if_undefined_in_one_branch": "should raise ValueError, raised nothing",
    "autograph/if_dtype_mismatch": "should raise TypeError, raised nothing",
    "autograph/while_body_traced_once": "4 1 5",
    "autograph/if_gradient_unconnected_branch": "[2.0, None]",
}


@cache
def run_programs():
    """The complaint about each failing program, by id."""
    verdict = run_corpus("tape", "--needs", PLAIN, "--strict")
    assert verdict.count == len(PROGRAMS)
    return verdict.failing


@pytest.mark.xdist_group("tape corpus")
@pytest.mark.parametrize("case", PROGRAMS)
def test_program_behaves_as_in_tensorflow(case):
    complaint = run_programs().get(case)
    if "deviation" in PROGRAMS[case]:
        assert complaint is None or DOCUMENTED[case] in complaint
    else:
        assert complaint is None, f"{case}\n{complaint}"


@cache
def run_ops(mode):
    """The complaint about each failing case of ops, by id."""
    arguments = ["--function"] if mode == "function" else []
    verdict = run_corpus("ops", *arguments)
    # The runner leaves out what TensorFlow itself computes differently in functions.
    left_out = sum(case.get("function") == "differs" for case in list_cases("ops"))
    assert verdict.count == len(list_cases("ops")) - (left_out if arguments else 0)
    return verdict.failing


@pytest.mark.parametrize(
    "mode",
    [pytest.param(m, marks=pytest.mark.xdist_group(f"{m} ops")) for m in ("eager", "function")],
)
@pytest.mark.parametrize("family", list_areas("ops"))
def test_ops_compute_the_same_as_tensorflow(family, mode):
    failing = {case: said for case, said in run_ops(mode).items() if area_of(case) == family}
    assert failing.keys() <= KNOWN_DEVIATION, failing


# With every size open a function shows None where these cases show a number, as in TensorFlow.
SHOW_STATIC_SIZES = {
    "array/shape/static",
    "function/retrace_on_shape",
    "repr/symbolic_tensor_in_function",
}
OPEN_SIZES = (str(Path(__file__).with_name("open_sizes.py")),)


def test_programs_behave_the_same_with_every_size_open():
    verdict = run_corpus("tape", "--needs", PLAIN, "--strict", launcher=OPEN_SIZES)
    assert verdict.count == len(PROGRAMS)
    deviating = {case for case in PROGRAMS if "deviation" in PROGRAMS[case]}
    assert verdict.failing.keys() <= deviating | SHOW_STATIC_SIZES, verdict.failing


@pytest.mark.parametrize("area", ["array", "linalg"])  # the others by hand: docs/testing.md
def test_ops_compute_the_same_with_every_size_open(area):
    verdict = run_corpus("ops", "--function", "--only", f"{area}/", launcher=OPEN_SIZES)
    assert verdict.count > 50
    assert verdict.failing.keys() <= KNOWN_DEVIATION | SHOW_STATIC_SIZES, verdict.failing


def test_no_case_is_missing():
    tape = [case["id"] for case in list_cases("tape")]
    ops = [case["id"] for case in list_cases("ops")]
    assert (len(tape), len(PROGRAMS), len(ops)) == (1157, 1017, 2179)
    assert len(set(tape)) == len(tape)
    assert len(set(ops)) == len(ops)
    assert DOCUMENTED.keys() == {case for case in PROGRAMS if "deviation" in PROGRAMS[case]}


def test_a_run_that_judges_nothing_is_noticed():
    assert run_corpus("tape", "--only", "no such area/").count == 0
    with pytest.raises(AssertionError, match="did not finish"):
        run_corpus("ops", "--no-such-option")
