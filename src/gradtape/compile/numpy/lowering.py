"""Lowering of a graph of primitives to a program of NumPy calls."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.compile.numpy import numpy_function  # noqa: F401 - it registers handlers
from gradtape.compile.numpy.abstract_array import PYTHON_NUMBER_TYPES, AbstractArray
from gradtape.compile.numpy.call_recorder import CallRecorder
from gradtape.compile.numpy.graph_rewrite import gate_before_unpooling
from gradtape.compile.numpy.kernel_namespace import clone_for_recording
from gradtape.compile.numpy.kernel_override import KERNEL_OVERRIDES
from gradtape.compile.numpy.program import (
    NumpyCall,
    Operand,
    Program,
    ValueSpec,
    substitute_operands,
)
from gradtape.core.interruption import is_from_signal_handler
from gradtape.core.primitive import REGISTRY, Primitive
from gradtape.graph.graph import Graph, Node
from gradtape.graph.trace_op import INSTALL


class KernelTemplate:
    """The calls of a kernel for inputs of certain shapes and dtypes.

    Attributes:
        calls: calls on values numbered from zero; the inputs come first.
        specs: shape, dtype and kind of each value.
        outs: operands that the kernel returns.
    """

    __slots__ = ("calls", "outs", "specs")

    def __init__(
        self, calls: list[NumpyCall], known: list[ValueSpec], outs: tuple[Operand, ...]
    ) -> None:
        """Make a template of these parts."""
        self.calls = calls
        self.specs = known
        self.outs = outs


KERNEL_TEMPLATES: dict[Any, KernelTemplate | None] = {}
MAX_KERNEL_TEMPLATES = 4096


def lower_graph(graph: Graph) -> Program:
    """Lower a graph to a program, without optimisations of the program."""
    graph = gate_before_unpooling(graph)
    known = {i: as_value_spec(graph.specs[i]) for i in graph.inputs}
    program = Program(graph.inputs, [], [], known)
    counter = max(graph.specs, default=0) + 1
    names: dict[int, Operand] = {}  # values of the graph that are another operand
    for node in graph.live_nodes():
        args = tuple([names.get(a, a) if type(a) is int else a for a in node.inputs])
        template = None if node.is_effect else find_template(node, args, known)
        if template is None:
            add_opaque_call(program, graph, node, args)
            continue
        numbers: dict[int, Operand] = dict(enumerate(args))
        returned = dict(zip(template.outs, node.outputs, strict=True))
        for call in template.calls:
            (local,) = call.outs
            number = returned.get(local)
            if number is None:
                number = counter
                counter += 1
            known[number] = template.specs[local]
            numbers[local] = number
            args = substitute_operands(call.args, numbers)
            program.calls.append(NumpyCall(call.kind, call.fn, args, (number,), call.static))
        for local, number in zip(template.outs, node.outputs, strict=True):
            operand = numbers[local] if type(local) is int else local
            if operand != number:
                names[number] = operand
    program.outputs = [names.get(o, o) if type(o) is int else o for o in graph.outputs]
    return program


def add_opaque_call(program: Program, graph: Graph, node: Node, args: tuple[Operand, ...]) -> None:
    """Add a node as one opaque call."""
    for number in node.outputs:
        program.specs[number] = as_value_spec(graph.specs[number])
    program.calls.append(NumpyCall("opaque", node.op, args, node.outputs, node.static))


def as_value_spec(spec: Any) -> ValueSpec:
    """A spec as `ValueSpec`; a value without axes is a NumPy scalar, except strings."""
    shape, dtype = spec
    return ValueSpec(tuple(shape), dtype, shape != () or dtype.char == "O")


def find_template(
    node: Node, args: tuple[Operand, ...], known: dict[int, ValueSpec]
) -> KernelTemplate | None:
    """The template of a node's kernel, cached; None if the kernel must stay one opaque call."""
    assert isinstance(node.op, Primitive)
    if (
        REGISTRY.get(node.op.name) is not node.op
    ):  # an op of this trace only, such as a host function
        return INSTALL_TEMPLATE if node.op is INSTALL else None
    inputs: list[Any] = []
    for a in args:
        if type(a) is int:
            inputs.append(known[a])
        elif type(a.raw) in PYTHON_NUMBER_TYPES:
            inputs.append((type(a.raw), repr(a.raw), a.raw))
        else:
            found = np.asarray(a.raw)
            inputs.append(ValueSpec(found.shape, found.dtype, isinstance(a.raw, np.ndarray)))
    static = [
        (name, type(v), repr(v) if type(v) is float else v) for name, v in node.static.items()
    ]
    key = (node.op, *inputs, *static)
    try:
        if key in KERNEL_TEMPLATES:
            return KERNEL_TEMPLATES[key]
    except TypeError:  # a static that cannot be hashed
        return record_kernel(node.op, inputs, node.static)
    if len(KERNEL_TEMPLATES) >= MAX_KERNEL_TEMPLATES:
        KERNEL_TEMPLATES.clear()
    template = KERNEL_TEMPLATES[key] = record_kernel(node.op, inputs, node.static)
    return template


def record_kernel(
    op: Primitive, inputs: list[Any], static: dict[str, Any]
) -> KernelTemplate | None:
    """Run a kernel on stand-ins and record its calls; None if it is opaque."""
    if any(type(i) is ValueSpec and i.dtype.char == "O" for i in inputs):
        return None
    recorder = CallRecorder()
    stand_ins = [recorder.add_value(i if type(i) is ValueSpec else NUMBER_SPEC) for i in inputs]
    args = [s if type(i) is ValueSpec else i[2] for s, i in zip(stand_ins, inputs, strict=True)]
    kernel = KERNEL_OVERRIDES.get(op.name) or clone_for_recording(op.kernel)
    try:
        result = kernel(*args, **static)
        results = tuple(result) if op.outputs else (result,)
        outs = tuple([recorder.to_operand(r) for r in results])
    except Exception as error:  # a real error will be raised again when the kernel runs
        if is_from_signal_handler(error):
            raise
        return None
    finally:
        recorder.unfreeze_arrays()
    if any(not isinstance(r, AbstractArray | np.ndarray | np.generic) for r in results):
        return None
    if len({o for o in outs if type(o) is int}) < len(outs) > 1:
        return None
    return KernelTemplate(recorder.calls, recorder.specs, outs)


INSTALL_TEMPLATE = KernelTemplate([], [], (0,))  # `install` returns its input
NUMBER_SPEC = ValueSpec((), np.dtype("float64"), False)  # placeholder for a Python number
