"""ConcreteFunction: a function for one signature; with specs it is traced on stand-in arrays."""

from __future__ import annotations

from typing import Any

from gradtape.core import nest
from gradtape.core.context import use_recorders
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.ragged.spec import RaggedTensorSpec
from gradtape.core.ragged.tensor import RaggedTensor
from gradtape.core.shapes import TensorShape
from gradtape.core.sparse_tensor import SparseTensor, SparseTensorSpec
from gradtape.core.spec import TensorSpec
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.graph.graph_def import GraphDef, NodeDef
from gradtape.graph.guard import ValueRead
from gradtape.graph.trace import Trace
from gradtape.jit.abstract_path import trace_abstractly
from gradtape.jit.cache_key import is_array
from gradtape.jit.guard_tree import GuardTree
from gradtape.jit.open_signature import OpenTrace
from gradtape.jit.signature import Call
from gradtape.jit.signature_repr import ConcreteFunctionBase, make_function_type
from gradtape.jit.trace_path import TracedPath, convert_results
from gradtape.ops.raw_array import make_stand_in_array, make_virtual_array
from gradtape.state.random.stream import FunctionStreams
from gradtape.tape.source import variable_of

PROBE_SIZES = (3, 5)  # two sizes for an unknown dimension; results that differ are unknown too


