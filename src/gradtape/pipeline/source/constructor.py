"""Constructors of datasets: from tensors, generators, ranges, other datasets, file names."""

from __future__ import annotations

import contextlib
import glob
import os
from builtins import range as builtin_range
from builtins import zip as builtin_zip
from collections.abc import Iterator
from itertools import count, repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.argument import as_index, describe
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, OpError, as_op_error, public
from gradtape.core.interruption import is_from_signal_handler
from gradtape.core.spec import TensorSpec
from gradtape.core.tensor import make_tensor
from gradtape.pipeline.base import INFINITE, UNKNOWN, DatasetBase, is_always_pure, make_dataset
from gradtape.pipeline.element.element import StepIterator, as_generator_element
from gradtape.pipeline.element.output_spec import common
from gradtape.pipeline.element.ragged import (
    first_axis_size,
    has_ragged_rows,
    make_rows,
    unbatch_spec,
)
from gradtape.pipeline.element.random_access import RangeRows, Rows, ZippedRows
from gradtape.pipeline.element.structure import (
    as_element,
    detach_tensor,
    element_spec_of,
    flatten_element,
    map_element,
    pack_element,
)
from gradtape.pipeline.transformation.random_choice import (
    draw_choices,
    make_seed_stream,
    random_words,
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
            found = map_element(common, found, spec)
        except (ValueError, KeyError, TypeError, AttributeError):
            found = None
        if found is None or None in flatten_element(found):
            raise TypeError(f"{op}: Incompatible dataset elements: {specs[0]} vs. {spec}")
    return found


def as_log_weights(weights: Any) -> Any:
    """The logits of weights, with shape (1, n)."""
    with np.errstate(divide="ignore"):
        return np.log(weights).reshape(1, -1)


def make_rows_dataset(rows: Rows, spec: Any, size: int) -> Dataset:
    """Make a dataset of rows, in order."""
    numbers = builtin_range(size)
    dataset = make_dataset(lambda: map(rows.__getitem__, numbers), lambda: spec, size)
    dataset._find_rows = lambda: (rows, lambda: iter(numbers))
    dataset._is_pure = is_always_pure
    dataset._has_ragged_rows = has_ragged_rows(spec)
    return dataset


class SourceMethods(DatasetBase):
    """The constructors of a dataset."""

    @staticmethod
    @public
    def from_tensors(tensors: Any, name: str | None = None) -> Dataset:
        """A dataset of one element."""
        element = as_element(tensors)
        dataset = make_dataset(
            lambda: iter([map_element(detach_tensor, element)]), lambda: element_spec_of(element), 1
        )
        dataset._is_pure = is_always_pure
        return dataset._label_as("_TensorDataset")

    @staticmethod
    @public
    def from_tensor_slices(tensors: Any, name: str | None = None) -> Dataset:
        """A dataset of the slices along the first axis.

        Raises:
            ValueError: if a tensor has no axis, or their first axes differ.
        """
        element = as_element(tensors)
        leaves = [leaf for leaf in flatten_element(element) if leaf is not None]
        if not leaves:
            raise ValueError("Invalid `tensors`. `tensors` should not be empty.")
        sizes = [first_axis_size(leaf) for leaf in leaves]
        for n in sizes:
            if n != sizes[0]:
                raise ValueError(f"Dimensions {sizes[0]} and {n} are not compatible")
        spec = map_element(
            lambda s: unbatch_spec(s) if hasattr(s, "shape") else s, element_spec_of(element)
        )
        return make_rows_dataset(make_rows(element), spec, sizes[0])._label_as(
            "_TensorSliceDataset"
        )

    @staticmethod
    @public
    def from_generator(
        generator: Any,
        output_types: Any = None,
        output_shapes: Any = None,
        args: Any = None,
        output_signature: Any = None,
        name: str | None = None,
    ) -> Dataset:
        """A dataset of the values that a Python generator yields.

        Args:
            generator: callable that returns an iterable; called once for each iteration.
            output_types: dtypes of the elements; prefer `output_signature`.
            output_shapes: shapes of the elements; prefer `output_signature`.
            args: tensors, passed to `generator` as NumPy arrays.
            output_signature: structure of specs of the elements.
            name: ignored.

        Returns:
            A dataset of unknown length.
        """
        if not callable(generator):
            raise TypeError("`generator` must be a Python callable.")
        if output_signature is None:
            if output_types is None:
                raise TypeError("from_generator: pass output_signature or output_types.")
            shapes = output_shapes or map_element(lambda _: None, output_types)
            spec = map_element(lambda dtype, shape: TensorSpec(shape, dtype), output_types, shapes)
        else:
            spec = output_signature
        given = [convert(a).numpy() for a in args or ()]

        def elements() -> Iterator[Any]:
            values = iter(generator(*given))

            def step() -> Any:
                try:
                    value = next(values)
                except StopIteration:
                    raise
                except OpError:
                    raise
                except Exception as error:
                    raise as_op_error("from_generator", error) from error
                return as_generator_element(spec, value)

            return StepIterator(step)

        dataset = make_dataset(elements, lambda: spec, UNKNOWN)
        dataset._has_ragged_rows = has_ragged_rows(spec)
        return dataset._label_as("_FlatMapDataset")

    @staticmethod
    @public
    def range(*args: Any, **kwargs: Any) -> Dataset:
        """A dataset of integers: `range(stop)`, `range(start, stop)` or `range(start, stop, step)`.

        Args:
            *args: like the arguments of Python's `range`.
            **kwargs: `output_type`, by default int64, and `name`.

        Returns:
            A dataset of scalars.
        """
        if not 1 <= len(args) <= 3:
            raise ValueError(
                "Invalid `args`. The length of `args` should be between 1 and 3 "
                f"but was {len(args)}."
            )
        kind = dtypes.as_dtype(kwargs.get("output_type", dtypes.int64))
        ends = [as_index(a, "range: each argument") for a in args]
        if len(ends) == 3 and ends[2] == 0:
            raise InvalidArgumentError("range: step must be a non-zero integer. Received 0.")
        numbers = builtin_range(*ends)
        dataset = make_rows_dataset(
            RangeRows(numbers, kind.as_numpy_dtype), TensorSpec((), kind), len(numbers)
        )
        scalar = np.dtype(kind.as_numpy_dtype).type
        dataset._start = lambda: map(make_tensor, map(scalar, numbers))
        return dataset._label_as("_RangeDataset")

    @staticmethod
    @public
    def counter(
        start: Any = 0, step: Any = 1, dtype: Any = dtypes.int64, name: str | None = None
    ) -> Dataset:
        """An infinite dataset of `start`, `start + step` and so on."""
        kind = dtypes.as_dtype(dtype)
        scalar = np.dtype(kind.as_numpy_dtype).type
        first, by = (convert(value, kind)._array for value in (start, step))
        if first.shape or by.shape:
            raise ValueError(
                f"counter: start and step must be scalars. Received shapes {list(first.shape)} "
                f"and {list(by.shape)}."
            )
        return make_dataset(
            lambda: (make_tensor(scalar(i)) for i in count(first.item(), by.item())),
            lambda: TensorSpec((), kind),
            INFINITE,
        )._label_as("_ScanDataset")

    @staticmethod
    @public
    def random(
        seed: Any = None, rerandomize_each_iteration: Any = None, name: str | None = None
    ) -> Dataset:
        """An infinite dataset of random integers in [0, 2**32).

        Args:
            seed: determines the numbers, together with `tf.random.set_seed`.
            rerandomize_each_iteration: whether each iteration draws new numbers.
            name: ignored.

        Returns:
            A dataset of int64 scalars.
        """
        seeds = make_seed_stream(seed, fixed=not rerandomize_each_iteration)

        def start() -> Iterator[Any]:
            return (make_tensor(np.int64(word)) for word in random_words(*seeds.next()))

        dataset = make_dataset(start, lambda: TensorSpec((), dtypes.int64), INFINITE)
        return dataset._label_as("_RandomDataset", seeds)

    @staticmethod
    @public
    def zip(*args: Any, datasets: Any = None, name: str | None = None) -> Dataset:
        """A dataset of structures of elements of each input dataset; ends with the shortest."""
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

    @staticmethod
    @public
    def list_files(
        file_pattern: Any, shuffle: Any = None, seed: Any = None, name: str | None = None
    ) -> Dataset:
        """A dataset of the names of files that match a pattern.

        Args:
            file_pattern: a pattern with `*`, `?` and `[…]`, or a list of them.
            shuffle: whether to use a new random order in each iteration; True if None.
            seed: determines the order, together with `tf.random.set_seed`.
            name: ignored.

        Returns:
            A dataset of strings.

        Raises:
            InvalidArgumentError: if no file matches.
        """
        patterns = np.ravel(convert(file_pattern)._array).tolist()
        found = sorted({name for p in patterns for name in glob.glob(os.fsdecode(p))})
        if not found:
            names = ", ".join(p.decode("utf-8", "backslashreplace") for p in patterns)
            raise InvalidArgumentError(f"list_files: No files matched pattern: {names}")
        dataset = SourceMethods.from_tensor_slices([os.fsencode(name) for name in found])
        is_shuffled = shuffle is None or bool(shuffle)
        return dataset.shuffle(len(found), seed=seed) if is_shuffled else dataset


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
