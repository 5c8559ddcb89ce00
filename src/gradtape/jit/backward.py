"""The gradient of a compiled call: one tape entry, whose backward step runs a compiled graph.

Replaying a path under a tape, inside a new trace, gives one graph of the forward and the backward
pass. It is divided where the backward pass begins. The forward values that the backward part reads
are the residuals, which later calls save. A recorded backward pass (for second derivatives) instead
replays the path from its inputs, primitive by primitive.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gradtape.core.context import local, use_recorders
from gradtape.core.dispatch import TapeRecord, bind
from gradtape.core.dtypes import is_differentiable
from gradtape.core.symbolic_tensor import SymbolicTensor
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.devices.array import to_device
from gradtape.graph.graph import Effect, Graph, Node, Operand
from gradtape.graph.replay import replay, tensor_at
from gradtape.graph.trace import Trace
from gradtape.graph.trace_op import INSTALL
from gradtape.graph.trace_options import TraceOptions
from gradtape.jit.trace_path import TracedPath
from gradtape.ops.elementwise import identity
from gradtape.tape.backward import add_cotangent, backward_pass, fill_missing_cotangents
from gradtape.tape.indexed_slices import (
    SOURCES,
    SparseCotangent,
    can_stay_sparse,
    densify_cotangent,
)
from gradtape.tape.step import CallStep, Entry

LeadShape = tuple[int, ...]


class ForwardBackward:
    """The compiled forward and backward graphs of a path, for gradients of some inputs.

    Attributes:
        residuals: numbers of the forward values that the backward graph reads.
        answers: for each wanted input an operand, a pair of operands (slices), or None.
    """

    def __init__(
        self,
        path: TracedPath,
        trace: Trace,
        seeds: list[int],
        outputs: list[Operand],
        answers: list[Any],
        cut: int,
    ) -> None:
        """Divide the trace of a replay after `cut` nodes, where the backward pass began."""
        self.path = path
        self.gradient_operands = answers
        self.results: list[Operand] = []
        for answer in answers:
            if answer is not None:
                self.results += answer if type(answer) is tuple else [answer]
        first, second = trace.builder.nodes[:cut], trace.builder.nodes[cut:]
        inputs = [i for i in trace.builder.inputs if i not in seeds]
        made = {*inputs, *(o for node in first for o in node.outputs)}
        read = dict.fromkeys(i for node in second for i in node.reads())
        read |= dict.fromkeys(o for o in self.results if type(o) is int)
        self.residuals = [i for i in read if i in made]
        specs = trace.builder.specs
        self.forward_graph = Graph(inputs, first, [*outputs, *self.residuals], specs)
        self.backward_graph = Graph([*self.residuals, *seeds], second, self.results, specs)
        self.is_dense = all(answer is not None and type(answer) is not tuple for answer in answers)
        self._forward: Any = None
        self._backward: Any = None

    @property
    def forward(self) -> Any:
        """The plan from the inputs to the path's outputs and the residuals."""
        if self._forward is None:
            self._forward = self.path.choice.compile(self.forward_graph)
        return self._forward

    @property
    def backward(self) -> Any:
        """The plan from residuals and cotangents to the gradients."""
        if self._backward is None:
            self._backward = self.path.choice.compile(self.backward_graph)
        return self._backward

    @property
    def backward_run(self) -> Any:
        """The function of `backward`."""
        return (self._backward or self.backward).run

    def unpack_gradients(self, raws: tuple[Any, ...], inputs: list[Any]) -> list[Any]:
        """Raw gradients, Slices or None for each wanted input, from the results of `backward`."""
        answers: list[Any] = []
        rest = iter(raws)
        for answer, given in zip(self.gradient_operands, inputs, strict=True):
            if answer is None:
                answers.append(None)
            elif type(answer) is tuple:
                answers.append(SparseCotangent(next(rest), next(rest), given.shape))
            else:
                answers.append(next(rest))
        return answers


