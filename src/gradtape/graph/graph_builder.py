"""GraphBuilder: the numbered values and the nodes of a graph that is being traced.

A value gets its number when it is made. The builder refers to values weakly, so an array is freed
as soon as the traced function no longer needs it. Only while the body of a branch or a loop is
recorded does the builder hold the tensors that ops use: the node of the body takes those from
outside as inputs.
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Iterable, Iterator
from typing import Any

from gradtape.core.lazy_array import TracedArray, UnrankedArray, materialize
from gradtape.core.primitive import Primitive, Spec
from gradtape.core.symbolic_tensor import SymbolicTensor
from gradtape.core.tensor import Tensor
from gradtape.core.user_location import user_location
from gradtape.graph.graph import Constant, Effect, Graph, Node, Operand
from gradtape.graph.value_name import ValueNames


class RecordedBody:
    """The body of a branch, a loop or a gradient function.

    Attributes:
        nodes: the nodes of the body.
        tensors: every tensor that the body and the bodies around it have used, by number.
    """

    __slots__ = ("nodes", "tensors")

    def __init__(self, tensors: dict[int, SymbolicTensor]) -> None:
        """Start without nodes."""
        self.nodes: list[Node] = []
        self.tensors = tensors


class GraphBuilder(ValueNames):
    """Numbers values and collects nodes.

    Attributes:
        nodes: the nodes so far, in order; those of a body while one is recorded.
        specs: shape and dtype of every value, by number.
        inputs: numbers of the function's arguments.
        captures: tensors from outside by uid, each with the traced tensor that represents it.
        body_tensors: the tensors that the ops of a body have used, by number; None outside bodies.
    """

    def __init__(self) -> None:
        """Start empty."""
        super().__init__()
        self.nodes: list[Node] = []
        self.specs: dict[int, Spec] = {}
        self.inputs: list[int] = []
        self.captures: dict[int, tuple[Tensor, SymbolicTensor]] = {}
        self._arrays: list[weakref.ref[TracedArray]] = []
        self.body_tensors: dict[int, SymbolicTensor] | None = None

    def add_value(self, raw: Any, trace: Any, name: str = "", shape: Any = None) -> TracedArray:
        """The array of a new value, which has the raw value `raw` in this run of `trace`.

        Sizes in `shape` may be unknown.
        """
        number = len(self.specs)
        self.specs[number] = Spec((raw.shape if shape is None else shape, raw.dtype))
        kind = UnrankedArray if self.specs[number].shape is None else TracedArray
        held = kind(raw, number, trace, shape)
        self._arrays.append(weakref.ref(held))
        if name:
            self.names[number] = name
        return held

    def add_alias(self, held: TracedArray) -> TracedArray:
        """Another array for the same value, which shows its sizes in this run."""
        alias = TracedArray(held.traced_value, held.number, held.trace)
        self._arrays.append(weakref.ref(alias))
        return alias

    def add_node(
        self,
        op: Primitive | Effect,
        lifted: Iterable[Any],
        static: dict[str, Any],
        outs: Iterable[Tensor],
    ) -> None:
        """Add the application of `op` to lifted arguments."""
        inputs = tuple(map(operand_of, lifted))
        numbers = tuple([o._array.number for o in outs])
        self.nodes.append(Node(op, inputs, static, numbers, user_location()))

    def capture_numbers(self) -> list[int]:
        """Numbers of the captures, in order."""
        return [traced._array.number for _, traced in self.captures.values()]

    @contextlib.contextmanager
    def record_body(self) -> Iterator[RecordedBody]:
        """Collect nodes in a list of their own."""
        nodes, tensors = self.nodes, self.body_tensors
        body = RecordedBody({} if tensors is None else tensors)
        self.nodes, self.body_tensors = body.nodes, body.tensors
        try:
            yield body
        finally:
            self.nodes, self.body_tensors = nodes, tensors

    def make_graph(self, inputs: Iterable[int], outputs: Iterable[Operand]) -> Graph:
        """The graph from the arguments, the captures and further `inputs` to `outputs`."""
        return Graph(
            [*self.inputs, *self.capture_numbers(), *inputs], self.nodes, outputs, self.specs
        )

    def clear(self) -> None:
        """Release all values. Nodes, specs and names stay: results refer to them."""
        for ref in self._arrays:
            held = ref()
            if held is not None:
                held.traced_value = None
        self._arrays.clear()
        self.captures.clear()


def operand_of(lifted: Any) -> Operand:
    """The operand of a node for a lifted argument: the number of a value, or a constant."""
    if isinstance(lifted, SymbolicTensor):
        return int(lifted._array.number)
    if isinstance(lifted, Tensor):
        return Constant(materialize(lifted._array), lifted.uid)
    return Constant(lifted)
