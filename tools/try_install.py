"""Try an installed gradtape as a new user would: the command, the README and every tutorial.

    python tools/try_install.py    # with the Python of the environment that has gradtape

Tutorials that need Keras or protobuf run only where these are installed; the others are listed as
skipped. The exit code is 1 if anything fails.
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```(?:python|\{code-cell\})\n(.*?)^```", re.MULTILINE | re.DOTALL)


NEEDS = {"tf.keras": "keras", "tf.train.": "google.protobuf", "tf.saved_model": "google.protobuf"}


def missing_package(code: str) -> str | None:
    """The first package that a program needs and that is not installed; None if there is none."""
    for name, package in NEEDS.items():
        top = package.partition(".")[0]
        if name in code and not (
            importlib.util.find_spec(top) and importlib.util.find_spec(package)
        ):
            return package
    return None


def programs() -> Iterator[tuple[str, list[str]]]:
    """Name and command line of each thing to try."""
    command = [sys.executable, "-m", "gradtape"]
    yield "gradtape --version", [*command, "--version"]
    yield "gradtape info", [*command, "info"]
    yield "gradtape check", [*command, "check", str(ROOT / "examples" / "train_digits.py")]
    yield "import tensorflow", [*command, "-c", "import tensorflow as tf; print(tf.__version__)"]
    pages = [ROOT / "README.md", *sorted((ROOT / "docs" / "learn").glob("*.md"))]
    pages += sorted((ROOT / "docs" / "start").glob("*.md"))
    for page in pages:
        blocks = BLOCK.findall(page.read_text(encoding="utf-8"))
        code = "\n".join(block for block in blocks if ">>> " not in block)
        name = page.relative_to(ROOT).as_posix()
        missing = missing_package(code)
        if missing:
            print(f"skipped        {name}: {missing} is not installed")
        elif code:
            yield name, [sys.executable, "-c", code]


def main() -> int:
    """Run everything in an empty folder; returns the exit code."""
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, command in programs():
            start = time.perf_counter()
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
            took = time.perf_counter() - start
            print(f"{'ok' if done.returncode == 0 else 'FAILED':6} {took:5.1f} s  {name}")
            if done.returncode:
                failed += 1
                print(done.stdout, done.stderr, sep="\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
