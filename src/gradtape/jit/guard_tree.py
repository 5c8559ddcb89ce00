"""The guard tree: the paths of one function as straight-line segments, separated by guards.

A guard says which value Python read, and what it saw. A call runs segment by segment and compares
the value at each guard. If it sees something new, the run stops (`GuardMiss`). Python then runs
again from the start, with the log of guards and effects so far, and the new path is added to the
tree. Values keep their numbers from the traces: runs that have taken the same path have equal
numbers.
"""

from __future__ import annotations

from typing import Any

from gradtape.core.dispatch import run_kernel
from gradtape.core.errors import OutOfRangeError
from gradtape.graph.graph import Effect, Graph, Node, Operand
from gradtape.graph.guard import guard_key
from gradtape.graph.replay import lookup_operand
from gradtape.graph.trace_op import INSTALL
from gradtape.jit.graph_equality import same_nodes
from gradtape.jit.trace_path import TracedPath, commit

MAX_PATHS = 16  # paths of one function


class GuardMiss(Exception):  # noqa: N818  not an error
    """A guard saw a new value; `log` holds the guards and effects of the run so far."""

    def __init__(self, log: list[tuple[str, Any]]) -> None:
        """Stop after the events in `log`."""
        self.log = log


class Segment:
    """Nodes up to the next guard, or to the end.

    Attributes:
        nodes: the nodes, in order.
        loads: captures and variables that are first read here: number and source.
        guard: (number, kind) of the guard after the nodes; None at the end of a path.
        children: the next segments, by what the guard sees.
        path: the path that ends here, or None.
        needs: numbers that the guard, the results or later segments read.
    """

    def __init__(
        self, nodes: list[Node], loads: list[tuple[int, Any]], specs: dict[int, Any], choice: Any
    ) -> None:
        """Make a segment without a guard and without children."""
        self.nodes = nodes
        self.loads = loads
        self.specs = specs
        self.choice = choice
        self.guard: tuple[int, str] | None = None
        self.children: dict[Any, Segment] = {}
        self.path: TracedPath | None = None
        self.live_values: set[int] = set()
        self.plan: Any = None
        self.ins: list[int] = []
        self.outs: list[int] = []
        self.effects = [n for n in nodes if isinstance(n.op, Effect) and n.op.is_replayed]

    def compile(self) -> Any:
        """Compile the plan of the segment, from values it reads to values that are needed later."""
        made = {o for node in self.nodes for o in node.outputs}
        logged = {o for node in self.effects for o in node.outputs}
        self.outs = sorted((self.live_values | logged) & made)
        self.ins = sorted({i for node in self.nodes for i in node.reads()} - made)
        self.plan = self.choice.compile(Graph(self.ins, self.nodes, self.outs, self.specs))
        return self.plan


