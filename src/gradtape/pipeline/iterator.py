"""Iterators: one iteration over a dataset, read with `next` or `get_next`."""

from __future__ import annotations

from collections.abc import Iterator as PythonIterator
from types import SimpleNamespace
from typing import Any, Generic, NoReturn

import numpy as np

from gradtape.core import nest
from gradtape.core.composite_tensor import CompositeTensor
from gradtape.core.context import current_trace, local, no_recording
from gradtape.core.errors import InvalidArgumentError, OutOfRangeError, public, raise_call_error
from gradtape.core.ledger import ledger, note_element
from gradtape.core.lock import Lock
from gradtape.core.spec import TypeSpec
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.core.traceback_filter import hide_library_frames
from gradtape.pipeline.element.element import END
from gradtape.pipeline.element.structure import map_element
from gradtape.pipeline.element_type import E
from gradtape.pipeline.graph_iterator import (
    HAS_NEXT,
    LookaheadSource,
    get_next_in_trace,
    get_next_optional_in_trace,
    iterator_handle,
)
from gradtape.pipeline.iteration import Iteration, current_iteration, use_iteration
from gradtape.pipeline.optional import Optional
from gradtape.state.checkpoint.trackable import Trackable


class ElementReader:
    """Reads the next element, or END, and counts elements; threads may share it.

    It has no reference to the iterator, so that dropping the iterator frees it and its threads.
    """

    def __init__(self, dataset: Any) -> None:
        """Start an iteration over `dataset`."""
        self.start(dataset)
        self.lock = Lock()

    def start(self, dataset: Any) -> None:
        """Start an iteration over `dataset`."""
        self.iteration = Iteration()
        with use_iteration(self.iteration):
            self.elements = iter(dataset._start())
        self.count = 0

    def __call__(self) -> Any:
        """The next element, or END."""
        if local.recorders:
            with no_recording():
                return self()
        before, current_iteration.active = current_iteration.active, self.iteration
        try:
            with self.lock:
                element = next(self.elements, END)
                self.count += element is not END
                return element
        finally:
            current_iteration.active = before


def raise_dataset_error(error: Exception, dataset: Any) -> NoReturn:
    """Raise `error` with the name of the dataset in its message."""
    name = dataset._tensorflow_name.lstrip("_")
    raise_call_error(error, SimpleNamespace(__name__=name), (), {})


