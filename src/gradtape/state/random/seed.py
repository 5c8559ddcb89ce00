"""The global seed, and how far each seeded random op has come.

An op with a seed of its own goes on where it stopped when it is called again with that seed;
`set_seed` starts all of them over. An op without one gets a fresh seed from the global one, or, if
that is unset, from the operating system.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.core.context import staging
from gradtape.core.lock import Lock
from gradtape.tape.custom_gradient import REPLAYED

LARGEST = 2**31 - 1
UNSET = 87654321  # stands in for the global seed where only the op has one
HALF = 64


class Seeds:
    """The seed that is set, where fresh seeds come from, and how far each stream has come."""

    def __init__(self, seed: int | None = None) -> None:
        """Start over from `seed`."""
        self.seed = seed
        self.fresh = random.Random(seed)
        self.used: dict[Any, int] = {}
        self.lock = Lock()

    def save(self) -> Any:
        """All that later draws depend on."""
        with self.lock:
            return self.seed, self.fresh.getstate(), dict(self.used)

    def restore(self, saved: Any) -> None:
        """Go back to where `save` was called."""
        with self.lock:
            self.seed, state, used = saved
            self.fresh.setstate(state)
            self.used = dict(used)

    def stream(self, op: Any, seed: int | None, blocks: int) -> tuple[Any, Any]:
        """Key and counter for the next `blocks` blocks that `op` draws with its own seed."""
        if self.seed is None and seed is None:
            return philox(*self.pair(None), 0)
        outer, inner = self.pair(seed)
        with self.lock:
            key = (op, outer, inner)
            start = self.used.get(key, 0)
            self.used[key] = start + blocks
        return philox(outer, inner, start)

    def is_fresh(self, seed: int | None) -> bool:
        """Whether an op with its own `seed` may draw any numbers, on the host."""
        stage = staging()
        portable = stage and stage[0].choice is not None and stage[0].choice.portable
        return self.seed is None and seed is None and not portable

    def pair(self, seed: int | None) -> tuple[int, int]:
        """The two seeds, of the program and of an op, that an op with its own `seed` starts from.

        In a graph TensorFlow counts ops without a seed from 0 instead of drawing a fresh one.
        """
        with self.lock:
            if self.seed is None and seed is None:
                return self.fresh.getrandbits(64), self.fresh.getrandbits(64)
            return joined(self.seed, self.fresh.randint(0, LARGEST) if seed is None else seed)


def joined(outer: int | None, seed: int) -> tuple[int, int]:
    """The two seeds that an op starts from: the global one, or what stands for it, and its own."""
    first = UNSET if outer is None else outer % LARGEST
    second = seed % LARGEST
    return first, LARGEST if (first, second) == (0, 0) else second


def any_pair() -> tuple[int, int]:
    """Two seeds that nobody asked for, whatever is set."""
    return random.SystemRandom().getrandbits(64), random.SystemRandom().getrandbits(64)


def philox(key: int, high: int, low: int) -> tuple[Any, Any]:
    """Key and counter as arrays; `low` may have run over into `high`."""
    counter = (high << HALF) + low
    words = [counter % 2**HALF, counter >> HALF]
    return np.array([key], np.uint64), np.array(words, np.uint64)


SEEDS = Seeds()


def after_fork() -> None:
    """A lock may have been held by a thread that is not here; unseeded numbers must differ."""
    SEEDS.lock = Lock()
    if SEEDS.seed is None:
        SEEDS.fresh = random.Random()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=after_fork)
REPLAYED.append((SEEDS.save, SEEDS.restore))


# what else is to begin anew when the seed is set
STARTED_OVER: list[Callable[[], None]] = []


def set_seed(seed: int | None) -> None:
    """Start every random op over, from `seed`."""
    with SEEDS.lock:
        SEEDS.seed = seed
        SEEDS.fresh = random.Random(seed)
        SEEDS.used = {}
    for start_over in STARTED_OVER:
        start_over()
