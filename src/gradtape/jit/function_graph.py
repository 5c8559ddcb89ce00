"""FunctionGraph: the graph of a concrete function, for inspection."""

from __future__ import annotations

from typing import Any

from gradtape.core.spec import TensorSpec
from gradtape.graph.graph_def import GraphDef, NodeDef


class FunctionGraph:
    """The graph of a concrete function, for inspection."""

    def __init__(self, graph: Any, specs: list[TensorSpec]) -> None:
        """Wrap `graph`, whose arguments have these specs."""
        self._graph = graph
        self._names = [spec.name or "args" for spec in specs]

    def as_graph_def(self) -> GraphDef:
        """The nodes in the form of TensorFlow's GraphDef; the ops are gradtape's primitives."""
        return GraphDef(self._graph, self._names)

    def get_operations(self) -> list[NodeDef]:
        """The nodes, each after those it reads."""
        return list(self.as_graph_def())

    def get_operation_by_name(self, name: str) -> NodeDef:
        """The node of this name.

        Raises:
            KeyError: if there is none.
        """
        for node in self.as_graph_def():
            if node.name == name:
                return node
        raise KeyError(f"The name {name!r} refers to an Operation not in the graph.")

    def pretty(self) -> str:
        """The graph as readable lines."""
        return str(self._graph.pretty())

    def __getattr__(self, name: str) -> Any:
        """Any other attribute of the graph."""
        return getattr(self._graph, name)
