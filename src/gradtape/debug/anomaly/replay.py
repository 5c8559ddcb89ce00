"""Runs the graph of a compiled call again, primitive by primitive, to find a non-finite value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from gradtape.core.user_location import BackwardLocation
from gradtape.debug.anomaly.birth import Birth, facts_of
from gradtape.debug.anomaly.finite import is_finite
from gradtape.debug.anomaly.history import OpHistory
from gradtape.graph.graph import Constant, Effect, Node


def find_birth_in_graph(
    nodes: list[Node], env: dict[int, Any], effects: Iterable[tuple[Any, ...]]
) -> Birth | None:
    """The first application with a non-finite result; None if there is none.

    Args:
        nodes: the nodes of a graph, in order.
        env: raw arrays of the inputs, by number; the results are added.
        effects: results of the effects, in order.
    """
    logged = iter(effects)
    excused = {n for n, raw in env.items() if not is_finite(raw)}
    met: Birth | None = None
    with np.errstate(all="ignore"):
        for node in nodes:
            raws = [i.raw if isinstance(i, Constant) else env[i] for i in node.inputs]
            outs = run_node(node, raws, logged)
            env.update(zip(node.outputs, outs, strict=False))
            if is_finite(list(outs)):
                continue
            if isinstance(node.op, Effect):  # data enters
                excused.update(node.outputs)
                continue
            if not is_finite(raws):
                excused.update(node.outputs)
                if met is None:
                    met = make_birth(nodes, node, raws)
                continue
            return make_birth(nodes, node, raws)
    return met


def run_node(node: Node, raws: list[Any], logged: Iterator[tuple[Any, ...]]) -> tuple[Any, ...]:
    """The results of one application."""
    if isinstance(node.op, Effect):
        return next(logged, ()) if node.op.is_replayed else ()
    result = node.op.kernel(*raws, **node.static)
    return result if node.op.outputs else (result,)


def make_birth(nodes: list[Node], node: Node, raws: list[Any]) -> Birth:
    """Describe the birth of a non-finite value by an application."""
    location, facts = node.location, facts_of(raws)
    history = OpHistory([as_entry(one) for one in nodes])
    if isinstance(location, BackwardLocation):
        birth = Birth(
            location.op, (location[0], location[1]), "backward", facts - {"non-finite input"}
        )
        forward = next((n for n in nodes if n.location == location and n.op.name == birth.op), None)
        if forward is not None:
            birth.uid = forward.outputs[0] + 1
        history.complete(birth)
        return birth
    birth = Birth(node.op.name, location, "forward", facts)
    birth.uid = node.outputs[0] + 1
    history.complete(birth)
    return birth


def as_entry(node: Node) -> Any:
    """An application in the layout of the ledger; the uid of a value is its number plus one."""
    inputs = tuple([0 if isinstance(i, Constant) else i + 1 for i in node.inputs])
    kind = "backward" if isinstance(node.location, BackwardLocation) else node.op
    return (kind, inputs, tuple([o + 1 for o in node.outputs]), *node.location, None)
