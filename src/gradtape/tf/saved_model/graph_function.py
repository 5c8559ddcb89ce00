"""GraphFunction: a graph of a model, with the tensors and variables that it uses."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from gradtape.core.convert import convert
from gradtape.core.dims import SizeSource
from gradtape.core.size_atom import Unknown
from gradtape.core.size_context import Assumption
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.graph.graph import Effect, Node, Operand
from gradtape.graph.open_replay import OpenReplay
from gradtape.graph.replay import tensor_at
from gradtape.tf.saved_model.dim_tree import DimDecoder
from gradtape.tf.saved_model.node_decoder import GraphDecoder


class DecodedGraph:
    """The decoded graph of a `GraphFunction`.

    Attributes:
        nodes: the nodes, in order.
        outputs: operands of the results.
        sources: where the unknown sizes are found.
        assumptions: what must hold for the sizes of a call.
    """

    def __init__(self, tree: dict[str, Any], tables: list[Any], names: list[str]) -> None:
        """Decode a tree that was checked; `names` are those of the inputs, for messages."""
        dims = DimDecoder(names=dict(zip(tree["inputs"], names, strict=True)))
        decoder = GraphDecoder(tables, dims)
        self.nodes: list[Node] = [decoder.decode_node(node) for node in tree["nodes"]]
        self.outputs: list[Operand] = [decoder.decode_operand(one) for one in tree["outputs"]]
        found = [dims.decode_assumption(one) for one in tree["assumptions"]]
        self.assumptions: list[Assumption] = [one for one in found if one is not None]
        self.sources: dict[Unknown, SizeSource] = dims.sources


class GraphFunction:
    """A graph with its captures, variables and tables, for arguments of certain ranks.

    Attributes:
        tree: numbers of the given values (`inputs`, `captures`, `states`), `nodes`, `outputs`,
            shapes and dtypes of the outputs (`specs`), and `assumptions` about sizes.
        captures: tensors.
        states: variables.
        tables: entries of the tables that the graph looks up.
        names: names of the inputs, for messages.
    """

    def __init__(
        self,
        tree: dict[str, Any],
        captures: list[Any],
        states: list[Any],
        tables: list[Any],
        names: list[str],
    ) -> None:
        """A graph of these parts."""
        self.tree = tree
        self.captures = captures
        self.states = states
        self.tables = tables
        self.names = names

    @cached_property
    def program(self) -> DecodedGraph:
        """The decoded graph."""
        return DecodedGraph(self.tree, self.tables, self.names)

    def start(self, tensors: list[Tensor]) -> OpenReplay:
        """Start a run on flat arguments.

        Raises:
            ViolatedAssumption: if the graph was not made for their sizes.
        """
        tree, program = self.tree, self.program
        run = OpenReplay(program.sources, call_on_host, self.assign_variable, program.assumptions)
        run.add_values(tree["inputs"], tensors)
        run.add_values(tree["captures"], self.captures)
        run.check_assumptions()
        return run

    def finish(self, run: OpenReplay) -> list[Tensor]:
        """The flat results of a run; inside a trace they are traced."""
        run.add_values(self.tree["states"], [v._read() for v in self.states])
        run.run(self.program.nodes)
        return [convert(tensor_at(run.values, output)) for output in self.program.outputs]

    def assign_variable(self, key: int, value: Any) -> Tensor:
        """Assign a variable, and return its new value."""
        variable = self.states[key]
        variable.assign(value, read_value=False)
        tensor: Tensor = variable._read()
        return tensor


def call_on_host(node: Node, args: tuple[Any, ...]) -> tuple[Tensor, ...]:
    """Call the function of the library that a node names."""
    assert isinstance(node.op, Effect)
    tensors = [a if isinstance(a, Tensor) else make_tensor(a) for a in args]
    return tuple(node.op.kernel(*tensors))


def is_stream(variable: Any) -> bool:
    """Whether a variable is the hidden one of a random op."""
    return hasattr(variable, "pair")
