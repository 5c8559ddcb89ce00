"""Trace: the recorder behind `function`, which builds a graph of all primitives that are applied.

Tracing is a real run: tensors of the trace hold values, and ops compute. The graph contains only
specs and numbers. An op on constants is not recorded: its result is a constant. A tensor made
before the trace is a *capture*. The trace holds the newest version of every variable that is read
or written; the caller commits these versions at the end.
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from gradtape.core.context import listening, local, next_uid
from gradtape.core.dispatch import Recording, evaluate, hear
from gradtape.core.errors import InvalidArgumentError, OpError
from gradtape.core.lazy_array import shown
from gradtape.core.primitive import REGISTRY, Primitive, Spec
from gradtape.core.symbolic_tensor import Held, SymbolicTensor, out_of_scope, refuse, symbolic
from gradtape.core.tensor import Tensor, eager
from gradtape.graph.graph import Constant, Effect, Graph, Node, Operand
from gradtape.graph.guard import Guard, ValueRead, key_of, users_line
from gradtape.graph.trace_op import INSTALL, called
from gradtape.graph.value_name import ValueNames
from gradtape.graph.variable_state import State
from gradtape.ops.raw_array import stand_in
from gradtape.state.random.stream import Draws, Streams

LIMIT = 20_000  # nodes; a trace that exceeds it stops recording
LOOKS = 200  # guards in a trace that must not have effects


class Trace(dict[int, Any], Draws, ValueNames):
    """Records every primitive that depends on an input, a capture or a variable.

    Attributes:
        nodes: the applications, in order.
        inputs: numbers of the arguments.
        captures: tensors from outside by uid, each with the traced tensor that represents it.
        states: variables by key.
        guards: the values that Python has read.
        created: variables that were created during the run.
        given_up: why this run has no graph, or "".
    """

    stages = True
    folds = True  # whether the result of an op on constants is a constant
    unmarked = True  # ops on unmarked tensors must be reported too: they may be captures
    symbolic = True

    def __init__(self, name: str = "trace", autograph: bool = True, refuses: bool = False) -> None:
        """Start empty. With `refuses`, Python must not read values."""
        Draws.__init__(self, Streams())
        ValueNames.__init__(self)
        self.label = name
        self.autograph = autograph
        self.refuses = refuses
        self.start = next_uid()
        self.nodes: list[Node] = []
        self.specs: dict[int, Spec] = {}
        self.inputs: list[int] = []
        self.captures: dict[int, tuple[Tensor, SymbolicTensor]] = {}
        self.states: dict[int, State] = {}
        self.guards: list[Guard] = []
        self.guarded: set[tuple[int, str]] = set()
        self.created: list[Any] = []
        self.given_up = ""
        self.failed: dict[int, InvalidArgumentError] = {}  # by number: values of ops that failed
        self.hidden: tuple[Any, ...] = ()  # tapes outside a body: told only of variable reads
        self.only_looks = False  # whether effects are forbidden: only the result's spec is wanted
        self.stands_in = False  # whether a dataset is replaced by a single stand-in element
        self.stood_in = False  # whether one was replaced: the graph is then for inspection only
        self.choice: Any = None  # which engine the graph is made for
        self.device: Any = None  # the device it was requested for, or None
        self.shapes_fixed = False  # whether shapes that depend on values need no guard
        self.tape: Recording | None = None
        self.closed = False
        self.held: list[weakref.ref[Held]] = []
        self.log: list[tuple[str, Any]] = []  # events of an earlier run of this call, to replay
        self.seen: list[tuple[str, Any]] = []  # events of this run: guards and effects
        self.kept: list[Any] = []
        self.lifted: dict[int, SymbolicTensor] = {}  # tensors used in the current body, by number
        self.opaque: dict[int, SymbolicTensor] = {}  # traced tensors of iterators, by id

    # -- values

    def value(self, raw: Any, name: str = "") -> SymbolicTensor:
        """A new tensor of this trace that holds `raw`."""
        number = len(self.specs)
        self.specs[number] = Spec((raw.shape, raw.dtype))
        held = Held(raw, number, self)
        self.held.append(weakref.ref(held))
        if name:
            self.names[number] = name
        return symbolic(held)

    def input(self, raw: Any, name: str = "") -> SymbolicTensor:
        """A new tensor of this trace for an argument with the value `raw`."""
        tensor = self.value(raw, name)
        self.inputs.append(tensor._array.number)
        return tensor

    def lift(self, tensor: Any) -> Any:
        """The tensor of this trace that represents `tensor`; constants are returned unchanged."""
        if type(tensor) is Held:
            tensor = symbolic(tensor)
        if isinstance(tensor, SymbolicTensor):
            if tensor._array.trace is not self or self.closed:
                raise out_of_scope(tensor)
            self.lifted[tensor._array.number] = tensor
            return tensor
        if not isinstance(tensor, Tensor) or abs(tensor.uid) > self.start:
            return tensor
        known = self.captures.get(tensor.uid)
        if known is None:
            known = self.captures[tensor.uid] = (tensor, self.value(tensor._array))
            if self.tape is not None:
                self.tape.watch(known[1].uid)
        self.lifted[known[1]._array.number] = known[1]
        return known[1]

    def operand(self, lifted: Any) -> Operand:
        """The operand of a node for a lifted argument."""
        if isinstance(lifted, SymbolicTensor):
            return int(lifted._array.number)
        return Constant(shown(lifted._array) if isinstance(lifted, Tensor) else lifted)

    def bind(self, op: Primitive, args: tuple[Any, ...], static: dict[str, Any]) -> Any:
        """Apply `op`, record it, and tell the tapes inside this trace."""
        lifted = [self.lift(a) for a in args]
        live = not self.folds or any(isinstance(a, SymbolicTensor) for a in lifted)
        raws = tuple([raw_value(a) for a in lifted])
        if Held in map(type, static.values()):
            static = shown(static)  # static parameters cannot be values of the graph
        failed = None
        try:
            result = evaluate(op, raws, static)
        except InvalidArgumentError as error:
            result = self.result_of_failed(op, raws, static) if live else None
            if result is None:
                raise
            failed = error
        results = result if op.outputs else (result,)
        outs: tuple[Tensor, ...]
        if live:
            outs = tuple([self.value(r) for r in results])
            if failed is not None:
                self.failed.update((o._array.number, failed) for o in outs)
            self.append(op, lifted, static, outs)
            if op.dynamic and not self.shapes_fixed:
                for one in outs:
                    self.observe(one._array, "shape")
        else:
            outs = tuple([eager(r) for r in results])
        out = outs if op.outputs else outs[0]
        for known in local.recorders[1:]:
            hear(known, op, tuple(lifted), raws, static, out, result)
        return out

    def result_of_failed(self, op: Primitive, raws: tuple[Any, ...], static: dict[str, Any]) -> Any:
        """A stand-in for the result of an op that failed because of its input values; else None.

        As in TensorFlow's graphs, such an op is an error only if its result is used.
        """
        if self.refuses or REGISTRY.get(op.name) is not op or op.dynamic:
            return None
        try:
            given = [stand_in(list(r.shape), r.dtype) if hasattr(r, "shape") else r for r in raws]
            return evaluate(op, tuple(given), static)
        except (OpError, NotImplementedError, MemoryError):
            return None  # the shapes or dtypes are wrong, or the op rejects stand-ins

    def check_used(self, lifted: Iterable[Any]) -> None:
        """Raise the error of a failed op if one of these values depends on its result."""
        if self.failed:
            for one in lifted:
                error = isinstance(one, SymbolicTensor) and self.failed.get(one._array.number)
                if error:
                    raise error

    def append(
        self,
        op: Primitive | Effect,
        lifted: Iterable[Any],
        static: dict[str, Any],
        outs: tuple[Tensor, ...],
    ) -> None:
        """Record an application."""
        if self.failed:
            lifted = list(lifted)
            numbers = [a._array.number for a in lifted if isinstance(a, SymbolicTensor)]
            errors = [self.failed[n] for n in numbers if n in self.failed]
            self.failed.update((o._array.number, errors[0]) for o in outs if errors)
        if self.given_up:
            return
        if len(self.nodes) >= LIMIT:
            self.give_up(f"it has more than {LIMIT} ops, here at {users_line()}")
            return
        inputs = tuple([self.operand(a) for a in lifted])
        self.nodes.append(Node(op, inputs, static, tuple([o._array.number for o in outs])))

    def give_up(self, why: str) -> None:
        """Stop recording because of `why`; the run continues."""
        self.given_up = why
        self.nodes = []

    # -- variables

    def state(self, variable: Any) -> State:
        """The state of a variable in this trace."""
        state = self.states.get(variable._key)
        if state is None:
            first = self.value(variable._version()._array)
            state = self.states[variable._key] = State(variable, first)
        return state

    def read(self, variable: Any) -> SymbolicTensor:
        """The newest version of a variable; reports the read to the tapes."""
        tensor = self.state(variable).newest
        for known in (*self.hidden, *local.recorders[1:]):
            if tensor.uid not in known:
                known.touch(variable, tensor.uid)
        return tensor

    def write(self, variable: Any, tensor: Any) -> None:
        """Make `tensor` the newest version of a variable; assignment stops the gradient."""
        state = self.state(variable)
        lifted = self.lift(tensor)
        self.check_used([lifted])
        version = self.value(raw_value(lifted))
        self.append(INSTALL, (lifted,), {"key": variable._key}, (version,))
        state.newest = version
        state.written = True

    def create(self, variable: Any, tensor: Any) -> Any:
        """Note that a variable is created; returns its initial raw array."""
        self.created.append(variable)
        return raw_value(tensor)

    def call(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        dynamic: bool = False,
        outputs: bool = False,
    ) -> Any:
        """Apply a function of raw arrays that is not a primitive; `args` may hold traced arrays.

        Raises:
            ValueRead: if it fails while values are forbidden: they may be stand-ins.
        """
        places = [i for i, a in enumerate(args) if type(a) is Held]
        op = called(function, args, places, dynamic, outputs)
        try:
            return self.bind(op, tuple([symbolic(args[i]) for i in places]), {})
        except InvalidArgumentError as error:
            if self.refuses:
                raise ValueRead(str(error)) from None
            raise

    def touch(self, variable: Any, uid: int) -> None:
        """Do nothing: `read` already handles variables in a trace."""

    def keep_tape(self, inputs: list[SymbolicTensor]) -> tuple[Recording]:
        """Start a tape that watches the inputs, for `tf.gradients`."""
        self.tape = Recording()
        for tensor in inputs:
            self.tape.watch(tensor.uid)
        return (self.tape,)

    # -- reading values

    def allow(self, what: str) -> None:
        """Check that Python may read a value; `what` names the operation.

        Raises:
            OperatorNotAllowedInGraphError: with `autograph=False`.
        """
        if not self.autograph:
            raise refuse(what)

    def observe(self, held: Held, kind: str = "value") -> Any:
        """The raw value of `held`; adds a guard on what was read."""
        recorders = local.recorders
        if local.scratch and not self.closed:
            return shown(held.value)  # in a scratch graph only shapes matter
        if self.closed or not recorders or recorders[0] is not self:
            raise out_of_scope(symbolic(held))
        if self.refuses or (self.only_looks and len(self.guards) >= LOOKS):
            raise ValueRead(self.name_of(held.number))
        self.check_used([symbolic(held)] if kind == "value" else ())
        raw = held.value if kind == "shape" else shown(held.value)
        if (held.number, kind) in self.guarded:
            return raw
        seen = raw.shape if kind == "shape" else key_of(raw)
        logged = self.next_logged("guard")
        if logged is not None and logged != seen:
            self.log = []
        self.seen.append(("guard", seen))
        self.guarded.add((held.number, kind))
        self.guards.append(Guard(len(self.nodes), held.number, kind, seen, users_line()))
        return raw

    def next_logged(self, kind: str) -> Any:
        """The next event of this call's earlier run, or None if that took another path."""
        if self.log and self.log[0][0] == kind:
            return self.log.pop(0)[1]
        self.log = []
        return None

    # -- effects

    def effect(self, effect: Effect, args: Iterable[Any]) -> tuple[SymbolicTensor, ...]:
        """Run a side effect once and record it; a rerun of the same call gets the logged results.

        Adds guards on the shapes of the results.
        """
        lifted = [self.lift(a) for a in args]
        self.check_used(lifted)
        if (self.refuses or self.only_looks) and effect.replayed:
            raise ValueRead(effect.name)
        results = self.next_logged(effect.name) if effect.replayed else None
        if results is None:
            results = (
                ()
                if self.refuses or self.only_looks
                else effect.kernel(*[raw_value(a) for a in lifted])
            )
        if effect.replayed:
            self.seen.append((effect.name, results))
        outs = tuple([self.value(r) for r in results])
        self.append(effect, lifted, {}, outs)
        for out in outs:
            self.observe(out._array, "shape")
        return outs

    def custom(
        self, results: list[Any], inputs: list[Any], grad: Callable[..., list[Any]]
    ) -> list[Tensor]:
        """New tensors for `results`, with the user's gradient function `grad`."""
        from gradtape.graph.custom_gradient import record

        return record(self, results, inputs, grad)

    @contextlib.contextmanager
    def aside(self) -> Iterator[list[Node]]:
        """Record into a separate list of nodes, without reading values and without effects.

        Restores the versions of all variables at the end.
        """
        nodes, refuses = self.nodes, self.refuses
        versions = {k: (s.newest, s.written) for k, s in self.states.items()}
        self.nodes, self.refuses = [], True
        try:
            with listening((self,)):
                yield self.nodes
        finally:
            self.nodes, self.refuses = nodes, refuses
            for key, state in self.states.items():
                state.newest, state.written = versions.get(key, (state.first, False))

    # -- the end

    def done(self) -> list[Any]:
        """Results of the effects of this run, in order."""
        return [what for kind, what in self.seen if kind != "guard"]

    def close(self) -> None:
        """Release all values; the tensors of this trace cannot be used any more."""
        self.closed = True
        for ref in self.held:
            held = ref()
            if held is not None:
                held.value = None
        # Results refer to their trace for their names: release everything else it refers to.
        for kept in (self.held, self.lifted, self.states, self.captures, self.opaque, self.kept):
            kept.clear()
        self.log, self.seen, self.created = [], [], []
        self.streams, self.tape = Streams(), None

    def graph(self, outputs: Iterable[Operand]) -> Graph:
        """The graph from the inputs, captures and variables to `outputs`."""
        first = [t._array.number for _, t in self.captures.values()]
        first += [s.first._array.number for s in self.states.values()]
        return Graph([*self.inputs, *first], self.nodes, outputs, self.specs)


class NeedsTape(BaseException):
    """`tf.gradients` was called in a trace without a tape: trace again with one."""


def raw_value(lifted: Any) -> Any:
    """The raw array of a lifted argument."""
    if isinstance(lifted, SymbolicTensor):
        return lifted._array.value
    return lifted._array if isinstance(lifted, Tensor) else lifted
