"""Whether XLA pays for a graph that nobody asked it for: what the rule of `engine` looks at.

XLA makes one pass over memory where NumPy makes one per op, and its `exp` and `tanh` are quicker.
It pays where that is most of the work: in large elementwise chains, normalisations and softmaxes,
not in matrix products and convolutions. Ops that look at values to raise an error stay on NumPy.

Of small arrays NumPy needs about a microsecond for each op, XLA for each call 30 and little more:
it pays for graphs of many ops, and loops, once they were called often enough to make up for
compiling.
"""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

from gradtape.core.primitive import REGISTRY
from gradtape.graph.control_node import COND, LOOP
from gradtape.graph.graph import Constant, Graph, Node
from gradtape.graph.trace_op import INSTALL

LARGE = 1 << 20  # elements that a graph computes from which compiling pays
BALANCE = 16  # products for each such element up to which they count for little
MANY = 100  # ops in a call from which XLA's own cost of one is made up for
SMALL = 1 << 14  # elements that an op computes on average, up to which NumPy's cost of one counts
PATIENCE = 100_000  # ops that NumPy runs, in about as long as XLA takes to compile
TURNS = 32  # what a loop is taken to make if nobody knows

MOVES = "gradtape.ops.shape"
CHAINED = frozenset(
    f"gradtape.ops.{name}"
    for name in ["nn.activation", "elementwise", "no_nan", "nn.normalization", "reduce"]
)
SOFTMAX = frozenset(
    ["softmax", "log_softmax", "less_share", "cross_entropy", "sigmoid_cross_entropy"]
)


class Work(NamedTuple):
    """What a call of a graph computes; `moved` are elements that are only moved."""

    ops: int
    elements: int
    products: int
    moved: int

    def times(self, turns: int) -> Work:
        """So many turns of a loop."""
        return Work(*[turns * n for n in self])

    def __add__(self, other: Any) -> Work:
        return Work(*[a + b for a, b in zip(self, other, strict=True)])


def suits_xla(graph: Graph) -> bool:
    """Whether a graph is large, and elementwise work most of it; or runs very many small ops."""
    work = work_of(graph)
    if work is None:
        return False
    if any(node.op is LOOP or node.op is COND for node in graph.nodes):
        return calls_until_xla(graph) == 0
    return work.elements >= LARGE and work.products <= BALANCE * work.elements


def calls_until_xla(graph: Graph) -> int | None:
    """After how many calls XLA should take over a graph of many small ops; None: never."""
    work = work_of(graph)
    if work is None or work.ops < MANY:
        return None
    if max(work.elements + work.moved, work.products // BALANCE) > SMALL * work.ops:
        return None
    return PATIENCE // work.ops


def work_of(graph: Graph) -> Work | None:
    """What a call computes; None if it has ops that are better off on NumPy."""
    total = Work(0, 0, 0, 0)
    for node in graph.needed():
        if node.op is INSTALL:
            continue
        work = work_of_node(graph, node)
        if work is None:
            return None
        total += work
    return total


def work_of_node(graph: Graph, node: Node) -> Work | None:
    """The same of one node."""
    if node.op is LOOP or node.op is COND:
        return work_of_bodies(node)
    op = REGISTRY.get(node.op.name)
    if op is None or op is not node.op:
        return None
    specs = [graph.specs[o] for o in node.outputs]
    if any(spec.dtype.kind not in "bi" and spec.dtype.char not in "fd" for spec in specs):
        return None
    size = sum(prod(spec.shape) for spec in specs)
    home = op.kernel.__module__
    if op.name == "matmul":
        return Work(1, 0, size * shape_of(graph, node.inputs[0])[-1], 0)
    if home in CHAINED or op.name in SOFTMAX:
        return Work(1, size, 0, 0)
    return Work(1, 0, 0, size) if home == MOVES else None


def work_of_bodies(node: Node) -> Work | None:
    """That of the bodies of a loop, for all turns, or of both branches."""
    static = node.static
    bodies = static["branches"] if node.op is COND else (static["body"], static["test"])
    total = Work(0, 0, 0, 0)
    for body in filter(None, bodies):
        work = work_of(body.known_graph) if body.known_graph is not None else None
        if work is None:
            return None
        total += work
    if node.op is COND:
        return total
    most = node.inputs[0]
    if isinstance(most, Constant) and static["test"] is None:
        return total.times(int(most.raw))
    return total.times(TURNS)


def shape_of(graph: Graph, operand: Any) -> Any:
    """The shape of an operand."""
    return graph.specs[operand].shape if type(operand) is int else operand.raw.shape
