"""The question why a gradient is None: the source's own problems, then the breaks on the way."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from gradtape.core import nest
from gradtape.core.argument import describe
from gradtape.core.ledger import Entry, TapeHistory, ledger, version_of
from gradtape.core.symbolic_tensor import SymbolicTensor
from gradtape.core.tensor import Tensor
from gradtape.core.user_location import Location
from gradtape.debug.explanation.answer import Answer, Break
from gradtape.debug.explanation.edge import DISCRETE, DataGraph, Edge
from gradtape.debug.explanation.history import TapeStory
from gradtape.debug.explanation.program import name_of
from gradtape.debug.explanation.search import GUESS, Search, region_of
from gradtape.debug.explanation.source_text import (
    assigned_name,
    expression_at,
    forget_sources,
    line_of,
    parse_file,
    text_at,
)
from gradtape.tape.source import variable_of

NOWHERE: Location = (None, -1)
# Of several breaks in one region, such as one call of a library, the strongest is named.
STRENGTH = {
    "inner_tape_only": 5,
    "py_function": 4,
    "numpy_round_trip": 3,
    "python_round_trip": 2,
    "metric_result": 1,
}


COMPARISONS = ("greater", "greater_equal", "less", "less_equal", "equal", "not_equal")
WEAK_CAUSES = ("no_gradient_op", "state_read", "dataset_iteration", "metric_result")
QUIET_OPS = ("version", "capture")


class Source:
    """The source of a question: a tensor or a variable."""

    def __init__(self, uids: Sequence[Any], key: int | None, kind: str, symbolic: bool) -> None:
        """A source with these uids; `key` is that of a variable, `kind` its dtype's."""
        self.uids = [abs(u) if type(u) is int else u for u in uids]
        self.key, self.kind, self.is_symbolic = key, kind, symbolic


