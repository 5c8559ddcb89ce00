"""Guards: which traced values Python has read, and what it saw."""

from __future__ import annotations

import sys
from typing import Any

from gradtape.core.size_function import Env
from gradtape.core.user_location import user_location


class Guard:
    """A record that Python read a value while it was traced; later calls must read the same.

    Attributes:
        position: how many nodes precede the read.
        number: which value was read.
        kind: what was read: "value", "shape", or "size", an integer that became a size.
        expected: what was read, as `guard_key` or a shape.
        source_line: file and line of the user's code.
        location: code and instruction of that line.
        unknown: the unknown size that an integer became, or None.
    """

    __slots__ = ("expected", "kind", "location", "number", "position", "source_line", "unknown")

    def __init__(self, place: int, number: int, kind: str, seen: Any, where: str) -> None:
        """After `place` nodes, Python read value `number`."""
        self.position = place
        self.number = number
        self.kind = kind
        self.expected = seen
        self.source_line = where
        self.location = user_location(3)
        self.unknown: Any = None

    def specialise(self, position: int, specs: Any, env: Env) -> Guard:
        """The same guard after another number of nodes, in a graph whose values have `specs`."""
        seen = specs[self.number].shape if self.kind == "shape" else self.expected
        if self.unknown is not None:
            seen = env[self.unknown]
        return Guard(position, self.number, self.kind, seen, self.source_line)


class ValueRead(Exception):  # noqa: N818  not an error
    """Python read a value, or ran an effect, where the trace forbids it."""


def is_integer_scalar(spec: Any) -> bool:
    """Whether a spec or raw array is that of a single integer or bool."""
    return spec.shape == () and spec.dtype.kind in "biu"


def guard_key(raw: Any) -> Any:
    """A raw array as a hashable key, by which guards compare values."""
    if is_integer_scalar(raw):
        return raw.item()
    if raw.dtype.kind == "O":
        return (raw.shape, tuple(raw.ravel().tolist()))
    return (raw.shape, raw.tobytes())


def user_source_line() -> str:
    """File and line of the innermost frame outside this library."""
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").startswith("gradtape."):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}" if frame is not None else "unknown"
