"""Rewrites of a graph before it is lowered: the same result from smaller arrays.

The gradient of a maximum pool behind a relu puts cotangents where the maxima are, and then keeps
those where the relu is positive. The element that a cotangent goes to equals the maximum of its
window, so the relu's gradient can select by the maxima: a quarter as many elements for 2×2 windows.
"""

from __future__ import annotations

from collections import Counter

from gradtape.core.primitive import REGISTRY, Spec
from gradtape.graph.graph import Constant, Graph, Node, Operand


def gate_before_unpooling(graph: Graph) -> Graph:
    """Select cotangents before `max_unpool` instead of after it, where only the gate reads it.

    Returns:
        The graph itself if nothing changes.
    """
    gate, unpool = REGISTRY.get("where_positive"), REGISTRY.get("max_unpool")
    nodes = graph.live_nodes()
    if gate is None or unpool is None or not any(node.op is unpool for node in nodes):
        return graph  # the modules of ops are imported on first use
    reads = Counter(i for node in nodes for i in node.reads())
    reads.update(o for o in graph.outputs if type(o) is int)
    unpooled: dict[Operand, Node] = {n.outputs[0]: n for n in nodes if n.op is unpool}
    specs, number = dict(graph.specs), max(graph.specs) + 1
    replaced: set[int] = set()
    kept: list[Node] = []
    for node in nodes:
        source = unpooled.get(node.inputs[0]) if node.op is gate else None
        if source is None or node.inputs[1] != source.inputs[1] or reads[source.outputs[0]] > 1:
            kept.append(node)
            continue
        g, x, peak = source.inputs
        specs[number] = operand_spec(graph, g)
        kept.append(Node(gate, (g, peak), {}, (number,), node.location))
        kept.append(Node(unpool, (number, x, peak), source.static, node.outputs, source.location))
        replaced.add(source.outputs[0])
        number += 1
    if not replaced:
        return graph
    kept = [node for node in kept if not (node.op is unpool and node.outputs[0] in replaced)]
    return Graph(graph.inputs, kept, graph.outputs, specs)


def operand_spec(graph: Graph, operand: Operand) -> Spec:
    """Shape and dtype of an operand."""
    if isinstance(operand, Constant):
        return Spec((operand.raw.shape, operand.raw.dtype))
    return graph.specs[operand]
