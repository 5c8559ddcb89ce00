"""Lost gradients in other ways: strict mode, the environment, the command."""

import subprocess
import sys

import pytest

import gradtape as tf

SCRIPT = """
import tensorflow as tf
w = tf.Variable([1.5, 0.0])
with tf.GradientTape() as tape:
    loss = tf.reduce_sum({expression})
print(tape.gradient(loss, w))
"""


def run_python(*arguments, **environment):
    import os

    done = subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, **environment},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stderr


@pytest.mark.parametrize("compiled", [False, True])
def test_strict_raises_with_the_answer(compiled):
    w = tf.Variable([1.5, 2.5])

    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.floor(w))
        return tape.gradient(loss, w)

    with (
        tf.debug.strict(),
        pytest.raises(ValueError, match="has no gradient here") as caught,
    ):
        tf.function(step)() if compiled else step()
    assert isinstance(caught.value, tf.debug.LostGradientError)
    assert caught.value.report.expression == "tf.floor(w)"


def test_strict_accepts_gradients_and_zeros():
    w, unused = tf.Variable(2.0), tf.Variable(1.0)
    with tf.debug.strict():
        with tf.GradientTape() as tape:
            loss = w * w
        got = tape.gradient(loss, [w, unused], unconnected_gradients="zero")
    assert [float(g) for g in got] == [4.0, 0.0]


def test_the_environment_switches_explain_on(tmp_path):
    path = tmp_path / "script.py"
    text = SCRIPT.format(expression="tf.round(w)")
    path.write_text(text.replace("import tensorflow", "import gradtape"))
    said = run_python(str(path), GRADTAPE_EXPLAIN="1")
    assert "script.py, line 5" in said
    assert "`tf.round(w)` has no gradient" in said


@pytest.mark.parametrize(
    ("option", "expression", "words"),
    [
        ("--explain", "tf.stop_gradient(w)", "stop_gradient blocks the gradient"),
        ("--anomaly", "tf.math.log(w)", "the logarithm of zero"),
    ],
)
def test_the_command_reports_at_the_end(option, expression, words, tmp_path):
    path = tmp_path / "script.py"
    path.write_text(SCRIPT.format(expression=expression))
    said = run_python("-m", "gradtape", option, str(path))
    assert words in said
    assert "script.py, line 5" in said