class Question:
    """One question about one tape."""

    def __init__(self, entries: Sequence[Entry], history: TapeHistory, source: Source) -> None:
        """Read the ledger."""
        self.source = source
        self.story = TapeStory(entries, history)
        self.graph = DataGraph(entries, self.story, ledger.kinds)
        self.search = Search(self.graph)
        if source.key is not None:
            known = self.graph.versions.get(source.key, [])
            source.uids = list(dict.fromkeys([*source.uids, *known]))

    def answer(self, targets: set[Any]) -> Answer:
        """The answer for a target."""
        path = self.search.find(self.source.uids, targets)
        if path is None:
            return self.explain_unconnected(targets)
        breaks = self.name_library_calls(merge_breaks(path), path)
        breaks = drop_duplicates([name_departure(one, path) for one in breaks])
        problem = self.source_problem(path)
        if problem is not None:
            breaks.insert(0, problem)
        elif breaks and self.is_recreated(breaks[0], path):
            first = breaks[0].location
            later = [b for b in breaks if line_of(b.location) != line_of(first)]
            breaks = [Break("variable_replaced", first), *later]
        certain = not any(edge.op == GUESS for edge in path)
        return Answer(breaks, self.name_of_source(), certain, [e.location for e in path])

    def name_of_source(self) -> str:
        """What the program calls the source, or where it was made."""
        location = self.place_of_source()
        line = line_of(location)
        if line is None:
            return ""
        name = assigned_name(location)
        if self.source.key is None:
            return f"`{name}` (line {line})" if name else f"the tensor of line {line}"
        made_by = getattr(expression_at(location), "func", None)
        if name and name_of(made_by) == "Variable":
            return f"`{name}` (line {line})"
        label = self.graph.labels.get(self.source.key, "")
        return f"the variable {label!r} (line {line})"

    def name_library_calls(self, breaks: list[Break], path: list[Edge]) -> list[Break]:
        """Say what a call of another library does as a whole: it leaves the tensors, for example.

        Such a call, `model.predict` for example, runs many ops at one place of the program.
        """
        left = {e.location for e in path if is_departure([e])}
        found: list[Break] = []
        for one in breaks:
            if one.location in left and one.cause in WEAK_CAUSES:
                kinds = {
                    c for _, c, place in self.graph.departures.values() if place == one.location
                }
                one = Break(max(kinds, key=STRENGTH.__getitem__), one.location, one.op)
            if found and found[-1].cause == "metric_result" and is_call_of(one.location, "result"):
                continue
            found.append(one)
        return found

    def is_recreated(self, first: Break, path: list[Edge]) -> bool:
        """Whether the first break makes a new variable of the source's name: `v = Variable(v)`."""
        for edge in path if self.source.key is not None else ():
            entry = self.graph.entries[edge.position]
            is_creation = type(entry[0]) is tuple and entry[0][0] == "variable"
            if is_creation and line_of(edge.location) == line_of(first.location):
                return is_rebound(entry, exact=True)
        return False

    def source_problem(self, path: list[Edge]) -> Break | None:
        """What is wrong with the source itself, or None."""
        source = self.source
        if source.kind and source.kind in DISCRETE:
            cause = "string_dtype" if source.kind == "O" else "integer_path"
            return Break(cause, self.place_of_source())
        first = path[0].position if path else 1 << 60
        watched = self.watched_at()
        if watched is not None:
            is_heard = bool(path) and path[0].reason is None and not is_quiet(path[0].op)
            if watched[0] > first and is_heard and not self.is_known_without_watch():
                return Break("watched_late", watched[1])
            return None
        if self.is_known_without_watch():
            return None
        if source.key is not None:
            return self.variable_problem()
        return self.tensor_problem()

    def watched_at(self) -> tuple[int, Location] | None:
        """Position and location of the first `watch` of the source."""
        names: list[Any] = list(self.source.uids)
        if self.source.key is not None:
            names = [("key", self.source.key), *names]
        found = [self.story.watched[n] for n in names if n in self.story.watched]
        return min(found, key=lambda one: one[0], default=None)

    def is_known_without_watch(self) -> bool:
        """Whether the tape knows the source as a trainable variable or as a recorded result."""
        story, graph = self.story, self.graph
        if story.history.watches_all:
            return True
        watches = story.history.kind != "ForwardAccumulator" and story.history.watches_variables
        if self.source.key is not None:
            return watches and graph.trainable.get(self.source.key, True)
        roots = [u for u in story.watched if type(u) is int and u not in self.source.uids]
        for key, uids in graph.versions.items():
            if ("key", key) in story.watched or (watches and graph.trainable.get(key, True)):
                roots += uids
        reached = self.search.reach(roots, free=True)
        return any(u in reached for u in self.source.uids)

    def variable_problem(self) -> Break:
        """Why the tape does not watch a variable."""
        if not self.graph.trainable.get(self.source.key or 0, True):
            return Break("non_trainable", self.place_of_source())
        return Break("watch_accessed_off", self.story.made)

    def tensor_problem(self) -> Break:
        """Why the tape does not know a tensor."""
        if self.source.is_symbolic:
            return Break("function_boundary", self.place_of_source())
        uid = self.source.uids[0]
        is_version = any(a in self.graph.keys for a in self.search.ancestors(uid))
        if is_version and self.has_shape_of_variable(uid):
            return Break("variable_replaced", self.place_of_source())
        return Break("not_watched_constant", self.place_of_source())

    def has_shape_of_variable(self, uid: int) -> bool:
        """Whether a tensor made from a variable may stand for it: it was not made on a tape."""
        made = self.graph.made.get(uid)
        if made is None:
            return False
        entry = self.graph.entries[made[0]]
        return not entry[5].recorders and is_rebound(entry)

    def place_of_source(self) -> Location:
        """Where the source was made."""
        source, graph = self.source, self.graph
        if source.key is not None and source.key in graph.created:
            return graph.created[source.key]
        for uid in source.uids:
            if uid in graph.made:
                return graph.made[uid][1]
        return NOWHERE

    def explain_unconnected(self, targets: set[Any]) -> Answer:
        """Answer for a target that does not depend on the source."""
        graph, search = self.graph, self.search
        used = [e for uid in self.source.uids for e in graph.edges.get(uid, ())]
        if self.source.key is None:
            uid = self.source.uids[0]
            for edge in graph.incoming.get(uid, ()):
                if edge.op == "call" and search.find([edge.start], targets) is not None:
                    return self.single("function_boundary", edge.location)
            if self.source.is_symbolic:
                return self.single("function_boundary", self.place_of_source())
            if not any(type(e.end) is int for e in used):
                for ancestor in search.ancestors(uid):
                    if search.find([ancestor], targets) is not None:
                        return self.single("wrong_object", self.place_of_source())
        location = self.last_use() or self.place_of_targets(targets)
        return self.single("not_connected", location)

    def single(self, cause: str, location: Location) -> Answer:
        """An answer with one break."""
        return Answer([Break(cause, location)], self.name_of_source())

    def last_use(self) -> Location | None:
        """The last line on the way of the source's value, or None if it is not used."""
        last: Edge | None = None
        seen, todo = set(self.source.uids), list(self.source.uids)
        while todo:
            for edge in self.graph.edges.get(todo.pop(), ()):
                if edge.op == "version" or (type(edge.end) is tuple and edge.end[0] == "left"):
                    continue
                if last is None or edge.position >= last.position:
                    last = edge if edge.location[0] is not None else last
                if edge.end not in seen:
                    seen.add(edge.end)
                    todo.append(edge.end)
        return None if last is None else last.location

    def place_of_targets(self, targets: set[Any]) -> Location:
        """Where a target was made."""
        found = [self.graph.made[t] for t in targets if t in self.graph.made]
        return max(found, key=lambda one: one[0])[1] if found else NOWHERE


