"""StepwisePlan: runs a graph node by node, for the first call of new sizes.

Compiling a plan costs more than one run of the graph. A size that occurs once is not compiled.
"""

from __future__ import annotations

from typing import Any

from gradtape.graph.graph import Graph
from gradtape.graph.replay import lookup_operand
from gradtape.jit.guard_tree import run_node


class StepwisePlan:
    """A graph that is not compiled, with the interface of a plan."""

    returns_jax_arrays = False

    def __init__(self, graph: Graph) -> None:
        """Run `graph`."""
        self.in_place: dict[int, int] = {}  # no variable is updated in its array
        self.graph = graph
        self.nodes = graph.live_nodes()

    def run(self, *raws: Any) -> tuple[Any, ...]:
        """The raw outputs for these raw inputs."""
        frame: dict[int, Any] = dict(zip(self.graph.inputs, raws, strict=True))
        for node in self.nodes:
            args = tuple([lookup_operand(frame, operand) for operand in node.inputs])
            frame.update(zip(node.outputs, run_node(node, args), strict=True))
        return tuple([lookup_operand(frame, operand) for operand in self.graph.outputs])
