"""Schemas of the ops that a model file may name: their attributes, and how they are applied.

`op_table` lists the host ops. A primitive gets its schema from the annotations of its kernel.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from typing import Any

from gradtape.core import nest
from gradtape.core.primitive import Primitive
from gradtape.graph.graph import Effect, Node, Operand
from gradtape.graph.raw_function import scalar_of
from gradtape.graph.side_effect import TensorSlot
from gradtape.graph.trace_op import make_raw_op
from gradtape.tf.saved_model.attribute_type import ARRAY, AttributeType, SequenceOf
from gradtape.tf.saved_model.failure import MalformedModel


class OpSchema:
    """What a file may say about an op.

    Attributes:
        name: the name in files; it does not depend on modules.
        attributes: the type of each attribute, in the order of the op's parameters.
        is_effect: whether the op runs exactly once and in order, on the host.
    """

    is_effect = False

    def __init__(self, name: str, attributes: dict[str, AttributeType]) -> None:
        """An op with these attributes."""
        self.name = name
        self.attributes = attributes

    def check_attributes(self, values: dict[str, Any]) -> None:
        """Check the value of every attribute.

        Raises:
            MalformedModel: if one has another type, or lies outside of its range.
        """
        for name, value in values.items():
            try:
                self.attributes[name].check(value)
            except MalformedModel as error:
                raise MalformedModel(f"the attribute {name!r} {error}") from None

    def check_counts(self, values: dict[str, Any], inputs: int, outputs: int) -> None:
        """Check the number of inputs and outputs of a node."""
        raise NotImplementedError

    def make_node(
        self, inputs: tuple[Operand, ...], values: dict[str, Any], outputs: tuple[int, ...]
    ) -> Node:
        """The node of a graph that applies the op."""
        raise NotImplementedError


class PrimitiveSchema(OpSchema):
    """The schema of a primitive, or of an op that exists only in graphs, such as `cond`."""

    def __init__(self, op: Primitive, attributes: dict[str, AttributeType]) -> None:
        """For `op`, whose static parameters are `attributes`."""
        super().__init__(op.name, attributes)
        self.op = op

    def check_counts(self, values: dict[str, Any], inputs: int, outputs: int) -> None:
        """Check the number of inputs and outputs of a node."""
        wanted = len(self.op.inputs)
        if inputs != wanted and not (self.op.variadic and inputs):
            raise MalformedModel(f"takes {wanted} inputs. Received {inputs}")
        if outputs != 1 and not self.op.outputs:
            raise MalformedModel(f"has one output. Received {outputs}")

    def make_node(
        self, inputs: tuple[Operand, ...], values: dict[str, Any], outputs: tuple[int, ...]
    ) -> Node:
        """The node of a graph that applies the op."""
        return Node(self.op, inputs, values, outputs)


class Variadic(SequenceOf):
    """The last parameter of a host op, `*name`."""

    def __init__(self, item: AttributeType = ARRAY) -> None:
        """Any number of arguments of this type."""
        super().__init__(item)


class HostOp(OpSchema):
    """The schema of a function of the library that runs on the host.

    A tensor among its arguments is an input of the node; the attribute holds a `TensorSlot` with
    its position.

    Attributes:
        home: "module:name" of the function, below `gradtape`.
    """

    def __init__(self, name: str, home: str, /, **attributes: AttributeType) -> None:
        """A function at `home`, with these parameters."""
        super().__init__(name, attributes)
        self.home = home

    @property
    def module(self) -> str:
        """The module of the function."""
        return qualify_module(self.home.partition(":")[0])

    @property
    def function(self) -> Callable[..., Any]:
        """The function; its module is imported when it is first used."""
        function: Callable[..., Any] = getattr(
            importlib.import_module(self.module), self.home.partition(":")[2]
        )
        return function

    def is_made_of(self, function: Any) -> bool:
        """Whether this is the op of a function, decorated or not."""
        return inspect.unwrap(self.function) is inspect.unwrap(function)

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """The attributes of a call, defaults included; a parameter `name` is dropped."""
        bound = inspect.signature(inspect.unwrap(self.function)).bind(*args, **kwargs)
        bound.apply_defaults()
        return {n: value for n, value in bound.arguments.items() if n != "name"}

    def check_counts(self, values: dict[str, Any], inputs: int, outputs: int) -> None:
        """Check that every input has one place among the attributes."""
        slots = sorted(slot.position for slot in find_slots(values))
        if slots != list(range(inputs)):
            raise MalformedModel(f"has places for the inputs {slots}. Received {inputs} inputs")


class RawFunctionOp(HostOp):
    """A function of raw arrays without a gradient.

    Attributes:
        dynamic: whether the shape of its result depends on values.
        outputs: whether it returns a tuple.
    """

    dynamic = False
    outputs = False

    def check_counts(self, values: dict[str, Any], inputs: int, outputs: int) -> None:
        """Check inputs, which have the order of the arguments, and the number of outputs."""
        slots = [a.position for a in self.arguments(values) if isinstance(a, TensorSlot)]
        if slots != list(range(inputs)) or len(find_slots(values)) != inputs:
            raise MalformedModel(f"has places for the inputs {slots}. Received {inputs} inputs")
        if outputs != 1 and not self.outputs:
            raise MalformedModel(f"has one output. Received {outputs}")

    def bind_raw(self, args: tuple[Any, ...]) -> dict[str, Any]:
        """The attributes of a call with positional arguments."""
        *first, last = self.attributes
        if isinstance(self.attributes[last], Variadic):
            count = len(first)
            return dict(zip(first, args[:count], strict=True)) | {last: list(args[count:])}
        return dict(zip(self.attributes, args, strict=True))

    def arguments(self, values: dict[str, Any]) -> list[Any]:
        """The positional arguments of the function."""
        found: list[Any] = []
        for name, kind in self.attributes.items():
            if isinstance(kind, Variadic):
                found += values[name]
            else:
                found.append(kind.from_plain(values[name]))
        return found

    def make_node(
        self, inputs: tuple[Operand, ...], values: dict[str, Any], outputs: tuple[int, ...]
    ) -> Node:
        """The node of a graph that calls the function."""
        args = tuple(self.prefix() + self.arguments(values))
        places = [i for i, a in enumerate(args) if isinstance(a, TensorSlot)]
        op = make_raw_op(self.callee(), args, places, self.dynamic, self.outputs)
        return Node(op, inputs, {}, outputs)

    def callee(self) -> Callable[..., Any]:
        """The function that the node calls."""
        return self.function

    def prefix(self) -> list[Any]:
        """Arguments in front of those in the file."""
        return []


class DynamicOp(RawFunctionOp):
    """A function of raw arrays whose result has a shape that depends on values."""

    dynamic = True


class TupleOp(RawFunctionOp):
    """A function of raw arrays that returns a tuple."""

    outputs = True


class DynamicTupleOp(RawFunctionOp):
    """A function of raw arrays that returns a tuple of arrays with shapes that depend on values."""

    dynamic = True
    outputs = True


class IntegerOp(RawFunctionOp):
    """A function of raw arrays that returns an integer for Python."""

    def callee(self) -> Callable[..., Any]:
        """`scalar_of`, which turns the integer into an array."""
        return scalar_of

    def prefix(self) -> list[Any]:
        """The function itself is the first argument of `scalar_of`."""
        return [self.function]


class CallOp(HostOp):
    """A function of tensors that runs on the host at every call, and returns tensors."""

    is_effect = True
    gives_results = True

    def check_counts(self, values: dict[str, Any], inputs: int, outputs: int) -> None:
        """Check inputs and outputs of a node."""
        super().check_counts(values, inputs, outputs)
        if bool(outputs) != self.gives_results:
            wanted = "has outputs" if self.gives_results else "has no outputs"
            raise MalformedModel(f"{wanted}. Received {outputs}")

    def make_node(
        self, inputs: tuple[Operand, ...], values: dict[str, Any], outputs: tuple[int, ...]
    ) -> Node:
        """The node of a graph that calls the function; its effect takes and returns tensors."""
        plain = {name: self.attributes[name].from_plain(v) for name, v in values.items()}

        def call(*tensors: Any) -> Any:
            result = self.function(**fill_slots(plain, list(tensors)))
            return nest.flatten(result, expand_composites=True) if outputs else []

        return Node(Effect(self.name, call), inputs, values, outputs)


class CheckOp(CallOp):
    """A function of tensors that raises an error or prints to the console; it returns nothing."""

    gives_results = False


def qualify_module(module: str) -> str:
    """The full name of a module: NumPy, or one of this library."""
    return module if module == "numpy" else f"gradtape.{module}"


def find_slots(value: Any) -> list[TensorSlot]:
    """All slots in a structure."""
    if isinstance(value, TensorSlot):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [slot for one in value for slot in find_slots(one)]
    return []


def fill_slots(value: Any, tensors: list[Any]) -> Any:
    """A structure with a tensor in place of each slot."""
    if isinstance(value, TensorSlot):
        return tensors[value.position]
    if isinstance(value, dict):
        return {key: fill_slots(one, tensors) for key, one in value.items()}
    if type(value) is tuple:
        return tuple([fill_slots(one, tensors) for one in value])
    if type(value) is list:
        return [fill_slots(one, tensors) for one in value]
    return value
