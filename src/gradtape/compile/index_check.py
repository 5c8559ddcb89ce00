"""Indices that XLA does not check: which ones cannot be wrong, and which ones the host checks.

NumPy kernels raise an error if an index is out of range, programs on XLA do not. Indices that
depend on no input of the graph, such as the counter of a loop, are the same in every call. The
first call ran on NumPy and has checked them. Other indices are returned by the XLA program, and the
host checks them before any variable changes. Inside loops and branches it cannot.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from gradtape.core.primitive import REGISTRY
from gradtape.graph.control_node import COND, LOOP
from gradtape.graph.graph import Constant, Graph, Node
from gradtape.ops.gather_scatter import check_index_range
from gradtape.ops.nn.softmax import find_label_positions

LABEL_OPS = frozenset(["sparse_cross_entropy", "subtract_one_hot"])
CHECKABLE_OPS = frozenset(["gather", "scatter_add", *LABEL_OPS])
CHECKED_OPERANDS = {  # position of the operand whose values the kernel checks
    **dict.fromkeys([*CHECKABLE_OPS, "gather_nd", "update_nd"], 1),
    "floormod_integers": 1,
    "floordiv_integers": 1,
}


class IndexCheck(NamedTuple):
    """A check of indices on the host, in the place of an op that only fails."""

    name: str
    operand: int
    size: int

    def kernel(self, indices: Any) -> None:
        """Raise InvalidArgumentError unless all indices are in range."""
        if self.name in LABEL_OPS:
            find_label_positions(indices, self.size)
        else:
            check_index_range(self.name, indices, self.size)


def find_index_checks(graph: Graph) -> list[IndexCheck] | None:
    """The checks that a graph needs on XLA; None if one of them is impossible on the host."""
    found = VaryingValues(graph, set(graph.inputs))
    if not found.are_bodies_safe or any(n.op.name not in CHECKABLE_OPS for n in found.unchecked):
        return None
    checks = [make_index_check(graph, node) for node in found.unchecked]
    return list({(check.operand, check.size): check for check in reversed(checks)}.values())


def make_index_check(graph: Graph, node: Node) -> IndexCheck:
    """The check of one node."""
    operand = node.inputs[CHECKED_OPERANDS[node.op.name]]
    assert type(operand) is int  # a constant does not vary
    if "size" in node.static:
        size = node.static["size"]
    else:
        first = node.inputs[0]
        shape = first.raw.shape if isinstance(first, Constant) else graph.specs[first].shape
        size = shape[node.static.get("axis", -1)]
    return IndexCheck(node.op.name, operand, int(size))


class VaryingValues:
    """The values of a graph that depend on inputs which vary between calls.

    Attributes:
        values: numbers of these values.
        unchecked: nodes whose kernel would check such a value.
        are_bodies_safe: whether no loop or branch has such a node.
    """

    def __init__(self, graph: Graph, varying: set[int]) -> None:
        """`varying` are the inputs that vary."""
        self.values = set(varying)
        self.unchecked: list[Node] = []
        self.are_bodies_safe = True
        for node in graph.live_nodes():
            self.add(node)

    def varies(self, operand: Any) -> bool:
        """Whether an operand varies."""
        return type(operand) is int and operand in self.values

    def add(self, node: Node) -> None:
        """Add the outputs of a node that vary."""
        flags = [self.varies(operand) for operand in node.inputs]
        if node.op is LOOP:
            outputs = self.find_varying_outputs(node, flags)
        elif node.op is COND:
            for body in node.static["branches"]:
                self.visit_body(body, [True] * (len(flags) - 1))
            outputs = [any(flags)] * len(node.outputs)
        else:
            fixed = REGISTRY.get(node.op.name) is node.op
            outputs = [any(flags) or not fixed] * len(node.outputs)
            place = CHECKED_OPERANDS.get(node.op.name)
            if place is not None and flags[place]:
                self.unchecked.append(node)
        self.values.update(o for o, flag in zip(node.outputs, outputs, strict=True) if flag)

    def visit_body(self, body: Any, flags: list[bool]) -> list[bool]:
        """Which outputs of a body vary, if those of its inputs in `flags` do."""
        graph = body.existing_graph
        if graph is None:
            self.are_bodies_safe = False
            return []
        inside = VaryingValues(graph, {i for i, f in zip(graph.inputs, flags, strict=True) if f})
        if inside.unchecked or not inside.are_bodies_safe:
            self.are_bodies_safe = False
        return [inside.varies(o) for o in graph.outputs]

    def find_varying_outputs(self, node: Node, flags: list[bool]) -> list[bool]:
        """Which outputs of a loop vary; carries are added until nothing changes."""
        body, test, shape = (node.static[name] for name in ("body", "test", "shape"))
        n, captures = shape.carries, flags[1 + shape.carries : 1 + shape.carries + shape.captures]
        carry, ends = flags[1 : 1 + n], flags[0]
        while self.are_bodies_safe:
            if test is not None and self.visit_body(test, [*carry, *captures]) != [False]:
                ends = True
            outs = self.visit_body(body, [*carry, *flags[1 + n :]])
            after = [ends or a or b for a, b in zip(carry, outs, strict=False)]
            if after == carry:
                saved = [carry[i] for i in shape.saved]
                return [*carry, *(ends or f for f in outs[n:]), ends, *saved]
            carry = after
        return [True] * len(node.outputs)
