"""Nodes of a graph from the trees in a file, for the sizes at hand."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from gradtape.core.dtypes import as_dtype
from gradtape.core.errors import DataLossError
from gradtape.core.primitive import REGISTRY, Spec
from gradtape.core.shapes import TensorShape
from gradtape.core.spec import TensorSpec
from gradtape.graph.control_node import COND, LOOP
from gradtape.graph.custom_gradient import CUSTOM, UserGradient
from gradtape.graph.graph import Constant, Graph, Node
from gradtape.graph.loop_gradient import LoopLayout
from gradtape.graph.side_effect import TensorSlot
from gradtape.graph.subgraph import Body
from gradtape.graph.trace_op import INSTALL, make_raw_op
from gradtape.tf.saved_model.node_encoder import SHAPE, dtype_of, fields_named, function_named
from gradtape.tf.saved_model.trace_merge import same_padding

OPS = {op.name: op for op in (COND, LOOP, CUSTOM, INSTALL)}


class Decoder:
    """Makes nodes for one run.

    Attributes:
        env: values by number; those that are there have shapes.
        tables: what the tables hold that nodes refer to, by number.
    """

    def __init__(self, env: dict[int, Any], tables: Any) -> None:
        """Start with the inputs in `env`, which grows."""
        self.env = env
        self.tables = tables

    def node(self, tree: dict[str, Any]) -> Node:
        """An application."""
        inputs = tuple([self.operand(i) for i in tree["in"]])
        outputs = tuple(tree["out"])
        if "call" in tree:
            args = tuple([self.value(a) for a in tree["args"]])
            places = [i for i, a in enumerate(args) if type(a) is TensorSlot]
            op = make_raw_op(function_named(tree["call"]), args, places, *tree["flags"])
            return Node(op, inputs, {}, outputs)
        name = tree["op"]
        known = OPS.get(name) or REGISTRY.get(name)
        if known is None:
            raise DataLossError(f"saved_model: there is no op {name!r}.")
        static = {key: self.value(value) for key, value in tree["static"].items()}
        return Node(known, inputs, static, outputs)

    def operand(self, tree: Any) -> Any:
        """What a node reads."""
        if isinstance(tree, dict) and "$value" in tree:
            return tree["$value"]
        return Constant(self.value(tree))

    def graph(self, tree: dict[str, Any]) -> Graph:
        """A graph inside a node."""
        nodes = [self.node(node) for node in tree["nodes"]]
        outputs = [self.operand(o) for o in tree["outputs"]]
        specs = {
            number: Spec((tuple([self.value(n) for n in shape]), self.value(dtype)))
            for number, shape, dtype in tree["specs"]
        }
        return Graph(tree["inputs"], nodes, outputs, specs)

    def size(self, factor: int, atoms: list[Any], plus: int) -> int:
        """A number that follows from sizes."""
        return int(factor * prod(self.count(n, axis) for n, axis in atoms) + plus)

    def count(self, number: int, axis: int | None) -> int:
        """The size of a value along an axis; without an axis, the integer that it is."""
        value = self.env[number]
        return int(value if axis is None else value._array.shape[axis])

    def value(self, tree: Any) -> Any:
        """Whatever a node is made with."""
        if isinstance(tree, np.ndarray):
            return tree if tree.shape or tree.dtype == object else tree[()]
        if not isinstance(tree, dict):
            return tree
        ((kind, inside),) = tree.items()
        return getattr(self, f"_{kind[1:]}")(inside)

    def _size(self, inside: Any) -> int:
        return self.size(*inside)

    def _ratio(self, inside: Any) -> float:
        factor, atoms, power = inside
        return float(factor * float(self.size(1, atoms, 0)) ** power)

    def _filled(self, inside: Any) -> Any:
        sizes, value, name = inside
        return np.full([self.value(s) for s in sizes], self.value(value), np.dtype(name))[()]

    def _elements(self, inside: Any) -> Any:
        sizes, elements, name = inside
        flat = np.array([self.value(e) for e in elements], np.dtype(name))
        return flat.reshape([self.value(s) for s in sizes])

    def _ramp(self, inside: Any) -> Any:
        count, start, step, name = inside
        steps = np.arange(self.value(count)).astype(np.dtype(name))
        ramp = self.value(start) + steps * np.dtype(name).type(self.value(step))
        return ramp.astype(np.dtype(name))

    def _triangle(self, inside: Any) -> Any:
        sizes, diagonal, lower, upper, name = inside
        shape = [self.value(s) for s in sizes]
        below = np.subtract.outer(np.arange(shape[-2]), np.arange(shape[-1]))
        filled = np.where(below >= self.value(diagonal), self.value(lower), self.value(upper))
        return np.broadcast_to(filled.astype(np.dtype(name)), shape)

    def _tuple(self, inside: Any) -> tuple[Any, ...]:
        return tuple([self.value(v) for v in inside])

    def _list(self, inside: Any) -> list[Any]:
        return [self.value(v) for v in inside]

    def _dict(self, inside: Any) -> dict[Any, Any]:
        return {self.value(k): self.value(v) for k, v in inside}

    def _bytes(self, inside: str) -> bytes:
        return inside.encode("latin-1")

    def _float(self, inside: str) -> float:
        return float(inside)

    def _complex(self, inside: Any) -> complex:
        return complex(*[self.value(part) for part in inside])

    def _slice(self, inside: Any) -> slice:
        return slice(*[self.value(part) for part in inside])

    def _ellipsis(self, inside: Any) -> Any:
        return ...

    def _dtype(self, inside: Any) -> Any:
        return dtype_of(*inside)

    def _tensorshape(self, inside: Any) -> TensorShape:
        return TensorShape(None if inside is None else [self.value(n) for n in inside])

    def _spec(self, inside: Any) -> TensorSpec:
        shape, dtype, name = inside
        sizes = None if shape is None else [self.value(n) for n in shape]
        return TensorSpec(sizes, as_dtype(dtype), name)

    def _fields(self, inside: Any) -> Any:
        name, values = inside
        return fields_named(name)(*[self.value(v) for v in values])

    def _padding(self, inside: Any) -> tuple[int, int]:
        (number, axis), stride, reach = inside
        return same_padding(self.count(number, axis), stride, reach)

    def _hole(self, inside: int) -> TensorSlot:
        return TensorSlot(inside)

    def _function(self, inside: str) -> Any:
        return function_named(inside)

    def _primitive(self, inside: str) -> Any:
        return REGISTRY[inside].function

    def _table(self, inside: int) -> Any:
        return self.tables[inside]

    def _body(self, inside: Any) -> Body:
        return Body(self.graph(inside))

    def _shape(self, inside: Any) -> LoopLayout:
        return LoopLayout(**dict(zip(SHAPE, map(self.value, inside), strict=True)))

    def _custom(self, inside: Any) -> UserGradient:
        custom = UserGradient()
        custom.inputs = tuple([self.operand(i) for i in inside["inputs"]])
        custom.seeds = inside["seeds"]
        custom.nodes = [self.node(node) for node in inside["nodes"]]
        custom.input_gradients = [self.answer(a) for a in inside["answers"]]
        custom.trace_error = inside["trouble"]
        return custom

    def answer(self, tree: Any) -> Any:
        """What a supplied gradient gives for one input."""
        if tree is None:
            return None
        if isinstance(tree, dict) and "$slices" in tree:
            return tuple([self.operand(part) for part in tree["$slices"]])
        return self.operand(tree)
