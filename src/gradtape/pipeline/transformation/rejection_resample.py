"""Rejection resampling: drop elements at random to reach a target class distribution."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count, islice, repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from gradtape.core.convert import convert
from gradtape.core.errors import public
from gradtape.ops.random.philox import philox_block_words, unit32
from gradtape.pipeline.base import UNKNOWN, DatasetBase
from gradtape.pipeline.element_type import E
from gradtape.pipeline.transformation.random_choice import (
    draw_choices,
    make_seed_stream,
    start_and_interleave,
)
from gradtape.state.random.seed import DEFAULT_GLOBAL_SEED, MAX_SEED, SEEDS, make_key_and_counter

if TYPE_CHECKING:
    from gradtape.pipeline.dataset import Dataset

CLASS_GROUP_SIZE = 32  # number of elements whose classes are counted together
INITIAL_CLASS_COUNT = 10  # initial count of each class
BLOCKS_PER_UNIFORM = 256  # blocks of the random stream for one number
NUMBERS_PER_DRAW = 256  # numbers drawn in one batch


class ResampleMethods(DatasetBase[E]):
    """The method of a dataset that drops elements at random."""

    @public
    def rejection_resample(
        self,
        class_func: Any,
        target_dist: Any,
        initial_dist: Any = None,
        seed: Any = None,
        name: str | None = None,
    ) -> Dataset:
        """Pairs of a class and an element, resampled to a target class distribution.

        Args:
            class_func: function of an element that returns its class, a scalar integer.
            target_dist: target frequency of each class.
            initial_dist: actual frequency of each class; estimated during iteration if None.
            seed: determines the choices, together with `tf.random.set_seed`.
            name: ignored.

        Returns:
            A dataset of unknown length.

        Note:
            As in TensorFlow, several iterations over the dataset run at the same time. If you
            shuffle it, use `reshuffle_each_iteration=False`.
        """
        target, initial = check_distributions(target_dist, initial_dist)
        with_class = self.map(make_class_pairing(class_func))  # type: ignore[attr-defined]
        if initial is not None and np.min(target / initial) == 1:
            only: Dataset = with_class
            return only
        number = None if seed is None else int(convert(seed))
        classes = self.map(class_func)  # type: ignore[attr-defined]
        rejection = RejectionSampler(target, initial, classes, with_class, choose_op_seeds(number))
        dataset: Dataset = with_class._transform(lambda items: items, None, UNKNOWN)
        if initial is not None and np.min(target / initial) == 0:
            dataset._start = rejection.sample_pairs
            return dataset._label_as("_PrefetchDataset")
        seeds = make_seed_stream(number, fixed=True)
        dataset._start = lambda: start_and_interleave(
            draw_choices(rejection.iterate_logits(), seeds.next()),
            [with_class._start, rejection.sample_pairs],
            stop_on_empty=True,
        )
        return dataset._label_as("_DirectedInterleaveDataset", seeds)


class RejectionSampler:
    """Which elements are kept, and which are taken without asking."""

    def __init__(
        self, target: Any, initial: Any, classes: Any, pairs: Any, seeds: tuple[int, int]
    ) -> None:
        """Resample `pairs` of class and element from `initial`, or None, to `target`."""
        self.target, self.initial = target, initial
        self.classes, self.pairs, self.seeds = classes, pairs, seeds

    def iterate_frequencies(self) -> Iterator[Any]:
        """Yield the class frequencies, for each element."""
        if self.initial is not None:
            return repeat(self.initial)
        return estimate_frequencies(self.classes._start(), len(self.target))

    def sample_pairs(self) -> Iterator[Any]:
        """Yield the pairs that rejection sampling accepts."""
        uniform = draw_uniforms(*self.seeds)
        for share, pair in zip(self.iterate_frequencies(), self.pairs._start(), strict=False):
            accept, _ = acceptance_odds(share, self.target)
            if next(uniform) < accept[int(pair[0]._array)]:
                yield pair

    def iterate_logits(self) -> Iterator[Any]:
        """Yield the logits of taking an original element or an accepted one."""
        for share in self.iterate_frequencies():
            _, original = acceptance_odds(share, self.target)
            yield np.log(np.stack([original, 1 - original]))[None]


def check_distributions(target_dist: Any, initial_dist: Any) -> tuple[Any, Any]:
    """The target and initial distributions as raw arrays; the latter may be None."""
    target = convert(target_dist)._array
    initial = None if initial_dist is None else convert(initial_dist)._array
    if initial is not None and initial.shape != target.shape:
        raise ValueError(
            "rejection_resample: target_dist and initial_dist must have the same shape. Received "
            f"{target.shape} and {initial.shape}."
        )
    return target, initial


def make_class_pairing(class_func: Any) -> Any:
    """Make a function of an element that returns its class and the element."""

    def pair(*element: Any) -> Any:
        return class_func(*element), element if len(element) > 1 else element[0]

    return pair


def estimate_frequencies(classes: Iterator[Any], n: int) -> Iterator[Any]:
    """Yield the frequencies of `n` classes so far, updated once per group of elements."""
    seen = np.full(n, INITIAL_CLASS_COUNT, np.int64)
    while group := [int(c._array) for c in islice(classes, CLASS_GROUP_SIZE)]:
        seen = seen + np.bincount(group, minlength=n)
        yield from repeat((seen / seen.sum()).astype(np.float32), CLASS_GROUP_SIZE)


def acceptance_odds(share: Any, target: Any) -> tuple[Any, Any]:
    """Acceptance probability of each class, and probability of taking an original element."""
    ratio = target / (share + np.finfo(share.dtype).tiny)
    least, most = ratio.min(), ratio.max()
    with np.errstate(all="ignore"):
        return (ratio - least) / (most - least), least


def choose_op_seeds(seed: int | None) -> tuple[int, int]:
    """The seeds of a random op in its own graph."""
    if SEEDS.seed is None and seed is None:
        return SEEDS.seed_pair(None)
    outer = DEFAULT_GLOBAL_SEED if SEEDS.seed is None else SEEDS.seed % MAX_SEED
    inner = (seed or 0) % MAX_SEED
    return outer, MAX_SEED if (outer, inner) == (0, 0) else inner


def draw_uniforms(outer: int, inner: int) -> Iterator[Any]:
    """Yield the numbers that successive calls of `tf.random.uniform(())` draw."""
    steps = np.arange(NUMBERS_PER_DRAW, dtype=np.uint64) * np.uint64(BLOCKS_PER_UNIFORM)
    for start in count(0, NUMBERS_PER_DRAW * BLOCKS_PER_UNIFORM):
        yield from unit32(
            philox_block_words(*make_key_and_counter(outer, inner, start), steps)[:, 0]
        )
