"""Whether the values of several replicas are equal in every run.

Eager values are compared. In a trace, values are equal if the same ops have computed them from the
same values; equal values of one run prove nothing for the next one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradtape.core.lazy_array import TracedArray, materialize
from gradtape.core.tensor import Tensor
from gradtape.graph.graph import Effect, Node, Operand
from gradtape.graph.guard import guard_key

MAX_COMPARED_NODES = 500  # beyond this, replicas are taken to differ


def are_same_values(values: Sequence[Any]) -> bool:
    """Whether the values of all replicas are equal, in this run and in later ones."""
    first = values[0]
    return all(value is first or is_same_value(first, value) for value in values[1:])


def is_same_value(a: Any, b: Any) -> bool:
    """Whether two values are equal, in this run and in later ones."""
    if not isinstance(a, Tensor) or not isinstance(b, Tensor):
        return type(a) is type(b) and isinstance(a, (bool, int, float, str)) and a == b
    raw, other = a._array, b._array
    if raw is other:
        return True
    if type(raw) is not type(other) or raw.shape != other.shape or raw.dtype != other.dtype:
        return False
    if not isinstance(raw, TracedArray):
        return bool(guard_key(materialize(raw)) == guard_key(materialize(other)))
    return NodeComparison(raw.trace).is_same(raw.number, other.number)


class NodeComparison:
    """Compares values of a trace by the ops that have computed them."""

    def __init__(self, trace: Any) -> None:
        """Compare values of `trace`."""
        self.nodes: dict[int, Node] = {
            n: node for node in trace.builder.nodes for n in node.outputs
        }
        self.same: set[tuple[int, int]] = set()
        self.compared = 0

    def is_same(self, a: int, b: int) -> bool:
        """Whether two numbers stand for the same value."""
        pending = [(a, b)]
        while pending:
            a, b = pending.pop()
            if a == b or (a, b) in self.same:
                continue
            pairs = self.compare_nodes(a, b)
            if pairs is None:
                return False
            self.same.add((a, b))
            pending += pairs
        return True

    def compare_nodes(self, a: int, b: int) -> list[tuple[int, int]] | None:
        """The pairs of operands that must be the same too; None if the nodes differ."""
        one, two = self.nodes.get(a), self.nodes.get(b)
        self.compared += 1
        if one is None or two is None or one.op is not two.op or isinstance(one.op, Effect):
            return None
        if self.compared > MAX_COMPARED_NODES or one.outputs.index(a) != two.outputs.index(b):
            return None
        if len(one.inputs) != len(two.inputs) or not has_same_statics(one, two):
            return None
        pairs = []
        for x, y in zip(one.inputs, two.inputs, strict=True):
            if type(x) is int and type(y) is int:
                pairs.append((x, y))
            elif type(x) is int or type(y) is int or not is_same_constant(x, y):
                return None
        return pairs


def has_same_statics(one: Node, two: Node) -> bool:
    """Whether two nodes have the same static parameters."""
    return one.static.keys() == two.static.keys() and all(
        value is two.static[name] or repr(value) == repr(two.static[name])
        for name, value in one.static.items()
    )


def is_same_constant(x: Operand, y: Operand) -> bool:
    """Whether two constants are equal."""
    a, b = x.raw, y.raw  # type: ignore[union-attr]
    if hasattr(a, "tobytes") and hasattr(b, "tobytes"):
        return bool(a.dtype == b.dtype and guard_key(a) == guard_key(b))
    return type(a) is type(b) and bool(a == b)
