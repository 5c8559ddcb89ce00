"""BodyPlan: runs the graph of a body, and which unknown sizes its code depends on.

Bodies for sizes that differ only in arrays that the body looks up share one plan. An example is a
loop over a sequence: its body reads one row, so its plan serves every length.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtape.core.dims import Dim
from gradtape.core.dispatch import run_kernel
from gradtape.core.open_shape import unknowns_in
from gradtape.core.ports import CompilerPort
from gradtape.core.size_atom import Unknown
from gradtape.core.size_function import Env
from gradtape.graph.graph import Graph, Node
from gradtape.graph.loop_buffer import find_in_place_carries, write_carries_in_place
from gradtape.graph.replay import lookup_operand
from gradtape.graph.specialise import node_unknowns

RunPlan = Callable[..., tuple[Any, ...]]
STEPWISE_RUNS = 100  # runs of such a body before it is compiled, which costs more than a short loop
MAX_PLANS = 64  # that a body of unknown sizes keeps
MAX_STEPWISE_BYTES = 1 << 20  # of the inputs: steps update no array in place
# Kernels that stay one call, and read the size of their array in each run: op → its position
LOOKUPS = {"gather": 0, "gather_nd": 0, "slice_from": 0, "update_nd": 0, "normalize_index_in": 1}


class BodyPlan:
    """Runs the graph of a body on raw arrays, at first node by node if `stepwise_runs` says so."""

    def __init__(self, graph: Graph | None, stepwise_runs: int = 0) -> None:
        """With None, the body sets `graph` before the first run."""
        self.graph = graph
        self.stepwise_runs = stepwise_runs
        self._run: RunPlan | None = None
        self._in_place_run: RunPlan | None = None
        self._in_place_writers: dict[int, Node] | None = None

    def run(self, *raws: Any) -> tuple[Any, ...]:
        """Run on raw inputs."""
        assert self.graph is not None
        if self.stepwise_runs:
            self.stepwise_runs -= 1
            if sum([raw.nbytes for raw in raws]) <= MAX_STEPWISE_BYTES:
                return run_stepwise(self.graph, raws)
            self.stepwise_runs = 0
        if self._run is None:
            self._run = CompilerPort.compile(self.graph)
        return self._run(*raws)

    def in_place_carries(self, carries: int) -> tuple[int, ...]:
        """Positions of the loop carries that the body can update in place; after the first run."""
        if self.stepwise_runs:
            return ()
        if self._in_place_writers is None:
            self._in_place_writers = (
                find_in_place_carries(self.graph, carries) if self.graph is not None else {}
            )
        return tuple(self._in_place_writers)

    def run_in_place(self, *raws: Any) -> tuple[Any, ...]:
        """Run on raw inputs and write into the carries that `find_in_place_carries` lists."""
        if self._in_place_run is None:
            assert self.graph is not None
            assert self._in_place_writers is not None
            self._in_place_run = CompilerPort.compile(
                write_carries_in_place(self.graph, self._in_place_writers)
            )
        return self._in_place_run(*raws)


class SharedPlans:
    """The plans of a body of unknown sizes, one for each choice of the sizes that matter."""

    def __init__(self, unknowns: set[Unknown]) -> None:
        """For a body whose plans depend on these sizes."""
        self.unknowns = sorted(unknowns, key=lambda unknown: unknown.order)
        self.plans: dict[Any, BodyPlan] = {}

    def find(self, graph: Graph | None, env: Env) -> BodyPlan:
        """The plan for these sizes; a new one runs `graph`."""
        key = tuple([env.get(unknown) for unknown in self.unknowns])
        if Dim in map(type, env.values()):
            return BodyPlan(graph)  # for another trace, which ends
        if key not in self.plans:
            if len(self.plans) >= MAX_PLANS:
                self.plans.clear()
            self.plans[key] = BodyPlan(graph, STEPWISE_RUNS)
        return self.plans[key]


def run_stepwise(graph: Graph, raws: tuple[Any, ...]) -> tuple[Any, ...]:
    """Run a graph without effects node by node."""
    frame: dict[int, Any] = dict(zip(graph.inputs, raws, strict=True))
    for node in graph.nodes:
        args = tuple([lookup_operand(frame, operand) for operand in node.inputs])
        made = run_kernel(node.op, args, node.static)  # type: ignore[arg-type]
        frame.update(zip(node.outputs, made if node.op.outputs else (made,), strict=True))
    return tuple([lookup_operand(frame, operand) for operand in graph.outputs])


def find_plan_unknowns(graph: Graph) -> set[Unknown]:
    """The unknown sizes that the plan of a graph depends on.

    The sizes of an array do not count if the graph only looks it up, or writes parts of it.
    """
    counted = {i for node in graph.nodes for i in node.reads() if not looks_up(node, i)}
    for node in graph.nodes:
        if node.op.name != "update_nd":
            counted.update(node.outputs)
    found = unknowns_in([graph.specs[number].shape for number in counted])
    return found.union(*[node_unknowns(node) for node in graph.nodes])


def looks_up(node: Node, number: int) -> bool:
    """Whether a node only looks up, or writes parts of, a value that it reads."""
    place = LOOKUPS.get(node.op.name)
    if place is None or node.inputs.count(number) > 1 or "custom" in node.static:
        return False
    return node.inputs[place] == number
