"""Ownership: may an array be overwritten, because no other code can see its old value?

Before code overwrites an array, it compares the reference count with the one that the same
situation has when nothing else refers to the array. The counts depend on the version of Python, so
they are measured once, at import. Each is that of an array in one situation:

    COTANGENT_REFERENCES   a dict, a variable of the caller and a parameter (`cotangent.accumulate`)
    UPDATE_REFERENCES      a variable and an attribute (`VariableStorage._update`)
    VERSION_REFERENCES     a tensor in a list (`are_versions_exclusive`)
    ARRAY_REFERENCES       the array of that tensor, also in an attribute and a variable
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
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


def are_versions_exclusive(versions: list[Any], places: Iterable[int]) -> bool:
    """Whether the tensors at `places` in a list may be overwritten.

    Their arrays may be in one more attribute: `ExclusiveUpdate` keeps them in their variables.
    """
    for i in places:
        array = versions[i]._array
        if (
            getrefcount(versions[i]) != VERSION_REFERENCES
            or getrefcount(array) != ARRAY_REFERENCES
            or type(array) is not np.ndarray
            or array.base is not None
            or not array.flags.carray
        ):
            return False
    return True


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

    __slots__ = ("_array",)
    _array: Any


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
    array = storage._array = np.empty(1)
    return count_references(array)


def count_version_references() -> tuple[int, int]:
    """Measure VERSION_REFERENCES and ARRAY_REFERENCES, by the lines of `are_versions_exclusive`."""
    versions = [Holder()]
    storage = Holder()
    storage._array = versions[0]._array = np.empty(1)
    for i in range(1):
        array = versions[i]._array
        counts = getrefcount(versions[i]), getrefcount(array)
    return counts


# Without the GIL another thread may take a reference at any time, so a count proves nothing.
COTANGENT_REFERENCES = UPDATE_REFERENCES = VERSION_REFERENCES = ARRAY_REFERENCES = -1
if HAS_GIL:
    COTANGENT_REFERENCES = count_cotangent_references()
    UPDATE_REFERENCES = count_update_references()
    VERSION_REFERENCES, ARRAY_REFERENCES = count_version_references()
