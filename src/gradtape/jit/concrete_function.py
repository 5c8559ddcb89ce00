"""ConcreteFunction: a function for one signature; where specs are given, traced on stand-ins."""

from __future__ import annotations

from typing import Any

from gradtape.core import nest
from gradtape.core.context import listening
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.ragged.spec import RaggedTensorSpec
from gradtape.core.ragged.tensor import RaggedTensor
from gradtape.core.shapes import TensorShape
from gradtape.core.sparse_tensor import SparseTensor, SparseTensorSpec
from gradtape.core.spec import TensorSpec
from gradtape.core.tensor import Tensor, eager
from gradtape.graph.graph_def import GraphDef
from gradtape.graph.recorder import Trace, ValueRead
from gradtape.jit.guard_tree import Tree
from gradtape.jit.signature import Call, is_array
from gradtape.jit.signature_repr import Shown, function_type
from gradtape.jit.trace_path import Path, returned_tensors
from gradtape.ops.raw_array import stand_in
from gradtape.state.random.stream import Streams
from gradtape.tape.source import variable_of

SIZES = (3, 5)  # what stands for an unknown size: what differs between two runs is unknown too


class ConcreteFunction(Shown):
    """A function whose Python arguments are fixed; it takes tensors.

    Attributes:
        structured_input_signature: specs and Python values, as (args, kwargs).
        structured_outputs: specs of what is returned.
    """

    _saves_as_function = True

    def __init__(
        self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], blindly: bool = False
    ) -> None:
        """Trace `function` for these specs and values; `blindly`, never by values."""
        self._function = function
        self._blindly = blindly
        self._streams = function.streams or Streams()
        bound = function._signature.parameters.bind(*filled_from(function, args), **kwargs)
        bound.apply_defaults()
        self._path: Path | None = None
        self._is_composite = any(is_composite(v) for v in nest.flatten((bound.args, bound.kwargs)))
        if self._is_composite:  # there are no stand-ins
            given = (bound.args, bound.kwargs)
            self._args, self._kwargs = nest.map_structure(composite_spec_of, given)
            self._specs, self._returned = [], None
            self._ask()
            return
        names = iter(function.parameters)
        self._args = tuple([described(v, next(names, "args")) for v in bound.args])
        self._kwargs = {k: described(v, k) for k, v in bound.kwargs.items()}
        self._specs = [
            leaf
            for leaf in nest.flatten((self._args, self._kwargs), expand_composites=True)
            if isinstance(leaf, TensorSpec)
        ]
        values = nest.flatten((bound.args, bound.kwargs), expand_composites=True)
        self._examples = [v for v in values if isinstance(v, TensorSpec) or is_array(v)]
        known = all(spec.shape.is_fully_defined() for spec in self._specs)
        if not known:
            self._ask()
        key = self._call(SIZES[0]).key if known else None
        compiled = function._cache.get(key) if known else None
        if compiled is not None and compiled.only is not None:
            self._path = compiled.only
            self._returned = nest.map_structure(spec_of, compiled.only.structure)
            return
        self._path, self._returned = self._probe(SIZES[0])
        if self._path is None:
            self._ask()
        if (
            known
            and self._path is not None
            and not self._path.guards
            and self._returned is not None
        ):
            compiled = function.compiled_for(self._call(SIZES[0]))
            if compiled.tree is None:
                compiled.adopt(Tree(self._path), self._path)
                compiled.streams = self._streams

    def _ask(self) -> None:
        """Let the function know what it is asked about: a saved model holds it."""
        if (self._args, self._kwargs) not in self._function.asked:
            self._function.asked.append((self._args, self._kwargs))

    @property
    def name(self) -> str:
        """The name of the Python function."""
        return str(self._function.name)

    @property
    def function_type(self) -> Any:
        """Specs of what is given and returned, as the annotations of a signature."""
        parameters = self._function._signature.parameters
        returned = ... if self._returned is None else self.structured_outputs
        return function_type(parameters, self._args, self._kwargs, returned)

    @property
    def structured_input_signature(self) -> tuple[Any, Any]:
        """Specs and Python values of the arguments, as (args, kwargs)."""
        return self._args, self._kwargs

    @property
    def structured_outputs(self) -> Any:
        """Specs of what is returned; None sizes where they depend on the arguments."""
        if self._returned is None:
            raise NotImplementedError(
                f"{self.name}: what it returns depends on values; call it to see."
            )
        if all(spec.shape.is_fully_defined() for spec in self._specs):
            return self._returned
        _, other = self._probe(SIZES[1])
        return nest.map_structure(common, self._returned, other)

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
        """Tensors from outside that are used."""
        return list(self._path.captures) if self._path is not None else []

    @property
    def variables(self) -> tuple[Any, ...]:
        """Variables that are used."""
        return tuple(v for v in self._path.states if type(v) is not int) if self._path else ()

    @property
    def graph(self) -> Any:
        """The graph; where Python branches on values, that of one way through it."""
        return Listed(self._path.graph, self._specs) if self._path is not None else None

    @property
    def inference_fn(self) -> ConcreteFunction:
        """The function of the tensors alone, which this is."""
        return self

    def pretty(self) -> str:
        """The graph as readable lines."""
        if self._path is None:
            return f"{self.name}: depends on values; it is traced when it is called."
        return str(self._path.graph.pretty())

    @public
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function.

        Args:
            *args: the arguments; Python values may be left out.
            **kwargs: the same by name.

        Raises:
            TypeError: if an argument is missing or too many are given.
            InvalidArgumentError: if a tensor is not of the dtype of its spec.
        """
        if self._is_composite:
            return self._function(*args, **kwargs)
        given = self._given(args, kwargs)
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
        args, kwargs = self._packed(tensors)
        return self._function(*args, **kwargs)

    def _given(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """What is passed for each spec."""
        flat = [
            leaf
            for leaf in nest.flatten((args, kwargs), expand_composites=True)
            if isinstance(leaf, Tensor) or variable_of(leaf) is not None or hasattr(leaf, "dtype")
        ]
        if len(flat) == len(self._specs):
            if kwargs:
                return self._by_name(args, kwargs)
            return flat
        return self._by_name(args, kwargs)

    def _by_name(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """What is passed for each spec, by position and by name."""
        names = list(self._function.parameters)
        given = dict(zip(names, args, strict=False)) | kwargs
        values: list[Any] = []
        wanted = [*zip(names, self._args, strict=False), *self._kwargs.items()]
        for name, description in wanted:
            specs = [s for s in nest.flatten(description) if isinstance(s, TensorSpec)]
            if not specs:
                value = given.pop(name, description)
                if value is not description and value != description:
                    raise TypeError(
                        f"Binding inputs to tf.function failed due to `Can not cast {value!r} to "
                        f"Literal[{description!r}]`. Received args: {args} and kwargs: {kwargs}."
                    )
                continue
            if name not in given:
                raise TypeError(
                    "Binding inputs to tf.function failed due to `missing a required argument: "
                    f"{name!r}`. Received args: {args} and kwargs: {kwargs}."
                )
            values += nest.flatten(given.pop(name), expand_composites=True)
        if given or len(values) != len(self._specs) or len(args) > len(self._args):
            raise TypeError(
                f"Binding inputs to tf.function failed: {len(self._specs)} tensors expected. "
                f"Received args: {args} and kwargs: {kwargs}."
            )
        return values

    def _packed(self, tensors: list[Any]) -> tuple[Any, Any]:
        """The function's own arguments, with these tensors in place of the specs."""
        rest = iter(tensors)
        args, kwargs = nest.map_structure(
            lambda leaf: next(rest) if isinstance(leaf, TensorSpec) else leaf,
            (self._args, self._kwargs),
        )
        return args, kwargs

    def _stand_ins(self, size: int) -> list[Any]:
        """Raw arrays for the specs."""
        made = [stand_in(sizes_of(s.shape, size), s.dtype.as_numpy_dtype) for s in self._specs]
        if len(made) != len(self._examples):
            return made
        pairs = zip(made, self._examples, strict=True)
        return [raw if isinstance(one, TensorSpec) else convert(one)._array for raw, one in pairs]

    def _call(self, size: int) -> Call:
        """A call on stand-ins."""
        args, kwargs = self._packed([eager(raw) for raw in self._stand_ins(size)])
        return Call(args, kwargs)

    def _probe(self, size: int) -> tuple[Path | None, Any]:
        """Trace on stand-ins: the path, and specs of what is returned.

        A function that branches on values is traced along one way, by the values that were given.
        """
        try:
            return self._traced(size, refuses=True)
        except ValueRead:
            pass
        try:
            return (None, None) if self._blindly else self._traced(size, refuses=False)
        except (ValueRead, InvalidArgumentError):
            return None, None  # it does something, or does not like the stand-ins

    def _traced(self, size: int, refuses: bool) -> tuple[Path | None, Any]:
        """The same, if values are not looked at (`refuses`) or nothing else happens."""
        function = self._function
        trace = Trace(function.name, function.autograph, refuses)
        trace.only_looks = True
        trace.stands_in = not refuses
        trace.streams = self._streams
        trace.choice = function.choice
        pairs = zip(self._stand_ins(size), self._specs, strict=True)
        inputs = [trace.input(raw, spec.name or "") for raw, spec in pairs]
        args, kwargs = self._packed(inputs)
        variables = [variable_of(v) for v in nest.flatten((args, kwargs))]
        try:
            with listening((trace,)):
                if size == SIZES[0]:
                    function.traces += 1
                result = function.python_function(*args, **kwargs)
                returned = returned_tensors(result, function.name)
                path = Path(trace, returned, [v for v in variables if v is not None])
                specs = None if trace.stood_in else nest.map_structure(spec_of, returned)
                if not trace.created:
                    return (None if trace.given_up else path), specs
                function.made(trace.created)
        finally:
            trace.close()
        self._streams.forget()
        return self._traced(size, refuses)  # that run made variables; this one uses them


