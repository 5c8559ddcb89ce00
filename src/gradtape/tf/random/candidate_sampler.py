"""Samplers of candidate classes, for losses that look at a few of very many classes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from gradtape.core import dtypes
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.tensor import Tensor, eager
from gradtape.graph.side_effect import on_host
from gradtape.ops.random.philox import long_words, unit64
from gradtape.state.random.seed import SEEDS

RESERVED = 512  # blocks set aside for each candidate
AT_ONCE = 256


class Candidates(NamedTuple):
    """Classes, and how often targets and they themselves are to be expected among them."""

    sampled_candidates: Tensor
    true_expected_count: Tensor
    sampled_expected_count: Tensor


def true_of(op: str, true_classes: Any, num_true: int) -> Any:
    """The target classes, as an array of shape (batch, num_true)."""
    classes = convert(true_classes, dtypes.int64 if isinstance(true_classes, list) else None)
    array = classes._array
    if np.ndim(array) != 2 or array.shape[1] != num_true:
        raise InvalidArgumentError(
            f"{op}: true_classes must have num_true columns, expected {num_true}. "
            f"Received shape {list(np.shape(array))}."
        )
    return array


def draws(op: Any, seed: Any, sampled: int, choose: Callable[[Any], Any]) -> Iterator[int]:
    """Classes that `choose` makes of words of 64 bits, without end.

    Ops that are alike in `op`, which is the name and all arguments but the classes, have a stream
    in common.
    """
    own = None if seed is None else int(seed)
    key, counter = SEEDS.stream(op, own, RESERVED * sampled)
    low, high = counter.tolist()
    for block in count(0, AT_ONCE // 2):
        at = (high << 64) + low + block
        words = long_words(key, np.array([at % 2**64, at >> 64], np.uint64), AT_ONCE)
        yield from choose(words).tolist()


def sampled(true: Any, classes: Iterator[int], number: int, unique: bool, share: Any) -> Candidates:
    """Candidates, and how often true classes and candidates are to be expected among them."""
    found: list[int] = []
    seen: set[int] = set()
    tries = 0
    while len(found) < number:
        candidate = next(classes)
        tries += 1
        if not unique or candidate not in seen:
            seen.add(candidate)
            found.append(candidate)

    def expected(numbers: Any) -> Any:
        p = share(np.asarray(numbers, np.float64)).astype(np.float32)
        if tries == number:
            return eager(p * np.float32(number))
        # some class was drawn twice, and once left out; TensorFlow computes in float32
        return eager(-np.expm1(np.float32(tries) * np.log1p(-p)))

    chosen = np.array(found, np.int64)
    return Candidates(eager(chosen), expected(true), expected(chosen))


def in_range(op: str, num_sampled: int, unique: bool, range_max: int) -> None:
    """Check that there are enough classes."""
    if unique and num_sampled > range_max:
        raise InvalidArgumentError(
            f"{op}: Sampler's range is too small: {num_sampled} different classes of {range_max}."
        )


@public
@partial(on_host, draws=True)
def uniform_candidate_sampler(
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: Any = None,
    name: str | None = None,
) -> Candidates:
    """Classes drawn uniformly from [0, range_max).

    Args:
        true_classes: int64 tensor of shape (batch, num_true), the target classes.
        num_true: how many targets each example has.
        num_sampled: how many classes to draw.
        unique: whether all of them must differ.
        range_max: number of classes.
        seed: of this op; with the same one the next call goes on in the same stream.
        name: accepted for TensorFlow's sake.

    Returns:
        Named tuple of the candidates, and the expected counts of targets and candidates.
    """
    op = "uniform_candidate_sampler"
    true = true_of(op, true_classes, num_true)
    in_range(op, num_sampled, unique, range_max)
    size = np.uint64(range_max)
    alike = op, num_true, num_sampled, unique, range_max
    classes = draws(alike, seed, num_sampled, lambda words: words % size)
    return sampled(
        true, classes, num_sampled, unique, lambda c: np.full(np.shape(c), 1 / range_max)
    )


@public
@partial(on_host, draws=True)
def log_uniform_candidate_sampler(
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: Any = None,
    name: str | None = None,
) -> Candidates:
    """Classes drawn from [0, range_max), low ones more often: about as words in texts.

    Args:
        true_classes: int64 tensor of shape (batch, num_true), the target classes.
        num_true: how many targets each example has.
        num_sampled: how many classes to draw.
        unique: whether all of them must differ.
        range_max: number of classes.
        seed: of this op; with the same one the next call goes on in the same stream.
        name: accepted for TensorFlow's sake.

    Returns:
        Named tuple of the candidates, and the expected counts of targets and candidates.
    """
    op = "log_uniform_candidate_sampler"
    true = true_of(op, true_classes, num_true)
    in_range(op, num_sampled, unique, range_max)
    whole = np.log(range_max + 1.0)

    def choose(words: Any) -> Any:
        return (np.exp(unit64(words) * whole).astype(np.int64) - 1) % range_max

    alike = op, num_true, num_sampled, unique, range_max
    classes = draws(alike, seed, num_sampled, choose)
    return sampled(true, classes, num_sampled, unique, lambda c: np.log((c + 2) / (c + 1)) / whole)


@public
@on_host
def all_candidate_sampler(
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    seed: Any = None,
    name: str | None = None,
) -> Candidates:
    """All `num_sampled` classes, in order: for testing.

    Args:
        true_classes: int64 tensor of shape (batch, num_true), the target classes.
        num_true: how many targets each example has.
        num_sampled: number of classes.
        unique: accepted for TensorFlow's sake.
        seed: accepted for TensorFlow's sake.
        name: accepted for TensorFlow's sake.

    Returns:
        Named tuple of the candidates, and the expected counts of targets and candidates.
    """
    true = true_of("all_candidate_sampler", true_classes, num_true)
    return Candidates(
        eager(np.arange(num_sampled)),
        eager(np.ones(true.shape, np.float32)),
        eager(np.ones(num_sampled, np.float32)),
    )
