"""The programs of `examples/`: how they are run, and what TensorFlow 2.21 printed.

`python -m tests.running`, where TensorFlow is installed, writes `tests/programs/` anew.
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
    """What a program prints; `before` are arguments of Python that come before its file."""
    command = [sys.executable, *before, str(ROOT / "examples" / f"{name}.py")]
    environment = {"OMP_NUM_THREADS": "1", **os.environ, "KERAS_BACKEND": "tensorflow"}
    done = subprocess.run(
        command, capture_output=True, encoding="utf-8", check=False, env=environment, timeout=600
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def recorded(name):
    """What TensorFlow printed."""
    return (PRINTED / f"{name}.txt").read_text(encoding="utf-8")


def assert_same(ours, theirs):
    """Words are the same; numbers are close: errors of rounding grow while a network learns."""
    ours, theirs = NUMBER.split(ours), NUMBER.split(theirs)
    assert ours[::2] == theirs[::2]
    np.testing.assert_allclose(
        np.array(ours[1::2], float), np.array(theirs[1::2], float), rtol=5e-3, atol=2e-3
    )


if __name__ == "__main__":
    PRINTED.mkdir(exist_ok=True)
    for name in PLAIN + WITH_KERAS:
        (PRINTED / f"{name}.txt").write_text(printed(name), encoding="utf-8")