class SavedCall:
    """The data of a call that its tape entry keeps.

    Attributes:
        path: the path that the call took.
        inputs: tensors for the inputs of the path's graph.
        effects: results of the effects.
        joint: the graphs that computed `residuals`, or None.
        residuals: forward values for the backward graph.
    """

    __slots__ = ("effects", "forward_backward", "inputs", "path", "residuals")

    def __init__(self, path: TracedPath, inputs: list[Tensor], effects: list[Any]) -> None:
        """Save the inputs and the results of the effects."""
        self.path = path
        self.inputs = inputs
        self.effects = effects
        self.forward_backward: ForwardBackward | None = None
        self.residuals: tuple[Any, ...] = ()


class FunctionStep(CallStep):
    """The backward step of a compiled call."""

    def run(
        self, entry: Entry, g: Any, grads: dict[int, Any], want: int = -1, raw: bool = True
    ) -> None:
        """Add the cotangents of the inputs, computed from those of the outputs, to `grads`."""
        _, uids, places, saved = entry
        path = saved.path
        every = (1 << len(places)) - 1
        if want & every != every:
            kept = [k for k in range(len(places)) if want >> k & 1]
            uids, places = [uids[k] for k in kept], tuple([places[k] for k in kept])
        cotangents = list(fill_missing_cotangents(g, path.specs))
        compute = compute_raw_gradients if raw else replay_gradients
        answers = compute(saved, cotangents, places)
        for uid, t in zip(uids, answers, strict=True):
            if t is None:
                continue
            if type(t) is SparseCotangent and not can_stay_sparse(uid, grads):
                t = densify_cotangent(t)
            if uid in grads:
                add_cotangent(grads, uid, t)
            else:
                grads[uid] = t


FUNCTION_STEP = FunctionStep()


def lead_shape_of_call(saved: SavedCall, cotangents: list[Any]) -> LeadShape:
    """Extra leading axes of the cotangents; those of strings and integers do not count."""
    pairs = zip(cotangents, saved.path.specs, strict=True)
    shape, inner = next((c.shape, spec[0]) for c, spec in pairs if is_differentiable(spec[1]))
    lead: LeadShape = shape[: len(shape) - len(inner)]
    return lead


def compute_raw_gradients(
    saved: SavedCall, cotangents: list[Any], places: tuple[int, ...]
) -> list[Any]:
    """Gradients of a raw backward pass, by the compiled graph; the first call traces it."""
    path = saved.path
    key = (places, lead_shape_of_call(saved, cotangents))
    joint: ForwardBackward | None = path.forward_backward_cache.get(key)
    if joint is None:
        inputs = [saved.inputs[i]._array for i in places]
        joint, raws = trace_forward_backward(saved, cotangents, places)
        path.forward_backward_cache[key] = joint
        if path.choice.device is not None:
            raws = tuple([to_device(raw, path.choice.device) for raw in raws])
        return joint.unpack_gradients(raws, inputs)
    if joint is saved.forward_backward:
        residuals = saved.residuals
    else:
        given = [t._array for t in saved.inputs] + [r for done in saved.effects for r in done]
        residuals = joint.forward(*given)[len(path.graph.outputs) :]
    raws = joint.backward_run(*residuals, *differentiable_cotangents(path, cotangents))
    if joint.is_dense:
        return list(raws)
    return joint.unpack_gradients(raws, [saved.inputs[i]._array for i in places])


def differentiable_cotangents(path: TracedPath, cotangents: list[Any]) -> list[Any]:
    """The cotangents of the differentiable outputs."""
    if path.is_differentiable:
        return cotangents
    return [c for c, spec in zip(cotangents, path.specs, strict=True) if is_differentiable(spec[1])]


