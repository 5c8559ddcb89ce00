"""Transformations that select and order elements: shuffle, repeat, take, filter and others."""

from __future__ import annotations

from builtins import enumerate as builtin_enumerate
from builtins import filter as builtin_filter
from collections.abc import Iterator
from itertools import chain, islice, takewhile
from typing import TYPE_CHECKING, Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.interruption import is_from_signal_handler
from gradtape.core.spec import TensorSpec
from gradtape.core.tensor import make_tensor
from gradtape.pipeline.base import INFINITE, UNKNOWN, DatasetBase, as_python_int
from gradtape.pipeline.element.element import END, StepIterator, make_predicate, require_callable
from gradtape.pipeline.element_type import E
from gradtape.pipeline.source.combination import find_common_spec
from gradtape.pipeline.transformation.random_choice import make_seed_stream, shuffle_items
from gradtape.pipeline.user_function import UserFunction

if TYPE_CHECKING:
    from gradtape.core.tensor import Tensor
    from gradtape.pipeline.dataset import Dataset


class OrderMethods(DatasetBase[E]):
    """Methods of a dataset that select and order elements."""

    @public
    def shuffle(
        self,
        buffer_size: Any,
        seed: Any = None,
        reshuffle_each_iteration: Any = True,
        name: str | None = None,
    ) -> Dataset[E]:
        """The elements in random order, drawn from a buffer of `buffer_size` of them.

        Args:
            buffer_size: size of the buffer; UNKNOWN_CARDINALITY buffers all elements.
            seed: determines the order, together with `tf.random.set_seed`, as in TensorFlow.
            reshuffle_each_iteration: whether each iteration has a new order.
            name: ignored.

        Returns:
            A dataset of the same elements.

        Example:
            >>> tf.random.set_seed(1)
            >>> [int(x) for x in tf.data.Dataset.range(10).shuffle(4, seed=3)]
            [1, 2, 5, 4, 0, 3, 7, 6, 9, 8]
        """
        size = as_python_int(buffer_size)
        if size < 1 and size != UNKNOWN:
            raise InvalidArgumentError(
                "shuffle: buffer_size must be greater than zero or UNKNOWN_CARDINALITY. "
                f"Received {size}."
            )
        own = None if seed is None else as_python_int(seed)
        reshuffle = reshuffle_each_iteration is None or bool(reshuffle_each_iteration)
        seeds = make_seed_stream(own, fixed=not reshuffle)
        buffered = None if size == UNKNOWN else size
        dataset = self._select(
            lambda items: shuffle_items(items, buffered, seeds.next()), self._size
        )
        return dataset._label_as("_ShuffleDataset", seeds)

    @public
    def repeat(self, count: Any = None, name: str | None = None) -> Dataset[E]:
        """The elements repeated `count` times; infinitely if `count` is None or -1.

        Args:
            count: the number of repetitions, or None.
            name: has no effect here.

        Returns:
            A Dataset.

        Example:
            >>> [int(x) for x in tf.data.Dataset.range(2).repeat(3)]
            [0, 1, 0, 1, 0, 1]
        """
        times = -1 if count is None else as_python_int(count)

        def over_and_over(start: Any) -> Any:
            def elements() -> Iterator[Any]:
                first = start() if times else iter(())
                return repeat_items(first, start, times)

            return elements

        n = self._size
        size = 0 if times == 0 or n == 0 else INFINITE if times < 0 else n if n < 0 else n * times
        dataset = self._transform(lambda items: items, None, size)
        dataset._start, dataset._is_pure = over_and_over(self._start), self._is_pure
        dataset._use_rows_of(self, over_and_over)
        return dataset._label_as("_RepeatDataset")

    @public
    def take(self, count: Any, name: str | None = None) -> Dataset[E]:
        """The first `count` elements; all elements if `count` is -1.

        Args:
            count: the number of elements.
            name: has no effect here.

        Returns:
            A Dataset.

        Example:
            >>> [int(x) for x in tf.data.Dataset.range(5).take(2)]
            [0, 1]
        """
        most = as_python_int(count)
        n = self._size
        size = n if most < 0 else most if n == INFINITE else n if n == UNKNOWN else min(n, most)
        return self._select(
            lambda items: islice(items, None if most < 0 else most), 0 if most == 0 else size
        )._label_as("_TakeDataset")

    @public
    def skip(self, count: Any, name: str | None = None) -> Dataset[E]:
        """The elements after the first `count`; none if `count` is -1.

        Args:
            count: the number of elements to leave out.
            name: has no effect here.

        Returns:
            A Dataset.

        Example:
            >>> [int(x) for x in tf.data.Dataset.range(5).skip(3)]
            [3, 4]
        """
        first = as_python_int(count)
        n = self._size
        size = 0 if first < 0 else n if n < 0 else max(n - first, 0)
        return self._select(
            lambda items: iter(()) if first < 0 else islice(items, first, None), size
        )._label_as("_SkipDataset")

    @public
    def shard(self, num_shards: Any, index: Any, name: str | None = None) -> Dataset[E]:
        """Every `num_shards`-th element, starting with element `index`.

        Args:
            num_shards: the number of parts.
            index: which part, from 0.
            name: has no effect here.

        Returns:
            A Dataset.

        Example:
            >>> [int(x) for x in tf.data.Dataset.range(6).shard(3, index=1)]
            [1, 4]
        """
        shards, first = as_python_int(num_shards), as_python_int(index)
        if shards < 1:
            raise InvalidArgumentError(
                f"shard: Number of shards must be greater than zero. Received {shards}."
            )
        if not 0 <= first < shards:
            raise InvalidArgumentError(
                f"shard: Index must be between 0 and {shards - 1}. Received {first}."
            )
        n = self._size
        size = n if n < 0 else n // shards + (first < n % shards)
        dataset = self._select(lambda items: islice(items, first, None, shards), size)
        return dataset._label_as("_ShardDataset")

    @public
    def filter(self, predicate: Any, name: str | None = None) -> Dataset[E]:
        """The elements for which `predicate` returns True.

        Args:
            predicate: function of an element that returns a scalar bool.
            name: has no effect here.

        Returns:
            A Dataset.

        Example:
            >>> list(tf.data.Dataset.range(5).filter(lambda x: x % 2 == 0).as_numpy_iterator())
            [np.int64(0), np.int64(2), np.int64(4)]
        """
        require_callable(predicate)
        holds = UserFunction(predicate, "filter")
        dataset = self._transform(
            lambda items: builtin_filter(make_predicate(holds.apply, "filter"), items),
            None,
            UNKNOWN,
        )
        dataset._is_pure = lambda: self._is_pure() and holds.is_pure(self.element_spec)
        return dataset._label_as("_FilterDataset", holds)

    @public
    def take_while(self, predicate: Any, name: str | None = None) -> Dataset[E]:
        """The elements before the first one for which `predicate` returns False.

        Args:
            predicate: function of an element that returns a scalar bool.
            name: has no effect here.

        Returns:
            A Dataset.

        Example:
            >>> [int(x) for x in tf.data.Dataset.range(9).take_while(lambda x: x < 3)]
            [0, 1, 2]
        """
        require_callable(predicate)
        holds = UserFunction(predicate, "take_while")
        return self._transform(
            lambda items: takewhile(make_predicate(holds.apply, "take_while"), items), None, UNKNOWN
        )._label_as("_TakeWhileDataset", holds)

    @public
    def concatenate(self, dataset: Dataset, name: str | None = None) -> Dataset[E]:
        """The elements of this dataset, then those of `dataset`.

        Args:
            dataset: a Dataset with the same structure of elements.
            name: has no effect here.

        Returns:
            A Dataset.

        Raises:
            TypeError: if the elements differ in structure or dtype.
        """
        spec = find_common_spec([self, dataset], "concatenate")  # type: ignore[list-item]
        sizes = (self._size, dataset._size)
        size = INFINITE if INFINITE in sizes else UNKNOWN if UNKNOWN in sizes else sum(sizes)
        combined = self._transform(lambda items: chain(items, dataset._start()), lambda: spec, size)
        combined._file_point, combined._inputs = None, (self, dataset)
        combined._is_pure = lambda: self._is_pure() and dataset._is_pure()
        return combined._label_as("_ConcatenateDataset", *dataset._random_sources)

    @public
    def enumerate(self, start: int = 0, name: str | None = None) -> Dataset[tuple[Tensor, E]]:
        """Pairs of a number, starting at `start`, and an element.

        Args:
            start: the first number.
            name: has no effect here.

        Returns:
            A Dataset of pairs.

        Example:
            >>> [(int(i), int(x)) for i, x in tf.data.Dataset.range(7, 9).enumerate()]
            [(0, 7), (1, 8)]
        """
        first = as_python_int(start)
        dataset = self._transform(
            lambda items: (
                (make_tensor(np.int64(i)), e) for i, e in builtin_enumerate(items, first)
            ),
            lambda: (TensorSpec((), dtypes.int64), self.element_spec),
            self._size,
        )
        dataset._is_pure = self._is_pure
        return dataset._label_as("_ZipDataset")

    @public
    def unique(self, name: str | None = None) -> Dataset[E]:
        """The elements without duplicates.

        Args:
            name: has no effect here.

        Returns:
            A Dataset.

        Raises:
            TypeError: if elements are not single tensors of int32, int64 or string.

        Example:
            >>> [int(x) for x in tf.data.Dataset.from_tensor_slices([1, 2, 1]).unique()]
            [1, 2]
        """
        spec = self.element_spec
        if not isinstance(spec, TensorSpec) or spec.dtype.name not in ("int32", "int64", "string"):
            raise TypeError(
                "unique: elements must be single tensors of dtype int32, int64 or string. "
                f"Received {spec}."
            )

        def firsts(items: Iterator[Any]) -> Iterator[Any]:
            seen = set()
            for element in items:
                array = np.asarray(element._array)
                mark = array.shape, tuple(array.ravel().tolist())
                if mark not in seen:
                    seen.add(mark)
                    yield element

        return self._transform(firsts, None, UNKNOWN)._label_as("_UniqueDataset")

    @public
    def ignore_errors(self, log_warning: bool = False, name: str | None = None) -> Dataset[E]:
        """The elements, without those whose computation raises an error.

        Args:
            log_warning: whether to warn about each error.
            name: ignored.

        Returns:
            A Dataset.
        """

        def skip_errors(items: Iterator[Any]) -> Iterator[Any]:
            def step() -> Any:
                while True:
                    try:
                        return next(items)
                    except StopIteration:
                        raise
                    except Exception as error:
                        if is_from_signal_handler(error):
                            raise
                        if log_warning:
                            import warnings

                            warnings.warn(f"ignore_errors: {error}", stacklevel=2)

            return StepIterator(step)

        return self._transform(skip_errors, None, UNKNOWN)._label_as("_IgnoreErrorsDataset")


def repeat_items(items: Iterator[Any], start: Any, times: int) -> Iterator[Any]:
    """Yield `items`, then those of `start()` again, `times` in all; forever if negative."""
    while times:
        first = next(items, END)
        if first is END:
            return
        yield first
        yield from items
        times -= 1
        if times:
            items = start()
