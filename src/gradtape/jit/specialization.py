"""A function specialised to one signature: its trace, its guard tree, and how calls run."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any

from gradtape.core import nest
from gradtape.core.context import local, next_uid, use_recorders
from gradtape.core.dtypes import is_differentiable
from gradtape.core.errors import InvalidArgumentError, OutOfRangeError, hide_library_frames
from gradtape.core.lock import Lock
from gradtape.core.ports import TapePort
from gradtape.core.spec import TensorSpec
from gradtape.core.symbolic_tensor import Opaque
from gradtape.core.tensor import Tensor, make_tensor, mark_recorded
from gradtape.devices.array import to_device
from gradtape.graph.graph import Constant
from gradtape.graph.trace import NeedsTape, Trace, raw_value
from gradtape.jit.backward import FUNCTION_STEP, SavedCall
from gradtape.jit.fast_call import quick
from gradtape.jit.guard_tree import MAX_PATHS, GuardMiss, GuardTree
from gradtape.jit.signature import Call
from gradtape.jit.trace_path import TracedPath, commit, convert_results
from gradtape.state.random.stream import FunctionStreams, StreamCursor
from gradtape.tape.source import variable_of

log = logging.getLogger("gradtape")


class ShapeError(InvalidArgumentError, ValueError):
    """An op fails while tracing, because of the shapes or dtypes of the arguments."""


class Arguments:
    """The leaves of a call by kind: tensors (including wrapped iterators) and variables."""

    __slots__ = ("tensors", "variables")

    def __init__(self, leaves: Iterable[Any]) -> None:
        """Sort the leaves."""
        self.tensors: list[Tensor] = []
        self.variables: list[Any] = []
        for leaf in leaves:
            if isinstance(leaf, Tensor):
                self.tensors.append(leaf)
            elif hasattr(leaf, "_read_next"):
                self.tensors.append(make_tensor(Opaque(leaf._source)))
            else:
                variable = variable_of(leaf)
                if variable is not None:
                    self.variables.append(variable)


class Compiled:
    """A function specialised to one signature.

    Attributes:
        tree: the paths traced so far, or None.
        only: the path, if there is only one, without guards and effects.
        eager_because: why calls run the Python function instead, or "".
        fallbacks: number of such calls.
        born: a serial number; later specializations have larger ones.
        described: specs and Python values of the arguments; None if that would keep them alive.
    """

    def __init__(self, owner: Any, call: Call) -> None:
        """Start without a trace."""
        self.owner = owner
        self.leaf_keys = call.leaf_keys
        self.serial_number = next_uid()
        self.call_specs = None if call.weak_objects else as_specs((call.args, call.kwargs))
        self.tree: GuardTree | None = None
        self.only_path: TracedPath | None = None
        self.plan: Any = None
        self.eager_reason = ""
        self.fallbacks = 0
        self.tracing = Lock()
        self.quick = False
        self.streams = owner.streams or FunctionStreams()  # of the random ops: see Trace.stream_of

    def run(self, call: Call) -> Any:
        """Run a call: trace it if it is the first, else run the compiled plans."""
        if self.eager_reason:
            return self.run_eagerly(call)
        if self.tree is None:
            with self.tracing:
                if self.tree is None:
                    return self.trace_and_run(call, [])
        try:
            result = self.run_plan(Arguments(call.leaves))
            if not self.quick:
                self.quick = True
                self.owner.cache_fast_path(call, self)
            return result
        except GuardMiss as miss:
            seen = miss.log
        with self.tracing:
            return self.trace_and_run(call, seen)

    def ready(self) -> Any:
        """The fast path for calls with a known signature.

        It takes the arguments and the tensors among them.
        """
        path, owner = self.only_path, self.owner
        run, calls = None, None
        if path is not None:
            run = quick(self.plan_for(path), path)
            calls = path.choice.calls_before_xla(path.graph)

        def ready(args: tuple[Any, ...], tensors: list[Any]) -> Any:
            nonlocal run, calls
            recorders = local.recorders
            if not recorders and path is not None and run is not None and self.only_path is path:
                owner.hits_since_trace += 1
                try:
                    if calls:
                        calls -= 1
                        if not calls:
                            run = quick(self.switch_to_xla(path), path)
                    return run(tensors)
                except Exception as error:
                    hide_library_frames(error)
                    raise
            if self.tree is not None and not (recorders and recorders[0].is_trace):
                owner.hits_since_trace += 1
                try:
                    arguments = Arguments(())
                    arguments.tensors = tensors
                    return self.run_plan(arguments)
                except GuardMiss as miss:
                    seen = miss.log
                except Exception as error:
                    hide_library_frames(error)
                    raise
                with self.tracing:
                    return self.trace_and_run(Call(args, {}, args), seen)
            return owner._call(*args)

        return ready

    def run_eagerly(self, call: Call) -> Any:
        """Call the Python function."""
        self.fallbacks += 1
        before, local.random_streams = local.random_streams, StreamCursor(self.streams)
        try:
            return self.owner.python_function(*call.args, **call.kwargs)
        finally:
            local.random_streams = before

    # -- tracing

    def trace_and_run(self, call: Call, seen: list[tuple[str, Any]]) -> Any:
        """Run the Python function under a trace; `seen` is the log of a run that was stopped."""
        owner = self.owner
        arguments = Arguments(call.leaves)
        trace, inputs = self.start_trace(call, arguments, seen)
        args, kwargs = call.substitute_tensors(inputs, trace)
        try:
            with use_recorders(
                (trace, *trace.start_tape(inputs)) if owner.differentiates else (trace,)
            ):
                try:
                    result = owner.python_function(*args, **kwargs)
                    returned = convert_results(result, owner.name)
                except OutOfRangeError:
                    commit_trace(trace)
                    raise
                except InvalidArgumentError as error:
                    raise as_shape_error(error) from None
                path = TracedPath(trace, returned, arguments.variables)
            path.check_engine()
            if trace.created_variables:
                owner.note_created_variables(trace.created_variables)
                return self.retrace(call, trace.event_log)
            raws = [raw_value(t) for t in path.result_tensors()]
            if path.choice.device is not None:
                raws = [to_device(raw, path.choice.device) for raw in raws]
            saved = SavedCall(path, graph_inputs(path, arguments), trace.effect_results())
            report_variable_reads(saved, path.resolve_variables(arguments.variables))
            commit_trace(trace)
            self.add_path(trace, path)
        except NeedsTape:
            owner.differentiates = True
            return self.trace_and_run(call, trace.event_log)
        finally:
            trace.close()
        return self.record_and_pack(saved, raws)

    def retrace(self, call: Call, seen: list[tuple[str, Any]]) -> Any:
        """Trace again, as TensorFlow does, after a first run that created variables.

        Other assignments of the first run are discarded, and random ops start again. The second
        run takes its guards and effects from the log of the first.
        """
        self.streams.clear()
        return self.trace_and_run(call, seen)

    def dry_run(self, call: Call) -> Any:
        """The result of a call without a commit: variables keep their values."""
        owner = self.owner
        arguments = Arguments(call.leaves)
        trace, inputs = self.start_trace(call, arguments, [])
        args, kwargs = call.substitute_tensors(inputs, trace)

        def leaf(value: Any) -> Any:
            return (
                make_tensor(raw_value(trace.as_traced(value)))
                if isinstance(value, Tensor)
                else value
            )

        try:
            with use_recorders((trace,)):
                returned = convert_results(owner.python_function(*args, **kwargs), owner.name)
                result = nest.map_structure(leaf, returned, expand_composites=True)
            if trace.created_variables:
                owner.note_created_variables(trace.created_variables)
        finally:
            trace.close()
        return result

    def start_trace(
        self, call: Call, arguments: Arguments, seen: list[tuple[str, Any]]
    ) -> tuple[Trace, list[Any]]:
        """Start a trace of a call; return it and the traced tensors for the arguments."""
        owner = self.owner
        owner.traces += 1
        trace = Trace(owner.name, owner.autograph)
        trace.choice = owner.choice
        trace.device = call.device
        trace.replay_log = list(seen)
        trace.streams = self.streams
        pairs = zip(arguments.tensors, call.tensor_names(owner.parameters), strict=True)
        return trace, [trace.add_input(t._array, name) for t, name in pairs]

    def add_path(self, trace: Trace, path: TracedPath) -> None:
        """Add a path to the tree, or fall back to eager calls if that is impossible."""
        if trace.give_up_reason:
            self.fall_back_to_eager(trace.give_up_reason)
        elif self.tree is None:
            self.tree = GuardTree(path)
        elif self.tree.paths >= MAX_PATHS:
            self.fall_back_to_eager(
                f"more than {MAX_PATHS} paths diverge at {path.guards[-1].source_line}"
            )
        else:
            self.tree.add(path)
        self.only_path = path if self.tree and not path.guards and not path.effects else None
        self.plan = None

    def adopt(self, tree: GuardTree, path: TracedPath) -> None:
        """Take over the path of a trace on stand-ins."""
        self.tree = tree
        self.only_path = None if path.effects else path

    def fall_back_to_eager(self, why: str) -> None:
        """Call the Python function from now on, and log the reason once."""
        log.warning(
            "tf.function %s runs eagerly from now on for these arguments: %s. Functions it calls "
            "stay compiled.",
            self.owner.name,
            why,
        )
        self.eager_reason = why
        self.tree = None

    # -- running

    def run_plan(self, arguments: Arguments) -> Any:
        """Run a call by its compiled plans."""
        path = self.only_path
        if path is None:
            return self.run_tree(arguments)
        saved = SavedCall(path, graph_inputs(path, arguments), [])
        variables = path.resolve_variables(arguments.variables)
        joint = None
        if local.recorders:
            report_variable_reads(saved, variables)
            masks = [known_inputs_mask(known, saved.inputs) for known in local.recorders]
            joint = (
                path.forward_backward_cache.get((bit_positions(masks[0]), ()))
                if len(masks) == 1
                else None
            )
        raws = [t._array for t in saved.inputs]
        count = len(path.graph.outputs)
        if joint is not None:
            outputs = joint.forward(*raws)
            saved.forward_backward, saved.residuals = joint, outputs[count:]
        else:
            outputs = self.plan_for(path).run(*raws)
        if path.writes:
            commit([variables[i] for i in path.writes], outputs[path.result_count : count])
        return self.record_and_pack(saved, outputs)

    def plan_for(self, path: TracedPath) -> Any:
        """The compiled graph of the only path."""
        if self.plan is None:
            inputs = len(path.graph.inputs) - len(path.states)
            updates = {path.result_count + k: inputs + i for k, i in enumerate(path.writes)}
            self.plan = path.plan or path.choice.compile(path.graph, updates)
        return self.plan

    def switch_to_xla(self, path: TracedPath) -> Any:
        """The plan of the only path after many calls: XLA's, if XLA can express the graph."""
        with self.tracing:
            if not hasattr(self.plan, "start"):  # another thread may have done it
                self.plan = path.choice.compile_for_xla(path.graph) or self.plan
        return self.plan

    def run_tree(self, arguments: Arguments) -> Any:
        """Run a call segment by segment along the guard tree."""
        assert self.tree is not None
        raws = [t._array for t in arguments.tensors]
        frame = dict(zip(self.tree.arguments, raws, strict=True))
        path, effects = self.tree.run(frame, arguments.variables)
        saved = SavedCall(path, graph_inputs(path, arguments), effects)
        variables = path.resolve_variables(arguments.variables)
        if local.recorders:
            report_variable_reads(saved, variables)
        outputs = [o.raw if isinstance(o, Constant) else frame[o] for o in path.graph.outputs]
        commit([variables[i] for i in path.writes], outputs[path.result_count :])
        return self.record_and_pack(saved, outputs)

    def record_and_pack(self, saved: SavedCall, raws: Any) -> Any:
        """Record the call in the active recorders, and pack its results."""
        path = saved.path
        tensors: list[Tensor] = [make_tensor(raw) for raw in raws[: path.result_count]]
        for known in local.recorders:
            mask = known_inputs_mask(known, saved.inputs)
            if mask and tensors:
                anchor = next_uid()
                uids = tuple([t.uid for i, t in enumerate(saved.inputs) if mask >> i & 1])
                known[anchor] = (FUNCTION_STEP, uids, mask, saved)
                for i, out in enumerate(tensors):
                    known[mark_recorded(out)] = (TapePort.route_cotangent, anchor, i)
                if hasattr(known, "complete"):
                    known.complete(tuple(tensors))
        return path.pack_results(tensors)


