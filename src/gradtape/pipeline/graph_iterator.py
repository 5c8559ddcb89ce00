"""Datasets and iterators inside a trace: reading an element is a side effect of the graph."""

from __future__ import annotations

from collections.abc import Iterator as PythonIterator
from typing import Any

import numpy as np

from gradtape.core import nest
from gradtape.core.context import no_recording
from gradtape.core.errors import OutOfRangeError
from gradtape.core.open_shape import has_dims
from gradtape.core.outer_scope import key_of
from gradtape.core.per_replica import PerReplica, PerReplicaSpec
from gradtape.core.primitive import Spec
from gradtape.core.ragged.spec import RaggedTensorSpec
from gradtape.core.shape_rule import FRESH, numpy_dtype_of
from gradtape.core.sparse_tensor import SparseTensorSpec
from gradtape.core.symbolic_tensor import Opaque
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.graph.graph import Effect
from gradtape.jit.trace_error import OpenSizesFailed
from gradtape.ops.raw_array import as_numpy_bool
from gradtape.pipeline.element.element import END
from gradtape.pipeline.element.structure import flatten_element, pack_element
from gradtape.pipeline.iteration import Iteration, use_iteration
from gradtape.pipeline.optional import Optional
from gradtape.pipeline.outer_tensor import find_outer_tensors


class LookaheadSource:
    """An iterator with one element of lookahead, which side effects of a graph read."""

    def __init__(self, draw: Any) -> None:
        """`draw()` returns the next element, or END."""
        self.read = draw
        self.lookahead: list[Any] = []

    def has_next(self) -> bool:
        """Whether there is another element."""
        if not self.lookahead:
            self.lookahead.append(self.read())
        return self.lookahead[0] is not END

    def next(self) -> Any:
        """The next element."""
        return self.lookahead.pop() if self.lookahead else self.read()


def has_next_kernel(source: Any) -> tuple[Any, ...]:
    """Whether there is another element, as a raw array."""
    return (as_numpy_bool(source.item.has_next()),)


def get_next_kernel(source: Any) -> tuple[Any, ...]:
    """The tensors of the next element, as raw arrays."""
    element = source.item.next()
    if element is END:
        raise OutOfRangeError("get_next: End of sequence. Create a new iterator to start over.")
    parts = nest.flatten(flatten_element(element), expand_composites=True)
    return tuple([t._array for t in parts if isinstance(t, Tensor)])


HAS_NEXT = Effect("has_next", has_next_kernel)
GET_NEXT = Effect("get_next", get_next_kernel)


def iterator_handle(trace: Any, iterator: Any) -> Tensor:
    """The tensor of a trace that represents an iterator: an argument or a capture."""
    handle: Tensor | None = trace.find_iterator(iterator)
    if handle is None:
        handle = trace.represent_iterator(iterator, make_tensor(Opaque(iterator._source)))
    return handle


def get_next_in_trace(trace: Any, handle: Tensor, spec: Any) -> Any:
    """The next element, as traced tensors."""
    leaves = trace.run_effect(GET_NEXT, (handle,), component_tensor_specs(spec))
    if any(isinstance(one, PerReplicaSpec) for one in flatten_element(spec)):
        trace.hides_empty_sizes |= any(is_known_empty(leaf) for leaf in leaves)
    return pack_element(spec, assemble_leaves(spec, iter(leaves)))


def is_known_empty(tensor: Any) -> bool:
    """Whether a tensor has a size that is known to be zero."""
    return any(type(n) is int and n == 0 for n in tensor._array.shape)


def make_element_placeholder(trace: Any, spec: Any) -> Any:
    """An element of a trace without values, recorded like a `get_next`."""
    outs = trace.run_effect(GET_NEXT, (), component_tensor_specs(spec))
    return pack_element(spec, assemble_leaves(spec, iter(outs)))


def component_tensor_specs(spec: Any) -> list[Any]:
    """The specs of all tensors of an element, also inside composite ones."""
    found: list[Any] = []
    for one in flatten_element(spec):
        if isinstance(one, (RaggedTensorSpec, SparseTensorSpec)):
            found += one._component_specs
        elif isinstance(one, PerReplicaSpec):
            found += component_tensor_specs(one._component_specs)
        elif hasattr(one, "dtype"):
            found.append(as_element_spec(one))
    return found


def as_element_spec(spec: Any) -> Any:
    """The spec of a tensor of an element, whose unknown sizes are unknown in the graph."""
    if spec.shape.rank is None:
        return spec
    sizes = tuple([FRESH if n is None else n for n in spec.shape.as_list()])
    return Spec((sizes, numpy_dtype_of(spec.dtype)))


def get_next_optional_in_trace(trace: Any, handle: Tensor, spec: Any) -> Optional:
    """The next element as an Optional; a guard checks whether there is one."""
    (more,) = trace.run_effect(HAS_NEXT, (handle,))
    if trace.guard_value(more._array):
        return Optional.from_value(get_next_in_trace(trace, handle, spec))
    return Optional.empty(spec)


def assemble_leaves(spec: Any, leaves: PythonIterator[Any]) -> PythonIterator[Any]:
    """Yield a value made of `leaves` for each spec of a tensor, and None for other specs."""
    for one in flatten_element(spec):
        if isinstance(one, (RaggedTensorSpec, SparseTensorSpec)):
            yield one._from_components([next(leaves) for _ in one._component_specs])
        elif isinstance(one, PerReplicaSpec):
            yield PerReplica(list(assemble_leaves(one._component_specs, leaves)))
        else:
            yield next(leaves) if hasattr(one, "dtype") else None


class TracedIterator(PythonIterator[Any]):
    """One iteration over a dataset inside a trace; every call of the graph starts a new one."""

    def __init__(self, trace: Any, dataset: Any) -> None:
        """Start an iteration over `dataset`."""
        outer = find_outer_tensors(dataset)
        if any(has_dims(tensor._array.shape) for tensor in outer):
            raise OpenSizesFailed  # functions of elements run with the sizes of this call
        keys = [key_of(tensor._array) for tensor in outer]

        def begin(*raws: Any) -> tuple[Any, ...]:
            work = Iteration()
            work.outer_values = dict(zip(keys, map(np.asarray, raws), strict=True))
            with no_recording(), use_iteration(work):
                return (Opaque(iter(dataset)._source),)

        self._trace = trace
        self._spec = dataset.element_spec
        self.has_no_values = trace.is_abstract
        self._count = 0
        if self.has_no_values:
            return
        (self._handle,) = trace.run_effect(Effect("iterate", begin, key=dataset), outer)

    @property
    def element_spec(self) -> Any:
        """Spec of the elements."""
        return self._spec

    def __iter__(self) -> TracedIterator:
        """This iterator."""
        return self

    def __next__(self) -> Any:
        """The next element."""
        if self.has_no_values:
            if not self._trace.has_next(self._count):
                raise StopIteration
            self._count += 1
            return make_element_placeholder(self._trace, self._spec)
        (more,) = self._trace.run_effect(HAS_NEXT, (self._handle,))
        if not self._trace.guard_value(more._array):
            raise StopIteration
        return get_next_in_trace(self._trace, self._handle, self._spec)

    def get_next(self, name: str | None = None) -> Any:
        """The next element.

        Raises:
            OutOfRangeError: after the last element.
        """
        if self.has_no_values:
            return make_element_placeholder(self._trace, self._spec)
        return get_next_in_trace(self._trace, self._handle, self._spec)

    def get_next_as_optional(self) -> Optional:
        """The next element as an Optional; empty after the last element."""
        return get_next_optional_in_trace(self._trace, self._handle, self._spec)
