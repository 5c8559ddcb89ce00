"""explain_function: why a function was traced again, why it runs as Python, and on which engine."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gradtape.compile.cost_model import (
    MAX_PRODUCTS_PER_ELEMENT,
    MAX_SMALL_OP_ELEMENTS,
    MIN_XLA_ELEMENTS,
    MIN_XLA_OPS,
    calls_until_xla,
    is_mostly_elementwise,
    suits_xla,
    work_of,
    work_of_node,
)
from gradtape.compile.engine import MAX_XLA_NODES, EngineSettings
from gradtape.compile.xla.kernel_namespace import has_jax
from gradtape.core import nest
from gradtape.core.errors import public
from gradtape.graph.graph import Graph
from gradtape.graph.trace_op import INSTALL
from gradtape.jit.function import Function
from gradtape.jit.signature import format_leaf_key
from gradtape.jit.specialization import Specialization


@dataclass
class GuardExplanation:
    """A value that Python read while it was traced.

    Attributes:
        line: file and line of the program that read it.
        kind: "value" or "shape", the part that was read.
        seen: what each traced path has seen, in order. Several entries mean that the guard failed
            and the function was traced again.
    """

    line: str
    kind: str
    seen: list[str]

    @property
    def has_failed(self) -> bool:
        """Whether a call saw another value than the first trace."""
        return len(self.seen) > 1

    def __str__(self) -> str:
        """The line, and what was seen."""
        values = ", then ".join(self.seen)
        verb = "failed: it read" if self.has_failed else "holds: it read"
        return f"guard at {self.line} {verb} the {self.kind} {values}"


@dataclass
class TraceExplanation:
    """One signature of a function.

    Attributes:
        signature: the arguments, as specs and Python values.
        difference: how the arguments differ from those of the most similar earlier trace.
        guards: the values that Python has read.
        paths: how many paths through the Python code were traced.
        eager_reason: why calls run the Python function, or "".
        eager_calls: how many calls ran it.
        engine: the engine that runs the graph: "numpy", "xla" or "python".
        engine_reason: what made the rule choose it.
    """

    signature: str
    difference: str = ""
    guards: list[GuardExplanation] = field(default_factory=list)
    paths: int = 0
    eager_reason: str = ""
    eager_calls: int = 0
    engine: str = ""
    engine_reason: str = ""

    def lines(self) -> list[str]:
        """The explanation as lines of text."""
        lines = [f"called with {self.signature}"]
        if self.difference:
            lines.append(f"traced because {self.difference}")
        if self.paths > 1:
            lines.append(f"{self.paths} paths through the Python code were traced")
        lines += [str(guard) for guard in self.guards]
        if self.eager_reason:
            lines.append(f"runs as Python ({self.eager_calls} calls): {self.eager_reason}")
        lines.append(f"runs on {self.engine}: {self.engine_reason}")
        return lines


@dataclass
class FunctionExplanation:
    """The result of `explain_function`; printing it shows a readable text.

    Attributes:
        name: the name of the function.
        count: how often it was traced.
        traces: one explanation for each signature, oldest first.
    """

    name: str
    count: int
    traces: list[TraceExplanation]

    def __str__(self) -> str:
        """All traces as text."""
        lines = [f"tf.function {self.name}: traced {self.count} times"]
        if not self.traces:
            lines.append("It was not called yet, or its traces were dropped.")
        for number, trace in enumerate(self.traces, 1):
            first, *rest = trace.lines()
            lines.append(f"{number}. {first}")
            lines += [f"   {line}" for line in rest]
        return "\n".join(lines)

    __repr__ = __str__


@public
def explain_function(function: Any) -> FunctionExplanation:
    """Explain why a function was traced again, why it runs as Python, and which engine runs it.

    Args:
        function: a function made by `tf.function`.

    Returns:
        A `FunctionExplanation` with one entry for each signature.

    Raises:
        TypeError: if `function` is something else.

    Example:
        >>> @tf.function
        ... def scale(x, factor):
        ...     return x * factor
        >>> _ = scale(tf.ones(2), 2.0), scale(tf.ones(2), 3.0)
        >>> gradtape.debug.explain_function(scale).traces[1].difference
        'factor was the Python value 2.0 and is the Python value 3.0. Pass a tensor instead.'
    """
    if not isinstance(function, Function):
        raise TypeError(f"explain_function: expected a tf.function. Received {function!r}.")
    known = function.list_specializations()
    traces = [explain_trace(function, known[:i], one) for i, one in enumerate(known)]
    return FunctionExplanation(function.name, function.traces, traces)


def explain_trace(
    function: Function, before: list[Specialization], known: Specialization
) -> TraceExplanation:
    """Explain one signature; `before` are the earlier ones."""
    trace = TraceExplanation(describe_signature(function, known))
    if before:
        trace.difference = describe_nearest(function, before, known)
    trace.eager_reason, trace.eager_calls = known.eager_reason, known.fallbacks
    if known.tree is not None:
        trace.paths = known.tree.paths
        trace.guards = explain_guards(known.tree.all_paths)
        trace.engine, trace.engine_reason = explain_engine(function, known.tree.all_paths[0])
    else:
        trace.engine, trace.engine_reason = "python", "it has no graph"
    if known.eager_reason:
        trace.engine, trace.engine_reason = "python", known.eager_reason
    return trace


def describe_signature(function: Function, known: Specialization) -> str:
    """The arguments by name."""
    names = name_leaves(function, known)
    return (
        ", ".join(
            f"{name} = {format_leaf_key(key)}"
            for name, key in zip(names, known.leaf_keys, strict=True)
        )
        or "no arguments"
    )


def name_leaves(function: Function, known: Specialization) -> list[str]:
    """A name for each leaf of the arguments."""
    count = len(known.leaf_keys)
    if known.call_specs is not None:
        args, kwargs = known.call_specs
        parameters = list(function.function_spec.parameters.parameters)
        names = []
        for name, value in [*zip(parameters, args, strict=False), *sorted(kwargs.items())]:
            leaves = len(nest.flatten(value))
            names += [name] if leaves == 1 else [f"{name}[{k}]" for k in range(leaves)]
        if len(names) == count:
            return names
    return [f"value {i}" for i in range(count)]


def describe_nearest(
    function: Function, before: list[Specialization], known: Specialization
) -> str:
    """How the arguments differ from the most similar earlier ones."""
    names = name_leaves(function, known)
    same_length = [one for one in before if len(one.leaf_keys) == len(known.leaf_keys)]
    if not same_length:
        return f"{len(before[-1].leaf_keys)} values in the arguments became {len(known.leaf_keys)}"

    def differences(one: Specialization) -> list[int]:
        pairs = zip(one.leaf_keys, known.leaf_keys, strict=True)
        return [i for i, (a, b) in enumerate(pairs) if a != b]

    nearest = min(reversed(same_length), key=lambda one: len(differences(one)))
    places = differences(nearest)
    if not places:
        return "the structure of the arguments, or a setting such as the device, changed"
    parts = [
        f"{names[i]} was {format_leaf_key(nearest.leaf_keys[i])} and is "
        f"{format_leaf_key(known.leaf_keys[i])}"
        for i in places
    ]
    return f"{'; '.join(parts)}. {advise(known.leaf_keys[places[0]])}"


def advise(key: Any) -> str:
    """What to do about an argument that causes traces."""
    if isinstance(key, tuple) and len(key) == 2 and isinstance(key[0], tuple):
        return "Set reduce_retracing=True, or an input_signature with None for that size."
    if isinstance(key, tuple) and len(key) == 2 and key[0] == "object":
        return "Pass the same object each time, or make it part of the function."
    return "Pass a tensor instead."


def explain_guards(paths: list[Any]) -> list[GuardExplanation]:
    """The guards of all paths; those at one line that read one value are joined."""
    found: dict[tuple[str, str, int], GuardExplanation] = {}
    for path in paths:
        for position, guard in enumerate(path.guards):
            key = (guard.source_line, guard.kind, position)
            seen = describe_values(guard, path.graph)
            known = found.setdefault(key, GuardExplanation(guard.source_line, guard.kind, []))
            if seen not in known.seen:
                known.seen.append(seen)
    return list(found.values())


def describe_values(guard: Any, graph: Graph) -> str:
    """What a guard has seen, as text."""
    if guard.kind == "shape":
        return str(list(guard.expected))
    spec = graph.specs.get(guard.number)
    expected = guard.expected
    if spec is not None and isinstance(expected, tuple) and isinstance(expected[1], bytes):
        value = np.frombuffer(expected[1], spec[1]).reshape(expected[0])
        return str(value.item() if not value.shape else value.tolist())
    return str(expected)


def explain_engine(function: Function, path: Any) -> tuple[str, str]:
    """The engine of a graph and the rule that chose it."""
    choice, graph = path.choice, path.graph
    if choice.engine is not None:
        return check_jax(choice.engine, "engine.use set it for this function")
    if choice.jit_compile is not None:
        return check_jax(
            "xla" if choice.jit_compile else "numpy", f"jit_compile={bool(choice.jit_compile)}"
        )
    if choice.preference is not None:
        source = "engine.use" if EngineSettings.engine is not None else "GRADTAPE_ENGINE"
        return check_jax(choice.preference, f"{source} set it for all functions")
    return explain_cost_model(graph)


def check_jax(engine: str, reason: str) -> tuple[str, str]:
    """The engine that was asked for, or NumPy where JAX is missing."""
    if engine == "xla" and not has_jax():
        return "numpy", f"{reason}, but jax is not installed"
    return engine, reason


def explain_cost_model(graph: Graph) -> tuple[str, str]:
    """The engine that the cost model chooses, and why."""
    if not has_jax():
        return "numpy", "jax is not installed"
    work = work_of(graph)
    if work is None:
        return "numpy", f"{name_host_op(graph)} is faster or checked on NumPy"
    size = f"{work.ops} ops, {work.elements:,} elements, {work.products:,} products"
    if suits_xla(graph):
        return "xla", f"it is large and mostly elementwise ({size})"
    calls = calls_until_xla(graph)
    if calls is not None and len(graph.nodes) <= MAX_XLA_NODES:
        return "numpy", f"XLA takes over after {calls} calls of many small ops ({size})"
    if is_mostly_elementwise(work):
        return "numpy", f"it has indices that only the kernels check ({size})"
    if work.elements >= MIN_XLA_ELEMENTS:
        limit = MAX_PRODUCTS_PER_ELEMENT
        return "numpy", f"products dominate: more than {limit} for each element ({size})"
    if work.ops >= MIN_XLA_OPS:
        limit = MAX_SMALL_OP_ELEMENTS
        return "numpy", f"its ops are not small: more than {limit:,} elements each ({size})"
    return "numpy", (
        f"it is small ({size}): XLA is worth its compilation from {MIN_XLA_ELEMENTS:,} elements or "
        f"{MIN_XLA_OPS} ops on"
    )


def name_host_op(graph: Graph) -> str:
    """The name of the first op that keeps a graph on NumPy."""
    for node in graph.live_nodes():
        if node.op is not INSTALL and work_of_node(graph, node) is None:
            return str(getattr(node.op, "name", node.op))
    return "an op"
