"""Arrays that go round a loop and are rewritten row by row: after a first copy, in place.

A TensorArray in a loop is a tensor of which each turn makes another, with one row changed; so is
the cotangent of one, going backwards. Copying all of it every turn would take time by the square
of the number of turns.
"""

from __future__ import annotations

from typing import Any

from gradtape.graph.graph import Graph, Node
from gradtape.graph.trace_op import operation
from gradtape.ops.gather_scatter import update_nd, write_nd

READERS = frozenset(["gather", "take", "gather_nd"])  # their results are copies


def write_into(x: Any, indices: Any, updates: Any, *, rank: int) -> Any:
    """`update_nd` on an array that nobody else sees."""
    write_nd(x, indices, updates, rank)
    return x


INTO = operation(write_into)


def rewritten(graph: Graph, carries: int) -> dict[int, Node]:
    """By position, the carries that the body of a loop only looks up and rewrites; and where."""
    found = {}
    for k, number in enumerate(graph.inputs[:carries]):
        result = graph.outputs[k]
        nodes = [node for node in graph.nodes if number in node.reads()]
        writers = [node for node in nodes if node.outputs == (result,)]
        if len(writers) != 1 or number in graph.outputs or graph.outputs.count(result) > 1:
            continue
        (writer,) = writers
        if writer.op is not update_nd.op or number in writer.inputs[1:]:
            continue
        if any(result in node.inputs for node in graph.nodes):
            continue
        if all(node is writer or node.op.name in READERS for node in nodes):
            found[k] = writer
    return found


def in_place(graph: Graph, writers: dict[int, Node]) -> Graph:
    """The graph that writes into those inputs, when everything else is done."""
    last = [Node(INTO, node.inputs, node.static, node.outputs) for node in writers.values()]
    moved = {id(node) for node in writers.values()}
    nodes = [node for node in graph.nodes if id(node) not in moved]
    return Graph(graph.inputs, [*nodes, *last], graph.outputs, graph.specs)
