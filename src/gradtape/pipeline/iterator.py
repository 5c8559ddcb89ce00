"""Iterators: one pass over a dataset, drawn from by `next` or by `get_next`."""

from __future__ import annotations

from collections.abc import Iterator as PythonIterator
from typing import Any

import numpy as np

from gradtape.core.composite_tensor import CompositeTensor
from gradtape.core.context import local, staging, unheard
from gradtape.core.errors import InvalidArgumentError, OutOfRangeError, hide_library, public
from gradtape.core.lock import Lock
from gradtape.core.spec import TypeSpec
from gradtape.core.tensor import eager
from gradtape.pipeline.current_pass import Pass, ongoing, working_for
from gradtape.pipeline.element.element import END
from gradtape.pipeline.element.structure import mapped
from gradtape.pipeline.graph_iterator import HAS_NEXT, Source, drawn, drawn_optional, handle_of
from gradtape.pipeline.optional import Optional
from gradtape.state.checkpoint.trackable import Trackable


class Drawing:
    """Draws the next element, or END, and counts; threads may share it.

    It does not refer to the iterator, which is so freed, with its threads, when it is dropped.
    """

    def __init__(self, dataset: Any) -> None:
        """Begin a pass over `dataset`."""
        self.begin(dataset)
        self.lock = Lock()

    def begin(self, dataset: Any) -> None:
        """Begin a pass over `dataset`."""
        self.work = Pass()
        with working_for(self.work):
            self.elements = iter(dataset._start())
        self.count = 0

    def __call__(self) -> Any:
        """The next element, or END."""
        if local.recorders:
            with unheard():
                return self()
        before, ongoing.now = ongoing.now, self.work
        try:
            with self.lock:
                element = next(self.elements, END)
                self.count += element is not END
                return element
        finally:
            ongoing.now = before


class Iterator(CompositeTensor, PythonIterator[Any], Trackable):
    """One pass over a dataset.

    No tape hears what the functions of a dataset compute: gradients do not flow into a pipeline.
    """

    def __init__(self, dataset: Any) -> None:
        """Start a pass over `dataset`."""
        self._dataset = dataset
        for chance in dataset._seeds:
            chance.begin()
        self._seeds = [seeds.place() for seeds in dataset._seeds]
        self._drawing = Drawing(dataset)
        self._source = Source(self._drawing)

    @property
    def element_spec(self) -> Any:
        """What describes the elements."""
        return self._dataset.element_spec

    @property
    def _type_spec(self) -> IteratorSpec:
        return IteratorSpec(self.element_spec)

    def _draw(self) -> Any:
        """The next element, or END."""
        return self._source.next()

    def _serialize_to_tensors(self) -> dict[str, Any]:
        """How many elements were drawn, and the random seeds when the pass began."""
        looked_at = sum(element is not END for element in self._source.ahead)
        drawn = self._drawing.count - looked_at
        numbers = [drawn, *(number for place in self._seeds for number in place)]
        return {"ITERATOR": eager(np.array(numbers, np.uint64).view(np.int64))}

    def _restore_from_tensors(self, restored_tensors: dict[str, Any]) -> None:
        """Go to the element whose number was saved, in the order of the pass that was saved."""
        saved = np.asarray(restored_tensors["ITERATOR"]).view(np.uint64).ravel().tolist()
        wanted, places = saved[0], list(zip(*[iter(saved[1:])] * 3, strict=True))
        if len(places) != len(self._seeds):
            raise InvalidArgumentError(
                f"restore: the saved iterator has {len(places)} random orders, but this one "
                f"{len(self._seeds)}. Make it of the same dataset."
            )
        here = int(self._serialize_to_tensors()["ITERATOR"][0])
        if wanted < here or places != self._seeds:
            self._seeds = places
            for chance, place in zip(self._dataset._seeds, places, strict=True):
                chance.begin()
                chance.go_to(place)
            self._drawing.begin(self._dataset)
            self._source.ahead.clear()
            here = 0
        for _ in range(wanted - here):
            self._draw()

    def __iter__(self) -> Iterator:
        """This iterator."""
        return self

    def __next__(self) -> Any:
        """The next element."""
        stage = local.recorders and staging()
        if stage:
            (more,) = stage[0].effect(HAS_NEXT, (handle_of(stage[0], self),))
            if not stage[0].observe(more._array):
                raise StopIteration
            return drawn(stage[0], handle_of(stage[0], self), self.element_spec)
        try:
            element = self._draw()
        except Exception as error:
            hide_library(error)
            raise
        if element is END:
            raise StopIteration
        return element

    @public
    def get_next(self, name: str | None = None) -> Any:
        """The next element.

        Raises:
            OutOfRangeError: after the last one.
        """
        stage = staging()
        if stage:
            return drawn(stage[0], handle_of(stage[0], self), self.element_spec)
        element = self._draw()
        if element is END:
            raise OutOfRangeError("get_next: End of sequence. Make another iterator to start over.")
        return element

    @public
    def get_next_as_optional(self) -> Optional:
        """The next element as an Optional, which is empty after the last one."""
        stage = staging()
        if stage:
            return drawn_optional(stage[0], handle_of(stage[0], self), self.element_spec)
        element = self._draw()
        return Optional.empty(self.element_spec) if element is END else Optional.from_value(element)


class IteratorSpec(TypeSpec):
    """The spec of an iterator: that of its elements."""

    __slots__ = ("_element_spec",)

    def __init__(self, element_spec: Any) -> None:
        """Describe iterators over elements that `element_spec` describes."""
        self._element_spec = element_spec

    @property
    def value_type(self) -> Any:
        """The class Iterator."""
        return Iterator

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
        return (self._element_spec,)


class NumpyIterator(PythonIterator[Any], Trackable):
    """The elements of a dataset as NumPy arrays."""

    def __init__(self, dataset: Any) -> None:
        """Start a pass over `dataset`."""
        self._iterator = iter(dataset)

    def _serialize_to_tensors(self) -> dict[str, Any]:
        """Where it is."""
        return self._iterator._serialize_to_tensors()

    def _restore_from_tensors(self, restored_tensors: dict[str, Any]) -> None:
        """Go to where it was."""
        self._iterator._restore_from_tensors(restored_tensors)

    def __iter__(self) -> NumpyIterator:
        """This iterator."""
        return self

    def __next__(self) -> Any:
        """The next element."""
        return mapped(
            lambda leaf: leaf.numpy() if hasattr(leaf, "numpy") else leaf, next(self._iterator)
        )
