"""In-place updates of variables, where no other reference can see the old value."""

from __future__ import annotations

import math
from itertools import repeat
from typing import Any

from gradtape.compile.numpy.engine import Plan, commit
from gradtape.jit.trace_path import Path
from gradtape.state.variable.storage import Taken, arrays_of, version

LARGE = 32768  # bytes on average; below, a new array costs less than the ownership check


def pays(plan: Plan, path: Path) -> bool:
    """Whether the arrays that a plan can update in place are large enough to pay off."""
    specs = [path.graph.specs[path.graph.inputs[j]] for j in plan.in_place.values()]
    total = sum(math.prod(shape) * dtype.itemsize for shape, dtype in specs)
    return bool(specs) and total >= LARGE * len(specs)


class InPlace:
    """Runs a plan and writes the new values of variables into their old arrays."""

    def __init__(self, plan: Plan, path: Path, variables: list[Any]) -> None:
        """For the plan of a path that reads and writes `variables`."""
        self.busy: dict[
            int, Any
        ] = {}  # the running call; unlike a lock, an interrupt cannot leak it
        self.plan = plan
        self.variables = variables
        first = len(path.graph.inputs) - len(path.states)
        owned = sorted({j - first for j in plan.in_place.values()}, key=lambda i: variables[i]._key)
        self.owned = [variables[i] for i in owned]
        self.rest = [i for i in range(len(variables)) if i not in owned]
        self.others = [variables[i] for i in self.rest]
        self.order = owned
        self.written = [variables[i] for i in path.writes]
        self.outputs = [path.results + k for k in range(len(path.writes))]
        self.sources = [owned.index(i) if i in owned else -1 for i in path.writes]

    def __call__(self, raws: list[Any]) -> Any:
        """Update the variables in place and return the outputs; None if that is impossible.

        Everything that can fail runs first; then one loop in C changes the variables.
        """
        mine: list[Any] = []
        taken = Taken(self.owned)
        try:
            if self.busy.setdefault(0, mine) is not mine:
                return None
            with taken:
                return self.updated(raws, taken) if taken.own else None
        finally:
            if self.busy.get(0) is mine:
                self.busy.clear()
            taken.put_back()

    def updated(self, raws: list[Any], taken: Taken) -> Any:
        """Run the plan, commit the updates, and return the outputs."""
        arrays: list[Any] = [None] * len(self.variables)
        for i, array in zip(self.order, taken.arrays, strict=True):
            arrays[i] = array
        for i, array in zip(self.rest, arrays_of(self.others), strict=True):
            arrays[i] = array
        outputs, calls = self.plan.staged(*raws, *arrays)
        versions = [
            version(outputs[k] if outputs[k] is not None else taken.arrays[source])
            for k, source in zip(self.outputs, self.sources, strict=True)
        ]
        commit(calls, map(setattr, self.written, repeat("_value"), versions))
        return outputs
