"""`python -m gradtape …`: run a TensorFlow program on gradtape, or say what it would miss."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

from gradtape.dropin.install import install

USAGE = """usage: python -m gradtape script.py [argument ...]
       python -m gradtape -m module [argument ...]
       python -m gradtape -c code [argument ...]
       python -m gradtape check script.py|folder ...

Run a program with gradtape in the place of TensorFlow; or say, without running it, which of the
TensorFlow symbols that it names are not there.
"""


def main(arguments: list[str]) -> int:
    """Run the script, module or code that `arguments` name, with the rest of them as its own."""
    if not arguments or arguments[0] in ("-h", "--help") or arguments in (["-m"], ["-c"]):
        sys.stdout.write(USAGE)
        return 0 if arguments[:1] in (["-h"], ["--help"]) else 2
    if arguments[0] == "check":
        from gradtape.dropin.symbol_check import check

        return check(arguments[1:])
    install()
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        sys.path[0] = str(Path.cwd())
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        return 0
    if arguments[0] == "-c":
        sys.argv = ["-c", *arguments[2:]]
        sys.path[0] = ""
        names = {"__name__": "__main__", "__builtins__": __builtins__}
        exec(compile(arguments[1], "<string>", "exec"), names)
        return 0
    script = Path(arguments[0])
    if not script.exists():
        sys.stderr.write(f"python -m gradtape: there is no file {script}.\n")
        return 2
    sys.argv = arguments
    sys.path[0] = str(script.resolve().parent)
    runpy.run_path(str(script), run_name="__main__")
    return 0
