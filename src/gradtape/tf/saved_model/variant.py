"""Variant: a function of a model for one signature."""

from __future__ import annotations

from typing import Any

from gradtape.core import nest
from gradtape.core.convert import convert
from gradtape.core.errors import (
    DataLossError,
    InvalidArgumentError,
    NotDense,
    OperatorNotAllowedInGraphError,
    OpError,
    ResourceExhaustedError,
)
from gradtape.core.shapes import TensorShape
from gradtape.core.spec import TensorSpec, TypeSpec
from gradtape.core.tensor import Tensor
from gradtape.graph.open_replay import ViolatedAssumption
from gradtape.jit.argument_match import leaves_of
from gradtape.tf.saved_model.failure import MalformedModel
from gradtape.tf.saved_model.graph_function import GraphFunction, is_stream
from gradtape.tf.saved_model.result_structure import build_structure, describe_call

# Python's errors of kernels that get arguments they do not take; a graph raises TensorFlow's.
RAW_ERRORS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    MalformedModel,
    MemoryError,
    RuntimeError,
    TypeError,
    ValueError,
)
DISPATCH_ERRORS = (OperatorNotAllowedInGraphError, NotDense, OpError)  # others handle these


class Variant:
    """A function for one signature.

    Attributes:
        arguments: (args, kwargs) of a call, with specs in place of tensors.
        graphs: the graphs by the ranks of the tensors among the arguments; the first one that was
            made for the sizes of a call runs.
        returned: the structure of the result, as a tree.
        name: the name of the function.
        specs: the specs of the tensors among the arguments.
    """

    def __init__(
        self,
        arguments: Any,
        graphs: dict[tuple[int, ...], list[GraphFunction]],
        returned: Any,
        name: str,
    ) -> None:
        """A function of these parts."""
        self.arguments = arguments
        self.graphs = graphs
        self.returned = returned
        self.name = name
        self.specs = [leaf for leaf in leaves_of(arguments) if isinstance(leaf, TensorSpec)]

    def run(self, tensors: list[Tensor]) -> Any:
        """The result for the tensors among the arguments; inside a trace it is traced."""
        ranks = tuple([len(t.shape) for t in tensors])
        if ranks not in self.graphs:
            known = ", ".join(map(str, self.graphs))
            raise InvalidArgumentError(
                f"{self.name}: this SavedModel was saved for arguments of the ranks {known}. "
                f"Received {ranks}. Save it with a shape of known rank."
            )
        failure: ViolatedAssumption | None = None
        for graph in self.graphs[ranks]:
            try:
                run = graph.start(tensors)
            except ViolatedAssumption as error:
                failure = failure or error
            else:
                return build_structure(self.returned, graph.finish(run))
        assert failure is not None
        raise failure

    def list_graphs(self) -> list[GraphFunction]:
        """All graphs."""
        return [graph for graphs in self.graphs.values() for graph in graphs]

    def match(self, arguments: Any) -> Any:
        """The arguments of a call with tensors for the specs; None if they do not fit."""
        try:
            given = nest.flatten_up_to(self.arguments, arguments)
        except (TypeError, ValueError):
            return None
        values: list[Any] = []
        for expected, value in zip(nest.flatten(self.arguments), given, strict=True):
            if isinstance(expected, TensorSpec):
                value = convert_to_spec(expected, value)
                if value is None:
                    return None
            elif isinstance(expected, TypeSpec):
                if not expected.is_compatible_with(value):
                    return None
            elif type(expected) is not type(value) or expected != value:
                return None
            values.append(value)
        return nest.pack_sequence_as(self.arguments, values)

    def fits(self, arguments: Any) -> bool:
        """Whether arguments that consist of tensors and Python values are those of this variant."""
        return self.match(arguments) is not None

    def is_for(self, arguments: Any) -> bool:
        """Whether this variant takes arguments that are described by specs."""
        try:
            given = nest.flatten_up_to(self.arguments, arguments)
        except (TypeError, ValueError):
            return False
        pairs = zip(nest.flatten(self.arguments), given, strict=True)
        return all(a.is_compatible_with(b) if isinstance(a, TypeSpec) else a == b for a, b in pairs)

    def open_shapes(self) -> list[list[TensorShape]]:
        """For each graph, the shapes of the tensors among the arguments, with None for any size."""
        return [
            [
                TensorShape([None] * rank) if spec.shape.rank is None else spec.shape
                for rank, spec in zip(ranks, self.specs, strict=True)
            ]
            for ranks in self.graphs
        ]

    @property
    def variables(self) -> tuple[Any, ...]:
        """The variables that it uses, without the hidden ones of random ops."""
        states = {v._key: v for graph in self.list_graphs() for v in graph.states}
        return tuple(v for v in states.values() if not is_stream(v))

    @property
    def outputs(self) -> list[TensorSpec]:
        """Specs of the flat results."""
        found = zip(*[graph.tree["specs"] for graph in self.list_graphs()], strict=True)
        return [merge_output_specs(list(specs)) for specs in found]

    def __repr__(self) -> str:
        return describe_call(self.arguments)


def select_tensors(arguments: Any) -> list[Any]:
    """The tensors among arguments; of a composite tensor, its components."""
    return [leaf for leaf in leaves_of(arguments) if isinstance(leaf, Tensor)]


def merge_output_specs(specs: list[Any]) -> TensorSpec:
    """A spec for all of these shapes and dtypes."""
    shapes, dtype = [shape for shape, _ in specs], specs[0][1]
    if any(len(shape) != len(shapes[0]) for shape in shapes):
        return TensorSpec(None, dtype)
    sizes = [column[0] if len(set(column)) == 1 else None for column in zip(*shapes, strict=True)]
    return TensorSpec(sizes, dtype)


def convert_to_spec(spec: TensorSpec, given: Any) -> Tensor | None:
    """`given` as a tensor that `spec` describes, or None."""
    if given is None or (isinstance(given, (str, bytes)) and spec.dtype.name != "string"):
        return None
    try:
        tensor = convert(given, None if isinstance(given, Tensor) else spec.dtype)
    except (TypeError, ValueError):
        return None
    fits = tensor.dtype is spec.dtype and spec.shape.is_compatible_with(tensor.shape)
    return tensor if fits else None


def as_graph_error(name: str, error: Exception) -> OpError:
    """TensorFlow's error for an error of Python's that the graph of a file causes."""
    if isinstance(error, MemoryError):
        return ResourceExhaustedError(f"{name}: out of memory: {error}")
    if isinstance(error, MalformedModel):
        return DataLossError(
            f"{name}: the graph of this SavedModel cannot run for these arguments: {error}. Save "
            "the model again."
        )
    return InvalidArgumentError(
        f"{name}: the graph of this SavedModel does not take these arguments: "
        f"{type(error).__name__}: {error}. Check their shapes and values."
    )
