"""Step: the backward half of one recorded call. The first item of an entry of a tape is its step.

A step has two forms. `run(entry, g, grads)` works on raw arrays; `run_recorded` works on Tensors,
so that an outer recorder sees the ops. Both add to `grads`, which maps uids to cotangents, what the
cotangent `g` of the output contributes to those of the inputs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtape.core.primitive import Primitive

Entry = tuple[Any, ...]
RunStep = Callable[[Entry, Any, dict[int, Any]], None]


class Step:
    """The base class of steps.

    Attributes:
        run: adds cotangents, which are raw arrays.
        run_recorded: the same for Tensors.
        op: the primitive, or None.
        count: how many watched inputs an entry has; their uids follow the step. None if the entry
            holds a tuple of uids instead.
    """

    __slots__ = ()
    run: RunStep
    run_recorded: RunStep
    op: Primitive | None = None
    count: int | None = None

    def narrow(self, want: int, raw: bool) -> RunStep:
        """`run` or `run_recorded` for some inputs: bit k of `want` is the k-th watched input."""
        return self.run if raw else self.run_recorded

    def inputs_of(self, entry: Entry) -> tuple[int, ...]:
        """Uids of the watched inputs of an entry."""
        uids: tuple[int, ...] = entry[1] if self.count is None else entry[1 : 1 + self.count]
        return uids


class CallStep(Step):
    """A step of a call with any number of inputs, which computes all cotangents at once."""

    def run(
        self, entry: Entry, g: Any, grads: dict[int, Any], want: int = -1, raw: bool = True
    ) -> None:
        """Run for the watched inputs in `want`, on raw arrays or on Tensors."""
        raise NotImplementedError

    def run_recorded(self, entry: Entry, g: Any, grads: dict[int, Any]) -> None:
        """Run on Tensors."""
        self.run(entry, g, grads, -1, False)

    def narrow(self, want: int, raw: bool) -> RunStep:
        """`run` or `run_recorded` for the watched inputs in `want`."""
        return lambda entry, g, grads: self.run(entry, g, grads, want, raw)


class RouteStep(Step):
    """Stores the cotangent of one of several outputs under the uid of their common entry."""

    count = 1

    def run(self, entry: Entry, g: Any, grads: dict[int, Any]) -> None:
        """Store it."""
        _, anchor, i = entry
        grads.setdefault(anchor, {})[i] = g

    run_recorded = run


ROUTE_COTANGENT = RouteStep()
