"""GraphDef: a graph as TensorFlow lists it, nodes with names, ops and the names of their inputs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gradtape.graph.graph import Constant, Graph, Operand


class NodeDef:
    """One node.

    Attributes:
        name: unique in the graph.
        op: name of the op; the ops are gradtape's primitives.
        input: names of the nodes it reads; `:i` is appended for result i > 0.
        attr: its keyword arguments.
    """

    def __init__(self, name: str, op: str, inputs: list[str], attr: dict[str, Any]) -> None:
        """Make a node of these parts."""
        self.name = name
        self.op = op
        self.input = inputs
        self.attr = attr

    def __repr__(self) -> str:
        """The node in the format of a text proto."""
        lines = [f'  name: "{self.name}"', f'  op: "{self.op}"']
        lines += [f'  input: "{name}"' for name in self.input]
        lines += [f'  attr {{ key: "{k}" value: {v!r} }}' for k, v in self.attr.items()]
        return "\n".join(["node {", *lines, "}"])


class GraphDef:
    """The list of nodes that `graph.as_graph_def()` returns, for inspection.

    Attributes:
        node: the nodes, each after those it reads.
    """

    def __init__(self, graph: Graph, names: list[str]) -> None:
        """List `graph`, whose first inputs have `names`."""
        self.node: list[NodeDef] = []
        self.name_counts: dict[str, int] = {}
        self.names: dict[int, str] = {}
        for i, number in enumerate(graph.inputs):
            name = self.make_unique_name(names[i] if i < len(names) else "captured")
            shape, dtype = graph.specs[number]
            attr = {"dtype": str(dtype), "shape": list(shape)}
            self.node.append(NodeDef(name, "Placeholder", [], attr))
            self.names[number] = name
        for node in graph.nodes:
            inputs = [self.input_name(operand) for operand in node.inputs]
            name = self.make_unique_name(node.op.name)
            self.node.append(NodeDef(name, node.op.name, inputs, dict(node.static)))
            for i, out in enumerate(node.outputs):
                self.names[out] = f"{name}:{i}" if i else name
        for operand in graph.outputs:
            source = self.input_name(operand)
            self.node.append(NodeDef(self.make_unique_name("Identity"), "Identity", [source], {}))

    def make_unique_name(self, name: str) -> str:
        """Make a name that no other node has."""
        count = self.name_counts.get(name, 0)
        self.name_counts[name] = count + 1
        return f"{name}_{count}" if count else name

    def input_name(self, operand: Operand) -> str:
        """The name of the node that computes an operand; a node is added for a constant."""
        if not isinstance(operand, Constant):
            return self.names[operand]
        name = self.make_unique_name("Const")
        self.node.append(NodeDef(name, "Const", [], {"value": operand.raw}))
        return name

    def __iter__(self) -> Iterator[NodeDef]:
        """The nodes."""
        return iter(self.node)

    def __repr__(self) -> str:
        """All nodes in the format of a text proto."""
        return "\n".join(map(repr, self.node))
