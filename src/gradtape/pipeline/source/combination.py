"""Datasets made of other datasets: zip, and choices among them."""

from __future__ import annotations

import contextlib
from builtins import zip as builtin_zip
from collections.abc import Iterator
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.argument import describe
from gradtape.core.convert import convert
from gradtape.core.errors import public
from gradtape.core.interruption import is_from_signal_handler
from gradtape.core.spec import TensorSpec
from gradtape.pipeline.base import INFINITE, UNKNOWN, DatasetBase, make_dataset
from gradtape.pipeline.element.element import StepIterator
from gradtape.pipeline.element.output_spec import join_specs
from gradtape.pipeline.element.random_access import ZippedRows
from gradtape.pipeline.element.structure import flatten_element, map_element, pack_element
from gradtape.pipeline.element_type import E
from gradtape.pipeline.transformation.random_choice import (
    draw_choices,
    make_seed_stream,
    start_and_interleave,
)

if TYPE_CHECKING:
    from gradtape.pipeline.dataset import Dataset


def find_common_spec(datasets: list[Dataset], op: str) -> Any:
    """The most specific element spec that all datasets have in common.

    Raises:
        TypeError: if there is none.
    """
    for dataset in datasets:
        if not hasattr(dataset, "element_spec"):
            raise TypeError(f"{op}: a Dataset is expected. Received {describe(dataset)}.")
    specs = [d.element_spec for d in datasets]
    found = specs[0]
    for spec in specs[1:]:
        try:
            found = join_specs(found, spec)
        except (ValueError, KeyError, TypeError, AttributeError):
            found = None
        if found is None or None in flatten_element(found):
            raise TypeError(f"{op}: Incompatible dataset elements: {specs[0]} vs. {spec}")
    return found


def as_log_weights(weights: Any) -> Any:
    """The logits of weights, with shape (1, n)."""
    with np.errstate(divide="ignore"):
        return np.log(weights).reshape(1, -1)


