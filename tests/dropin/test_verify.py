"""`gradtape verify` finds the first divergence between two runs of a program."""

import importlib.util
import sys

import numpy as np
import pytest

from gradtape.dropin.command import main
from gradtape.dropin.verify import find_divergence, record_program, report, verify_program

PROGRAM = """
import tensorflow as tf

v = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(v * v)
print("loss", float(loss))
g = tape.gradient(loss, [v, tf.constant(1.0)])
print("done", end="")
"""


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    return str(path)


def test_prints_and_gradients_are_recorded_with_their_lines(script):
    events = record_program("gradtape", sys.executable, [script])
    assert [(kind, line) for kind, line, _ in events] == [
        ("print", 7),
        ("gradient", 8),
        ("print", 0),
    ]
    assert events[0][2] == "loss 5.0"
    np.testing.assert_array_equal(events[1][2][0], [2.0, 4.0])
    assert events[1][2][1] is None
    assert find_divergence(events, events, 1e-4) is None
    assert "agree: 2 printed lines, 2 gradients" in report(script, None, events)


def test_the_first_divergence_has_both_values_and_the_line(script):
    grads = [np.array([1.0, 2.0], "float32"), None]
    ours = [("print", 3, "a 1.000001"), ("gradient", 8, grads)]
    theirs = [("print", 3, "a 1.0"), ("gradient", 8, [np.array([1.0, 2.5], "float32"), None])]
    found = find_divergence(ours, theirs, 1e-4)
    assert found == (8, "gradient 0[1]", "2.0", "2.5")
    text = report(script, found, ours)
    assert f"{script}:8" in text
    assert "g = tape.gradient(loss" in text


@pytest.mark.parametrize(
    ("mine", "other", "what"),
    [
        (("print", 1, "x 1.0"), ("print", 1, "x 2.0"), "printed text"),
        (("print", 1, "x 1.0"), ("print", 1, "y 1.0"), "printed text"),
        (("gradient", 1, [None]), ("gradient", 1, [np.ones(2)]), "gradient 0"),
        (("gradient", 1, [np.ones(2)]), ("gradient", 1, [np.ones(3)]), "shape or dtype"),
        (("gradient", 1, [np.ones(2)]), ("gradient", 1, [np.full(2, np.nan)]), "gradient 0[0]"),
        (("error", 1, "ValueError: a"), ("error", 1, "TypeError: a"), "exception"),
        (("error", 1, "ValueError: a"), ("print", 1, "a"), "different things"),
    ],
)
def test_differences_are_found(mine, other, what):
    assert what in find_divergence([mine], [other], 1e-4).what
    assert "ends earlier" in find_divergence([mine], [], 1e-4).what


@pytest.mark.parametrize(
    ("mine", "other"),
    [
        ("step 1 12ms/step loss: 0.12345", "step 1 9ms/step loss: 0.12346"),
        ("[1. 2.]", "[1.  2.]"),
        ("nan", "nan"),
    ],
)
def test_close_texts_agree(mine, other):
    assert find_divergence([("print", 1, mine)], [("print", 1, other)], 1e-3) is None


def test_exceptions_of_the_program_are_events(tmp_path):
    path = tmp_path / "fails.py"
    path.write_text("import tensorflow as tf\ntf.reshape([1, 2], [3])\n")
    ((kind, line, text),) = record_program("gradtape", sys.executable, [str(path)])
    assert (kind, line) == ("error", 2)
    assert text.startswith("InvalidArgumentError")


def test_wrong_uses_have_status_two(script, capsys):
    assert verify_program([]) == 2
    assert main(["verify", "missing.py"]) == 2
    if importlib.util.find_spec("tensorflow") is None:
        assert verify_program([script]) == 2
        assert "Install TensorFlow" in capsys.readouterr().err
