"""Samplers of candidate classes, for losses that use a sample of a large number of classes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from gradtape.core import dtypes
from gradtape.core.argument import as_integer
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.primitive import Spec
from gradtape.core.shape_rule import FLOAT32, INT64
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.graph.host_function import call_on_host, shape_of_argument
from gradtape.ops.random.philox import draw_long_words, unit64
from gradtape.state.random.seed import SEEDS

BLOCKS_PER_CANDIDATE = 512  # random blocks reserved for each candidate
WORDS_PER_DRAW = 256  # random words drawn at a time


class Candidates(NamedTuple):
    """Sampled classes, and the expected counts of the target classes and of themselves."""

    sampled_candidates: Tensor
    true_expected_count: Tensor
    sampled_expected_count: Tensor


def as_true_classes(op: str, true_classes: Any, num_true: int) -> Any:
    """Convert the target classes to an array of shape (batch, num_true)."""
    classes = convert(true_classes, dtypes.int64 if isinstance(true_classes, list) else None)
    array = classes._array
    if np.ndim(array) != 2 or array.shape[1] != num_true:
        raise InvalidArgumentError(
            f"{op}: true_classes must have num_true columns, expected {num_true}. "
            f"Received shape {list(np.shape(array))}."
        )
    return array


def draw_classes(op: Any, seed: Any, sampled: int, choose: Callable[[Any], Any]) -> Iterator[int]:
    """Draw classes without end; `choose` maps random 64-bit words to classes.

    `op` is the name of the op and all its arguments except the classes. Ops with an equal `op`
    share one stream.
    """
    own = None if seed is None else int(seed)
    key, counter = SEEDS.draw_stream(op, own, BLOCKS_PER_CANDIDATE * sampled)
    low, high = counter.tolist()
    for block in count(0, WORDS_PER_DRAW // 2):
        at = (high << 64) + low + block
        words = draw_long_words(key, np.array([at % 2**64, at >> 64], np.uint64), WORDS_PER_DRAW)
        yield from choose(words).tolist()


def sample_candidates(
    true: Any, classes: Iterator[int], number: int, unique: bool, share: Any
) -> Candidates:
    """Take `number` candidates from `classes` and compute the expected counts.

    `share` maps classes to their probabilities.
    """
    found: list[int] = []
    seen: set[int] = set()
    tries = 0
    while len(found) < number:
        candidate = next(classes)
        tries += 1
        if not unique or candidate not in seen:
            seen.add(candidate)
            found.append(candidate)

    def expected_counts(numbers: Any) -> Any:
        p = share(np.asarray(numbers, np.float64)).astype(np.float32)
        if tries == number:
            return make_tensor(p * np.float32(number))
        # Duplicates were rejected. TensorFlow computes in float32.
        return make_tensor(-np.expm1(np.float32(tries) * np.log1p(-p)))

    chosen = np.array(found, np.int64)
    return Candidates(make_tensor(chosen), expected_counts(true), expected_counts(chosen))


def check_range_max(op: str, num_sampled: int, unique: bool, range_max: int) -> None:
    """Raise if `num_sampled` unique classes exceed `range_max`."""
    num_sampled = as_integer(num_sampled, "num_sampled")
    range_max = as_integer(range_max, "range_max")
    if unique and num_sampled > range_max:
        raise InvalidArgumentError(
            f"{op}: Sampler's range is too small: num_sampled must be at most range_max if unique. "
            f"Received {num_sampled} and {range_max}."
        )


def describe_candidates(
    true_classes: Any, num_true: int, num_sampled: int, *_: Any, **__: Any
) -> Candidates:
    """Result rule of the samplers."""
    count = as_integer(num_sampled, "num_sampled")
    true = Spec((shape_of_argument(true_classes), FLOAT32))
    return Candidates(Spec(((count,), INT64)), true, Spec(((count,), FLOAT32)))  # type: ignore[arg-type]


@public
@call_on_host(describe_candidates, draws=True)
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
        unique: whether all drawn classes must differ.
        range_max: number of classes.
        seed: of this op; a later call with the same seed continues its stream.
        name: has no effect here.

    Returns:
        Named tuple of the candidates, and the expected counts of targets and candidates.
    """
    op = "uniform_candidate_sampler"
    true = as_true_classes(op, true_classes, num_true)
    check_range_max(op, num_sampled, unique, range_max)
    size = np.uint64(range_max)
    key = op, num_true, num_sampled, unique, range_max
    classes = draw_classes(key, seed, num_sampled, lambda words: words % size)
    return sample_candidates(
        true, classes, num_sampled, unique, lambda c: np.full(np.shape(c), 1 / range_max)
    )


@public
@call_on_host(describe_candidates, draws=True)
def log_uniform_candidate_sampler(
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: Any = None,
    name: str | None = None,
) -> Candidates:
    """Classes drawn from [0, range_max) with log-uniform (Zipfian) probabilities.

    Args:
        true_classes: int64 tensor of shape (batch, num_true), the target classes.
        num_true: how many targets each example has.
        num_sampled: how many classes to draw.
        unique: whether all drawn classes must differ.
        range_max: number of classes.
        seed: of this op; a later call with the same seed continues its stream.
        name: has no effect here.

    Returns:
        Named tuple of the candidates, and the expected counts of targets and candidates.
    """
    op = "log_uniform_candidate_sampler"
    true = as_true_classes(op, true_classes, num_true)
    check_range_max(op, num_sampled, unique, range_max)
    whole = np.log(range_max + 1.0)

    def choose(words: Any) -> Any:
        return (np.exp(unit64(words) * whole).astype(np.int64) - 1) % range_max

    key = op, num_true, num_sampled, unique, range_max
    classes = draw_classes(key, seed, num_sampled, choose)
    return sample_candidates(
        true, classes, num_sampled, unique, lambda c: np.log((c + 2) / (c + 1)) / whole
    )


@public
@call_on_host(describe_candidates)
def all_candidate_sampler(
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    seed: Any = None,
    name: str | None = None,
) -> Candidates:
    """All `num_sampled` classes, in order; for testing.

    Args:
        true_classes: int64 tensor of shape (batch, num_true), the target classes.
        num_true: how many targets each example has.
        num_sampled: number of classes.
        unique: has no effect here.
        seed: has no effect here.
        name: has no effect here.

    Returns:
        Named tuple of the candidates, and the expected counts of targets and candidates.
    """
    true = as_true_classes("all_candidate_sampler", true_classes, num_true)
    return Candidates(
        make_tensor(np.arange(num_sampled)),
        make_tensor(np.ones(true.shape, np.float32)),
        make_tensor(np.ones(num_sampled, np.float32)),
    )
