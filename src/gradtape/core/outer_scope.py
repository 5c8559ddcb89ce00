"""What the outer tensors of datasets stand for in a thread: see `graph/outer_tensor.py`."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from gradtape.core.lazy_array import TracedArray

Key = tuple[int, int]  # the id of the trace of an outer tensor, and its number there


class OuterScope(threading.local):
    """What outer tensors stand for in this thread.

    Attributes:
        values: their raw values in the iteration that the thread works for.
        stand_ins: the arguments that take their places in the trace of a user's function.
    """

    values: Mapping[Key, Any] = {}
    stand_ins: Mapping[Key, Any] = {}


outer_scope = OuterScope()


def key_of(held: TracedArray) -> Key:
    """What identifies an outer tensor: copies of its array have the same key."""
    return id(held.trace), held.number


def is_known_outer(held: TracedArray) -> bool:
    """Whether an outer tensor has a value or a stand-in in this thread."""
    key = key_of(held)
    return key in outer_scope.values or key in outer_scope.stand_ins
