"""Paths: the graph of one execution path of a function, with its captures and variables."""

from __future__ import annotations

import math
from collections.abc import Iterable
from copy import copy
from typing import Any

from gradtape.compile.engine import EngineChoice
from gradtape.core import nest
from gradtape.core.convert import convert
from gradtape.core.dtypes import is_differentiable
from gradtape.core.open_shape import substitute
from gradtape.core.ports import JaxPort, devices
from gradtape.core.primitive import Spec
from gradtape.core.size_function import Env
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.devices.array import HOST, Device, DeviceArray
from gradtape.graph.graph import Constant, Effect, Graph, Operand
from gradtape.graph.graph_builder import operand_of
from gradtape.graph.guard import Guard
from gradtape.graph.specialise import OpenGraph
from gradtape.graph.trace import Trace
from gradtape.graph.trace_op import INSTALL
from gradtape.tape.source import variable_of


class TracedPath:
    """The result of a trace, without its values.

    Attributes:
        graph: inputs are the arguments, then the captures, then the variables; outputs are the
            results, then the new values of the variables that are written.
        captures: captured tensors.
        states: the variables, each a Variable or a position among the variable arguments.
        writes: positions in `states` of the variables that are written.
        checked: those of `writes` whose old value the graph reads.
        results: how many outputs are results.
        structure: structure of the function's result, with all leaves that are not tensors.
        places: for each leaf of `structure` the position of its output, or None.
        guards: the values that Python read.
        choice: the choice of the engine.
        plan: the plan, if `check_engine` has compiled it.
    """

    def __init__(self, trace: Trace, returned: Any, variables: list[Any]) -> None:
        """Make the path of a trace whose function has `output_places`."""
        self.structure = returned
        leaves = nest.flatten(returned, expand_composites=True)
        outputs: list[Operand] = []
        self.output_places: list[int | None] = []
        for leaf in leaves:
            if isinstance(leaf, Tensor):
                self.output_places.append(len(outputs))
                lifted = trace.as_traced(leaf)
                trace.failures.raise_if_used([lifted])
                outputs.append(operand_of(lifted))
            else:
                self.output_places.append(None)
        self.result_count = len(outputs)
        self.captures = [tensor for tensor, _ in trace.builder.captures.values()]
        keys = [v._key for v in variables]
        states = list(trace.versions.states.values())
        self.states: list[Any] = [
            keys.index(s.variable._key) if s.variable._key in keys else s.variable for s in states
        ]
        # A variable argument is identified by its position: other calls pass other variables.
        places = {key: -1 - i for i, key in enumerate(keys)}
        for node in trace.builder.nodes:
            if node.op is INSTALL and node.static["key"] in places:
                node.static = {"key": places[node.static["key"]]}
        self.writes = [i for i, s in enumerate(states) if s.is_written]
        outputs += [states[i].newest._array.number for i in self.writes]
        self.graph: Graph = trace.make_graph(outputs)
        first = len(self.graph.inputs) - len(states)
        _, read = self.graph.find_live()
        read.update([guard.number for guard in trace.log.guards])
        self.checked = [i for i in self.writes if self.graph.inputs[first + i] in read]
        self.guards: list[Guard] = trace.log.guards
        self.keys = [places.get(s.variable._key, s.variable._key) for s in states]
        self.effects = [n for n in self.graph.nodes if type(n.op) is Effect]
        self.has_constant_results = Constant in map(type, outputs)
        self.specs = tuple([Spec(self.operand_spec(o)) for o in outputs[: self.result_count]])
        self.is_differentiable = all(is_differentiable(spec.dtype) for spec in self.specs)
        self.forward_backward_cache: dict[Any, Any] = {}
        self.choice: EngineChoice = trace.options.choice or EngineChoice()
        if devices.active:
            self.choice = self.choice.for_device(trace.device or self.infer_device())
        if trace.replica_marks is not None:
            self.choice = self.choice.for_replicas(trace.replica_marks)
        self.plan: Any = None
        self.pack: Any = None  # makes the result from raw outputs; see `make_packer`
        self.open_graph: OpenGraph | None = None  # `graph`, if it has been specialised

    def specialise(self, env: Env, most_bytes: float = math.inf) -> TracedPath:
        """The path for known sizes, made from one of unknown sizes; see `OpenGraph.specialise`."""
        if self.open_graph is None:
            self.open_graph = OpenGraph(self.graph, [guard.number for guard in self.guards])
        made = copy(self)
        made.graph, positions = self.open_graph.specialise(env, most_bytes)
        specs = made.graph.specs
        made.guards = [g.specialise(positions[g.position], specs, env) for g in self.guards]
        made.effects = [node for node in made.graph.nodes if node.is_effect]
        made.specs = tuple([Spec((substitute(shape, env), dtype)) for shape, dtype in self.specs])
        made.has_constant_results = Constant in map(type, made.graph.outputs)
        made.forward_backward_cache = {}
        made.plan = made.pack = made.open_graph = None
        return made

    def operand_spec(self, operand: Operand) -> Any:
        """Shape and dtype of an operand."""
        if isinstance(operand, Constant):
            return (operand.raw.shape, operand.raw.dtype)
        return self.graph.specs[operand]

    def infer_device(self) -> Device | None:
        """The device if none was requested: an accelerator if a capture or variable is on one."""
        raws = [t._array for t in self.captures]
        raws += [v._stored_version()._array for v in self.states if type(v) is not int]
        if any(type(raw) is DeviceArray and raw.device is not HOST for raw in raws):
            return JaxPort.default_device()
        return None

    def check_engine(self) -> None:
        """Check that XLA can express the graph, if XLA is required.

        Raises:
            InvalidArgumentError: if it cannot.
        """
        if self.choice.is_xla_required:
            self.plan = self.choice.compile(self.graph, self.updates)

    @property
    def updates(self) -> dict[int, int]:
        """The outputs that are next values of variables, and the inputs with the present ones."""
        first = len(self.graph.inputs) - len(self.states)
        return {self.result_count + k: first + i for k, i in enumerate(self.writes)}

    def resolve_variables(self, given: list[Any]) -> list[Any]:
        """The variables of a call whose variable arguments are `given`."""
        return [given[s] if type(s) is int else s for s in self.states]

    def written_keys(self) -> list[int]:
        """Keys of the variables that are written."""
        return [self.keys[i] for i in self.writes]

    def result_tensors(self) -> list[Tensor]:
        """The tensors that the traced function returned."""
        leaves = nest.flatten(self.structure, expand_composites=True)
        return [leaf for leaf in leaves if isinstance(leaf, Tensor)]


def convert_results(result: Any, name: str) -> Any:
    """The result of a traced function, with variables and Python values as tensors.

    Raises:
        TypeError: if a leaf cannot be converted.
    """

    def leaf(value: Any) -> Any:
        if value is None or isinstance(value, Tensor):
            return value
        if hasattr(value, "_read_next") or hasattr(value, "element_spec"):
            return value
        variable = variable_of(value)
        try:
            return convert(value if variable is None else variable._read())
        except (TypeError, ValueError):
            raise TypeError(
                "To be compatible with tf.function, Python functions must return zero or more "
                f"Tensors or ExtensionTypes or None values; in compilation of {name}, found return "
                f"value of type {type(value).__name__}, which is not a Tensor or ExtensionType."
            ) from None

    return nest.map_structure(leaf, result, expand_composites=True)


def wrap_results(raws: Iterable[Any]) -> list[Tensor]:
    """Tensors around raw results."""
    return [make_tensor(raw) for raw in raws]
