"""Bodies of loops and branches: subgraphs, how they are traced, compiled and differentiated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtape.core.context import local, use_recorders
from gradtape.core.dims import Dim
from gradtape.core.dispatch import TapeRecord
from gradtape.core.dtypes import is_differentiable
from gradtape.core.errors import InvalidArgumentError
from gradtape.core.open_shape import substitute, unknowns_in
from gradtape.core.primitive import Spec
from gradtape.core.size_atom import Unknown
from gradtape.core.size_function import Env
from gradtape.core.symbolic_tensor import SymbolicTensor
from gradtape.graph.body_plan import BodyPlan, SharedPlans, find_plan_unknowns
from gradtape.graph.graph import Constant, Graph, Node, Operand
from gradtape.graph.replay import (
    install_version,
    refuse_effect,
    replay,
    tensor_at,
)
from gradtape.graph.size_tensor import make_zeros_tensor
from gradtape.graph.specialise import OpenGraph, graph_unknowns
from gradtape.graph.trace import Trace
from gradtape.graph.trace_options import TraceOptions
from gradtape.tape.backward import add_cotangent, backward_pass
from gradtape.tape.indexed_slices import SOURCES, SparseCotangent, densify_cotangent

MAX_SPECIALISED = 64  # bodies for known sizes that a body of unknown sizes keeps


class Body:
    """A subgraph with its compiled plan and its derivatives.

    Attributes:
        adjoints: backward bodies of a loop with this body, by the arguments they were made for.
        residual_carries: positions of the loop carries that the adjoint reads; None until known.
        connected_inputs: positions of the inputs that an output may have a derivative by; None
            until known.
    """

    def __init__(self, graph: Graph | None = None) -> None:
        """A body with this graph; with None, `make` makes the graph at the first run."""
        self._graph = graph
        self._plan = BodyPlan(graph)
        self._derivatives: dict[Any, Body] = {}
        self.adjoints: dict[Any, Any] = {}
        self.residual_carries: list[int] | None = None
        self.connected_inputs: frozenset[int] | None = None
        self._unknowns: list[Unknown] | None = None
        self._specialised: dict[Any, Body] = {}
        self._open_graph: OpenGraph | None = None  # the graph, if it has been specialised
        self._plans: SharedPlans | None = None  # of the bodies for known sizes

    def __repr__(self) -> str:
        """The number of nodes."""
        return f"<{'?' if self._graph is None else len(self._graph.nodes)} nodes>"

    def graph(self, raws: tuple[Any, ...]) -> Graph:
        """The graph; if it does not exist yet, it is made from the input values `raws`."""
        if self._graph is None:
            if self._plan.graph is None:
                self._plan.graph = self.make_graph(raws)
            self._graph = self._plan.graph
        return self._graph

    @property
    def existing_graph(self) -> Graph | None:
        """The graph, or None if it has not been made yet."""
        return self._graph

    def make_graph(self, raws: tuple[Any, ...]) -> Graph:
        """Make the graph from values of the inputs."""
        raise NotImplementedError

    def output_specs(self, inputs: list[Spec]) -> list[Spec]:
        """The specs of the outputs, given those of the inputs."""
        graph = self._graph
        assert graph is not None
        return [
            Spec((o.raw.shape, o.raw.dtype)) if isinstance(o, Constant) else graph.specs[o]
            for o in graph.outputs
        ]

    def find_unknowns(self) -> set[Unknown]:
        """The unknown sizes that the body depends on."""
        return set() if self._graph is None else graph_unknowns(self._graph)

    def unknowns_in_dims(self) -> set[Unknown]:
        """The same, found once."""
        if self._unknowns is None:
            self._unknowns = sorted(self.find_unknowns(), key=lambda unknown: unknown.order)
        return set(self._unknowns)

    def find_plan_unknowns(self) -> set[Unknown]:
        """Those of them that the plan depends on."""
        assert self._graph is not None
        return find_plan_unknowns(self._graph)

    def has_dims(self) -> bool:
        """Whether the body depends on unknown sizes."""
        return bool(self.unknowns_in_dims())

    def substitute_dims(self, env: Env) -> Body:
        """The body for known sizes; one for each choice of the sizes that it depends on."""
        if not self.has_dims():
            return self
        assert self._unknowns is not None
        key = tuple([env.get(unknown) for unknown in self._unknowns])
        if Dim in map(type, key):
            return self.specialise(env)  # for another trace, which ends
        made = self._specialised.get(key)
        if made is None:
            if len(self._specialised) >= MAX_SPECIALISED:
                self._specialised.clear()
            made = self._specialised[key] = self.specialise(env)
        return made

    def specialise(self, env: Env) -> Body:
        """A new body for known sizes."""
        if self._open_graph is None or self._plans is None:
            assert self._graph is not None
            self._open_graph = OpenGraph(self._graph)
            self._plans = SharedPlans(self.find_plan_unknowns())
        made = Body(self._open_graph.specialise(env)[0])
        made._plan = self._plans.find(made._graph, env)
        made.residual_carries = self.residual_carries
        return made

    def run(self, *raws: Any) -> tuple[Any, ...]:
        """Run on raw inputs."""
        if self._graph is None:
            self.graph(raws)
        return self._plan.run(*raws)

    def in_place_carries(self, carries: int) -> tuple[int, ...]:
        """Positions of the loop carries that the body can update in place; after the first run."""
        return self._plan.in_place_carries(carries)

    def run_in_place(self, *raws: Any) -> tuple[Any, ...]:
        """Run on raw inputs and write into the carries that `in_place_carries` lists."""
        return self._plan.run_in_place(*raws)

    def count_differentiable_outputs(self) -> int:
        """How many outputs have cotangents."""
        assert self._graph is not None
        specs = self._graph.specs
        outputs = self._graph.outputs
        dtypes = [o.raw.dtype if isinstance(o, Constant) else specs[o].dtype for o in outputs]
        return sum(map(is_differentiable, dtypes))

    def derivative(self, places: tuple[int, ...], lead: tuple[int, ...]) -> Body:
        """The body that maps inputs and output cotangents to the cotangents of `places`."""
        key = (places, lead)
        if key not in self._derivatives:
            self._derivatives[key] = Derivative(self, places, lead)
        return self._derivatives[key]


class Derivative(Body):
    """The pullback of a body: takes inputs and cotangents, returns cotangents of some inputs."""

    def __init__(self, body: Body, places: tuple[int, ...], lead: tuple[int, ...]) -> None:
        """For the inputs at `places`; cotangents have the leading axes `lead`."""
        super().__init__()
        self.body = body
        self.places = places
        self.lead = lead

    def count_differentiable_outputs(self) -> int:
        """One for each place."""
        return len(self.places)

    def output_specs(self, inputs: list[Spec]) -> list[Spec]:
        """The specs of the inputs at `places`, with leading axes."""
        return [Spec((self.lead + inputs[i].shape, inputs[i].dtype)) for i in self.places]

    def find_unknowns(self) -> set[Unknown]:
        """Those of the body, and of the leading axes."""
        return self.body.unknowns_in_dims() | unknowns_in(self.lead)

    def specialise(self, env: Env) -> Body:
        """The pullback of the body for known sizes."""
        return self.body.substitute_dims(env).derivative(self.places, substitute(self.lead, env))

    def make_graph(self, raws: tuple[Any, ...]) -> Graph:
        """Replay the body under a tape, inside a trace of its own."""
        count = len(raws) - self.body.count_differentiable_outputs()
        graph = self.body.graph(raws[:count])
        if len(graph.inputs) != count:  # of a file: its body has other results than it declares
            raise InvalidArgumentError(
                "gradient: the results of a branch or loop must have the dtypes that the model "
                "declares. Save the model again."
            )
        trace = Trace(TraceOptions("derivative", forbids_values=True))
        with use_recorders((trace,)):
            inputs = [trace.add_input(raw) for raw in raws[:count]]
            seeds = [trace.add_input(raw) for raw in raws[count:]]
            answers = pull_back(graph, inputs, seeds, self.places, self.lead)
            outputs = trace.operands(answers)
        made = trace.make_graph(outputs)
        trace.close()
        return made


def pull_back(
    graph: Graph,
    inputs: list[Any],
    seeds: list[Any],
    places: tuple[int, ...],
    lead: tuple[int, ...],
    looked_up: frozenset[int] = frozenset(),
) -> list[Any]:
    """Cotangents of the inputs at `places`, zeros for inputs that no output depends on.

    For places in `looked_up` the cotangents are Slices or None.
    """
    known = TapeRecord(False)
    known.thread_dict = local.__dict__
    for i in places:
        known.watch(inputs[i].uid)
    env = dict(zip(graph.inputs, inputs, strict=True))
    with use_recorders((*local.recorders, known)):
        replay(graph.nodes, env, refuse_effect, install_version)
    targets = [tensor_at(env, o) for o in graph.outputs]
    grads: dict[int, Any] = {SOURCES: frozenset(inputs[i].uid for i in places)}
    wanted = [t for t in targets if is_differentiable(t._array.dtype)]
    for target, seed in zip(wanted, seeds, strict=True):
        add_cotangent(grads, target.uid, seed)
    found = backward_pass(known, grads, recorded=True, release=True)
    answers = []
    for i in places:
        t = found.get(inputs[i].uid)
        if i in looked_up:
            answers.append(t)
            continue
        if t is None:
            raw = inputs[i]._array
            t = make_zeros_tensor(lead + raw.shape, raw.dtype)
        answers.append(densify_cotangent(t) if type(t) is SparseCotangent else t)
    return answers


class BodyTrace:
    """A function traced into a list of nodes of its own, on formal inputs.

    Attributes:
        nodes: the nodes that it recorded.
        result: what the function returned.
        written_variables: variables that it assigned, by key, with their new versions.
    """

    def __init__(
        self,
        trace: Trace,
        function: Callable[..., Any],
        formals: list[Any],
        carried: dict[int, Any],
    ) -> None:
        """Trace `function(*formals)`; `carried` gives versions to variables, by key."""
        self.trace = trace
        versions = trace.versions
        before = versions.save()
        versions.replace(carried)
        try:
            with trace.record_body(hides_tapes=True) as body:
                self.result = function(*formals)
                newest = {key: tensor for key, (tensor, _) in before.items()}
                self.written_variables = versions.changed_since({**newest, **carried})
        finally:
            versions.restore(before)
        self.nodes = body.nodes
        self._tensors = body.tensors

    def outer_tensors(self, formals: list[Any], results: list[Any]) -> list[SymbolicTensor]:
        """Tensors of the outer trace that the body reads or returns."""
        made = {o for node in self.nodes for o in node.outputs}
        made |= {t._array.number for t in formals}
        lifted = [self.trace.as_traced(t) for t in results]
        returned = {t._array.number: t for t in lifted if isinstance(t, SymbolicTensor)}
        tensors = {**self._tensors, **returned}
        read = [i for node in self.nodes for i in node.reads()]
        return [tensors[i] for i in dict.fromkeys([*read, *returned]) if i not in made]


def make_body(
    trace: Trace, nodes: list[Node], inputs: list[SymbolicTensor], outputs: list[Operand]
) -> Body:
    """Make a body of nodes that were traced separately."""
    numbers = [t._array.number for t in inputs]
    return Body(Graph(numbers, nodes, outputs, trace.builder.specs))
