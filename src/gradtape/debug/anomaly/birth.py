"""The birth of a non-finite value: which op made it, where, and from which numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.user_location import Location
from gradtape.debug.anomaly.finite import is_finite


class Birth:
    """The op that made the first non-finite value.

    Attributes:
        op: its name.
        location: the user's line of the forward op.
        direction: "forward" or "backward".
        facts: what its inputs look like, such as "zero second" or "half".
        position: how many entries of the ledger precede it.
        uid: the result of the op, or 0 if it is not known.
    """

    def __init__(
        self, op: str, location: Location, direction: str, facts: frozenset[str], position: int = 0
    ) -> None:
        """A birth by `op`."""
        self.op, self.location, self.direction, self.facts = op, location, direction, facts
        self.position = position
        self.uid = 0
        self.context: tuple[str, ...] = ()  # names of the ops that made its inputs
        self.uses: frozenset[str] = frozenset()  # names of the ops that use its result
        self.is_softmax = False  # whether its op is the exponential of a softmax by hand
        self.repeats = 0  # how often the same instruction ran


def facts_of(raws: Any, result: Any = None) -> frozenset[str]:
    """What matters about the inputs of an op: zeros, signs, half precision."""
    found = set()
    for name, raw in zip(("first", "second", "third"), raws, strict=False):
        array = np.asarray(raw)
        if array.dtype.kind not in "fciV":
            continue
        if array.dtype.itemsize == 2 and array.dtype.kind in "fV":
            found.add("half")
            array = array.astype(np.float32)
        if not is_finite(array):
            found.add("non-finite input")
        if not array.size:
            found.add(f"empty {name}")
        if array.size and bool((array == 0).any()):
            found.add(f"zero {name}")
        if array.size and array.dtype.kind != "c" and bool((array < 0).any()):
            found.add(f"negative {name}")
        if array.size == 1:
            found.add(f"{name}={float(np.real(array.reshape(())[()])):g}")
    if getattr(result, "dtype", None) is not None and result.dtype.itemsize == 2:
        found.add("half")
    return frozenset(found)
