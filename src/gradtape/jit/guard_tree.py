"""The guard tree: the paths of one function as straight-line segments, separated by guards.

A guard says which value Python read, and what it saw. A call runs segment by segment and compares
the value at each guard. If it sees something new, the run stops (`GuardMiss`). Python then runs
again from the start, with the log of guards and effects so far, and the new path is added to the
tree. Values keep their numbers from the traces: runs that have taken the same path have equal
numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter, methodcaller
from typing import Any

from gradtape.core.dispatch import run_kernel
from gradtape.core.lock import Lock
from gradtape.graph.graph import Effect, Graph, Node, Operand
from gradtape.graph.graph_equality import same_nodes
from gradtape.graph.guard import guard_key, is_integer_scalar
from gradtape.graph.replay import lookup_operand
from gradtape.graph.trace_op import INSTALL
from gradtape.jit.trace_path import TracedPath
from gradtape.state.variable.commit import read_versions

MAX_PATHS = 16  # paths of one function


class StoppedRun(Exception):  # noqa: N818  not an error
    """A call was stopped; `log` holds its guards and side effects so far."""

    def __init__(self, log: list[tuple[str, Any]]) -> None:
        """Stop after the events in `log`."""
        self.log = log


class GuardMiss(StoppedRun):
    """A guard saw a new value: the Python function must run."""


class CommitConflict(StoppedRun):
    """Another call changed a variable or the tree meanwhile: the call must run again."""


class UnloggedEffect(Exception):  # noqa: N818  not an error
    """A run that must not have new side effects has come to one."""


class TreeRun:
    """One run along the tree.

    Attributes:
        frame: raw values by number.
        variables: the variables of the tree by key: those of the path, and of other paths.
        snapshot: versions of the variables by key.
        loaded: the versions that the run has read, by key.
        log: the guards and side effects so far.
        effects: results of the side effects.
        walked: the segments so far.
    """

    def __init__(self, tree: GuardTree, raws: list[Any], given: list[Any]) -> None:
        """Start with the raw arguments and the variable arguments."""
        self.frame = dict(zip(tree.arguments, raws, strict=True))
        self.variables: dict[int, Any] = {}
        if tree.states:
            self.variables = {
                key: given[source] if type(source) is int else source
                for key, source in tree.states.items()
            }
        self.snapshot: dict[int, Any] = {}
        self.loaded: dict[int, Any] = {}
        self.log: list[tuple[str, Any]] = []
        self.effects: list[Any] = []
        self.walked: list[Segment] = []

    def read_snapshot(self) -> None:
        """Read all variables at one moment."""
        versions = read_versions(list(self.variables.values()))
        self.snapshot = dict(zip(self.variables, versions, strict=True))

    def enter(self, segment: Segment) -> None:
        """Load the captures and variables that a segment is the first to read."""
        if self.walked and self.walked[-1].effects:
            self.read_snapshot()  # a host function may have changed variables
        for number, source in segment.loads:
            if type(source) is int or hasattr(source, "_key"):
                key = -1 - source if type(source) is int else source._key
                if key not in self.snapshot:  # another thread has added the segment since
                    raise CommitConflict(self.log)
                source = self.loaded[key] = self.snapshot[key]
            self.frame[number] = source._array

    def end(self, segment: Segment, tree: GuardTree) -> TracedPath:
        """The path that ends with `segment`."""
        assert segment.path is not None
        if len(self.variables) != len(tree.states):  # another thread has added the path since
            raise CommitConflict(self.log)
        return segment.path

    def log_effect(self, node: Node, results: tuple[Any, ...]) -> None:
        """Note the results of a side effect."""
        self.log.append((node.op.name, results))
        self.effects.append(results)

    def follow_guard(self, segment: Segment) -> Segment:
        """The segment after the guard of `segment`.

        Raises:
            GuardMiss: if the guard sees a new value.
        """
        assert segment.guard is not None
        seen = segment.read_guard(self.frame[segment.guard[0]])
        self.log.append(("guard", seen))
        follower = segment.children.get(seen)
        if follower is None:
            raise GuardMiss(self.log)
        return follower


class Segment:
    """Nodes up to the next guard, or to the end.

    Attributes:
        nodes: the nodes, in order.
        loads: captures and variables that are first read here: number and source.
        guard: (number, kind) of the guard after the nodes; None at the end of a path.
        read_guard: makes the key in `children` from the raw value of the guard.
        children: the next segments, by what the guard sees.
        path: the path that ends here, or None.
        live_values: numbers that the guard, the results or later segments read.
        plan: the compiled plan with the numbers of its inputs and outputs, or None.
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
        self.read_guard: Callable[[Any], Any] = guard_key
        self.children: dict[Any, Segment] = {}
        self.path: TracedPath | None = None
        self.live_values: set[int] = set()
        self.plan: tuple[Any, list[int], list[int]] | None = None
        self.effects = [n for n in nodes if isinstance(n.op, Effect) and n.op.is_replayed]

    def set_guard(self, guard: tuple[int, str] | None) -> None:
        """Set the guard, and `read_guard`, which makes the key in `children` from its raw value."""
        self.guard = guard
        if guard is not None and guard[1] == "shape":
            self.read_guard = attrgetter("shape")
        elif guard is not None and is_integer_scalar(self.specs[guard[0]]):
            self.read_guard = methodcaller("item")  # what `guard_key` returns

    def compile(self) -> tuple[Any, list[int], list[int]]:
        """Compile the plan, from the values that are read to those that are needed later."""
        made = {o for node in self.nodes for o in node.outputs}
        logged = {o for node in self.effects for o in node.outputs}
        outs = sorted((self.live_values | logged) & made)
        ins = sorted({i for node in self.nodes for i in node.reads()} - made)
        plan = self.choice.compile(Graph(ins, self.nodes, outs, self.specs))
        self.plan = (plan.run, ins, outs)
        return self.plan


