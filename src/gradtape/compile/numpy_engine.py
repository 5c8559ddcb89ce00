"""The numpy engine: a graph becomes a plan of NumPy calls, and that one flat function.

A plan keeps buffers between calls, so it belongs to one call at a time: the caller holds a lock
while it runs, and runs eagerly if it cannot get it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from gradtape.compile.generate import generate
from gradtape.compile.lower import lower
from gradtape.compile.passes.broadcast import broadcast
from gradtape.compile.passes.buffer import buffer
from gradtape.compile.passes.common import common
from gradtape.compile.passes.dead import dead
from gradtape.compile.passes.fold import fold
from gradtape.compile.passes.product import product
from gradtape.compile.passes.scalar import scalar
from gradtape.compile.plan import Plan
from gradtape.trace.graph import Graph

PASSES: dict[str, Callable[[Plan], Plan]] = {
    "broadcast": broadcast,
    "fold": fold,
    "common": common,
    "dead": dead,
    "product": product,
    "scalar": scalar,
    "buffer": buffer,
}


class Compiled:
    """A graph ready to run: called with raw inputs, it returns a tuple of raw outputs."""

    __slots__ = ("plan", "run")

    def __init__(self, plan: Plan) -> None:
        """Generate the function of `plan`."""
        self.plan = plan
        self.run = generate(plan)

    def __call__(self, *raws: Any) -> Any:
        """Run."""
        return self.run(*raws)

    def pretty(self) -> str:
        """The calls, readably."""
        return self.plan.pretty()


def compile_graph(graph: Graph, passes: Iterable[str] = tuple(PASSES)) -> Compiled:
    """A function of the graph's raw inputs that returns its raw outputs.

    Args:
        graph: what to compute.
        passes: names of the passes to apply, all of them by default; they run in the order
            of `PASSES`.
    """
    plan = lower(graph)
    chosen = set(passes)
    for name, apply in PASSES.items():
        if name in chosen:
            plan = apply(plan)
    return Compiled(plan)
