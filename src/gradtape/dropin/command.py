"""The command `gradtape`: chooses what the arguments ask for."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

USAGE = """usage: gradtape [run] script.py|folder|- [argument ...]
       gradtape [run] -m module [argument ...]
       gradtape [run] -c code [argument ...]
       gradtape [run] --explain|--anomaly script.py [argument ...]
       gradtape launch [-n N] [--restarts K] script.py [argument ...]
       gradtape check script.py|notebook.ipynb|folder ...
       gradtape verify [--python PYTHON] script.py [argument ...]
       gradtape adopt [--remove] [--also NAME ...] [--target FOLDER]
       gradtape info
       gradtape --version

Run a TensorFlow program on gradtape. `python -m gradtape` is the same command.

  run      run a script, a module, code or standard input (-); the default
           --explain says at the end why gradients were None, --anomaly where NaN came from
  launch   run a script in N processes of this host, the workers of MultiWorkerMirroredStrategy;
           after a failure restart all of them, at most K times
  check    list the TensorFlow symbols that a program uses and gradtape lacks, without running it
  verify   run a script on gradtape and on TensorFlow; report the first divergence of prints
           and gradients (--python names an interpreter that has TensorFlow)
  adopt    put a package `tensorflow` that is gradtape into this environment, so that pip and
           packages that require TensorFlow find it; --remove removes it
  info     print versions, engines, BLAS and threads, as a report of a bug needs them
"""

COMMANDS = {
    "run": ("gradtape.dropin.run", "run_program"),
    "launch": ("gradtape.dropin.launch", "launch_workers"),
    "check": ("gradtape.dropin.symbol_check", "check_files"),
    "verify": ("gradtape.dropin.verify", "verify_program"),
    "adopt": ("gradtape.dropin.adopt", "adopt_environment"),
    "info": ("gradtape.dropin.info", "print_info"),
}
"""Module and function of each command; the function takes its arguments and returns a status."""


RUN_OPTIONS = ("-m", "-c", "-", "--explain", "--anomaly")


def is_program(argument: str) -> bool:
    """Whether an argument is an option of `run`, or the path of a script or folder."""
    return argument in RUN_OPTIONS or Path(argument).exists()


def describe_unknown(argument: str) -> str:
    """The message for an argument that is neither a command, nor an option, nor a file."""
    if argument.startswith("-"):
        text, known = f"unknown option {argument}.", [*RUN_OPTIONS, "--help", "--version"]
    elif Path(argument).suffix:
        return f"gradtape: the file {argument} does not exist.\n"
    else:
        text = f"{argument} is neither a command nor a file."
        known = list(COMMANDS)
    near = difflib.get_close_matches(argument, known, 1)
    hint = (
        f"Did you mean `gradtape {near[0]}`?" if near else "`gradtape --help` lists the commands."
    )
    return f"gradtape: {text} {hint}\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command that `arguments` (by default those of this process) name; return a status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    first = given[0] if given else ""
    if first in ("-h", "--help"):
        sys.stdout.write(USAGE)
        return 0
    if first in ("-V", "--version"):
        sys.stdout.write(f"gradtape {version('gradtape')}\n")
        return 0
    if first in COMMANDS:
        given.pop(0)
    elif not first:
        sys.stderr.write(USAGE)
        return 2
    elif (first.startswith("-") and first not in RUN_OPTIONS) or not is_program(first):
        sys.stderr.write(describe_unknown(first))
        return 2
    module, function = COMMANDS.get(first, COMMANDS["run"])
    status: int = getattr(import_module(module), function)(given)
    return status
