"""What tapes, tensors, variables, functions and datasets show in notebooks, and drawings."""

from __future__ import annotations

from typing import Any

from gradtape.core.errors import public
from gradtape.core.ports import DisplayPort
from gradtape.core.tensor import Tensor
from gradtape.debug.diagram import Diagram, diagram_of_graph, diagram_of_tape
from gradtape.debug.html import html_of_diagram, html_of_facts
from gradtape.debug.summary import format_bytes, measure_tape, summarize_tape
from gradtape.debug.svg import draw_diagram
from gradtape.graph.graph import Graph
from gradtape.jit.concrete_function import ConcreteFunction
from gradtape.jit.function import Function
from gradtape.tape.gradient_tape import GradientTape

PAGE_HEAD = "<!doctype html><meta charset='utf-8'><meta name='color-scheme' content='light dark'>"


@public
def draw(thing: Any, path: Any = None) -> str:
    """Draw a tape, a function or a graph as SVG.

    Name scopes that ran in a row share a box, so a Keras layer is one box on a tape that recorded
    inside `record_lines`. Without name scopes, the names of variables tell which ops are a layer.
    There are at most 60 boxes. The bar in a box shows its share of memory.

    Args:
        thing: a GradientTape, a tf.function that was called, or a concrete function.
        path: a file to write; `.html` adds a table and boxes that open. None writes nothing.

    Returns:
        The SVG or HTML text.

    Raises:
        TypeError: if `thing` cannot be drawn.
        ValueError: if a function was not called yet.
    """
    is_html = path is not None and str(path).endswith((".html", ".htm"))
    diagram = diagram_of(thing)
    text = to_html(thing) if is_html else draw_diagram(diagram)
    if path is not None:
        page = f"{PAGE_HEAD}{text}" if is_html else text
        with open(path, "w", encoding="utf-8") as file:
            file.write(page)
    return text


def diagram_of(thing: Any) -> Diagram:
    """The diagram of a tape, function or graph.

    Raises:
        TypeError: if `thing` is something else.
    """
    if isinstance(thing, GradientTape):
        return diagram_of_tape(thing)
    if isinstance(thing, Function):
        return diagram_of_function(thing)
    if isinstance(thing, ConcreteFunction) and thing._path is not None:
        return diagram_of_graph(thing._path.graph, thing.name, name_inputs(thing._path))
    if isinstance(thing, Graph):
        return diagram_of_graph(thing, "graph")
    raise TypeError(
        f"draw: expected a GradientTape, a tf.function or a concrete function. Received {thing!r}."
    )


def diagram_of_function(function: Function) -> Diagram:
    """The diagram of the newest graph of a function.

    Raises:
        ValueError: if it has none.
    """
    for known in reversed(function.list_specializations()):
        path = known.only_path or (known.tree.root.path if known.tree is not None else None)
        if path is not None:
            return diagram_of_graph(path.graph, function.name, name_inputs(path))
    raise ValueError(
        f"draw: {function.name} must have a graph. It was not called yet, or it runs as Python. "
        "Call it first."
    )


def name_inputs(path: Any) -> dict[int, str]:
    """Names of the inputs of a graph: arguments, captures and variables."""
    names: dict[int, str] = {}
    numbers = list(path.graph.inputs)
    states = list(path.states)
    captures = list(path.captures)
    start = len(numbers) - len(states)
    for number, variable in zip(numbers[start:], states, strict=True):
        named = hasattr(variable, "name")
        names[number] = variable.name.split(":")[0] if named else "variable argument"
    for k, number in enumerate(numbers[start - len(captures) : start]):
        names[number] = f"captured tensor {k}"
    for k, number in enumerate(numbers[: start - len(captures)]):
        names[number] = f"argument {k}"
    return names


def to_html(thing: Any) -> str:
    """HTML of a tape, tensor, variable, function, concrete function or dataset."""
    if isinstance(thing, GradientTape):
        return html_of_diagram(diagram_of_tape(thing), describe_tape(thing))
    if isinstance(thing, Tensor):
        return html_of_tensor("tf.Tensor", thing)
    if hasattr(thing, "_stored_version"):
        return html_of_tensor(f"tf.Variable {thing.name}", thing._stored_version())
    if isinstance(thing, Function):
        return html_of_function(thing)
    if isinstance(thing, ConcreteFunction):
        heading = f"concrete function {thing.name}"
        if thing._path is None:
            return html_of_facts(heading, {"runs": "as Python"})
        return html_of_diagram(diagram_of(thing), heading)
    return html_of_facts(
        type(thing).__name__, {"elements": thing.element_spec, "size": describe_size(thing)}
    )


def describe_tape(tape: GradientTape) -> str:
    """A heading for a tape."""
    state = (
        "recording"
        if tape._open_record is not None
        else ("recorded" if tape._tape else "used up or empty")
    )
    kind = "persistent GradientTape" if tape._persistent else "GradientTape"
    return f"{kind}, {state}"


def html_of_tensor(title: str, tensor: Tensor) -> str:
    """HTML of a tensor: facts, and the value in a part that opens."""
    raw = tensor._array
    facts: dict[str, Any] = {"shape": tensor.shape, "dtype": tensor.dtype.name}
    facts["size"] = format_bytes(int(raw.nbytes))
    if raw.dtype.kind in "fiu" and raw.size and not hasattr(raw, "traced_value"):
        facts["range"] = f"{raw.min():.5g} … {raw.max():.5g}, mean {raw.mean():.5g}"
    return html_of_facts(title, facts, repr(tensor))


def html_of_function(function: Function) -> str:
    """HTML of a function: its traces, and the drawing of the newest graph."""
    try:
        diagram = diagram_of_function(function)
    except ValueError:
        return html_of_facts(f"tf.function {function.name}", {"traces": function.traces})
    times = "once" if function.traces == 1 else f"{function.traces} times"
    heading = f"tf.function {function.name}, traced {times}"
    return html_of_diagram(diagram, heading)


def describe_size(dataset: Any) -> str:
    """The number of elements of a dataset."""
    size = int(dataset.cardinality())
    return {-1: "infinite", -2: "unknown"}.get(size, str(size))


DisplayPort.supply(summarize=summarize_tape, measure=measure_tape, draw=draw, to_html=to_html)
