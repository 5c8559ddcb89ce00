"""Blocked libraries do not find TensorFlow while they are imported; others find gradtape."""

import subprocess
import sys

from gradtape.dropin.import_block import is_blocked

PROBE = """
import importlib.metadata, importlib.util
found = importlib.util.find_spec("tensorflow") is not None
try:
    version = importlib.metadata.version("tensorflow")
except importlib.metadata.PackageNotFoundError:
    version = None
try:
    import tensorflow
    imported = True
except ImportError as error:
    imported, message = False, str(error)
"""

SCRIPT = """
import sys
if {first}:
    import tensorflow as tf
import {name}, {name}.part
import tensorflow as tf
assert sys.modules["tensorflow"] is tf
answers = [({name}.found, {name}.version, {name}.imported)]
answers += [({name}.part.found, {name}.part.version, {name}.part.imported)]
print(answers, tf.ones(1).shape, {name}.__spec__.loader.__class__.__name__)
"""


def answers(folder, name, first):
    package = folder / name
    package.mkdir()
    (package / "__init__.py").write_text(PROBE)
    (package / "part.py").write_text(PROBE)
    script = folder / "script.py"
    script.write_text(SCRIPT.format(name=name, first=first))
    command = [sys.executable, "-m", "gradtape", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_blocked_library_finds_no_tensorflow(tmp_path):
    expected = "[(False, None, False), (False, None, False)] (1,) SourceFileLoader"
    assert answers(tmp_path, "transformers", first=False) == expected


def test_a_blocked_library_finds_none_after_the_program_imported_it(tmp_path):
    expected = "[(False, None, False), (False, None, False)] (1,) SourceFileLoader"
    assert answers(tmp_path, "wandb", first=True) == expected


def test_other_libraries_find_gradtape(tmp_path):
    expected = "[(True, '2.21.0', True), (True, '2.21.0', True)] (1,) SourceFileLoader"
    assert answers(tmp_path, "einops", first=False) == expected


def test_a_part_of_a_blocked_library_may_be_allowed():
    assert is_blocked("tensorboard.compat")
    assert not is_blocked("tensorboard.plugins.hparams.api")
