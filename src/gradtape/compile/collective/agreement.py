"""Agreement: workers compare the collectives of a compiled graph before they run it together.

The first collective of the graph carries their list. A worker that is not at the first run of a
compiled graph then, for example because its batch has another shape, sends no list: its collectives
are compared one by one.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gradtape.core.worker_group import WorkerGroup


def announce_collectives(name: str, nodes: Iterable[Any]) -> None:
    """Send the collectives of a graph with its first collective.

    Args:
        name: the name of the function.
        nodes: the nodes of the graph, with the attributes `op`, `args` and `outs`.
    """
    groups: dict[int, Any] = {}
    lines: dict[int, list[str]] = {}
    for i, node in enumerate(nodes):
        static = collective_arguments(node)
        group = static.get("group")
        if isinstance(group, WorkerGroup) and group.size > 1 and hasattr(group, "announce"):
            groups[id(group)] = group
            kept = [f"{key}={static[key]}" for key in sorted(static) if key != "group"]
            text = f"{node.op.name} of {len(node.args)} tensors, {', '.join(kept)} (node {i})"
            lines.setdefault(id(group), []).append(text)
    for key, group in groups.items():
        group.announce([name, *lines[key]])


def collective_arguments(node: Any) -> dict[str, Any]:
    """The static arguments of a collective; empty for other nodes."""
    key: Any = getattr(node.op, "key", None)
    if isinstance(key, tuple) and len(key) == 2 and getattr(key[0], "is_effect", False):
        return dict(key[1])
    return {}


def describe_difference(own: list[str], other: list[str], rank: int, other_rank: int) -> str:
    """The first line that differs between two lists; line 0 is the name of the function."""
    at = 0
    while at < min(len(own), len(other)) and drop_node(own[at]) == drop_node(other[at]):
        at += 1
    first, second = (
        lines[at] if at < len(lines) else "the end of the graph" for lines in (own, other)
    )
    where = f"collective {at} of {own[0]}" if at else "the function"
    return f"{where} is `{first}` on worker {rank} and `{second}` on worker {other_rank}"


def are_same_programs(own: list[str], other: list[str]) -> bool:
    """Whether two lists name the same collectives; the numbers of nodes may differ."""
    return list(map(drop_node, own)) == list(map(drop_node, other))


def drop_node(line: str) -> str:
    """A line without the number of its node."""
    return line.partition(" (node ")[0]
