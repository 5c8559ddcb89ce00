"""Try an installed gradtape as a new user would: the command, the README and every tutorial.

    python tools/try_install.py    # with the Python of the environment that has gradtape

Tutorials that need Keras run only where it is installed. The exit code is 1 if anything fails.
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
        needs_keras = "tf.keras" in code
        if code and (not needs_keras or importlib.util.find_spec("keras")):
            yield page.relative_to(ROOT).as_posix(), [sys.executable, "-c", code]


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
