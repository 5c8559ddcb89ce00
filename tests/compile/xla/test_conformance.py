"""The conformance corpora of TensorFlow on the xla engine; needs jax."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("jax")
pytestmark = pytest.mark.xdist_group("xla conformance")  # compiling takes memory

HERE = Path(__file__).parent
CORPORA = HERE.parents[1] / "conformance"

FAMILIES = [
    "array",
    "bitwise",
    "compare",
    "complex",
    "composite",
    "cumulative",
    "dtypes",
    "functional",
    "image",
    "linalg",
    "math",
    "matmul",
    "nn",
    "none",
    "reduce",
    "segment",
    "signal",
    "as_string_array",
]
KNOWN = {"image/resize_bilinear/second_order"}  # also fails on NumPy: docs/deviations.md

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
    "scalar_of",  # sizes that depend on values
    "as_string_array",
    "suppress_boxes",
    "find_unique",  # unique
    "where_true",
}


def outcome(runner, *arguments):
    """The summary of a corpus run, its failing cases, and the ops that ran on NumPy."""
    command = [sys.executable, str(HERE / "corpus.py"), str(CORPORA / runner)]
    command += ["--module", "gradtape", *arguments]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=3000, check=False)
    *lines, declined = done.stdout.splitlines() or [done.stderr]
    failing = {line.split()[1] for line in lines if line.startswith("FAIL ")}
    return lines[-1], failing, {first_word(why) for why in json.loads(declined)}


def first_word(why):
    return re.split(r"\W", why, maxsplit=1)[0]


@pytest.mark.parametrize("family", FAMILIES)
def test_ops_compute_the_same_as_tensorflow(family):
    verdict, failing, declined = outcome("ops/run.py", "--function", "--only", f"{family}/")
    assert re.fullmatch(r"\d+ passed, \d+ failed", verdict)
    assert failing <= KNOWN
    assert declined <= ON_NUMPY


def test_functions_and_tapes_compute_the_same_as_tensorflow():
    verdict, failing, declined = outcome("tape/run.py", "--uses", "function", "--verbose")
    assert re.fullmatch(r"\d+ passed, \d+ failed", verdict)
    assert failing <= {"keras/optim_step_inside_function"}  # where Keras is not installed
    assert declined == {"print_values", "py_function"}
