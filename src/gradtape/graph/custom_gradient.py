"""A gradient that the user supplied with `tf.custom_gradient`, as part of a graph.

The function's own ops are ordinary nodes. Its results pass through a node `custom_gradient`, which
holds the graph of the user's gradient function. That graph is traced immediately, with ones as
cotangents. Inside the body of a loop or branch the node also passes through the values that the
gradient reads, so that the body returns them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtape.core.convert import convert
from gradtape.core.symbolic_tensor import SymbolicTensor
from gradtape.core.tensor import Tensor, eager
from gradtape.graph.graph import Node, Operand
from gradtape.graph.guard import ValueRead
from gradtape.graph.recorder import Trace, raw_value
from gradtape.graph.trace_op import operation
from gradtape.ops.initial_cotangent import ones
from gradtape.tape.indexed_slices import IndexedSlices


class Custom:
    """The user's gradient function as nodes: from forward values and cotangents to gradients.

    Attributes:
        inputs: the function's arguments.
        seeds: numbers of the cotangents.
        nodes: the ops of the gradient function.
        answers: for each input an operand, None, or a pair (values, indices) for IndexedSlices.
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
        """The number of nodes."""
        return f"<{len(self.nodes)} nodes>"

    def reads(self) -> list[int]:
        """Numbers of the forward values that the gradient reads."""
        made = {*self.seeds, *(o for node in self.nodes for o in node.outputs)}
        answers = [a if type(a) is tuple else (a,) for a in self.answers]
        parts = [operand for answer in answers for operand in answer]
        read = [*self.inputs, *(i for node in self.nodes for i in node.reads()), *parts]
        return [n for n in dict.fromkeys(n for n in read if type(n) is int) if n not in made]


def custom_gradient(*results: Any, custom: Custom) -> tuple[Any, ...]:
    """Return `results` unchanged."""
    return results


CUSTOM = operation(custom_gradient, outputs=True)


def record(
    trace: Trace, results: list[Any], inputs: list[Any], grad: Callable[..., list[Any]]
) -> list[Tensor]:
    """New tensors for `results`, for which the graph uses `grad` as the gradient."""
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
    """Trace the user's gradient function into `custom`, with ones as cotangents."""
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
    """The operand, or the pair of operands, of one gradient that the user's function returned."""
    if answer is None:
        return None
    if isinstance(answer, IndexedSlices):
        return tuple(trace.operand(trace.lift(convert(t))) for t in (answer.values, answer.indices))
    return trace.operand(trace.lift(convert(answer)))
