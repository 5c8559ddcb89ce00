"""Streams of the random ops of a function: one for each op of TensorFlow's graph."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any


class FunctionStreams:
    """Hidden variables of the random ops of a function, in the order in which the ops run.

    Attributes:
        variables: one for each op, shared by all runs for a signature.
        keys: identifies the op of each variable.
        fixed_seed: a tuple of the global seed to use, or None for the current global seed.
        iteration: the dataset iteration whose counters the variables hold, or None.
        all_variables: all variables, including those of ops on abandoned paths of the function.
    """

    def __init__(self, pinned: tuple[Any] | None = None) -> None:
        """Start without ops."""
        self.variables: list[Any] = []
        self.keys: list[Any] = []
        self.fixed_seed = pinned
        self.iteration: Any = None
        self.all_variables: list[Any] = []

    def clear(self) -> None:
        """Drop all variables, as if no op had run."""
        self.variables, self.keys, self.all_variables = [], [], []


class StreamCursor:
    """Position of one run of a function in the list of its random ops.

    Attributes:
        streams: the streams of the function.
        op_index: number of random ops so far in this run.
        unseeded_count: number of those without an op seed, counted per graph of TensorFlow.
        loop_depth: nesting depth of active loops over tensors.
    """

    def __init__(self, streams: FunctionStreams) -> None:
        """Start at the first stream."""
        self.streams = streams
        self.op_index = self.unseeded_count = self.loop_depth = 0

    def next_stream(self, key: Any, make: Callable[[], Any]) -> Any:
        """The hidden variable of the next random op; every run of the function gets the same."""
        at = self.op_index
        variables, keys = self.streams.variables, self.streams.keys
        if self.loop_depth and key in keys[at:]:
            at = keys.index(key, at)  # the ops in between are in another branch
        elif keys[at : at + 1] != [key]:
            at = len(variables) if self.loop_depth else at
            del variables[at:], keys[at:]
            variables.append(make())
            self.streams.all_variables.append(variables[-1])
            keys.append(key)
        self.op_index = at + 1
        return variables[at]

    def save_position(self) -> tuple[int, int]:
        """The position, for `restore_position`."""
        return self.op_index, self.unseeded_count

    def restore_position(self, saved: tuple[int, int]) -> None:
        """Go back to a position that `save_position` returned."""
        self.op_index, self.unseeded_count = saved

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
        start, furthest, unseeded = self.op_index, self.op_index, self.unseeded_count
        self.loop_depth += 1
        try:
            for i in range(count):
                furthest = max(furthest, self.op_index)
                self.op_index, self.unseeded_count = start, 0
                yield i
        finally:
            self.loop_depth -= 1
            self.op_index, self.unseeded_count = max(furthest, self.op_index), unseeded
