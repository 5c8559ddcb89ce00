"""A gradient that the user supplied, as part of a graph.

The function's own ops are in the graph like any others. A node `custom_gradient` passes its results
on; it carries the graph of the user's gradient function, traced at once on cotangents of ones. In
the body of a loop or branch the node also passes on what that graph reads, so that it is there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtape.core.convert import convert
from gradtape.core.symbolic_tensor import SymbolicTensor
from gradtape.core.tensor import Tensor, eager
from gradtape.graph.graph import Node, Operand
from gradtape.graph.recorder import Trace, ValueRead, operation, raw_value
from gradtape.ops.initial_cotangent import ones
from gradtape.tape.indexed_slices import IndexedSlices


class Custom:
    """The user's gradient: nodes from the forward values and cotangents to an answer per input.

    Attributes:
        inputs: the function's arguments.
        seeds: numbers of the cotangents.
        nodes: the gradient function.
        answers: for each input an operand, None, or a triple for IndexedSlices.
        trouble: why the gradient function could not be traced, or "".
    """

    def __init__(self) -> None:
        """Start empty."""
        self.inputs: tuple[Operand, ...] = ()
        self.seeds: list[int] = []
        self.nodes: list[Node] = []
        self.answers: list[Any] = []
        self.trouble = ""

    def __repr__(self) -> str:
        """How long it is."""
        return f"<{len(self.nodes)} nodes>"

    def reads(self) -> list[int]:
        """Numbers of the values around that the gradient reads."""
        made = {*self.seeds, *(o for node in self.nodes for o in node.outputs)}
        answers = [a if type(a) is tuple else (a,) for a in self.answers]
        parts = [operand for answer in answers for operand in answer]
        read = [*self.inputs, *(i for node in self.nodes for i in node.reads()), *parts]
        return [n for n in dict.fromkeys(n for n in read if type(n) is int) if n not in made]


def custom_gradient(*results: Any, custom: Custom) -> tuple[Any, ...]:
    """Pass `results` on."""
    return results


CUSTOM = operation(custom_gradient, outputs=True)


def record(
    trace: Trace, results: list[Any], inputs: list[Any], grad: Callable[..., list[Any]]
) -> list[Tensor]:
    """New handles on `results`; the graph knows `grad` as their gradient."""
    lifted = [trace.lift(t) for t in results]
    given = [trace.lift(t) for t in inputs]
    if not any(isinstance(t, SymbolicTensor) for t in given):
        return [eager(t._array) for t in lifted]
    custom = Custom()
    custom.inputs = tuple([trace.operand(t) for t in given])
    outs = tuple([trace.value(raw_value(t)) for t in lifted])
    if not trace.given_up:
        trace_gradient(trace, custom, lifted, grad)
    read = [trace.lifted[n] for n in custom.reads()] if trace.refuses else []
    more = tuple([trace.value(raw_value(t)) for t in read])
    trace.append(CUSTOM, [*lifted, *read], {"custom": custom}, (*outs, *more))
    return list(outs)


def trace_gradient(
    trace: Trace, custom: Custom, results: list[Any], grad: Callable[..., list[Any]]
) -> None:
    """Run the user's gradient function aside, on ones."""
    seeds = [trace.value(ones(t._array)) for t in results]
    custom.seeds = [t._array.number for t in seeds]
    with trace.aside() as nodes:
        try:
            answers = grad(*seeds)
            custom.answers = [answer_of(trace, a) for a in answers]
        except ValueRead as error:
            custom.trouble = str(error)
    custom.nodes = nodes


def answer_of(trace: Trace, answer: Any) -> Any:
    """What the gradient function gave for one input."""
    if answer is None:
        return None
    if isinstance(answer, IndexedSlices):
        return tuple(trace.operand(trace.lift(convert(t))) for t in (answer.values, answer.indices))
    return trace.operand(trace.lift(convert(answer)))
