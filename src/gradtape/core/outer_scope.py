"""What the outer tensors of datasets stand for in a thread: see `graph/outer_tensor.py`."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from gradtape.core.lazy_array import TracedArray

Key = tuple[int, int]  # the id of the trace of an outer tensor, and its number there


class CurrentIteration(threading.local):
    """The iteration over a dataset that a thread works for, and what outer tensors are in it.

    Attributes:
        active: the iteration, which has the raw values of outer tensors; or None.
        stand_ins: the arguments that take their places in the trace of a user's function.
        is_trace_only: whether user functions may be traced only, not called on placeholders.
    """

    active: Any = None
    stand_ins: Mapping[Key, Any] = {}
    is_trace_only: bool = False


current_iteration = CurrentIteration()


def get_outer_values() -> Mapping[Key, Any]:
    """The raw values of outer tensors in the iteration that this thread works for."""
    one = current_iteration.active
    return {} if one is None else one.outer_values


def key_of(held: TracedArray) -> Key:
    """What identifies an outer tensor: copies of its array have the same key."""
    return id(held.trace), held.number


def is_known_outer(held: TracedArray) -> bool:
    """Whether an outer tensor has a value or a stand-in in this thread."""
    key = key_of(held)
    return key in current_iteration.stand_ins or key in get_outer_values()
