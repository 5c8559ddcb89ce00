"""Streams of the random ops of a function: one for each op of TensorFlow's graph."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any


class FunctionStreams:
    """Hidden variables of the random ops of a function.

    Attributes:
        variables: the variables by key, in the order in which ops of this key run. All runs for a
            signature share them, so an op on another path of the function does not move them.
        fixed_seed: a tuple of the global seed to use, or None for the current global seed.
        iteration: the dataset iteration whose counters the variables hold, or None.
        all_variables: all variables, including those of ops on abandoned paths of the function.
    """

    def __init__(self, pinned: tuple[Any] | None = None) -> None:
        """Start without ops."""
        self.variables: dict[Any, list[Any]] = {}
        self.fixed_seed = pinned
        self.iteration: Any = None
        self.all_variables: list[Any] = []

    def clear(self) -> None:
        """Drop all variables, as if no op had run."""
        self.variables, self.all_variables = {}, []


class StreamCursor:
    """Position of one run of a function among its random ops.

    Attributes:
        streams: the streams of the function.
        op_counts: number of random ops so far in this run, by key.
        unseeded_count: number of those without an op seed, counted per graph of TensorFlow.
    """

    def __init__(self, streams: FunctionStreams) -> None:
        """Start at the first stream."""
        self.streams = streams
        self.op_counts: dict[Any, int] = {}
        self.unseeded_count = 0

    def next_stream(self, key: Any, make: Callable[[], Any]) -> Any:
        """The hidden variable of the next random op; every run of the function gets the same."""
        at = self.op_counts.get(key, 0)
        made = self.streams.variables.setdefault(key, [])
        if at == len(made):
            made.append(make())
            self.streams.all_variables.append(made[at])
        self.op_counts[key] = at + 1
        return made[at]

    def save_position(self) -> tuple[dict[Any, int], int]:
        """The position, for `restore_position`."""
        return dict(self.op_counts), self.unseeded_count

    def restore_position(self, saved: tuple[dict[Any, int], int]) -> None:
        """Go back to a position that `save_position` returned."""
        counts, self.unseeded_count = saved
        self.op_counts = dict(counts)

    @contextlib.contextmanager
    def enter_graph(self) -> Iterator[None]:
        """Count unseeded ops from zero in this scope: it is a separate graph in TensorFlow."""
        unseeded, self.unseeded_count = self.unseeded_count, 0
        try:
            yield
        finally:
            self.unseeded_count = unseeded

    def iterate_loop(self, count: int) -> Iterator[int]:
        """Yield the indices of a loop over a tensor, which is one graph loop in TensorFlow.

        A random op in the body is a single op: its stream continues from iteration to
        iteration. The body counts its unseeded ops from zero.
        """
        start, unseeded = self.save_position()
        furthest = start
        try:
            for i in range(count):
                furthest = join_counts(furthest, self.op_counts)
                self.restore_position((start, 0))
                yield i
        finally:
            self.restore_position((join_counts(furthest, self.op_counts), unseeded))


def join_counts(a: dict[Any, int], b: dict[Any, int]) -> dict[Any, int]:
    """The larger of both counts, by key."""
    return {key: max(a.get(key, 0), b.get(key, 0)) for key in (*a, *b)}
