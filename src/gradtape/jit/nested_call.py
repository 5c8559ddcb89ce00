"""Calls of a function inside the trace of another function.

At the first call the Python function runs as part of the outer trace. If the recorded nodes are
self-contained (no guards, no effects, no values of the outer body except the arguments), they are
kept as a `Piece`. Later calls, in this or another trace, replay them.
"""

from __future__ import annotations

from typing import Any

from gradtape.core import nest
from gradtape.core.symbolic_tensor import SymbolicTensor
from gradtape.core.tensor import Tensor, eager
from gradtape.graph.graph import Constant, Node, Operand
from gradtape.graph.recorder import Trace
from gradtape.graph.replay import no_effects, replay
from gradtape.jit.signature import Call
from gradtape.jit.trace_path import Path, returned_tensors
from gradtape.state.random.function_stream import LIVING, copied_stream


class Piece:
    """A part of a trace that can be replayed in another.

    Attributes:
        arguments: numbers of the tensors among the arguments.
        nodes: the nodes, in order.
        captures: captured tensors, by number.
        variables: variables that are read or written, by key.
        reads: keys of variables, by the number of their value at the start.
        outputs: operands of the results.
        structure: structure of the result.
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


def inlined(function: Any, call: Call, trace: Trace) -> Any:
    """Call a function inside a trace."""
    plain = not any(hasattr(leaf, "_cell") or hasattr(leaf, "_draw") for leaf in call.leaves)
    piece = piece_for(function, call) if plain else None
    if piece is not None:
        return replayed(piece, call, trace)
    before = Before(trace)
    autograph, trace.autograph = trace.autograph, function.autograph
    try:
        function.traces += 1
        with trace.own_graph():
            result = function.python_function(*call.args, **call.kwargs)
            returned = returned_tensors(result, function.name)
    finally:
        trace.autograph = autograph
    if plain:
        piece = before.piece(call, returned)
        if piece is not None:
            function.keep_piece(call, piece)
    return returned


def piece_for(function: Any, call: Call) -> Piece | None:
    """The cached piece for the signature of a call, or None."""
    piece: Piece | None = function.pieces.get(call.key)
    if piece is None and call.key in function._cache:
        path = function._cache[call.key].only
        if path is not None and not path.guards:
            piece = piece_of(path)
            function.keep_piece(call, piece)
    return piece


def piece_of(path: Path) -> Piece:
    """Make a piece from a path."""
    inputs = path.graph.inputs
    count = len(inputs) - len(path.captures) - len(path.states)
    piece = Piece(list(inputs[:count]), path.graph.nodes)
    rest = inputs[count:]
    piece.captures = dict(zip(rest, path.captures, strict=False))
    states = rest[len(path.captures) :]
    piece.reads = {n: v._key for n, v in zip(states, path.states, strict=True)}
    piece.variables = {v._key: v for v in path.states}
    piece.outputs = path.graph.outputs[: path.results]
    piece.structure = path.structure
    return piece


class Before:
    """The state of a trace before a function is called in it."""

    def __init__(self, trace: Trace) -> None:
        """Save the state."""
        self.trace = trace
        self.nodes = len(trace.nodes)
        self.marks = (len(trace.guards), len(trace.seen), len(trace.created))
        self.newest = {k: s.newest._array.number for k, s in trace.states.items()}

    def piece(self, call: Call, returned: Any) -> Piece | None:
        """The nodes recorded since, as a piece if they are self-contained; else None."""
        trace = self.trace
        if trace.given_up or trace.refuses:
            return None
        if self.marks != (len(trace.guards), len(trace.seen), len(trace.created)):
            return None
        nodes = trace.nodes[self.nodes :]
        tensors = [trace.lift(leaf) for leaf in call.leaves if isinstance(leaf, Tensor)]
        piece = Piece([trace.operand(t) for t in tensors], nodes)
        leaves = nest.flatten(returned, expand_composites=True)
        piece.outputs = [trace.operand(trace.lift(t)) for t in leaves if isinstance(t, Tensor)]
        piece.structure = returned
        captures = {t._array.number: tensor for tensor, t in trace.captures.values()}
        reads = {}
        for key, state in trace.states.items():
            piece.variables[key] = state.variable
            reads[self.newest.get(key, state.first._array.number)] = key
        made = {o for node in nodes for o in node.outputs}
        known = made | {a for a in piece.arguments if type(a) is int}
        read = [i for node in nodes for i in node.reads()]
        for number in [*read, *(o for o in piece.outputs if type(o) is int)]:
            if number in known:
                continue
            if number in captures:
                piece.captures[number] = captures[number]
            elif number in reads:
                piece.reads[number] = reads[number]
            else:
                return None  # a value of the outer body that is not an argument
        if any(type(a) is not int for a in piece.arguments) or any(n.effect for n in nodes):
            return None
        return piece


def replayed(piece: Piece, call: Call, trace: Trace) -> Any:
    """Replay a piece in `trace` on the arguments of a call."""
    tensors = [leaf for leaf in call.leaves if isinstance(leaf, Tensor)]
    env: dict[int, Any] = {}
    for number, tensor in zip(piece.arguments, tensors, strict=True):
        assert type(number) is int
        env[number] = tensor
    for number, tensor in piece.captures.items():
        env[number] = trace.lift(tensor)
    variables = dict(piece.variables)
    for number, key in piece.reads.items():
        if key in LIVING:
            variables[key] = copied_stream(trace, variables[key])
        env[number] = trace.read(variables[key])

    def install(key: int, value: Any) -> Tensor:
        variable = variables[key]
        trace.write(variable, value if isinstance(value, Tensor) else eager(value))
        return trace.read(variable)

    replay(piece.nodes, env, no_effects, install)
    results = iter([value_at(env, o) for o in piece.outputs])
    leaves = nest.flatten(piece.structure, expand_composites=True)
    filled = [next(results) if isinstance(leaf, Tensor) else leaf for leaf in leaves]
    return nest.pack_sequence_as(piece.structure, filled, expand_composites=True)


def value_at(env: dict[int, Any], operand: Operand) -> Tensor:
    """A result as a tensor."""
    if isinstance(operand, Constant):
        return eager(operand.raw)
    value = env[operand]
    return value if isinstance(value, (Tensor, SymbolicTensor)) else eager(value)
