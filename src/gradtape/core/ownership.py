"""Ownership: may an array be overwritten, because no other code can see its old value?

Code that is about to overwrite an array compares its reference count with the count that the same
situation has when nothing else refers to the array. The counts depend on the version of Python, so
they are measured once, at import. Each is that of an array in one situation:

    COTANGENT_REFERENCES   a dict, a variable of the caller and a parameter (`cotangent.accumulate`)
    UPDATE_REFERENCES      a variable and an attribute (`VariableStorage._update`)

`state.variable.commit` measures the counts of its `ExclusiveUpdate` itself.
"""

from __future__ import annotations

import sys
from sys import getrefcount
from typing import Any

import numpy as np

HAS_GIL: bool = getattr(sys, "_is_gil_enabled", lambda: True)()


def is_exclusive(array: Any, references: int) -> bool:
    """Whether `array` owns its memory, is writable and has only the references of the situation."""
    return (
        getrefcount(array) == references
        and type(array) is np.ndarray
        and array.base is None
        and array.flags.writeable
    )


def count_references(thing: Any) -> int:
    """The reference count of `thing`, as `is_exclusive` sees it."""
    return getrefcount(thing)


def owns_memory(array: Any) -> bool:
    """Whether `array` is a writable C-contiguous array that is not a view."""
    return type(array) is np.ndarray and array.base is None and bool(array.flags.carray)


def is_sole_result(array: Any, outs: tuple[Any, ...]) -> bool:
    """Whether `array`, one of the results `outs`, may be overwritten: nothing shares its memory."""
    sharing = [out is array or getattr(out, "base", None) is array for out in outs]
    return owns_memory(array) and sum(sharing) == 1


class Holder:
    """An object that refers to an array by attributes."""

    __slots__ = ("array",)
    array: Any


def count_cotangent_references() -> int:
    """Measure COTANGENT_REFERENCES."""

    def accumulate(before: Any) -> int:
        return count_references(before)

    grads = {0: np.empty(1)}
    before = grads.get(0)
    return accumulate(before)


def count_update_references() -> int:
    """Measure UPDATE_REFERENCES."""
    storage = Holder()
    array = storage.array = np.empty(1)
    return count_references(array)


# Without the GIL another thread may take a reference at any time, so a count proves nothing.
COTANGENT_REFERENCES = UPDATE_REFERENCES = -1
if HAS_GIL:
    COTANGENT_REFERENCES = count_cotangent_references()
    UPDATE_REFERENCES = count_update_references()
