"""User functions of elements, called as compiled graphs where possible, otherwise as Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.core.composite_tensor import CompositeTensor
from gradtape.core.context import current_trace, local
from gradtape.core.dims import UnknownSizeError
from gradtape.core.lazy_array import UnknownRankError
from gradtape.core.spec import TensorSpec
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.graph.guard import ValueRead
from gradtape.graph.outer_tensor import use_local_tensor, use_stand_ins
from gradtape.jit.cache_key import describe
from gradtape.jit.concrete_function import ConcreteFunction
from gradtape.jit.function import Function
from gradtape.jit.function_cache import MOST_SIGNATURES
from gradtape.jit.run_mode import RunMode
from gradtape.ops.raw_array import make_virtual_array
from gradtape.pipeline.element.arity import check_arity
from gradtape.pipeline.element.element import call_user_function
from gradtape.pipeline.element.output_spec import infer_output, is_plain_spec
from gradtape.pipeline.element.random_access import MappedRows, Rows, make_packer
from gradtape.pipeline.element.structure import flatten_element, map_element
from gradtape.pipeline.iteration import Iteration, current_iteration, use_iteration
from gradtape.pipeline.outer_tensor import find_outer_tensors, read_outer
from gradtape.pipeline.transformation.random_choice import RandomSource
from gradtape.pipeline.transformation.vectorized_map import vectorize_graph
from gradtape.state.random.function_stream import switch_iteration
from gradtape.state.random.seed import SEEDS
from gradtape.state.random.stream import FunctionStreams


class UserFunction(RandomSource):
    """A user function that `Dataset.map` and similar methods call for every element.

    Attributes:
        outer: the outer tensors that the function refers to; their values are further arguments.
        plans: by shapes and dtypes of the components, the plan that runs the graph. None where
            the graph has guards, side effects or variables.
    """

    def __init__(self, python_function: Any, method: str = "map") -> None:
        """Compile `python_function` when it is first called; `method` of Dataset calls it."""
        self.method = method
        self.python_function = python_function
        self.plans: dict[Any, MapPlan | None] = {}
        name = getattr(python_function, "__name__", "map_func")
        self.outer = find_outer_tensors(python_function)
        own = self.call_with_outer if self.outer else python_function
        if isinstance(python_function, Function) and not self.outer:
            own = lambda *element: python_function(*element)  # noqa: E731  traced in a graph of its own
        self.own = own
        self.function = Function(own, name)
        self.function.warns_of_retracing = (
            False  # each dataset has its own Function, so retracing is normal
        )
        self.streams = self.function.streams = FunctionStreams((SEEDS.seed,))

    def __call__(self, *element: Any) -> Any:
        """Call the compiled function; call the Python function if there are composite tensors."""
        try:
            if all(has_no_composites(part) for part in element):
                return self.function(*element)
            return self.own(*element)
        except TypeError:
            own = element[: len(element) - len(self.outer)]
            check_arity(self.python_function, own, self.method)
            raise

    def call_with_outer(self, *args: Any) -> Any:
        """Call the Python function; the last arguments take the places of its outer tensors."""
        count = len(args) - len(self.outer)
        with use_stand_ins(self.outer, args[count:]):
            return map_element(use_local_tensor, self.python_function(*args[:count]))

    def add_outer(self, element: Any, work: Iteration | None) -> Any:
        """An element with the outer tensors; with their values in an iteration outside traces."""
        parts = element if type(element) is tuple else (element,)
        if current_trace():
            return (*parts, *self.outer)
        with use_iteration(work or current_iteration.active):
            return (*parts, *map(read_outer, self.outer))

    def apply(self, element: Any, work: Iteration | None = None) -> Any:
        """Apply the function to an element; the result is an element.

        Its random ops restart with every iteration: `work`, or else the current one.
        """
        if self.outer:
            element = self.add_outer(element, work)
        if local.recorders or not RunMode.quick:
            return self.call_in_iteration(element, work)
        tensors: list[Any] = []
        variables: list[Any] = []
        args = element if type(element) is tuple else (element,)
        key: list[Any] = []
        describe(args, key, tensors, variables, ())
        known = self.function._cache.get(tuple(key))
        if known is not None:
            executable = known.executable
            if executable is not None and executable.gives_elements:
                return executable.run(tensors, variables)
        result = self.call_in_iteration(element, work)
        self.note_plan(element, known)
        return result

    def note_plan(self, element: Any, known: Any) -> None:
        """Note the plan for such elements, and whether later calls can run it directly."""
        executable = known.executable if known is not None else None
        if executable is not None and executable.gives_elements is None:
            path = executable.path
            is_random = any(getattr(v, "_is_random", False) for v in path.states)
            is_element = type(path.structure) is not list and make_result_packer(path) is not None
            executable.gives_elements = is_element and not is_random
        raws: list[Any] = [getattr(leaf, "_array", None) for leaf in flatten_element(element)]
        if any(raw is None for raw in raws):
            return
        key = tuple([(raw.shape, raw.dtype) for raw in raws])
        plan = self.plans.get(key)
        if key not in self.plans or (plan is not None and not plan.is_valid()):
            if len(self.plans) >= MOST_SIGNATURES:
                self.plans.clear()
            self.plans[key] = self.find_plan(element)

    def call_in_iteration(self, element: Any, work: Iteration | None) -> Any:
        """Call the function with the random streams of this iteration."""
        work = work or current_iteration.active
        if work is not None and self.streams.iteration is not work:
            switch_iteration(self.streams, work)
        return call_user_function(self, element)

    def call_in_trace(self, *element: Any) -> Any:
        """Call the Python function on the tensors of a trace without values."""
        try:
            return self.function.traced_function()(*element, *self.outer)
        except TypeError:
            check_arity(self.python_function, element, self.method)
            raise

    def infer_output_spec(self, spec: Any) -> Any:
        """The spec of the results for elements of `spec`, by tracing without values.

        The first call for such elements then finds the trace.
        """
        if is_plain_spec(spec) and not current_trace() and not self.outer:
            found = self.trace_specs(spec)
            if found is not None:
                return found
        return infer_output(self.call_in_trace, spec)

    def trace_specs(self, spec: Any) -> Any:
        """The specs of the results by one trace; None if it needs values or is too large."""
        args = spec if type(spec) is tuple else (spec,)
        try:
            concrete = ConcreteFunction(self.function, args, {}, blindly=True)
        except (ValueRead, UnknownSizeError, UnknownRankError):
            return None
        except TypeError:
            check_arity(self.python_function, args, self.method)
            raise
        if concrete._path is None:
            return None
        found = concrete.structured_outputs
        leaves = flatten_element(found)
        if not leaves or not all(isinstance(leaf, TensorSpec) for leaf in leaves):
            return None
        return tuple(found) if type(found) is list else found

    def find_plan(self, element: Any) -> MapPlan | None:
        """The plan that runs the graph for such elements; None if the graph is too complex."""
        args = element if type(element) is tuple else (element,)
        if not all(has_no_composites(part) for part in args):
            return None
        try:
            call = self.function._signature.bind(args, {})
        except TypeError:  # the call itself raises it
            return None
        compiled = self.function._cache.get(call.key)
        if compiled is None or compiled.only_path is None or compiled.only_path.states:
            return None
        return MapPlan(compiled)

    def find_plan_for_spec(self, spec: Any) -> MapPlan | None:
        """The plan for elements of `spec`, if they were traced before."""
        leaves = flatten_element(spec)
        if not all(isinstance(s, TensorSpec) and s.shape.is_fully_defined() for s in leaves):
            return None
        shapes = [tuple(s.shape.as_list()) for s in leaves]
        kinds = [np.dtype(s.dtype.as_numpy_dtype) for s in leaves]
        key = tuple(zip(shapes, kinds, strict=True))
        if key not in self.plans:
            found = self.find_plan(map_element(make_virtual_tensor, spec))
            if found is not None:
                self.plans[key] = found
        plan = self.plans.get(key)
        return plan if plan is not None and plan.is_valid() else None

    def is_pure(self, spec: Any) -> bool:
        """Whether the function was traced for such elements and never had side effects."""
        if self.outer:
            return False
        is_traced = self.find_plan_for_spec(spec) is not None or bool(self.plans)
        return is_traced and None not in self.plans.values()

    def map_rows(self, rows: Rows, spec: Any) -> Rows | None:
        """The function of `rows`, as rows; None if it cannot run on batches."""
        plan = None if self.outer else self.find_plan_for_spec(spec)
        if plan is None or plan.batch_function is None:
            return None
        return MappedRows(rows, self.apply, plan.run_on_batch, plan.pack)


class MapPlan:
    """The compiled graph of a function without side effects or variables, for raw arrays."""

    def __init__(self, compiled: Any) -> None:
        """Use the only path of `compiled`."""
        path = self.path = compiled.only_path
        self.compiled = compiled
        self.captures = [t._array for t in path.captures]
        self.pack = make_result_packer(path)
        arguments = len(path.graph.inputs) - len(self.captures)
        self.batch_function = (
            vectorize_graph(path.graph, arguments) if self.pack is not None else None
        )

    def is_valid(self) -> bool:
        """Whether the function was not traced again since."""
        return self.compiled.only_path is self.path and not RunMode.eager

    def run_on_batch(self, raws: list[Any], count: int) -> list[Any]:
        """The raw results for `count` rows."""
        assert self.batch_function is not None
        return self.batch_function([*raws, *self.captures], count)


def make_virtual_tensor(spec: TensorSpec) -> Tensor:
    """A tensor of this spec for a cache key; it takes no memory and has no value."""
    return make_tensor(make_virtual_array(spec.shape.as_list(), spec.dtype.as_numpy_dtype))


def make_result_packer(path: Any) -> Callable[[list[Any]], Any] | None:
    """The function that packs results of a path as an element; None if they need conversion."""
    structure = path.structure
    if type(structure) is list:
        structure = tuple(structure)
    leaves = flatten_element(structure)
    if not leaves or not all(isinstance(leaf, Tensor) for leaf in leaves):
        return None
    return make_packer(structure)


def has_no_composites(part: Any) -> bool:
    """Whether a part of an element contains no composite tensors."""
    if isinstance(part, Tensor):
        return True
    if isinstance(part, dict):
        return all(map(has_no_composites, part.values()))
    if isinstance(part, (tuple, list)):
        return all(map(has_no_composites, part))
    return not isinstance(part, CompositeTensor)
