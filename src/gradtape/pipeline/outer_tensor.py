"""Search for the outer tensors that a dataset or a user's function refers to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from types import FunctionType, MethodType
from typing import Any

from gradtape.core import nest
from gradtape.core.composite_tensor import CompositeTensor
from gradtape.core.context import current_trace
from gradtape.core.lazy_array import TracedArray, materialize
from gradtape.core.outer_scope import current_iteration, get_outer_values, key_of
from gradtape.core.symbolic_tensor import SymbolicTensor, make_symbolic
from gradtape.core.tensor import make_tensor
from gradtape.pipeline.element.structure import detach_tensor

OWN_MODULES = "gradtape.pipeline."  # objects of these modules are part of a dataset


def find_outer_tensors(root: Any) -> list[SymbolicTensor]:
    """The outer tensors that `root` refers to, each once.

    `root` is a dataset or a function. In a trace, outer tensors are those of the trace; in an
    iteration, those that the iteration has values for. The search follows closures, default
    arguments, containers, owners of methods, and the objects of which datasets consist.
    """
    stage = current_trace()
    trace = stage[0] if stage else None
    known = current_iteration.stand_ins if stage else get_outer_values()
    if trace is None and not known:
        return []
    found: dict[Any, SymbolicTensor] = {}
    seen: dict[int, Any] = {}  # keeps objects alive, so that ids stay unique
    waiting = [root]
    while waiting:
        item = waiting.pop()
        if id(item) in seen:
            continue
        seen[id(item)] = item
        held = item._array if isinstance(item, SymbolicTensor) else item
        if isinstance(held, TracedArray):
            if held.trace is trace or key_of(held) in known:
                found.setdefault(key_of(held), make_symbolic(held))
        else:
            waiting.extend(list_parts(item))
    return list(found.values())


def list_parts(item: Any) -> Iterator[Any]:
    """What an object consists of, as far as it can refer to outer tensors."""
    if isinstance(item, FunctionType):
        yield from read_cells(item)
        yield from item.__defaults__ or ()
        yield from (item.__kwdefaults__ or {}).values()
    elif isinstance(item, MethodType):
        yield item.__func__
        yield from (getattr(item.__self__, "__dict__", None) or {}).values()
        yield item.__self__
    elif isinstance(item, partial):
        yield from (item.func, *item.args, *item.keywords.values())
    elif isinstance(item, (tuple, list, set)):
        yield from item
    elif isinstance(item, Mapping):
        yield from item.values()
    elif type(item).__module__.startswith(OWN_MODULES):
        yield from getattr(item, "__dict__", {}).values()
    elif isinstance(item, CompositeTensor):
        yield from nest.flatten(item, expand_composites=True)
    elif hasattr(item, "python_function"):  # a `tf.function`
        yield item.python_function


def read_cells(function: FunctionType) -> Iterator[Any]:
    """Values of the variables that a function closes over."""
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # not assigned yet
            continue


def read_outer(leaf: Any) -> Any:
    """An outer tensor as an eager one, with its value in the running iteration."""
    if isinstance(leaf, SymbolicTensor):
        return make_tensor(materialize(leaf._array))
    return leaf


def read_and_detach(leaf: Any) -> Any:
    """A new tensor with the value of a component of an element."""
    return detach_tensor(read_outer(leaf))
