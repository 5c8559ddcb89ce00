"""A record that also remembers where the program applied each op: its line and name scope."""

from __future__ import annotations

import sys
from typing import Any

from gradtape.core.dispatch import TapeRecord
from gradtape.core.name_scope import current_scope

LIBRARIES = frozenset(("gradtape", "keras", "numpy", "scipy", "contextlib", "functools"))
Location = tuple[str, int, str]  # file, line, name scope


class LocatedRecord(TapeRecord):
    """The record of a tape inside `debug.record_lines`.

    Attributes:
        locations: the location of each recorded op, by the uid of its result.
        specs: shape and dtype of results, by uid.
    """

    __slots__ = ("locations", "specs")

    def __init__(self, accessed: bool = True) -> None:
        """Start empty."""
        super().__init__(accessed)
        self.locations: dict[int, Location] = {}
        self.specs: dict[int, tuple[Any, Any]] = {}

    def __setitem__(self, uid: int, entry: Any) -> None:
        """Store an entry and its location."""
        super().__setitem__(uid, entry)
        if entry is not None:
            self.locations[uid] = (*find_user_line(), current_scope())

    def complete(self, outs: tuple[Any, ...]) -> None:
        """Note the shapes of the results of an op."""
        self.specs.update((out.uid, (out._array.shape, out._array.dtype)) for out in outs)


class RecordClass:
    """The class of the records that new tapes use."""

    chosen: type[TapeRecord] = TapeRecord


def find_user_line() -> tuple[str, int]:
    """File and line of the innermost frame of the program."""
    frame: Any = sys._getframe(2)
    while frame is not None:
        package = frame.f_globals.get("__name__", "").partition(".")[0]
        if package not in LIBRARIES:
            return frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back
    return "", 0
