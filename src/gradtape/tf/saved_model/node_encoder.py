"""Nodes of a graph as trees: dicts, lists, numbers, strings and arrays.

A dict with one key that starts with `$`, a tag, stands for a value that JSON lacks. Ops are named
as in the registry; a tree contains no code.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.core.dims import Dim
from gradtape.core.dtypes import DType, as_dtype
from gradtape.core.lazy_array import LazyArray
from gradtape.core.shapes import TensorShape
from gradtape.core.spec import TensorSpec
from gradtape.core.tensor import EagerTensor
from gradtape.graph.custom_gradient import UserGradient
from gradtape.graph.graph import Constant, Effect, Graph, Node
from gradtape.graph.loop_gradient import LoopLayout
from gradtape.graph.raw_function import scalar_of
from gradtape.graph.side_effect import TensorSlot
from gradtape.graph.subgraph import Body
from gradtape.graph.trace_op import INSTALL
from gradtape.tf.saved_model.dim_tree import DimEncoder
from gradtape.tf.saved_model.failure import CannotSave, MalformedModel
from gradtape.tf.saved_model.op_schema import HostOp, OpSchema, RawFunctionOp
from gradtape.tf.saved_model.op_table.registry import (
    RECORDS,
    explain_refusal,
    find_host_op,
    find_op,
)


def refuse_object(value: Any) -> Any:
    """Raise, because an object cannot be saved."""
    raise CannotSave(f"it uses a {type(value).__name__}")


class Encoder:
    """Encodes the nodes of one trace.

    Attributes:
        states: keys of variables, in order; `install` refers to them by position.
        encode_table: encodes the entries of a table, or refuses any other object.
        dims: encodes symbolic sizes.
    """

    def __init__(
        self,
        states: list[int] | None = None,
        encode_table: Callable[[Any], Any] = refuse_object,
        dims: DimEncoder | None = None,
    ) -> None:
        """For a path with these variables and sizes."""
        self.states = states or []
        self.encode_table = encode_table
        self.dims = dims or DimEncoder({})

    def encode_node(self, node: Node) -> dict[str, Any]:
        """A node of a graph."""
        schema, values = self.describe_call(node)
        check_saved_attributes(schema, values)
        return {
            "op": schema.name,
            "in": [self.encode_operand(one) for one in node.inputs],
            "out": list(node.outputs),
            "static": {name: self.encode(value) for name, value in values.items()},
        }

    def describe_call(self, node: Node) -> tuple[OpSchema, dict[str, Any]]:
        """The op that a node applies, and its attributes."""
        op = node.op
        parts = getattr(op.kernel, "parts", None)
        if parts is not None:
            return describe_host_call(*parts)
        if isinstance(op, Effect):
            raise CannotSave(explain_refusal(op.name))
        try:
            schema = find_op(op.name)
        except MalformedModel as error:
            raise CannotSave(str(error)) from None
        if op is INSTALL:
            return schema, {"key": self.states.index(node.static["key"])}
        return schema, node.static

    def encode_operand(self, operand: Any) -> Any:
        """What a node reads: the number of a value, or a constant."""
        if isinstance(operand, Constant):
            return self.encode(read_lazy(operand.raw))
        return {"$value": int(operand)}

    def encode_graph(self, graph: Graph) -> dict[str, Any]:
        """The graph of a body."""
        numbers = [*graph.inputs, *(o for node in graph.nodes for o in node.outputs)]
        return {
            "inputs": list(graph.inputs),
            "nodes": [self.encode_node(node) for node in graph.nodes],
            "outputs": [self.encode_operand(o) for o in graph.outputs],
            "specs": [[n, *self.encode_spec(*graph.specs[n])] for n in dict.fromkeys(numbers)],
        }

    def encode_spec(self, shape: Any, dtype: Any) -> list[Any]:
        """Shape and dtype of a value."""
        return [[self.dims.encode(size) for size in shape], as_dtype(dtype).name]

    def encode(self, value: Any) -> Any:
        """The value of an attribute."""
        kind = type(value)
        if value is None or kind in (bool, int, float, str):
            return value
        simple = SIMPLE_ENCODERS.get(kind)
        if simple is not None:
            return simple(value)
        if kind in (tuple, list):
            return {f"${kind.__name__}": [self.encode(one) for one in value]}
        for known, encode in ENCODERS.items():
            if isinstance(value, known):
                return encode(self, value)
        return self.encode_table(value)

    def encode_record(self, value: tuple[Any, ...]) -> Any:
        """A named tuple."""
        name = type(value).__name__
        if name not in RECORDS or RECORDS[name].kind is not type(value):
            return refuse_object(value)
        return {"$record": [name, [self.encode(one) for one in value]]}

    def encode_dict(self, value: dict[Any, Any]) -> Any:
        """A dict, as a list of pairs."""
        return {"$dict": [[self.encode(k), self.encode(v)] for k, v in value.items()]}

    def encode_body(self, body: Body) -> Any:
        """The body of a loop or branch."""
        graph = body.existing_graph
        if graph is None:
            raise CannotSave("a loop or branch in it has never run")
        return {"$body": self.encode_graph(graph)}

    def encode_layout(self, layout: LoopLayout) -> Any:
        """The layout of a loop."""
        return {
            "$layout": {
                "carries": layout.carries,
                "captures": layout.captures,
                "xs": list(layout.xs),
                "ys": [[axis, *self.encode_spec(shape, dtype)] for axis, shape, dtype in layout.ys],
                "saved": list(layout.saved),
                "reverse": layout.reverse,
            }
        }

    def encode_custom(self, custom: UserGradient) -> Any:
        """A gradient function of the user's."""
        return {
            "$custom": {
                "inputs": [self.encode_operand(one) for one in custom.inputs],
                "seeds": list(custom.seeds),
                "nodes": [self.encode_node(node) for node in custom.nodes],
                "gradients": [self.encode_gradient(one) for one in custom.input_gradients],
                "error": custom.trace_error,
            }
        }

    def encode_gradient(self, gradient: Any) -> Any:
        """The gradient of one input."""
        if gradient is None:
            return None
        if type(gradient) is tuple:
            return {"$slices": [self.encode_operand(part) for part in gradient]}
        return self.encode_operand(gradient)


