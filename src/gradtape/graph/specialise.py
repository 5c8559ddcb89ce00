"""Specialisation: the graph for known sizes, made from a graph in which sizes are unknown.

Numbers take the place of unknown sizes in specs, in static arguments and in the bodies of loops and
branches. The user's Python does not run again. Nodes that then depend on constants only, such as
`tf.shape`, are folded.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from gradtape.core.dims import Dim
from gradtape.core.dispatch import run_kernel
from gradtape.core.errors import InvalidArgumentError
from gradtape.core.open_shape import has_dims, substitute, unknowns_in
from gradtape.core.primitive import Primitive, Spec
from gradtape.core.size_atom import Unknown
from gradtape.core.size_function import Env, SizeMismatchError, evaluate
from gradtape.graph.graph import Constant, Effect, Graph, Node, Operand
from gradtape.graph.trace_op import make_raw_op


def raw_arguments(op: Primitive | Effect) -> list[Any]:
    """The arguments that are not tensors, of an op that calls a function of raw arrays."""
    parts = getattr(op.kernel, "parts", None)
    if parts is None or type(parts[2]) is not list:
        return []
    _, args, places = parts
    return [a for i, a in enumerate(args) if i not in places]


def specialise_op(op: Any, env: Env) -> Any:
    """An op for these sizes; only one that calls a function of raw arrays depends on sizes."""
    if not has_dims(raw_arguments(op)):
        return op
    function, args, places = op.kernel.parts
    given = tuple([None if i in places else substitute(a, env) for i, a in enumerate(args)])
    return make_raw_op(function, given, places, op.dynamic, op.outputs)


def node_unknowns(node: Node) -> set[Unknown]:
    """The unknown sizes that a node depends on."""
    constants = [i.raw for i in node.inputs if type(i) is Constant and type(i.raw) is Dim]
    return unknowns_in([*node.static.values(), *constants, *raw_arguments(node.op)])


class CheckedNode(Node):
    """A node of a file: it is made again for known sizes by its schema, which checks them."""

    __slots__ = ("specialise",)
    specialise: Callable[[tuple[Operand, ...], Env], Node]


def specialise_node(node: Node, env: Env) -> Node:
    """A node for these sizes, which may be symbolic sizes of another trace."""
    inputs = tuple(
        [
            Constant(evaluate(i.raw, env)) if type(i) is Constant and type(i.raw) is Dim else i
            for i in node.inputs
        ]
    )
    if type(node) is CheckedNode:
        return node.specialise(inputs, env)
    static = {name: substitute(value, env) for name, value in node.static.items()}
    return Node(specialise_op(node.op, env), inputs, static, node.outputs, node.location)


def graph_unknowns(graph: Graph) -> set[Unknown]:
    """The unknown sizes that a graph depends on."""
    numbers = [*graph.inputs, *(o for node in graph.nodes for o in node.outputs)]
    found = unknowns_in([graph.specs[n].shape for n in numbers])
    return found.union(*[node_unknowns(node) for node in graph.nodes])


class OpenGraph:
    """A graph in which sizes are unknown, examined once for all specialisations.

    Attributes:
        open_nodes: positions of the nodes that depend on unknown sizes.
        foldable: positions of the nodes whose results are constants once sizes are known.
    """

    def __init__(self, graph: Graph, guarded: Iterable[int] = ()) -> None:
        """Find out which parts depend on unknown sizes; values that are `guarded` stay values."""
        self.graph = graph
        self.open_nodes = {i for i, node in enumerate(graph.nodes) if node_unknowns(node)}
        kept = set(guarded)
        for node in graph.nodes:
            if "custom" in node.static:
                kept.update(node.static["custom"].reads())
        self.foldable: set[int] = set()
        constant: set[int] = set()
        for i, node in enumerate(graph.nodes):
            if (
                node.outputs
                and constant.issuperset(node.reads())
                and can_fold(node)
                and kept.isdisjoint(node.outputs)
            ):
                self.foldable.add(i)
                constant.update(node.outputs)
        numbers = [*graph.inputs, *(o for node in graph.nodes for o in node.outputs)]
        self.known_specs: dict[int, Spec] = {}
        self.open_specs: list[tuple[int, Spec]] = []
        for n in numbers:
            spec = graph.specs[n]
            if has_dims(spec.shape):
                self.open_specs.append((n, spec))
            else:
                self.known_specs[n] = spec

    def specialise(self, env: Env, most_bytes: float = math.inf) -> tuple[Graph, list[int]]:
        """The graph for these sizes, and for each old position of a node its new one.

        Constants of more than `most_bytes` are left to the runs of the graph.

        Raises:
            InvalidArgumentError: if the operands of a node do not broadcast at these sizes.
        """
        is_known = Dim not in map(type, env.values())
        specs = dict(self.known_specs)
        for n, (shape, dtype) in self.open_specs:
            try:
                specs[n] = Spec((tuple([evaluate(size, env) for size in shape]), dtype))
            except SizeMismatchError:
                raise self.mismatch_error(n, specs) from None
        nodes: list[Node] = []
        positions = []
        constants: dict[int, Constant] = {}
        for i, node in enumerate(self.graph.nodes):
            positions.append(len(nodes))
            if i in self.open_nodes:
                node = specialise_node(node, env)
            if constants and not constants.keys().isdisjoint(node.reads()):
                node = Node(node.op, self.fill(node.inputs, constants), node.static, node.outputs)
            is_constant = is_known and i in self.foldable and not node.reads()
            if is_constant and count_bytes(node, specs) <= most_bytes:
                constants.update(fold_node(node))
            else:
                nodes.append(node)
        positions.append(len(nodes))
        outputs = self.fill(self.graph.outputs, constants)
        return Graph(self.graph.inputs, nodes, outputs, specs), positions

    def fill(self, operands: Any, constants: dict[int, Constant]) -> tuple[Any, ...]:
        """Operands with constants in place of folded values."""
        return tuple([constants.get(o, o) if type(o) is int else o for o in operands])

    def mismatch_error(self, number: int, specs: dict[int, Spec]) -> InvalidArgumentError:
        """The error for a node whose operands do not broadcast."""
        node = next(node for node in self.graph.nodes if number in node.outputs)
        shapes = [specs[i].shape for i in node.reads() if i in specs]
        listed = " vs. ".join(str(list(shape)).replace(" ", "") for shape in shapes)
        return InvalidArgumentError(
            f"{node.op.name}: Incompatible shapes: {listed}. "
            "Operands must broadcast; reshape or tile one."
        )


def can_fold(node: Node) -> bool:
    """Whether the results of a node on constants are constants."""
    op = node.op
    return not isinstance(op, Effect) and not op.dynamic and op.name not in UNFOLDED


UNFOLDED = frozenset({"install", "custom_gradient", "cond", "loop"})


def count_bytes(node: Node, specs: dict[int, Spec]) -> int:
    """The size of the largest result of a node."""
    return max(math.prod(specs[n].shape) * specs[n].dtype.itemsize for n in node.outputs)


def fold_node(node: Node) -> dict[int, Constant]:
    """The results of a node on constants."""
    made = run_kernel(node.op, tuple([i.raw for i in node.inputs]), node.static)  # type: ignore[union-attr, arg-type]
    results = made if node.op.outputs else (made,)
    return dict(zip(node.outputs, map(Constant, results), strict=True))
