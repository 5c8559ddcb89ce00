"""The global seed, and the position of each seeded random op in its stream.

An op that is called again with the same op seed continues its stream; `set_seed` restarts all
streams. An op without an op seed draws a new seed from the global seed. If the global seed is
unset, the operating system provides the randomness.
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
UNSET = 87654321  # TensorFlow's global seed for ops with an op seed when the global seed is unset
HALF = 64


class Seeds:
    """The global seed, the source of new op seeds, and the position in each stream."""

    def __init__(self, seed: int | None = None) -> None:
        """Start all streams from `seed`."""
        self.seed = seed
        self.fresh = random.Random(seed)
        self.used: dict[Any, int] = {}
        self.lock = Lock()

    def save(self) -> Any:
        """Return the state that later draws depend on."""
        with self.lock:
            return self.seed, self.fresh.getstate(), dict(self.used)

    def restore(self, saved: Any) -> None:
        """Restore the state that `save` returned."""
        with self.lock:
            self.seed, state, used = saved
            self.fresh.setstate(state)
            self.used = dict(used)

    def stream(self, op: Any, seed: int | None, blocks: int) -> tuple[Any, Any]:
        """Key and counter for the next `blocks` blocks that `op` draws with the op seed `seed`."""
        if self.seed is None and seed is None:
            return philox(*self.pair(None), 0)
        outer, inner = self.pair(seed)
        with self.lock:
            key = (op, outer, inner)
            start = self.used.get(key, 0)
            self.used[key] = start + blocks
        return philox(outer, inner, start)

    def is_fresh(self, seed: int | None) -> bool:
        """Whether neither seed is set, so that an op may use NumPy's generator on the host."""
        stage = staging()
        portable = stage and stage[0].choice is not None and stage[0].choice.portable
        return self.seed is None and seed is None and not portable

    def pair(self, seed: int | None) -> tuple[int, int]:
        """The global seed and the op seed of an eager op that was given `seed`.

        In a graph, TensorFlow numbers the ops without a seed from 0 instead of drawing seeds.
        """
        with self.lock:
            if self.seed is None and seed is None:
                return self.fresh.getrandbits(64), self.fresh.getrandbits(64)
            return joined(self.seed, self.fresh.randint(0, LARGEST) if seed is None else seed)


def joined(outer: int | None, seed: int) -> tuple[int, int]:
    """The pair (global seed or its default, op seed), with TensorFlow's special case for (0, 0)."""
    first = UNSET if outer is None else outer % LARGEST
    second = seed % LARGEST
    return first, LARGEST if (first, second) == (0, 0) else second


def any_pair() -> tuple[int, int]:
    """Two seeds from the operating system, independent of the global seed."""
    return random.SystemRandom().getrandbits(64), random.SystemRandom().getrandbits(64)


def philox(key: int, high: int, low: int) -> tuple[Any, Any]:
    """Key and counter as arrays; an overflow of `low` carries over into `high`."""
    counter = (high << HALF) + low
    words = [counter % 2**HALF, counter >> HALF]
    return np.array([key], np.uint64), np.array(words, np.uint64)


SEEDS = Seeds()


def after_fork() -> None:
    """Replace the lock, which another thread may have held, and the source of unseeded numbers."""
    SEEDS.lock = Lock()
    if SEEDS.seed is None:
        SEEDS.fresh = random.Random()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=after_fork)
REPLAYED.append((SEEDS.save, SEEDS.restore))


# Functions that `set_seed` calls to restart other streams.
STARTED_OVER: list[Callable[[], None]] = []


def set_seed(seed: int | None) -> None:
    """Set the global seed and restart all streams."""
    with SEEDS.lock:
        SEEDS.seed = seed
        SEEDS.fresh = random.Random(seed)
        SEEDS.used = {}
    for start_over in STARTED_OVER:
        start_over()
