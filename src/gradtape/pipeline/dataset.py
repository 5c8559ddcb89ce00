"""Datasets: sequences of elements that are made when they are asked for.

A dataset is three things: a function that starts a pass over its elements, one that says what the
elements look like, and how many there are. Each method builds another dataset out of that.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Generator, Iterable
from itertools import chain, count, islice, repeat
from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.composite import CompositeTensor
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.shapes import TensorShape
from gradtape.core.spec import TensorSpec, TypeSpec
from gradtape.core.tensor import Tensor
from gradtape.pipeline.element import batched, checked, require_callable, slice_of, stacked
from gradtape.pipeline.iterator import Iterator, NumpyIterator
from gradtape.pipeline.options import Options
from gradtape.pipeline.probe import common, probed
from gradtape.pipeline.structure import as_element, called, flatten, mapped, packed, spec_of
from gradtape.state.seed import SEEDS

AUTOTUNE = -1
INFINITE = -1
UNKNOWN = -2

Pass = Generator[Any, None, None]


class Dataset(CompositeTensor, Iterable[Any]):
    """A sequence of elements, each a structure of tensors, made when it is asked for.

    Example:
        >>> dataset = tf.data.Dataset.range(5).map(lambda x: x * x).batch(2)
        >>> [batch.numpy().tolist() for batch in dataset]
        [[0, 1], [4, 9], [16]]

    Note:
        The functions given to `map` and others run in Python for every element, and nothing is
        computed ahead.
    """

    def __init__(
        self,
        elements: Callable[[], Any],
        spec: Callable[[], Any],
        size: int,
        options: Options | None = None,
    ) -> None:
        """Made by the class methods and methods below, not directly."""
        self._elements = elements
        self._spec = spec
        self._known: Any = None
        self._size = size
        self._options = options or Options()

    def _with(
        self, elements: Callable[[], Any], spec: Callable[[], Any] | None, size: int
    ) -> Dataset:
        return Dataset(elements, spec or (lambda: self.element_spec), size, self._options)

    @property
    def element_spec(self) -> Any:
        """What describes the elements."""
        if self._known is None:
            self._known = self._spec()
        return self._known

    @property
    def _type_spec(self) -> DatasetSpec:
        return DatasetSpec(self.element_spec)

    def __iter__(self) -> Iterator:
        """Start a pass over the elements."""
        return Iterator(iter(self._elements()), self)

    def __bool__(self) -> bool:
        """True, however many elements there are."""
        return True

    def __len__(self) -> int:
        """The number of elements, if it is known and finite."""
        if self._size < 0:
            what = "dataset is infinite" if self._size == INFINITE else "dataset length is unknown"
            raise TypeError(f"The {what}.")
        return self._size

    def __repr__(self) -> str:
        """Say what the elements look like."""
        return f"<{type(self).__name__} element_spec={self.element_spec}>"

    def cardinality(self) -> Tensor:
        """The number of elements, INFINITE_CARDINALITY or UNKNOWN_CARDINALITY."""
        return convert(np.int64(self._size))

    def as_numpy_iterator(self) -> NumpyIterator:
        """An iterator over the elements as NumPy arrays."""
        return NumpyIterator(self)

    def options(self) -> Options:
        """The options that have been set."""
        return self._options

    def with_options(self, options: Options, name: str | None = None) -> Dataset:
        """The same dataset with `options` set."""
        return Dataset(
            self._elements, lambda: self.element_spec, self._size, self._options.merge(options)
        )

    @staticmethod
    @public
    def from_tensors(tensors: Any, name: str | None = None) -> Dataset:
        """A dataset of one element."""
        element = as_element(tensors)
        return Dataset(lambda: iter([element]), lambda: spec_of(element), 1)

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
        if any(not leaf._array.shape for leaf in leaves):
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        sizes = [leaf._array.shape[0] for leaf in leaves]
        for n in sizes:
            if n != sizes[0]:
                raise ValueError(f"Dimensions {sizes[0]} and {n} are not compatible")

        def elements() -> Pass:
            return (slice_of(element, i) for i in range(sizes[0]))

        spec = mapped(
            lambda s: TensorSpec(s.shape[1:], s.dtype) if hasattr(s, "shape") else s,
            spec_of(element),
        )
        return Dataset(elements, lambda: spec, sizes[0])

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
        """A dataset of what a Python generator yields.

        Args:
            generator: callable that returns an iterable, called anew for each pass.
            output_types: dtypes of the elements (older spelling).
            output_shapes: shapes of the elements (older spelling).
            args: tensors handed to `generator` as NumPy arrays.
            output_signature: structure of specs of the elements.
            name: accepted for TensorFlow's sake.

        Returns:
            A dataset of unknown length.
        """
        if not callable(generator):
            raise TypeError("`generator` must be a Python callable.")
        if output_signature is None:
            if output_types is None:
                raise TypeError("from_generator: give output_signature, or output_types.")
            shapes = output_shapes or mapped(lambda _: None, output_types)
            spec = mapped(lambda dtype, shape: TensorSpec(shape, dtype), output_types, shapes)
        else:
            spec = output_signature
        given = [convert(a).numpy() for a in args or ()]  # type: ignore[attr-defined]

        def elements() -> Pass:
            for value in generator(*given):
                yield checked(spec, value)

        return Dataset(elements, lambda: spec, UNKNOWN)

    @staticmethod
    @public
    def range(*args: Any, **kwargs: Any) -> Dataset:
        """A dataset of integers: `range(stop)`, `range(start, stop)` or `range(start, stop, step)`.

        Args:
            *args: as Python's `range`.
            **kwargs: `output_type` (int64 if not given) and `name`.

        Returns:
            A dataset of scalars.
        """
        if not 1 <= len(args) <= 3:
            raise ValueError(
                "Invalid `args`. The length of `args` should be between 1 and 3 "
                f"but was {len(args)}."
            )
        dtype = dtypes.as_dtype(kwargs.get("output_type", dtypes.int64))
        numbers = range(*(int(a) for a in args))
        return Dataset(
            lambda: (convert(i, dtype) for i in numbers),
            lambda: TensorSpec((), dtype),
            len(numbers),
        )

    @staticmethod
    @public
    def zip(*args: Any, datasets: Any = None, name: str | None = None) -> Dataset:
        """A dataset of structures with an element of each of `args`, as long as the shortest."""
        structure = datasets if datasets is not None else args[0] if len(args) == 1 else args
        parts = flatten(structure)
        for part in parts:
            if not isinstance(part, Dataset):
                raise TypeError(
                    "Invalid input to `zip`. Inputs are expected to be (nested) structures of "
                    f"`tf.data.Dataset` objects but encountered object of type {type(part)}."
                )

        def elements() -> Pass:
            for each in zip(*(part._elements() for part in parts), strict=False):
                yield packed(structure, iter(each))

        finite = [part._size for part in parts if part._size != INFINITE]
        size = INFINITE if not finite else 0 if 0 in finite else min(finite)
        return Dataset(elements, lambda: mapped(lambda part: part.element_spec, structure), size)

    @public
    def map(
        self,
        map_func: Any,
        num_parallel_calls: Any = None,
        deterministic: Any = None,
        synchronous: Any = None,
        use_unbounded_threadpool: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """A dataset of `map_func` of each element."""
        require_callable(map_func)
        return self._with(
            lambda: (called(map_func, e) for e in self._elements()),
            lambda: probed(lambda e: spec_of(called(map_func, e)), self.element_spec),
            self._size,
        )

    @public
    def flat_map(self, map_func: Any, name: str | None = None) -> Dataset:
        """The datasets that `map_func` makes of the elements, one after another."""
        require_callable(map_func)

        def inner(element: Any) -> Dataset:
            made = called(map_func, element)
            if not isinstance(made, Dataset):
                raise TypeError(
                    f"flat_map: `map_func` must return a `Dataset` object. Got {type(made)}."
                )
            return made

        return self._with(
            lambda: chain.from_iterable(inner(e)._elements() for e in self._elements()),
            lambda: probed(lambda e: inner(e).element_spec, self.element_spec),
            UNKNOWN,
        )

    @public
    def filter(self, predicate: Any, name: str | None = None) -> Dataset:
        """The elements for which `predicate` holds."""
        require_callable(predicate)
        return self._with(
            lambda: (e for e in self._elements() if bool(called(predicate, e))), None, UNKNOWN
        )

    @public
    def repeat(self, count: Any = None, name: str | None = None) -> Dataset:
        """The elements `count` times over; without end if it is None or -1."""
        times = -1 if count is None else int(convert(count))

        def elements() -> Pass:
            done = 0
            while times < 0 or done < times:
                empty = True
                for element in self._elements():
                    empty = False
                    yield element
                if empty:
                    return
                done += 1

        n = self._size
        size = 0 if times == 0 or n == 0 else INFINITE if times < 0 else n if n < 0 else n * times
        return self._with(elements, None, size)

    @public
    def batch(
        self,
        batch_size: Any,
        drop_remainder: bool = False,
        num_parallel_calls: Any = None,
        deterministic: Any = None,
        name: str | None = None,
    ) -> Dataset:
        """Elements stacked, `batch_size` at a time; the last batch may be smaller, or is dropped.

        Raises:
            InvalidArgumentError: if the size is not positive, or elements differ in shape.
        """
        size = int(convert(batch_size))
        if size < 1:
            raise InvalidArgumentError(
                f"batch: Batch size must be greater than zero. Received {size}."
            )
        drop = bool(drop_remainder)

        def elements() -> Pass:
            source = iter(self._elements())
            while group := list(islice(source, size)):
                if len(group) == size or not drop:
                    yield mapped(stacked, *group)

        n = self._size
        width = size if drop else None
        return self._with(
            elements,
            lambda: mapped(lambda s: batched(s, width), self.element_spec),
            n if n < 0 else n // size if drop else -(-n // size),
        )

    @public
    def unbatch(self, name: str | None = None) -> Dataset:
        """The slices of the elements along their first axis."""

        def elements() -> Any:
            return chain.from_iterable(
                Dataset.from_tensor_slices(e)._elements() for e in self._elements()
            )

        def spec() -> Any:
            return mapped(lambda s: TensorSpec(s.shape[1:], s.dtype), self.element_spec)

        return self._with(elements, spec, UNKNOWN)

    @public
    def prefetch(self, buffer_size: Any, name: str | None = None) -> Dataset:
        """The same dataset; nothing is computed ahead yet."""
        return self._with(self._elements, None, self._size)

    @public
    def shuffle(
        self,
        buffer_size: Any,
        seed: Any = None,
        reshuffle_each_iteration: Any = True,
        name: str | None = None,
    ) -> Dataset:
        """The elements in random order, drawn from a buffer of `buffer_size` of them.

        Args:
            buffer_size: how many elements may change places; UNKNOWN_CARDINALITY for all.
            seed: fixes the order together with `tf.random.set_seed`.
            reshuffle_each_iteration: whether each pass has an order of its own.
            name: accepted for TensorFlow's sake.

        Returns:
            A dataset of the same elements.

        Note:
            The order is reproducible, but it is not TensorFlow's.
        """
        size = int(convert(buffer_size))
        if size < 1 and size != UNKNOWN:
            raise InvalidArgumentError(
                "shuffle: buffer_size must be greater than zero or UNKNOWN_CARDINALITY. "
                f"Received {size}."
            )
        key, counter = SEEDS.stream(
            "shuffle_dataset", None if seed is None else int(convert(seed)), 0
        )
        passes = repeat(0) if reshuffle_each_iteration in (False,) else count()

        def elements() -> Pass:
            choose = random.Random(hash((*key.tolist(), *counter.tolist(), next(passes))))
            source = iter(self._elements())
            buffer = list(source) if size == UNKNOWN else list(islice(source, size))
            for element in source:
                i = choose.randrange(len(buffer))
                buffer[i], element = element, buffer[i]
                yield element
            choose.shuffle(buffer)
            yield from buffer

        return self._with(elements, None, self._size)

    @public
    def take(self, count: Any, name: str | None = None) -> Dataset:
        """The first `count` elements; all of them if it is -1."""
        most = int(convert(count))
        n = self._size
        size = n if most < 0 else most if n == INFINITE else n if n == UNKNOWN else min(n, most)
        return self._with(
            lambda: islice(self._elements(), None if most < 0 else most),
            None,
            0 if most == 0 else size,
        )

    @public
    def skip(self, count: Any, name: str | None = None) -> Dataset:
        """What comes after the first `count` elements; nothing if it is -1."""
        first = int(convert(count))
        n = self._size
        size = 0 if first < 0 else n if n < 0 else max(n - first, 0)
        return self._with(
            lambda: iter(()) if first < 0 else islice(self._elements(), first, None), None, size
        )

    @public
    def concatenate(self, dataset: Dataset, name: str | None = None) -> Dataset:
        """These elements, then those of `dataset`.

        Raises:
            TypeError: if the elements differ in structure or dtype.
        """
        try:
            spec = mapped(common, self.element_spec, dataset.element_spec)
        except (ValueError, KeyError, TypeError, AttributeError):
            spec = None
        if spec is None or None in flatten(spec):
            raise TypeError(
                f"concatenate: Incompatible dataset elements: {self.element_spec} vs. "
                f"{dataset.element_spec}"
            )
        sizes = (self._size, dataset._size)
        size = INFINITE if INFINITE in sizes else UNKNOWN if UNKNOWN in sizes else sum(sizes)
        return self._with(lambda: chain(self._elements(), dataset._elements()), lambda: spec, size)

    @public
    def enumerate(self, start: int = 0, name: str | None = None) -> Dataset:
        """Pairs of a number, counted from `start`, and an element."""
        return self._with(
            lambda: ((convert(np.int64(i)), e) for i, e in enumerate(self._elements(), start)),
            lambda: (TensorSpec((), dtypes.int64), self.element_spec),
            self._size,
        )

    @public
    def reduce(self, initial_state: Any, reduce_func: Any, name: str | None = None) -> Any:
        """The state after `reduce_func(state, element)` has seen every element."""
        require_callable(reduce_func)
        state = as_element(initial_state)
        for element in self:
            state = called(lambda pair: reduce_func(*pair), [state, element])
        return state


class DatasetSpec(TypeSpec):
    """The spec of a dataset: that of its elements."""

    __slots__ = ("_element_spec",)

    def __init__(self, element_spec: Any, dataset_shape: Any = ()) -> None:
        """Describe datasets of elements that `element_spec` describes."""
        self._element_spec = element_spec

    @property
    def value_type(self) -> Any:
        """The class Dataset."""
        return Dataset

    @property
    def element_spec(self) -> Any:
        """What describes the elements."""
        return self._element_spec

    @property
    def _component_specs(self) -> Any:
        return self._element_spec

    def _to_components(self, value: Any) -> Any:
        return value

    def _from_components(self, components: Any) -> Any:
        return components

    def _serialize(self) -> tuple[Any, ...]:
        return self._element_spec, TensorShape(())
