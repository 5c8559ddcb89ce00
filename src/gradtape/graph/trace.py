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

from gradtape.core.context import local, next_uid, use_recorders
from gradtape.core.dispatch import TapeRecord, record_op, run_kernel
from gradtape.core.errors import InvalidArgumentError, OpError, OutOfRangeError
from gradtape.core.lazy_array import TracedArray, materialize
from gradtape.core.ledger import ledger, note_bind, note_departure, user_location, write
from gradtape.core.primitive import REGISTRY, Primitive, Spec
from gradtape.core.symbolic_tensor import (
    SymbolicTensor,
    make_symbolic,
    out_of_scope_error,
    value_not_allowed_error,
)
from gradtape.core.tensor import Tensor, wrap_array
from gradtape.graph.graph import Constant, Effect, Graph, Node, Operand
from gradtape.graph.guard import Guard, ValueRead, guard_key, user_source_line
from gradtape.graph.trace_op import INSTALL, make_raw_op
from gradtape.graph.value_name import ValueNames
from gradtape.graph.variable_state import VariableState
from gradtape.ops.raw_array import make_stand_in_array
from gradtape.state.random.stream import FunctionStreams, StreamCursor
from gradtape.state.variable.argument import VariableArgument

MAX_NODES = 20_000  # nodes; a trace that exceeds it stops recording
MAX_PROBE_GUARDS = 200  # guards in a trace that must not have effects


