"""Equality of graphs: whether two traces of a function recorded the same nodes."""

from __future__ import annotations

from collections.abc import Sequence
from types import FunctionType
from typing import Any

from gradtape.core.dispatch import spec_of
from gradtape.graph.custom_gradient import UserGradient
from gradtape.graph.graph import Constant, Graph, Node, Operand
from gradtape.graph.guard import guard_key
from gradtape.graph.loop_gradient import LoopLayout
from gradtape.graph.subgraph import Body


def same_nodes(a: Sequence[Node], b: Sequence[Node]) -> bool:
    """Whether two lists of nodes do the same."""
    return len(a) == len(b) and all(same_node(m, n) for m, n in zip(a, b, strict=True))


def same_node(a: Node, b: Node) -> bool:
    """Whether two nodes apply the same op to the same operands."""
    return (
        (a.op is b.op or (a.op.key is not None and same_value(a.op.key, b.op.key)))
        and a.outputs == b.outputs
        and same_operands(a.inputs, b.inputs)
        and a.static.keys() == b.static.keys()
        and all(same_value(value, b.static[name]) for name, value in a.static.items())
    )


def same_operands(a: Sequence[Operand], b: Sequence[Operand]) -> bool:
    """Whether two lists of operands are the same values and equal constants."""
    return len(a) == len(b) and all(same_value(x, y) for x, y in zip(a, b, strict=True))


def same_value(a: Any, b: Any) -> bool:
    """Whether two operands or static parameters are equal; arrays bit by bit."""
    if a is b:
        return True
    kind = type(a)
    if kind is not type(b):
        return False
    if hasattr(a, "tobytes"):
        return bool(spec_of(a) == spec_of(b) and guard_key(a) == guard_key(b))
    if kind in COMPARE_BY_TYPE:
        return bool(COMPARE_BY_TYPE[kind](a, b))
    return bool(a == b)


def same_graph(a: Graph, b: Graph) -> bool:
    """Whether two graphs do the same with the same numbers."""
    return (
        a.inputs == b.inputs
        and same_operands(a.outputs, b.outputs)
        and same_nodes(a.nodes, b.nodes)
    )


def same_body(a: Body, b: Body) -> bool:
    """Whether two bodies of loops or branches do the same."""
    one, other = a.existing_graph, b.existing_graph
    return one is not None and other is not None and same_graph(one, other)


def same_renumbered_node(a: Node, b: Node) -> bool:
    """Whether two nodes apply the same op to equally many operands."""
    return (
        (a.op is b.op or (a.op.key is not None and same_value(a.op.key, b.op.key)))
        and len(a.inputs) == len(b.inputs)
        and a.static.keys() == b.static.keys()
        and all(same_renumbered_static(v, b.static[name]) for name, v in a.static.items())
    )


def same_renumbered_static(a: Any, b: Any) -> bool:
    """Whether two static parameters are equal; values in bodies may have other numbers."""
    if type(a) is tuple and type(b) is tuple:
        return len(a) == len(b) and all(map(same_renumbered_static, a, b))
    if isinstance(a, Body) and isinstance(b, Body):
        one, other = a.existing_graph, b.existing_graph
        return one is not None and other is not None and same_renumbered_graph(one, other)
    return same_value(a, b)


def same_renumbered_graph(a: Graph, b: Graph) -> bool:
    """Whether two graphs do the same; their values may have other numbers."""
    numbers = dict(zip(a.inputs, b.inputs, strict=False))
    if len(a.inputs) != len(b.inputs) or len(a.nodes) != len(b.nodes):
        return False

    def same_places(ours: Sequence[Operand], theirs: Sequence[Operand]) -> bool:
        return len(ours) == len(theirs) and all(
            numbers.get(x) == y if type(x) is int else same_value(x, y)
            for x, y in zip(ours, theirs, strict=True)
        )

    for one, other in zip(a.nodes, b.nodes, strict=True):
        if len(one.outputs) != len(other.outputs) or not same_renumbered_node(one, other):
            return False
        if not same_places(one.inputs, other.inputs):
            return False
        numbers.update(zip(one.outputs, other.outputs, strict=True))
    return same_places(a.outputs, b.outputs)


def same_custom(a: UserGradient, b: UserGradient) -> bool:
    """Whether two gradients that the user supplied do the same."""
    return (
        a.seeds == b.seeds
        and a.trace_error == b.trace_error
        and same_operands(a.inputs, b.inputs)
        and same_value(tuple(a.input_gradients), tuple(b.input_gradients))
        and same_nodes(a.nodes, b.nodes)
    )


def same_function(a: FunctionType, b: FunctionType) -> bool:
    """Whether two functions have the same code, closure values and defaults."""
    if a.__code__ is not b.__code__ or a.__globals__ is not b.__globals__:
        return False
    try:
        ours = [cell.cell_contents for cell in a.__closure__ or ()]
        theirs = [cell.cell_contents for cell in b.__closure__ or ()]
    except ValueError:  # an empty cell
        return False
    seen = (*ours, *(a.__defaults__ or ())), (*theirs, *(b.__defaults__ or ()))
    return a.__kwdefaults__ == b.__kwdefaults__ and all(
        x is y or (type(x) is type(y) and type(x) in COMPARABLE_TYPES and x == y)
        for x, y in zip(*seen, strict=True)
    )


COMPARABLE_TYPES = (int, float, bool, str, bytes)
COMPARE_BY_TYPE: dict[type, Any] = {
    Constant: lambda a, b: same_value(a.raw, b.raw),
    tuple: same_operands,
    Body: same_body,
    UserGradient: same_custom,
    FunctionType: same_function,
    LoopLayout: lambda a, b: all(
        same_value(getattr(a, n), getattr(b, n)) for n in LoopLayout.__slots__
    ),
}
