"""Diagrams: the ops of a tape or of a graph as nodes with names, sizes, lines and edges."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from gradtape.core.ports import TapePort
from gradtape.core.tensor import Tensor
from gradtape.graph.graph import Constant, Graph
from gradtape.tape.gradient_tape import GradientTape


@dataclass
class DiagramNode:
    """One op, or one source: a variable or a watched tensor.

    Attributes:
        name: the name of the op or source.
        inputs: positions of the nodes it reads, in the diagram.
        shape: the shape of its result, or None if it is unknown.
        dtype: the dtype of its result, or "".
        saved: bytes that it keeps alive and no earlier op does.
        line: file and line where the program applied it, or "".
        scope: its name scope, without the final slash.
        is_source: whether it is a variable or a watched tensor.
    """

    name: str
    inputs: list[int] = field(default_factory=list)
    shape: tuple[int, ...] | None = None
    dtype: str = ""
    saved: int = 0
    line: str = ""
    scope: str = ""
    is_source: bool = False

    @property
    def kind(self) -> str:
        """Shape and dtype as text."""
        if self.shape is None:
            return "?"
        return f"{self.dtype}[{', '.join(map(str, self.shape))}]"


@dataclass
class Diagram:
    """Nodes in the order in which they ran."""

    title: str
    nodes: list[DiagramNode]

    @property
    def ops(self) -> list[DiagramNode]:
        """The nodes that are ops."""
        return [node for node in self.nodes if not node.is_source]

    @property
    def total(self) -> int:
        """Bytes that all nodes keep alive."""
        return sum(node.saved for node in self.nodes)


def diagram_of_tape(tape: GradientTape) -> Diagram:
    """The ops that a tape has recorded."""
    record: Any = tape._tape
    if record is None:
        return Diagram("GradientTape without a record", [])
    return TapeReader(record).read()


class TapeReader:
    """Reads the entries of a record into a diagram."""

    def __init__(self, record: Any) -> None:
        """Collect the tensors that the record keeps alive, and the names of its sources."""
        self.record = record
        self.nodes: list[DiagramNode] = []
        self.place: dict[int, int] = {}  # uid → position of its node
        self.counted: set[int] = set()  # ids of the arrays whose bytes are counted
        self.tensors = {
            tensor.uid: tensor for entry in record.values() for tensor in tensors_in(entry or ())
        }
        self.names: dict[int, str] = {}
        for variable, versions in record.variables.values():
            for uid in versions:
                self.names[uid] = variable.name.split(":")[0]
                self.tensors.setdefault(uid, variable._stored_version())

    def read(self) -> Diagram:
        """Make the diagram."""
        for uid, entry in self.record.items():
            if entry is None:
                self.add_source(uid)
            elif entry[0] is TapePort.route_cotangent:
                self.place[uid] = self.place[entry[1]]
            else:
                self.add_op(uid, entry)
        return Diagram("GradientTape", self.nodes)

    def add_source(self, uid: int) -> None:
        """Add a variable or a watched tensor."""
        if uid in self.place:
            return
        node = DiagramNode(self.names.get(uid, "watched tensor"), is_source=True)
        self.describe(node, self.tensors.get(uid))
        self.append(uid, node)

    def add_op(self, uid: int, entry: tuple[Any, ...]) -> None:
        """Add a recorded op."""
        step = entry[0]
        inputs = step.inputs_of(entry)
        for source in inputs:
            if source not in self.place:
                self.add_source(source)
        node = DiagramNode(name_of_step(entry), [self.place[i] for i in inputs])
        self.describe(node, self.tensors.get(uid))
        noted = getattr(self.record, "specs", {}).get(uid)
        if noted is not None:
            node.shape, node.dtype = tuple(noted[0]), str(noted[1])
        elif node.shape is None:
            node.shape, node.dtype = self.infer(step, inputs, entry)
        node.saved = self.count(entry)
        where = getattr(self.record, "locations", {}).get(uid)
        if where is not None:
            node.line, node.scope = f"{where[0]}:{where[1]}", where[2].rstrip("/")
        self.append(uid, node)

    def append(self, uid: int, node: DiagramNode) -> None:
        """Append a node for the value `uid`."""
        self.place[uid] = len(self.nodes)
        self.nodes.append(node)

    def describe(self, node: DiagramNode, tensor: Tensor | None) -> None:
        """Note the shape and dtype of a result."""
        if tensor is not None:
            node.shape = tuple(tensor._array.shape)
            node.dtype = tensor.dtype.name

    def infer(self, step: Any, inputs: Any, entry: Any) -> tuple[Any, str]:
        """Shape and dtype of a result that the record does not keep, if they can be found."""
        op = getattr(step, "op", None)
        known = [self.nodes[self.place[i]] for i in inputs]
        dtype = known[0].dtype if known else ""
        if op is None:
            return None, dtype
        shapes = [part for part in entry[1 + (step.count or 1) :] if is_shape(part)]
        if op.core_ndim == 0 and known and all(node.shape is not None for node in known):
            found = [node.shape for node in known] + shapes
            return max(found, key=lambda shape: (len(shape or ()), size_of(shape))), dtype
        return None, dtype

    def count(self, entry: Any) -> int:
        """Bytes of the arrays of an entry that no earlier entry keeps."""
        total = 0
        for array in arrays_in(entry):
            owner = array if getattr(array, "base", None) is None else array.base
            if id(owner) not in self.counted:
                self.counted.add(id(owner))
                total += int(getattr(owner, "nbytes", array.nbytes))
        return total


def size_of(shape: tuple[int, ...] | None) -> int:
    """The number of elements of a shape."""
    size = 1
    for n in shape or ():
        size *= n
    return size


def is_shape(part: Any) -> bool:
    """Whether a part of an entry is a shape."""
    return type(part) is tuple and all(type(n) is int for n in part)


def tensors_in(parts: Any) -> Iterator[Tensor]:
    """Yield the tensors that an entry keeps alive."""
    for part in parts:
        if isinstance(part, Tensor):
            yield part
        elif isinstance(part, (tuple, list)):
            yield from tensors_in(part)


def arrays_in(entry: tuple[Any, ...]) -> Iterator[Any]:
    """Yield the arrays that an entry keeps alive."""
    for tensor in tensors_in(entry):
        yield tensor._array
    saved = entry[3] if len(entry) > 3 else None  # that of a call of a compiled function
    for tensor in getattr(saved, "inputs", None) or ():
        yield tensor._array
    for residual in getattr(saved, "residuals", None) or ():
        if hasattr(residual, "nbytes"):
            yield residual


def name_of_step(entry: tuple[Any, ...]) -> str:
    """The name of the op of an entry."""
    step = entry[0]
    op = getattr(step, "op", None)
    if op is not None:
        return str(op.name)
    saved = entry[3] if len(entry) > 3 else None
    if hasattr(saved, "path"):
        return "call of a tf.function"
    return type(step).__name__.removesuffix("Step").replace("CustomGradient", "custom gradient")


def diagram_of_graph(graph: Graph, title: str, names: dict[int, str] | None = None) -> Diagram:
    """The nodes of the graph of a function; `names` are those of its inputs."""
    nodes: list[DiagramNode] = []
    place: dict[Any, int] = {}
    named = names or {}

    def add(number: int, node: DiagramNode) -> None:
        spec = graph.specs[number]
        node.shape, node.dtype = tuple(spec[0]), str(spec[1])
        place[number] = len(nodes)
        nodes.append(node)

    for k, number in enumerate(graph.inputs):
        add(number, DiagramNode(named.get(number, f"input {k}"), is_source=True))
    for one in graph.live_nodes():
        inputs = [place[i] for i in one.inputs if not isinstance(i, Constant) and i in place]
        node = DiagramNode(str(getattr(one.op, "name", one.op)), inputs)
        location = getattr(one, "location", (None, -1))
        if location[0] is not None:
            node.line = f"{location[0].co_filename}:{line_of(*location)}"
        if one.outputs:
            add(one.outputs[0], node)
            node.saved = 0
            for other in one.outputs[1:]:
                place[other] = place[one.outputs[0]]
    return Diagram(title, nodes)


def line_of(code: Any, instruction: int) -> int:
    """The line of an instruction of a code object."""
    positions = list(code.co_positions())
    at = instruction // 2
    return int(positions[at][0] or code.co_firstlineno) if at < len(positions) else 0