class ConcreteFunction(ConcreteFunctionBase):
    """A function of tensors for one signature; its Python arguments are fixed.

    Attributes:
        structured_input_signature: specs and Python values, as (args, kwargs).
        structured_outputs: specs of the results.
    """

    _saves_as_function = True

    def __init__(
        self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], blindly: bool = False
    ) -> None:
        """Trace `function` for these specs and values; with `blindly`, never read values."""
        self._function = function
        self._forbids_values = blindly
        self._streams = function.streams or FunctionStreams()
        try:
            bound = function._signature.parameters.bind(
                *fill_from_input_signature(function, args), **kwargs
            )
        except TypeError as error:
            raise TypeError(f"get_concrete_function: {error} of the function.") from None
        bound.apply_defaults()
        self._path: TracedPath | None = None
        self._is_abstract = False  # whether it was traced without values
        self._is_runnable = True  # whether calls of known sizes can run the path
        self._is_composite = any(is_composite(v) for v in nest.flatten((bound.args, bound.kwargs)))
        if self._is_composite:  # there are no stand-ins for ragged and sparse tensors
            given = (bound.args, bound.kwargs)
            self._args, self._kwargs = nest.map_structure(composite_spec_of, given)
            self._specs, self._returned = [], None
            self._register_signature()
            return
        names = iter(function.parameters)
        self._args = tuple([describe_argument(v, next(names, "args")) for v in bound.args])
        self._kwargs = {k: describe_argument(v, k) for k, v in bound.kwargs.items()}
        self._specs = [
            leaf
            for leaf in nest.flatten((self._args, self._kwargs), expand_composites=True)
            if isinstance(leaf, TensorSpec)
        ]
        values = nest.flatten((bound.args, bound.kwargs), expand_composites=True)
        self._examples = [v for v in values if isinstance(v, TensorSpec) or is_array(v)]
        known = all(spec.shape.is_fully_defined() for spec in self._specs)
        if not known:
            self._register_signature()
        key = self._make_probe_call(PROBE_SIZES[0]).key if known else None
        compiled = function._cache.get(key) if known else None
        if compiled is not None and compiled.only_path is not None:
            self._path = compiled.only_path
            self._returned = nest.map_structure(result_spec_of, compiled.only_path.structure)
            return
        self._is_abstract = self._trace_abstractly()
        if not self._is_abstract:
            self._path, self._returned = self._try_trace(PROBE_SIZES[0])
        if self._path is None:
            self._register_signature()
        if (
            known
            and self._is_runnable
            and self._path is not None
            and not self._path.guards
            and self._returned is not None
        ):
            compiled = function.specialization_for(self._make_probe_call(PROBE_SIZES[0]))
            if compiled.tree is None:
                compiled.adopt(GuardTree(self._path), self._path)
                compiled.streams = self._streams

    def _register_signature(self) -> None:
        """Register this signature with the function, so that a saved model contains it."""
        if (self._args, self._kwargs) not in self._function.requested_calls:
            self._function.requested_calls.append((self._args, self._kwargs))

    @property
    def name(self) -> str:
        """The name of the Python function."""
        return str(self._function.name)

    @property
    def function_type(self) -> Any:
        """The signature, with specs of arguments and results as annotations."""
        parameters = self._function._signature.parameters
        returned = ... if self._returned is None else self.structured_outputs
        return make_function_type(parameters, self._args, self._kwargs, returned)

    @property
    def structured_input_signature(self) -> tuple[Any, Any]:
        """Specs and Python values of the arguments, as (args, kwargs)."""
        return self._args, self._kwargs

    @property
    def structured_outputs(self) -> Any:
        """Specs of the results; sizes that depend on the arguments are None."""
        if self._returned is None:
            raise NotImplementedError(
                f"{self.name}: structured_outputs is not available, because the results depend on "
                "values. Call the function to see them."
            )
        if self._is_abstract or all(spec.shape.is_fully_defined() for spec in self._specs):
            return self._returned
        _, other = self._try_trace(PROBE_SIZES[1])
        return nest.map_structure(merge_specs, self._returned, other)

    @property
    def inputs(self) -> list[TensorSpec]:
        """Specs of the tensors among the arguments."""
        return list(self._specs)

    @property
    def outputs(self) -> list[Any]:
        """Specs of the tensors returned."""
        return [leaf for leaf in nest.flatten(self.structured_outputs) if leaf is not None]

    @property
    def captured_inputs(self) -> list[Any]:
        """Tensors that the function captures."""
        return list(self._path.captures) if self._path is not None else []

    @property
    def variables(self) -> tuple[Any, ...]:
        """Variables that the function reads or writes."""
        return tuple(v for v in self._path.states if type(v) is not int) if self._path else ()

    @property
    def graph(self) -> Any:
        """The graph; if Python branches on values, the graph of one path."""
        return FunctionGraph(self._path.graph, self._specs) if self._path is not None else None

    @property
    def inference_fn(self) -> ConcreteFunction:
        """The function of the tensors alone: this object."""
        return self

    def pretty(self) -> str:
        """The graph as readable lines."""
        if self._path is None:
            return f"{self.name}: depends on values, so it is traced when it is called."
        return str(self._path.graph.pretty())

    @public
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function.

        Args:
            *args: the arguments; Python values may be left out.
            **kwargs: arguments by name.

        Raises:
            TypeError: if an argument is missing or too many are given.
            InvalidArgumentError: if a tensor does not have the dtype of its spec.
        """
        if self._is_composite:
            return self._function(*args, **kwargs)
        given = self._match_arguments(args, kwargs)
        tensors = []
        for i, (spec, value) in enumerate(zip(self._specs, given, strict=True)):
            tensor = convert(value, None if isinstance(value, Tensor) else spec.dtype)
            if tensor.dtype is not spec.dtype:
                raise InvalidArgumentError(
                    f"cannot compute {self.name} as input #{i}(zero-based) was expected to be a "
                    f"{spec.dtype.name} tensor but is a {tensor.dtype.name} tensor."
                )
            if not spec.shape.is_compatible_with(tensor.shape):
                raise TypeError(
                    f"Binding inputs to tf.function failed due to `Can not cast {tensor!r} to "
                    f"{spec!r}`."
                )
            tensors.append(value if variable_of(value) is not None else tensor)
        args, kwargs = self._pack_arguments(tensors)
        return self._function(*args, **kwargs)

    def add_to_graph(self, g: Any = None) -> None:
        """Do nothing: a graph refers to the functions that it calls."""

    def add_gradient_functions_to_graph(self, g: Any = None) -> None:
        """Do nothing: gradients are made when they are needed."""

    def _match_arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """The argument for each spec."""
        flat = nest.flatten((args, kwargs), expand_composites=True)
        if kwargs or len(flat) != len(self._specs) or not all(map(has_dtype, flat)):
            return self._match_by_name(args, kwargs)
        return flat

    def _match_by_name(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """The argument for each spec, matched by position and by name."""
        names = list(self._function.parameters)
        given = dict(zip(names, args, strict=False)) | kwargs
        values: list[Any] = []
        wanted = [*zip(names, self._args, strict=False), *self._kwargs.items()]
        for name, description in wanted:
            specs = [s for s in nest.flatten(description) if isinstance(s, TensorSpec)]
            if not specs:
                check_literal(given.pop(name, description), description)
                continue
            if name not in given:
                raise TypeError(
                    "Binding inputs to tf.function failed due to `missing a required argument: "
                    f"{name!r}`. Received args: {args} and kwargs: {kwargs}."
                )
            values += select_tensors(given.pop(name), description)
        if given or len(values) != len(self._specs) or len(args) > len(self._args):
            raise TypeError(
                f"Binding inputs to tf.function failed: {len(self._specs)} tensors expected. "
                f"Received args: {args} and kwargs: {kwargs}."
            )
        return values

    def _pack_arguments(self, tensors: list[Any]) -> tuple[Any, Any]:
        """The arguments of the Python function, with tensors in place of the specs."""
        rest = iter(tensors)
        args, kwargs = nest.map_structure(
            lambda leaf: next(rest) if isinstance(leaf, TensorSpec) else leaf,
            (self._args, self._kwargs),
        )
        return args, kwargs

    def _make_stand_ins(self, size: int, make: Any = make_stand_in_array) -> list[Any]:
        """Stand-in arrays for the specs, by `make`; example values where they were given."""
        made = [make(concrete_sizes(s.shape, size), s.dtype.as_numpy_dtype) for s in self._specs]
        if len(made) != len(self._examples):
            return made
        pairs = zip(made, self._examples, strict=True)
        return [raw if isinstance(one, TensorSpec) else convert(one)._array for raw, one in pairs]

    def _make_probe_call(self, size: int) -> Call:
        """The call of the function on stand-ins."""
        args, kwargs = self._pack_arguments(
            [make_tensor(raw) for raw in self._make_stand_ins(size, make_virtual_array)]
        )
        return Call(args, kwargs)

    def _trace_abstractly(self) -> bool:
        """Trace without values; return False if the function needs them."""
        if any(spec.shape.rank is None for spec in self._specs):
            return False
        traces = self._function.traces
        try:
            traced = trace_abstractly(
                self._function, self._specs, self._pack_arguments, self._streams
            )
        except Exception:  # stand-ins may tell more, or fail with the user's error
            traced = None
        if traced is None:
            self._function.traces = traces
            return False
        self._path, self._returned = traced.path, traced.returned
        self._is_runnable = traced.is_runnable
        if not traced.is_runnable:
            return True
        if not traced.sizes.unknowns:
            self._path = traced.path.specialise({})
        else:
            shapes = [spec.shape for spec in self._specs]
            call = self._make_probe_call(PROBE_SIZES[0])
            self._function.add_open_trace(call, shapes, OpenTrace(traced.path, traced.sizes))
        return True

    def _try_trace(self, size: int) -> tuple[TracedPath | None, Any]:
        """Trace on stand-ins; return the path and specs of the results, or None for both.

        If the function branches on values, the path is that of the stand-ins or example values.
        """
        try:
            return self._trace_at_size(size, refuses=True)
        except ValueRead:
            pass
        try:
            return (
                (None, None) if self._forbids_values else self._trace_at_size(size, refuses=False)
            )
        except (ValueRead, InvalidArgumentError):
            return None, None  # it has side effects, or fails on the stand-ins

    def _trace_at_size(self, size: int, refuses: bool) -> tuple[TracedPath | None, Any]:
        """Trace on stand-ins; with `refuses`, reading a value raises `ValueRead`."""
        function = self._function
        options = function.trace_options._replace(
            forbids_values=refuses, forbids_effects=True, uses_stand_in_data=not refuses
        )
        trace = Trace(options, self._streams)
        pairs = zip(self._make_stand_ins(size), self._specs, strict=True)
        inputs = [trace.add_input(raw, spec.name or "") for raw, spec in pairs]
        args, kwargs = self._pack_arguments(inputs)
        variables = [variable_of(v) for v in nest.flatten((args, kwargs))]
        try:
            with use_recorders((trace,)):
                if size == PROBE_SIZES[0]:
                    function.traces += 1
                result = function.traced_function()(*args, **kwargs)
                returned = convert_results(result, function.name)
                path = TracedPath(trace, returned, [v for v in variables if v is not None])
                specs = (
                    None
                    if trace.has_stand_in_data
                    else nest.map_structure(result_spec_of, returned)
                )
                if not trace.versions.created:
                    return (None if trace.give_up_reason else path), specs
                function.note_created_variables(trace.versions)
        finally:
            trace.close()
        self._streams.clear()
        return self._trace_at_size(
            size, refuses
        )  # the first run created variables; this one uses them


def has_dtype(leaf: Any) -> bool:
    """Whether an argument is a tensor, a variable or an array."""
    return isinstance(leaf, Tensor) or variable_of(leaf) is not None or hasattr(leaf, "dtype")


def check_literal(value: Any, literal: Any) -> None:
    """Raise unless a Python value is the one that the function was traced with."""
    if value is not literal and value != literal:
        raise TypeError(
            f"Binding inputs to tf.function failed due to `Can not cast {value!r} to "
            f"Literal[{literal!r}]`. Call the tf.function instead, or trace it with this value."
        )


def select_tensors(value: Any, description: Any) -> list[Any]:
    """The tensors of a nested argument, after a check of the Python values in it."""
    leaves, wanted = nest.flatten(value, expand_composites=True), nest.flatten(description)
    if all(isinstance(one, TensorSpec) for one in wanted):
        return leaves
    if len(leaves) != len(wanted):
        raise TypeError(
            f"Binding inputs to tf.function failed: an argument like {description} was expected. "
            f"Received {value}."
        )
    tensors = []
    for leaf, one in zip(leaves, wanted, strict=True):
        if isinstance(one, TensorSpec):
            tensors.append(leaf)
        else:
            check_literal(leaf, one)
    return tensors


class FunctionGraph:
    """The graph of a concrete function, for inspection."""

    def __init__(self, graph: Any, specs: list[TensorSpec]) -> None:
        """Wrap `graph`, whose arguments have these specs."""
        self._graph = graph
        self._names = [spec.name or "args" for spec in specs]

    def as_graph_def(self) -> GraphDef:
        """The nodes in the form of TensorFlow's GraphDef; the ops are gradtape's primitives."""
        return GraphDef(self._graph, self._names)

    def get_operations(self) -> list[NodeDef]:
        """The nodes, each after those it reads."""
        return list(self.as_graph_def())

    def get_operation_by_name(self, name: str) -> NodeDef:
        """The node of this name.

        Raises:
            KeyError: if there is none.
        """
        for node in self.as_graph_def():
            if node.name == name:
                return node
        raise KeyError(f"The name {name!r} refers to an Operation not in the graph.")

    def pretty(self) -> str:
        """The graph as readable lines."""
        return str(self._graph.pretty())

    def __getattr__(self, name: str) -> Any:
        """Any other attribute of the graph."""
        return getattr(self._graph, name)


def fill_from_input_signature(function: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments; without any, the specs of `input_signature`."""
    specs = function.input_signature
    return tuple(specs) if specs is not None and not args else args


