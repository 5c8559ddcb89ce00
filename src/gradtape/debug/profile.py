"""profile: which ops, and which lines of compiled plans, take the time.

Python's trace function reports when a generated op, a call of a function, a backward pass or a line
of a plan begins and ends. So nothing is measured, and nothing is slower, outside of the context.
"""

from __future__ import annotations

import json
import linecache
import os
import sys
import threading
import time
from dataclasses import dataclass
from types import FrameType
from typing import Any

import gradtape.core
from gradtape.core.traceback_filter import hide_library_frames
from gradtape.debug.summary import format_table, short_line
from gradtape.tape.located_record import find_user_line

LIBRARY = os.path.dirname(os.path.dirname(os.path.abspath(gradtape.core.__file__)))
TEMPLATE_FILE = os.path.join(LIBRARY, "core", "fastpath", "template.py")
REFERENCE_FILE = os.path.join(LIBRARY, "core", "fastpath", "reference.py")
FUNCTION_FILE = os.path.join(LIBRARY, "jit", "function.py")
TAPE_FILE = os.path.join(LIBRARY, "tape", "gradient_tape.py")
PLAN_PREFIX = "<gradtape plan"
MAX_TABLE_ROWS = 40


@dataclass
class ProfileEvent:
    """One span of time.

    Attributes:
        name: the op, function or statement of a plan.
        kind: "op", "function", "backward pass", "plan" or "node" of a plan.
        start: seconds since the profile began.
        duration: in seconds.
        own: seconds without the events inside this one.
        line: file and line of the program.
    """

    name: str
    kind: str
    start: float
    duration: float = 0.0
    own: float = 0.0
    line: str = ""


