"""Nodes and graphs from the tree in a file."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from gradtape.core.dims import Dim
from gradtape.core.open_shape import has_dims, substitute
from gradtape.core.primitive import Spec
from gradtape.core.size_function import Env
from gradtape.graph.custom_gradient import UserGradient
from gradtape.graph.graph import Constant, Graph, Node
from gradtape.graph.loop_gradient import LoopLayout
from gradtape.graph.side_effect import TensorSlot
from gradtape.graph.specialise import CheckedNode
from gradtape.graph.subgraph import Body
from gradtape.tf.saved_model.dim_tree import DimDecoder
from gradtape.tf.saved_model.failure import MalformedModel, shorten
from gradtape.tf.saved_model.limit import MAX_RANK, MAX_SIZE, MAX_TEXT, MAX_VALUE_NUMBER
from gradtape.tf.saved_model.op_schema import OpSchema
from gradtape.tf.saved_model.op_table.registry import find_op
from gradtape.tf.saved_model.tree_check import (
    expect_bool,
    expect_dict,
    expect_dtype,
    expect_index,
    expect_int,
    expect_list,
    expect_number,
    expect_text,
)
from gradtape.tf.saved_model.value_decoder import ValueDecoder

LAYOUT_FIELDS = ("carries", "captures", "xs", "ys", "saved", "reverse")
NODE_FIELDS = ("op", "in", "out", "static")
GRAPH_FIELDS = ("inputs", "nodes", "outputs", "specs")
CUSTOM_FIELDS = ("inputs", "seeds", "nodes", "gradients", "error")


class GraphDecoder(ValueDecoder):
    """Decodes the trees of one graph.

    Attributes:
        tables: entries of the tables that nodes refer to.
        dims: decodes sizes that are expressions.
    """

    tags: ClassVar[dict[str, str]] = ValueDecoder.tags | {
        "$dim": "decode_dim",
        "$input": "decode_input",
        "$table": "decode_table",
        "$body": "decode_body",
        "$layout": "decode_layout",
        "$custom": "decode_custom",
    }

    def __init__(self, tables: list[Any], dims: DimDecoder) -> None:
        """For a graph that refers to these tables and sizes."""
        self.tables = tables
        self.dims = dims

    def decode_dim(self, inner: Any) -> Any:
        """A size that is an expression."""
        return self.dims.decode(inner)

    def decode_node(self, tree: Any) -> Node:
        """A node of a graph."""
        schema, inputs, values, outputs = self.decode_call(tree)
        node = schema.make_node(inputs, values, outputs)
        return make_checked_node(node, schema, values) if has_dims(list(values.values())) else node

    def decode_call(
        self, tree: Any
    ) -> tuple[OpSchema, tuple[Any, ...], dict[str, Any], tuple[int, ...]]:
        """The schema, inputs, attributes and outputs of a node."""
        schema = find_op(tree.get("op") if isinstance(tree, dict) else None)
        expect_dict(tree, *NODE_FIELDS)
        inputs = tuple([self.decode_operand(one) for one in expect_list(tree["in"])])
        outputs = tuple([expect_number(one) for one in expect_list(tree["out"])])
        static = expect_dict(tree["static"], *schema.attributes)
        values = {name: self.decode(static[name]) for name in schema.attributes}
        schema.check_attributes(values)
        schema.check_counts(values, len(inputs), len(outputs))
        return schema, inputs, values, outputs

    def decode_operand(self, tree: Any) -> Any:
        """What a node reads: the number of a value, or a constant."""
        if isinstance(tree, dict) and "$value" in tree:
            return expect_number(expect_dict(tree, "$value")["$value"])
        raw = self.decode(tree)
        if not isinstance(raw, (np.ndarray, np.generic, Dim, bool, int, float, complex)):
            raise MalformedModel(f"a node reads values and arrays. Received {shorten(tree)}")
        return Constant(raw)

    def decode_graph(self, tree: Any) -> Graph:
        """The graph of a body."""
        expect_dict(tree, *GRAPH_FIELDS)
        inputs = [expect_number(one) for one in expect_list(tree["inputs"])]
        nodes = [self.decode_node(node) for node in expect_list(tree["nodes"])]
        outputs = [self.decode_operand(one) for one in expect_list(tree["outputs"])]
        specs = {}
        for one in expect_list(tree["specs"]):
            number, shape, dtype = expect_list(one, 3)
            specs[expect_number(number)] = self.decode_value_spec(shape, dtype)
        return Graph(inputs, nodes, outputs, specs)

    def decode_value_spec(self, shape: Any, dtype: Any) -> Spec:
        """Shape and dtype of a value."""
        sizes = tuple([self.decode_int(size, 0, MAX_SIZE) for size in expect_list(shape)])
        return Spec((sizes, np.dtype(expect_dtype(dtype).as_numpy_dtype)))

    def decode_input(self, inner: Any) -> TensorSlot:
        """The place of an input of the node."""
        return TensorSlot(expect_number(inner))

    def decode_table(self, inner: Any) -> Any:
        """The entries of a table."""
        return self.tables[expect_index(inner, len(self.tables), "table")]

    def decode_body(self, inner: Any) -> Body:
        """The body of a loop or branch."""
        return Body(self.decode_graph(inner))

    def decode_layout(self, inner: Any) -> LoopLayout:
        """The layout of a loop."""
        expect_dict(inner, *LAYOUT_FIELDS)
        most = MAX_VALUE_NUMBER
        axes = [expect_int(axis, -MAX_RANK, -1) for axis in expect_list(inner["xs"])]
        stacked = []
        for one in expect_list(inner["ys"]):
            axis, shape, dtype = expect_list(one, 3)
            spec = self.decode_value_spec(shape, dtype)
            stacked.append((expect_int(axis, -MAX_RANK, -1), spec.shape, spec.dtype))
        carries = expect_int(inner["carries"], 0, most)
        return LoopLayout(
            carries,
            expect_int(inner["captures"], 0, most),
            tuple(axes),
            tuple(stacked),
            tuple([expect_index(i, carries, "carry") for i in expect_list(inner["saved"])]),
            expect_bool(inner["reverse"]),
        )

    def decode_custom(self, inner: Any) -> UserGradient:
        """A gradient function of the user's."""
        expect_dict(inner, *CUSTOM_FIELDS)
        custom = UserGradient()
        custom.inputs = tuple([self.decode_operand(one) for one in expect_list(inner["inputs"])])
        custom.seeds = [expect_number(one) for one in expect_list(inner["seeds"])]
        custom.nodes = [self.decode_node(node) for node in expect_list(inner["nodes"])]
        custom.input_gradients = [self.decode_gradient(g) for g in expect_list(inner["gradients"])]
        custom.trace_error = expect_text(inner["error"], MAX_TEXT)
        return custom

    def decode_gradient(self, tree: Any) -> Any:
        """The gradient of one input: None, an operand, or operands of IndexedSlices."""
        if tree is None:
            return None
        if isinstance(tree, dict) and "$slices" in tree:
            parts = expect_list(expect_dict(tree, "$slices")["$slices"], 2)
            return tuple([self.decode_operand(part) for part in parts])
        return self.decode_operand(tree)


def make_checked_node(node: Node, schema: OpSchema, values: dict[str, Any]) -> CheckedNode:
    """A node whose attributes depend on sizes, and are checked again when these are known."""
    checked = CheckedNode(node.op, node.inputs, node.static, node.outputs)

    def specialise(inputs: tuple[Any, ...], env: Env) -> Node:
        known = {name: substitute(value, env) for name, value in values.items()}
        schema.check_attributes(known)
        return schema.make_node(inputs, known, node.outputs)

    checked.specialise = specialise
    return checked