class CombinationMethods(DatasetBase[E]):
    """The constructors of a dataset that is made of others."""

    @staticmethod
    @public
    def zip(*args: Any, datasets: Any = None, name: str | None = None) -> Dataset:
        """A dataset of structures of elements of each input dataset; ends with the shortest.

        Args:
            datasets: a structure of datasets, instead of `args`.
            name: has no effect here.
            *args: datasets, or one structure of datasets.

        Returns:
            A Dataset.

        Example:
            >>> a, b = tf.data.Dataset.range(3), tf.data.Dataset.range(5, 8)
            >>> [(int(x), int(y)) for x, y in tf.data.Dataset.zip((a, b))]
            [(0, 5), (1, 6), (2, 7)]
        """
        structure = datasets if datasets is not None else args[0] if len(args) == 1 else args
        parts = flatten_element(structure)
        for part in parts:
            if not isinstance(part, DatasetBase):
                raise TypeError(
                    "Invalid input to `zip`. Inputs are expected to be (nested) structures of "
                    f"`tf.data.Dataset` objects but encountered object of type {type(part)}."
                )

        def start() -> Iterator[Any]:
            tuples = zip_iterators([part._start() for part in parts])
            if type(structure) is tuple and len(parts) == len(structure):
                return tuples
            return (pack_element(structure, iter(leaves)) for leaves in tuples)

        finite = [part._size for part in parts if part._size != INFINITE]
        size = INFINITE if not finite else 0 if 0 in finite else min(finite)
        spec = lambda: map_element(lambda part: part.element_spec, structure)  # noqa: E731 - as everywhere
        dataset = make_dataset(start, spec, size, before=parts)
        dataset._is_pure = lambda: all(part._is_pure() for part in parts)

        def rows() -> Any:
            found = [part._find_rows() for part in parts]
            if type(structure) is not tuple or len(parts) != len(structure) or None in found:
                return None
            zipped = ZippedRows([rows for rows, _ in found])
            return zipped, lambda: builtin_zip(*[begin() for _, begin in found], strict=False)

        dataset._find_rows = rows
        return dataset._label_as("_ZipDataset")

    @staticmethod
    @public
    def choose_from_datasets(
        datasets: Any, choice_dataset: Dataset, stop_on_empty_dataset: bool = True
    ) -> Dataset:
        """Elements of `datasets`; `choice_dataset` selects the dataset of each element.

        Args:
            datasets: list of datasets with compatible elements.
            choice_dataset: dataset of int64 scalars.
            stop_on_empty_dataset: whether to stop when a chosen dataset has ended; otherwise it is
                skipped.

        Returns:
            A dataset.
        """
        if not datasets:
            raise ValueError("Invalid `datasets`. `datasets` should not be empty.")
        if not isinstance(choice_dataset, DatasetBase):
            raise TypeError(
                "Invalid `choice_dataset`. `choice_dataset` should be a `tf.data.Dataset` but is "
                f"{type(choice_dataset)}."
            )
        choice = choice_dataset.element_spec
        if choice != TensorSpec((), dtypes.int64):
            raise TypeError(
                "Invalid `choice_dataset`. Elements of `choice_dataset` must be scalar "
                f"`tf.int64` tensors but are {choice}."
            )
        spec = find_common_spec(list(datasets), "choose_from_datasets")
        starts = [d._start for d in datasets]
        return make_dataset(
            lambda: start_and_interleave(
                map(int, choice_dataset._start()), starts, stop_on_empty_dataset
            ),
            lambda: spec,
            UNKNOWN,
            choice_dataset._options,
            [choice_dataset, *datasets],
        )._label_as("_DirectedInterleaveDataset")

    @staticmethod
    @public
    def sample_from_datasets(
        datasets: Any,
        weights: Any = None,
        seed: Any = None,
        stop_on_empty_dataset: bool = False,
        rerandomize_each_iteration: Any = None,
    ) -> Dataset:
        """Elements of `datasets`, each from a dataset chosen at random, as in TensorFlow.

        Args:
            datasets: list of datasets with compatible elements.
            weights: probability of each dataset; equal if None. A dataset of weights provides new
                weights for each choice.
            seed: determines the choices, together with `tf.random.set_seed`.
            stop_on_empty_dataset: whether to stop when a chosen dataset has ended; otherwise it is
                skipped.
            rerandomize_each_iteration: whether each iteration makes new choices.

        Returns:
            A dataset.
        """
        if not datasets:
            raise ValueError("Invalid `datasets`. `datasets` should not be empty.")
        varying = isinstance(weights, DatasetBase)
        given = None if weights is None or varying else convert(weights)
        if given is not None and given.shape != (len(datasets),):
            raise ValueError(
                "Invalid `weights`. `weights` should have the same length as `datasets` but got "
                f"{list(given.shape)} vs. {len(datasets)}."
            )
        spec = find_common_spec(list(datasets), "sample_from_datasets")
        if len(datasets) == 1:
            only: Dataset = datasets[0]
            return only

        def logits() -> Iterator[Any]:
            if varying:
                return map(as_log_weights, (odds._array for odds in weights._start()))
            even = np.ones((1, len(datasets)), np.float32)
            return repeat(even if given is None else as_log_weights(given._array))

        seeds = make_seed_stream(seed, fixed=not rerandomize_each_iteration)
        starts = [d._start for d in datasets]
        return make_dataset(
            lambda: start_and_interleave(
                draw_choices(logits(), seeds.next()), starts, stop_on_empty_dataset
            ),
            lambda: spec,
            UNKNOWN,
            before=[weights, *datasets] if varying else datasets,
        )._label_as("_DirectedInterleaveDataset", seeds)


def zip_iterators(iterators: list[Iterator[Any]]) -> Iterator[Any]:
    """Yield tuples of one item of each iterator; after an error all advance together."""

    def step() -> Any:
        leaves: list[Any] = []
        try:
            for each in iterators:
                leaves.append(next(each))
        except StopIteration:
            raise
        except Exception as error:
            if is_from_signal_handler(error):
                raise
            for other in iterators[len(leaves) + 1 :]:
                with contextlib.suppress(Exception):
                    next(other)
            raise
        return tuple(leaves)

    return StepIterator(step)
