"""Random choices in pipelines: shuffling and mixing of datasets, as in TensorFlow."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count, islice
from typing import Any

import numpy as np

from gradtape.core.errors import InvalidArgumentError
from gradtape.core.lock import Lock
from gradtape.ops.random.philox import words
from gradtape.ops.random.rejection import random_classes
from gradtape.ops.random.stateless import key_and_counter
from gradtape.state.random.seed import SEEDS, philox

AT_ONCE = 1024  # words drawn together


def stream(seed: int, more: int) -> Iterator[int]:
    """Yield the random words of the generator with this pair of seeds."""
    for start in count(0, AT_ONCE // 4):
        yield from words(*philox(seed, more, start), AT_ONCE).tolist()


class Chance:
    """A source of randomness in a pipeline, with a position that checkpoints save."""

    def begin(self) -> None:
        """Called before an iterator is created."""

    def place(self) -> tuple[int, int, int]:
        """The current position, for checkpoints."""
        return (0, 0, 0)

    def go_to(self, place: tuple[int, int, int]) -> None:
        """Continue from a saved position."""


class SeedStream(Chance):
    """Pairs of seeds, one for each iteration; threads may share it."""

    def __init__(self, pair: tuple[int, int], fixed: bool) -> None:
        """Draw seeds from `pair`; if `fixed`, return `pair` itself each time."""
        self.fixed = fixed
        self.lock = Lock()
        self.go_to((*pair, 0))

    def next(self) -> tuple[int, int]:
        """The pair of seeds of the next iteration."""
        if self.fixed:
            return self.pair
        with self.lock:
            self.passes += 1
            return next(self.words), next(self.words)

    def place(self) -> tuple[int, int, int]:
        """The initial pair and the number of iterations started."""
        return (*self.pair, self.passes)

    def go_to(self, place: tuple[int, int, int]) -> None:
        """Continue from a saved position."""
        *pair, self.passes = place
        self.pair = (pair[0], pair[1])
        self.words = islice(stream(*self.pair), 2 * self.passes, None)


class Kept(Chance):
    """The random source of a cached dataset: its position stays once the cache is filled."""

    def __init__(self, seeds: Chance, memory: list[Any]) -> None:
        """`seeds` is the random source of the dataset that fills `memory`."""
        self.seeds, self.memory = seeds, memory
        self.at: tuple[int, int, int] | None = None

    def begin(self) -> None:
        """Forward to the wrapped source."""
        self.seeds.begin()

    def place(self) -> tuple[int, int, int]:
        """The position of the iteration whose elements the cache holds, or the current one."""
        return self.at if self.memory and self.at else self.seeds.place()

    def go_to(self, place: tuple[int, int, int]) -> None:
        """Set the position of the next iteration; another position clears the cache."""
        if self.memory and place == self.at:
            return
        self.memory.clear()
        self.seeds.go_to(place)


def seeds_of(seed: Any, fixed: bool) -> SeedStream:
    """Make the seed stream of a dataset with this `seed` argument."""
    return SeedStream(SEEDS.pair(None if seed is None else int(seed)), fixed)


def shuffled(items: Iterator[Any], size: int | None, seed: tuple[int, int]) -> Iterator[Any]:
    """Yield `items` in random order, each drawn from a buffer of `size` items.

    The drawn item swaps places with the oldest one in the buffer, which the next item replaces.
    """
    draw = stream(*seed).__next__
    buffer = list(items if size is None else islice(items, size))
    filled = len(buffer)
    at = 0
    if size is not None and filled == size:
        for item in items:
            i = (at + draw() % filled) % filled
            buffer[i], buffer[at], out = buffer[at], item, buffer[i]
            at = (at + 1) % filled
            yield out
    for remaining in range(filled, 0, -1):
        i = (at + draw() % remaining) % filled
        out, buffer[i] = buffer[i], buffer[at]
        at = (at + 1) % filled
        yield out


def choices(logits: Iterator[Any], seed: tuple[int, int]) -> Iterator[int]:
    """Yield dataset numbers drawn from logits of shape (1, n), each with a new stateless seed."""
    draw = stream(*seed).__next__
    for odds in logits:
        key, counter = key_and_counter(np.array([draw(), draw()], np.int64))
        drawn = random_classes(key, counter, odds, samples=1, dtype=np.dtype(np.int64))
        yield int(drawn[0, 0])


def directed(
    selected: Iterator[int], starts: list[Callable[[], Iterator[Any]]], stop_on_empty: bool
) -> Iterator[Any]:
    """Yield items of the iterators that `selected` names, until it or all iterators end."""
    sources: list[Iterator[Any] | None] = [start() for start in starts]
    return _directed(selected, sources, stop_on_empty)


def _directed(
    selected: Iterator[int], sources: list[Iterator[Any] | None], stop_on_empty: bool
) -> Iterator[Any]:
    left = len(sources)
    for i in selected:
        if not 0 <= i < len(sources):
            raise InvalidArgumentError(
                f"choose_from_datasets: Selector index out of range: {i} >= {len(sources)}"
            )
        source = sources[i]
        if source is None:
            continue
        for item in source:
            yield item
            break
        else:
            sources[i] = None
            left -= 1
            if stop_on_empty or not left:
                return
