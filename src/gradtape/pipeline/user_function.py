"""User functions of elements, called as compiled graphs where possible, otherwise as Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.core.composite_tensor import CompositeTensor
from gradtape.core.context import local
from gradtape.core.spec import TensorSpec
from gradtape.core.tensor import EagerTensor, Tensor, eager
from gradtape.jit.concrete_function import ConcreteFunction
from gradtape.jit.function import MOST_SIGNATURES, Function, Mode
from gradtape.pipeline.current_pass import Pass, ongoing
from gradtape.pipeline.element.element import called
from gradtape.pipeline.element.output_spec import stand_in
from gradtape.pipeline.element.random_access import Mapped, Rows, packer
from gradtape.pipeline.element.structure import flatten
from gradtape.pipeline.transformation.random_choice import Chance
from gradtape.pipeline.transformation.vectorized_map import over_rows
from gradtape.state.random.function_stream import take_turns
from gradtape.state.random.seed import SEEDS
from gradtape.state.random.stream import Streams


class Traced(Chance):
    """A user function that `Dataset.map` and similar methods call for every element.

    Attributes:
        plans: by shapes and dtypes of the components, the plan that runs the graph. None where
            the graph has guards, side effects or variables.
    """

    def __init__(self, python_function: Any) -> None:
        """Compile `python_function` when it is first called."""
        self.python_function = python_function
        self.plans: dict[Any, Plan | None] = {}
        name = getattr(python_function, "__name__", "map_func")
        own = python_function
        if isinstance(python_function, Function):
            own = lambda *element: python_function(*element)  # noqa: E731  traced in a graph of its own
        self.function = Function(own, name)
        self.function.warns = False  # each dataset has its own Function, so retracing is normal
        self.streams = self.function.streams = Streams((SEEDS.seed,))

    def __call__(self, *element: Any) -> Any:
        """Call the compiled function; call the Python function if there are composite tensors."""
        if all(is_plain(part) for part in element):
            return self.function(*element)
        return self.python_function(*element)

    def of(self, element: Any, work: Pass | None = None) -> Any:
        """Apply the function to an element; the result is an element.

        Its random ops restart with every iteration: `work`, or else the current one.
        """
        if local.recorders:
            return self.called(element, work)
        kind = type(element)
        try:
            if kind is EagerTensor:
                raws = [element._array]
            elif kind is tuple:
                raws = [part._array for part in element]
            else:
                raws = [leaf._array for leaf in flatten(element)]
        except AttributeError:  # nested, or no tensor
            raws = [getattr(leaf, "_array", None) for leaf in flatten(element)]
            if any(raw is None for raw in raws):
                return self.called(element, work)
        key = tuple([(raw.shape, raw.dtype) for raw in raws])
        plan = self.plans.get(key)
        if plan is not None and plan.is_valid():
            return plan(raws)
        result = self.called(element, work)
        if key not in self.plans or plan is not None:
            if len(self.plans) >= MOST_SIGNATURES:
                self.plans.clear()
            self.plans[key] = self.plan_of(element)
        return result

    def called(self, element: Any, work: Pass | None) -> Any:
        """Call the function with the random streams of this iteration."""
        work = work or ongoing.now
        if work is not None and self.streams.turn is not work:
            take_turns(self.streams, work)
        return called(self, element)

    def tried(self, *element: Any) -> Any:
        """Call the function on a placeholder for an element, without changing variables."""
        if not all(is_plain(part) for part in element):
            return self.python_function(*element)
        call = self.function._signature.bind(element, {})
        return self.function.compiled_for(call).tried(call)

    def returns(self, spec: Any) -> Any:
        """Infer the spec of the results for elements of `spec`, by tracing on placeholders.

        Returns None if tracing is not enough: the function branches on values or has side effects.
        """
        args = spec if type(spec) is tuple else (spec,)
        leaves = flatten(spec)
        if not all(isinstance(s, TensorSpec) and s.shape.rank is not None for s in leaves):
            return None
        concrete = ConcreteFunction(self.function, args, {}, blindly=True)
        if concrete._path is None or concrete._path.guards:
            return None
        found = concrete.structured_outputs
        leaves = flatten(found)
        if not leaves or not all(isinstance(leaf, TensorSpec) for leaf in leaves):
            return None
        return tuple(found) if type(found) is list else found

    def plan_of(self, element: Any) -> Plan | None:
        """The plan that runs the graph for such elements; None if the graph is too complex."""
        args = element if type(element) is tuple else (element,)
        if not all(is_plain(part) for part in args):
            return None
        try:
            call = self.function._signature.bind(args, {})
        except TypeError:  # the call itself raises it
            return None
        compiled = self.function._cache.get(call.key)
        if compiled is None or compiled.only is None or compiled.only.states:
            return None
        return Plan(compiled)

    def plan_for(self, spec: Any) -> Plan | None:
        """The plan for elements of `spec`, if they were traced before."""
        leaves = flatten(spec)
        if not all(isinstance(s, TensorSpec) and s.shape.is_fully_defined() for s in leaves):
            return None
        shapes = [tuple(s.shape.as_list()) for s in leaves]
        kinds = [np.dtype(s.dtype.as_numpy_dtype) for s in leaves]
        key = tuple(zip(shapes, kinds, strict=True))
        if key not in self.plans:
            found = self.plan_of(stand_in(spec, 1))
            if found is not None:
                self.plans[key] = found
        plan = self.plans.get(key)
        return plan if plan is not None and plan.is_valid() else None

    def is_pure(self, spec: Any) -> bool:
        """Whether the function was traced for such elements and never had side effects."""
        is_traced = self.plan_for(spec) is not None or bool(self.plans)
        return is_traced and None not in self.plans.values()

    def over(self, rows: Rows, spec: Any) -> Rows | None:
        """The function of `rows`, as rows; None if it cannot run on batches."""
        plan = self.plan_for(spec)
        if plan is None or plan.many is None:
            return None
        return Mapped(rows, self.of, plan.on_batches, plan.pack)


class Plan:
    """The compiled graph of a function without side effects or variables, for raw arrays."""

    def __init__(self, compiled: Any) -> None:
        """Use the only path of `compiled`."""
        path = self.path = compiled.only
        self.compiled = compiled
        self.captures = [t._array for t in path.captures]
        self.run = compiled.planned(path).run
        self.results = path.results
        self.pack = pack_of(path)
        arguments = len(path.graph.inputs) - len(self.captures)
        self.many = over_rows(path.graph, arguments) if self.pack is not None else None

    def is_valid(self) -> bool:
        """Whether the function was not traced again since."""
        return self.compiled.only is self.path and not Mode.eager

    def __call__(self, raws: list[Any]) -> Any:
        """Run the graph on raw components; the result is an element."""
        outputs = self.run(*raws, *self.captures)
        if self.pack is None:
            tensors = [eager(raw) for raw in outputs[: self.results]]
            return called(self.path.packed, (tensors,))
        return self.pack([eager(raw) for raw in outputs[: self.results]])

    def on_batches(self, raws: list[Any], count: int) -> list[Any]:
        """The raw results for `count` rows."""
        assert self.many is not None
        return self.many([*raws, *self.captures], count)


def pack_of(path: Any) -> Callable[[list[Any]], Any] | None:
    """The function that packs results of a path as an element; None if they need conversion."""
    structure = path.structure
    if type(structure) is list:
        structure = tuple(structure)
    leaves = flatten(structure)
    if not leaves or not all(isinstance(leaf, Tensor) for leaf in leaves):
        return None
    return packer(structure)


def is_plain(part: Any) -> bool:
    """Whether a part of an element contains no composite tensors."""
    if isinstance(part, Tensor):
        return True
    if isinstance(part, dict):
        return all(map(is_plain, part.values()))
    if isinstance(part, (tuple, list)):
        return all(map(is_plain, part))
    return not isinstance(part, CompositeTensor)