def check_saved_attributes(schema: OpSchema, values: dict[str, Any]) -> None:
    """Check the attributes of an op before they are saved.

    Raises:
        CannotSave: if one has another type, or lies outside of its range.
    """
    try:
        schema.check_attributes(values)
    except MalformedModel as error:
        raise CannotSave(f"{schema.name} cannot be saved: {error}") from None


def describe_host_call(function: Any, args: Any, places: Any) -> tuple[HostOp, dict[str, Any]]:
    """The op of a call on the host, and its attributes.

    Args:
        function: the function that the node calls.
        args: its arguments; those of a function of tensors are (args, kwargs) with slots.
        places: positions of the inputs among the arguments of a function of raw arrays.

    Raises:
        CannotSave: if the call cannot be part of a file.
    """
    if function is scalar_of:
        function, args, places = args[0], args[1:], [i - 1 for i in places]
    op = find_host_op(function)
    if isinstance(op, RawFunctionOp):
        slots = {place: TensorSlot(i) for i, place in enumerate(places)}
        values = op.bind_raw(tuple([slots.get(i) or read_lazy(a) for i, a in enumerate(args)]))
    else:
        values = op.bind(*args)
    plain = {name: op.attributes[name].to_plain(value) for name, value in values.items()}
    check_saved_attributes(op, plain)
    return op, plain


def read_lazy(raw: Any) -> Any:
    """A raw array whose value is on the host."""
    return raw.value() if isinstance(raw, LazyArray) else raw


def encode_dtype_class(kind: type) -> Any:
    """A class that stands for a dtype, such as `np.float32`."""
    try:
        return {"$dtype": [as_dtype(kind).name, False]}
    except TypeError:
        raise CannotSave(f"it uses the class {kind.__name__}") from None


def encode_shape(shape: TensorShape) -> Any:
    """The sizes of a TensorShape."""
    return shape.as_list() if shape.rank is not None else None


SIMPLE_ENCODERS: dict[type, Callable[[Any], Any]] = {
    EagerTensor: lambda v: v._array if isinstance(v._array, np.ndarray) else np.asarray(v._array),
    TensorSlot: lambda v: {"$input": v.position},
    bytes: lambda v: {"$bytes": v.decode("latin-1")},
    complex: lambda v: {"$complex": [v.real, v.imag]},
    type(Ellipsis): lambda v: {"$ellipsis": []},
    TensorShape: lambda v: {"$shape": encode_shape(v)},
    TensorSpec: lambda v: {"$spec": [encode_shape(v.shape), v.dtype.name, v.name]},
}
ENCODERS: dict[Any, Callable[[Encoder, Any], Any]] = {
    (np.ndarray, np.generic): lambda encoder, v: np.asarray(v),
    (np.dtype, DType): lambda encoder, v: {"$dtype": [as_dtype(v).name, isinstance(v, DType)]},
    type: lambda encoder, v: encode_dtype_class(v),
    Dim: lambda encoder, v: encoder.dims.encode(v),
    slice: lambda encoder, v: {"$slice": [*map(encoder.encode, (v.start, v.stop, v.step))]},
    dict: Encoder.encode_dict,
    Body: Encoder.encode_body,
    LoopLayout: Encoder.encode_layout,
    UserGradient: Encoder.encode_custom,
    tuple: Encoder.encode_record,
}