class GuardTree:
    """All paths of one function for one signature."""

    def __init__(self, path: TracedPath) -> None:
        """Start with one path."""
        self.lock = Lock()
        self.paths = 0
        self.all_paths: list[TracedPath] = []
        self.states: dict[int, Any] = {}  # variables, or positions among the arguments, by key
        self.root: Segment
        self.arguments: list[int]
        self.add(path)

    def add(self, path: TracedPath) -> None:
        """Add a path; one that differs before the first guard replaces the tree.

        Other threads run along the tree meanwhile, so the new segments are linked last.
        """
        chain = split_at_guards(path)
        with self.lock:
            if not self.paths or not is_same_segment(self.root, chain[0]):
                self.paths, self.all_paths = 0, []
                along: list[Segment] = []
                parent: list[Segment] | None = None
            else:
                along, parent = self.follow(path, chain)
            along += chain[len(along) :]
            if self.paths and parent is None:
                return  # another thread was first
            self.states.update(zip(path.keys, path.states, strict=True))
            update_live_values(path, along)
            self.all_paths = [*self.all_paths, path]
            if parent is not None:
                key = path.guards[len(parent) - 1].expected
                parent[-1].children[key] = along[len(parent)]
            else:
                count = len(path.graph.inputs) - len(path.captures) - len(path.states)
                self.arguments = path.graph.inputs[:count]
                self.root = chain[0]
            self.paths += 1

    def follow(
        self, path: TracedPath, chain: list[Segment]
    ) -> tuple[list[Segment], list[Segment] | None]:
        """The segments that a path shares with the tree, twice; None if the tree contains it."""
        along = [self.root]
        for guard, segment in zip(path.guards, chain[1:], strict=True):
            known = along[-1].children.get(guard.expected)
            if known is None or not is_same_segment(known, segment):
                return along, list(along)
            along.append(known)
        return along, None

    def run(self, run: TreeRun) -> TracedPath:
        """Run along the tree by compiled plans; return the path taken.

        Raises:
            GuardMiss: if a guard sees a new value.
        """
        frame = run.frame
        segment = self.root
        while True:
            if segment.loads or run.effects:
                run.enter(segment)
            run.walked.append(segment)
            compiled = segment.plan or self.compile_segment(segment)
            plan, ins, outs = compiled
            made = plan(*map(frame.__getitem__, ins))
            frame.update(zip(outs, made, strict=True))
            for node in segment.effects:
                run.log_effect(node, tuple([frame[o] for o in node.outputs]))
            if segment.guard is None:
                return run.end(segment, self)
            follower = run.follow_guard(segment)
            if segment.plan is not compiled:  # another thread has added a path since
                raise CommitConflict(run.log)
            segment = follower

    def compile_segment(self, segment: Segment) -> tuple[Any, list[int], list[int]]:
        """Compile the plan of a segment."""
        with self.lock:
            return segment.plan or segment.compile()

    def rerun(self, run: TreeRun, log: list[tuple[str, Any]], has_effects: bool) -> TracedPath:
        """Run along the tree node by node, with the results of side effects from `log`.

        Raises:
            GuardMiss: if a guard sees a new value.
            UnloggedEffect: at a side effect that is not in `log`, unless `has_effects`.
        """
        rest = list(log)
        segment = self.root
        while True:
            run.enter(segment)
            run.walked.append(segment)
            for node in segment.nodes:
                raws = tuple([lookup_operand(run.frame, i) for i in node.inputs])
                if isinstance(node.op, Effect) and node.op.is_replayed:
                    if rest and rest[0][0] == node.op.name:
                        made = rest.pop(0)[1]
                    elif has_effects:
                        rest, made = [], node.op.kernel(*raws)
                    else:
                        raise UnloggedEffect
                    run.log_effect(node, made)
                else:
                    made = run_node(node, raws)
                run.frame.update(zip(node.outputs, made, strict=True))
            if segment.guard is None:
                return run.end(segment, self)
            segment = run.follow_guard(segment)
            if not rest or rest.pop(0) != run.log[-1]:
                rest = []

    def written_keys(self) -> list[int]:
        """Keys of the variables that some path writes."""
        return list(dict.fromkeys(key for path in self.all_paths for key in path.written_keys()))

    def values_before_exhaustion(self, run: TreeRun) -> dict[int, Any]:
        """Raw values by key of the variables assigned before the call of an exhausted iterator."""
        walked, frame = run.walked, run.frame
        nodes = [n for segment in walked[:-1] for n in segment.nodes]
        for node in walked[-1].nodes:
            if isinstance(node.op, Effect) and node.op.is_replayed and node.outputs:
                if node.outputs[0] not in frame:
                    break
                continue
            nodes.append(node)
        newest = {n.static["key"]: n.outputs[0] for n in nodes if n.op is INSTALL}
        missing = [n for n in nodes if not n.is_effect and not frame.keys() >= set(n.outputs)]
        for node in Graph(list(frame), missing, newest.values(), {}).live_nodes():
            made = run_node(node, tuple([lookup_operand(frame, i) for i in node.inputs]))
            frame.update(zip(node.outputs, made, strict=True))
        return {key: frame[number] for key, number in newest.items()}


def update_live_values(path: TracedPath, along: list[Segment]) -> None:
    """Determine which values the segments along a path must pass on."""
    wanted = {o for o in path.graph.outputs if type(o) is int}
    for segment in reversed(along):
        if segment.guard is not None:
            wanted.add(segment.guard[0])
        if not wanted <= segment.live_values:
            segment.live_values |= wanted
            segment.plan = None
        for node in segment.nodes:
            wanted.update(node.reads())


def run_node(node: Node, raws: tuple[Any, ...]) -> tuple[Any, ...]:
    """The raw results of a node."""
    if isinstance(node.op, Effect):
        return node.op.kernel(*raws)
    made = run_kernel(node.op, raws, node.static)
    return made if node.op.outputs else (made,)


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
        segment.set_guard(guard)
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
