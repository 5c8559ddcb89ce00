"""The global seed, and the position of each seeded random op in its stream.

An op that is called again with the same op seed continues its stream; `set_seed` restarts all
streams. Each replica of a process has streams of its own, as each device has in TensorFlow. An op
without an op seed draws a new seed from the global seed. If the global seed is unset, the
operating system provides the randomness.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.core.context import current_trace
from gradtape.core.lock import Lock
from gradtape.core.replica import current_device_number
from gradtape.tape.custom_gradient import RECOMPUTE_STATE

MAX_SEED = 2**31 - 1
DEFAULT_GLOBAL_SEED = (
    87654321  # TensorFlow's global seed for ops with an op seed when the global seed is unset
)
COUNTER_HALF_BITS = 64


class SeedState:
    """The global seed, the source of new op seeds, and the position in each stream."""

    def __init__(self, seed: int | None = None) -> None:
        """Start all streams from `seed`."""
        self.seed = seed
        self.seed_source = random.Random(seed)
        self.used_blocks: dict[Any, int] = {}
        self.lock = Lock()
        self.are_required = False  # whether ops without any seed raise: see `require_seed`

    def require_seed(self, seed: int | None) -> None:
        """Check that an op has a seed, if `tf.config.experimental.enable_op_determinism` asks so.

        Raises:
            RuntimeError: if neither the global seed nor the op seed is set.
        """
        if self.are_required and self.seed is None and seed is None:
            raise RuntimeError(
                "Random ops require a seed to be set when determinism is enabled. Please set a "
                "seed before running the op, e.g. by calling tf.random.set_seed(1)."
            )

    def save(self) -> Any:
        """Return the state that later draws depend on."""
        with self.lock:
            return self.seed, self.seed_source.getstate(), dict(self.used_blocks)

    def restore(self, saved: Any) -> None:
        """Restore the state that `save` returned."""
        with self.lock:
            self.seed, state, used = saved
            self.seed_source.setstate(state)
            self.used_blocks = dict(used)

    def draw_stream(self, op: Any, seed: int | None, blocks: int) -> tuple[Any, Any]:
        """Key and counter for the next `blocks` blocks that `op` draws with the op seed `seed`."""
        if self.seed is None and seed is None:
            return make_key_and_counter(*self.seed_pair(None), 0)
        outer, inner = self.seed_pair(seed)
        with self.lock:
            key = (op, outer, inner, current_device_number())
            start = self.used_blocks.get(key, 0)
            self.used_blocks[key] = start + blocks
        return make_key_and_counter(outer, inner, start)

    def is_unseeded(self, seed: int | None) -> bool:
        """Whether neither seed is set, so that an op may use NumPy's generator on the host."""
        self.require_seed(seed)
        stage = current_trace()
        choice = stage[0].options.choice if stage else None
        portable = choice is not None and choice.is_xla_preferred
        return self.seed is None and seed is None and not portable

    def seed_pair(self, seed: int | None) -> tuple[int, int]:
        """The global seed and the op seed of an eager op that was given `seed`.

        In a graph, TensorFlow numbers the ops without a seed from 0 instead of drawing seeds.
        """
        self.require_seed(seed)
        with self.lock:
            if self.seed is None and seed is None:
                return self.seed_source.getrandbits(64), self.seed_source.getrandbits(64)
            return combine_seeds(
                self.seed, self.seed_source.randint(0, MAX_SEED) if seed is None else seed
            )


def combine_seeds(outer: int | None, seed: int) -> tuple[int, int]:
    """The pair (global seed or its default, op seed), with TensorFlow's special case for (0, 0)."""
    first = DEFAULT_GLOBAL_SEED if outer is None else outer % MAX_SEED
    second = seed % MAX_SEED
    return first, MAX_SEED if (first, second) == (0, 0) else second


def random_seed_pair() -> tuple[int, int]:
    """Two seeds from the operating system, independent of the global seed."""
    return random.SystemRandom().getrandbits(64), random.SystemRandom().getrandbits(64)


def make_key_and_counter(key: int, high: int, low: int) -> tuple[Any, Any]:
    """Key and counter as arrays; an overflow of `low` carries over into `high`."""
    counter = (high << COUNTER_HALF_BITS) + low
    words = [counter % 2**COUNTER_HALF_BITS, counter >> COUNTER_HALF_BITS]
    return np.array([key], np.uint64), np.array(words, np.uint64)


SEEDS = SeedState()


def reset_after_fork() -> None:
    """Replace the lock, which another thread may have held, and the source of unseeded numbers."""
    SEEDS.lock = Lock()
    if SEEDS.seed is None:
        SEEDS.seed_source = random.Random()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=reset_after_fork)
RECOMPUTE_STATE.append((SEEDS.save, SEEDS.restore))


# Functions that `set_seed` calls to restart other streams.
ON_SET_SEED: list[Callable[[], None]] = []


def set_seed(seed: int | None) -> None:
    """Set the global seed and restart all streams."""
    with SEEDS.lock:
        SEEDS.seed = seed
        SEEDS.seed_source = random.Random(seed)
        SEEDS.used_blocks = {}
    for start_over in ON_SET_SEED:
        start_over()
