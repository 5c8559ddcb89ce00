"""The search: the way from a source to a target with the fewest breaks.

Of ways with as many breaks it takes the one with the fewest steps that only the source text shows.
"""

from __future__ import annotations

import ast
import heapq
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from gradtape.core.user_location import Location
from gradtape.debug.explanation.edge import DataGraph, Edge, Node, is_birth
from gradtape.debug.explanation.flow import Slice
from gradtape.debug.explanation.program import Program
from gradtape.debug.explanation.source_text import expression_at, function_at, parse_file

GUESS = "guess"  # the op of an edge for which there is no evidence in the source
BREAK = 1 << 20  # the cost of a break: of paths with as many breaks, the best known one is taken
LAST_RESORT = 1 << 40  # the cost of an edge that counts only if there is no other path
# The ops of a comprehension's loop are located at the whole comprehension.
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class PythonFlow:
    """Finds the ops that a value which left the tensors has entered."""

    def __init__(self, graph: DataGraph) -> None:
        """Prepare nothing: most questions need no source."""
        self.graph = graph
        self.program: Program | None = None
        self.expressions: list[tuple[int, Any, Any]] = []
        self.barriers: set[int] = set()
        self.slices: dict[Any, Slice] = {}

    def prepare(self) -> Program:
        """Find the expressions of all entries that made tensors."""
        if self.program is not None:
            return self.program
        files = dict.fromkeys(e[3].co_filename for e in self.graph.entries if e[3] is not None)
        trees = [tree for tree in map(parse_file, files) if tree is not None]
        self.program = Program(trees)
        departed = set()
        for position, entry in enumerate(self.graph.entries):
            kind = entry[0]
            if type(kind) is tuple and kind[0] in ("tape", "lost"):
                continue
            node = expression_at((entry[3], entry[4]))
            if node is None:
                continue
            if type(kind) is tuple and kind[0] == "left":
                departed.add(id(node))
            else:
                self.expressions.append((position, entry, node))
                if not isinstance(node, COMPREHENSIONS):
                    self.barriers.add(id(node))
        self.barriers -= departed
        return self.program

    def edges_from(self, number: int) -> list[Edge]:
        """Edges from a departure to the values that depend on it."""
        position, _, location = self.graph.departures[number]
        self.prepare()
        if expression_at(location) is None:
            return self.guess_edges(number)
        calls = list_called_functions(self.graph.calls[number])
        return self.follow(("left", number), position, location, calls, 1)

    def edges_from_lookup(self, node: int) -> list[Edge]:
        """Edges from an integer that the library read as a static argument, such as an index."""
        position, location = self.graph.made.get(node, (0, (None, -1)))
        self.prepare()
        if expression_at(location) is None:
            return []
        return self.follow(node, position, location, [], LAST_RESORT)

    def follow(
        self,
        value: Node,
        position: int,
        location: Location,
        calls: list[tuple[Any, Any]],
        doubt: int,
    ) -> list[Edge]:
        """Edges from a value at an expression to the tensors that it enters through Python."""
        start = expression_at(location)
        key = (id(start), tuple([(id(node), id(function)) for node, function in calls]))
        flow = self.slices.get(key)
        if flow is None:
            flow = self.slices[key] = Slice(self.prepare(), start, self.barriers, calls)
        found = []
        inside = self.positions_inside(position)
        for later, entry, node in self.expressions:
            if later in inside or (later > position and flow.enters(node)):
                outs = entry[2] if type(entry[2]) is tuple else (entry[2],)
                for out in outs:
                    if type(out) is int and out:
                        edge = Edge(value, abs(out), later, entry[3:5], "python", None)
                        edge.doubt = doubt
                        found.append(edge)
        return found

    def positions_inside(self, position: int) -> set[int]:
        """Positions of the entries that the library call wrote that took a value out itself."""
        entries = self.graph.entries
        code, instruction = entries[position][3:5]
        found = set()
        for later in range(position + 1, len(entries)):
            entry = entries[later]
            if entry[3] is code:
                if entry[4] != instruction:
                    break
                found.add(later)
        return found

    def guess_edges(self, number: int) -> list[Edge]:
        """Without source text, a value may have entered every later tensor made of Python values.

        A path with such an edge is a guess, and costs more than one without.
        """
        position, _, (code, _) = self.graph.departures[number]
        if code is None or parse_file(code.co_filename) is not None:
            return []
        return [
            Edge(("left", number), abs(entry[2]), later, (entry[3], entry[4]), GUESS, None)
            for later, entry in enumerate(self.graph.entries)
            if later > position and is_birth(entry[0]) and not entry[1] and type(entry[2]) is int
        ]


