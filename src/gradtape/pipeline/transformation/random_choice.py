"""Random choices in pipelines: shuffling and mixing of datasets, as in TensorFlow."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count, islice
from typing import Any

import numpy as np

from gradtape.core.argument import as_integer
from gradtape.core.context import current_trace
from gradtape.core.errors import InvalidArgumentError
from gradtape.core.lock import Lock
from gradtape.graph.graph import Effect
from gradtape.ops.random.philox import draw_words
from gradtape.ops.random.rejection import random_classes
from gradtape.ops.random.stateless import key_and_counter
from gradtape.state.random.seed import SEEDS, make_key_and_counter

WORD_CHUNK = 1024  # words drawn together


def random_words(seed: int, more: int, skip: int = 0) -> Iterator[int]:
    """Yield the random words of the generator with this pair of seeds, after `skip` words."""
    chunk, skip = divmod(skip, WORD_CHUNK)
    for start in count(chunk * WORD_CHUNK // 4, WORD_CHUNK // 4):
        words = draw_words(*make_key_and_counter(seed, more, start), WORD_CHUNK)
        yield from words[skip:].tolist()
        skip = 0


class RandomSource:
    """A source of randomness in a pipeline, with a position that checkpoints save."""

    def before_iterator(self) -> None:
        """Called before an iterator is created."""

    def position(self) -> tuple[int, int, int]:
        """The current position, for checkpoints."""
        return (0, 0, 0)

    def set_position(self, place: tuple[int, int, int]) -> None:
        """Continue from a saved position."""


class SeedStream(RandomSource):
    """Pairs of seeds, one for each iteration; threads may share it."""

    def __init__(self, pair: tuple[int, int], fixed: bool) -> None:
        """Draw seeds from `pair`; if `fixed`, return `pair` itself each time."""
        self.fixed = fixed
        self.lock = Lock()
        self.set_position((*pair, 0))

    def next(self) -> tuple[int, int]:
        """The pair of seeds of the next iteration."""
        if self.fixed:
            return self.pair
        with self.lock:
            self.iteration_count += 1
            return next(self.words), next(self.words)

    def position(self) -> tuple[int, int, int]:
        """The initial pair and the number of iterations started."""
        return (*self.pair, self.iteration_count)

    def set_position(self, place: tuple[int, int, int]) -> None:
        """Continue from a saved position."""
        *pair, self.iteration_count = place
        self.pair = (pair[0], pair[1])
        self.words = random_words(*self.pair, skip=2 * self.iteration_count)

    def restart(self) -> tuple[()]:
        """Continue with the first iteration: a side effect without results."""
        self.set_position((*self.pair, 0))
        return ()


class CachedRandomSource(RandomSource):
    """The random source of a cached dataset: its position stays once the cache is filled."""

    def __init__(self, seeds: RandomSource, memory: list[Any]) -> None:
        """`seeds` is the random source of the dataset that fills `memory`."""
        self.seeds, self.memory = seeds, memory
        self.cached_position: tuple[int, int, int] | None = None

    def before_iterator(self) -> None:
        """Forward to the wrapped source."""
        self.seeds.before_iterator()

    def position(self) -> tuple[int, int, int]:
        """The position of the iteration whose elements the cache holds, or the current one."""
        return (
            self.cached_position if self.memory and self.cached_position else self.seeds.position()
        )

    def set_position(self, place: tuple[int, int, int]) -> None:
        """Set the position of the next iteration; another position clears the cache."""
        if self.memory and place == self.cached_position:
            return
        self.memory.clear()
        self.seeds.set_position(place)


def make_seed_stream(seed: Any, fixed: bool) -> SeedStream:
    """Make the seed stream of a dataset with this `seed` argument.

    In a function, a seeded stream starts again with every call, as the dataset is made again.
    """
    own = None if seed is None else as_integer(seed, "seed")
    stream = SeedStream(SEEDS.seed_pair(own), fixed)
    stage = current_trace()
    if stage and not stage[0].is_abstract and (own is not None or SEEDS.seed is not None):
        stage[0].run_effect(Effect("restart", stream.restart), ())
    return stream


def shuffle_items(items: Iterator[Any], size: int | None, seed: tuple[int, int]) -> Iterator[Any]:
    """Yield `items` in random order, each drawn from a buffer of `size` items.

    The drawn item swaps places with the oldest one in the buffer, which the next item replaces.
    """
    draw = random_words(*seed).__next__
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


def draw_choices(logits: Iterator[Any], seed: tuple[int, int]) -> Iterator[int]:
    """Yield dataset numbers drawn from logits of shape (1, n), each with a new stateless seed."""
    draw = random_words(*seed).__next__
    for odds in logits:
        key, counter = key_and_counter(np.array([draw(), draw()], np.int64))
        drawn = random_classes(key, counter, odds, samples=1, dtype=np.dtype(np.int64))
        yield int(drawn[0, 0])


def start_and_interleave(
    selected: Iterator[int], starts: list[Callable[[], Iterator[Any]]], stop_on_empty: bool
) -> Iterator[Any]:
    """Yield items of the iterators that `selected` names, until it or all iterators end."""
    sources: list[Iterator[Any] | None] = [start() for start in starts]
    return interleave_by_choice(selected, sources, stop_on_empty)


def interleave_by_choice(
    selected: Iterator[int], sources: list[Iterator[Any] | None], stop_on_empty: bool
) -> Iterator[Any]:
    """Yield an item of the iterator that each number of `selected` names."""
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
