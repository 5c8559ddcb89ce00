"""Outer tensors: tensors of a function's trace that a dataset made in that function uses.

The dataset is made once, when the function is traced. Every call of the function starts iterations
of its own, which know the values of that call. A user's function of elements gets these values as
further arguments, so that its graph serves all calls.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

from gradtape.core.context import local
from gradtape.core.lazy_array import TracedArray, materialize
from gradtape.core.outer_scope import current_iteration, get_outer_values, key_of
from gradtape.core.symbolic_tensor import SymbolicTensor, make_symbolic, out_of_scope_error


@contextlib.contextmanager
def use_stand_ins(tensors: Sequence[Any], arguments: Sequence[Any]) -> Iterator[None]:
    """In this scope, traces use `arguments` in place of the outer `tensors`."""
    before = current_iteration.stand_ins
    pairs = zip(tensors, arguments, strict=True)
    current_iteration.stand_ins = {**before, **{key_of(t._array): a for t, a in pairs}}
    try:
        yield
    finally:
        current_iteration.stand_ins = before


def find_stand_in(held: TracedArray, trace: Any) -> Any:
    """The tensor that takes the place of an outer one in `trace`; None if there is none."""
    found = current_iteration.stand_ins.get(key_of(held))
    if isinstance(found, SymbolicTensor) and found._array.trace is not trace:
        return None
    return found


def require_stand_in(tensor: SymbolicTensor, trace: Any) -> Any:
    """The tensor that takes the place of an outer one in `trace`.

    Raises:
        TypeError: if there is none.
    """
    found = None if trace.closed else find_stand_in(tensor._array, trace)
    if found is None:
        raise out_of_scope_error(tensor)
    return found


def read_outer_value(held: TracedArray) -> Any:
    """The raw value of an outer tensor for the running code.

    Raises:
        TypeError: if it has none.
    """
    if local.recorders and local.recorders[0].is_trace:
        return materialize(require_stand_in(make_symbolic(held), local.recorders[0])._array)
    found = get_outer_values().get(key_of(held))
    if found is None:
        raise out_of_scope_error(make_symbolic(held))
    return found


def use_local_tensor(leaf: Any) -> Any:
    """What takes the place of an outer tensor in the running trace; other objects unchanged."""
    if not isinstance(leaf, SymbolicTensor) or not current_iteration.stand_ins:
        return leaf
    found = current_iteration.stand_ins.get(key_of(leaf._array))
    return leaf if found is None else found
