"""In-place updates of variables, where no other reference can see the old value."""

from __future__ import annotations

import math
from itertools import repeat
from typing import Any

from gradtape.compile.numpy.engine import NumpyPlan, run_commit_calls
from gradtape.jit.trace_path import TracedPath
from gradtape.state.variable.storage import ExclusiveUpdate, current_arrays, make_version

MIN_IN_PLACE_BYTES = (
    32768  # bytes on average; below, a new array costs less than the ownership check
)


def is_worth_in_place(plan: NumpyPlan, path: TracedPath) -> bool:
    """Whether the arrays that a plan can update in place are large enough to pay off."""
    specs = [path.graph.specs[path.graph.inputs[j]] for j in plan.in_place.values()]
    total = sum(math.prod(shape) * dtype.itemsize for shape, dtype in specs)
    return bool(specs) and total >= MIN_IN_PLACE_BYTES * len(specs)


class InPlaceRunner:
    """Runs a plan and writes the new values of variables into their old arrays."""

    def __init__(self, plan: NumpyPlan, path: TracedPath, variables: list[Any]) -> None:
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
        self.outputs = [path.result_count + k for k in range(len(path.writes))]
        self.sources = [owned.index(i) if i in owned else -1 for i in path.writes]

    def __call__(self, raws: list[Any]) -> Any:
        """Update the variables in place and return the outputs; None if that is impossible.

        Everything that can fail runs first; then one loop in C changes the variables.
        """
        mine: list[Any] = []
        taken = ExclusiveUpdate(self.owned)
        try:
            if self.busy.setdefault(0, mine) is not mine:
                return None
            with taken:
                return self.update_variables(raws, taken) if taken.is_exclusive else None
        finally:
            if self.busy.get(0) is mine:
                self.busy.clear()
            taken.restore_versions()

    def update_variables(self, raws: list[Any], taken: ExclusiveUpdate) -> Any:
        """Run the plan, commit the updates, and return the outputs."""
        arrays: list[Any] = [None] * len(self.variables)
        for i, array in zip(self.order, taken.arrays, strict=True):
            arrays[i] = array
        for i, array in zip(self.rest, current_arrays(self.others), strict=True):
            arrays[i] = array
        outputs, calls = self.plan.run_for_commit(*raws, *arrays)
        versions = [
            make_version(outputs[k] if outputs[k] is not None else taken.arrays[source])
            for k, source in zip(self.outputs, self.sources, strict=True)
        ]
        run_commit_calls(calls, map(setattr, self.written, repeat("_value"), versions))
        return outputs
