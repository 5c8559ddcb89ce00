"""Encodes the path of a traced function, whose sizes may be symbolic, as a graph of a model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtape.core.dims import Dim, SizeSource
from gradtape.core.dtypes import as_dtype
from gradtape.core.size_atom import Unknown
from gradtape.core.size_context import SizeContext
from gradtape.graph.custom_gradient import CUSTOM
from gradtape.graph.graph import Graph, Node
from gradtape.graph.specialise import node_unknowns
from gradtape.jit.trace_path import TracedPath
from gradtape.tf.saved_model.dim_tree import DimEncoder
from gradtape.tf.saved_model.failure import CannotSave
from gradtape.tf.saved_model.graph_function import GraphFunction
from gradtape.tf.saved_model.node_encoder import Encoder


class PathEncoder:
    """Encodes one path.

    Attributes:
        tables: entries of the tables that the graph looks up.
    """

    def __init__(
        self,
        path: TracedPath,
        sizes: SizeContext | None,
        sources: dict[Unknown, SizeSource],
        register_table: Callable[[Any], Any],
    ) -> None:
        """For a path whose unknown `sizes` are found at `sources`."""
        self.path = path
        self.sizes = sizes
        self.sources = sources
        self.register_table = register_table
        self.tables: list[Any] = []
        self.dims = DimEncoder(sources)
        self.encoder = Encoder(path.keys, self.encode_table, self.dims)

    def encode_table(self, entries: Any) -> Any:
        """A reference to the entries of a table; any other object is refused."""
        self.register_table(entries)
        if not any(known is entries for known in self.tables):
            self.tables.append(entries)
        return {"$table": next(i for i, known in enumerate(self.tables) if known is entries)}

    def encode(self, names: list[str]) -> GraphFunction:
        """The graph; `names` are those of the tensors among the arguments."""
        path, numbers = self.path, self.path.graph.inputs
        if any(type(v) is int for v in path.states):
            raise CannotSave("a variable is among its arguments")
        nodes = self.find_live_nodes()
        self.check_values(nodes)
        start = len(numbers) - len(path.captures) - len(path.states)
        end = start + len(path.captures)
        encode_operand = self.encoder.encode_operand
        tree = {
            "inputs": numbers[:start],
            "captures": numbers[start:end],
            "states": numbers[end:],
            "nodes": [self.encoder.encode_node(node) for node in nodes],
            "outputs": [encode_operand(o) for o in path.graph.outputs[: path.result_count]],
            "specs": [encode_output_spec(*spec) for spec in path.specs],
            "assumptions": self.encode_assumptions(nodes),
        }
        return GraphFunction(tree, list(path.captures), list(path.states), self.tables, names)

    def find_live_nodes(self) -> list[Node]:
        """Nodes that results, effects, gradient functions and sizes of these nodes depend on."""
        graph = self.path.graph
        outputs = list(graph.outputs)
        while True:
            nodes = Graph(graph.inputs, graph.nodes, outputs, graph.specs).live_nodes()
            more = {n for node in nodes if node.op is CUSTOM for n in node.static["custom"].reads()}
            unknowns = set().union(*[node_unknowns(node) for node in nodes])
            more |= {self.sources[unknown][0] for unknown in unknowns if unknown in self.sources}
            more.difference_update(outputs)
            if not more:
                return nodes
            outputs += more

    def check_values(self, nodes: list[Node]) -> None:
        """Check that every value that is read has a node or is given.

        Raises:
            CannotSave: if one has only a spec, as the results of a loop that Python must run.
        """
        graph = self.path.graph
        known = {*graph.inputs, *(o for node in nodes for o in node.outputs)}
        read = {n for node in nodes for n in node.reads()}
        read.update(o for o in graph.outputs if type(o) is int)
        if not read <= known:
            raise CannotSave(
                "a loop in it cannot be part of a graph, because its body reads values or runs on "
                "the host"
            )

    def encode_assumptions(self, nodes: list[Node]) -> list[Any]:
        """The assumptions about sizes of values that the saved graph has."""
        if self.sizes is None:
            return []
        known = {*self.path.graph.inputs, *(o for node in nodes for o in node.outputs)}
        found = []
        for assumption in self.sizes.assumptions.values():
            places = [self.sources.get(unknown, (-1, None))[0] for unknown in assumption.unknowns()]
            if known.issuperset(places):
                found.append(self.dims.encode_assumption(assumption))
        return found


def encode_output_spec(shape: Any, dtype: Any) -> list[Any]:
    """Shape, with None for symbolic sizes, and dtype of a result."""
    sizes = [None if type(size) is Dim else int(size) for size in shape]
    return [sizes, as_dtype(dtype).name]
