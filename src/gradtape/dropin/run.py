"""`gradtape run`: runs a TensorFlow program on gradtape, as `python` runs it."""

from __future__ import annotations

import os
import runpy
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any

from gradtape.dropin.install import install

RUN_USAGE = (
    "usage: gradtape run [--explain|--anomaly] script.py|folder|-|-m module|-c code "
    "[argument ...]\n"
)
TOOLS = {"--explain": "explain", "--anomaly": "anomaly"}
OWN_FILES = (str(Path(__file__).parent) + os.sep, "<frozen runpy>", runpy.__file__)


def run_program(arguments: list[str]) -> int:
    """Run the script, module or code that `arguments` name, and pass it the rest of them.

    Returns:
        0; 1 if the program raised an exception, whose traceback begins in the program;
        2 if there is no such program.
    """
    tools = []
    while arguments and arguments[0] in TOOLS:
        tools.append(arguments[0])
        arguments = arguments[1:]
    if not arguments or arguments in (["-m"], ["-c"]):
        sys.stderr.write(RUN_USAGE)
        return 2
    if arguments[0] not in ("-", "-m", "-c") and not Path(arguments[0]).exists():
        sys.stderr.write(f"gradtape: the file {arguments[0]} does not exist.\n")
        return 2
    if Path(arguments[0]).is_dir() and not Path(arguments[0], "__main__.py").exists():
        sys.stderr.write(f"gradtape: the folder {arguments[0]} has no __main__.py.\n")
        return 2
    install()
    try:
        with ExitStack() as stack:
            for tool in tools:
                stack.enter_context(use_tool(tool))
            execute(arguments)
    except SystemExit:
        raise
    except BaseException as error:
        report_exception(error)
        return 130 if isinstance(error, KeyboardInterrupt) else 1
    return 0


@contextmanager
def use_tool(option: str) -> Iterator[None]:
    """Run the program inside a tool of `gradtape.debug`, and print its report to standard error."""
    from gradtape import debug

    report: Any = None
    try:
        with getattr(debug, TOOLS[option])() as report:
            yield
    finally:
        found = report.answers if option == "--explain" else report.cause
        sys.stderr.write(f"{report}\n" if found else "")


def execute(arguments: list[str]) -> None:
    """Run a program as `__main__`, with `sys.argv` and `sys.path` as `python` sets them."""
    what = arguments[0]
    if what == "-m":
        sys.argv, sys.path[0] = arguments[1:], str(Path.cwd())
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    elif what == "-c":
        run_text(arguments[1], "<string>", ["-c", *arguments[2:]])
    elif what == "-":
        run_text(sys.stdin.read(), "<stdin>", arguments)
    else:
        sys.argv = arguments
        sys.path[0] = str(Path(what).resolve().parent)
        runpy.run_path(what, run_name="__main__")


def run_text(text: str, filename: str, arguments: list[str]) -> None:
    """Run source text in a new module `__main__`."""
    sys.argv, sys.path[0] = arguments, ""
    module = sys.modules["__main__"] = ModuleType("__main__")
    exec(compile(text, filename, "exec"), module.__dict__)


def report_exception(error: BaseException) -> None:
    """Print an exception as Python does when a program ends, without the frames of this module."""
    traceback = error.__traceback__ = skip_own_frames(error.__traceback__)
    sys.last_type, sys.last_value, sys.last_traceback = type(error), error, traceback
    setattr(sys, "last_exc", error)  # noqa: B010 - since Python 3.12
    sys.excepthook(type(error), error, traceback)


def skip_own_frames(traceback: TracebackType | None) -> TracebackType | None:
    """The part of a traceback that begins in the program; None for an error of its syntax."""
    while traceback and traceback.tb_frame.f_code.co_filename.startswith(OWN_FILES):
        traceback = traceback.tb_next
    return traceback
