"""Rejection resampling: drop elements at random to reach a target class distribution."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count, islice, repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from gradtape.core.convert import convert
from gradtape.core.errors import public
from gradtape.ops.random.philox import blocks, unit32
from gradtape.pipeline.base import UNKNOWN, Base
from gradtape.pipeline.transformation.random_choice import choices, directed, seeds_of
from gradtape.state.random.seed import LARGEST, SEEDS, UNSET, philox

if TYPE_CHECKING:
    from gradtape.pipeline.dataset import Dataset

GROUP = 32  # number of elements whose classes are counted together
SMOOTHING = 10  # initial count of each class
RESERVED = 256  # blocks of the random stream for one number
AT_ONCE = 256  # numbers drawn in one batch


class Resampling(Base):
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
        target, initial = distributions(target_dist, initial_dist)
        with_class = self.map(beside_class(class_func))  # type: ignore[attr-defined]
        if initial is not None and np.min(target / initial) == 1:
            only: Dataset = with_class
            return only
        number = None if seed is None else int(convert(seed))
        classes = self.map(class_func)  # type: ignore[attr-defined]
        rejection = Rejection(target, initial, classes, with_class, drawing_seeds(number))
        dataset: Dataset = with_class._with(lambda items: items, None, UNKNOWN)
        if initial is not None and np.min(target / initial) == 0:
            dataset._start = rejection.kept
            return dataset._as("_PrefetchDataset")
        seeds = seeds_of(number, fixed=True)
        dataset._start = lambda: directed(
            choices(rejection.logits(), seeds.next()),
            [with_class._start, rejection.kept],
            stop_on_empty=True,
        )
        return dataset._as("_DirectedInterleaveDataset", seeds)


class Rejection:
    """Which elements are kept, and which are taken without asking."""

    def __init__(
        self, target: Any, initial: Any, classes: Any, pairs: Any, seeds: tuple[int, int]
    ) -> None:
        """Resample `pairs` of class and element from `initial`, or None, to `target`."""
        self.target, self.initial = target, initial
        self.classes, self.pairs, self.seeds = classes, pairs, seeds

    def shares(self) -> Iterator[Any]:
        """Yield the class frequencies, for each element."""
        if self.initial is not None:
            return repeat(self.initial)
        return estimated(self.classes._start(), len(self.target))

    def kept(self) -> Iterator[Any]:
        """Yield the pairs that rejection sampling accepts."""
        uniform = uniforms(*self.seeds)
        for share, pair in zip(self.shares(), self.pairs._start(), strict=False):
            accept, _ = mixture(share, self.target)
            if next(uniform) < accept[int(pair[0]._array)]:
                yield pair

    def logits(self) -> Iterator[Any]:
        """Yield the logits of taking an original element or an accepted one."""
        for share in self.shares():
            _, original = mixture(share, self.target)
            yield np.log(np.stack([original, 1 - original]))[None]


def distributions(target_dist: Any, initial_dist: Any) -> tuple[Any, Any]:
    """The target and initial distributions as raw arrays; the latter may be None."""
    target = convert(target_dist)._array
    initial = None if initial_dist is None else convert(initial_dist)._array
    if initial is not None and initial.shape != target.shape:
        raise ValueError(
            "rejection_resample: target_dist and initial_dist must have the same shape. Received "
            f"{target.shape} and {initial.shape}."
        )
    return target, initial


def beside_class(class_func: Any) -> Any:
    """Make a function of an element that returns its class and the element."""

    def pair(*element: Any) -> Any:
        return class_func(*element), element if len(element) > 1 else element[0]

    return pair


def estimated(classes: Iterator[Any], n: int) -> Iterator[Any]:
    """Yield the frequencies of `n` classes so far, updated once per group of elements."""
    seen = np.full(n, SMOOTHING, np.int64)
    while group := [int(c._array) for c in islice(classes, GROUP)]:
        seen = seen + np.bincount(group, minlength=n)
        yield from repeat((seen / seen.sum()).astype(np.float32), GROUP)


def mixture(share: Any, target: Any) -> tuple[Any, Any]:
    """Acceptance probability of each class, and probability of taking an original element."""
    ratio = target / (share + np.finfo(share.dtype).tiny)
    least, most = ratio.min(), ratio.max()
    with np.errstate(all="ignore"):
        return (ratio - least) / (most - least), least


def drawing_seeds(seed: int | None) -> tuple[int, int]:
    """The seeds of a random op in its own graph."""
    if SEEDS.seed is None and seed is None:
        return SEEDS.pair(None)
    outer = UNSET if SEEDS.seed is None else SEEDS.seed % LARGEST
    inner = (seed or 0) % LARGEST
    return outer, LARGEST if (outer, inner) == (0, 0) else inner


def uniforms(outer: int, inner: int) -> Iterator[Any]:
    """Yield the numbers that successive calls of `tf.random.uniform(())` draw."""
    steps = np.arange(AT_ONCE, dtype=np.uint64) * np.uint64(RESERVED)
    for start in count(0, AT_ONCE * RESERVED):
        yield from unit32(blocks(*philox(outer, inner, start), steps)[:, 0])
