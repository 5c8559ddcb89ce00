"""Guards: what Python saw of a traced value, and where."""

from __future__ import annotations

import sys
from typing import Any


class Guard:
    """Python looked at a value: where in the trace, at which, and what it saw."""

    __slots__ = ("kind", "number", "place", "seen", "where")

    def __init__(self, place: int, number: int, kind: str, seen: Any, where: str) -> None:
        """After `place` nodes, value `number` was looked at (`kind`: its value or its shape)."""
        self.place = place
        self.number = number
        self.kind = kind
        self.seen = seen
        self.where = where


def key_of(raw: Any) -> Any:
    """A value as a guard compares it."""
    if raw.shape == () and raw.dtype.kind in "biu":
        return raw.item()
    if raw.dtype.kind == "O":
        return (raw.shape, tuple(raw.ravel().tolist()))
    return (raw.shape, raw.tobytes())


def users_line() -> str:
    """File and line of the innermost frame outside this library."""
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").startswith("gradtape."):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}" if frame is not None else "unknown"
