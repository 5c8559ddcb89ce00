"""A function specialised to one signature: its trace, its guard tree, and how calls run."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any

from gradtape.core import nest
from gradtape.core.context import listening, local, next_uid
from gradtape.core.device.array import moved
from gradtape.core.dispatch import Handed
from gradtape.core.dtypes import is_differentiable
from gradtape.core.errors import InvalidArgumentError, OutOfRangeError, hide_library
from gradtape.core.lock import Lock
from gradtape.core.spec import TensorSpec
from gradtape.core.symbolic_tensor import Opaque
from gradtape.core.tensor import Tensor, eager, marked
from gradtape.graph.graph import Constant
from gradtape.graph.recorder import NeedsTape, Trace, raw_value
from gradtape.jit.backward import STEP, Saved
from gradtape.jit.fast_call import quick
from gradtape.jit.guard_tree import MOST, Miss, Tree
from gradtape.jit.signature import Call
from gradtape.jit.trace_path import Path, commit, returned_tensors
from gradtape.state.random.stream import Draws, Streams
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
            elif hasattr(leaf, "_draw"):
                self.tensors.append(eager(Opaque(leaf._source)))
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
        self.parts = call.parts
        self.born = next_uid()
        self.described = None if call.watched else as_specs((call.args, call.kwargs))
        self.tree: Tree | None = None
        self.only: Path | None = None
        self.plan: Any = None
        self.eager_because = ""
        self.fallbacks = 0
        self.tracing = Lock()
        self.quick = False
        self.streams = owner.streams or Streams()  # of the random ops: see Trace.stream_of

    def run(self, call: Call) -> Any:
        """Run a call: trace it if it is the first, else run the compiled plans."""
        if self.eager_because:
            return self.eagerly(call)
        if self.tree is None:
            with self.tracing:
                if self.tree is None:
                    return self.traced(call, [])
        try:
            result = self.compiled(Arguments(call.leaves))
            if not self.quick:
                self.quick = True
                self.owner.quickly(call, self)
            return result
        except Miss as miss:
            seen = miss.log
        with self.tracing:
            return self.traced(call, seen)

    def ready(self) -> Any:
        """The fast path for calls with a known signature.

        It takes the arguments and the tensors among them.
        """
        path, owner = self.only, self.owner
        run, calls = None, None
        if path is not None:
            run = quick(self.planned(path), path)
            calls = path.choice.patience(path.graph)

        def ready(args: tuple[Any, ...], tensors: list[Any]) -> Any:
            nonlocal run, calls
            recorders = local.recorders
            if not recorders and path is not None and run is not None and self.only is path:
                owner.quiet += 1
                try:
                    if calls:
                        calls -= 1
                        if not calls:
                            run = quick(self.promoted(path), path)
                    return run(tensors)
                except Exception as error:
                    hide_library(error)
                    raise
            if self.tree is not None and not (recorders and recorders[0].stages):
                owner.quiet += 1
                try:
                    arguments = Arguments(())
                    arguments.tensors = tensors
                    return self.compiled(arguments)
                except Miss as miss:
                    seen = miss.log
                except Exception as error:
                    hide_library(error)
                    raise
                with self.tracing:
                    return self.traced(Call(args, {}, args), seen)
            return owner._call(*args)

        return ready

    def eagerly(self, call: Call) -> Any:
        """Call the Python function."""
        self.fallbacks += 1
        before, local.draws = local.draws, Draws(self.streams)
        try:
            return self.owner.python_function(*call.args, **call.kwargs)
        finally:
            local.draws = before

    # -- tracing

    def traced(self, call: Call, seen: list[tuple[str, Any]]) -> Any:
        """Run the Python function under a trace; `seen` is the log of a run that was stopped."""
        owner = self.owner
        arguments = Arguments(call.leaves)
        trace, inputs = self.begun(call, arguments, seen)
        args, kwargs = call.replaced(inputs, trace)
        try:
            with listening((trace, *trace.keep_tape(inputs)) if owner.differentiates else (trace,)):
                try:
                    result = owner.python_function(*args, **kwargs)
                    returned = returned_tensors(result, owner.name)
                except OutOfRangeError:
                    commit_trace(trace)
                    raise
                except InvalidArgumentError as error:
                    raise as_shape_error(error) from None
                path = Path(trace, returned, arguments.variables)
            path.check_engine()
            if trace.created:
                owner.made(trace.created)
                return self.traced_again(call, trace.seen)
            raws = [raw_value(t) for t in path.tensors()]
            if path.choice.device is not None:
                raws = [moved(raw, path.choice.device) for raw in raws]
            saved = Saved(path, inputs_of(path, arguments), trace.done())
            touch(saved, path.variables(arguments.variables))
            commit_trace(trace)
            self.keep(trace, path)
        except NeedsTape:
            owner.differentiates = True
            return self.traced(call, trace.seen)
        finally:
            trace.close()
        return self.finished(saved, raws)

    def traced_again(self, call: Call, seen: list[tuple[str, Any]]) -> Any:
        """Trace again, as TensorFlow does, after a first run that created variables.

        Other assignments of the first run are discarded, and random ops start again. The second
        run takes its guards and effects from the log of the first.
        """
        self.streams.forget()
        return self.traced(call, seen)

    def tried(self, call: Call) -> Any:
        """The result of a call without a commit: variables keep their values."""
        owner = self.owner
        arguments = Arguments(call.leaves)
        trace, inputs = self.begun(call, arguments, [])
        args, kwargs = call.replaced(inputs, trace)

        def leaf(value: Any) -> Any:
            return eager(raw_value(trace.lift(value))) if isinstance(value, Tensor) else value

        try:
            with listening((trace,)):
                returned = returned_tensors(owner.python_function(*args, **kwargs), owner.name)
                result = nest.map_structure(leaf, returned, expand_composites=True)
            if trace.created:
                owner.made(trace.created)
        finally:
            trace.close()
        return result

    def begun(
        self, call: Call, arguments: Arguments, seen: list[tuple[str, Any]]
    ) -> tuple[Trace, list[Any]]:
        """Start a trace of a call; return it and the traced tensors for the arguments."""
        owner = self.owner
        owner.traces += 1
        trace = Trace(owner.name, owner.autograph)
        trace.choice = owner.choice
        trace.device = call.device
        trace.log = list(seen)
        trace.streams = self.streams
        pairs = zip(arguments.tensors, call.names(owner.parameters), strict=True)
        return trace, [trace.input(t._array, name) for t, name in pairs]

    def keep(self, trace: Trace, path: Path) -> None:
        """Add a path to the tree, or fall back to eager calls if that is impossible."""
        if trace.given_up:
            self.give_up(trace.given_up)
        elif self.tree is None:
            self.tree = Tree(path)
        elif self.tree.paths >= MOST:
            self.give_up(f"more than {MOST} paths diverge at {path.guards[-1].where}")
        else:
            self.tree.add(path)
        self.only = path if self.tree and not path.guards and not path.effects else None
        self.plan = None

    def adopt(self, tree: Tree, path: Path) -> None:
        """Take over the path of a trace on stand-ins."""
        self.tree = tree
        self.only = None if path.effects else path

    def give_up(self, why: str) -> None:
        """Call the Python function from now on, and log the reason once."""
        log.warning(
            "tf.function %s runs eagerly from now on for these arguments: %s. Functions it calls "
            "stay compiled.",
            self.owner.name,
            why,
        )
        self.eager_because = why
        self.tree = None

    # -- running

    def compiled(self, arguments: Arguments) -> Any:
        """Run a call by its compiled plans."""
        path = self.only
        if path is None:
            return self.along_the_tree(arguments)
        saved = Saved(path, inputs_of(path, arguments), [])
        variables = path.variables(arguments.variables)
        joint = None
        if local.recorders:
            touch(saved, variables)
            masks = [mask_of(known, saved.inputs) for known in local.recorders]
            joint = path.joints.get((places_of(masks[0]), ())) if len(masks) == 1 else None
        raws = [t._array for t in saved.inputs]
        count = len(path.graph.outputs)
        if joint is not None:
            outputs = joint.forward(*raws)
            saved.joint, saved.residuals = joint, outputs[count:]
        else:
            outputs = self.planned(path).run(*raws)
        if path.writes:
            commit([variables[i] for i in path.writes], outputs[path.results : count])
        return self.finished(saved, outputs)

    def planned(self, path: Path) -> Any:
        """The compiled graph of the only path."""
        if self.plan is None:
            inputs = len(path.graph.inputs) - len(path.states)
            updates = {path.results + k: inputs + i for k, i in enumerate(path.writes)}
            self.plan = path.plan or path.choice.compile(path.graph, updates)
        return self.plan

    def promoted(self, path: Path) -> Any:
        """The plan of the only path after many calls: XLA's, if XLA can express the graph."""
        with self.tracing:
            if not hasattr(self.plan, "start"):  # another thread may have done it
                self.plan = path.choice.on_xla(path.graph) or self.plan
        return self.plan

    def along_the_tree(self, arguments: Arguments) -> Any:
        """Run a call segment by segment along the guard tree."""
        assert self.tree is not None
        raws = [t._array for t in arguments.tensors]
        frame = dict(zip(self.tree.arguments, raws, strict=True))
        path, effects = self.tree.run(frame, arguments.variables)
        saved = Saved(path, inputs_of(path, arguments), effects)
        variables = path.variables(arguments.variables)
        if local.recorders:
            touch(saved, variables)
        outputs = [o.raw if isinstance(o, Constant) else frame[o] for o in path.graph.outputs]
        commit([variables[i] for i in path.writes], outputs[path.results :])
        return self.finished(saved, outputs)

    def finished(self, saved: Saved, raws: Any) -> Any:
        """Record the call in the active recorders, and pack its results."""
        path = saved.path
        tensors: list[Tensor] = [eager(raw) for raw in raws[: path.results]]
        for known in local.recorders:
            mask = mask_of(known, saved.inputs)
            if mask and tensors:
                anchor = next_uid()
                uids = tuple([t.uid for i, t in enumerate(saved.inputs) if mask >> i & 1])
                known[anchor] = (STEP, uids, mask, saved)
                for i, out in enumerate(tensors):
                    known[marked(out)] = (Handed.move, anchor, i)
                if hasattr(known, "complete"):
                    known.complete(tuple(tensors))
        return path.packed(tensors)


