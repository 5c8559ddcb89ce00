"""Calls of a function inside the trace of another function.

At the first call the Python function runs as part of the outer trace. If the recorded nodes are
self-contained (no guards, no effects, no values of the outer body except the arguments), they are
kept as a `ReplayableTrace`. Later calls, in this or another trace, replay them.
"""

from __future__ import annotations

from typing import Any

from gradtape.core import nest
from gradtape.core.dims import SizeSource
from gradtape.core.open_shape import hide_dims
from gradtape.core.replica import split_count
from gradtape.core.shapes import TensorShape
from gradtape.core.size_atom import Unknown
from gradtape.core.size_context import Assumption
from gradtape.core.spec import TensorSpec
from gradtape.core.symbolic_tensor import SymbolicTensor
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.graph.graph import Constant, Node, Operand
from gradtape.graph.open_replay import OpenReplay, ViolatedAssumption
from gradtape.graph.open_size import has_open_tensors
from gradtape.graph.replay import refuse_effect, replay
from gradtape.graph.trace import Trace
from gradtape.jit.abstract_path import trace_abstractly
from gradtape.jit.cache_key import PLAIN_TYPES
from gradtape.jit.open_signature import open_key
from gradtape.jit.signature import Call
from gradtape.jit.trace_path import TracedPath, convert_results
from gradtape.state.random.function_stream import LIVE_STREAMS, copy_stream
from gradtape.state.random.stream import FunctionStreams


class ReplayableTrace:
    """A part of a trace that can be replayed in another.

    Attributes:
        arguments: numbers of the tensors among the arguments.
        nodes: the nodes, in order.
        captures: captured tensors, by number.
        variables: variables that are read or written, by key.
        reads: keys of variables, by the number of their value at the start.
        outputs: operands of the results.
        structure: structure of the result.
        split_count: how often variables had got copies when it was recorded.
        size_sources: where unknown sizes are found; None if all sizes are known.
        assumptions: what must hold for the unknown sizes.
    """

    def __init__(self, arguments: list[Operand], nodes: list[Node]) -> None:
        """Start with arguments and nodes only."""
        self.arguments = arguments
        self.nodes = nodes
        self.captures: dict[int, Tensor] = {}
        self.variables: dict[int, Any] = {}
        self.reads: dict[int, int] = {}
        self.outputs: list[Operand] = []
        self.structure: Any = None
        self.split_count = split_count[0]
        self.size_sources: dict[Unknown, SizeSource] | None = None
        self.assumptions: list[Assumption] = []


def call_inside_trace(function: Any, call: Call, trace: Trace) -> Any:
    """Call a function inside a trace."""
    plain = not any(
        hasattr(leaf, "_target_variable") or hasattr(leaf, "_read_next") for leaf in call.leaves
    )
    signature = function.open_signature
    is_open = signature is not None and signature.shapes is not None
    if plain and (is_open or has_open_tensors(call.leaves)):
        plain = False
        replayed = call_open_trace(function, call, trace)
        if replayed is not None:
            return replayed[0]
    replayable = find_replayable(function, call) if plain else None
    if replayable is not None:
        return replay_trace(replayable, call, trace)
    before = TraceSnapshot(trace)
    function.traces += 1
    with trace.use_options(autograph=function.autograph), trace.enter_graph():
        result = function.traced_function()(*call.args, **call.kwargs)
        returned = convert_results(result, function.name)
    if plain:
        replayable = before.make_replayable(call, returned)
        if replayable is not None:
            function.cache_replayable(call, replayable)
    return returned


def call_open_trace(function: Any, call: Call, trace: Trace) -> tuple[Any] | None:
    """(The result of a call on tensors of unknown sizes,) by a trace of the function alone.

    Returns None if the function cannot be traced alone, or assumes other sizes.
    """
    shapes = [TensorShape(hide_dims(t._array.shape)) for t in call.tensors]
    if function.open_signature is not None and function.open_signature.shapes is not None:
        shapes = function.open_signature.shapes
        if len(shapes) != len(call.tensors) or any(s.rank is None for s in shapes):
            return None
    key = ("open", *open_key(call, shapes, True))
    if key not in function.replayable_traces:
        function.cache_by_key(key, trace_alone(function, call, shapes))
    replayable = function.replayable_traces[key]
    if replayable is None or replayable.split_count != split_count[0]:
        return None
    try:
        return (replay_trace(replayable, call, trace),)
    except ViolatedAssumption:
        return None


def trace_alone(function: Any, call: Call, shapes: list[TensorShape]) -> ReplayableTrace | None:
    """The trace of a function without values; None if it must run as part of another trace."""
    if not all(isinstance(leaf, Tensor) or is_plain(leaf) for leaf in call.leaves):
        return None
    pairs = zip(shapes, call.tensors, call.tensor_names(function.parameters), strict=True)
    specs = [TensorSpec(shape, t.dtype, name) for shape, t, name in pairs]
    before = function.traces

    def pack(tensors: list[Any]) -> Any:
        rest = iter(tensors)
        leaves = [next(rest) if isinstance(leaf, Tensor) else leaf for leaf in call.leaves]
        return call.pack((call.args, call.kwargs), leaves)

    try:
        traced = trace_abstractly(function, specs, pack, FunctionStreams())
    except Exception:  # it needs values, or tensors of the other trace
        traced = None
    if traced is None or not traced.is_pure():
        function.traces = before
        return None
    replayable = replayable_from_path(traced.path)
    if any(key in LIVE_STREAMS for key in replayable.reads.values()):
        function.traces = before
        return None
    replayable.size_sources = traced.size_sources
    replayable.assumptions = list(traced.sizes.assumptions.values())
    return replayable


