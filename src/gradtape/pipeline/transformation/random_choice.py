"""Random choices in pipelines: TensorFlow's order of a shuffle, and its way of mixing datasets."""

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
    """The words of the generator that begins at a pair of seeds."""
    for start in count(0, AT_ONCE // 4):
        yield from words(*philox(seed, more, start), AT_ONCE).tolist()


class Chance:
    """Something random in a pipeline."""

    def begin(self) -> None:
        """An iterator is about to be made."""

    def place(self) -> tuple[int, int, int]:
        """Where it is: a checkpoint holds that."""
        return (0, 0, 0)

    def go_to(self, place: tuple[int, int, int]) -> None:
        """Go on from a place."""


class SeedStream(Chance):
    """Pairs of seeds, one for each pass; threads may share it."""

    def __init__(self, pair: tuple[int, int], fixed: bool) -> None:
        """Seeds out of `pair`; that pair itself each time if `fixed`."""
        self.fixed = fixed
        self.lock = Lock()
        self.go_to((*pair, 0))

    def next(self) -> tuple[int, int]:
        """The pair of the next pass."""
        if self.fixed:
            return self.pair
        with self.lock:
            self.passes += 1
            return next(self.words), next(self.words)

    def place(self) -> tuple[int, int, int]:
        """Where it is: the pair it began with, and how many passes have begun."""
        return (*self.pair, self.passes)

    def go_to(self, place: tuple[int, int, int]) -> None:
        """Go on from a place."""
        *pair, self.passes = place
        self.pair = (pair[0], pair[1])
        self.words = islice(stream(*self.pair), 2 * self.passes, None)


class Kept(Chance):
    """The seeds behind a cache: once it is filled, they stay those of the pass that filled it."""

    def __init__(self, seeds: Chance, memory: list[Any]) -> None:
        """`seeds` of what fills `memory`."""
        self.seeds, self.memory = seeds, memory
        self.at: tuple[int, int, int] | None = None

    def begin(self) -> None:
        """Pass it on."""
        self.seeds.begin()

    def place(self) -> tuple[int, int, int]:
        """Where the elements of a pass come from."""
        return self.at if self.memory and self.at else self.seeds.place()

    def go_to(self, place: tuple[int, int, int]) -> None:
        """Let the next pass come from a place, filling the cache again if it is another one."""
        if self.memory and place == self.at:
            return
        self.memory.clear()
        self.seeds.go_to(place)


def seeds_of(seed: Any, fixed: bool) -> SeedStream:
    """The seeds of a dataset with this `seed` of its own."""
    return SeedStream(SEEDS.pair(None if seed is None else int(seed)), fixed)


def shuffled(items: Iterator[Any], size: int | None, seed: tuple[int, int]) -> Iterator[Any]:
    """`items` in random order, each drawn from a buffer of `size` of them.

    What is drawn changes places with the oldest in the buffer, where the next item goes.
    """
    draw = stream(*seed).__next__
    buffer = list(items if size is None else islice(items, size))
    held = len(buffer)
    at = 0
    if size is not None and held == size:
        for item in items:
            i = (at + draw() % held) % held
            buffer[i], buffer[at], out = buffer[at], item, buffer[i]
            at = (at + 1) % held
            yield out
    for left in range(held, 0, -1):
        i = (at + draw() % left) % held
        out, buffer[i] = buffer[i], buffer[at]
        at = (at + 1) % held
        yield out


def choices(logits: Iterator[Any], seed: tuple[int, int]) -> Iterator[int]:
    """Numbers of datasets, drawn with odds exp(logits (1, n)); each has a stateless seed."""
    draw = stream(*seed).__next__
    for odds in logits:
        key, counter = key_and_counter(np.array([draw(), draw()], np.int64))
        drawn = random_classes(key, counter, odds, samples=1, dtype=np.dtype(np.int64))
        yield int(drawn[0, 0])


def directed(
    selected: Iterator[int], starts: list[Callable[[], Iterator[Any]]], stop_on_empty: bool
) -> Iterator[Any]:
    """Items of the iterators that `selected` names, until it ends or nothing is left."""
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
