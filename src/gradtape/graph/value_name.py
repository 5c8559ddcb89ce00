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
            base = made.type
            count = self.name_counts.get(base, 0)
            self.name_counts[base] = count + 1
            self.names[number] = f"{base}_{count}" if count else base
        return f"{self.names[number]}:{self.position_of(number)}"

    def operation_of(self, number: int) -> Any:
        """The operation that computes a value; of an input, a placeholder."""
        found = [node for node in self.nodes if number in node.outputs]
        return Operation(self, number, found[-1] if found else None)

    def position_of(self, number: int) -> int:
        """The position of a value among the results of its op."""
        for node in reversed(self.nodes):
            if number in node.outputs:
                return node.outputs.index(number)
        return 0


class Operation:
    """The `op` attribute of a symbolic tensor; an input has an op of the type "Placeholder"."""

    def __init__(self, trace: ValueNames, number: int, node: Node | None) -> None:
        """Describe `node` of `trace`, which computes the value `number`."""
        self._trace = trace
        self._number = number if node is None else node.outputs[0]
        self.type = "Placeholder" if node is None else node.op.name

    @property
    def name(self) -> str:
        """The name, without the position of a result."""
        return self._trace.name_of(self._number).rpartition(":")[0]

    def __repr__(self) -> str:
        """Type and name."""
        return f"<tf.Operation {self.name!r} type={self.type}>"
