"""Lanes: the nodes that all replicas of a graph have in common, each of them once.

Lock-step replicas record into one graph, which has a copy of each node for each replica. A lane is
one such node with the operands of all replicas. A program that runs once for each replica, with
another replica on each device, needs each lane once. Other nodes are shared: all devices compute
the same there.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from gradtape.graph.custom_gradient import CUSTOM
from gradtape.graph.graph import Constant, Effect, Graph, Node, Operand
from gradtape.graph.graph_equality import same_renumbered_node, same_value
from gradtape.graph.trace_op import INSTALL

SHARED = -1


class ReplicasDifferError(Exception):
    """The replicas of a graph do not all apply the same ops."""


class ReplicaMarks:
    """Which replica has recorded which values of a trace.

    Attributes:
        devices: the devices of the replicas.
        is_usable: False if replicas of different devices record into the trace.
    """

    def __init__(self, devices: Sequence[Any]) -> None:
        """Start with values that no replica has recorded."""
        self.devices = tuple(devices)
        self.is_usable = True
        self._starts = [0]
        self._owners = [SHARED]

    def mark(self, number: int, owner: int) -> None:
        """Note that `owner` records the values from `number` on."""
        self._starts.append(number)
        self._owners.append(owner)

    def owner_of(self, number: int) -> int:
        """The replica that has recorded a value, or SHARED."""
        return self._owners[bisect_right(self._starts, number) - 1]

    def has_replicas(self, graph: Graph) -> bool:
        """Whether a replica has recorded a node of the graph; one replica records all of them."""
        return len(self.devices) == 1 or any(
            self.owner_of(node.outputs[0]) != SHARED for node in graph.nodes if node.outputs
        )


class ReplicaSelection:
    """An operand that differs between replicas.

    Attributes:
        number: a number for the value that each replica has of it.
        operands: the operands, one for each replica.
    """

    __slots__ = ("number", "operands")

    def __init__(self, number: int, operands: tuple[Operand, ...]) -> None:
        """Hold the operands of all replicas."""
        self.number = number
        self.operands = operands


class ReplicaGraph:
    """A graph whose replicas are merged into lanes.

    Attributes:
        nodes: shared nodes and lanes, in order. A lane has the numbers of replica 0.
        selections: operands that differ between replicas, by their numbers.
        lanes: for each value of a replica the number of its lane, and the replica.
    """

    def __init__(self, graph: Graph, marks: ReplicaMarks) -> None:
        """Merge the replicas of `graph`.

        Raises:
            ReplicasDifferError: if they do not apply the same ops.
        """
        self.graph = graph
        self.count = len(marks.devices)
        self.inputs = set(graph.inputs)
        self.selections: dict[int, ReplicaSelection] = {}
        self.lanes: dict[int, tuple[int, int]] = {}
        self._known: dict[Any, int] = {}
        self.nodes: list[Node] = []
        by_replica: list[list[Node]] = [[] for _ in range(self.count)]
        owners = [self.owner_of(node, marks) for node in graph.nodes]
        for node, owner in zip(graph.nodes, owners, strict=True):
            if owner != SHARED:
                by_replica[owner].append(node)
        if len({len(nodes) for nodes in by_replica}) > 1:
            raise ReplicasDifferError("the replicas apply different numbers of ops")
        groups = iter(zip(*by_replica, strict=True))
        for node, owner in zip(graph.nodes, owners, strict=True):
            if owner == SHARED:
                self.nodes.append(node)
            elif owner == 0:
                self.nodes.append(self.merge(next(groups)))

    def owner_of(self, node: Node, marks: ReplicaMarks) -> int:
        """The replica of a node; assertions and nodes without results are shared."""
        if not node.outputs or (isinstance(node.op, Effect) and node.op.fails_only):
            return SHARED
        return marks.owner_of(node.outputs[0])

    def merge(self, nodes: tuple[Node, ...]) -> Node:
        """The lane of the same node of all replicas."""
        first = nodes[0]
        for i, other in enumerate(nodes):
            if not has_same_op(first, other) or not self.has_same_specs(first, other):
                raise ReplicasDifferError(
                    f"replica {i} applies {other.op.name} where replica 0 applies {first.op.name}, "
                    "or the shapes differ"
                )
            for base, number in zip(first.outputs, other.outputs, strict=True):
                self.lanes[number] = base, i
        columns = zip(*[node.inputs for node in nodes], strict=True)
        inputs = tuple([self.merge_operands(column, first) for column in columns])
        return Node(first.op, inputs, first.static, first.outputs, first.location)

    def has_same_specs(self, a: Node, b: Node) -> bool:
        """Whether two nodes have results of the same shapes and dtypes."""
        specs = self.graph.specs
        return len(a.outputs) == len(b.outputs) and all(
            specs[m] == specs[n] for m, n in zip(a.outputs, b.outputs, strict=True)
        )

    def merge_operands(self, operands: tuple[Operand, ...], node: Node) -> Operand:
        """The operand of a lane for those of all replicas."""
        first = operands[0]
        if all(same_value(first, other) for other in operands[1:]):
            if type(first) is int and first in self.lanes and self.count > 1:
                raise ReplicasDifferError(f"{node.op.name} reads a value of another replica")
            return first
        places = [self.lanes.get(o) if type(o) is int else None for o in operands]
        base = places[0]
        if base is not None and places == [(base[0], i) for i in range(self.count)]:
            return base[0]
        if any(place is not None for place in places):
            raise ReplicasDifferError(f"{node.op.name} reads a value of another replica")
        return self.select(operands, node)

    def select(self, operands: tuple[Operand, ...], node: Node) -> int:
        """The number of a selection among values that are not those of replicas."""
        key = tuple([id(o) if isinstance(o, Constant) else o for o in operands])
        known = self._known.get(key)
        if known is not None:
            return known
        specs = {self.spec_of(o) for o in operands}
        if len(specs) > 1 or None in specs:
            raise ReplicasDifferError(f"the operands of {node.op.name} differ in shape or dtype")
        number = self._known[key] = -1 - len(self.selections)
        self.selections[number] = ReplicaSelection(number, operands)
        return number

    def spec_of(self, operand: Operand) -> Any:
        """Shape and dtype of an operand; None of a Python object."""
        if type(operand) is int:
            shape, dtype = self.graph.specs[operand]
            return tuple(shape), dtype
        raw = operand.raw  # type: ignore[union-attr]
        return (raw.shape, raw.dtype) if hasattr(raw, "dtype") else None


def has_same_op(a: Node, b: Node) -> bool:
    """Whether two nodes apply the same op; the variable of an assignment may differ."""
    if a.op is INSTALL or a.op is CUSTOM:
        return a.op is b.op and len(a.inputs) == len(b.inputs)
    return same_renumbered_node(a, b)
