"""A seed gives the same loss curve on gradtape and on TensorFlow, each in its own process."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

PROGRAM = Path(__file__).with_name("training.py")


def run_on(module):
    command = [sys.executable, "-W", "ignore", str(PROGRAM), module]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def both():
    return run_on("gradtape"), run_on("tensorflow")


def test_fifty_steps_with_dropout_and_shuffling_agree(both):
    ours, theirs = (run["training"] for run in both)
    assert ours["labels"] == theirs["labels"]
    assert len(ours["losses"]) == 50
    np.testing.assert_allclose(ours["losses"], theirs["losses"], rtol=1e-4)
    np.testing.assert_allclose(ours["bias"], theirs["bias"], rtol=1e-3, atol=1e-5)


def test_random_numbers_are_bitwise_equal(both):
    ours, theirs = (run["draws"] for run in both)
    assert ours == theirs