class Trace(dict[int, Any], StreamCursor, ValueNames):
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

    is_trace = True
    folds_constants = True  # whether the result of an op on constants is a constant
    unmarked = True  # ops on unmarked tensors must be reported too: they may be captures
    symbolic = True

    def __init__(
        self,
        name: str = "trace",
        autograph: bool = True,
        forbids_values: bool = False,
        keeps_all_nodes: bool = False,
    ) -> None:
        """Start empty.

        With `forbids_values`, Python must not read values. With `keeps_all_nodes`, the graph may
        have more than `MAX_NODES` nodes.
        """
        StreamCursor.__init__(self, FunctionStreams())
        ValueNames.__init__(self)
        self.name = name
        self.autograph = autograph
        self.forbids_values = forbids_values
        self.keeps_all_nodes = keeps_all_nodes
        self.start_uid = next_uid()
        self.nodes: list[Node] = []
        self.specs: dict[int, Spec] = {}
        self.inputs: list[int] = []
        self.captures: dict[int, tuple[Tensor, SymbolicTensor]] = {}
        self.states: dict[int, VariableState] = {}
        self.guards: list[Guard] = []
        self.guarded_values: set[tuple[int, str]] = set()
        self.created_variables: list[Any] = []
        self.argument_keys: frozenset[int] = frozenset()  # of variables among the arguments
        self.captured_arguments: set[int] = set()  # those of them that are captured too
        self.give_up_reason = ""
        self.failed_values: dict[
            int, InvalidArgumentError
        ] = {}  # by number: values of ops that failed
        self.hidden_tapes: tuple[Any, ...] = ()  # tapes outside a body: told only of variable reads
        self.forbids_effects = (
            False  # whether effects are forbidden: only the result's spec is wanted
        )
        self.uses_stand_in_data = (
            False  # whether a dataset is replaced by a single stand-in element
        )
        self.used_stand_in_data = (
            False  # whether one was replaced: the graph is then for inspection only
        )
        self.choice: Any = None  # which engine the graph is made for
        self.device: Any = None  # the device it was requested for, or None
        self.has_fixed_shapes = False  # whether shapes that depend on values need no guard
        self.tape: TapeRecord | None = None
        self.closed = False
        self.live_arrays: list[weakref.ref[TracedArray]] = []
        self.replay_log: list[
            tuple[str, Any]
        ] = []  # events of an earlier run of this call, to replay
        self.event_log: list[tuple[str, Any]] = []  # events of this run: guards and effects
        self.kept_alive: list[Any] = []
        self.traced_by_number: dict[
            int, SymbolicTensor
        ] = {}  # all tensors that ops or results have used, by number
        self.opaque_values: dict[int, SymbolicTensor] = {}  # traced tensors of iterators, by id

    # -- values

    def make_value(self, raw: Any, name: str = "") -> SymbolicTensor:
        """A new tensor of this trace that holds `raw`."""
        number = len(self.specs)
        self.specs[number] = Spec((raw.shape, raw.dtype))
        held = TracedArray(raw, number, self)
        self.live_arrays.append(weakref.ref(held))
        if name:
            self.names[number] = name
        return make_symbolic(held)

    def add_input(self, raw: Any, name: str = "") -> SymbolicTensor:
        """A new tensor of this trace for an argument with the value `raw`."""
        tensor = self.make_value(raw, name)
        self.inputs.append(tensor._array.number)
        return tensor

    def as_traced(self, tensor: Any) -> Any:
        """The tensor of this trace that represents `tensor`; constants are returned unchanged."""
        if type(tensor) is TracedArray:
            tensor = make_symbolic(tensor)
        if isinstance(tensor, SymbolicTensor):
            if tensor._array.trace is not self or self.closed:
                raise out_of_scope_error(tensor)
            self.traced_by_number[tensor._array.number] = tensor
            return tensor
        if not isinstance(tensor, Tensor) or abs(tensor.uid) > self.start_uid:
            return tensor
        known = self.captures.get(tensor.uid)
        if known is None:
            known = self.captures[tensor.uid] = (tensor, self.make_value(tensor._array))
            if ledger.active:
                write("capture", (tensor.uid,), known[1].uid)
            if self.tape is not None:
                self.tape.watch(known[1].uid)
        self.traced_by_number[known[1]._array.number] = known[1]
        return known[1]

    def operand_for(self, lifted: Any) -> Operand:
        """The operand of a node for a lifted argument."""
        if isinstance(lifted, SymbolicTensor):
            return int(lifted._array.number)
        if isinstance(lifted, Tensor):
            return Constant(materialize(lifted._array), lifted.uid)
        return Constant(lifted)

    def bind(self, op: Primitive, args: tuple[Any, ...], static: dict[str, Any]) -> Any:
        """Apply `op`, record it, and tell the tapes inside this trace."""
        lifted = [self.as_traced(a) for a in args]
        live = not self.folds_constants or any(isinstance(a, SymbolicTensor) for a in lifted)
        raws = tuple([raw_value(a) for a in lifted])
        if TracedArray in map(type, static.values()):
            static = materialize(static)  # static parameters cannot be values of the graph
        failed = None
        try:
            result = run_kernel(op, raws, static)
        except InvalidArgumentError as error:
            result = self.infer_failed_result(op, raws, static) if live else None
            if result is None:
                raise
            failed = error
        results = result if op.outputs else (result,)
        outs: tuple[Tensor, ...]
        if live:
            outs = tuple([self.make_value(r) for r in results])
            if failed is not None:
                self.failed_values.update((o._array.number, failed) for o in outs)
            self.record_node(op, lifted, static, outs)
            if op.dynamic and not self.has_fixed_shapes:
                for one in outs:
                    self.guard_value(one._array, "shape")
        else:
            outs = tuple([wrap_array(r) for r in results])
        out = outs if op.outputs else outs[0]
        if ledger.active:
            note_bind(op, lifted, out)
        for known in local.recorders[1:]:
            record_op(known, op, tuple(lifted), raws, static, out, result)
        return out

    def infer_failed_result(
        self, op: Primitive, raws: tuple[Any, ...], static: dict[str, Any]
    ) -> Any:
        """A stand-in for the result of an op that failed because of its input values; else None.

        As in TensorFlow's graphs, such an op is an error only if its result is used.
        """
        if self.forbids_values or REGISTRY.get(op.name) is not op or op.dynamic:
            return None
        try:
            given = [
                make_stand_in_array(list(r.shape), r.dtype) if hasattr(r, "shape") else r
                for r in raws
            ]
            return run_kernel(op, tuple(given), static)
        except (OpError, NotImplementedError, MemoryError):
            return None  # the shapes or dtypes are wrong, or the op rejects stand-ins

    def raise_if_failed(self, lifted: Iterable[Any]) -> None:
        """Raise the error of a failed op if one of these values depends on its result."""
        if self.failed_values:
            for one in lifted:
                error = isinstance(one, SymbolicTensor) and self.failed_values.get(
                    one._array.number
                )
                if error:
                    raise error

    def record_node(
        self,
        op: Primitive | Effect,
        lifted: Iterable[Any],
        static: dict[str, Any],
        outs: tuple[Tensor, ...],
    ) -> None:
        """Record an application."""
        if self.failed_values:
            lifted = list(lifted)
            numbers = [a._array.number for a in lifted if isinstance(a, SymbolicTensor)]
            errors = [self.failed_values[n] for n in numbers if n in self.failed_values]
            self.failed_values.update((o._array.number, errors[0]) for o in outs if errors)
        if len(self.nodes) >= MAX_NODES and not self.give_up_reason:
            self.give_up(f"it has more than {MAX_NODES} ops, here at {user_source_line()}")
        if self.give_up_reason and not self.keeps_all_nodes:
            return
        inputs = tuple([self.operand_for(a) for a in lifted])
        numbers = tuple([o._array.number for o in outs])
        self.nodes.append(Node(op, inputs, static, numbers, user_location()))

    def give_up(self, why: str) -> None:
        """Have no graph for later calls because of `why`; the run continues."""
        self.give_up_reason = why
        if not self.keeps_all_nodes:
            self.nodes = []

    # -- variables

    def variable_state(self, variable: Any) -> VariableState:
        """The state of a variable in this trace."""
        if type(variable) is VariableArgument:
            variable = variable._variable
        elif variable._key in self.argument_keys:
            self.captured_arguments.add(variable._key)
        state = self.states.get(variable._key)
        if state is None:
            stored = variable._stored_version()
            first = self.make_value(stored._array)
            state = self.states[variable._key] = VariableState(variable, first, stored)
            if ledger.active:
                write(("version", variable._key), (stored.uid,), first.uid)
        return state

    def read_variable(self, variable: Any) -> SymbolicTensor:
        """The newest version of a variable; reports the read to the tapes."""
        state = self.variable_state(variable)
        tensor, variable = state.newest, state.variable
        for known in (*self.hidden_tapes, *local.recorders[1:]):
            if tensor.uid not in known:
                known.on_variable_read(variable, tensor.uid)
        return tensor

    def write_variable(self, variable: Any, tensor: Any) -> None:
        """Make `tensor` the newest version of a variable; assignment stops the gradient."""
        state = self.variable_state(variable)
        lifted = self.as_traced(tensor)
        self.raise_if_failed([lifted])
        version = self.make_value(raw_value(lifted))
        self.record_node(INSTALL, (lifted,), {"key": variable._key}, (version,))
        state.newest = version
        if ledger.active:
            write("install", (lifted.uid,), version.uid)
        state.is_written = True

    def create_variable(self, variable: Any, tensor: Any) -> Any:
        """Note that a variable is created; returns its initial raw array."""
        self.created_variables.append(variable)
        return raw_value(tensor)

    def call_raw(
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
        places = [i for i, a in enumerate(args) if type(a) is TracedArray]
        op = make_raw_op(function, args, places, dynamic, outputs)
        try:
            return self.bind(op, tuple([make_symbolic(args[i]) for i in places]), {})
        except InvalidArgumentError as error:
            if self.forbids_values:
                raise ValueRead(str(error)) from None
            raise

    def on_variable_read(self, variable: Any, uid: int) -> None:
        """Do nothing: `read` already handles variables in a trace."""

    def start_tape(self, inputs: list[SymbolicTensor]) -> tuple[TapeRecord]:
        """Start a tape that watches the inputs, for `tf.gradients`."""
        self.tape = TapeRecord()
        for tensor in inputs:
            self.tape.watch(tensor.uid)
        return (self.tape,)

    # -- reading values

    def check_autograph(self, what: str) -> None:
        """Check that Python may read a value; `what` names the operation.

        Raises:
            OperatorNotAllowedInGraphError: with `autograph=False`.
        """
        if not self.autograph:
            raise value_not_allowed_error(what)

    def guard_value(self, held: TracedArray, kind: str = "value") -> Any:
        """The raw value of `held`; adds a guard on what was read."""
        recorders = local.recorders
        if local.scratch and not self.closed:
            return materialize(held.traced_value)  # in a scratch graph only shapes matter
        if self.closed or not recorders or recorders[0] is not self:
            raise out_of_scope_error(make_symbolic(held))
        if self.forbids_values or (self.forbids_effects and len(self.guards) >= MAX_PROBE_GUARDS):
            raise ValueRead(self.name_of(held.number))
        self.raise_if_failed([make_symbolic(held)] if kind == "value" else ())
        if ledger.active and kind == "value":
            note_departure(make_symbolic(held), "python", None)
        raw = held.traced_value if kind == "shape" else materialize(held.traced_value)
        if (held.number, kind) in self.guarded_values:
            return raw
        seen = raw.shape if kind == "shape" else guard_key(raw)
        logged = self.pop_log("guard")
        if logged is not None and logged != seen:
            self.replay_log = []
        self.event_log.append(("guard", seen))
        self.guarded_values.add((held.number, kind))
        self.guards.append(Guard(len(self.nodes), held.number, kind, seen, user_source_line()))
        return raw

    def pop_log(self, kind: str) -> Any:
        """The next event of this call's earlier run, or None if that took another path."""
        if self.replay_log and self.replay_log[0][0] == kind:
            return self.replay_log.pop(0)[1]
        self.replay_log = []
        return None

    # -- effects

    def run_effect(self, effect: Effect, args: Iterable[Any]) -> tuple[SymbolicTensor, ...]:
        """Run a side effect once and record it; a rerun of the same call gets the logged results.

        Adds guards on the shapes of the results.
        """
        lifted = [self.as_traced(a) for a in args]
        self.raise_if_failed(lifted)
        if (self.forbids_values or self.forbids_effects) and effect.is_replayed:
            raise ValueRead(effect.name)
        results = self.pop_log(effect.name) if effect.is_replayed else None
        if results is None:
            results = (
                ()
                if self.forbids_values or self.forbids_effects
                else effect.kernel(*[raw_value(a) for a in lifted])
            )
        if effect.is_replayed:
            self.event_log.append((effect.name, results))
        outs = tuple([self.make_value(r) for r in results])
        self.record_node(effect, lifted, {}, outs)
        if ledger.active:
            note_bind(effect, lifted, outs)
        for out in outs:
            self.guard_value(out._array, "shape")
        return outs

    def find_end_of_iterator(self, error: Exception) -> Exception | None:
        """The error of a run that `error` ends because an iterator has no more elements, or None.

        Python's `next` raises StopIteration, which a function must not raise.
        """
        if isinstance(error, OutOfRangeError):
            return error
        last = [kind for kind, _ in self.event_log[-3:]]  # the answer has a guard on its shape
        if last == ["has_next", "guard", "guard"] and not self.event_log[-1][1]:
            return OutOfRangeError("next: End of sequence. Create a new iterator to start over.")
        return None

    def record_user_gradient(
        self, results: list[Any], inputs: list[Any], grad: Callable[..., list[Any]]
    ) -> list[Tensor]:
        """New tensors for `results`, with the user's gradient function `grad`."""
        from gradtape.graph.custom_gradient import record_user_gradient

        return record_user_gradient(self, results, inputs, grad)

    @contextlib.contextmanager
    def record_body(self) -> Iterator[list[Node]]:
        """Record into a separate list of nodes, without reading values and without effects.

        Restores the versions of all variables at the end.
        """
        nodes, forbids_values = self.nodes, self.forbids_values
        versions = {k: (s.newest, s.is_written) for k, s in self.states.items()}
        self.nodes, self.forbids_values = [], True
        try:
            with use_recorders((self,)):
                yield self.nodes
        finally:
            self.nodes, self.forbids_values = nodes, forbids_values
            for key, state in self.states.items():
                state.newest, state.is_written = versions.get(key, (state.initial, False))

    # -- the end

    def effect_results(self) -> list[Any]:
        """Results of the effects of this run, in order."""
        return [what for kind, what in self.event_log if kind != "guard"]

    def close(self) -> None:
        """Release all values; the tensors of this trace cannot be used any more."""
        self.closed = True
        for ref in self.live_arrays:
            held = ref()
            if held is not None:
                held.traced_value = None
        # Results refer to their trace for their names: release everything else it refers to.
        for kept in (
            self.live_arrays,
            self.traced_by_number,
            self.states,
            self.captures,
            self.opaque_values,
            self.kept_alive,
        ):
            kept.clear()
        self.replay_log, self.event_log, self.created_variables = [], [], []
        self.streams, self.tape = FunctionStreams(), None

    def make_graph(self, outputs: Iterable[Operand]) -> Graph:
        """The graph from the inputs, captures and variables to `outputs`."""
        first = [t._array.number for _, t in self.captures.values()]
        first += [s.initial._array.number for s in self.states.values()]
        return Graph([*self.inputs, *first], self.nodes, outputs, self.specs)


class NeedsTape(BaseException):
    """`tf.gradients` was called in a trace without a tape: trace again with one."""


def raw_value(lifted: Any) -> Any:
    """The raw array of a lifted argument."""
    if isinstance(lifted, SymbolicTensor):
        return lifted._array.traced_value
    return lifted._array if isinstance(lifted, Tensor) else lifted