class Iterator(CompositeTensor, PythonIterator[E], Trackable, Generic[E]):
    """One iteration over a dataset.

    Tapes do not record the functions of a dataset: gradients do not flow into a pipeline.
    """

    def __init__(self, dataset: Any) -> None:
        """Start an iteration over `dataset`."""
        self._dataset = dataset
        for chance in dataset._random_sources:
            chance.before_iterator()
        self._start_positions = [seeds.position() for seeds in dataset._random_sources]
        try:
            self._reader = ElementReader(dataset)
        except Exception as error:
            try:
                raise_dataset_error(error, dataset)
            except Exception as final:
                hide_library_frames(final)
                raise
        self._source = LookaheadSource(self._reader)

    @property
    def element_spec(self) -> Any:
        """Spec of the elements."""
        return self._dataset.element_spec

    @property
    def _type_spec(self) -> IteratorSpec:
        return IteratorSpec(self.element_spec)

    def _read_next(self) -> Any:
        """The next element, or END."""
        element = self._source.next()
        if ledger.active and element is not END:
            self._note_element(element)
        return element

    def _note_element(self, element: Any) -> None:
        """Write to the ledger that an element came out of the dataset."""
        leaves = nest.flatten(element, expand_composites=True)
        note_element(self._dataset, [t for t in leaves if isinstance(t, Tensor)])

    def _serialize_to_tensors(self) -> dict[str, Any]:
        """The number of elements read, and the random positions at the start of the iteration."""
        buffered = sum(element is not END for element in self._source.lookahead)
        drawn = self._reader.count - buffered
        numbers = [drawn, *(number for place in self._start_positions for number in place)]
        return {"ITERATOR": make_tensor(np.array(numbers, np.uint64).view(np.int64))}

    def _check_restored_tensors(self, tensors: dict[str, Any]) -> None:
        """Raise if a saved state is not one of this dataset."""
        saved = np.ravel(tensors["ITERATOR"])
        wanted = 1 + 3 * len(self._start_positions)
        if len(saved) != wanted or min(saved[::3]) < 0:
            raise InvalidArgumentError(
                f"restore: the state of the saved iterator must be a count, and two seeds and a "
                f"count for each of {len(self._start_positions)} random orders. Received "
                f"{saved[:100]}. Restore an iterator of the same dataset."
            )

    def _restore_from_tensors(self, restored_tensors: dict[str, Any]) -> None:
        """Move to the saved element number, in the random order of the saved iteration."""
        saved = np.asarray(restored_tensors["ITERATOR"]).view(np.uint64).ravel().tolist()
        wanted, places = saved[0], list(zip(*[iter(saved[1:])] * 3, strict=True))
        here = int(self._serialize_to_tensors()["ITERATOR"][0])
        if wanted < here or places != self._start_positions:
            self._start_positions = places
            for chance, place in zip(self._dataset._random_sources, places, strict=True):
                chance.before_iterator()
                chance.set_position(place)
            self._reader.start(self._dataset)
            self._source.lookahead.clear()
            here = 0
        while here < wanted and self._read_next() is not END:
            here += 1

    def __iter__(self) -> Iterator[E]:
        """This iterator."""
        return self

    def __next__(self) -> E:
        """The next element."""
        stage = local.recorders and current_trace()
        if stage:
            (more,) = stage[0].run_effect(HAS_NEXT, (iterator_handle(stage[0], self),))
            if not stage[0].guard_value(more._array):
                raise StopIteration
            return get_next_in_trace(stage[0], iterator_handle(stage[0], self), self.element_spec)
        try:
            element = self._source.next()
        except Exception as error:
            try:
                raise_dataset_error(error, self._dataset)
            except Exception as final:
                hide_library_frames(final)
                raise
        if element is END:
            raise StopIteration
        if ledger.active:
            self._note_element(element)
        return element

    @public
    def get_next(self, name: str | None = None) -> E:
        """The next element.

        Args:
            name: ignored.

        Returns:
            The element: a tensor or a nested structure of tensors.

        Raises:
            OutOfRangeError: after the last element.
        """
        stage = current_trace()
        if stage:
            return get_next_in_trace(stage[0], iterator_handle(stage[0], self), self.element_spec)
        element = self._read_next()
        if element is END:
            raise OutOfRangeError("get_next: End of sequence. Create a new iterator to start over.")
        return element

    @public
    def get_next_as_optional(self) -> Optional:
        """The next element as an Optional; empty after the last element.

        Returns:
            An `Optional`.
        """
        stage = current_trace()
        if stage:
            return get_next_optional_in_trace(
                stage[0], iterator_handle(stage[0], self), self.element_spec
            )
        element = self._read_next()
        return Optional.empty(self.element_spec) if element is END else Optional.from_value(element)


class IteratorSpec(TypeSpec):
    """The spec of an iterator, which contains the element spec."""

    __slots__ = ("_element_spec",)

    @public
    def __init__(self, element_spec: Any) -> None:
        """Describe iterators with this element spec."""
        self._element_spec = element_spec

    @property
    def value_type(self) -> Any:
        """The class Iterator."""
        return Iterator

    @property
    def element_spec(self) -> Any:
        """Spec of the elements."""
        return self._element_spec

    @property
    def _component_specs(self) -> Any:
        return self._element_spec

    def _to_components(self, value: Any) -> Any:
        return value

    def _from_components(self, components: Any) -> Any:
        return components

    def _serialize(self) -> tuple[Any, ...]:
        return (self._element_spec,)


class NumpyIterator(PythonIterator[Any], Trackable):
    """The elements of a dataset as NumPy arrays."""

    @public
    def __init__(self, dataset: Any) -> None:
        """Start an iteration over `dataset`."""
        self._iterator = iter(dataset)

    def _serialize_to_tensors(self) -> dict[str, Any]:
        """The position of the iterator."""
        return self._iterator._serialize_to_tensors()

    def _check_restored_tensors(self, tensors: dict[str, Any]) -> None:
        """Raise if a saved position is not one of this dataset."""
        self._iterator._check_restored_tensors(tensors)

    def _restore_from_tensors(self, restored_tensors: dict[str, Any]) -> None:
        """Move to a saved position."""
        self._iterator._restore_from_tensors(restored_tensors)

    def __iter__(self) -> NumpyIterator:
        """This iterator."""
        return self

    def __next__(self) -> Any:
        """The next element."""
        return map_element(
            lambda leaf: leaf.numpy() if hasattr(leaf, "numpy") else leaf, next(self._iterator)
        )
