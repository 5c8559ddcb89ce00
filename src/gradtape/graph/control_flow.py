"""tf.cond and tf.while_loop inside a trace: nodes if that is possible, else Python's own way.

Bodies are traced aside with values refused. One that looks at values, does something besides
computing, or changes the shape of what goes round, cannot be a node: Python then runs it under
guards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from gradtape.core import nest
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError
from gradtape.core.symbolic_tensor import SymbolicTensor
from gradtape.core.tensor import Tensor, eager
from gradtape.graph.control_node import COND, FOREVER, LOOP, apply_loop, first_slice
from gradtape.graph.graph import Operand
from gradtape.graph.loop_gradient import Shape
from gradtape.graph.recorder import Trace, ValueRead, raw_value
from gradtape.graph.subgraph import Aside, body_of
from gradtape.ops.raw_array import integer


class NotANode(Exception):  # noqa: N818  not an error
    """A body cannot be part of a graph."""


def leaves_of(structure: Any) -> list[Any]:
    """Tensors of a structure; None stays."""
    flat = nest.flatten(structure, expand_composites=True)
    return [leaf if leaf is None else convert(leaf) for leaf in flat]


def numbers_of(trace: Trace, tensors: list[Any]) -> list[Operand]:
    """How tensors are written in a graph."""
    return [trace.operand(trace.lift(t)) for t in tensors]


def traced_aside(
    trace: Trace, function: Callable[..., Any], formals: list[Any], carried: dict[int, Any]
) -> Aside:
    """A function traced aside.

    Raises:
        NotANode: if it cannot be.
    """
    try:
        aside = Aside(trace, function, formals, carried)
    except (ValueRead, InvalidArgumentError) as error:
        raise NotANode from error
    if any(node.effect for node in aside.nodes):
        raise NotANode
    return aside


def staged_cond(
    trace: Trace, pred: SymbolicTensor, true_fn: Callable[[], Any], false_fn: Callable[[], Any]
) -> Any:
    """`tf.cond` inside a trace."""
    drawn = trace.drawn
    try:
        return cond_node(trace, pred, true_fn, false_fn)
    except NotANode:
        trace.drawn = drawn
        with trace.own_graph():
            return true_fn() if trace.observe(pred._array) else false_fn()


class Side:
    """One branch of a `cond`, traced aside.

    Attributes:
        aside: the trace.
        leaves: the flat result: tensors, and None.
    """

    def __init__(self, trace: Trace, function: Callable[[], Any]) -> None:
        """Trace `function`."""
        self.trace = trace
        self.leaves: list[Any] = []
        with trace.own_graph():
            self.aside = traced_aside(trace, lambda: self.called(function), [], {})
        self.outputs: list[Operand] = []

    def called(self, function: Callable[[], Any]) -> Any:
        """Call the function; its result has to be converted while the trace goes on."""
        answer = function()
        self.leaves = leaves_of(answer)
        return answer

    def settle(self, written: Iterable[int]) -> list[SymbolicTensor]:
        """Fix the outputs, the variables in `written` included; what is read from outside."""
        tensors = [t for t in self.leaves if t is not None]
        for key in written:
            held = self.aside.written.get(key)
            tensors.append(held[1] if held else self.trace.states[key].newest)
        for t in tensors:
            if isinstance(t, SymbolicTensor):
                self.aside.lifted.setdefault(t._array.number, t)
        self.outputs = numbers_of(self.trace, tensors)
        return self.aside.free([], self.outputs)


def cond_node(
    trace: Trace, pred: SymbolicTensor, true_fn: Callable[[], Any], false_fn: Callable[[], Any]
) -> Any:
    """A node with both branches."""
    yes, no = sides = Side(trace, true_fn), Side(trace, false_fn)
    check_alike(yes, no)
    written = {**yes.aside.written, **no.aside.written}
    free = {t._array.number: t for side in sides for t in side.settle(written)}
    inputs = list(free.values())
    bodies = tuple([body_of(trace, s.aside.nodes, inputs, s.outputs) for s in sides])
    outs = iter(trace.bind(COND, (pred, *inputs), {"branches": bodies}))
    filled = [leaf if leaf is None else next(outs) for leaf in yes.leaves]
    for variable, _ in written.values():
        trace.write(variable, next(outs))
    return nest.pack_sequence_as(yes.aside.result, filled, expand_composites=True)


def has_optional(structure: Any) -> bool:
    """Whether an Optional is in it: whether that is empty is known to Python only."""
    return any(hasattr(leaf, "has_value") for leaf in nest.flatten(structure))


def check_alike(yes: Side, no: Side) -> None:
    """Check that both branches return the same kind of thing.

    Raises:
        TypeError, ValueError: if they do not.
        NotANode: if only the shapes differ, or there are Optionals.
    """
    results = (yes.aside.result, no.aside.result)
    if has_optional(results):
        raise NotANode
    nest.assert_same_structure(*results, expand_composites=True)
    for a, b in zip(yes.leaves, no.leaves, strict=True):
        if (a is None) != (b is None):
            raise TypeError("tf.cond: a result is None in one branch only.")
        if a is not None and a.dtype is not b.dtype:
            raise TypeError(
                f"tf.cond: true_fn and false_fn must return one dtype. Received {a.dtype.name} and "
                f"{b.dtype.name}."
            )
        if a is not None and a._array.shape != b._array.shape:
            raise NotANode


def staged_loop(
    trace: Trace,
    test: Callable[..., Any] | None,
    body: Callable[..., tuple[list[Any], list[Any]]],
    carry: list[Tensor],
    xs: list[Tensor],
    limit: Any,
    reverse: bool = False,
) -> tuple[list[Any], list[Any]]:
    """A loop as a node.

    Args:
        trace: the trace.
        test: function of the carries that says whether to go on.
        body: function of the carries and of one slice of each of `xs`; returns the next carries
            and what is to be stacked.
        carry: tensors that go round.
        xs: tensors that are sliced along their first axis.
        limit: at most so many iterations; a tensor or None.
        reverse: whether it begins with the last slice; `limit` is their number then.

    Returns:
        The last carries, and the stacked results.

    Raises:
        NotANode: if it cannot be one.
    """
    carried: dict[int, Any] = {}
    drawn = trace.drawn
    while True:
        trace.drawn = drawn  # the random ops of the body are the same ones every time
        states = [trace.states[key] for key in carried]
        given = [trace.lift(t) for t in [*carry, *(s.newest for s in states)]]
        formals = [trace.value(raw_value(t)) for t in given]
        slices = [trace.value(sliced(trace.lift(x))) for x in xs]
        own, versions = formals[: len(carry)], formals[len(carry) :]
        carried = dict(zip(carried, versions, strict=True))
        returned: list[Any] = []

        def run(*values: Any, returned: list[Any] = returned) -> Any:
            after, ys = body(list(values[: len(carry)]), list(values[len(carry) :]))
            returned.append(([convert(t) for t in after], [convert(y) for y in ys]))

        with trace.own_graph():
            aside = traced_aside(trace, run, [*own, *slices], carried)
        fresh = [key for key in aside.written if key not in carried]
        if not fresh:
            break
        carried = {**carried, **dict.fromkeys(fresh)}
    after, ys = returned[0]
    newest = [aside.written[k][1] if k in aside.written else carried[k] for k in carried]
    after = [*after, *newest]
    for a, b in zip(given, after, strict=True):
        if a._array.shape != b._array.shape or a._array.dtype != b._array.dtype:
            raise NotANode
    for t in [*after, *ys]:
        if isinstance(t, SymbolicTensor):
            aside.lifted.setdefault(t._array.number, t)
    outputs = numbers_of(trace, [*after, *ys])
    tested = aside_test(trace, test, own, carried) if test is not None else None
    free = {t._array.number: t for t in aside.free([*formals, *slices], outputs)}
    if tested is not None:
        free |= {t._array.number: t for t in tested[0].free(formals, tested[1])}
    captures = list(free.values())
    shape = Shape(
        len(formals),
        len(captures),
        tuple([-x._array.ndim for x in xs]),
        tuple([(-1 - y._array.ndim, y._array.shape, y._array.dtype) for y in ys]),
        (),
        reverse,
    )
    inner = body_of(trace, aside.nodes, [*formals, *captures, *slices], outputs)
    check = tested and body_of(trace, tested[0].nodes, [*formals, *captures], tested[1])
    count = eager(integer(FOREVER)) if limit is None else limit
    outs = apply_loop(
        LOOP,
        (count, *given, *captures, *[trace.lift(x) for x in xs]),
        {"body": inner, "test": check, "shape": shape},
    )
    n = len(carry)
    for key, tensor in zip(carried, outs[n : n + len(carried)], strict=True):
        trace.write(trace.states[key].variable, tensor)
    last = len(formals)
    return list(outs[:n]), list(outs[last : last + len(ys)])


def aside_test(
    trace: Trace, test: Callable[..., Any], formals: list[Any], carried: dict[int, Any]
) -> tuple[Aside, list[Operand]]:
    """The condition of a loop, traced aside."""
    answers: list[Any] = []
    aside = traced_aside(
        trace, lambda *values: answers.append(convert(test(*values))), formals, carried
    )
    if aside.written:
        raise NotANode
    if answers[0]._array.shape:
        raise NotANode
    if isinstance(answers[0], SymbolicTensor):
        aside.lifted.setdefault(answers[0]._array.number, answers[0])
    return aside, numbers_of(trace, answers)


def sliced(x: Any) -> Any:
    """The first slice of a tensor, raw."""
    return first_slice(raw_value(x), -x._array.ndim)
