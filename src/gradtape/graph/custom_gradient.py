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
from gradtape.core.errors import REDISPATCH, OpError
from gradtape.core.interruption import is_from_signal_handler
from gradtape.core.primitive import Spec
from gradtape.core.size_atom import Unknown
from gradtape.core.size_function import Env
from gradtape.core.symbolic_tensor import SymbolicTensor
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.core.user_location import user_code_of
from gradtape.graph.graph import Node, Operand
from gradtape.graph.guard import ValueRead
from gradtape.graph.specialise import node_unknowns, specialise_node
from gradtape.graph.trace import Trace
from gradtape.graph.trace_op import make_trace_op
from gradtape.graph.traced_value import raw_value
from gradtape.ops.initial_cotangent import make_ones
from gradtape.tape.indexed_slices import IndexedSlices


class UserGradient:
    """The user's gradient function as nodes: from forward values and cotangents to gradients.

    Attributes:
        inputs: the function's arguments.
        seeds: numbers of the cotangents.
        nodes: the ops of the gradient function.
        answers: for each input an operand, None, or a pair (values, indices) for IndexedSlices.
        code: the code of the user's gradient function, or None.
        trace_error: why the gradient function could not be traced, or "".
        raised: the exception that ended its trace; a caller who asks for the gradient gets it.
    """

    def __init__(self) -> None:
        """Start empty."""
        self.inputs: tuple[Operand, ...] = ()
        self.seeds: list[int] = []
        self.nodes: list[Node] = []
        self.input_gradients: list[Any] = []
        self.trace_error = ""
        self.raised: Exception | None = None
        self.code: Any = None

    def __repr__(self) -> str:
        """The number of nodes."""
        return f"<{len(self.nodes)} nodes>"

    def unknowns_in_dims(self) -> set[Unknown]:
        """The unknown sizes that the gradient function depends on."""
        return set().union(*[node_unknowns(node) for node in self.nodes])

    def has_dims(self) -> bool:
        """Whether the gradient function depends on unknown sizes."""
        return bool(self.unknowns_in_dims())

    def substitute_dims(self, env: Env) -> UserGradient:
        """The gradient function for known sizes."""
        made = UserGradient()
        vars(made).update(vars(self))
        made.nodes = [specialise_node(node, env) for node in self.nodes]
        return made

    def reads(self) -> list[int]:
        """Numbers of the forward values that the gradient reads."""
        made = {*self.seeds, *(o for node in self.nodes for o in node.outputs)}
        answers = [a if type(a) is tuple else (a,) for a in self.input_gradients]
        parts = [operand for answer in answers for operand in answer]
        read = [*self.inputs, *(i for node in self.nodes for i in node.reads()), *parts]
        return [n for n in dict.fromkeys(n for n in read if type(n) is int) if n not in made]


def custom_gradient(*results: Any, custom: UserGradient) -> tuple[Any, ...]:
    """Return `results` unchanged."""
    return results


CUSTOM = make_trace_op(custom_gradient, outputs=True)


def record_user_gradient(
    trace: Trace, results: list[Any], inputs: list[Any], grad: Callable[..., list[Any]]
) -> list[Tensor]:
    """New tensors for `results`, for which the graph uses `grad` as the gradient."""
    lifted = [trace.as_traced(t) for t in results]
    given = [trace.as_traced(t) for t in inputs]
    if not any(isinstance(t, SymbolicTensor) for t in [*given, *lifted]):
        return [make_tensor(t._array) for t in lifted]
    custom = UserGradient()
    custom.code = user_code_of(grad)
    custom.inputs = tuple(trace.operands(given))
    outs = tuple([trace.copy_value(t) for t in lifted])
    used = {t._array.number: t for t in given if isinstance(t, SymbolicTensor)}
    if not trace.give_up_reason:
        used.update(trace_user_gradient(trace, custom, lifted, grad))
    read = [used[n] for n in custom.reads()] if trace.options.forbids_values else []
    more = tuple([trace.copy_value(t) for t in read])
    trace.record_node(CUSTOM, [*lifted, *read], {"custom": custom}, (*outs, *more))
    return list(outs)


def trace_user_gradient(
    trace: Trace, custom: UserGradient, results: list[Any], grad: Callable[..., list[Any]]
) -> dict[int, SymbolicTensor]:
    """Trace the user's gradient function into `custom`, with ones as cotangents.

    Returns the tensors that it has used, by number.
    """
    seeds = [make_unit_cotangent(trace, t) for t in results]
    custom.seeds = [t._array.number for t in seeds]
    with trace.record_body() as body:
        try:
            answers = grad(*seeds)
            custom.input_gradients = [gradient_operand(trace, a) for a in answers]
        except ValueRead as error:
            custom.trace_error = (
                "the gradient function must not depend on values of tensors. "
                f"It reads the value of {error}. Call the function outside tf.function."
            )
        except (OpError, TypeError, ValueError, ArithmeticError) as error:
            if isinstance(error, REDISPATCH) or is_from_signal_handler(error):
                raise
            custom.trace_error = f"the gradient function raised {type(error).__name__}: {error}"
            custom.raised = error
    if not custom.trace_error:
        custom.nodes = body.nodes
    return body.tensors


def make_unit_cotangent(trace: Trace, tensor: Any) -> SymbolicTensor:
    """A new tensor of the trace for the cotangent of a result."""
    raw = raw_value(tensor)
    is_plain = type(raw) is Spec or raw.dtype == object  # strings have no cotangent
    ones = raw if is_plain else make_ones(raw)
    return trace.make_value(ones, shape=tensor._array.shape)


def gradient_operand(trace: Trace, answer: Any) -> Any:
    """The operand, or the pair of operands, of one gradient that the user's function returned."""
    if answer is None:
        return None
    if isinstance(answer, IndexedSlices):
        return tuple(trace.operands([convert(answer.values), convert(answer.indices)]))
    return trace.operands([convert(answer)])[0]
