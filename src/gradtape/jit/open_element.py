"""Functions that read elements of unknown sizes: one trace serves batches of all sizes.

In the trace of a call the sizes of an element are unknown, with those of the call as hints. Its
path is specialised for the call. A later element of another size misses the guard on its shape.
Then the path of unknown sizes is specialised for the elements of the run; Python does not run.
"""

from __future__ import annotations

from typing import Any

from gradtape.core.open_shape import bind_shape
from gradtape.core.size_function import Env
from gradtape.jit.open_signature import OpenTrace
from gradtape.jit.trace_path import TracedPath

Log = list[tuple[str, Any]]


def has_open_elements(trace: Any) -> bool:
    """Whether a trace has read elements of unknown sizes."""
    return trace.sizes is not None and any(unknown.from_data for unknown in trace.sizes.unknowns)


def specialise_for_run(traces: list[OpenTrace], tensors: list[Any], log: Log) -> TracedPath | None:
    """The path for a run with these arguments and this log of guards and side effects, or None."""
    for one in traces:
        env = find_sizes_of_run(one, tensors, log)
        if env is None:
            continue
        path = one.path.specialise(env)
        seen = [what for kind, what in log if kind == "guard"]
        if seen == [guard.expected for guard in path.guards[: len(seen)]]:
            return path
    return None


def find_sizes_of_run(one: OpenTrace, tensors: list[Any], log: Log) -> Env | None:
    """The unknown sizes in a run; None if the trace does not serve it or a size is not yet seen."""
    env: Env = {}
    graph = one.path.graph
    for number, tensor in zip(graph.inputs, tensors, strict=False):
        if not bind_shape(graph.specs[number].shape, tensor._array.shape, env):
            return None
    nodes = [node for node in one.path.effects if getattr(node.op, "is_replayed", False)]
    done = [(kind, results) for kind, results in log if kind != "guard"]
    for node, (name, results) in zip(nodes, done, strict=False):
        pairs = zip(node.outputs, results, strict=False)
        if node.op.name != name or not all(
            bind_shape(graph.specs[number].shape, raw.shape, env) for number, raw in pairs
        ):
            return None
    is_known = all(unknown in env for unknown in one.sizes.unknowns)
    return env if is_known and one.sizes.holds(env) else None
