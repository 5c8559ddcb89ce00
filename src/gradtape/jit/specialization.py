"""A function specialised to one signature: its trace, its guard tree, and how calls run."""

from __future__ import annotations

from typing import Any

from gradtape.core import nest
from gradtape.core.context import local, next_uid, use_recorders
from gradtape.core.errors import InvalidArgumentError, OutOfRangeError
from gradtape.core.ledger import ledger
from gradtape.core.lock import Lock
from gradtape.core.log import get_log
from gradtape.core.ports import devices
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.core.worker_group import connected_groups
from gradtape.devices.array import to_device
from gradtape.graph.trace import NeedsTape, Trace
from gradtape.graph.traced_value import raw_value
from gradtape.jit.backward import SavedCall
from gradtape.jit.executable import Executable, record_traced_call
from gradtape.jit.found_path import FoundPaths
from gradtape.jit.guard_tree import MAX_PATHS, CommitConflict, GuardMiss, GuardTree, StoppedRun
from gradtape.jit.guarded_executable import GuardedExecutable
from gradtape.jit.open_signature import OpenTrace, OpenTraces
from gradtape.jit.packed_executable import make_executable
from gradtape.jit.signature import Call, as_specs
from gradtape.jit.stepwise_plan import StepwisePlan
from gradtape.jit.trace_commit import commit_trace
from gradtape.jit.trace_error import OpenSizesFailed, as_shape_error
from gradtape.jit.trace_path import TracedPath, convert_results
from gradtape.state.random.stream import FunctionStreams, StreamCursor

UNBOUND_NOTE = (
    "Only a branch of an `if`, or the body of a loop, sets this name, and it did not run for these "
    "values. Set the name before, or in every branch."
)


