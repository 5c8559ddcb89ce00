"""Edges inside a compiled call: the graph of its path, expanded only when it is asked about."""

from __future__ import annotations

from typing import Any

from gradtape.core.ledger import Entry
from gradtape.debug.explanation.custom import custom_reason
from gradtape.debug.explanation.history import Reason
from gradtape.graph.custom_gradient import CUSTOM
from gradtape.graph.graph import Constant
from gradtape.graph.trace_op import INSTALL


def expand_call(graph: Any, position: int, entry: Entry, hidden: Reason | None) -> None:
    """Add the edges of a call; `hidden` is why the tape did not hear it, or None."""
    (_, path), inputs, outputs, code, instruction, _ = entry
    location = (code, instruction)
    call = Expansion(graph, position, path)
    for number, uid in zip(path.graph.inputs, inputs, strict=False):
        graph.add(uid, call.value(number), position, location, "call", None)
    for node in path.graph.nodes:
        call.add_node(node)
    for k, (operand, uid) in enumerate(zip(path.graph.outputs, outputs, strict=False)):
        graph.note_creation(uid, position, location)
        reason = hidden
        if k >= path.result_count:
            if hidden is not None:
                continue  # an update of a variable by another step
            key = path.states[path.writes[k - path.result_count]]
            graph.versions[getattr(key, "_key", 0)].append(abs(uid))
        start = operand.uid if isinstance(operand, Constant) else call.value(operand)
        if start:
            graph.add(start, uid, position, location, "call", reason)
    call.add_guards(outputs[: path.result_count], hidden)


class Expansion:
    """The values of one call."""

    def __init__(self, graph: Any, position: int, path: Any) -> None:
        """The values of the call at `position`."""
        self.graph, self.position, self.path = graph, position, path
        self.specs = path.graph.specs

    def value(self, number: int) -> tuple[str, int, int]:
        """The node for a value of the path."""
        return ("value", self.position, number)

    def add_node(self, node: Any) -> None:
        """Add the edges of one application."""
        if node.op is CUSTOM:
            self.add_user_gradient(node)
            return
        for place, operand in enumerate(node.inputs):
            is_constant = isinstance(operand, Constant)
            start = operand.uid if is_constant else self.value(operand)
            if not start:
                continue
            for out in node.outputs:
                reason = self.reason_of(node, place, operand, out)
                self.graph.add(
                    start, self.value(out), self.position, node.location, node.op.name, reason
                )

    def reason_of(self, node: Any, place: int, operand: Any, out: int) -> Reason | None:
        """Why no gradient flows through an input of an application; None if one does."""
        if node.op is INSTALL:
            return "state_read", node.location, None
        if not isinstance(operand, Constant) and self.kind(operand) in tuple("iubO"):
            return None
        found: Reason | None = self.graph.reason_of_op(node.op, place, None, None, node.location)
        if found is not None and found[0] == "no_gradient_op" and self.kind(out) == "O":
            return "string_dtype", node.location, None
        return found

    def kind(self, number: int) -> str:
        """The dtype kind of a value."""
        kind: str = self.specs[number].dtype.kind
        return kind

    def add_user_gradient(self, node: Any) -> None:
        """Add a function with a custom gradient."""
        custom = node.static["custom"]
        outs = node.outputs[: len(custom.seeds)]
        for i, operand in enumerate(custom.inputs):
            gives = i < len(custom.input_gradients) and custom.input_gradients[i] is not None
            reason = None if gives else custom_reason(None, custom.code, i, node.location)
            for out in outs:
                if not isinstance(operand, Constant):
                    self.connect(operand, out, node, reason)
        closed = custom_reason(None, custom.code, -1, node.location)
        for operand, out in zip(node.inputs, outs, strict=False):
            if not isinstance(operand, Constant) and operand not in custom.inputs:
                self.connect(operand, out, node, closed)

    def connect(self, start: int, end: int, node: Any, reason: Reason | None) -> None:
        """Add an edge between two values."""
        ends = self.value(start), self.value(end)
        self.graph.add(*ends, self.position, node.location, "custom_gradient", reason)

    def add_guards(self, results: tuple[int, ...], hidden: Reason | None) -> None:
        """Add that the results depend on the values that Python has read."""
        for guard in self.path.guards:
            if guard.kind == "value":
                reason: Reason | None = hidden or ("python_round_trip", guard.location, None)
                if self.kind(guard.number) in tuple("iubO"):
                    reason = hidden
                for uid in results:
                    start = self.value(guard.number)
                    self.graph.add(start, uid, self.position, guard.location, "guard", reason)
