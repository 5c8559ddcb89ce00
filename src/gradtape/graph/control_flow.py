"""tf.cond and tf.while_loop inside a trace: a node where possible, else Python's control flow.

Each body is traced into a graph of its own, without reading values. A body cannot become a node if
it reads values, has side effects, or changes the shape of a loop's carry. Python then runs it, and
guards record the values it read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from gradtape.core import nest
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError
from gradtape.core.open_shape import is_same_shape
from gradtape.core.primitive import Spec
from gradtape.core.symbolic_tensor import SymbolicTensor
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.graph.control_node import COND, LOOP, NO_LIMIT, apply_loop, first_slice
from gradtape.graph.graph import Operand
from gradtape.graph.guard import ValueRead
from gradtape.graph.loop_gradient import LoopLayout
from gradtape.graph.subgraph import BodyTrace, make_body
from gradtape.graph.trace import Trace
from gradtape.graph.traced_value import raw_value
from gradtape.ops.raw_array import as_int64


class NotANode(Exception):  # noqa: N818  not an error
    """A body cannot become a node of a graph."""


def flatten_tensors(structure: Any) -> list[Any]:
    """Flatten a structure and convert its leaves to tensors; None stays None.

    The tensor of a TensorArray is that of its stacked elements.

    Raises:
        NotANode: if a TensorArray cannot be stacked yet.
    """
    return [as_branch_result(leaf) for leaf in nest.flatten(structure, expand_composites=True)]


def as_branch_result(leaf: Any) -> Any:
    """A result of a branch as a tensor, or None."""
    if leaf is None:
        return None
    if not is_tensor_array(leaf):
        return convert(leaf)
    try:
        return leaf._as_stacked_tensor()
    except ValueError as error:
        raise NotANode from error


def is_tensor_array(leaf: Any) -> bool:
    """Whether a leaf of a result is a TensorArray."""
    return hasattr(leaf, "_as_stacked_tensor")


def trace_body(
    trace: Trace, function: Callable[..., Any], formals: list[Any], carried: dict[int, Any]
) -> BodyTrace:
    """Trace a function into a graph of its own.

    Raises:
        NotANode: if the function reads values or has side effects.
    """
    try:
        aside = BodyTrace(trace, function, formals, carried)
    except (ValueRead, InvalidArgumentError) as error:
        raise NotANode from error
    if any(node.is_effect for node in aside.nodes):
        raise NotANode
    return aside


def trace_cond(
    trace: Trace, pred: SymbolicTensor, true_fn: Callable[[], Any], false_fn: Callable[[], Any]
) -> Any:
    """Trace `tf.cond`: as a node if possible, else one branch under a guard."""
    position = trace.save_position()
    try:
        return make_cond_node(trace, pred, true_fn, false_fn)
    except NotANode:
        trace.restore_position(position)
        with trace.enter_graph():
            return true_fn() if trace.guard_value(pred._array) else false_fn()


class TracedBranch:
    """One branch of a `cond`, traced into a graph of its own.

    Attributes:
        aside: the trace of the branch.
        leaves: the flat result: tensors and None.
        outputs: operands of the results and of the variables that either branch writes.
    """

    def __init__(self, trace: Trace, function: Callable[[], Any]) -> None:
        """Trace `function`."""
        self.trace = trace
        self.leaves: list[Any] = []
        with trace.enter_graph():
            self.body_trace = trace_body(trace, lambda: self.call_branch(function), [], {})
        self.outputs: list[Operand] = []

    def call_branch(self, function: Callable[[], Any]) -> Any:
        """Call the branch and convert its result while the trace is still open."""
        answer = function()
        self.leaves = flatten_tensors(answer)
        return answer

    def fix_outputs(self, written: Iterable[int]) -> list[SymbolicTensor]:
        """Set `outputs`, with the variables in `written`; return the outer tensors it reads."""
        tensors = [t for t in self.leaves if t is not None]
        for key in written:
            held = self.body_trace.written_variables.get(key)
            tensors.append(held[1] if held else self.trace.versions.newest(key))
        self.outputs = self.trace.operands(tensors)
        return self.body_trace.outer_tensors([], tensors)


def make_cond_node(
    trace: Trace, pred: SymbolicTensor, true_fn: Callable[[], Any], false_fn: Callable[[], Any]
) -> Any:
    """Trace both branches and record them as one node."""
    yes, no = sides = TracedBranch(trace, true_fn), TracedBranch(trace, false_fn)
    check_same_results(yes, no, is_same_rank if trace.is_abstract else is_same_shape)
    written = {**yes.body_trace.written_variables, **no.body_trace.written_variables}
    free = {t._array.number: t for side in sides for t in side.fix_outputs(written)}
    inputs = list(free.values())
    bodies = tuple([make_body(trace, s.body_trace.nodes, inputs, s.outputs) for s in sides])
    outs = iter(trace.bind(COND, (pred, *inputs), {"branches": bodies}))
    flat = nest.flatten(yes.body_trace.result, expand_composites=True)
    filled = []
    for leaf, tensor in zip(flat, yes.leaves, strict=True):
        out = None if tensor is None else next(outs)
        filled.append(leaf._with_stacked_tensor(out) if is_tensor_array(leaf) else out)
    for variable, _ in written.values():
        trace.write_variable(variable, next(outs))
    return nest.pack_sequence_as(yes.body_trace.result, filled, expand_composites=True)


def has_optional(structure: Any) -> bool:
    """Whether a structure holds an Optional: only Python knows if an Optional is empty."""
    return any(hasattr(leaf, "has_value") for leaf in nest.flatten(structure))


def is_same_rank(a: tuple[Any, ...], b: tuple[Any, ...]) -> bool:
    """Whether two shapes have the same number of axes."""
    return len(a) == len(b)


def check_same_results(
    yes: TracedBranch, no: TracedBranch, is_same: Callable[[Any, Any], bool]
) -> None:
    """Check that both branches return the same structure, dtypes and, by `is_same`, shapes.

    Raises:
        TypeError, ValueError: if the structures or dtypes differ.
        NotANode: if only the shapes differ, or a result is an Optional.
    """
    results = (yes.body_trace.result, no.body_trace.result)
    if has_optional(results):
        raise NotANode
    nest.assert_same_structure(*results, expand_composites=True)
    for a, b in zip(yes.leaves, no.leaves, strict=True):
        if (a is None) != (b is None):
            raise TypeError(
                "tf.cond: both branches must return None at the same places. Received a result "
                "that is None in one branch only."
            )
        if a is not None and a.dtype is not b.dtype:
            raise TypeError(
                "tf.cond: true_fn and false_fn must return the same dtype. Received "
                f"{a.dtype.name} and {b.dtype.name}."
            )
        if a is not None and not is_same(a._array.shape, b._array.shape):
            raise NotANode


def trace_loop(
    trace: Trace,
    test: Callable[..., Any] | None,
    body: Callable[..., tuple[list[Any], list[Any]]],
    carry: list[Tensor],
    xs: list[Tensor],
    limit: Any,
    reverse: bool = False,
) -> tuple[list[Any], list[Any]]:
    """Trace a loop as a node.

    Args:
        trace: the trace.
        test: function of the carries; the loop goes on while it is true.
        body: function of the carries and of one slice of each of `xs`. Returns the next carries
            and the values to stack.
        carry: tensors passed from one iteration to the next.
        xs: tensors that are sliced along their first axis.
        limit: the maximum number of iterations; a tensor or None.
        reverse: whether to start with the last slice. `limit` must then be the number of slices.

    Returns:
        The last carries, and the stacked results.

    Raises:
        NotANode: if the body cannot become a node.
    """
    carried: dict[int, Any] = {}
    position = trace.save_position()
    while True:
        trace.restore_position(
            position
        )  # every attempt must count the random ops of the body from here
        newest = [trace.versions.newest(key) for key in carried]
        given = [trace.as_traced(t) for t in [*carry, *newest]]
        formals = [trace.copy_value(t) for t in given]
        slices = [make_first_slice(trace, trace.as_traced(x)) for x in xs]
        own, versions = formals[: len(carry)], formals[len(carry) :]
        carried = dict(zip(carried, versions, strict=True))
        returned: list[Any] = []

        def run(*values: Any, returned: list[Any] = returned) -> Any:
            after, ys = body(list(values[: len(carry)]), list(values[len(carry) :]))
            returned.append(([convert(t) for t in after], [convert(y) for y in ys]))

        with trace.enter_graph():
            aside = trace_body(trace, run, [*own, *slices], carried)
        fresh = [key for key in aside.written_variables if key not in carried]
        if not fresh:
            break
        carried = {**carried, **dict.fromkeys(fresh)}
    after, ys = returned[0]
    newest = [
        aside.written_variables[k][1] if k in aside.written_variables else carried[k]
        for k in carried
    ]
    after = [*after, *newest]
    for a, b in zip(given, after, strict=True):
        if a._array.dtype != b._array.dtype or not is_same_shape(a._array.shape, b._array.shape):
            raise NotANode
    outputs = trace.operands([*after, *ys])
    tested = trace_loop_test(trace, test, own, carried) if test is not None else None
    free = {t._array.number: t for t in aside.outer_tensors([*formals, *slices], [*after, *ys])}
    if tested is not None:
        free |= {t._array.number: t for t in tested[0].outer_tensors(formals, [tested[1]])}
    captures = list(free.values())
    shape = LoopLayout(
        len(formals),
        len(captures),
        tuple([-x._array.ndim for x in xs]),
        tuple([(-1 - y._array.ndim, y._array.shape, y._array.dtype) for y in ys]),
        (),
        reverse,
    )
    inner = make_body(trace, aside.nodes, [*formals, *captures, *slices], outputs)
    check = tested and make_body(
        trace, tested[0].nodes, [*formals, *captures], trace.operands([tested[1]])
    )
    count = make_tensor(as_int64(NO_LIMIT)) if limit is None else limit
    outs = apply_loop(
        LOOP,
        (count, *given, *captures, *[trace.as_traced(x) for x in xs]),
        {"body": inner, "test": check, "shape": shape},
    )
    n = len(carry)
    for key, tensor in zip(carried, outs[n : n + len(carried)], strict=True):
        trace.write_variable(trace.versions.variable(key), tensor)
    last = len(formals)
    return list(outs[:n]), list(outs[last : last + len(ys)])


def trace_loop_test(
    trace: Trace, test: Callable[..., Any], formals: list[Any], carried: dict[int, Any]
) -> tuple[BodyTrace, Any]:
    """Trace the condition of a loop into a graph of its own; also returns its result."""
    answers: list[Any] = []
    aside = trace_body(
        trace, lambda *values: answers.append(convert(test(*values))), formals, carried
    )
    if aside.written_variables:
        raise NotANode
    if answers[0]._array.shape:
        raise NotANode
    return aside, answers[0]


def make_first_slice(trace: Trace, x: Any) -> SymbolicTensor:
    """A new tensor of the trace for one slice of a tensor along its first axis."""
    raw, shape = raw_value(x), tuple(x._array.shape[1:])
    if type(raw) is Spec:
        return trace.make_value(Spec((shape, raw.dtype)))
    return trace.make_value(first_slice(raw, -x._array.ndim), shape=shape)
