"""Merges traced paths of one function, which differ by sizes, into one graph for all sizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtape.core.dtypes import as_dtype
from gradtape.graph.custom_gradient import CUSTOM
from gradtape.graph.graph import Graph, Node
from gradtape.jit.trace_path import TracedPath
from gradtape.tf.saved_model.failure import CannotSave
from gradtape.tf.saved_model.graph_function import GraphFunction
from gradtape.tf.saved_model.node_encoder import Encoder
from gradtape.tf.saved_model.size_fit import NotGeneral, SizeScope
from gradtape.tf.saved_model.trace_merge import merge_trees


class PathMerger:
    """Paths of one function, and the graph that is made of them.

    Attributes:
        tables: entries of the tables that the graph looks up.
        scope: the sizes of the values that exist so far.
    """

    def __init__(
        self,
        paths: list[TracedPath],
        integers_read: list[dict[int, int]],
        register_table: Callable[[Any], Any],
    ) -> None:
        """Start with these paths, and the integers that Python read in each."""
        self.paths = paths
        self.integers_read = integers_read
        self.first = paths[0]
        self.register_table = register_table
        self.tables: list[Any] = []
        self.scope = SizeScope()
        self.encoders = [Encoder(path.keys, self.encode_table) for path in paths]

    def encode_table(self, entries: Any) -> Any:
        """A reference to the entries of a table; any other object is refused."""
        self.register_table(entries)
        if not any(known is entries for known in self.tables):
            self.tables.append(entries)
        return {"$table": next(i for i, known in enumerate(self.tables) if known is entries)}

    def shapes_of(self, number: int) -> list[tuple[int, ...]]:
        """The shape of a value in each trace."""
        return [tuple(path.graph.specs[number].shape) for path in self.paths]

    def find_live_nodes(self, graph: Graph) -> list[Node]:
        """Nodes that results, gradient functions and the integers that Python read depend on."""
        outputs = [*graph.outputs, *self.integers_read[0]]
        while True:
            nodes = Graph(graph.inputs, graph.nodes, outputs, graph.specs).live_nodes()
            gradients = [node.static["custom"] for node in nodes if node.op is CUSTOM]
            more = {n for custom in gradients for n in custom.reads()}.difference(outputs)
            if not more:
                return nodes
            outputs += sorted(more)

    def merge_parts(self, trees: list[Any]) -> Any:
        """One tree for the trees of all paths."""
        return merge_trees(trees, self.scope) if len(trees) > 1 else trees[0]

    def merge_nodes(self, group: tuple[Any, ...]) -> Any:
        """One node for the nodes of all paths."""
        op, outputs = group[0].op, group[0].outputs
        trees = [
            encoder.encode_node(node) for encoder, node in zip(self.encoders, group, strict=True)
        ]
        read = list(group[0].reads())
        self.scope.prefer([self.shapes_of(n) for n in read])
        self.scope.first_input = (read[0], self.shapes_of(read[0])) if read else None
        try:
            if any(node.outputs != outputs for node in group):
                raise NotGeneral("other numbers")
            tree = self.merge_parts(trees)
        except NotGeneral as error:
            raise NotGeneral(f"{op.name} has {error}") from None
        for number in outputs:
            self.scope.add_value(number, self.shapes_of(number))
            if number in self.integers_read[0]:
                self.scope.add_integer(number, [one.get(number, 0) for one in self.integers_read])
        return tree

    def check_alike(self, lists: list[list[Node]]) -> None:
        """Check that all paths have the same number of nodes, captures and variables."""
        if any(len(nodes) != len(lists[0]) for nodes in lists):
            counts = sorted({len(nodes) for nodes in lists})
            raise NotGeneral(
                f"it has {counts} ops, as of a loop that Python runs (a body that looks at values "
                "or calls Python, or one that decodes files)"
            )
        first = self.first
        for path in self.paths:
            same = path.graph.inputs == first.graph.inputs and path.keys == first.keys
            if not same or [t.uid for t in path.captures] != [t.uid for t in first.captures]:
                raise NotGeneral("other tensors and variables from outside are used")

    def merge(self) -> GraphFunction:
        """One graph for all sizes."""
        first, numbers = self.first, self.first.graph.inputs
        if any(type(v) is int for v in first.states):
            raise CannotSave("a variable is among its arguments")
        lists = [self.find_live_nodes(path.graph) for path in self.paths]
        self.check_alike(lists)
        for number in numbers:
            self.scope.add_value(number, self.shapes_of(number))
        nodes = [self.merge_nodes(group) for group in zip(*lists, strict=True)]
        self.scope.prefer([])
        pairs = zip(self.encoders, self.paths, strict=True)
        outputs = self.merge_parts(
            [[e.encode_operand(o) for o in p.graph.outputs] for e, p in pairs]
        )
        start = len(numbers) - len(first.captures) - len(first.states)
        end = start + len(first.captures)
        count = first.result_count
        tree = {
            "inputs": numbers[:start],
            "captures": numbers[start:end],
            "states": numbers[end:],
            "nodes": nodes,
            "outputs": outputs[:count],
            "specs": [merge_specs([path.specs[i] for path in self.paths]) for i in range(count)],
        }
        return GraphFunction(tree, list(first.captures), list(first.states), self.tables)


def merge_specs(specs: list[Any]) -> list[Any]:
    """Shape, with None where traces differ, and dtype of an output."""
    shapes = [shape for shape, _ in specs]
    if any(len(shape) != len(shapes[0]) for shape in shapes):
        raise NotGeneral(f"a result with the shapes {shapes}")
    sizes = [column[0] if len(set(column)) == 1 else None for column in zip(*shapes, strict=True)]
    return [sizes, as_dtype(specs[0][1]).name]