class Specialization(FoundPaths):
    """A function specialised to one signature.

    Attributes:
        tree: the paths traced so far, or None.
        only_path: the path, if there is only one, without guards and effects.
        executable: what runs calls; None before the second call and after a new trace.
        eager_reason: why calls run the Python function instead, or "".
        fallbacks: number of such calls.
        serial_number: later specializations have larger ones.
        call_specs: specs and Python values of the arguments; None if that would keep them alive.
    """

    def __init__(self, owner: Any, call: Call) -> None:
        """Start without a trace."""
        super().__init__()
        self.owner = owner
        self.leaf_keys = call.leaf_keys
        self.serial_number = next_uid()
        self.call_specs = None if call.weak_objects else as_specs(call)
        self.only_path: TracedPath | None = None
        self.executable: Any = None
        self.eager_reason = ""
        self.fallbacks = 0
        # The first trace of a function may create variables, so no other one runs at that time.
        self.tracing = Lock() if owner.has_traced else owner.first_trace
        self.keys: list[Any] = []  # under which the function has cached this
        self.is_recent = False  # whether it was called again since the cache was last full
        self.streams = owner.streams or FunctionStreams()  # of the random ops: see Trace.stream_of
        self.open_traces: OpenTraces | None = None  # traces of unknown sizes that may serve it
        self.opens_elements = True
        self.runs_stepwise = False  # whether the next call runs without a compiled plan

    def run(self, call: Call) -> Any:
        """Run a call: trace it if it is the first, else run the executable."""
        if self.eager_reason:
            return self.run_eagerly(call)
        try:
            if self.tree is None:
                with self.tracing:
                    if self.tree is None and not self.found_traces:
                        return self.trace_and_run(call, [])
                if self.tree is None:
                    raise GuardMiss([])
            if self.runs_stepwise and not local.recorders:
                self.runs_stepwise = False
                path = self.only_path
                assert path is not None
                return Executable(StepwisePlan(path.graph), path).run(call.tensors, call.variables)
            executable = self.executable or self.make_executable()
            is_noted = bool(local.recorders) or ledger.active
            run = executable.record if is_noted else executable.run
            return run(call.tensors, call.variables)
        except StoppedRun as stopped:
            stop = stopped
        return self.finish(call, stop)

    def find_traced_paths(self, call: Call) -> bool:
        """Take over the paths of traces of unknown sizes that serve a call; False if none does."""
        if self.open_traces is None:
            return False
        self.found_traces += self.open_traces.list_traces_of_found_sizes(call.tensors)
        for path in self.open_traces.find_paths(call.tensors):
            if self.tree is None:
                self.tree = GuardTree(path)
            else:
                self.tree.add(path)
            self.only_path = None if path.guards or path.effects else path
        if self.only_path is not None:
            self.runs_stepwise = not devices.active and not self.only_path.choice.is_xla_preferred
        return self.tree is not None or bool(self.found_traces)

    def finish(self, call: Call, stop: StoppedRun) -> Any:
        """Finish a call whose run was stopped, with the side effects that it had before."""
        while True:
            try:
                if type(stop) is GuardMiss or self.tree is None:
                    with self.tracing:
                        found = self.run_open_path(call, stop.log)
                        if found is not None:
                            return found[0]
                        log = self.add_path_for_run(call, stop.log)
                        if log is None:
                            return self.trace_and_run(call, stop.log)
                        stop = CommitConflict(log)
                executable = self.executable or self.make_executable()
                if isinstance(executable, GuardedExecutable):
                    return executable.rerun(call.tensors, call.variables, stop.log)
                is_noted = bool(local.recorders) or ledger.active
                run = executable.record if is_noted else executable.run
                return run(call.tensors, call.variables)
            except StoppedRun as again:
                stop = again

    def run_eagerly(self, call: Call) -> Any:
        """Call the Python function."""
        self.fallbacks += 1
        before, local.random_streams = local.random_streams, StreamCursor(self.streams)
        try:
            return self.owner.python_function(*call.args, **call.kwargs)
        finally:
            local.random_streams = before

    def trace_and_run(self, call: Call, seen: list[tuple[str, Any]]) -> Any:
        """Run the Python function under a trace; `seen` is the log of a run that was stopped."""
        trace, inputs = self.start_trace(call, seen)
        try:
            path = self.trace_path(trace, call, inputs)
            if trace.versions.created:
                self.owner.note_created_variables(trace.versions)
                return self.retrace(call, trace.log.events)
            raws = [raw_value(t) for t in path.result_tensors()]
            if path.choice.device is not None:
                raws = [to_device(raw, path.choice.device) for raw in raws]
            stored = trace.versions.stored_versions()
            inputs = [*call.tensors, *path.captures, *stored]
            saved = SavedCall(path, inputs, trace.log.effect_results())
            is_committed = commit_trace(trace)
            self.add_path(trace, path)
            self.owner.has_traced = True
            captured = trace.versions.captured_arguments
            self.owner.note_captured_variables(call, self, path, captured)
            if not is_committed:
                raise CommitConflict(trace.log.events)
        except NeedsTape:
            self.owner.differentiates = True
            return self.trace_and_run(call, trace.log.events)
        except OpenSizesFailed:
            self.open_traces, self.opens_elements = None, False
            self.owner.traces -= 1
            return self.trace_and_run(call, trace.log.events)
        finally:
            trace.close()
        return record_traced_call(saved, path.resolve_variables(call.variables), raws)

    def trace_path(self, trace: Trace, call: Call, inputs: list[Any]) -> TracedPath:
        """Run the Python function; return the path for the sizes of the call.

        Raises:
            OpenSizesFailed: if an op failed and the trace has unknown sizes.
        """
        owner = self.owner
        recorders = (trace, *trace.start_tape(inputs)) if owner.differentiates else (trace,)
        try:
            with use_recorders(recorders):
                path = TracedPath(trace, self.run_python(trace, call, inputs), call.variables)
            if trace.sizes is not None:
                path = self.specialise_path(trace, path, call)
        except StoppedRun:
            raise
        except Exception as error:
            is_error_of_op = hasattr(error, "_origin")  # else the user's code raised it
            if trace.sizes is None or not is_error_of_op:
                raise
            raise OpenSizesFailed from error
        path.check_engine()
        return path

    def run_python(self, trace: Trace, call: Call, inputs: list[Any]) -> Any:
        """The result of the Python function on the tensors of a trace."""
        owner = self.owner
        hides = self.open_traces is not None and self.open_traces.hides_dense_shapes
        args, kwargs = call.substitute_tensors(inputs, trace, hides)
        try:
            return convert_results(owner.traced_function()(*args, **kwargs), owner.name)
        except (OutOfRangeError, StopIteration) as error:
            if not (ended := trace.log.find_end_of_iterator(error)):
                raise
            if not commit_trace(trace):
                raise CommitConflict(trace.log.events) from None
            raise ended from None
        except InvalidArgumentError as error:
            raise as_shape_error(error) from None
        except UnboundLocalError as error:
            error.add_note(UNBOUND_NOTE)
            raise

    def specialise_path(self, trace: Trace, path: TracedPath, call: Call) -> TracedPath:
        """Keep a path of unknown sizes for other calls; return the path for this call."""
        assert trace.sizes is not None
        hints = dict(trace.sizes.hints or {})
        trace.sizes.freeze()
        traced = OpenTrace(path, trace.sizes)
        if traced.finds_sizes():
            if not trace.versions.created and not trace.give_up_reason and not trace.is_stale:
                self.found_traces.append(traced)
                if self.open_traces is not None:
                    self.open_traces.traces.append(traced)
            return path.specialise(hints)
        if self.open_traces is None:
            return path
        env = traced.find_env(call.tensors)
        assert env is not None, f"{self.owner.name}: the call violates its own assumptions"
        if not trace.versions.created and not trace.give_up_reason and not trace.is_stale:
            self.open_traces.traces.append(traced)
        return path.specialise(env)

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
        trace, inputs = self.start_trace(call, [])
        args, kwargs = call.substitute_tensors(inputs, trace)

        def leaf(value: Any) -> Any:
            return (
                make_tensor(raw_value(trace.as_traced(value)))
                if isinstance(value, Tensor)
                else value
            )

        try:
            with use_recorders((trace,)):
                returned = convert_results(owner.traced_function()(*args, **kwargs), owner.name)
                result = nest.map_structure(leaf, returned, expand_composites=True)
            if trace.versions.created:
                owner.note_created_variables(trace.versions)
        finally:
            trace.close()
        return result

    def start_trace(self, call: Call, seen: list[tuple[str, Any]]) -> tuple[Trace, list[Any]]:
        """Start a trace of a call; return it and the traced tensors for the arguments."""
        owner = self.owner
        owner.traces += 1
        # A tape around this call needs the whole graph for the gradient.
        options = owner.trace_options._replace(keeps_all_nodes=bool(local.recorders))
        trace = Trace(options, self.streams, seen, call.device)
        trace.opens_elements = self.opens_elements
        names = call.tensor_names(owner.parameters)
        if self.open_traces is not None:
            return trace, self.open_traces.add_inputs(trace, call.tensors, names)
        pairs = zip(call.tensors, names, strict=True)
        return trace, [trace.add_input(t._array, name) for t, name in pairs]

    def add_path(self, trace: Trace, path: TracedPath) -> None:
        """Add a path to the tree, or fall back to eager calls if that is impossible."""
        if trace.is_stale:
            return
        for variable in path.states:
            dependents = getattr(variable, "_dependents", None)
            if dependents is not None:
                dependents.add(self)
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
        self.executable = None

    def forget(self) -> None:
        """Trace the next call again: replicas have got copies of a variable of the graph."""
        self.tree = self.only_path = self.executable = None
        self.found_traces.clear()
        if self.open_traces is not None:
            self.open_traces.traces.clear()

    def adopt(self, tree: GuardTree, path: TracedPath) -> None:
        """Take over the path of a trace on stand-ins."""
        self.tree = tree
        self.only_path = None if path.effects else path
        self.executable = None

    def fall_back_to_eager(self, why: str) -> None:
        """Call the Python function from now on, and log the reason once."""
        get_log().warning(
            "tf.function %s runs eagerly from now on for these arguments: %s. Functions it calls "
            "stay compiled.",
            self.owner.name,
            why,
        )
        self.eager_reason = why
        self.tree = None

    @property
    def plan(self) -> Any:
        """The plan of the only path, or None."""
        return getattr(self.executable, "plan", None)

    def make_executable(self) -> Any:
        """Make what runs the calls of this signature."""
        with self.tracing:
            tree, path = self.tree, self.only_path
            if self.executable is not None:
                return self.executable
            if tree is None:
                raise CommitConflict([])  # another thread has fallen back to Python
            if path is None:
                if connected_groups and len(tree.all_paths) == 1:
                    self.announce_collectives(tree.all_paths[0])
                self.executable = GuardedExecutable(tree)
                return self.executable
            plan = path.plan or path.choice.compile(path.graph, path.updates)
            executable = make_executable(plan, path)
            calls = path.choice.calls_before_xla(path.graph)
            if calls:
                executable.run = self.count_calls(executable, calls)  # type: ignore[method-assign]
            self.executable = executable
        return executable

    def announce_collectives(self, path: TracedPath) -> None:
        """Let the workers compare the collectives of a graph when they run it first."""
        from gradtape.compile.collective.agreement import announce_collectives

        announce_collectives(self.owner.name, path.graph.nodes)

    def count_calls(self, executable: Any, calls: int) -> Any:
        """`executable.run`, until XLA replaces the executable after so many calls."""
        run = executable.run

        def run_and_count(tensors: list[Any], given: list[Any]) -> Any:
            nonlocal calls
            calls -= 1
            if calls > 0:
                return run(tensors, given)
            executable.run = run
            return self.switch_to_xla(executable).run(tensors, given)

        return run_and_count

    def switch_to_xla(self, executable: Any) -> Any:
        """The executable after many calls: XLA's, if XLA can express the graph."""
        with self.tracing:
            if self.executable is executable:
                path = executable.path
                plan = path.choice.compile_for_xla(path.graph, path.updates)
                if plan is not None:
                    self.executable = make_executable(plan, executable.path)
            return self.executable or executable
