"""Which stream each random op of a function draws from: one for every op of TensorFlow's graph."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any


class Streams:
    """Hidden variables of the random ops of a function, in the order in which they are met.

    Attributes:
        variables: one for each op; all runs for a signature share them.
        keys: what tells whether an op is the one that a variable belongs to.
        pinned: (the global seed that counts,), or None for the one that is set by then.
        turn: for whom the variables stand where they stand: a pass over a dataset, or None.
        made: all variables, also those of ops on ways that this function takes no longer.
    """

    def __init__(self, pinned: tuple[Any] | None = None) -> None:
        """Know no op yet."""
        self.variables: list[Any] = []
        self.keys: list[Any] = []
        self.pinned = pinned
        self.turn: Any = None
        self.made: list[Any] = []

    def forget(self) -> None:
        """Begin with the first op again, as if none had been met."""
        self.variables, self.keys, self.made = [], [], []


class Draws:
    """The random ops that one run of a function has met, in order.

    Attributes:
        streams: what they draw from.
        drawn: how many ops this run has met.
        unseeded: how many of them had no seed of their own, in this graph of TensorFlow's.
        looping: how many loops over tensors are under way.
    """

    def __init__(self, streams: Streams) -> None:
        """Start at the first of the known streams."""
        self.streams = streams
        self.drawn = self.unseeded = self.looping = 0

    def stream_of(self, key: Any, make: Callable[[], Any]) -> Any:
        """The hidden variable of the next random op; the same one in every run of this call."""
        at = self.drawn
        variables, keys = self.streams.variables, self.streams.keys
        if self.looping and key in keys[at:]:
            at = keys.index(key, at)  # what lies between is in another branch
        elif keys[at : at + 1] != [key]:
            at = len(variables) if self.looping else at
            del variables[at:], keys[at:]
            variables.append(make())
            self.streams.made.append(variables[-1])
            keys.append(key)
        self.drawn = at + 1
        return variables[at]

    @contextlib.contextmanager
    def own_graph(self) -> Iterator[None]:
        """What is a graph of its own in TensorFlow counts its ops without a seed by itself."""
        unseeded, self.unseeded = self.unseeded, 0
        try:
            yield
        finally:
            self.unseeded = unseeded

    def turns(self, count: int) -> Iterator[int]:
        """Count through a loop over a tensor, which is a loop of the graph in TensorFlow.

        A random op in its body is one op, whose stream goes on from turn to turn, and the
        body counts its ops without a seed by itself.
        """
        start, furthest, unseeded = self.drawn, self.drawn, self.unseeded
        self.looping += 1
        try:
            for i in range(count):
                furthest = max(furthest, self.drawn)
                self.drawn, self.unseeded = start, 0
                yield i
        finally:
            self.looping -= 1
            self.drawn, self.unseeded = max(furthest, self.drawn), unseeded
