"""Whether XLA pays for a graph that nobody asked it for: what the rule of `engine` looks at.

XLA makes one pass over memory where NumPy makes one per op, and its `exp` and `tanh` are quicker.
It pays where that is most of the work: in large elementwise chains, normalisations and softmaxes,
not in matrix products and convolutions. Ops that look at values to raise an error stay on NumPy.
"""

from __future__ import annotations

from math import prod
from typing import Any

from gradtape.core.primitive import REGISTRY
from gradtape.trace.graph import Graph
from gradtape.trace.recorder import INSTALL

LARGE = 1 << 20  # elements that a graph computes from which compiling pays
BALANCE = 16  # products for each such element up to which they count for little

MOVES = "gradtape.ops.shape"
CHAINED = frozenset(
    f"gradtape.ops.{name}"
    for name in ["activation", "elementwise", "limits", "normalization", "reduce"]
)
SOFTMAX = frozenset(
    ["softmax", "log_softmax", "less_share", "cross_entropy", "sigmoid_cross_entropy"]
)


def suits_xla(graph: Graph) -> bool:
    """Whether a graph is large, and elementwise work most of it."""
    elements = products = 0
    for node in graph.needed():
        if node.op is INSTALL:
            continue
        op = REGISTRY.get(node.op.name)
        if op is None or op is not node.op:
            return False
        specs = [graph.specs[o] for o in node.outputs]
        if any(spec.dtype.kind not in "bi" and spec.dtype.char not in "fd" for spec in specs):
            return False
        size = sum(prod(spec.shape) for spec in specs)
        home = op.kernel.__module__
        if op.name == "matmul":
            products += size * shape_of(graph, node.inputs[0])[-1]
        elif home in CHAINED or op.name in SOFTMAX:
            elements += size
        elif home != MOVES:
            return False
    return elements >= LARGE and products <= BALANCE * elements


def shape_of(graph: Graph, operand: Any) -> Any:
    """The shape of an operand."""
    return graph.specs[operand].shape if type(operand) is int else operand.raw.shape
