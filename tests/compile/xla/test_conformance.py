"""The conformance corpora of TensorFlow on the xla engine; needs jax."""

import json
import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.corpora import KNOWN_DEVIATION, area_of, list_areas, list_cases, run_corpus

pytest.importorskip("jax")
pytestmark = pytest.mark.xdist_group("xla conformance")  # compiling takes memory

LAUNCHER = (str(Path(__file__).parent / "corpus.py"),)

# Ops that run on NumPy although XLA is preferred; docs/xla.md gives the reasons
ON_NUMPY = {
    "as_string",
    "flatten_partitions",
    "concat_indices",
    "loop",  # gradients of a while_loop without a limit
    "compute_range",  # range between tensors
    "numpy_function",
    "encode_paths",
    "positions_of_number",
    "py_function",
    "strings",  # tensors of strings
    "scalar_of",  # sizes that depend on values
    "as_string_array",
    "suppress_boxes",
    "find_unique",  # unique
    "where_true",
}


def read_declined(printed):
    """The ops that ran on NumPy: the first words of the reasons."""
    return {re.split(r"\W", why, maxsplit=1)[0] for why in json.loads(printed)}


@pytest.mark.parametrize("family", list_areas("ops"))
def test_ops_compute_the_same_as_tensorflow(family):
    asked = [
        case
        for case in list_cases("ops")
        if area_of(case["id"]) == family and case.get("function") != "differs"
    ]
    arguments = ("--function", "--only", f"{family}/")
    verdict = run_corpus("ops", *arguments, launcher=LAUNCHER)
    assert verdict.count == len(asked) > 0
    assert verdict.failing.keys() <= KNOWN_DEVIATION, verdict.failing
    assert read_declined(verdict.rest) <= ON_NUMPY


def test_functions_and_tapes_compute_the_same_as_tensorflow():
    needs = ["core", "function", "random", "data", "ragged"]
    needs += ["keras"] if find_spec("keras") else []
    asked = [
        case
        for case in list_cases("tape")
        if "function" in case["needs"]
        and set(case["needs"]) <= set(needs)
        and "deviation" not in case
    ]
    arguments = ("--uses", "function", "--needs", ",".join(needs))
    verdict = run_corpus("tape", *arguments, launcher=LAUNCHER)
    assert verdict.count == len(asked) > 100
    assert not verdict.failing, verdict.failing
    assert read_declined(verdict.rest) == {"print_values", "py_function"}
