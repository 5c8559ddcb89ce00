"""In-place updates of loop carries that are written row by row.

A TensorArray in a loop is a carried tensor, and each iteration computes a new one with one row
changed. The same holds for its cotangent in the backward loop. Copying the whole array in every
iteration would take time quadratic in the number of iterations. So only the first iteration copies,
and later ones write in place.
"""

from __future__ import annotations

from typing import Any

from gradtape.graph.graph import Graph, Node
from gradtape.graph.trace_op import make_trace_op
from gradtape.ops.gather_scatter_nd import update_nd, write_nd

COPYING_READERS = frozenset(["gather", "take", "gather_nd"])  # their results are copies


def write_into(x: Any, indices: Any, updates: Any, *, rank: int) -> Any:
    """`update_nd` in place, on an array that is referenced only by the loop."""
    write_nd(x, indices, updates, rank)
    return x


WRITE_INTO = make_trace_op(write_into)


def find_in_place_carries(graph: Graph, carries: int) -> dict[int, Node]:
    """Carries that a loop body only reads by lookup and updates once: position → updating node."""
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
        if all(node is writer or node.op.name in COPYING_READERS for node in nodes):
            found[k] = writer
    return found


def write_carries_in_place(graph: Graph, writers: dict[int, Node]) -> Graph:
    """The graph with `writers` replaced by in-place writes, which run after all other nodes."""
    last = [Node(WRITE_INTO, node.inputs, node.static, node.outputs) for node in writers.values()]
    moved = {id(node) for node in writers.values()}
    nodes = [node for node in graph.nodes if id(node) not in moved]
    return Graph(graph.inputs, [*nodes, *last], graph.outputs, graph.specs)