def as_specs(structure: Any) -> Any:
    """Arguments with specs in place of tensors."""

    def leaf(value: Any) -> Any:
        return TensorSpec(value.shape, value.dtype) if isinstance(value, Tensor) else value

    return nest.map_structure(leaf, structure)


def inputs_of(path: Path, arguments: Arguments) -> list[Tensor]:
    """Tensors for the inputs of a path's graph: arguments, captures, variables."""
    variables = path.variables(arguments.variables)
    return [*arguments.tensors, *path.captures, *(v._version() for v in variables)]


def touch(saved: Saved, variables: list[Any]) -> None:
    """Report the variables that a call reads to the active recorders."""
    versions = saved.inputs[len(saved.inputs) - len(variables) :]
    for known in local.recorders:
        for tensor, variable in zip(versions, variables, strict=True):
            if tensor.uid not in known:
                known.touch(variable, tensor.uid)


def commit_trace(trace: Trace) -> None:
    """Store the newest values of the variables that a trace has written."""
    written = [s for s in trace.states.values() if s.written]
    commit([s.variable for s in written], [s.newest._array.value for s in written])


def as_shape_error(error: InvalidArgumentError) -> Exception:
    """An error while tracing, as both classes: TensorFlow's for tracing and that for execution."""
    if isinstance(error, ValueError):
        return error
    return ShapeError(str(error)).with_traceback(error.__traceback__)


def mask_of(known: Any, inputs: list[Tensor]) -> int:
    """A bit mask of the differentiable inputs that a recorder knows."""
    mask = 0
    for i, t in enumerate(inputs):
        if t.uid in known and is_differentiable(t._array.dtype):
            mask |= 1 << i
    return mask


def places_of(mask: int) -> tuple[int, ...]:
    """The positions of the set bits."""
    return tuple([i for i in range(mask.bit_length()) if mask >> i & 1])
