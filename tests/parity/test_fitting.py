"""With the same seed, `fit` gives the same loss curve on gradtape and on TensorFlow."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

PROGRAM = Path(__file__).with_name("fitting.py")

pytest.importorskip("keras")


def run(*how):
    command = [sys.executable, "-W", "ignore", *how, str(PROGRAM)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_model_with_dropout_has_the_same_loss_curve_on_both():
    ours, theirs = run("-m", "gradtape"), run()
    assert len(ours["losses"]) == 74
    np.testing.assert_allclose(ours["losses"], theirs["losses"], rtol=1e-4)
    np.testing.assert_allclose(ours["weights"], theirs["weights"], rtol=1e-2, atol=1e-4)
