"""Constructors of datasets: from tensors, generators, ranges, other datasets, file names."""

from __future__ import annotations

import contextlib
import glob
from builtins import range as builtin_range
from builtins import zip as builtin_zip
from collections.abc import Iterator
from itertools import count, repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, OpError, as_op_error, public
from gradtape.core.spec import TensorSpec
from gradtape.core.tensor import eager
from gradtape.pipeline.base import INFINITE, UNKNOWN, Base, always, made
from gradtape.pipeline.element.element import Steps, checked
from gradtape.pipeline.element.output_spec import common
from gradtape.pipeline.element.ragged import has_rows, rows_in, size_of, unbatched
from gradtape.pipeline.element.random_access import Numbers, Rows, Zipped
from gradtape.pipeline.element.structure import as_element, flatten, mapped, packed, spec_of
from gradtape.pipeline.transformation.random_choice import choices, directed, seeds_of, stream

if TYPE_CHECKING:
    from gradtape.pipeline.dataset import Dataset


def common_spec(datasets: list[Dataset], op: str) -> Any:
    """The most specific element spec that all datasets have in common.

    Raises:
        TypeError: if there is none.
    """
    specs = [d.element_spec for d in datasets]
    found = specs[0]
    for spec in specs[1:]:
        try:
            found = mapped(common, found, spec)
        except (ValueError, KeyError, TypeError, AttributeError):
            found = None
        if found is None or None in flatten(found):
            raise TypeError(f"{op}: Incompatible dataset elements: {specs[0]} vs. {spec}")
    return found


def logarithms(weights: Any) -> Any:
    """The logits of weights, with shape (1, n)."""
    with np.errstate(divide="ignore"):
        return np.log(weights).reshape(1, -1)


def of_rows(rows: Rows, spec: Any, size: int) -> Dataset:
    """Make a dataset of rows, in order."""
    numbers = builtin_range(size)
    dataset = made(lambda: map(rows.__getitem__, numbers), lambda: spec, size)
    dataset._rows = lambda: (rows, lambda: iter(numbers))
    dataset._quiet = always
    dataset._ragged = has_rows(spec)
    return dataset


