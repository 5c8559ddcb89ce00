"""What TensorFlow computes, on the xla engine, case by case; needs jax."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("jax")
pytestmark = pytest.mark.xdist_group("xla conformance")  # compiling takes memory

HERE = Path(__file__).parent
CORPORA = HERE.parent / "conformance"

# Families of the corpus of ops, and the ops in them that run on NumPy; docs/xla.md says why
FAMILIES: dict[str, set[str]] = {
    "array": set(),
    "bitwise": set(),
    "compare": set(),
    "complex": set(),
    "composite": set(),
    "cumulative": set(),
    "dtypes": set(),
    "functional": set(),
    "image": set(),
    "linalg": set(),
    "math": set(),
    "matmul": set(),
    "nn": set(),
    "none": set(),
    "reduce": set(),
    "segment": set(),
    "signal": set(),
    "strings": set(),
}


def outcome(runner, *arguments):
    """The verdict of a corpus, its failing cases, and the ops that ran on NumPy."""
    command = [sys.executable, str(HERE / "xla_corpus.py"), str(CORPORA / runner)]
    command += ["--module", "gradtape", *arguments]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=3000, check=False)
    *lines, declined = done.stdout.splitlines() or [done.stderr]
    failing = {line.split()[1] for line in lines if line.startswith("FAIL ")}
    return lines[-1], failing, {first_word(why) for why in json.loads(declined)}


def first_word(why):
    return re.split(r"\W", why, maxsplit=1)[0]


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_ops_are_those_of_tensorflow(family):
    verdict, failing, declined = outcome("ops/run.py", "--function", "--only", f"{family}/")
    assert re.fullmatch(r"\d+ passed, \d+ failed", verdict)
    assert failing <= KNOWN
    assert declined == FAMILIES[family]


KNOWN: set[str] = set()


def test_functions_and_tapes_are_those_of_tensorflow():
    verdict, failing, declined = outcome("tape/run.py", "--uses", "function", "--verbose")
    assert re.fullmatch(r"\d+ passed, \d+ failed", verdict)
    assert failing <= {"keras/optim_step_inside_function"}  # where Keras is not installed
    assert declined == {"put", "py_function"}
