"""Samplers of candidate classes by their frequencies, given or learned."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from gradtape.core.errors import InvalidArgumentError, public
from gradtape.graph.side_effect import on_host
from gradtape.ops.random.philox import unit32
from gradtape.state.random.seed import SEEDS, STARTED_OVER
from gradtape.tf.random.candidate_sampler import Candidates, draws, sampled, true_of

LEARNED: dict[Any, Any] = {}  # how often each class was a target, by op and seeds
STARTED_OVER.append(LEARNED.clear)


def enough(op: str, num_sampled: int, unique: bool, size: int) -> None:
    """Check that there are enough classes."""
    if num_sampled < 1 or (unique and num_sampled > size):
        raise InvalidArgumentError(
            f"{op}: Sampler's range is too small. Received num_sampled={num_sampled} of {size} "
            "classes."
        )


@public
@partial(on_host, draws=True)
def fixed_unigram_candidate_sampler(
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    vocab_file: str = "",
    distortion: float = 1.0,
    num_reserved_ids: int = 0,
    num_shards: int = 1,
    shard: int = 0,
    unigrams: Sequence[float] = (),
    seed: Any = None,
    name: str | None = None,
) -> Candidates:
    """Classes drawn with given frequencies.

    Args:
        true_classes: int64 (batch, num_true).
        num_true: how many true classes an example has.
        num_sampled: how many classes to draw.
        unique: whether they shall differ.
        range_max: how many classes there are, in this shard.
        vocab_file: a file with a line for each class that ends, after a comma, in its frequency.
        distortion: the power that frequencies are raised to.
        num_reserved_ids: how many classes in front are never drawn.
        num_shards: classes are dealt out to so many samplers …
        shard: … and this one has those whose number leaves this remainder, numbered anew.
        unigrams: the frequencies, instead of a file.
        seed: of this op; with the same one the next call goes on in the same stream.
        name: accepted for TensorFlow's sake.

    Returns:
        As `tf.random.uniform_candidate_sampler`.

    Raises:
        InvalidArgumentError: if `range_max` is not the number of classes, or too few.
    """
    op = "fixed_unigram_candidate_sampler"
    true = true_of(op, true_classes, num_true)
    if bool(vocab_file) == bool(len(unigrams)):
        raise InvalidArgumentError(f"{op}: Must provide either vocab_file or unigrams, not both.")
    given = list(unigrams)
    if vocab_file:
        lines = Path(vocab_file).read_text(encoding="utf-8").splitlines()
        given = [float(line.rsplit(",", 1)[-1]) for line in lines if line]
    powers = (np.array(given, np.float32).astype(float) ** distortion).astype(np.float32)
    weights = np.concatenate([np.zeros(num_reserved_ids, np.float32), powers])[shard::num_shards]
    if len(weights) != range_max:
        raise InvalidArgumentError(
            f"{op}: range_max is {range_max}, but {len(weights)} classes were given."
        )
    enough(op, num_sampled, unique, int(np.count_nonzero(weights)) if unique else range_max)
    likely, other = aliases(weights.astype(float).tolist())

    def choose(words: Any) -> Any:
        pairs = words.view(np.uint32).reshape(-1, 2)
        at = pairs[:, 1] % np.uint32(len(weights))
        return np.where(unit32(pairs[:, 0]) < likely[at], at, other[at])

    total = np.add.accumulate(weights)[-1]  # in float32, one by one
    shares = np.append(weights / total, np.float32(0))  # what is out of range has none

    def share(classes: Any) -> Any:
        known = (classes >= 0) & (classes < len(weights))
        return shares[np.where(known, classes, len(weights)).astype(np.int64)]

    alike = op, num_true, num_sampled, unique, tuple(weights.tolist())
    return sampled(true, draws(alike, seed, num_sampled, choose), num_sampled, unique, share)


def aliases(weights: list[float]) -> tuple[Any, Any]:
    """For each class how likely it is kept, and the one to take instead (Walker, 1977)."""
    n, total = len(weights), sum(weights)
    likely = [weight * n / total for weight in weights]
    other = list(range(n))
    low = [i for i in range(n) if likely[i] < 1]
    high = [i for i in range(n) if likely[i] >= 1]
    while low and high:
        short, long = low.pop(), high.pop()
        other[short] = long
        likely[long] -= 1 - likely[short]
        (low if likely[long] < 1 else high).append(long)
    for i in (*low, *high):  # what rounding has left over
        likely[i] = 1.0
    return np.array(likely, np.float32), np.array(other)


@public
@partial(on_host, draws=True)
def learned_unigram_candidate_sampler(
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: Any = None,
    name: str | None = None,
) -> Candidates:
    """Classes drawn as often as they were targets in earlier calls with the same seed.

    Args:
        true_classes: int64 (batch, num_true).
        num_true: how many true classes an example has.
        num_sampled: how many classes to draw.
        unique: whether they shall differ.
        range_max: how many classes there are; each counts as seen once.
        seed: of this op; with the same one the next call goes on in the same stream.
        name: accepted for TensorFlow's sake.

    Returns:
        As `tf.random.uniform_candidate_sampler`.
    """
    op = "learned_unigram_candidate_sampler"
    true = true_of(op, true_classes, num_true)
    enough(op, num_sampled, unique, range_max)
    if true.size and not (true.min() >= 0 and true.max() < range_max):
        raise InvalidArgumentError(
            f"{op}: true_classes must lie in [0, {range_max}). Received {true.ravel().tolist()}."
        )
    alike = op, num_true, num_sampled, unique, range_max
    kept = SEEDS.seed is None or seed is not None
    which = (*alike, SEEDS.seed, None if seed is None else int(seed))
    counts = LEARNED.get(which) if kept else None
    if counts is None:
        counts = np.ones(range_max, np.int64)
    ends, total = np.cumsum(counts), np.uint32(counts.sum())

    def choose(words: Any) -> Any:
        return np.searchsorted(ends, words.view(np.uint32) % total, side="right")

    found = sampled(
        true,
        draws(alike, seed, num_sampled, choose),
        num_sampled,
        unique,
        lambda classes: counts[classes.astype(np.int64)] / float(total),
    )
    if kept:
        LEARNED[which] = counts + np.bincount(true.ravel(), minlength=range_max)
    return found
