"""Groups the nodes of a diagram into at most about sixty boxes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

from gradtape.debug.diagram import Diagram, DiagramNode
from gradtape.debug.summary import format_bytes

MAX_BOXES = 60


@dataclass
class Box:
    """One box of a drawing.

    Attributes:
        title: a name scope, an op, or the first and last op of a run.
        details: further lines of text.
        nodes: positions of its nodes in the diagram.
        inputs: positions of the boxes that it reads.
        saved: bytes that its nodes keep alive.
        is_source: whether it is a variable or a watched tensor.
    """

    title: str
    details: list[str]
    nodes: list[int]
    inputs: list[int] = field(default_factory=list)
    saved: int = 0
    is_source: bool = False


def group_nodes(diagram: Diagram, limit: int = MAX_BOXES) -> list[Box]:
    """Boxes in the order of the run: nodes of one name scope that run in a row share a box.

    Consecutive runs keep the boxes free of cycles. A variable that one box uses is named inside it.
    """
    diagram = strip_common_scope(diagram)
    runs = choose_runs(diagram, limit)
    box_of = {i: k for k, run in enumerate(runs) for i in run}
    readers: dict[int, set[int]] = {}
    for i, node in enumerate(diagram.nodes):
        for source in node.inputs:
            if i in box_of:
                readers.setdefault(source, set()).add(box_of[i])
    folded: dict[int, list[int]] = {}
    boxes: list[Box] = []
    first = {}
    for i, node in enumerate(diagram.nodes):
        if node.is_source:
            users = readers.get(i, set())
            if len(users) == 1:
                folded.setdefault(next(iter(users)), []).append(i)
            elif users:
                first[i] = Box(node.name, [node.kind], [i], is_source=True)
    shared = list(first)[: max(0, limit - len(runs))]
    place = {i: k for k, i in enumerate(shared)}
    boxes = [first[i] for i in shared]
    for k, run in enumerate(runs):
        box = describe_run(diagram, run, folded.get(k, []))
        inputs = {
            place[source]
            for i in run
            for source in diagram.nodes[i].inputs
            if source in place and source not in run
        }
        box.inputs = sorted(inputs)
        for i in run:
            place[i] = len(boxes)
        boxes.append(box)
    return boxes


def prepare_drawing(diagram: Diagram) -> Diagram:
    """The diagram with the same positions, where reads of variables and missing scopes are named.

    An identity of a variable, as Keras's layers have, counts as the variable. If no op has a name
    scope, ops are in the scope of the variable that they, or the ops before them, read:
    "dense/kernel" is in "dense".
    """
    nodes = list(diagram.nodes)
    for i, node in enumerate(nodes):
        if node.name == "identity" and len(node.inputs) == 1 and nodes[node.inputs[0]].is_source:
            source = nodes[node.inputs[0]]
            nodes[i] = replace(node, name=source.name, inputs=[], is_source=True, saved=0)
    if not any(node.scope for node in nodes):
        scope = ""
        for i, node in enumerate(nodes):
            if not node.is_source:
                names = [nodes[k].name for k in node.inputs if nodes[k].is_source]
                scope = next((n.rpartition("/")[0] for n in names if "/" in n), scope)
                nodes[i] = replace(node, scope=scope)
    return Diagram(diagram.title, nodes)


def strip_common_scope(diagram: Diagram) -> Diagram:
    """The diagram without the name scope that contains all others, such as that of a model."""
    scopes = {node.scope for node in diagram.ops if node.scope}
    shared = common_scope(scopes) if len(scopes) > 1 else ""
    if not shared:
        return diagram
    nodes = [
        replace(node, scope=node.scope.removeprefix(shared).removeprefix("/"))
        for node in diagram.nodes
    ]
    return Diagram(diagram.title, nodes)


def choose_runs(diagram: Diagram, limit: int) -> list[list[int]]:
    """Runs of consecutive ops: by the deepest level of name scopes that gives few enough boxes."""
    ops = [i for i, node in enumerate(diagram.nodes) if not node.is_source]
    depth = max((node.scope.count("/") + 1 for node in diagram.nodes if node.scope), default=0)
    runs = [[i] for i in ops]
    if depth:
        for level in range(depth, 0, -1):
            runs = split_by_scope(diagram, ops, level)
            if len(runs) <= limit:
                return runs
    if len(runs) <= limit:
        return runs
    return merge_evenly(runs, limit)


def split_by_scope(diagram: Diagram, ops: list[int], level: int) -> list[list[int]]:
    """Runs of consecutive ops with the same first `level` parts of the name scope.

    Ops without a scope run in a box of their own.
    """
    runs: list[list[int]] = []
    before: str | None = None
    for i in ops:
        scope = "/".join(diagram.nodes[i].scope.split("/")[:level])
        if runs and scope == before:
            runs[-1].append(i)
        else:
            runs.append([i])
        before = scope
    return runs


def merge_evenly(runs: list[list[int]], limit: int) -> list[list[int]]:
    """Merge neighbours into at most `limit` runs of about equal length."""
    size = -(-len(runs) // limit)
    return [
        [i for run in runs[start : start + size] for i in run]
        for start in range(0, len(runs), size)
    ]


def describe_run(diagram: Diagram, run: list[int], variables: list[int]) -> Box:
    """A box for the nodes of a run; `variables` are named inside."""
    nodes = [diagram.nodes[i] for i in run]
    saved = sum(node.saved for node in nodes)
    scopes = {node.scope for node in nodes}
    if len(nodes) == 1:
        title = nodes[0].scope or nodes[0].name
        details = [nodes[0].name] if nodes[0].scope else []
    else:
        title = common_scope(scopes) or title_of_ops(nodes)
        details = [describe_ops(nodes)]
    names = [shorten(diagram.nodes[i].name, title) for i in variables]
    if names:
        details.append(", ".join(names[:3]) + (" …" if len(names) > 3 else ""))
    kept = f" · {format_bytes(saved)}" if saved else ""
    kind = nodes[-1].kind if nodes[-1].shape is not None else ""
    details.append(f"{kind}{kept}" if kind else kept.removeprefix(" · "))
    details = [line for line in details if line]
    return Box(title, details, run, saved=saved)


def common_scope(scopes: set[str]) -> str:
    """The longest name scope that contains all of `scopes`."""
    parts = [scope.split("/") for scope in scopes]
    shared = []
    for level in zip(*parts, strict=False):
        if len(set(level)) > 1:
            break
        shared.append(level[0])
    return "/".join(shared)


def title_of_ops(nodes: list[DiagramNode]) -> str:
    """The first and last op of a run."""
    return f"{nodes[0].name} … {nodes[-1].name}"


def describe_ops(nodes: list[DiagramNode]) -> str:
    """The number of ops, and the most frequent ones."""
    counts = Counter(node.name for node in nodes).most_common(2)
    names = ", ".join(name if n == 1 else f"{n} × {name}" for name, n in counts)
    return f"{len(nodes)} ops: {names}"


def shorten(name: str, title: str) -> str:
    """The name of a variable without the scope of its box."""
    return name.removeprefix(f"{title}/").rsplit("/", 1)[-1]