class Profile:
    """A profile; use it as a context manager and print it.

    Attributes:
        events: all spans, in the order in which they began.
        total: seconds that the context took.
    """

    def __init__(self) -> None:
        """Start empty."""
        self.events: list[ProfileEvent] = []
        self.total = 0.0
        self.stack: list[tuple[ProfileEvent, float]] = []  # open events, time of those inside
        self.begin = 0.0
        self.before: Any = None
        self.thread = threading.get_ident()

    def __enter__(self) -> Profile:
        """Start measuring this thread."""
        self.begin = time.perf_counter()
        self.before = sys.gettrace()
        sys.settrace(self._trace_call)
        return self

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        """Stop measuring."""
        sys.settrace(self.before)
        self.total = time.perf_counter() - self.begin
        if error is not None:
            hide_library_frames(error)

    def _trace_call(self, frame: FrameType, event: str, arg: Any) -> Any:
        """Choose what to measure of a frame that begins."""
        code = frame.f_code
        file = code.co_filename
        if code.co_name == "<module>":  # code that is generated at the first call
            return None
        if file == TEMPLATE_FILE:
            return self._open_span(frame, code.co_name, "op")
        if file.startswith(PLAN_PREFIX):
            self._open_span(frame, "plan", "plan")
            frame.f_trace_lines = True
            return self._trace_plan
        if file == REFERENCE_FILE and code.co_name == "function":
            op = frame.f_locals.get("op")
            return self._open_span(frame, str(getattr(op, "name", "op")), "op")
        if file == FUNCTION_FILE and code.co_name == "__call__":
            name = getattr(frame.f_locals.get("self"), "_name", "function")
            return self._open_span(frame, f"function {name}", "function")
        if file == TAPE_FILE and code.co_name in ("gradient", "jacobian", "batch_jacobian"):
            return self._open_span(frame, f"tape.{code.co_name}", "backward pass")
        return None

    def _open_span(self, frame: FrameType, name: str, kind: str) -> Any:
        """Begin an event that ends with the frame."""
        frame.f_trace_lines = False
        file, line = find_user_line()
        event = ProfileEvent(name, kind, time.perf_counter() - self.begin, line=f"{file}:{line}")
        self.events.append(event)
        self.stack.append((event, 0.0))
        return self._trace_return

    def _close_span(self) -> None:
        """End the innermost event."""
        event, inside = self.stack.pop()
        event.duration = time.perf_counter() - self.begin - event.start
        event.own = event.duration - inside
        if self.stack:
            outer, time_inside = self.stack[-1]
            self.stack[-1] = (outer, time_inside + event.duration)

    def _trace_return(self, frame: FrameType, event: str, arg: Any) -> Any:
        """End the event of a frame that returns."""
        if event == "return":
            self._close_span()
        return self._trace_return

    def _trace_plan(self, frame: FrameType, event: str, arg: Any) -> Any:
        """End the statement of a plan that ran, and begin the next one."""
        if event in ("line", "return") and self.stack[-1][0].kind == "node":
            self._close_span()
        if event == "line":
            text = linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip()
            node = ProfileEvent(text, "node", time.perf_counter() - self.begin)
            node.line = f"{frame.f_code.co_filename}:{frame.f_lineno}"
            self.events.append(node)
            self.stack.append((node, 0.0))
        elif event == "return":
            self._close_span()
        return self._trace_plan

    def rows(self) -> list[tuple[str, str, int, float, float]]:
        """Name, kind, number of calls, own and whole seconds; the largest own times come first.

        Returns:
            A list of tuples.
        """
        totals: dict[tuple[str, str], list[float]] = {}
        for event in self.events:
            entry = totals.setdefault((event.name, event.kind), [0, 0.0, 0.0])
            entry[0] += 1
            entry[1] += event.own
            entry[2] += event.duration
        ordered = sorted(totals.items(), key=lambda pair: -pair[1][1])
        return [(name, kind, int(n), own, whole) for (name, kind), (n, own, whole) in ordered]

    def __str__(self) -> str:
        """A table of ops, functions and nodes of plans by their own time."""
        measured = sum(event.own for event in self.events)
        cells = [
            (name[:60], kind, str(n), f"{own * 1e3:.3f}", f"{whole * 1e3:.3f}", share_of(own, self))
            for name, kind, n, own, whole in self.rows()[:MAX_TABLE_ROWS]
        ]
        head = f"{self.total * 1e3:.1f} ms, of which {measured * 1e3:.1f} ms in gradtape"
        table = format_table(("name", "kind", "calls", "own ms", "all ms", "share"), cells)
        return f"{head}\n{table}"

    __repr__ = __str__

    def export(self, path: Any) -> None:
        """Write the events as Chrome trace JSON, which chrome://tracing and Perfetto open.

        Args:
            path: the file to write.

        Returns:
            None.
        """
        with open(path, "w", encoding="utf-8") as file:
            json.dump(self.to_chrome_trace(), file)

    def to_chrome_trace(self) -> dict[str, Any]:
        """The events in the format of Chrome's tracing tools.

        Returns:
            A dict that `json.dumps` can write.
        """
        process = os.getpid()
        return {
            "displayTimeUnit": "ms",
            "traceEvents": [
                {
                    "name": event.name,
                    "cat": event.kind,
                    "ph": "X",
                    "ts": event.start * 1e6,
                    "dur": event.duration * 1e6,
                    "pid": process,
                    "tid": self.thread,
                    "args": {"line": short_line(event.line)},
                }
                for event in self.events
            ],
        }


def share_of(seconds: float, profile: Profile) -> str:
    """A part of the whole time as text."""
    return f"{seconds / profile.total:.0%}" if profile.total else "0%"


def profile() -> Profile:
    """Measure which ops, functions, backward passes and lines of plans take the time.

    Only the calling thread is measured. Python code runs several times slower meanwhile; times
    inside NumPy are right.

    Returns:
        A `Profile` to use as a context manager. Print it for a table; `export(path)` writes a
        timeline for chrome://tracing and Perfetto.

    Example:
        >>> x = tf.ones((100, 100))
        >>> with gradtape.debug.profile() as report:
        ...     y = tf.tanh(x @ x)
        >>> sorted(event.name for event in report.events)
        ['matmul', 'tanh']
    """
    return Profile()
