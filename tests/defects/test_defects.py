"""Programs that showed defects once. Each runs in a process of its own and ends with status 0."""

import importlib.util
import os
import pathlib
import re
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
HELPERS = {"checking", "models"}
PROGRAMS = sorted(
    path.stem
    for path in HERE.glob("*.py")
    if path.stem not in HELPERS and not path.stem.startswith(("test_", "__"))
)
PACKAGES = ("jax", "keras", "tensorflow", "PIL")
SECONDS = 120


@pytest.mark.parametrize("name", PROGRAMS)
def test_program_ends_without_a_wrong_line(name, tmp_path):
    path = HERE / f"{name}.py"
    needed = re.findall(r"^(?:import|from) (\w+)", path.read_text(), re.MULTILINE)
    for package in PACKAGES:
        if package in needed and importlib.util.find_spec(package) is None:
            pytest.skip(f"needs {package}")
    paths = [str(HERE), *sys.path]
    done = subprocess.run(
        [sys.executable, str(path)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "TMPDIR": str(tmp_path)},
    )
    assert done.returncode == 0, done.stdout + done.stderr
