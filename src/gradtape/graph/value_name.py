"""Names of traced values, and the operations that compute them, as TensorFlow shows them."""

from __future__ import annotations

from typing import Any

from gradtape.graph.graph import Node


class ValueNames:
    """The part of a trace that names its values.

    Attributes:
        nodes: the applications recorded so far.
        names: names by number of the value.
        used: how many values have each base name.
    """

    nodes: list[Node]

    def __init__(self) -> None:
        """Name nothing yet."""
        self.names: dict[int, str] = {}
        self.name_counts: dict[str, int] = {}

    def name_of(self, number: int) -> str:
        """The name of a value; values of the same op are numbered as in TensorFlow."""
        if number not in self.names:
            made = self.operation_of(number)
            base = made.type if made else "Placeholder"
            count = self.name_counts.get(base, 0)
            self.name_counts[base] = count + 1
            self.names[number] = f"{base}_{count}" if count else base
        return f"{self.names[number]}:{self.position_of(number)}"

    def operation_of(self, number: int) -> Any:
        """The operation that computes a value, or None for an input."""
        for node in reversed(self.nodes):
            if number in node.outputs:
                return Operation(self, node)
        return None

    def position_of(self, number: int) -> int:
        """The position of a value among the results of its op."""
        for node in reversed(self.nodes):
            if number in node.outputs:
                return node.outputs.index(number)
        return 0


class Operation:
    """The `op` attribute of a symbolic tensor."""

    def __init__(self, trace: ValueNames, node: Node) -> None:
        """Describe `node` of `trace`."""
        self._trace = trace
        self._node = node
        self.type = node.op.name

    @property
    def name(self) -> str:
        """The name, without the position of a result."""
        return self._trace.name_of(self._node.outputs[0]).rpartition(":")[0]

    def __repr__(self) -> str:
        """Type and name."""
        return f"<tf.Operation {self.name!r} type={self.type}>"
