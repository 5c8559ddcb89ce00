"""The ledger as a graph: an edge for each way in which one value reached another."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from gradtape.core.ledger import Entry
from gradtape.core.user_location import Location
from gradtape.debug.explanation.call import expand_call
from gradtape.debug.explanation.custom import custom_reason
from gradtape.debug.explanation.history import GRADIENT_NAMES, Reason, TapeStory
from gradtape.debug.explanation.source_text import is_other_library_call
from gradtape.graph.graph import Effect

Node = Any  # a uid, a departure ("left", number), or a value of a compiled call
DISCRETE = "iubO"
MAX_STEPS = 8  # ops between a value and the op whose result has a known dtype
CONVERSIONS = ("constant", "convert_to_tensor", "cast", "identity", "as_array", "constant_v1")


class Edge:
    """One way from a value to another.

    Attributes:
        position: the place of its entry in the ledger.
        reason: None if gradients flow, else cause, location and region of the break.
        latent: the break that remains for an integer once it is made a float; it costs nothing.
        location: the user's line.
        doubt: the cost of an edge that arguments or the source text alone show.
    """

    __slots__ = ("doubt", "end", "latent", "location", "op", "position", "reason", "start")

    def __init__(
        self,
        start: Node,
        end: Node,
        position: int,
        location: Location,
        op: str,
        reason: Reason | None,
    ) -> None:
        """An edge made by the op of an entry."""
        self.start, self.end = start, end
        self.position, self.location, self.op, self.reason = position, location, op, reason
        self.latent: Reason | None = None
        self.doubt = 0


class DataGraph:
    """All edges of the ledger, as one tape sees them.

    Attributes:
        edges: by start.
        incoming: by end.
        versions: the uids of a variable, by key.
        keys: the key of a variable, by uid of a version.
        created: where a variable was made, by key.
        labels: the name of a variable, by key.
        made: position and location of the entry that made a value.
        departures: entries that took a value out of the tensors, by number.
        calls: the user's frames on the stack at a departure, innermost first.
    """

    def __init__(self, entries: Sequence[Entry], story: TapeStory, kinds: dict[int, str]) -> None:
        """Build the graph."""
        self.entries, self.story, self.kinds = entries, story, kinds
        self.edges: dict[Node, list[Edge]] = defaultdict(list)
        self.incoming: dict[Node, list[Edge]] = defaultdict(list)
        self.versions: dict[int, list[int]] = defaultdict(list)
        self.keys: dict[int, int] = {}
        self.trainable: dict[int, bool] = {}
        self.created: dict[int, Location] = {}
        self.labels: dict[int, str] = {}
        self.made: dict[Node, tuple[int, Location]] = {}
        self.datasets: set[Node] = set()
        self.departures: dict[int, tuple[int, str, Location]] = {}
        self.calls: dict[int, tuple[Location, ...]] = {}
        self.described = {
            abs(uid)
            for kind, _, outputs, *_ in entries
            if not is_birth(kind)
            for uid in (outputs if type(outputs) is tuple else (outputs,))
            if type(uid) is int
        }
        for position, entry in enumerate(entries):
            self.add_entry(position, entry)

    def add_entry(self, position: int, entry: Entry) -> None:
        """Add the edges of an entry."""
        kind = entry[0]
        if type(kind) is str:
            self.add_simple(position, entry)
        elif type(kind) is not tuple:
            self.add_op(position, entry)
        elif kind[0] in ADDERS:
            ADDERS[kind[0]](self, position, entry)

    def add(
        self,
        start: Node,
        end: Node,
        position: int,
        location: Location,
        op: str,
        reason: Reason | None,
    ) -> Edge:
        """Add an edge."""
        start = abs(start) if type(start) is int else start
        end = abs(end) if type(end) is int else end
        edge = Edge(start, end, position, location, op, reason)
        self.edges[start].append(edge)
        self.incoming[end].append(edge)
        return edge

    def note_creation(self, uid: Any, position: int, location: Location) -> None:
        """Remember where a value was made."""
        self.made[abs(uid) if type(uid) is int else uid] = (position, location)

    def add_op(self, position: int, entry: Entry) -> None:
        """Add the edges of a primitive, or of an effect of a trace."""
        op, inputs, outputs, code, instruction, _ = entry
        location = (code, instruction)
        outs = outputs if type(outputs) is tuple else (outputs,)
        for out in outs:
            self.note_creation(out, position, location)
        hidden = None if self.story.is_listening(entry) else False
        for place, uid in enumerate(inputs):
            if not uid:
                continue
            for out in outs:
                reason = self.reason_of_op(op, place, uid, out, location)
                if reason is None and hidden is not None:
                    reason = self.story.why_not_listening(position, entry)
                self.add(uid, out, position, location, op.name, reason)

    def reason_of_op(
        self, op: Any, place: int, uid: Node, out: Node, location: Location
    ) -> Reason | None:
        """Why no gradient flows through an input of an op by its own nature; None if one does."""
        if op.name == "stop_gradient":
            is_inside = is_other_library_call(location, "stop_gradient")
            return "no_gradient_op" if is_inside else "stop_gradient", location, None
        if isinstance(op, Effect):
            return "py_function", location, None
        if self.is_discrete(uid):
            return None  # lost before
        if rule_of(op, place) is not None:
            return None
        kind = self.kind_of(out)
        if kind == "O":
            return "string_dtype", location, None
        if op.name in ("discretize", "cast"):
            return "integer_path", location, None
        return "no_gradient_op", location, None

    def kind_of(self, node: Node) -> str:
        """The dtype kind of a value, or "" where it is not known."""
        return self.kinds.get(abs(node), "") if type(node) is int else ""

    def is_discrete(self, node: Node) -> bool:
        """Whether a value is known to be an integer, a boolean or a string."""
        return self.kind_of(node) in tuple(DISCRETE)

    def is_integer_result(self, node: int) -> bool:
        """Whether a value is an integer or was computed from integers."""
        for _ in range(MAX_STEPS):
            if self.kind_of(node):
                return self.is_discrete(node)
            edge = next(iter(self.incoming.get(node, ())), None)
            if edge is None or type(edge.start) is not int:
                return False
            node = edge.start
        return False

    def add_simple(self, position: int, entry: Entry) -> None:
        """Add a read, a capture or an assignment in a trace."""
        kind, (start,), end, code, instruction, _ = entry
        location = (code, instruction)
        reason: Reason | None = None
        if kind == "install":
            reason = ("state_read", location, None)
        elif kind == "read":
            self.note_creation(end, position, location)
            if not self.story.is_listening(entry):
                reason = self.story.why_not_listening(position, entry)
        self.add(start, end, position, location, kind, reason)

    def add_birth(self, position: int, entry: Entry) -> None:
        """Add the edges of a tensor that no primitive made."""
        (_, name), inputs, out, code, instruction, moment = entry
        location = (code, instruction)
        if type(out) is tuple:  # the gradients of several sources
            for one in out:
                self.add_birth(position, (*entry[:2], one, *entry[3:]))
            return
        if abs(out) in self.described:
            return
        self.note_creation(out, position, location)
        listening = self.story.is_listening(entry)
        for start in inputs:
            if start in self.datasets or (type(start) is int and abs(start) == abs(out)):
                continue  # elements have entries of their own
            if name in GRADIENT_NAMES:
                if listening:
                    continue
                reason: Reason | None = self.story.why_not_listening(position, entry)
            else:
                reason = self.reason_of_birth(name, start, out, location, moment)
            edge = self.add(start, out, position, location, name, reason)
            edge.doubt = int(type(start) is int)

    def reason_of_birth(
        self, name: str, start: Node, out: Node, location: Location, moment: Any
    ) -> Reason | None:
        """Why no gradient flows into a tensor that no primitive made."""
        if type(start) is tuple or self.is_discrete(start):
            return None  # lost before
        if name in ("numpy_function", "py_function"):
            return "py_function", location, None
        if name.startswith("dataset."):
            return "dataset_iteration", location, None
        if self.kind_of(out) == "O":
            return "string_dtype", location, None
        if name in CONVERSIONS:
            return "numpy_round_trip", location, None
        if self.kind_of(out) in tuple("iub") and name == "cast":
            return "integer_path", location, None
        return "no_gradient_op", location, None

    def add_assign(self, position: int, entry: Entry) -> None:
        """Add the creation of a variable, or an assignment to it."""
        (kind, name, key, trainable, is_metric, label), inputs, version, code, instruction, _ = (
            entry
        )
        location = (code, instruction)
        before = self.versions[key][-1] if self.versions[key] else None
        self.versions[key].append(abs(version))
        self.keys[abs(version)] = key
        self.trainable[key] = trainable
        self.note_creation(version, position, location)
        if kind == "variable":
            self.created[key] = location
            self.labels[key] = label
        elif before is not None and name != "assign":
            self.add(before, version, position, location, name, None)
        for start in inputs:
            if self.is_update_by_gradient(start) or start == before:
                continue
            cause = "metric_result" if is_metric else "state_read"
            if kind == "variable" and self.is_variable_value(start):
                cause = "wrong_object"
            reason = None if type(start) is tuple else (cause, location, None)
            self.add(start, version, position, location, name, reason)

    def is_variable_value(self, node: Node) -> bool:
        """Whether a value is that of a variable, read without change."""
        if type(node) is not int:
            return False
        if abs(node) in self.keys:
            return True
        return any(e.op == "read" for e in self.incoming.get(abs(node), ()))

    def is_update_by_gradient(self, node: Node) -> bool:
        """Whether a value was computed from a gradient, as an optimizer's updates are."""
        seen: set[Node] = set()
        todo = [abs(node) if type(node) is int else node]
        while todo and len(seen) < 200:
            one = todo.pop()
            if one in seen:
                continue
            seen.add(one)
            for edge in self.incoming.get(one, ()):
                if edge.op in GRADIENT_NAMES:
                    return True
                todo.append(edge.start)
        return False

    def add_version(self, position: int, entry: Entry) -> None:
        """Add the first read of a variable in a trace."""
        (_, key), (start,), end, code, instruction, _ = entry
        self.keys[abs(end)] = key
        self.versions[key].append(abs(end))
        self.add(start, end, position, (code, instruction), "version", None)

    def add_call(self, position: int, entry: Entry) -> None:
        """Add the values of a compiled call and the edges between them."""
        reason: Reason | None = None
        if not self.story.is_listening(entry):
            reason = self.story.why_not_listening(position, entry)
        expand_call(self, position, entry, reason)

    def add_custom(self, position: int, entry: Entry) -> None:
        """Add a call of a function with a custom gradient."""
        (_, step, code), (inputs, results), outs = entry[:3]
        location: Location = (entry[3], entry[4])
        hidden = None
        if not self.story.is_listening(entry):
            hidden = self.story.why_not_listening(position, entry)
        for out in outs:
            self.note_creation(out, position, location)
        for i, uid in enumerate(inputs):
            reason = custom_reason(step(), code, i, location) or hidden
            for out in outs:
                self.add(uid, out, position, location, "custom_gradient", reason)
        closed = custom_reason(None, code, -1, location)
        for result, out in zip(results, outs, strict=False):
            if result not in inputs:
                self.add(result, out, position, location, "custom_gradient", closed)

    def add_dataset(self, position: int, entry: Entry) -> None:
        """Add what a dataset was made of."""
        (_, name), inputs, uid, code, instruction, _ = entry
        self.datasets.add(uid)
        for start in inputs:
            self.add(start, uid, position, (code, instruction), name, None)

    def add_element(self, position: int, entry: Entry) -> None:
        """Add the tensors of an element of a dataset."""
        _, (dataset,), outs, code, instruction, _ = entry
        location = (code, instruction)
        for out in outs:
            self.note_creation(out, position, location)
            if dataset:
                reason = ("dataset_iteration", location, None)
                self.add(dataset, out, position, location, "dataset", reason)

    def add_departure(self, position: int, entry: Entry) -> None:
        """Add that a value left the tensors."""
        (_, kind, calls), (uid,), number, code, instruction, moment = entry
        location = (code, instruction)
        self.calls[number] = calls
        cause = "numpy_round_trip" if kind == "numpy" else "python_round_trip"
        self.departures[number] = (position, cause, location)
        reason = (cause, location, None)
        is_lost_before = self.is_discrete(uid)
        self.add(
            uid, ("left", number), position, location, kind, None if is_lost_before else reason
        ).latent = reason
        for names, scope in moment.scopes:
            if any("py_function.py" in n for n in names):
                self.add_return_of_host_function(number, position, scope)

    def add_return_of_host_function(self, number: int, position: int, scope: Location) -> None:
        """Connect a departure inside a `numpy_function` to the results of that call."""
        for entry in list(self.entries)[position:]:
            if (entry[3], entry[4]) == scope and not entry[5].scopes and entry[0] != "read":
                outs = entry[2] if type(entry[2]) is tuple else (entry[2],)
                for out in outs:
                    if type(out) is int and out:
                        self.add(("left", number), out, position, scope, "numpy_function", None)
                if type(entry[0]) is not tuple or entry[0][0] != "tape":
                    return


def is_birth(kind: Any) -> bool:
    """Whether an entry describes a tensor that no primitive made."""
    return type(kind) is tuple and kind[0] == "birth"


def rule_of(op: Any, place: int) -> Any:
    """The gradient rule of an input of an op."""
    if op.variadic:
        return op.rules[0]
    return op.rules[place] if place < len(op.rules) else None


ADDERS = {
    "birth": DataGraph.add_birth,
    "assign": DataGraph.add_assign,
    "variable": DataGraph.add_assign,
    "version": DataGraph.add_version,
    "call": DataGraph.add_call,
    "custom": DataGraph.add_custom,
    "dataset": DataGraph.add_dataset,
    "element": DataGraph.add_element,
    "left": DataGraph.add_departure,
}