def trace_forward_backward(
    saved: SavedCall, cotangents: list[Any], places: tuple[int, ...]
) -> tuple[ForwardBackward, tuple[Any, ...]]:
    """Trace the forward and backward pass of a saved call; also returns its raw gradients."""
    path = saved.path
    trace = Trace(TraceOptions("joint", forbids_values=True, has_fixed_shapes=True))
    with use_recorders((trace,)):
        inputs = [trace.add_input(t._array) for t in saved.inputs]
        given = iter([tuple([trace.add_input(r) for r in done]) for done in saved.effects])
        seeds = [trace.add_input(c) for c in differentiable_cotangents(path, cotangents)]
        run = TapedReplay(path, inputs, given, places)
        cut = len(trace.builder.nodes)
        found = run.run_backward(seeds)
    outputs = trace.operands(run.outputs)
    answers: list[Any] = []
    raws: list[Any] = []
    for t in found:
        parts = (t.values, t.indices) if type(t) is SparseCotangent else (t,)
        numbers = trace.operands(p for p in parts if p is not None)
        raws += [traced_raw(p) for p in parts if p is not None]
        answers.append(
            None if t is None else tuple(numbers) if type(t) is SparseCotangent else numbers[0]
        )
    given_seeds = [t._array.number for t in seeds]
    joint = ForwardBackward(path, trace, given_seeds, outputs, answers, cut)
    trace.close()
    return joint, tuple(raws)


def traced_raw(tensor: Tensor) -> Any:
    """The raw array of a tensor in an open trace."""
    return tensor._array.traced_value if isinstance(tensor, SymbolicTensor) else tensor._array


def replay_gradients(saved: SavedCall, cotangents: list[Any], places: tuple[int, ...]) -> list[Any]:
    """Gradients of a recorded backward pass, by a replay, so that recorders record every op."""
    inputs = [identity(t) if is_differentiable(t._array.dtype) else t for t in saved.inputs]
    given = iter([tuple([make_tensor(r) for r in done]) for done in saved.effects])
    run = TapedReplay(saved.path, inputs, given, places)
    return run.run_backward(differentiable_cotangents(saved.path, cotangents))


class TapedReplay:
    """A path replayed under a tape of its own."""

    def __init__(
        self,
        path: TracedPath,
        inputs: list[Any],
        effects: Iterator[tuple[Any, ...]],
        places: tuple[int, ...],
    ) -> None:
        """Replay on these inputs and watch those at `places`."""
        graph = path.graph
        arguments = len(graph.inputs) - len(path.states)
        self.record = TapeRecord(False)
        self.record.thread_dict = local.__dict__
        self.uids: list[list[int]] = [[inputs[i].uid] for i in places]
        by_key = {path.keys[i - arguments]: k for k, i in enumerate(places) if i >= arguments}
        for i in places:
            self.record.watch(inputs[i].uid)

        def install(key: int, value: Any) -> Tensor:
            tensor: Tensor = bind(INSTALL, (value,), {"key": key})
            if key in by_key:
                self.record.watch(tensor.uid)
                self.uids[by_key[key]].append(tensor.uid)
            return tensor

        def logged_results(node: Node, args: tuple[Any, ...]) -> tuple[Tensor, ...]:
            assert isinstance(node.op, Effect)
            return next(effects) if node.op.is_replayed else ()

        env = dict(zip(graph.inputs, inputs, strict=True))
        with use_recorders((*local.recorders, self.record)):
            replay(graph.nodes, env, logged_results, install)
        self.outputs = [tensor_at(env, o) for o in graph.outputs]
        self.path = path

    def run_backward(self, seeds: list[Any]) -> list[Any]:
        """Cotangents of the watched inputs: Tensors, Slices or None."""
        grads: dict[int, Any] = {SOURCES: frozenset(uid for uids in self.uids for uid in uids)}
        targets = [
            t
            for t, spec in zip(self.outputs, self.path.specs, strict=False)
            if is_differentiable(spec[1])
        ]
        for target, seed in zip(targets, seeds, strict=True):
            add_cotangent(
                grads, target.uid, seed if isinstance(seed, Tensor) else make_tensor(seed)
            )
        found = backward_pass(self.record, grads, recorded=True, release=True)
        totals = []
        for uids in self.uids:
            parts = [found[uid] for uid in uids if uid in found]
            total = parts[0] if parts else None
            for part in parts[1:]:
                total = total + part
            totals.append(total)
        return totals
