"""Hostile calls end in errors that users understand: a quick run of the fuzzer of calls."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import gradtape as tf
from gradtape.core.errors import InvalidArgumentError
from tests.fuzz import call_judge, call_seeds

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the fuzzer forks")
def test_hostile_calls_end_in_clear_errors():
    command = [sys.executable, "-m", "tests.fuzz.calls", "--quick", "--runs", "2400", "--seed", "7"]
    paths = os.pathsep.join([str(Path(tf.__file__).parents[1]), str(ROOT)])
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2400 runs, 0 bad" in done.stdout


def fail(error):
    """The error after it was raised, as the judge sees it."""
    try:
        exec(compile("raise error", f"{call_judge.LIBRARY}/somewhere.py", "exec"), {"error": error})
    except Exception as raised:
        return raised


@pytest.mark.parametrize(
    ("error", "verdict"),
    [
        (InvalidArgumentError("gather: indices must be integers."), None),
        (TypeError("Cannot use axis 'a'."), None),
        (ValueError("gather() missing 1 required positional argument: 'indices'"), None),
        (ValueError("not enough values to unpack"), "message"),
        (ZeroDivisionError("gather: division by zero"), "class"),
        (UnicodeDecodeError("utf-8", b"", 0, 1, "gather: no"), "class"),
        (RecursionError("gather: too deep"), "class"),
        (InvalidArgumentError("gather: no. See docs/ops.md."), "file"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_the_judge_finds_internal_errors(error, verdict):
    assert call_judge.judge(fail(error), "tf.gather", ("params", "indices", "axis")) == verdict


def test_every_namespace_is_called():
    paths = set(call_seeds.list_targets())
    assert len(paths) > 1000
    for name in (
        "math.sin",
        "linalg.svd",
        "nn.conv2d",
        "image.resize",
        "signal.stft",
        "io.read_file",
    ):
        assert any(path.endswith(name.rpartition(".")[2]) for path in paths), name
    for space in (
        "ragged.",
        "sparse.",
        "strings.",
        "random.",
        "data.",
        "train.",
        "sets.",
        "lookup.",
    ):
        assert any(path.startswith(space) for path in paths), space


def test_the_listed_calls_are_valid(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("text", encoding="utf-8")
    names = call_seeds.make_names()
    for line in call_seeds.VALID_CALLS.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            eval(line, dict(names))


def test_valid_calls_are_recorded():
    target = call_seeds.Target("reduce_sum", tf.reduce_sum, ("input_tensor", "axis"))
    recording = call_seeds.Recording({"reduce_sum": target})
    recording.run("y = tf.reduce_sum([1.0, 2.0], axis=0)", {"tf": tf})
    assert target.calls == [(([1.0, 2.0],), {"axis": 0})]
