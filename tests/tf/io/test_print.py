"""tf.print: TensorFlow's format."""

import collections
import io
import sys
from contextlib import redirect_stderr, redirect_stdout

import numpy as np
import pytest

import gradtape as tf


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ((1, 2.5, "a", None, True), "1 2.5 a None True"),
        ((tf.constant([[1.0, 2.0], [3.0, 4.5]]),), "[[1 2]\n [3 4.5]]"),
        ((tf.constant(0.1), tf.constant(123456.789), tf.constant(1e10)), "0.1 123456.789 1e+10"),
        ((tf.constant(1 / 3, tf.float64), tf.constant(np.nan)), "0.33333333333333331 nan"),
        ((tf.constant(True), tf.constant("a"), tf.constant(["b\n"])), '1 "a" ["b\\n"]'),
        ((tf.range(10),), "[0 1 2 ... 7 8 9]"),
        (
            ([tf.constant([1, 2]), "x"], {"b": 1, "a": tf.Variable(2.0)}),
            "[[1 2], 'x'] {'a': 2, 'b': 1}",
        ),
        ((np.array([1.0]), tf.float32), "array([1.]) tf.float32"),
        ((collections.namedtuple("P", "a")(tf.constant(2)),), "P(a=2)"),
    ],
)
def test_values_are_printed_as_in_tensorflow(values, text, capsys):
    tf.print(*values)
    assert capsys.readouterr().err == text + "\n"


def test_long_axes_print_only_both_ends(capsys):
    tf.print(tf.reshape(tf.range(16), (4, 4)), summarize=1, output_stream=sys.stdout)
    assert capsys.readouterr().out == "[[0 ... 3]\n ...\n [12 ... 15]]\n"
    tf.print(tf.range(8), summarize=-1, sep="-", end="!", output_stream=sys.stdout)
    assert capsys.readouterr().out == "[0 1 2 3 4 5 6 7]!"


def test_files_are_appended_to(tmp_path):
    path = tmp_path / "log"
    for i in range(2):
        tf.print("step", i, output_stream=f"file://{path}")
    assert path.read_text() == "step 0\nstep 1\n"


def test_unknown_streams_and_keywords_are_an_error():
    with pytest.raises(ValueError, match="stream"):
        tf.print("x", output_stream="nowhere")
    with pytest.raises(ValueError, match="keyword"):
        tf.print("x", colour="red")


def test_a_function_finds_the_console_when_it_prints():
    @tf.function
    def f(x):
        tf.print("out", x, output_stream=sys.stdout)
        tf.print("err", x, output_stream=sys.stderr)

    for _ in range(3):  # another object in place of sys.stdout each time
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            f(tf.constant(1.0))
        assert (out.getvalue(), err.getvalue()) == ("out 1\n", "err 1\n")
