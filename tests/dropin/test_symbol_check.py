"""`python -m gradtape check` lists the TensorFlow symbols that gradtape lacks."""

import subprocess
import sys

import pytest

from gradtape.dropin.symbol_check import SymbolReader, is_keras_symbol


def symbols(source):
    import ast

    reader = SymbolReader()
    reader.visit(ast.parse(source))
    return reader.symbols


def run(*arguments):
    command = [sys.executable, "-m", "gradtape", "check", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            "import tensorflow as tf\ntf.math.log(1)",
            {"tensorflow": [1], "tensorflow.math.log": [2]},
        ),
        (
            "import tensorflow.math\ntensorflow.exp",
            {"tensorflow.math": [1], "tensorflow.exp": [2]},
        ),
        (
            "import tensorflow.compat.v1 as old\nold.log",
            {"tensorflow.compat.v1": [1], "tensorflow.compat.v1.log": [2]},
        ),
        (
            "from tensorflow import nn as n, math\nn.relu(math.exp)",
            {
                "tensorflow.nn": [1],
                "tensorflow.math": [1],
                "tensorflow.nn.relu": [2],
                "tensorflow.math.exp": [2],
            },
        ),
        (
            "import tensorflow as t\nm = t.math\nm.log\nm.log",
            {"tensorflow": [1], "tensorflow.math": [2], "tensorflow.math.log": [3, 4]},
        ),
        ("from tensorflow.math import *", {"tensorflow.math": [1]}),
        ("import numpy as tf\ntf.log", {}),
        ("from .tensorflow import x\nx.y", {}),
    ],
)
def test_symbols_are_collected_from_the_source(source, expected):
    assert symbols(source) == expected


def test_keras_symbols_are_recognised():
    assert is_keras_symbol("tensorflow.keras.layers")
    assert is_keras_symbol("tensorflow.optimizers")
    assert not is_keras_symbol("tensorflow.keraslike")


def test_missing_symbols_are_reported_by_line_without_running_the_program(tmp_path):
    script = tmp_path / "train.py"
    script.write_text(
        "import tensorflow as tf\n"
        "raise SystemExit('never run')\n"
        "x = tf.reduce_sum(tf.log(2.0))\n"
        "tf.compat.v1.Session()\n"
        "tf.data.Dataset.from_tensor_slices(x).anything()\n"
    )
    done = run(script)
    lines = done.stdout.splitlines()
    assert done.returncode == 1
    assert lines[0].startswith(f"{script}:3: tf.log: ")
    assert "tf.math.log" in lines[0]
    assert lines[1].startswith(f"{script}:4: tf.compat.v1.Session: ")
    assert "tf.function" in lines[1]
    assert lines[2] == "5 symbols of TensorFlow, 3 supported, 2 missing."


def test_a_folder_is_searched_and_full_support_returns_zero(tmp_path):
    (tmp_path / "inner").mkdir()
    (tmp_path / ".hidden").mkdir()
    (tmp_path / "inner" / "a.py").write_text("from tensorflow import GradientTape\n")
    (tmp_path / ".hidden" / "b.py").write_text("import tensorflow.lite\n")
    done = run(tmp_path)
    assert (done.returncode, done.stdout.split(",")[0]) == (0, "1 symbols of TensorFlow")


def test_unreadable_files_return_two(tmp_path):
    (tmp_path / "broken.py").write_text("import tensorflow as (\n")
    assert run(tmp_path).returncode == 2
    assert run(tmp_path / "nothing.py").returncode == 2
    assert run().returncode == 2
