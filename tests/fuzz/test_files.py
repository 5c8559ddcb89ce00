"""A short run of the fuzzer of files; `make fuzz` runs it for longer."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gradtape.core.errors import DataLossError, InvalidArgumentError
from gradtape.files.image import image_format
from tests.fuzz.file_verdict import is_expected, run_case

ROOT = Path(__file__).parents[2]


def test_mutated_files_raise_errors_of_tensorflow_within_the_limits():
    command = [sys.executable, "-m", "tests.fuzz.files", "--runs", "1000", "--seed", "0"]
    paths = os.pathsep.join([str(ROOT), *sys.path])
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        errors="replace",
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("1000 runs, seed 0: 0 failures\n")


def test_an_error_of_python_fails_a_run():
    assert run_case(lambda: int("x"), (ValueError,))[1].startswith("ValueError: invalid literal")
    assert run_case(lambda: {}["x"], (ValueError,))[0] == "KeyError"
    assert run_case(list, (ValueError,)) == ("read", "")


def test_too_much_memory_fails_a_run(monkeypatch):
    monkeypatch.setattr("tests.fuzz.file_verdict.measure_peak", iter([0, 5 << 30]).__next__)
    assert run_case(list, ()) == ("read", "5120 MB of memory")


def test_an_error_that_gradtape_raises_is_expected():
    with pytest.raises(InvalidArgumentError) as caught:
        image_format(b"", "decode_png")
    assert is_expected(caught.value, (InvalidArgumentError,))
    assert not is_expected(caught.value, (DataLossError,))
