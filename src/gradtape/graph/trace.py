"""Trace: the recorder behind `function`, which builds a graph of all primitives that are applied.

Tracing is a real run: tensors of the trace hold values, and ops compute. The graph contains only
specs and numbers. An op on constants is not recorded: its result is a constant. A tensor made
before the trace is a *capture*.

A trace has five parts, and this module applies ops to them:

    options    what the trace may do                      `trace_options.TraceOptions`
    builder    numbered values, nodes and captures        `graph_builder.GraphBuilder`
    versions   versions of the variables                  `variable_versions.VariableVersions`
    log        guards and side effects, in order          `effect_log.EffectLog`
    failures   results of ops that failed                 `failed_value.FailedValues`
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from gradtape.core.context import local, next_uid, use_recorders
from gradtape.core.dispatch import TapeRecord, record_op, run_kernel
from gradtape.core.dtypes import is_differentiable
from gradtape.core.errors import InvalidArgumentError
from gradtape.core.lazy_array import TracedArray, materialize
from gradtape.core.ledger import ledger, note_bind, note_departure, write
from gradtape.core.primitive import Primitive
from gradtape.core.symbolic_tensor import (
    SymbolicTensor,
    make_symbolic,
    value_not_allowed_error,
)
from gradtape.core.tensor import Tensor, wrap_array
from gradtape.graph.effect_log import EffectLog, Event
from gradtape.graph.effect_recording import EffectRecording, bind_collective
from gradtape.graph.failed_value import FailedValues, infer_failed_result
from gradtape.graph.graph import Effect, Graph, Node, Operand
from gradtape.graph.graph_builder import GraphBuilder, RecordedBody, operand_of
from gradtape.graph.guard import ValueRead, guard_key, user_source_line
from gradtape.graph.open_size import (
    bind_open,
    has_open_sizes,
    infer_found_shapes,
    pin_sizes,
)
from gradtape.graph.outer_tensor import read_outer_value, require_stand_in
from gradtape.graph.size_pinning import SizePinning
from gradtape.graph.trace_op import make_raw_op
from gradtape.graph.trace_options import TraceOptions
from gradtape.graph.traced_value import raw_value
from gradtape.graph.variable_access import VariableAccess
from gradtape.graph.variable_versions import VariableVersions
from gradtape.state.random.stream import FunctionStreams, StreamCursor

DEFAULT_OPTIONS = TraceOptions()


class Trace(dict[int, Any], StreamCursor, SizePinning, VariableAccess, EffectRecording):
    """Records every primitive that depends on an input, a capture or a variable.

    Attributes:
        options: what the trace may do.
        builder: values, nodes and captures.
        versions: versions of the variables.
        log: guards and side effects.
        failures: results of ops that failed because of their input values.
        device: the device that the graph was requested for, or None.
        tape: the tape that `tf.gradients` uses, or None.
        give_up_reason: why this run has no graph, or "".
        hides_empty_sizes: whether sizes of zero are shown as None, because a replica has got an
            empty batch: TensorFlow does not know its size either, and libraries rely on that.
        collective_count: how many collectives the run has applied.
        is_stale: whether the graph cannot serve another call, because replicas got copies of a
            variable that had read the shared one.
    """

    is_trace = True
    is_abstract = False  # whether there are no values
    guesses_values = False  # whether it answers what Python asks of tensors without values
    is_batch = False
    unmarked = True  # ops on unmarked tensors must be reported too: they may be captures
    symbolic = True

    def __init__(
        self,
        options: TraceOptions = DEFAULT_OPTIONS,
        streams: FunctionStreams | None = None,
        replayed: Iterable[Event] = (),
        device: Any = None,
    ) -> None:
        """Start empty; `replayed` are the events of an earlier run of the same call."""
        StreamCursor.__init__(self, streams or FunctionStreams())
        self.options = options
        self.builder = GraphBuilder()
        self.versions = VariableVersions()
        self.log = EffectLog(replayed)
        self.device = device
        self.give_up_reason = ""
        self.is_stale = False
        self.collective_count = 0
        self.hides_empty_sizes = False
        self.replica_marks: Any = None  # which replica has recorded which value
        self._start_uid = next_uid()
        self.integer_sizes: dict[int, Any] = {}
        self.origins: dict[int, Node] = {}  # the nodes that made values, by uid
        self.failures = FailedValues()
        self._hidden_tapes: tuple[
            Any, ...
        ] = ()  # tapes outside a body: told only of variable reads
        self.tape: TapeRecord | None = None
        self._iterators: dict[int, tuple[Any, Tensor]] = {}  # with their traced tensors, by id
        self.closed = False

    @contextlib.contextmanager
    def use_options(self, **changes: Any) -> Iterator[None]:
        """Use other options within this scope."""
        before = self.options
        self.options = before._replace(**changes)
        try:
            yield
        finally:
            self.options = before

    def make_value(self, raw: Any, name: str = "", shape: Any = None) -> SymbolicTensor:
        """A new tensor of this trace that holds `raw`; sizes in `shape` may be unknown."""
        return make_symbolic(self.builder.add_value(raw, self, name, shape))

    def copy_value(self, lifted: Any) -> SymbolicTensor:
        """A new tensor of this trace with the value of a lifted one."""
        return self.make_value(raw_value(lifted), shape=lifted._array.shape)

    def add_input(self, raw: Any, name: str = "", shape: Any = None) -> SymbolicTensor:
        """A new tensor of this trace for an argument with the value `raw`."""
        tensor = self.make_value(raw, name, shape)
        self.builder.inputs.append(tensor._array.number)
        return tensor

    def as_traced(self, tensor: Any) -> Any:
        """The tensor of this trace that represents `tensor`; constants are returned unchanged."""
        if type(tensor) is TracedArray:
            tensor = make_symbolic(tensor)
        if isinstance(tensor, SymbolicTensor):
            if tensor._array.trace is not self or self.closed:
                return self.adopt(tensor)
            if self.builder.body_tensors is not None:
                self.builder.body_tensors[tensor._array.number] = tensor
            return tensor
        if not isinstance(tensor, Tensor):
            return tensor
        if self.is_own_constant(tensor) and tensor.uid not in self.builder.captures:
            return tensor
        return self.capture(tensor)

    def adopt(self, tensor: SymbolicTensor) -> Any:
        """The tensor of this trace that takes the place of one of another trace.

        Raises:
            TypeError: if there is none.
        """
        return self.as_traced(require_stand_in(tensor, self))

    def capture(self, tensor: Any) -> Any:
        """The tensor of this trace for `tensor`, which becomes an input of the graph.

        A tape that watches a constant captures it: branches and loops see inputs, not constants.
        """
        if isinstance(tensor, SymbolicTensor):
            return self.as_traced(tensor)
        captures = self.builder.captures
        known = captures.get(tensor.uid)
        if known is None:
            known = captures[tensor.uid] = (tensor, self.make_value(tensor._array))
            if ledger.active:
                write("capture", (tensor.uid,), known[1].uid)
            if self.tape is not None:
                self.tape.watch(known[1].uid)
        if self.builder.body_tensors is not None:
            self.builder.body_tensors[known[1]._array.number] = known[1]
        return known[1]

    def is_own_constant(self, tensor: Tensor) -> bool:
        """Whether a tensor was made during this trace; `tf.gradients` captures it nevertheless."""
        if abs(tensor.uid) <= self._start_uid:
            return False
        return self.tape is None or not is_differentiable(tensor._array.dtype)

    def operands(self, tensors: Iterable[Any]) -> list[Operand]:
        """The operands that stand for `tensors` in the graph."""
        return [operand_of(self.as_traced(t)) for t in tensors]

    def bind(self, op: Primitive, args: tuple[Any, ...], static: dict[str, Any]) -> Any:
        """Apply `op`, record it, and tell the tapes inside this trace."""
        lifted = list(map(self.as_traced, args))
        self.watch_operands(lifted)
        live = not self.options.folds_constants or SymbolicTensor in map(type, lifted)
        static = as_static_values(static)
        if self.sizes is not None and has_open_sizes(op, lifted, static):
            return bind_open(self, op, lifted, static)
        if op.is_effect:
            return bind_collective(self, op, lifted, static)
        raws = tuple(map(raw_value, lifted))
        failed = None
        try:
            result = run_kernel(op, raws, static)
        except InvalidArgumentError as error:
            is_allowed = live and not self.options.forbids_values
            result = infer_failed_result(op, raws, static) if is_allowed else None
            if result is None:
                raise
            failed = error
        results = result if op.outputs else (result,)
        outs: tuple[Tensor, ...]
        if live:
            is_found = op.dynamic and not self.options.has_fixed_shapes
            shapes = infer_found_shapes(self, op, lifted, static, results) if is_found else None
            outs = tuple(
                [self.make_value(r, shape=shapes and shapes[i]) for i, r in enumerate(results)]
            )
            if failed is not None:
                self.failures.add(failed, outs)
            self.record_node(op, lifted, static, outs)
            if is_found:
                for one in outs:
                    self.guard_value(one._array, "shape")
        else:
            outs = make_constants(op, lifted, results)
        out = outs if op.outputs else outs[0]
        for known in local.recorders[1:]:
            record_op(known, op, tuple(lifted), raws, static, out, result)
        return out

    def watch_operands(self, lifted: list[Any]) -> None:
        """Watch the operands of an op that its tape does not know, such as those of a loop body."""
        tape = self.tape
        if tape is None:
            return
        for tensor in lifted:
            if isinstance(tensor, SymbolicTensor) and is_differentiable(tensor._array.dtype):
                tape.watch(tensor.uid)

    def bind_open(self, op: Primitive, static: dict[str, Any]) -> Any:
        """Apply an op without inputs, whose result depends on unknown sizes."""
        return bind_open(self, op, [], static)

    def record_node(
        self,
        op: Primitive | Effect,
        lifted: Iterable[Any],
        static: dict[str, Any],
        outs: tuple[Tensor, ...],
    ) -> None:
        """Record an application."""
        if self.failures:
            lifted = list(lifted)
            self.failures.propagate(lifted, outs)
        builder, most = self.builder, self.options.max_nodes
        if most is not None and len(builder.nodes) >= most and not self.give_up_reason:
            self.give_up(f"it has more than {most} ops, here at {user_source_line()}")
        if not self.give_up_reason or self.options.keeps_all_nodes:
            builder.add_node(op, lifted, static, outs)
            for out in outs:
                self.origins[out.uid] = builder.nodes[-1]
        if ledger.active:
            note_bind(op, lifted, outs)

    def give_up(self, why: str) -> None:
        """Have no graph for later calls because of `why`; the run continues."""
        self.give_up_reason = why
        if not self.options.keeps_all_nodes:
            self.builder.nodes = []

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
            if self.options.forbids_values:
                raise ValueRead(str(error)) from None
            raise

    def start_tape(self, inputs: list[SymbolicTensor]) -> tuple[TapeRecord]:
        """Start a tape that watches the inputs, for `tf.gradients`."""
        self.tape = TapeRecord()
        for tensor in inputs:
            self.tape.watch(tensor.uid)
        return (self.tape,)

    def check_autograph(self, what: str) -> None:
        """Check that Python may read a value; `what` names the operation.

        Raises:
            OperatorNotAllowedInGraphError: with `autograph=False`.
        """
        if not self.options.autograph:
            raise value_not_allowed_error(what)

    def guard_value(self, held: TracedArray, kind: str = "value") -> Any:
        """The raw value of `held`; adds a guard on what was read."""
        recorders = local.recorders
        while recorders and recorders[0].is_trace and recorders[0].is_batch:
            recorders = recorders[0].outer
        if self.closed or not recorders or recorders[0] is not self:
            return read_outer_value(held)
        options, log = self.options, self.log
        if options.forbids_values:
            raise ValueRead(self.builder.name_of(held.number))
        self.failures.raise_if_used(() if kind == "shape" else [make_symbolic(held)])
        if ledger.active and kind == "value":
            note_departure(make_symbolic(held), "python", None)
        if held.dims is not None:
            pin_sizes(held)  # the value follows from sizes: an assumption takes the guard's place
            return held.traced_value
        raw = held.traced_value if kind == "shape" else materialize(held.traced_value)
        if not log.has_guard(held.number, kind):
            seen = raw.shape if kind == "shape" else guard_key(raw)
            log.add_guard(len(self.builder.nodes), held.number, kind, seen)
        return raw

    def request_device(self, device: Any) -> None:
        """Make the graph for `device`, unless another device was requested before."""
        self.device = self.device or device

    def record_user_gradient(
        self, results: list[Any], inputs: list[Any], grad: Callable[..., list[Any]]
    ) -> list[Tensor]:
        """New tensors for `results`, with the user's gradient function `grad`."""
        from gradtape.graph.custom_gradient import record_user_gradient

        return record_user_gradient(self, results, inputs, grad)

    @contextlib.contextmanager
    def record_body(self, hides_tapes: bool = False) -> Iterator[RecordedBody]:
        """Record into a separate list of nodes, without reading values and without effects.

        Restores the versions of all variables at the end. With `hides_tapes`, the active tapes see
        the variables that the body reads, but not its ops.
        """
        hidden, versions, outer = self._hidden_tapes, self.versions.save(), self.tape
        if hides_tapes:
            self._hidden_tapes = (*hidden, *local.recorders[1:])
        tapes = () if outer is None else self.start_tape([])  # `tf.gradients` inside the body
        try:
            with (
                self.use_options(forbids_values=True),
                self.builder.record_body() as body,
                use_recorders((self, *tapes)),
            ):
                yield body
        finally:
            self._hidden_tapes, self.tape = hidden, outer
            self.versions.restore(versions)

    def close(self) -> None:
        """Release all values; the tensors of this trace cannot be used any more.

        Results refer to their trace for their names, so everything else it refers to is released.
        """
        self.closed = True
        if self.sizes is not None:
            self.sizes.freeze()
        for part in (self.builder, self.versions, self.log, self._iterators, self.origins):
            part.clear()
        self.integer_sizes.clear()
        self.streams, self.tape = FunctionStreams(), None

    def make_graph(self, outputs: Iterable[Operand]) -> Graph:
        """The graph from the inputs, captures and variables to `outputs`."""
        return self.builder.make_graph(self.versions.initial_numbers(), outputs)


def as_static_values(static: dict[str, Any]) -> dict[str, Any]:
    """Static parameters, which cannot be values of the graph."""
    return materialize(static) if TracedArray in map(type, static.values()) else static


def make_constants(op: Primitive, lifted: list[Any], results: Any) -> tuple[Tensor, ...]:
    """The results of an op on constants."""
    outs = tuple([wrap_array(r) for r in results])
    if ledger.active:
        note_bind(op, lifted, outs)
    return outs


class NeedsTape(BaseException):
    """`tf.gradients` was called in a trace without a tape: trace again with one."""
