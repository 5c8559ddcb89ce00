"""The command `gradtape`: what its arguments mean, how a program ends, what `check` reads."""

import json
import os
import subprocess
import sys
from importlib.metadata import entry_points, version

import pytest

from gradtape.dropin.command import main


def run(*arguments, text=None):
    command = [sys.executable, "-m", "gradtape", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, input=text)


def frames(done):
    """The files of a traceback, innermost last."""
    lines = [line.strip() for line in done.stderr.splitlines()]
    return [line.split('"')[1].rpartition("/")[2] for line in lines if line.startswith('File "')]


def test_the_command_is_installed():
    found = [e for e in entry_points(group="console_scripts") if e.name == "gradtape"]
    assert all(e.load() is main for e in found)


@pytest.mark.parametrize("option", ["--version", "-V"])
def test_it_says_its_version(option, capsys):
    assert main([option]) == 0
    assert capsys.readouterr().out == f"gradtape {version('gradtape')}\n"


@pytest.mark.parametrize("arguments", [[], ["--explode"], ["run"], ["run", "-m"], ["no/such.py"]])
def test_arguments_that_mean_nothing_are_an_error(arguments, capsys):
    assert main(arguments) == 2
    assert capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["chek", "train.py"],
            "chek is neither a command nor a file. Did you mean `gradtape check`?",
        ),
        (["--explan", "train.py"], "unknown option --explan. Did you mean `gradtape --explain`?"),
        (["nosuch.py"], "the file nosuch.py does not exist."),
        (["quux"], "quux is neither a command nor a file. `gradtape --help` lists the commands."),
    ],
)
def test_a_misspelt_command_gets_one_line_with_the_nearest_name(arguments, said, capsys):
    assert main(arguments) == 2
    assert capsys.readouterr().err == f"gradtape: {said}\n"


def test_a_folder_without_a_program_is_one_line(tmp_path, capsys):
    assert main([str(tmp_path)]) == 2
    assert capsys.readouterr().err == f"gradtape: the folder {tmp_path} has no __main__.py.\n"


def test_a_missing_name_ends_at_the_line_of_the_program(tmp_path):
    path = tmp_path / "program.py"
    path.write_text("import tensorflow as tf\ntf.no_such_name\n")
    done = run(path)
    assert done.returncode == 1
    assert frames(done) == ["program.py"]


def test_info_names_versions_and_settings(capsys, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert main(["info"]) == 0
    text = capsys.readouterr().out
    for word in (version("gradtape"), version("numpy"), "BLAS", "OMP_NUM_THREADS=1", "engine"):
        assert word in text
    assert main(["info", "more"]) == 2


CODE = "import sys, tensorflow as tf\nprint(int(tf.constant(1) + 1), __name__, sys.argv[1:])\n"


@pytest.mark.parametrize("run_word", [[], ["run"]])
@pytest.mark.parametrize("kind", ["script", "-c", "-", "-m"])
def test_a_program_runs_as_main(kind, run_word, tmp_path, monkeypatch):
    script = tmp_path / "program.py"
    script.write_text(CODE)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    what = {"script": [script], "-c": ["-c", CODE], "-": ["-"], "-m": ["-m", "program"]}[kind]
    done = run(*run_word, *what, "a", "b", text=CODE)
    assert (done.stdout, done.returncode) == ("2 __main__ ['a', 'b']\n", 0), done.stderr


def test_a_class_of_code_can_be_pickled():
    code = "import pickle\nclass A: pass\nprint(type(pickle.loads(pickle.dumps(A()))) is A)"
    assert run("-c", code).stdout == "True\n"


def test_a_traceback_begins_in_the_program(tmp_path):
    code = (
        "import tensorflow as tf\ndef f():\n    tf.matmul(tf.ones([2, 3]), tf.ones([4, 5]))\nf()\n"
    )
    script = tmp_path / "program.py"
    script.write_text(code)
    done = run(script)
    assert frames(done) == ["program.py", "program.py"]
    assert done.returncode == 1
    assert frames(run("-c", code)) == ["<string>", "<string>"]
    assert frames(run("-", text=code)) == ["<stdin>", "<stdin>"]


def test_an_error_of_syntax_shows_its_line_only(tmp_path):
    script = tmp_path / "program.py"
    script.write_text("x = 1\ny = (\n")
    assert frames(run(script)) == ["program.py"]


def test_the_status_of_a_program_is_passed_on():
    assert run("-c", "raise SystemExit(7)").returncode == 7
    assert run("-c", "raise KeyboardInterrupt").returncode == 130


def notebook(path, *cells):
    made = [{"cell_type": "code", "source": source} for source in cells]
    made.insert(0, {"cell_type": "markdown", "source": ["tf.nothing"]})
    path.write_text(json.dumps({"cells": made}))


def test_check_reads_notebooks(tmp_path):
    path = tmp_path / "a.ipynb"
    notebook(
        path,
        ["%matplotlib inline\n", "!pip list\n", "import tensorflow as tf\n", "tf.exp?"],
        "%%bash\nls tf.*",
        "for i in 1, 2:\n    !ls\ntf.no_such(1)",
    )
    for what in (path, tmp_path):
        done = run("check", what)
        assert f"{path}: code cell 3, line 3: tf.no_such: " in done.stdout
        assert "nothing" not in done.stdout
        assert done.returncode == 1


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"cells": 3}', '{"cells": [3]}'])
def test_check_names_a_notebook_that_it_cannot_read(content, tmp_path):
    path = tmp_path / "a.ipynb"
    path.write_text(content)
    done = run("check", path)
    assert str(path) in done.stderr
    assert done.returncode == 2


def test_check_names_packages_that_are_built_on_tensorflow(tmp_path):
    path = tmp_path / "a.py"
    path.write_text("import tensorflow_hub as hub\nfrom tensorflow_probability import bijectors\n")
    done = run("check", path)
    assert f"{path}:1: tensorflow_hub " in done.stdout
    assert f"{path}:2: tensorflow_probability " in done.stdout
    assert done.returncode == 0


@pytest.mark.parametrize(
    "code",
    [
        "import tensorflow.compat.v2 as tf\ntf.no_such\ntf.exp",
        "from tensorflow.compat import v2 as tf\ntf.no_such",
        "import tensorflow as t\nt.compat.v2.no_such",
    ],
)
def test_check_follows_version_2(code, tmp_path):
    path = tmp_path / "a.py"
    path.write_text(code)
    assert f"{path}:2: tf.no_such: " in run("check", path).stdout
