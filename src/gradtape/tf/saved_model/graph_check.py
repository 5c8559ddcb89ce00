"""Checks a graph in a file before anything is built from it."""

from __future__ import annotations

from typing import Any

from gradtape.graph.custom_gradient import UserGradient
from gradtape.graph.graph import Graph, Node
from gradtape.graph.subgraph import Body
from gradtape.state.hash_table import TableEntries
from gradtape.tf.saved_model.dim_tree import DimDecoder
from gradtape.tf.saved_model.failure import MalformedModel, shorten
from gradtape.tf.saved_model.limit import MAX_NODES
from gradtape.tf.saved_model.node_decoder import CUSTOM_FIELDS, GRAPH_FIELDS, GraphDecoder
from gradtape.tf.saved_model.op_schema import OpSchema
from gradtape.tf.saved_model.tree_check import (
    expect_dict,
    expect_list,
    expect_number,
    expect_text,
)

PROGRAM_FIELDS = ("inputs", "captures", "states", "nodes", "outputs", "specs", "assumptions")


class GraphChecker(GraphDecoder):
    """Decodes a graph without running or building it.

    Bodies are empty.

    Attributes:
        known: numbers of the values that nodes can read here.
        outer: numbers of the values of the whole graph, whose sizes exist.
        depth: how many bodies enclose this place.
        node_count: how many nodes have been checked.
    """

    def __init__(self, state_count: int, table_count: int) -> None:
        """For a graph with this number of variables and tables."""
        super().__init__([TableEntries(None)] * table_count, DimDecoder(self.check_source))
        self.state_count = state_count
        self.known: set[int] = set()
        self.outer: set[int] = set()
        self.depth = 0
        self.node_count = 0

    def check_program(self, tree: Any) -> None:
        """Check the graph of a function."""
        expect_dict(tree, *PROGRAM_FIELDS)
        for part in ("inputs", "captures", "states"):
            self.add_values(tree[part])
        self.outer |= self.known
        if len(tree["states"]) != self.state_count:
            raise MalformedModel(
                f"it has {self.state_count} variables. Received {shorten(tree['states'])}"
            )
        self.check_nodes(tree["nodes"])
        for one in expect_list(tree["outputs"]):
            self.decode_operand(one)
        for one in expect_list(tree["assumptions"]):
            self.dims.decode_assumption(one)

    def add_values(self, numbers: Any) -> list[int]:
        """Check that numbers are new, and note that these values exist."""
        for number in expect_list(numbers):
            if expect_number(number) in self.known:
                raise MalformedModel(f"the value {number} is computed twice")
            self.known.add(number)
        return list(numbers)

    def check_nodes(self, nodes: Any) -> None:
        """Check nodes in their order."""
        for i, node in enumerate(expect_list(nodes)):
            try:
                self.check_node(node)
            except MalformedModel as error:
                name = node.get("op") if isinstance(node, dict) else None
                label = name[:60] if isinstance(name, str) else "?"
                raise error.inside(f"nodes[{i}] ({label})") from None

    def check_node(self, tree: Any) -> None:
        """Check a node; its outputs exist from now on."""
        self.node_count += 1
        if self.node_count > MAX_NODES:
            raise MalformedModel(f"a model has at most {MAX_NODES} nodes")
        schema, inputs, values, outputs = self.decode_call(tree)
        if schema.is_effect and self.depth:
            raise MalformedModel("it cannot be part of a body or of a gradient")
        check_structure(schema, inputs, values, len(outputs), self.state_count)
        self.add_values(tree["out"])
        if not self.depth:
            self.outer.update(outputs)

    def decode_node(self, tree: Any) -> Node:
        """Bodies are checked with `check_nodes` only."""
        raise NotImplementedError

    def decode_operand(self, tree: Any) -> Any:
        """What a node reads; a value must exist."""
        operand = super().decode_operand(tree)
        if type(operand) is int and operand not in self.known:
            raise MalformedModel(f"the value {operand} does not exist here")
        return operand

    def check_source(self, number: int) -> None:
        """Check that the value exists whose size is used."""
        if number not in self.outer:
            raise MalformedModel(f"the value {number}, whose size is used, does not exist here")

    def decode_body(self, inner: Any) -> Body:
        """An empty body with the inputs and outputs of the one in the file."""
        expect_dict(inner, *GRAPH_FIELDS)
        before, self.known = self.known, set()
        self.depth += 1
        inputs = self.add_values(inner["inputs"])
        self.check_nodes(inner["nodes"])
        outputs = [self.decode_operand(one) for one in expect_list(inner["outputs"])]
        specs = {}
        for one in expect_list(inner["specs"]):
            number, shape, dtype = expect_list(one, 3)
            specs[expect_number(number)] = self.decode_value_spec(shape, dtype)
        missing = self.known - specs.keys()
        if missing:
            raise MalformedModel(f"the value {min(missing)} of a body has no shape and dtype")
        self.known = before
        self.depth -= 1
        return Body(Graph(inputs, [], outputs, specs))

    def decode_custom(self, inner: Any) -> UserGradient:
        """A gradient function without nodes."""
        expect_dict(inner, *CUSTOM_FIELDS)
        custom = UserGradient()
        custom.inputs = tuple([self.decode_operand(one) for one in expect_list(inner["inputs"])])
        before, self.known = self.known, set(self.known)
        self.depth += 1
        custom.seeds = self.add_values(inner["seeds"])
        self.check_nodes(inner["nodes"])
        gradients = expect_list(inner["gradients"])
        custom.input_gradients = [self.decode_gradient(one) for one in gradients]
        custom.trace_error = expect_text(inner["error"])
        if not custom.trace_error and len(gradients) != len(custom.inputs):
            raise MalformedModel(
                f"a gradient function gives {len(custom.inputs)} gradients. "
                f"Received {len(gradients)}"
            )
        self.known = before
        self.depth -= 1
        return custom


