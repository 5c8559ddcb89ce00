"""Runs a TensorFlow program and writes down what it prints and which gradients it takes.

`gradtape verify` starts this file as a script, once with gradtape and once with TensorFlow, whose
environment may lack gradtape. So it imports only the standard library, NumPy and the framework.
"""

from __future__ import annotations

import importlib
import os
import pickle
import runpy
import sys
from collections.abc import Callable
from typing import Any


class ProgramRecorder:
    """Collects events `(kind, line, value)` of a program.

    Kinds are "print" (a line of text), "gradient" (a list of arrays or None) and "error" (the name
    of the exception's class and its message).
    """

    def __init__(self, script: str) -> None:
        """Record the program in the file `script`."""
        self.script = os.path.abspath(script)
        self.folder = os.path.dirname(self.script) + os.sep
        self.events: list[tuple[str, int, Any]] = []
        self.pending = ""
        self.depth = 0

    def find_line(self) -> int:
        """The line of the program that is running; 0 if there is none."""
        frame: Any = sys._getframe(1)
        while frame is not None:
            if os.path.abspath(frame.f_code.co_filename) == self.script:
                return int(frame.f_lineno)
            frame = frame.f_back
        return 0

    def write(self, text: str) -> int:
        """Record whole lines of output."""
        self.pending += text
        *lines, self.pending = self.pending.split("\n")
        line = self.find_line()
        self.events.extend(("print", line, one) for one in lines)
        return len(text)

    def flush(self) -> None:
        """Do nothing: lines are recorded when they are complete."""

    def isatty(self) -> bool:
        """Not a terminal."""
        return False

    encoding = "utf-8"

    def patch_tape(self, tensorflow: Any) -> None:
        """Record the results of all methods of GradientTape that compute gradients."""
        tape = tensorflow.GradientTape
        for name in ("gradient", "jacobian", "batch_jacobian"):
            setattr(tape, name, self.wrap_method(tensorflow, getattr(tape, name)))

    def wrap_method(self, tensorflow: Any, method: Callable[..., Any]) -> Callable[..., Any]:
        """Make a method that also records its result, unless a graph is being traced."""

        def call(*args: Any, **kwargs: Any) -> Any:
            self.depth += 1
            try:
                result = method(*args, **kwargs)
            finally:
                self.depth -= 1
            if not self.depth and tensorflow.executing_eagerly():
                line = self.find_line()
                if line:
                    leaves = tensorflow.nest.flatten(result)
                    values = [as_array(tensorflow, leaf) for leaf in leaves]
                    self.events.append(("gradient", line, values))
            return result

        return call

    def run(self, tensorflow: Any, arguments: list[str]) -> None:
        """Run the program."""
        self.patch_tape(tensorflow)
        sys.argv = [self.script, *arguments]
        sys.path[0] = os.path.dirname(self.script)
        stdout, sys.stdout = sys.stdout, self
        try:
            runpy.run_path(self.script, run_name="__main__")
        except SystemExit:
            pass
        except BaseException as error:
            self.events.append(("error", line_of_error(error, self.script), describe(error)))
        finally:
            sys.stdout = stdout
            if self.pending:
                self.events.append(("print", 0, self.pending))


def as_array(tensorflow: Any, leaf: Any) -> Any:
    """A gradient as a NumPy array; None stays None."""
    return None if leaf is None else tensorflow.convert_to_tensor(leaf).numpy()


def describe(error: BaseException) -> str:
    """The class and the message of an exception."""
    return f"{type(error).__name__}: {error}"


def line_of_error(error: BaseException, script: str) -> int:
    """The last line of the program in the traceback of an exception."""
    line = 0
    traceback = error.__traceback__
    while traceback is not None:
        if os.path.abspath(traceback.tb_frame.f_code.co_filename) == script:
            line = traceback.tb_lineno
        traceback = traceback.tb_next
    return line


def main(arguments: list[str]) -> None:
    """Run a program: arguments are "gradtape" or "tensorflow", the file of events, the program."""
    framework, output, script, *rest = arguments
    if framework == "gradtape":
        importlib.import_module("gradtape").install()
    recorder = ProgramRecorder(script)
    recorder.run(importlib.import_module("tensorflow"), rest)
    with open(output, "wb") as file:
        pickle.dump(recorder.events, file)


if __name__ == "__main__":
    main(sys.argv[1:])
