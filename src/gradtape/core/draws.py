"""Which stream each random op of a function draws from: one for every op of TensorFlow's graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any


class Draws:
    """The random ops that one run of a function has met, in order.

    Attributes:
        streams: hidden variables of the ops; every run for a signature shares them.
        stream_keys: what tells whether an op is the one that a stream belongs to.
        drawn: how many ops this run has met.
        unseeded: how many of them had no seed of their own.
        looping: how many loops over tensors are under way.
    """

    def __init__(self, known: tuple[list[Any], list[Any]]) -> None:
        """Start at the first of the known streams."""
        self.streams, self.stream_keys = known
        self.drawn = self.unseeded = self.looping = 0

    def stream_of(self, key: Any, make: Callable[[], Any]) -> Any:
        """The hidden variable of the next random op; the same one in every run of this call."""
        at = self.drawn
        if self.looping and key in self.stream_keys[at:]:
            at = self.stream_keys.index(key, at)  # what lies between is in another branch
        elif self.stream_keys[at : at + 1] != [key]:
            at = len(self.streams) if self.looping else at
            del self.streams[at:], self.stream_keys[at:]
            self.streams.append(make())
            self.stream_keys.append(key)
        self.drawn = at + 1
        return self.streams[at]

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