def check_structure(
    schema: OpSchema, inputs: tuple[Any, ...], values: dict[str, Any], outputs: int, states: int
) -> None:
    """Check that bodies and layouts fit the inputs and outputs of a node.

    Raises:
        MalformedModel: if they do not.
    """
    counts: list[tuple[str, int, int]] = []  # what, how many it has, how many it must have
    if schema.name == "install":
        if type(values["key"]) is not int or values["key"] >= states:
            raise MalformedModel(f"there is no variable {values['key']}, there are {states}")
    elif schema.name == "custom_gradient":
        counts.append(("outputs", outputs, len(inputs)))
        if len(values["custom"].seeds) > len(inputs):
            counts.append(("cotangents", len(values["custom"].seeds), len(inputs)))
    elif schema.name == "cond":
        for branch in values["branches"]:
            graph = branch.existing_graph
            counts.append(("inputs of a branch", len(graph.inputs), len(inputs) - 1))
            counts.append(("outputs of a branch", len(graph.outputs), outputs))
    elif schema.name == "loop":
        counts += count_loop(values, len(inputs), outputs)
    for what, have, wanted in counts:
        if have != wanted:
            raise MalformedModel(f"the number of {what} must be {wanted}. Received {have}")


def count_loop(values: dict[str, Any], inputs: int, outputs: int) -> list[tuple[str, int, int]]:
    """What a loop has and must have: inputs and outputs of the node and of its bodies."""
    layout, body, test = values["shape"], values["body"].existing_graph, values["test"]
    constant = layout.carries + layout.captures
    counts = [
        ("inputs", inputs, 1 + constant + len(layout.xs)),
        ("outputs", outputs, layout.carries + len(layout.ys) + 1 + len(layout.saved)),
        ("inputs of the body", len(body.inputs), constant + len(layout.xs)),
        ("outputs of the body", len(body.outputs), layout.carries + len(layout.ys)),
    ]
    if test is not None:
        graph = test.existing_graph
        counts.append(("inputs of the test", len(graph.inputs), constant))
        counts.append(("outputs of the test", len(graph.outputs), 1))
    return counts
