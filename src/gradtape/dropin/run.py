"""`python -m gradtape script.py args…`: run a TensorFlow program on gradtape."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

from gradtape.dropin.install import install

USAGE = """usage: python -m gradtape script.py [argument ...]
       python -m gradtape -m module [argument ...]

Run a program with gradtape in the place of TensorFlow.
"""


def main(arguments: list[str]) -> int:
    """Run the script or module that `arguments` name, with the rest of them as its own."""
    if not arguments or arguments[0] in ("-h", "--help") or arguments == ["-m"]:
        sys.stdout.write(USAGE)
        return 0 if arguments[:1] in (["-h"], ["--help"]) else 2
    install()
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        sys.path[0] = str(Path.cwd())
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        return 0
    script = Path(arguments[0])
    if not script.exists():
        sys.stderr.write(f"python -m gradtape: there is no file {script}.\n")
        return 2
    sys.argv = arguments
    sys.path[0] = str(script.resolve().parent)
    runpy.run_path(str(script), run_name="__main__")
    return 0
