"""Datasets and iterators inside a trace: reading an element is a side effect of the graph."""

from __future__ import annotations

from collections.abc import Iterator as PythonIterator
from typing import Any

from gradtape.core import nest
from gradtape.core.context import unheard
from gradtape.core.errors import OutOfRangeError
from gradtape.core.ragged.spec import RaggedTensorSpec
from gradtape.core.sparse_tensor import SparseTensorSpec
from gradtape.core.spec import TensorSpec
from gradtape.core.symbolic_tensor import Opaque
from gradtape.core.tensor import Tensor, eager
from gradtape.graph.graph import Effect
from gradtape.ops.raw_array import truth
from gradtape.pipeline.element.element import END
from gradtape.pipeline.element.output_spec import stand_in
from gradtape.pipeline.element.structure import flatten, mapped, packed
from gradtape.pipeline.optional import Optional


class Source:
    """An iterator with one element of lookahead, which side effects of a graph read."""

    def __init__(self, draw: Any) -> None:
        """`draw()` returns the next element, or END."""
        self.draw = draw
        self.ahead: list[Any] = []

    def has_next(self) -> bool:
        """Whether there is another element."""
        if not self.ahead:
            self.ahead.append(self.draw())
        return self.ahead[0] is not END

    def next(self) -> Any:
        """The next element."""
        return self.ahead.pop() if self.ahead else self.draw()


def kernel_has_next(source: Any) -> tuple[Any, ...]:
    """Whether there is another element, as a raw array."""
    return (truth(source.item.has_next()),)


def kernel_next(source: Any) -> tuple[Any, ...]:
    """The tensors of the next element, as raw arrays."""
    element = source.item.next()
    if element is END:
        raise OutOfRangeError("get_next: End of sequence. Create a new iterator to start over.")
    parts = nest.flatten(flatten(element), expand_composites=True)
    return tuple([t._array for t in parts if isinstance(t, Tensor)])


ANY_SIZE = 3  # for unknown dimensions of placeholders
HAS_NEXT = Effect("has_next", kernel_has_next)
GET_NEXT = Effect("get_next", kernel_next)


def handle_of(trace: Any, iterator: Any) -> Tensor:
    """The tensor of a trace that represents an iterator: an argument or a capture."""
    handle = trace.opaque.get(id(iterator))
    if handle is None:
        handle = trace.opaque[id(iterator)] = eager(Opaque(iterator._source))
        trace.kept.append(iterator)
    tensor: Tensor = handle
    return tensor


def drawn(trace: Any, handle: Tensor, spec: Any) -> Any:
    """The next element, as traced tensors."""
    leaves = iter(trace.effect(GET_NEXT, (handle,)))
    return packed(spec, fill(spec, leaves))


def stood_in(trace: Any, spec: Any) -> Any:
    """A placeholder for an element, recorded like a `get_next`."""

    def with_rank(leaf: Any) -> Any:
        unknown = isinstance(leaf, TensorSpec) and leaf.shape.rank is None
        return TensorSpec([], leaf.dtype) if unknown else leaf

    element = stand_in(mapped(with_rank, spec), ANY_SIZE)
    parts = nest.flatten(flatten(element), expand_composites=True)
    outs = tuple([trace.value(t._array) for t in parts if isinstance(t, Tensor)])
    trace.append(GET_NEXT, (), {}, outs)
    return packed(spec, fill(spec, iter(outs)))


def drawn_optional(trace: Any, handle: Tensor, spec: Any) -> Optional:
    """The next element as an Optional; a guard checks whether there is one."""
    (more,) = trace.effect(HAS_NEXT, (handle,))
    if trace.observe(more._array):
        return Optional.from_value(drawn(trace, handle, spec))
    return Optional.empty(spec)


def fill(spec: Any, leaves: PythonIterator[Any]) -> PythonIterator[Any]:
    """Yield a value made of `leaves` for each spec of a tensor, and None for other specs."""
    for one in flatten(spec):
        if isinstance(one, (RaggedTensorSpec, SparseTensorSpec)):
            yield one._from_components([next(leaves) for _ in one._component_specs])
        else:
            yield next(leaves) if hasattr(one, "dtype") else None


class StagedIterator(PythonIterator[Any]):
    """One iteration over a dataset inside a trace; every call of the graph starts a new one."""

    def __init__(self, trace: Any, dataset: Any) -> None:
        """Start an iteration over `dataset`."""

        def begin() -> tuple[Any, ...]:
            with unheard():
                return (Opaque(iter(dataset)._source),)

        self._trace = trace
        self._spec = dataset.element_spec
        self._left = 1 if trace.stands_in else 0
        if trace.stands_in:
            trace.stood_in = True
            return
        (self._handle,) = trace.effect(Effect("iterate", begin, key=dataset), ())

    @property
    def element_spec(self) -> Any:
        """Spec of the elements."""
        return self._spec

    def __iter__(self) -> StagedIterator:
        """This iterator."""
        return self

    def __next__(self) -> Any:
        """The next element."""
        if self._trace.stands_in:
            if not self._left:
                raise StopIteration
            self._left -= 1
            return stood_in(self._trace, self._spec)
        (more,) = self._trace.effect(HAS_NEXT, (self._handle,))
        if not self._trace.observe(more._array):
            raise StopIteration
        return drawn(self._trace, self._handle, self._spec)

    def get_next(self, name: str | None = None) -> Any:
        """The next element.

        Raises:
            OutOfRangeError: after the last element.
        """
        if self._trace.stands_in:
            return stood_in(self._trace, self._spec)
        return drawn(self._trace, self._handle, self._spec)

    def get_next_as_optional(self) -> Optional:
        """The next element as an Optional; empty after the last element."""
        return drawn_optional(self._trace, self._handle, self._spec)