class GuardTree:
    """All paths of one function for one signature."""

    def __init__(self, path: TracedPath) -> None:
        """Start with one path."""
        self.paths = 0
        self.states: dict[int, Any] = {}  # variables, or positions among the arguments, by key
        self.add(path)

    def add(self, path: TracedPath) -> None:
        """Add a path; one that differs before the first guard replaces the tree."""
        chain = split_at_guards(path)
        if not self.paths:
            self.root = chain[0]
            count = len(path.graph.inputs) - len(path.captures) - len(path.states)
            self.arguments = path.graph.inputs[:count]
        at, new = self.root, chain[0]
        if self.paths:
            if not is_same_segment(at, new):
                self.root, self.paths = new, 0
            else:
                for k in range(1, len(chain)):
                    seen = path.guards[k - 1].expected
                    if seen not in at.children or not is_same_segment(at.children[seen], chain[k]):
                        at.children[seen] = chain[k]
                        break
                    at = at.children[seen]
        self.paths += 1
        self.states.update(zip(path.keys, path.states, strict=True))
        self.update_live_values(path)

    def update_live_values(self, path: TracedPath) -> None:
        """Determine which values the segments along a path must pass on."""
        along = [self.root]
        for guard in path.guards:
            along.append(along[-1].children[guard.expected])
        wanted = {o for o in path.graph.outputs if type(o) is int}
        for segment in reversed(along):
            if segment.guard is not None:
                wanted.add(segment.guard[0])
            if not wanted <= segment.live_values:
                segment.live_values |= wanted
                segment.plan = None
            for node in segment.nodes:
                wanted.update(node.reads())

    def run(self, frame: dict[int, Any], variables: list[Any]) -> tuple[TracedPath, list[Any]]:
        """Run along the tree; return the path taken and the results of its effects.

        Raises:
            Miss: if a guard sees a new value.
        """
        log: list[tuple[str, Any]] = []
        results: list[Any] = []
        segment = self.root
        walked: list[Segment] = []
        while True:
            walked.append(segment)
            for number, source in segment.loads:
                frame[number] = load_source(source, variables)
            plan = segment.plan or segment.compile()
            try:
                made = plan(*[frame[n] for n in segment.ins])
            except OutOfRangeError:
                self.commit_before_exhaustion(walked, frame, variables)
                raise
            frame.update(zip(segment.outs, made, strict=True))
            for node in segment.effects:
                done = tuple([frame[o] for o in node.outputs])
                log.append((node.op.name, done))
                results.append(done)
            if segment.guard is None:
                assert segment.path is not None
                return segment.path, results
            number, kind = segment.guard
            raw = frame[number]
            seen = raw.shape if kind == "shape" else guard_key(raw)
            log.append(("guard", seen))
            follower = segment.children.get(seen)
            if follower is None:
                raise GuardMiss(log)
            segment = follower

    def commit_before_exhaustion(
        self, walked: list[Segment], frame: dict[int, Any], variables: list[Any]
    ) -> None:
        """Commit the assignments that precede the call of an exhausted iterator."""
        nodes = [n for segment in walked[:-1] for n in segment.nodes]
        for node in walked[-1].nodes:
            if isinstance(node.op, Effect) and node.op.is_replayed and node.outputs:
                break
            nodes.append(node)
        newest = {n.static["key"]: n.outputs[0] for n in nodes if n.op is INSTALL}
        missing = [n for n in nodes if not n.is_effect and not frame.keys() >= set(n.outputs)]
        for node in Graph(list(frame), missing, newest.values(), {}).live_nodes():
            raws = tuple([lookup_operand(frame, i) for i in node.inputs])
            made = run_kernel(node.op, raws, node.static)  # type: ignore[arg-type]
            frame.update(zip(node.outputs, made if node.op.outputs else (made,), strict=True))
        sources = [self.states[key] for key in newest]
        written = [variables[s] if type(s) is int else s for s in sources]
        commit(written, [frame[number] for number in newest.values()])


def load_source(source: Any, variables: list[Any]) -> Any:
    """The raw array of a capture, of a variable, or of a variable among the arguments."""
    if type(source) is int:
        return variables[source]._stored_version()._array
    return (source._stored_version() if hasattr(source, "_key") else source)._array


def split_at_guards(path: TracedPath) -> list[Segment]:
    """Split a path into segments at its guards."""
    graph = path.graph
    arguments = len(graph.inputs) - len(path.captures) - len(path.states)
    sources = dict(zip(graph.inputs[arguments:], [*path.captures, *path.states], strict=True))
    loaded: set[int] = set()
    chain: list[Segment] = []
    start = 0
    ends = [(g.position, (g.number, g.kind), g.expected) for g in path.guards]
    for end, guard, _ in [*ends, (len(graph.nodes), None, None)]:
        nodes = graph.nodes[start:end]
        read: list[Operand] = [i for node in nodes for i in node.reads()]
        read += [guard[0]] if guard else list(graph.outputs)
        loads = []
        for number in read:
            if type(number) is int and number in sources and number not in loaded:
                loaded.add(number)
                loads.append((number, sources[number]))
        segment = Segment(nodes, loads, graph.specs, path.choice)
        segment.guard = guard
        if chain:
            chain[-1].children[ends[len(chain) - 1][2]] = segment
        chain.append(segment)
        start = end
    chain[-1].path = path
    return chain


def is_same_segment(a: Segment, b: Segment) -> bool:
    """Whether two segments do the same."""
    return (
        a.guard == b.guard
        and len(a.loads) == len(b.loads)
        and all(
            m == n and is_same_source(s, t) for (m, s), (n, t) in zip(a.loads, b.loads, strict=True)
        )
        and same_nodes(a.nodes, b.nodes)
        and (a.path is None) == (b.path is None)
    )


def is_same_source(a: Any, b: Any) -> bool:
    """Whether two captures, variables or positions of arguments are the same."""
    return a is b or (type(a) is int and type(b) is int and a == b)
