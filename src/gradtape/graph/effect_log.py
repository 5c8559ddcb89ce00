"""EffectLog: the guards and side effects of one run of a traced function, in order.

A call that is stopped runs again from the start. The second run takes the results of side effects
from the log of the first, so that every effect happens once.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gradtape.core.errors import OutOfRangeError
from gradtape.graph.guard import Guard, user_source_line

Event = tuple[str, Any]  # "guard" and what was read, or the name of an effect and its results


class EffectLog:
    """What a run has read and done.

    Attributes:
        events: guards and side effects of this run.
        guards: the values that Python has read.
    """

    def __init__(self, replayed: Iterable[Event] = ()) -> None:
        """Start empty; `replayed` are the events of an earlier run of the same call."""
        self.events: list[Event] = []
        self.guards: list[Guard] = []
        self._guarded: set[tuple[int, str]] = set()
        self._replayed = list(replayed)

    def has_guard(self, number: int, kind: str) -> bool:
        """Whether Python has read this part of a value before."""
        return (number, kind) in self._guarded

    def add_guard(self, place: int, number: int, kind: str, seen: Any) -> None:
        """Note that Python read value `number` after `place` nodes, and what it saw."""
        logged = self.pop_replayed("guard")
        if logged is not None and logged != seen:
            self._replayed = []
        self.events.append(("guard", seen))
        self._guarded.add((number, kind))
        self.guards.append(Guard(place, number, kind, seen, user_source_line()))

    def add_effect(self, name: str, results: Any) -> None:
        """Note a side effect and its results."""
        self.events.append((name, results))

    def pop_replayed(self, kind: str) -> Any:
        """The next event of this call's earlier run, or None if that took another path."""
        if self._replayed and self._replayed[0][0] == kind:
            return self._replayed.pop(0)[1]
        self._replayed = []
        return None

    def effect_results(self) -> list[Any]:
        """Results of the side effects of this run, in order."""
        return [what for kind, what in self.events if kind != "guard"]

    def find_end_of_iterator(self, error: Exception) -> Exception | None:
        """The error of a run that `error` ends because an iterator has no more elements, or None.

        Python's `next` raises StopIteration, which a function must not raise.
        """
        if isinstance(error, OutOfRangeError):
            return error
        last = [kind for kind, _ in self.events[-3:]]  # the answer has a guard on its shape
        if last == ["has_next", "guard", "guard"] and not self.events[-1][1]:
            return OutOfRangeError("next: End of sequence. Create a new iterator to start over.")
        return None

    def clear(self) -> None:
        """Release the results of side effects. The guards belong to the graph and stay."""
        self.events, self._replayed = [], []