def describe_argument(value: Any, name: str) -> Any:
    """An argument with specs in place of tensors and arrays."""

    def leaf(one: Any) -> Any:
        if isinstance(one, TensorSpec):
            return TensorSpec(one.shape, one.dtype, one.name or name)
        if isinstance(one, Tensor):
            return TensorSpec(one.shape, one.dtype, name)
        if hasattr(one, "__array__") and hasattr(one, "nbytes"):
            tensor = convert(one)
            return TensorSpec(tensor.shape, tensor.dtype, name)
        return one

    return nest.map_structure(leaf, value)


def is_composite(value: Any) -> bool:
    """Whether a value or spec is ragged or sparse, which means several tensors."""
    return isinstance(value, (RaggedTensorSpec, SparseTensorSpec, RaggedTensor, SparseTensor))


def composite_spec_of(value: Any) -> Any:
    """The spec of a tensor, ragged or sparse tensor; any other value unchanged."""
    if isinstance(value, (RaggedTensor, SparseTensor)):
        return value._type_spec
    return TensorSpec(value.shape, value.dtype) if isinstance(value, Tensor) else value


def concrete_sizes(shape: TensorShape, size: int) -> list[int]:
    """The sizes of a shape, with `size` for unknown ones."""
    if shape.rank is None:
        return [size] * (1 + (size != PROBE_SIZES[0]))  # also another rank
    return [size if n is None else n for n in shape.as_list()]


def result_spec_of(value: Any) -> Any:
    """The spec of a result."""
    return TensorSpec(value.shape, value.dtype) if isinstance(value, Tensor) else value


def merge_specs(a: Any, b: Any) -> Any:
    """The most specific spec that covers the results of two runs with different sizes."""
    if not isinstance(a, TensorSpec):
        return a
    if a.shape.rank != b.shape.rank:
        return TensorSpec(None, a.dtype)
    sizes = zip(a.shape.as_list(), b.shape.as_list(), strict=True)
    return TensorSpec([m if m == n else None for m, n in sizes], a.dtype)
