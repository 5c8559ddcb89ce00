"""Lowering of a graph of primitives to a program of NumPy calls."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.compile.numpy import numpy_function  # noqa: F401 - it registers handlers
from gradtape.compile.numpy.abstract_array import PYTHON, StandIn
from gradtape.compile.numpy.call_recorder import Recorder
from gradtape.compile.numpy.kernel_namespace import cloned
from gradtape.compile.numpy.kernel_override import FORMS
from gradtape.compile.numpy.program import Call, Known, Operand, Program, substituted
from gradtape.core.primitive import REGISTRY, Primitive
from gradtape.graph.graph import Graph, Node
from gradtape.graph.trace_op import INSTALL


class Template:
    """The calls of a kernel for inputs of certain shapes and dtypes.

    Attributes:
        calls: calls on values numbered from zero; the inputs come first.
        known: shape, dtype and kind of each value.
        outs: operands that the kernel returns.
    """

    __slots__ = ("calls", "known", "outs")

    def __init__(self, calls: list[Call], known: list[Known], outs: tuple[Operand, ...]) -> None:
        """Make a template of these parts."""
        self.calls = calls
        self.known = known
        self.outs = outs


TEMPLATES: dict[Any, Template | None] = {}
MOST_TEMPLATES = 4096


def lower(graph: Graph) -> Program:
    """Lower a graph to a program, without any optimisation."""
    known = {i: known_as(graph.specs[i]) for i in graph.inputs}
    program = Program(graph.inputs, [], [], known)
    counter = max(graph.specs, default=0) + 1
    names: dict[int, Operand] = {}  # values of the graph that are another operand
    for node in graph.needed():
        args = tuple([names.get(a, a) if type(a) is int else a for a in node.inputs])
        template = None if node.effect else template_of(node, args, known)
        if template is None:
            opaque(program, graph, node, args)
            continue
        numbers: dict[int, Operand] = dict(enumerate(args))
        returned = dict(zip(template.outs, node.outputs, strict=True))
        for call in template.calls:
            (local,) = call.outs
            number = returned.get(local)
            if number is None:
                number = counter
                counter += 1
            known[number] = template.known[local]
            numbers[local] = number
            args = substituted(call.args, numbers)
            program.calls.append(Call(call.kind, call.fn, args, (number,), call.static))
        for local, number in zip(template.outs, node.outputs, strict=True):
            operand = numbers[local] if type(local) is int else local
            if operand != number:
                names[number] = operand
    program.outputs = [names.get(o, o) if type(o) is int else o for o in graph.outputs]
    return program


def opaque(program: Program, graph: Graph, node: Node, args: tuple[Operand, ...]) -> None:
    """Add a node as one opaque call."""
    for number in node.outputs:
        program.known[number] = known_as(graph.specs[number])
    program.calls.append(Call("opaque", node.op, args, node.outputs, node.static))


def known_as(spec: Any) -> Known:
    """A spec as `Known`; a value without axes is a NumPy scalar, except strings."""
    shape, dtype = spec
    return Known(tuple(shape), dtype, shape != () or dtype.char == "O")


def template_of(node: Node, args: tuple[Operand, ...], known: dict[int, Known]) -> Template | None:
    """The template of a node's kernel, cached; None if the kernel must stay one opaque call."""
    assert isinstance(node.op, Primitive)
    if (
        REGISTRY.get(node.op.name) is not node.op
    ):  # an op of this trace only, such as a host function
        return INSTALLED if node.op is INSTALL else None
    inputs: list[Any] = []
    for a in args:
        if type(a) is int:
            inputs.append(known[a])
        elif type(a.raw) in PYTHON:
            inputs.append((type(a.raw), repr(a.raw), a.raw))
        else:
            found = np.asarray(a.raw)
            inputs.append(Known(found.shape, found.dtype, isinstance(a.raw, np.ndarray)))
    static = [
        (name, type(v), repr(v) if type(v) is float else v) for name, v in node.static.items()
    ]
    key = (node.op, *inputs, *static)
    try:
        if key in TEMPLATES:
            return TEMPLATES[key]
    except TypeError:  # a static that cannot be hashed
        return record(node.op, inputs, node.static)
    if len(TEMPLATES) >= MOST_TEMPLATES:
        TEMPLATES.clear()
    template = TEMPLATES[key] = record(node.op, inputs, node.static)
    return template


def record(op: Primitive, inputs: list[Any], static: dict[str, Any]) -> Template | None:
    """Run a kernel on stand-ins and record its calls; None if it is opaque."""
    if any(type(i) is Known and i.dtype.char == "O" for i in inputs):
        return None
    recorder = Recorder()
    stand_ins = [recorder.given(i if type(i) is Known else NUMBER) for i in inputs]
    args = [s if type(i) is Known else i[2] for s, i in zip(stand_ins, inputs, strict=True)]
    kernel = FORMS.get(op.name) or cloned(op.kernel)
    try:
        result = kernel(*args, **static)
        results = tuple(result) if op.outputs else (result,)
        outs = tuple([recorder.operand(r) for r in results])
    except Exception:  # a real error will be raised again when the kernel runs
        return None
    finally:
        recorder.thaw()
    if any(not isinstance(r, StandIn | np.ndarray | np.generic) for r in results):
        return None
    if len({o for o in outs if type(o) is int}) < len(outs) > 1:
        return None
    return Template(recorder.calls, recorder.known, outs)


INSTALLED = Template([], [], (0,))  # `install` returns its input
NUMBER = Known((), np.dtype("float64"), False)  # placeholder for a Python number