def name_departure(one: Break, path: list[Edge]) -> Break:
    """Call a test or a conversion to Python's own objects by its name.

    The comparison in `if x > 0:` has no gradient, but the `if` is what loses it. `x.numpy().item()`
    is a Python number.
    """
    if one.cause == "no_gradient_op" and one.op in COMPARISONS:
        for edge, then in pairwise(path):
            if is_departure([then]) and edge.reason is not None and edge.reason[1] == one.location:
                return Break("python_round_trip", then.location, one.op)
    if one.cause == "numpy_round_trip":
        text, _, end = text_at(one.location)
        if text[end:].startswith((".item(", ".tolist(")):
            return Break("python_round_trip", one.location, one.op)
    return one


def is_quiet(op: str) -> bool:
    """Whether an edge only passes a value on, which is no use that a tape could miss."""
    return op in QUIET_OPS or op.startswith("dataset.")


def drop_duplicates(breaks: list[Break]) -> list[Break]:
    """The breaks without those that repeat the one before."""
    return breaks[:1] + [
        one
        for before, one in pairwise(breaks)
        if (one.cause, one.location) != (before.cause, before.location)
    ]


def is_departure(edges: list[Edge]) -> bool:
    """Whether the first of some edges takes a value out of the tensors."""
    return bool(edges) and type(edges[0].end) is tuple and edges[0].end[0] == "left"


def is_call_of(location: Location, name: str) -> bool:
    """Whether the expression at a location calls a method of this name."""
    node = expression_at(location)
    return isinstance(node, ast.Call) and getattr(node.func, "attr", None) == name


def is_rebound(entry: Entry, exact: bool = False) -> bool:
    """Whether the value of an entry took the place of one of its operands in the source.

    Unless `exact`, a function of the user's may make the value.
    """
    node = expression_at((entry[3], entry[4]))
    if node is None or entry[3] is None:
        return not exact
    tree = parse_file(entry[3].co_filename)
    for statement in ast.walk(tree) if tree is not None else ():
        if isinstance(statement, (ast.Assign, ast.AugAssign)):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            for target in targets:
                texts = {
                    ast.unparse(n) for n in ast.walk(statement.value) if isinstance(n, ast.expr)
                }
                inside = any(n is node for n in ast.walk(statement.value))
                called = isinstance(statement.value, ast.Call)
                if ast.unparse(target) in texts and (inside or (called and not exact)):
                    return True
    return False


def merge_breaks(path: list[Edge]) -> list[Break]:
    """The breaks of a path; neighbours in one region count once."""
    breaks: list[Break] = []
    region = None
    for i, edge in enumerate(path):
        if edge.reason is None:
            region = region if region == ("at", edge.location) else None
            if edge.latent is not None and region is None and breaks:
                breaks.append(Break(edge.latent[0], edge.location, edge.op))
            continue
        if edge.op == "read" and is_departure(path[i + 1 : i + 2]):
            continue  # `variable.numpy()`: what leaves is lost, inside the tape as well
        cause, location, _ = edge.reason
        if location[0] is None:
            location = next((e.location for e in path[i:] if e.location[0]), location)
        if region_of(edge) != region:
            breaks.append(Break(cause, location, edge.op))
        elif STRENGTH.get(cause, 0) > STRENGTH.get(breaks[-1].cause, 0):
            breaks[-1] = Break(cause, location, edge.op)
        region = region_of(edge)
    return breaks


def make_source(source: Any) -> Source:
    """Describe the source of a question."""
    variable = variable_of(source)
    if variable is None and "_key" in getattr(source, "__dict__", ()):
        variable = source
    if variable is not None:
        version = version_of(variable)
        return Source([version.uid], variable._key, version._array.dtype.kind, False)
    tensors = [t for t in nest.flatten(source, expand_composites=True) if isinstance(t, Tensor)]
    if not tensors:
        raise TypeError(
            "explain: source must be a tensor, a variable or a structure of them. Received "
            f"{describe(source)}."
        )
    tensor = tensors[0]
    symbolic = isinstance(tensor, SymbolicTensor)
    return Source(
        [t.uid for t in tensors], None, "" if symbolic else tensor._array.dtype.kind, symbolic
    )


def target_uids(target: Any) -> set[Any]:
    """The uids of a target."""
    found = set()
    for one in nest.flatten(target, expand_composites=True):
        variable = variable_of(one)
        value = one if variable is None else version_of(variable)
        if isinstance(value, Tensor):
            found.add(abs(value.uid))
    if not found:
        raise TypeError(
            "explain: target must be a tensor, a variable or a structure of them. Received "
            f"{describe(target)}."
        )
    return found


def explain(tape: Any, target: Any, source: Any) -> Answer:
    """Say why the gradient of `target` with respect to `source` is None."""
    asked, targets = make_source(source), target_uids(target)
    history = tape.__dict__.get("_history")
    if history is None:
        return Answer([Break("not_recorded", NOWHERE)])
    return ask(ledger.list_entries(), history, asked, targets)


def ask(entries: Sequence[Entry], history: TapeHistory, source: Source, targets: Any) -> Answer:
    """Answer a question; the ledger is not written to meanwhile."""
    before, ledger.active = ledger.active, False
    try:
        forget_sources()
        return Question(entries, history, source).answer(targets)
    finally:
        ledger.active = before