class Sources(Base):
    """The constructors of a dataset."""

    @staticmethod
    @public
    def from_tensors(tensors: Any, name: str | None = None) -> Dataset:
        """A dataset of one element."""
        element = as_element(tensors)
        dataset = made(lambda: iter([element]), lambda: spec_of(element), 1)
        dataset._quiet = always
        return dataset._as("_TensorDataset")

    @staticmethod
    @public
    def from_tensor_slices(tensors: Any, name: str | None = None) -> Dataset:
        """A dataset of the slices along the first axis.

        Raises:
            ValueError: if a tensor has no axis, or their first axes differ.
        """
        element = as_element(tensors)
        leaves = [leaf for leaf in flatten(element) if leaf is not None]
        if not leaves:
            raise ValueError("Invalid `tensors`. `tensors` should not be empty.")
        sizes = [size_of(leaf) for leaf in leaves]
        for n in sizes:
            if n != sizes[0]:
                raise ValueError(f"Dimensions {sizes[0]} and {n} are not compatible")
        spec = mapped(lambda s: unbatched(s) if hasattr(s, "shape") else s, spec_of(element))
        return of_rows(rows_in(element), spec, sizes[0])._as("_TensorSliceDataset")

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
            shapes = output_shapes or mapped(lambda _: None, output_types)
            spec = mapped(lambda dtype, shape: TensorSpec(shape, dtype), output_types, shapes)
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
                return checked(spec, value)

            return Steps(step)

        dataset = made(elements, lambda: spec, UNKNOWN)
        dataset._ragged = has_rows(spec)
        return dataset._as("_FlatMapDataset")

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
        ends = [int(a) for a in args]
        if len(ends) == 3 and ends[2] == 0:
            raise InvalidArgumentError("range: step must be a non-zero integer. Received 0.")
        numbers = builtin_range(*ends)
        dataset = of_rows(Numbers(numbers, kind.as_numpy_dtype), TensorSpec((), kind), len(numbers))
        scalar = np.dtype(kind.as_numpy_dtype).type
        dataset._start = lambda: map(eager, map(scalar, numbers))
        return dataset._as("_RangeDataset")

    @staticmethod
    @public
    def counter(
        start: Any = 0, step: Any = 1, dtype: Any = dtypes.int64, name: str | None = None
    ) -> Dataset:
        """An infinite dataset of `start`, `start + step` and so on."""
        kind = dtypes.as_dtype(dtype)
        scalar = np.dtype(kind.as_numpy_dtype).type
        first, by = scalar(convert(start)), scalar(convert(step))
        return made(
            lambda: (eager(scalar(i)) for i in count(first.item(), by.item())),
            lambda: TensorSpec((), kind),
            INFINITE,
        )._as("_ScanDataset")

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
        seeds = seeds_of(seed, fixed=not rerandomize_each_iteration)

        def start() -> Iterator[Any]:
            return (eager(np.int64(word)) for word in stream(*seeds.next()))

        dataset = made(start, lambda: TensorSpec((), dtypes.int64), INFINITE)
        return dataset._as("_RandomDataset", seeds)

    @staticmethod
    @public
    def zip(*args: Any, datasets: Any = None, name: str | None = None) -> Dataset:
        """A dataset of structures of elements of each input dataset; ends with the shortest."""
        structure = datasets if datasets is not None else args[0] if len(args) == 1 else args
        parts = flatten(structure)
        for part in parts:
            if not isinstance(part, Base):
                raise TypeError(
                    "Invalid input to `zip`. Inputs are expected to be (nested) structures of "
                    f"`tf.data.Dataset` objects but encountered object of type {type(part)}."
                )

        def start() -> Iterator[Any]:
            tuples = abreast([part._start() for part in parts])
            if type(structure) is tuple and len(parts) == len(structure):
                return tuples
            return (packed(structure, iter(leaves)) for leaves in tuples)

        finite = [part._size for part in parts if part._size != INFINITE]
        size = INFINITE if not finite else 0 if 0 in finite else min(finite)
        spec = lambda: mapped(lambda part: part.element_spec, structure)  # noqa: E731 - as everywhere
        dataset = made(start, spec, size, before=parts)
        dataset._quiet = lambda: all(part._quiet() for part in parts)

        def rows() -> Any:
            found = [part._rows() for part in parts]
            if type(structure) is not tuple or len(parts) != len(structure) or None in found:
                return None
            zipped = Zipped([rows for rows, _ in found])
            return zipped, lambda: builtin_zip(*[begin() for _, begin in found], strict=False)

        dataset._rows = rows
        return dataset._as("_ZipDataset")

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
        if not isinstance(choice_dataset, Base):
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
        spec = common_spec(list(datasets), "choose_from_datasets")
        starts = [d._start for d in datasets]
        return made(
            lambda: directed(map(int, choice_dataset._start()), starts, stop_on_empty_dataset),
            lambda: spec,
            UNKNOWN,
            choice_dataset._options,
            [choice_dataset, *datasets],
        )._as("_DirectedInterleaveDataset")

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
        varying = isinstance(weights, Base)
        given = None if weights is None or varying else convert(weights)
        if given is not None and given.shape != (len(datasets),):
            raise ValueError(
                "Invalid `weights`. `weights` should have the same length as `datasets` but got "
                f"{list(given.shape)} vs. {len(datasets)}."
            )
        spec = common_spec(list(datasets), "sample_from_datasets")
        if len(datasets) == 1:
            only: Dataset = datasets[0]
            return only

        def logits() -> Iterator[Any]:
            if varying:
                return map(logarithms, (odds._array for odds in weights._start()))
            even = np.ones((1, len(datasets)), np.float32)
            return repeat(even if given is None else logarithms(given._array))

        seeds = seeds_of(seed, fixed=not rerandomize_each_iteration)
        starts = [d._start for d in datasets]
        return made(
            lambda: directed(choices(logits(), seeds.next()), starts, stop_on_empty_dataset),
            lambda: spec,
            UNKNOWN,
            before=[weights, *datasets] if varying else datasets,
        )._as("_DirectedInterleaveDataset", seeds)

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
        found = sorted({name for p in patterns for name in glob.glob(p.decode())})
        if not found:
            names = ", ".join(p.decode() for p in patterns)
            raise InvalidArgumentError(f"list_files: No files matched pattern: {names}")
        dataset = Sources.from_tensor_slices([name.encode() for name in found])
        is_shuffled = shuffle is None or bool(shuffle)
        return dataset.shuffle(len(found), seed=seed) if is_shuffled else dataset


def abreast(iterators: list[Iterator[Any]]) -> Iterator[Any]:
    """Yield tuples of one item of each iterator; after an error all advance together."""

    def step() -> Any:
        leaves: list[Any] = []
        try:
            for each in iterators:
                leaves.append(next(each))
        except StopIteration:
            raise
        except Exception:
            for other in iterators[len(leaves) + 1 :]:
                with contextlib.suppress(Exception):
                    next(other)
            raise
        return tuple(leaves)

    return Steps(step)
