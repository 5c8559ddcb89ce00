"""`python -m gradtape …`: runs a TensorFlow program on gradtape, or lists its missing symbols."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

from gradtape.dropin.install import install

USAGE = """usage: python -m gradtape script.py [argument ...]
       python -m gradtape -m module [argument ...]
       python -m gradtape -c code [argument ...]
       python -m gradtape check script.py|folder ...

Run a program with gradtape in place of TensorFlow; or, with `check`, list the TensorFlow symbols
that it uses and gradtape lacks, without running it.
"""


def main(arguments: list[str]) -> int:
    """Run the script, module or code that `arguments` name, and pass it the rest of them."""
    if not arguments or arguments[0] in ("-h", "--help") or arguments in (["-m"], ["-c"]):
        sys.stdout.write(USAGE)
        return 0 if arguments[:1] in (["-h"], ["--help"]) else 2
    if arguments[0] == "check":
        from gradtape.dropin.symbol_check import check_files

        return check_files(arguments[1:])
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
        sys.stderr.write(f"python -m gradtape: the file {script} does not exist.\n")
        return 2
    sys.argv = arguments
    sys.path[0] = str(script.resolve().parent)
    runpy.run_path(str(script), run_name="__main__")
    return 0