def list_called_functions(calls: tuple[Location, ...]) -> list[tuple[Any, Any]]:
    """For each call on the stack the expression of the call and the called function's tree."""
    found = []
    for (code, _), outer in pairwise(calls):
        function, node = function_at(code), expression_at(outer)
        if function is not None and node is not None:
            found.append((node, function))
    return found


class Search:
    """Shortest paths in a data graph; the cost of a path is its number of breaks."""

    def __init__(self, graph: DataGraph) -> None:
        """Search `graph`."""
        self.graph = graph
        self.flow = PythonFlow(graph)
        self.flow_edges: dict[int, list[Edge]] = {}

    def edges_from(self, node: Node) -> list[Edge]:
        """The edges that leave a value."""
        edges = self.graph.edges.get(node, [])
        if type(node) is tuple and node[0] == "left":
            if node[1] not in self.flow_edges:
                self.flow_edges[node[1]] = self.flow.edges_from(node[1])
            edges = edges + self.flow_edges[node[1]]
        elif not edges and type(node) is int and self.graph.is_integer_result(node):
            if node not in self.flow_edges:
                self.flow_edges[node] = self.flow.edges_from_lookup(node)
            edges = self.flow_edges[node]
        return edges

    def find(self, sources: Iterable[Node], targets: set[Node]) -> list[Edge] | None:
        """The path with the fewest breaks, or None if there is no path."""
        heap: list[Any] = []
        order = 0
        best: dict[Any, int] = {}
        back: dict[Any, tuple[Any, Edge] | None] = {}
        for source in sources:
            state = (source, None)
            best[state], back[state] = 0, None
            heapq.heappush(heap, (0, order, state))
            order += 1
        while heap:
            cost, _, state = heapq.heappop(heap)
            if cost > best[state]:
                continue
            if state[0] in targets:
                return self.walk_back(state, back)
            for edge in self.edges_from(state[0]):
                price, region = price_of(edge, state[1])
                then = (edge.end, region)
                if cost + price < best.get(then, 1 << 60):
                    best[then], back[then] = cost + price, (state, edge)
                    heapq.heappush(heap, (cost + price, order, then))
                    order += 1
        return None

    def walk_back(self, state: Any, back: dict[Any, Any]) -> list[Edge]:
        """The edges of the path that ends at `state`."""
        path = []
        while back[state] is not None:
            state, edge = back[state]
            path.append(edge)
        return path[::-1]

    def reach(self, starts: Iterable[Node], free: bool) -> set[Node]:
        """All values that depend on `starts`; with `free`, along edges without a break."""
        seen = set(starts)
        todo = list(seen)
        while todo:
            for edge in self.edges_from(todo.pop()):
                if edge.end not in seen and not (free and edge.reason is not None):
                    seen.add(edge.end)
                    todo.append(edge.end)
        return seen

    def ancestors(self, node: Node) -> list[Node]:
        """The values that a value was made of, nearest first."""
        seen = {node: None}
        todo = [node]
        while todo:
            for edge in self.graph.incoming.get(todo.pop(0), ()):
                if edge.start not in seen:
                    seen[edge.start] = None
                    todo.append(edge.start)
        return list(seen)[1:]


def price_of(edge: Edge, region: Any) -> tuple[int, Any]:
    """The cost of an edge after one in `region`, and the region it ends in."""
    if edge.op == GUESS:
        return BREAK, None
    if edge.reason is None:
        return edge.doubt, region if region == ("at", edge.location) else None
    here = region_of(edge)
    return (0 if here == region else BREAK) + edge.doubt, here


def region_of(edge: Edge) -> Any:
    """The region of a break: neighbouring breaks in one region count once."""
    assert edge.reason is not None
    _, location, key = edge.reason
    return ("at", location) if key is None else key
