"""Cost model: should this graph use XLA by default? Part of the rule in `engine`.

XLA makes one pass over memory where NumPy makes one per op, and its `exp` and `tanh` are faster. It
pays off where this is most of the work: large elementwise chains, normalisations and softmaxes, but
not matrix products and convolutions. Ops that check values and may raise an error stay on NumPy,
except for indices that `index_check` can check on the host.

On small arrays NumPy takes about 1 µs per op; XLA takes about 30 µs per call and little per op. So
XLA pays off for graphs of many ops and for loops, after enough calls to make up for compilation.
"""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

from gradtape.compile.index_check import CHECKED_OPERANDS, find_index_checks
from gradtape.core.primitive import REGISTRY
from gradtape.graph.control_node import COND, LOOP
from gradtape.graph.graph import Constant, Graph, Node
from gradtape.graph.trace_op import INSTALL

MIN_XLA_ELEMENTS = 1 << 20  # elements computed by a graph: from here on compiling pays off
MAX_PRODUCTS_PER_ELEMENT = (
    16  # scalar products per such element: up to here matrix products matter little
)
MIN_XLA_OPS = 100  # ops in a call: from here on XLA's overhead per call pays off
MAX_SMALL_OP_ELEMENTS = (
    1 << 14
)  # elements computed per op on average: up to here NumPy's overhead per op matters
COMPILE_COST_IN_OPS = 100_000  # ops that NumPy runs in about the time that XLA needs to compile
ASSUMED_ITERATIONS = 32  # assumed iterations of a loop without a known limit

CALLS_BEFORE_TRAINING_STEP = 256  # calls of a large graph with indices before XLA pays off
MAX_RANDOM_ELEMENTS = 1 << 16  # random numbers in one op: beyond, NumPy's generator is faster

DATA_MOVEMENT_MODULE = "gradtape.ops.shape"
ELEMENTWISE_MODULES = frozenset(
    f"gradtape.ops.{name}"
    for name in ["nn.activation", "elementwise", "no_nan", "nn.normalization", "reduce"]
)
SOFTMAX_OPS = frozenset(
    [
        "softmax",
        "log_softmax",
        "multiply_softmax_jacobian",
        "cross_entropy",
        "sigmoid_cross_entropy",
    ]
)


class Work(NamedTuple):
    """The work of one call of a graph; `moved` counts elements that are only copied."""

    ops: int
    elements: int
    products: int
    moved: int

    def times(self, turns: int) -> Work:
        """The work of `turns` iterations."""
        return Work(*[turns * n for n in self])

    def __add__(self, other: Any) -> Work:
        return Work(*[a + b for a, b in zip(self, other, strict=True)])


def suits_xla(graph: Graph) -> bool:
    """Whether a graph is large and mostly elementwise, or runs very many small ops in loops."""
    work = work_of(graph)
    if work is None:
        return False
    if any(node.op is LOOP or node.op is COND for node in graph.nodes):
        return calls_until_xla(graph) == 0
    return is_mostly_elementwise(work) and not any(map(is_training_op, graph.nodes))


def is_mostly_elementwise(work: Work) -> bool:
    """Whether a call computes many elements and few products."""
    return (
        work.elements >= MIN_XLA_ELEMENTS
        and work.products <= MAX_PRODUCTS_PER_ELEMENT * work.elements
    )


def is_training_op(node: Node) -> bool:
    """Whether a node belongs to a training step rather than a formula: indices, random numbers."""
    return node.op.name in CHECKED_OPERANDS or is_random_op(node.op)


def is_random_op(op: Any) -> bool:
    """Whether an op is part of random number generation."""
    return bool(op.kernel.__module__.startswith("gradtape.ops.random."))


def calls_until_xla(graph: Graph) -> int | None:
    """The number of calls after which XLA should run a graph of many small ops; None: never."""
    work = work_of(graph)
    if work is None:
        return None
    calls = None
    if is_mostly_elementwise(work) and any(map(is_training_op, graph.nodes)):
        calls = CALLS_BEFORE_TRAINING_STEP
    if work.ops >= MIN_XLA_OPS and (
        max(work.elements + work.moved, work.products // MAX_PRODUCTS_PER_ELEMENT)
        <= MAX_SMALL_OP_ELEMENTS * work.ops
    ):
        calls = COMPILE_COST_IN_OPS // work.ops
    return calls if calls is not None and find_index_checks(graph) is not None else None


def work_of(graph: Graph) -> Work | None:
    """The work of one call; None if the graph has an op that should run on NumPy."""
    total = Work(0, 0, 0, 0)
    for node in graph.live_nodes():
        if node.op is INSTALL:
            continue
        work = work_of_node(graph, node)
        if work is None:
            return None
        total += work
    return total


def work_of_node(graph: Graph, node: Node) -> Work | None:
    """The work of one node; None if it should run on NumPy."""
    if node.op is LOOP or node.op is COND:
        return work_of_bodies(node)
    op = REGISTRY.get(node.op.name)
    if op is None or op is not node.op:
        return None
    specs = [graph.specs[o] for o in node.outputs]
    if is_random_op(op):
        count = sum(prod(spec.shape) for spec in specs)
        return Work(1, count, 0, 0) if count <= MAX_RANDOM_ELEMENTS else None
    if any(spec.dtype.kind not in "bi" and spec.dtype.char not in "fd" for spec in specs):
        return None
    size = sum(prod(spec.shape) for spec in specs)
    home = op.kernel.__module__
    if op.name == "matmul":
        return Work(1, 0, size * operand_shape(graph, node.inputs[0])[-1], 0)
    if home in ELEMENTWISE_MODULES or op.name in SOFTMAX_OPS:
        return Work(1, size, 0, 0)
    is_moved = home == DATA_MOVEMENT_MODULE or op.name in CHECKED_OPERANDS
    return Work(1, 0, 0, size) if is_moved else None


def work_of_bodies(node: Node) -> Work | None:
    """The work of a loop's body and test, for all iterations, or of both branches of a `cond`."""
    static = node.static
    bodies = static["branches"] if node.op is COND else (static["body"], static["test"])
    total = Work(0, 0, 0, 0)
    for body in filter(None, bodies):
        work = work_of(body.existing_graph) if body.existing_graph is not None else None
        if work is None:
            return None
        total += work
    if node.op is COND:
        return total
    most = node.inputs[0]
    if isinstance(most, Constant) and static["test"] is None:
        return total.times(int(most.raw))
    return total.times(ASSUMED_ITERATIONS)


def operand_shape(graph: Graph, operand: Any) -> Any:
    """The shape of an operand."""
    return graph.specs[operand].shape if type(operand) is int else operand.raw.shape