def as_specs(structure: Any) -> Any:
    """Arguments with specs in place of tensors."""

    def leaf(value: Any) -> Any:
        return TensorSpec(value.shape, value.dtype) if isinstance(value, Tensor) else value

    return nest.map_structure(leaf, structure)


def graph_inputs(path: TracedPath, arguments: Arguments) -> list[Tensor]:
    """Tensors for the inputs of a path's graph: arguments, captures, variables."""
    variables = path.resolve_variables(arguments.variables)
    return [*arguments.tensors, *path.captures, *(v._stored_version() for v in variables)]


def report_variable_reads(saved: SavedCall, variables: list[Any]) -> None:
    """Report the variables that a call reads to the active recorders."""
    versions = saved.inputs[len(saved.inputs) - len(variables) :]
    for known in local.recorders:
        for tensor, variable in zip(versions, variables, strict=True):
            if tensor.uid not in known:
                known.on_variable_read(variable, tensor.uid)


def commit_trace(trace: Trace) -> None:
    """Store the newest values of the variables that a trace has written."""
    written = [s for s in trace.states.values() if s.is_written]
    commit([s.variable for s in written], [s.newest._array.traced_value for s in written])


def as_shape_error(error: InvalidArgumentError) -> Exception:
    """An error while tracing, as both classes: TensorFlow's for tracing and that for execution."""
    if isinstance(error, ValueError):
        return error
    return ShapeError(str(error)).with_traceback(error.__traceback__)


def known_inputs_mask(known: Any, inputs: list[Tensor]) -> int:
    """A bit mask of the differentiable inputs that a recorder knows."""
    mask = 0
    for i, t in enumerate(inputs):
        if t.uid in known and is_differentiable(t._array.dtype):
            mask |= 1 << i
    return mask


def bit_positions(mask: int) -> tuple[int, ...]:
    """The positions of the set bits."""
    return tuple([i for i in range(mask.bit_length()) if mask >> i & 1])
