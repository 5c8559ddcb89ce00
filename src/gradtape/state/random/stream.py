"""Streams of the random ops of a function: one for each op of TensorFlow's graph."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any


class Streams:
    """Hidden variables of the random ops of a function, in the order in which the ops run.

    Attributes:
        variables: one for each op, shared by all runs for a signature.
        keys: identifies the op of each variable.
        pinned: a tuple of the global seed to use, or None for the current global seed.
        turn: the dataset iteration whose counters the variables hold, or None.
        made: all variables, including those of ops on abandoned paths of the function.
    """

    def __init__(self, pinned: tuple[Any] | None = None) -> None:
        """Start without ops."""
        self.variables: list[Any] = []
        self.keys: list[Any] = []
        self.pinned = pinned
        self.turn: Any = None
        self.made: list[Any] = []

    def forget(self) -> None:
        """Drop all variables, as if no op had run."""
        self.variables, self.keys, self.made = [], [], []


class Draws:
    """Position of one run of a function in the list of its random ops.

    Attributes:
        streams: the streams of the function.
        drawn: number of random ops so far in this run.
        unseeded: number of those without an op seed, counted per graph of TensorFlow.
        looping: nesting depth of active loops over tensors.
    """

    def __init__(self, streams: Streams) -> None:
        """Start at the first stream."""
        self.streams = streams
        self.drawn = self.unseeded = self.looping = 0

    def stream_of(self, key: Any, make: Callable[[], Any]) -> Any:
        """The hidden variable of the next random op; every run of the function gets the same."""
        at = self.drawn
        variables, keys = self.streams.variables, self.streams.keys
        if self.looping and key in keys[at:]:
            at = keys.index(key, at)  # the ops in between are in another branch
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
        """Count unseeded ops from zero in this scope: it is a separate graph in TensorFlow."""
        unseeded, self.unseeded = self.unseeded, 0
        try:
            yield
        finally:
            self.unseeded = unseeded

    def turns(self, count: int) -> Iterator[int]:
        """Yield the indices of a loop over a tensor, which is one graph loop in TensorFlow.

        A random op in the body is a single op: its stream continues from iteration to
        iteration. The body counts its unseeded ops from zero.
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