def is_plain(leaf: Any) -> bool:
    """Whether a leaf of the arguments is a plain Python value."""
    return type(leaf) in PLAIN_TYPES


def find_replayable(function: Any, call: Call) -> ReplayableTrace | None:
    """The cached replayable for the signature of a call, or None."""
    replayable: ReplayableTrace | None = function.replayable_traces.get(call.key)
    if replayable is not None and replayable.split_count != split_count[0]:
        replayable = None
    if replayable is None and call.key in function._cache:
        path = function._cache[call.key].only_path
        if path is not None and not path.guards:
            replayable = replayable_from_path(path)
            function.cache_replayable(call, replayable)
    return replayable


def replayable_from_path(path: TracedPath) -> ReplayableTrace:
    """Make a replayable from a path."""
    inputs = path.graph.inputs
    count = len(inputs) - len(path.captures) - len(path.states)
    replayable = ReplayableTrace(list(inputs[:count]), path.graph.nodes)
    rest = inputs[count:]
    replayable.captures = dict(zip(rest, path.captures, strict=False))
    states = rest[len(path.captures) :]
    replayable.reads = {n: v._key for n, v in zip(states, path.states, strict=True)}
    replayable.variables = {v._key: v for v in path.states}
    replayable.outputs = path.graph.outputs[: path.result_count]
    replayable.structure = path.structure
    return replayable


class TraceSnapshot:
    """The state of a trace before a function is called in it."""

    def __init__(self, trace: Trace) -> None:
        """Save the state."""
        self.trace = trace
        self.node_count = len(trace.builder.nodes)
        self.event_counts = count_events(trace)
        self.newest = {k: t._array.number for k, (t, _) in trace.versions.save().items()}

    def make_replayable(self, call: Call, returned: Any) -> ReplayableTrace | None:
        """The nodes recorded since, as a replayable if they are self-contained; else None."""
        trace = self.trace
        if trace.give_up_reason or trace.options.forbids_values or trace.guesses_values:
            return None
        if self.event_counts != count_events(trace):
            return None
        nodes = trace.builder.nodes[self.node_count :]
        tensors = [leaf for leaf in call.leaves if isinstance(leaf, Tensor)]
        replayable = ReplayableTrace(trace.operands(tensors), nodes)
        leaves = nest.flatten(returned, expand_composites=True)
        replayable.outputs = trace.operands(t for t in leaves if isinstance(t, Tensor))
        replayable.structure = returned
        captures = {t._array.number: tensor for tensor, t in trace.builder.captures.values()}
        reads = {}
        for key, state in trace.versions.states.items():
            replayable.variables[key] = state.variable
            reads[self.newest.get(key, state.initial._array.number)] = key
        arguments = {a for a in replayable.arguments if type(a) is int}
        if len(arguments) < len(replayable.arguments) or arguments & (
            captures.keys() | reads.keys()
        ):
            return None  # arguments are constants or share a value with each other or the body
        known = arguments | {o for node in nodes for o in node.outputs}
        read = [i for node in nodes for i in node.reads()]
        for number in [*read, *(o for o in replayable.outputs if type(o) is int)]:
            if number in known:
                continue
            if number in captures:
                replayable.captures[number] = captures[number]
            elif number in reads:
                replayable.reads[number] = reads[number]
            else:
                return None  # a value of the outer body that is not an argument
        if any(n.is_effect for n in nodes):
            return None
        return replayable


def count_events(trace: Trace) -> tuple[int, int, int]:
    """Counts of guards and effects, of created variables, and of variables that were split."""
    return len(trace.log.events), len(trace.versions.created), split_count[0]


def replay_trace(replayable: ReplayableTrace, call: Call, trace: Trace) -> Any:
    """Replay a replayable in `trace` on the arguments of a call."""
    tensors = [leaf for leaf in call.leaves if isinstance(leaf, Tensor)]
    env: dict[int, Any] = {}
    for number, tensor in zip(replayable.arguments, tensors, strict=True):
        assert type(number) is int
        env[number] = tensor
    for number, tensor in replayable.captures.items():
        env[number] = trace.as_traced(tensor)
    variables = dict(replayable.variables)
    for number, key in replayable.reads.items():
        if key in LIVE_STREAMS:
            variables[key] = copy_stream(trace, variables[key])
        env[number] = trace.read_variable(variables[key])

    def install(key: int, value: Any) -> Tensor:
        variable = variables[key]
        trace.write_variable(variable, value if isinstance(value, Tensor) else make_tensor(value))
        return trace.read_variable(variable)

    if replayable.size_sources is None:
        replay(replayable.nodes, env, refuse_effect, install)
    else:
        run = OpenReplay(replayable.size_sources, refuse_effect, install, replayable.assumptions)
        run.add_values(env.keys(), env.values())
        run.check_assumptions()
        run.run(replayable.nodes)
        env = run.values
    results = iter([result_tensor(env, o) for o in replayable.outputs])
    leaves = nest.flatten(replayable.structure, expand_composites=True)
    filled = [next(results) if isinstance(leaf, Tensor) else leaf for leaf in leaves]
    return nest.pack_sequence_as(replayable.structure, filled, expand_composites=True)


def result_tensor(env: dict[int, Any], operand: Operand) -> Tensor:
    """A result as a tensor."""
    if isinstance(operand, Constant):
        return make_tensor(operand.raw)
    value = env[operand]
    return value if isinstance(value, (Tensor, SymbolicTensor)) else make_tensor(value)
