"""The demo computes the same numbers on gradtape and on TensorFlow."""

import sys
import types
from pathlib import Path

import numpy as np
import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


def demo_on(module, monkeypatch):
    """The demo's module, with `tf` imported from another library."""
    monkeypatch.syspath_prepend(EXAMPLES)
    file = EXAMPLES / "train_digits.py"
    source = file.read_text(encoding="utf-8")
    line = "import tensorflow as tf\n"
    assert source.count(line) == 1
    demo = types.ModuleType("train_digits")
    demo.__file__ = str(file)
    exec(source.replace(line, f"import {module} as tf\n"), vars(demo))
    return demo


def learn(demo):
    rng = np.random.default_rng(0)
    train_set, test_set = demo.load(rng)
    variables = demo.initialise(rng)
    history = demo.train(variables, train_set, test_set, epochs=2, batch=32, rng=rng)
    return {**history, "check": demo.check_gradient(variables, *test_set, rng)}


# TensorFlow warns when it is imported.
@pytest.mark.filterwarnings("ignore")
def test_gradtape_learns_what_tensorflow_learns(monkeypatch):
    ours = learn(demo_on("gradtape", monkeypatch))
    theirs = learn(demo_on("tensorflow", monkeypatch))
    assert "tensorflow" in sys.modules
    for name, values in theirs.items():
        np.testing.assert_allclose(ours[name], values, rtol=1e-3, err_msg=name)
