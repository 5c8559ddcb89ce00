"""ConcreteFunction: a function for one signature; with specs it is traced without values."""

from __future__ import annotations

from typing import Any

from gradtape.core import nest
from gradtape.core.convert import convert
from gradtape.core.dims import UnknownSizeError
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.lazy_array import UnknownRankError
from gradtape.core.ports import make_html
from gradtape.core.ragged.tensor import RaggedTensor
from gradtape.core.sparse_tensor import SparseTensor
from gradtape.core.spec import TensorSpec
from gradtape.core.tensor import EagerTensor, Tensor, make_tensor
from gradtape.graph.abstract_trace import MAX_CONSTANT_BYTES
from gradtape.graph.guard import ValueRead
from gradtape.jit.abstract_path import search_abstractly, spec_of_result, trace_with_examples
from gradtape.jit.argument_match import (
    check_literal,
    fill_specs,
    has_dtype,
    leaves_of,
    select_tensors,
)
from gradtape.jit.function_cache import MOST_SIGNATURES
from gradtape.jit.function_graph import FunctionGraph
from gradtape.jit.guard_tree import GuardTree
from gradtape.jit.open_signature import OpenTrace
from gradtape.jit.signature import Call
from gradtape.jit.signature_repr import ConcreteFunctionBase, make_function_type
from gradtape.jit.trace_path import TracedPath
from gradtape.ops.raw_array import make_virtual_array
from gradtape.state.random.stream import FunctionStreams
from gradtape.tape.source import variable_of


class ConcreteFunction(ConcreteFunctionBase):
    """A function of tensors for one signature; its Python arguments are fixed.

    Attributes:
        structured_input_signature: specs and Python values, as (args, kwargs).
        structured_outputs: specs of the results.
    """

    _saves_as_function = True
    _repr_html_ = make_html

    def __init__(
        self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], blindly: bool = False
    ) -> None:
        """Trace `function` for these specs and values.

        With `blindly`, raise ValueRead if the function branches on values.
        """
        self._function = function
        self._streams = function.streams or FunctionStreams()
        try:
            bound = function._signature.parameters.bind(
                *fill_from_input_signature(function, args), **kwargs
            )
        except TypeError as error:
            raise TypeError(f"get_concrete_function: {error} of the function.") from None
        bound.apply_defaults()
        self._path: TracedPath | None = None
        self._returned: Any = None
        self._checked_calls: set[Any] = set()  # shapes and dtypes of tensors that fit the specs
        names = iter(function.parameters)
        self._args = tuple([describe_argument(v, next(names, "args")) for v in bound.args])
        self._kwargs = {k: describe_argument(v, k) for k, v in bound.kwargs.items()}
        self._specs = [
            leaf for leaf in leaves_of((self._args, self._kwargs)) if isinstance(leaf, TensorSpec)
        ]
        known = all(spec.shape.is_fully_defined() for spec in self._specs)
        if not known:
            self._register_signature()
        compiled = function._cache.get(self._make_example_call().key) if known else None
        if compiled is not None and compiled.only_path is not None:
            self._path = compiled.only_path
            self._returned = nest.map_structure(spec_of_result, compiled.only_path.structure)
            return
        traces = function.traces
        try:
            self._trace(known)
        except (ValueRead, UnknownSizeError, UnknownRankError):
            function.traces = traces
            if blindly:
                raise
            self._search_branches()
        if self._path is None:
            self._register_signature()

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
        return self._returned

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
        kinds = tuple([(a._array.shape, a._array.dtype) for a in args if type(a) is EagerTensor])
        if kinds in self._checked_calls and len(kinds) == len(args) and not kwargs:
            return self._function(*args)
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
        if self._takes_only(args) and len(kinds) == len(args) and not kwargs:
            self._checked_calls.add(kinds)
        args, kwargs = self._pack_arguments(tensors)
        return self._function(*args, **kwargs)

    def _takes_only(self, args: tuple[Any, ...]) -> bool:
        """Whether the signature is one tensor for each of `args`; few kinds of calls are noted."""
        is_plain = len(args) == len(self._args) == len(self._specs) and not self._kwargs
        return is_plain and len(self._checked_calls) < MOST_SIGNATURES

    def add_to_graph(self, g: Any = None) -> None:
        """Do nothing: a graph refers to the functions that it calls.

        Args:
            g: ignored.
        """

    def add_gradient_functions_to_graph(self, g: Any = None) -> None:
        """Do nothing: gradients are made when they are needed.

        Args:
            g: ignored.
        """

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
            specs = [s for s in leaves_of(description) if isinstance(s, TensorSpec)]
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
        args, kwargs = fill_specs((self._args, self._kwargs), tensors)
        return args, kwargs

    def _make_example_call(self) -> Call:
        """A call whose arguments fit the specs, for its key; its arrays have no data."""
        raws = [
            make_virtual_array(
                [2 if n is None else n for n in s.shape.as_list()], s.dtype.as_numpy_dtype
            )
            for s in self._specs
        ]
        args, kwargs = self._pack_arguments([make_tensor(raw) for raw in raws])
        return Call(args, kwargs)

    def _trace(self, known: bool) -> None:
        """Trace without values; the function may use the trace for calls.

        Raises:
            ValueRead, UnknownSizeError, UnknownRankError: if the function needs a value.
        """
        function = self._function
        traced = trace_with_examples(function, self._specs, self._pack_arguments, self._streams)
        if traced is None:
            return
        self._path, self._returned = traced.path, traced.returned
        if not traced.is_runnable:
            return
        if not known:
            shapes = [spec.shape for spec in self._specs]
            trace = OpenTrace(traced.path, traced.sizes)
            function.add_open_trace(self._make_example_call(), shapes, trace)
            return
        self._path = traced.path.specialise({}, MAX_CONSTANT_BYTES)
        compiled = function.specialization_for(self._make_example_call())
        if compiled.tree is None:
            compiled.adopt(GuardTree(self._path), self._path)
            compiled.streams = self._streams

    def _search_branches(self) -> None:
        """Infer the specs of a function that branches on values; calls trace it."""
        try:
            self._path, self._returned = search_abstractly(
                self._function, self._specs, self._pack_arguments, self._streams
            )
        except (ValueRead, UnknownSizeError, UnknownRankError):
            return  # only a call can tell


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
        if isinstance(one, (RaggedTensor, SparseTensor)):
            return one._type_spec
        if hasattr(one, "__array__") and hasattr(one, "nbytes"):
            tensor = convert(one)
            return TensorSpec(tensor.shape, tensor.dtype, name)
        return one

    return nest.map_structure(leaf, value)
