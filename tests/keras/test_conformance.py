"""Recorded programs of TensorFlow 2.21 that use Keras, on the unmodified Keras 3."""

from functools import cache
from importlib.util import find_spec

import pytest

from tests.corpora import list_cases, run_corpus

if find_spec("keras") is None:
    pytest.skip("Keras is not installed", allow_module_level=True)

CASES = [case["id"] for case in list_cases("tape") if "keras" in case["needs"]]
pytestmark = pytest.mark.xdist_group("keras conformance")


@cache
def find_failures():
    """The complaint about each failing program, by id."""
    verdict = run_corpus("tape", "--uses", "keras")
    assert verdict.count == len(CASES)
    return verdict.failing


@pytest.mark.parametrize("case", CASES)
def test_program_behaves_as_in_tensorflow(case):
    complaint = find_failures().get(case)
    assert complaint is None, f"{case}\n{complaint}"


def test_no_case_is_missing():
    assert len(CASES) == 140