class Listed:
    """A graph to look at."""

    def __init__(self, graph: Any, specs: list[TensorSpec]) -> None:
        """Show `graph`, whose arguments have these specs."""
        self._graph = graph
        self._names = [spec.name or "args" for spec in specs]

    def as_graph_def(self) -> GraphDef:
        """The nodes in TensorFlow's manner; the ops are gradtape's primitives."""
        return GraphDef(self._graph, self._names)

    def pretty(self) -> str:
        """The graph as readable lines."""
        return str(self._graph.pretty())

    def __getattr__(self, name: str) -> Any:
        """Whatever else the graph has."""
        return getattr(self._graph, name)


def filled_from(function: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Specs of `input_signature` where no arguments are given."""
    specs = function.input_signature
    return tuple(specs) if specs is not None and not args else args


def described(value: Any, name: str) -> Any:
    """An argument as specs and Python values."""

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
    """Whether a value, or what a spec describes, is made of several tensors."""
    return isinstance(value, (RaggedTensorSpec, SparseTensorSpec, RaggedTensor, SparseTensor))


def composite_spec_of(value: Any) -> Any:
    """The spec of a tensor or of what is made of several; anything else as it is."""
    if isinstance(value, (RaggedTensor, SparseTensor)):
        return value._type_spec
    return TensorSpec(value.shape, value.dtype) if isinstance(value, Tensor) else value


def sizes_of(shape: TensorShape, size: int) -> list[int]:
    """A shape with `size` in place of unknown sizes."""
    if shape.rank is None:
        return [size] * (1 + (size != SIZES[0]))  # another rank, too
    return [size if n is None else n for n in shape.as_list()]


def spec_of(value: Any) -> Any:
    """The spec of a result."""
    return TensorSpec(value.shape, value.dtype) if isinstance(value, Tensor) else value


def common(a: Any, b: Any) -> Any:
    """What two runs on different sizes agree on."""
    if not isinstance(a, TensorSpec):
        return a
    if a.shape.rank != b.shape.rank:
        return TensorSpec(None, a.dtype)
    sizes = zip(a.shape.as_list(), b.shape.as_list(), strict=True)
    return TensorSpec([m if m == n else None for m, n in sizes], a.dtype)
