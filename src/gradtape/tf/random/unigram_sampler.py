"""Samplers of candidate classes by given or learned frequencies."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gradtape.core.argument import as_host_array, as_integer
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.graph.host_function import call_on_host
from gradtape.ops.random.philox import unit32
from gradtape.state.random.seed import ON_SET_SEED, SEEDS
from gradtape.tf.random.candidate_sampler import (
    Candidates,
    as_true_classes,
    describe_candidates,
    draw_classes,
    sample_candidates,
)

TARGET_COUNTS: dict[Any, Any] = {}  # counts of target classes so far, by op and seeds
ON_SET_SEED.append(TARGET_COUNTS.clear)


def check_num_sampled(op: str, num_sampled: int, unique: bool, size: int) -> None:
    """Raise unless `num_sampled` is positive and, if unique, at most `size`."""
    num_sampled = as_integer(num_sampled, "num_sampled")
    if num_sampled < 1 or (unique and num_sampled > size):
        raise InvalidArgumentError(
            f"{op}: Sampler's range is too small: num_sampled must lie in [1, classes]. Received "
            f"num_sampled={num_sampled} for {size} classes."
        )


@public
@call_on_host(describe_candidates, draws=True)
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
        true_classes: int64 tensor of shape (batch, num_true), the target classes.
        num_true: how many targets each example has.
        num_sampled: how many classes to draw.
        unique: whether all drawn classes must differ.
        range_max: number of classes in this shard.
        vocab_file: a file with one line per class; the part after the last comma is its frequency.
        distortion: the exponent applied to the frequencies.
        num_reserved_ids: how many classes are added in front; they are never drawn.
        num_shards: how many samplers share the classes.
        shard: which of the samplers this is. It has the classes c with c % num_shards == shard,
            renumbered from 0.
        unigrams: the frequencies, in place of `vocab_file`.
        seed: of this op; a later call with the same seed continues its stream.
        name: has no effect here.

    Returns:
        As `tf.random.uniform_candidate_sampler`.

    Raises:
        InvalidArgumentError: if `range_max` is not the number of classes, or there are too few.
    """
    op = "fixed_unigram_candidate_sampler"
    true = as_true_classes(op, true_classes, num_true)
    if bool(vocab_file) == bool(len(unigrams)):
        raise InvalidArgumentError(f"{op}: Must provide either vocab_file or unigrams, not both.")
    given = list(unigrams)
    if vocab_file:
        lines = Path(vocab_file).read_text(encoding="utf-8").splitlines()
        given = [float(line.rsplit(",", 1)[-1]) for line in lines if line]
    powers = (
        as_host_array(given, "unigrams").astype(np.float32).astype(float) ** distortion
    ).astype(np.float32)
    weights = np.concatenate([np.zeros(num_reserved_ids, np.float32), powers])[shard::num_shards]
    if len(weights) != range_max:
        raise InvalidArgumentError(
            f"{op}: range_max is {range_max}, but {len(weights)} classes were given."
        )
    check_num_sampled(
        op, num_sampled, unique, int(np.count_nonzero(weights)) if unique else range_max
    )
    likely, other = make_alias_table(weights.astype(float).tolist())

    def choose(words: Any) -> Any:
        pairs = words.view(np.uint32).reshape(-1, 2)
        at = pairs[:, 1] % np.uint32(len(weights))
        return np.where(unit32(pairs[:, 0]) < likely[at], at, other[at])

    total = np.add.accumulate(weights)[-1]  # sequentially in float32
    shares = np.append(weights / total, np.float32(0))  # classes out of range have probability 0

    def share(classes: Any) -> Any:
        in_range = (classes >= 0) & (classes < len(weights))
        return shares[np.where(in_range, classes, len(weights)).astype(np.int64)]

    key = op, num_true, num_sampled, unique, tuple(weights.tolist())
    return sample_candidates(
        true, draw_classes(key, seed, num_sampled, choose), num_sampled, unique, share
    )


def make_alias_table(weights: list[float]) -> tuple[Any, Any]:
    """Alias table (Walker, 1977): for each class its acceptance probability and its alias."""
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
    for i in (*low, *high):  # left over because of rounding
        likely[i] = 1.0
    return np.array(likely, np.float32), np.array(other)


@public
@call_on_host(describe_candidates, draws=True)
def learned_unigram_candidate_sampler(
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: Any = None,
    name: str | None = None,
) -> Candidates:
    """Classes drawn in proportion to their counts as targets in earlier calls with the same seed.

    Args:
        true_classes: int64 tensor of shape (batch, num_true), the target classes.
        num_true: how many targets each example has.
        num_sampled: how many classes to draw.
        unique: whether all drawn classes must differ.
        range_max: number of classes; each starts with a count of one.
        seed: of this op; a later call with the same seed continues its stream.
        name: has no effect here.

    Returns:
        As `tf.random.uniform_candidate_sampler`.
    """
    op = "learned_unigram_candidate_sampler"
    true = as_true_classes(op, true_classes, num_true)
    check_num_sampled(op, num_sampled, unique, range_max)
    if true.size and not (true.min() >= 0 and true.max() < range_max):
        raise InvalidArgumentError(
            f"{op}: true_classes must lie in [0, {range_max}). Received {true.ravel().tolist()}."
        )
    key = op, num_true, num_sampled, unique, range_max
    kept = SEEDS.seed is None or seed is not None
    which = (*key, SEEDS.seed, None if seed is None else int(seed))
    counts = TARGET_COUNTS.get(which) if kept else None
    if counts is None:
        counts = np.ones(range_max, np.int64)
    ends, total = np.cumsum(counts), np.uint32(counts.sum())

    def choose(words: Any) -> Any:
        return np.searchsorted(ends, words.view(np.uint32) % total, side="right")

    found = sample_candidates(
        true,
        draw_classes(key, seed, num_sampled, choose),
        num_sampled,
        unique,
        lambda classes: counts[classes.astype(np.int64)] / float(total),
    )
    if kept:
        TARGET_COUNTS[which] = counts + np.bincount(true.ravel(), minlength=range_max)
    return found
