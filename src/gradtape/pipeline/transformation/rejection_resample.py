"""Rejection: elements dropped at random, so that classes come as often as they should."""

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

GROUP = 32  # classes that are counted together
SMOOTHING = 10  # elements of each class that count as seen before the first
RESERVED = 256  # blocks of the random stream that one number takes
AT_ONCE = 256  # numbers drawn together


class Resampling(Base):
    """The method that drops elements at random."""

    @public
    def rejection_resample(
        self,
        class_func: Any,
        target_dist: Any,
        initial_dist: Any = None,
        seed: Any = None,
        name: str | None = None,
    ) -> Dataset:
        """Pairs of a class and an element, classes being about as frequent as asked for.

        Args:
            class_func: function of an element that gives its class, a scalar integer.
            target_dist: how frequent each class shall be.
            initial_dist: how frequent they are; estimated on the way if None.
            seed: fixes the choice together with `tf.random.set_seed`.
            name: accepted for TensorFlow's sake.

        Returns:
            A dataset of unknown length.

        Note:
            As in TensorFlow the dataset is passed over several times side by side: shuffle it
            with `reshuffle_each_iteration=False` only.
        """
        target, initial = distributions(target_dist, initial_dist)
        with_class = self.map(beside_class(class_func))  # type: ignore[attr-defined]
        if initial is not None and np.min(target / initial) == 1:
            only: Dataset = with_class
            return only
        number = None if seed is None else int(convert(seed))
        classes = self.map(class_func)  # type: ignore[attr-defined]
        rejection = Rejection(target, initial, classes, with_class, drawing_seeds(number))
        made: Dataset = with_class._with(lambda items: items, None, UNKNOWN)
        if initial is not None and np.min(target / initial) == 0:
            made._start = rejection.kept
            return made._as("_PrefetchDataset")
        seeds = seeds_of(number, fixed=True)
        made._start = lambda: directed(
            choices(rejection.logits(), seeds.next()),
            [with_class._start, rejection.kept],
            stop_on_empty=True,
        )
        return made._as("_DirectedInterleaveDataset", seeds)


class Rejection:
    """Which elements are kept, and which are taken without asking."""

    def __init__(
        self, target: Any, initial: Any, classes: Any, pairs: Any, seeds: tuple[int, int]
    ) -> None:
        """Bring elements with their classes (`pairs`) from `initial`, or unknown, to `target`."""
        self.target, self.initial = target, initial
        self.classes, self.pairs, self.seeds = classes, pairs, seeds

    def shares(self) -> Iterator[Any]:
        """How frequent classes are, for each element."""
        if self.initial is not None:
            return repeat(self.initial)
        return estimated(self.classes._start(), len(self.target))

    def kept(self) -> Iterator[Any]:
        """The elements that chance has not dropped."""
        uniform = uniforms(*self.seeds)
        for share, pair in zip(self.shares(), self.pairs._start(), strict=False):
            accept, _ = mixture(share, self.target)
            if next(uniform) < accept[int(pair[0]._array)]:
                yield pair

    def logits(self) -> Iterator[Any]:
        """With which odds an element is taken without asking, or is one of those kept."""
        for share in self.shares():
            _, original = mixture(share, self.target)
            yield np.log(np.stack([original, 1 - original]))[None]


def distributions(target_dist: Any, initial_dist: Any) -> tuple[Any, Any]:
    """How frequent classes shall be and are (or None), raw."""
    target = convert(target_dist)._array
    initial = None if initial_dist is None else convert(initial_dist)._array
    if initial is not None and initial.shape != target.shape:
        raise ValueError(
            "rejection_resample: target_dist and initial_dist must have one shape. Received "
            f"{target.shape} and {initial.shape}."
        )
    return target, initial


def beside_class(class_func: Any) -> Any:
    """A function of an element that gives its class, then the element."""

    def pair(*element: Any) -> Any:
        return class_func(*element), element if len(element) > 1 else element[0]

    return pair


def estimated(classes: Iterator[Any], n: int) -> Iterator[Any]:
    """How frequent each of `n` classes has been so far, counted group by group."""
    seen = np.full(n, SMOOTHING, np.int64)
    while group := [int(c._array) for c in islice(classes, GROUP)]:
        seen = seen + np.bincount(group, minlength=n)
        yield from repeat((seen / seen.sum()).astype(np.float32), GROUP)


def mixture(share: Any, target: Any) -> tuple[Any, Any]:
    """With which odds to keep an element of each class, and to take one without asking."""
    ratio = target / (share + np.finfo(share.dtype).tiny)
    least, most = ratio.min(), ratio.max()
    with np.errstate(all="ignore"):
        return (ratio - least) / (most - least), least


def drawing_seeds(seed: int | None) -> tuple[int, int]:
    """The seeds of the random op in a graph of its own."""
    if SEEDS.seed is None and seed is None:
        return SEEDS.pair(None)
    outer = UNSET if SEEDS.seed is None else SEEDS.seed % LARGEST
    inner = (seed or 0) % LARGEST
    return outer, LARGEST if (outer, inner) == (0, 0) else inner


def uniforms(outer: int, inner: int) -> Iterator[Any]:
    """What `tf.random.uniform(())` draws, call after call."""
    steps = np.arange(AT_ONCE, dtype=np.uint64) * np.uint64(RESERVED)
    for start in count(0, AT_ONCE * RESERVED):
        yield from unit32(blocks(*philox(outer, inner, start), steps)[:, 0])
