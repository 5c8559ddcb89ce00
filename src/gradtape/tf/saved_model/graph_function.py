"""Functions as graphs without Python: what is saved, and what runs after loading."""

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
from gradtape.core.spec import TensorSpec, TypeSpec
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.graph.replay import refuse_effect, replay
from gradtape.jit.function import Function
from gradtape.tf.saved_model.failure import MalformedModel
from gradtape.tf.saved_model.node_decoder import GraphDecoder
from gradtape.tf.saved_model.op_schema import CallOp
from gradtape.tf.saved_model.op_table.registry import find_op
from gradtape.tf.saved_model.result_structure import build_structure, describe_call, leaves_of

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
DISPATCH_ERRORS = (OperatorNotAllowedInGraphError, NotDense)  # other functions handle these


class GraphFunction:
    """A graph with its captures, variables and tables, for arguments of certain ranks.

    Attributes:
        tree: numbers of the given values (`inputs`, `captures`, `states`), `nodes`, `outputs`, and
            shapes and dtypes of the outputs (`specs`).
        captures: tensors.
        states: variables.
        tables: entries of the tables that the graph looks up.
    """

    def __init__(
        self, tree: dict[str, Any], captures: list[Any], states: list[Any], tables: list[Any]
    ) -> None:
        """A graph of these parts."""
        self.tree = tree
        self.captures = captures
        self.states = states
        self.tables = tables

    def run(self, tensors: tuple[Tensor, ...]) -> list[Tensor]:
        """The flat results for flat arguments."""
        tree = self.tree
        values: dict[int, Any] = dict(zip(tree["inputs"], tensors, strict=True))
        values.update(zip(tree["captures"], self.captures, strict=True))
        values.update(zip(tree["states"], [v._read() for v in self.states], strict=True))
        decoder = GraphDecoder(values, self.tables)
        for node in tree["nodes"]:
            if find_op(node["op"]).is_effect:
                self.run_on_host(node, decoder)
            else:
                replay([decoder.decode_node(node)], values, refuse_effect, self.assign_variable)
        return [convert(look_up_operand(decoder, output)) for output in tree["outputs"]]

    def run_on_host(self, node: dict[str, Any], decoder: GraphDecoder) -> None:
        """Call a function of the library on the host."""
        schema, _, attributes, outputs = decoder.decode_call(node)
        assert isinstance(schema, CallOp)
        given = [look_up_operand(decoder, operand) for operand in node["in"]]
        result = schema.call(attributes, given)
        flat = nest.flatten(result, expand_composites=True) if outputs else []
        decoder.values.update(zip(outputs, flat, strict=True))

    def assign_variable(self, key: int, value: Any) -> Tensor:
        """Assign a variable, and return its new value."""
        variable = self.states[key]
        variable.assign(value, read_value=False)
        tensor: Tensor = variable._read()
        return tensor


def look_up_operand(decoder: GraphDecoder, tree: Any) -> Any:
    """The tensor of an operand."""
    operand = decoder.decode_operand(tree)
    value = decoder.values[operand] if type(operand) is int else operand.raw
    return value if isinstance(value, Tensor) else make_tensor(value)


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


class Variant:
    """A function for one signature.

    Attributes:
        arguments: (args, kwargs) of a call, with specs in place of tensors.
        graphs: the graph to run, by the ranks of the tensors among the arguments.
        returned: the structure of the result, as a tree.
        specs: the specs of the tensors among the arguments.
    """

    def __init__(
        self,
        arguments: Any,
        graphs: dict[tuple[int, ...], GraphFunction],
        returned: Any,
        name: str,
    ) -> None:
        """A function of these parts."""
        self.arguments = arguments
        self.graphs = graphs
        self.returned = returned
        self.specs = [leaf for leaf in leaves_of(arguments) if isinstance(leaf, TensorSpec)]
        self.function = Function(self.run, name)
        self.function.warns_of_retracing = False

    def run(self, *tensors: Tensor) -> list[Tensor]:
        """The flat results for flat arguments."""
        ranks = tuple([len(t.shape) for t in tensors])
        graph = self.graphs.get(ranks)
        if graph is None:
            known = ", ".join(map(str, self.graphs))
            raise InvalidArgumentError(
                f"{self.function.name}: this SavedModel was saved for arguments of the ranks "
                f"{known}. Received {ranks}. Save it with a shape of known rank."
            )
        return graph.run(tensors)

    def __call__(self, tensors: list[Any]) -> Any:
        """The result for these tensors."""
        try:
            return build_structure(self.returned, self.function(*tensors))
        except DISPATCH_ERRORS:
            raise
        except RAW_ERRORS as error:
            raise as_graph_error(self.function.name, error) from error

    def match(self, arguments: Any) -> list[Any] | None:
        """The tensors among the arguments of a call; None if this variant does not take them."""
        try:
            given = nest.flatten_up_to(self.arguments, arguments)
        except (TypeError, ValueError):
            return None
        tensors: list[Any] = []
        for expected, value in zip(nest.flatten(self.arguments), given, strict=True):
            if isinstance(expected, TensorSpec):
                parts: list[Any] = [convert_to_spec(expected, value)]
            elif isinstance(expected, TypeSpec):
                if not expected.is_compatible_with(value):
                    return None
                parts = nest.flatten(expected._to_components(value), expand_composites=True)
            else:
                if type(expected) is not type(value) or expected != value:
                    return None
                parts = []
            if any(part is None for part in parts):
                return None
            tensors += parts
        return tensors

    def is_for(self, arguments: Any) -> bool:
        """Whether this variant takes arguments that are described by specs."""
        try:
            given = nest.flatten_up_to(self.arguments, arguments)
        except (TypeError, ValueError):
            return False
        pairs = zip(nest.flatten(self.arguments), given, strict=True)
        return all(a.is_compatible_with(b) if isinstance(a, TypeSpec) else a == b for a, b in pairs)

    @property
    def variables(self) -> tuple[Any, ...]:
        """The variables that it uses, without the hidden ones of random ops."""
        states = {v._key: v for graph in self.graphs.values() for v in graph.states}
        return tuple(v for v in states.values() if not is_stream(v))

    @property
    def outputs(self) -> list[TensorSpec]:
        """Specs of the flat results."""
        found = zip(*[graph.tree["specs"] for graph in self.graphs.values()], strict=True)
        return [merge_output_specs(list(specs)) for specs in found]

    def __repr__(self) -> str:
        return describe_call(self.arguments)


def is_stream(variable: Any) -> bool:
    """Whether a variable is the hidden one of a random op."""
    return hasattr(variable, "pair")


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
