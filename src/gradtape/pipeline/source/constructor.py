"""Constructors of datasets: from tensors, generators, ranges, other datasets, file names."""

from __future__ import annotations

import os
from builtins import range as builtin_range
from collections.abc import Iterator, Mapping
from itertools import count
from typing import TYPE_CHECKING, Any, TypeVar, overload

import numpy as np

from gradtape.core import dtypes
from gradtape.core.argument import as_index
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, OpError, as_op_error, public
from gradtape.core.spec import TensorSpec
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.files.access import match_paths
from gradtape.pipeline.base import (
    INFINITE,
    UNKNOWN,
    DatasetBase,
    has_no_value,
    is_always_pure,
    make_dataset,
    make_spec_dataset,
)
from gradtape.pipeline.element.element import StepIterator, as_generator_element
from gradtape.pipeline.element.ragged import (
    first_axis_size,
    has_ragged_rows,
    make_rows,
    unbatch_spec,
)
from gradtape.pipeline.element.random_access import RangeRows, Rows
from gradtape.pipeline.element.structure import (
    as_element,
    element_spec_of,
    flatten_element,
    map_element,
)
from gradtape.pipeline.element_type import E
from gradtape.pipeline.outer_tensor import read_and_detach
from gradtape.pipeline.transformation.random_choice import (
    make_seed_stream,
    random_words,
)

if TYPE_CHECKING:
    from gradtape.pipeline.dataset import Dataset

K = TypeVar("K")


def make_rows_dataset(rows: Rows, spec: Any, size: int) -> Dataset:
    """Make a dataset of rows, in order."""
    numbers = builtin_range(size)
    dataset = make_dataset(lambda: map(rows.__getitem__, numbers), lambda: spec, size)
    dataset._find_rows = lambda: (rows, lambda: iter(numbers))
    dataset._is_pure = is_always_pure
    dataset._has_ragged_rows = has_ragged_rows(spec)
    return dataset


class SourceMethods(DatasetBase[E]):
    """The constructors of a dataset."""

    @overload
    @staticmethod
    def from_tensors(
        tensors: tuple[Any, ...], name: str | None = None
    ) -> Dataset[tuple[Tensor, ...]]: ...
    @overload
    @staticmethod
    def from_tensors(
        tensors: Mapping[K, object], name: str | None = None
    ) -> Dataset[dict[K, Tensor]]: ...
    @overload
    @staticmethod
    def from_tensors(tensors: Any, name: str | None = None) -> Dataset[Tensor]: ...
    @staticmethod
    @public
    def from_tensors(tensors: Any, name: str | None = None) -> Dataset[Any]:
        """A dataset of one element.

        Args:
            tensors: a structure of tensors.
            name: has no effect here.

        Returns:
            A Dataset.

        Example:
            >>> [int(x) for x in tf.data.Dataset.from_tensors(7)]
            [7]
        """
        element = as_element(tensors)
        dataset = make_dataset(
            lambda: iter([map_element(read_and_detach, element)]),
            lambda: element_spec_of(element),
            1,
        )
        dataset._is_pure = is_always_pure
        return dataset._label_as("_TensorDataset")

    @overload
    @staticmethod
    def from_tensor_slices(
        tensors: tuple[Any, ...], name: str | None = None
    ) -> Dataset[tuple[Tensor, ...]]: ...
    @overload
    @staticmethod
    def from_tensor_slices(
        tensors: Mapping[K, object], name: str | None = None
    ) -> Dataset[dict[K, Tensor]]: ...
    @overload
    @staticmethod
    def from_tensor_slices(tensors: Any, name: str | None = None) -> Dataset[Tensor]: ...
    @staticmethod
    @public
    def from_tensor_slices(tensors: Any, name: str | None = None) -> Dataset[Any]:
        """A dataset of the slices along the first axis.

        Args:
            tensors: a structure of tensors with the same first size.
            name: has no effect here.

        Returns:
            A Dataset.

        Raises:
            ValueError: if a tensor has no axis, or their first axes differ.

        Example:
            >>> slices = tf.data.Dataset.from_tensor_slices({"a": [1, 2]})
            >>> [int(element["a"]) for element in slices]
            [1, 2]
        """
        element = as_element(tensors)
        leaves = [leaf for leaf in flatten_element(element) if leaf is not None]
        if not leaves:
            raise ValueError("Invalid `tensors`. `tensors` should not be empty.")
        spec = map_element(
            lambda s: unbatch_spec(s) if hasattr(s, "shape") else s, element_spec_of(element)
        )
        if has_no_value(leaves):
            return make_spec_dataset(spec)._label_as("_TensorSliceDataset")
        sizes = [first_axis_size(leaf) for leaf in leaves]
        for n in sizes:
            if n != sizes[0]:
                raise ValueError(f"Dimensions {sizes[0]} and {n} are not compatible")
        return make_rows_dataset(make_rows(element), spec, sizes[0])._label_as(
            "_TensorSliceDataset"
        )

    @overload
    @staticmethod
    def from_generator(
        generator: Any,
        output_types: None = None,
        output_shapes: None = None,
        args: Any = None,
        *,
        output_signature: TensorSpec,
        name: str | None = None,
    ) -> Dataset[Tensor]: ...
    @overload
    @staticmethod
    def from_generator(
        generator: Any,
        output_types: None = None,
        output_shapes: None = None,
        args: Any = None,
        *,
        output_signature: tuple[TensorSpec, ...],
        name: str | None = None,
    ) -> Dataset[tuple[Tensor, ...]]: ...
    @overload
    @staticmethod
    def from_generator(
        generator: Any,
        output_types: Any = None,
        output_shapes: Any = None,
        args: Any = None,
        output_signature: Any = None,
        name: str | None = None,
    ) -> Dataset: ...
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
        tensors = [convert(a) for a in args or ()]
        given = [] if has_no_value(tensors) else [tensor.numpy() for tensor in tensors]

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
    def range(*args: Any, **kwargs: Any) -> Dataset[Tensor]:
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
        if has_no_value(args):
            return make_spec_dataset(TensorSpec((), kind))._label_as("_RangeDataset")
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
    ) -> Dataset[Tensor]:
        """An infinite dataset of `start`, `start + step` and so on.

        Args:
            start: the first number.
            step: the difference of neighbours.
            dtype: the dtype of the numbers.
            name: has no effect here.

        Returns:
            A Dataset of scalars.
        """
        kind = dtypes.as_dtype(dtype)
        scalar = np.dtype(kind.as_numpy_dtype).type
        if has_no_value((start, step)):
            return make_spec_dataset(TensorSpec((), kind))._label_as("_ScanDataset")
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
    ) -> Dataset[Tensor]:
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
    def list_files(
        file_pattern: Any, shuffle: Any = None, seed: Any = None, name: str | None = None
    ) -> Dataset[Tensor]:
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
        if has_no_value(file_pattern):
            return make_spec_dataset(TensorSpec((), dtypes.string))
        patterns = np.ravel(convert(file_pattern)._array).tolist()
        found = sorted({name for p in patterns for name in match_paths(p)})
        if not found:
            names = ", ".join(p.decode("utf-8", "backslashreplace") for p in patterns)
            raise InvalidArgumentError(f"list_files: No files matched pattern: {names}")
        dataset = SourceMethods.from_tensor_slices([os.fsencode(name) for name in found])
        is_shuffled = shuffle is None or bool(shuffle)
        return dataset.shuffle(len(found), seed=seed) if is_shuffled else dataset
