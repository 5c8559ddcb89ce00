"""Run the programs of `examples/`, and compare their output with TensorFlow 2.21.

`python -m tests.running` needs TensorFlow and writes `tests/programs/` again.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
PRINTED = ROOT / "tests" / "programs"
PLAIN = ["integrated_gradients", "meta_learning", "pinn"]  # need no Keras
WITH_KERAS = [
    *("actor_critic", "fgsm", "gan", "style_transfer"),
    *("text_lstm", "training_loop", "vae"),
]
NUMBER = re.compile(r"(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)")


def printed(name, *before):
    """The output of a program; `before` are arguments of Python in front of its file name."""
    command = [sys.executable, *before, str(ROOT / "examples" / f"{name}.py")]
    environment = {"OMP_NUM_THREADS": "1", **os.environ, "KERAS_BACKEND": "tensorflow"}
    done = subprocess.run(
        command, capture_output=True, encoding="utf-8", check=False, env=environment, timeout=600
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def recorded(name):
    """The output of a program on TensorFlow."""
    return (PRINTED / f"{name}.txt").read_text(encoding="utf-8")


def assert_same(ours, theirs):
    """Check that words are equal and numbers close; rounding errors grow during training."""
    ours, theirs = NUMBER.split(ours), NUMBER.split(theirs)
    assert ours[::2] == theirs[::2]
    np.testing.assert_allclose(
        np.array(ours[1::2], float), np.array(theirs[1::2], float), rtol=5e-3, atol=2e-3
    )


if __name__ == "__main__":
    PRINTED.mkdir(exist_ok=True)
    for name in PLAIN + WITH_KERAS:
        (PRINTED / f"{name}.txt").write_text(printed(name), encoding="utf-8")
