"""`make demo` runs: the training loop, the drawing and the gradient check."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


def run_demo(*options, folder):
    command = [sys.executable, "-m", "gradtape", str(EXAMPLES / "train_digits.py"), *options]
    done = subprocess.run(
        command, capture_output=True, encoding="utf-8", cwd=folder, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def test_one_epoch_ends_with_a_checked_gradient(tmp_path):
    done = run_demo("--epochs", "1", "--no-plot", folder=tmp_path)
    assert "they agree" in done.stdout
    assert "100%" in done.stderr
    assert not list(tmp_path.iterdir())


def test_the_whole_run_learns_the_digits_and_leaves_a_picture(tmp_path):
    pytest.importorskip("matplotlib")
    done = run_demo("--png", "curves.png", folder=tmp_path)
    (accuracy,) = [line.split()[-1] for line in done.stdout.splitlines() if "test accuracy" in line]
    assert float(accuracy.rstrip("%")) > 96
    assert (tmp_path / "curves.png").read_bytes().startswith(b"\x89PNG")
