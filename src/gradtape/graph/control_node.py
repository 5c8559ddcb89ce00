"""`cond` and `loop` as nodes of a graph, with derivatives of any order.

`loop` implements while_loop, scan and map_fn. Its adjoint is a loop that runs backwards. Under a
tape, `loop` saves the carries of each iteration that the adjoint reads; the adjoint recomputes the
rest of the body. The adjoint of `cond` recomputes the branch that was taken.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gradtape.core.context import current_trace, local, next_uid, no_recording
from gradtape.core.dispatch import TapeRecord, bind
from gradtape.core.dtypes import is_differentiable
from gradtape.core.open_shape import is_identical_size
from gradtape.core.ownership import is_sole_result
from gradtape.core.ports import TapePort
from gradtape.core.primitive import Spec
from gradtape.core.shape_rule import FRESH, INT64
from gradtape.core.tensor import Tensor, make_tensor, mark_recorded
from gradtape.graph.custom_gradient import CUSTOM
from gradtape.graph.graph import Effect, Graph, Node
from gradtape.graph.loop_gradient import LoopBackwardBody, LoopLayout, differentiable_positions
from gradtape.graph.size_tensor import make_zeros_tensor
from gradtape.graph.subgraph import Body
from gradtape.graph.trace_op import make_trace_op
from gradtape.graph.traced_value import raw_value
from gradtape.ops.gather_scatter import scatter_add
from gradtape.ops.initial_cotangent import make_ones
from gradtape.ops.raw_array import (
    as_int64,
    make_stand_in_array,
    stack_arrays,
    unstack_slice,
)
from gradtape.tape.backward import add_cotangent, fill_missing_cotangents
from gradtape.tape.step import CallStep, Entry

NO_LIMIT = 2**62


def cond(*inputs: Any, branches: tuple[Body, Body]) -> tuple[Any, ...]:
    """Run one of two bodies, chosen by the first input, on the other inputs."""
    return branches[0 if inputs[0] else 1].run(*inputs[1:])


def loop(*inputs: Any, body: Body, test: Body | None, shape: LoopLayout) -> tuple[Any, ...]:
    """Run `body` while `test` holds, at most `inputs[0]` times."""
    limit = int(inputs[0])
    carry = inputs[1 : 1 + shape.carries]
    captures = inputs[1 + shape.carries : 1 + shape.carries + shape.captures]
    xs = inputs[1 + shape.carries + shape.captures :]
    begin = carry
    ys: list[list[Any]] = [[] for _ in shape.ys]
    saved: list[list[Any]] = [[] for _ in shape.saved]
    done = 0
    run = body.run
    while done < limit and (test is None or test.run(*carry, *captures)[0]):
        at = limit - 1 - done if shape.reverse else done
        slices = [unstack_slice(x, at, axis) for x, axis in zip(xs, shape.xs, strict=True)]
        for kept, i in zip(saved, shape.saved, strict=True):
            kept.append(carry[i])
        outs = run(*carry, *captures, *slices)
        carry = outs[: shape.carries]
        mine = body.in_place_carries(shape.carries)
        if mine:
            own = all(k not in shape.saved and is_sole_result(carry[k], outs) for k in mine)
            run = body.run_in_place if own else body.run
        for column, y in zip(ys, outs[shape.carries :], strict=True):
            column.append(y)
        done += 1
    order = -1 if shape.reverse else 1
    return (
        *carry,
        *(stack_arrays(c[::order], *spec) for c, spec in zip(ys, shape.ys, strict=True)),
        as_int64(done),
        *(
            stack_arrays(c[::order], -1 - begin[i].ndim, begin[i].shape, begin[i].dtype)
            for c, i in zip(saved, shape.saved, strict=True)
        ),
    )


COND = make_trace_op(cond, outputs=True)
LOOP = make_trace_op(loop, outputs=True)


def cond_shape(pred: Spec, *inputs: Spec, branches: tuple[Body, Body]) -> list[Spec]:
    """The specs of the results of both branches; sizes in which they differ are `FRESH`."""
    yes, no = (branch.output_specs(list(inputs)) for branch in branches)
    return list(map(join_specs, yes, no))


def join_specs(a: Spec, b: Spec) -> Spec:
    """The spec of a result of either branch."""
    pairs = zip(a.shape, b.shape, strict=True)
    return Spec((tuple([m if is_identical_size(m, n) else FRESH for m, n in pairs]), a.dtype))


def has_one_shape(branches: tuple[Body, Body]) -> bool:
    """Whether the results of two branches have the same shapes."""
    yes, no = (branch.output_specs([]) for branch in branches)
    return all(
        len(a.shape) == len(b.shape) and all(map(is_identical_size, a.shape, b.shape))
        for a, b in zip(yes, no, strict=True)
    )


def loop_shape(
    limit: Spec, *inputs: Spec, body: Body, test: Body | None, shape: LoopLayout
) -> list[Spec]:
    """The specs of the carries, stacked results, number of iterations and saved carries."""
    carries = list(inputs[: shape.carries])
    xs = inputs[shape.carries + shape.captures :]
    count = xs[0].shape[shape.xs[0]] if xs and test is None else FRESH

    def stack_spec(axis: int, own: Any, dtype: Any) -> Spec:
        at = len(own) + 1 + axis
        return Spec(((*own[:at], count, *own[at:]), dtype))

    saved = [carries[i] for i in shape.saved]
    return [
        *carries,
        *(stack_spec(*y) for y in shape.ys),
        Spec(((), INT64)),
        *(stack_spec(-1 - len(spec.shape), *spec) for spec in saved),
    ]


COND.shape_rule = cond_shape
LOOP.shape_rule = loop_shape


def record_body_node(
    known: Any, op: Any, args: tuple[Any, ...], static: dict[str, Any], outs: tuple[Any, ...]
) -> None:
    """Record a `cond` or `loop` in the recorder `known`, if it knows an input."""
    connected = find_connected_args(op, static, len(args))
    places = [i for i in differentiable_positions(args) if i in connected]
    mask = sum(1 << i for i in places if args[i].uid in known)
    if not mask:
        return
    anchor = next_uid()
    uids = tuple([a.uid for i, a in enumerate(args) if mask >> i & 1])
    known[anchor] = (BODY_STEPS[op.name], uids, mask, args, static, outs)
    for i, out in enumerate(outs):
        known[mark_recorded(out)] = (TapePort.route_cotangent, anchor, i)
    if type(known) is not TapeRecord:
        known.complete(outs)


def find_connected_args(op: Any, static: dict[str, Any], count: int) -> set[int]:
    """Positions of the arguments of a node, of `count`, that its results may have derivatives by.

    The other inputs of a `cond` get no cotangent, not zeros: an infinite derivative of the function
    around it would turn zeros into NaN.
    """
    connected: set[int] = set()
    for body in static["branches"] if op is COND else ():
        found = body.connected_inputs
        if found is None and body.existing_graph is not None:
            found = body.connected_inputs = find_connected_inputs(body.existing_graph)
        connected.update(range(count) if found is None else [i + 1 for i in found])
    return connected if op is COND else set(range(count))


def find_connected_inputs(graph: Graph) -> frozenset[int]:
    """Positions of the inputs of a graph that its outputs may have derivatives by."""
    reached = {o for o in graph.outputs if type(o) is int}
    for node in reversed(graph.nodes):
        if any(o in reached and is_differentiable(graph.specs[o].dtype) for o in node.outputs):
            reached.update(list_connected_operands(node))
    return frozenset([i for i, number in enumerate(graph.inputs) if number in reached])


def list_connected_operands(node: Node) -> Iterator[int]:
    """Numbers of the operands of a node that its outputs may have derivatives by."""
    op, inputs = node.op, node.inputs
    if op is CUSTOM:
        yield from node.static["custom"].reads()
    if isinstance(op, Effect) or op is CUSTOM or op.record_override is not None:
        places = find_connected_args(op, node.static, len(inputs))
    else:
        places = {i for i in range(len(inputs)) if op.rule(i) is not None}
    yield from (n for i in places if type(n := inputs[i]) is int)


COND.record_override = record_body_node
LOOP.record_override = record_body_node


class BodyStep(CallStep):
    """The backward step of a `cond` or `loop`: it applies another `cond` or `loop`."""

    def __init__(self, pull: Any) -> None:
        """`pull` computes cotangents of the wanted inputs; `pull_cond` documents its arguments."""
        self.pullback = pull

    def run(
        self, entry: Entry, g: Any, grads: dict[int, Any], want: int = -1, raw: bool = True
    ) -> None:
        """Add the cotangents of the inputs, computed from those of the outputs, to `grads`."""
        _, uids, mask, args, static, outs = entry
        positions = [i for i in range(mask.bit_length()) if mask >> i & 1]
        pairs = zip(uids, positions, strict=True)
        wanted = [pair for k, pair in enumerate(pairs) if want >> k & 1]
        specs = tuple([Spec((o._array.shape, o._array.dtype)) for o in outs])
        cotangents = [
            t if isinstance(t, Tensor) else make_tensor(t)
            for t in fill_missing_cotangents(g, specs)
        ]
        places = [i for _, i in wanted]
        call = (args, static, outs, cotangents, frozenset(g), places)
        if raw:
            with no_recording():
                answers = [t._array for t in self.pullback(*call)]
        else:
            answers = self.pullback(*call)
        for (uid, _), t in zip(wanted, answers, strict=True):
            add_cotangent(grads, uid, t)


def lead_shape(cotangents: list[Any], outs: tuple[Any, ...]) -> tuple[int, ...]:
    """Extra leading axes of the cotangents."""
    shape: tuple[int, ...] = cotangents[0]._array.shape
    return shape[: len(shape) - outs[0]._array.ndim]


def pull_cond(
    args: tuple[Any, ...],
    static: dict[str, Any],
    outs: Any,
    cotangents: list[Any],
    present: frozenset[int],
    places: list[int],
) -> list[Any]:
    """Cotangents of a `cond`: the pullback of the branch that is taken.

    Args:
        args: inputs of the node.
        static: its keyword arguments.
        outs: its outputs.
        cotangents: one for each output.
        present: positions of the outputs that have a cotangent; the others are filled with zeros.
        places: positions of the inputs whose cotangents are wanted.
    """
    lead = lead_shape(cotangents, outs)
    inside = tuple([i - 1 for i in places])
    branches = tuple([b.derivative(inside, lead) for b in static["branches"]])
    seeds = [cotangents[i] for i in differentiable_positions(outs)]
    return list(bind(COND, (*args, *seeds), {"branches": branches}))


def pull_loop(
    args: tuple[Any, ...],
    static: dict[str, Any],
    outs: Any,
    cotangents: list[Any],
    present: frozenset[int],
    places: list[int],
) -> list[Any]:
    """Cotangents of a `loop`: a reverse loop that carries cotangents and sums those of captures."""
    body, shape = static["body"], static["shape"]
    lead = lead_shape(cotangents, outs)
    n, m = shape.carries, shape.captures
    captures, xs = args[1 + n : 1 + n + m], args[1 + n + m :]
    first = n + len(shape.ys) + 1
    done, stacks = outs[first - 1], outs[first:]
    flowing = differentiable_positions(stacks)
    met = tuple([k for k in flowing if first + k in present])
    back = LoopBackwardBody.for_loop(body, shape, tuple([i - 1 for i in places]), lead, met, args)
    totals = [zeros_with_lead(captures[i], lead) for i in back.summed_captures]
    seeds = [cotangents[i] for i in back.carries]
    kept = [stacks[shape.saved.index(i)] for i in back.saved_carries]
    flows = [cotangents[n + i] for i in back.ys] + [cotangents[first + k] for k in met]
    layout = back.layout(args, outs)
    given = (done, *seeds, *totals, *captures, *kept, *xs, *flows)
    answers = apply_loop(LOOP, given, {"body": back, "test": None, "shape": layout})
    found: list[Any] = []
    start = len(back.carries) + len(back.summed_captures)
    for place in [i - 1 for i in places]:
        if place < n:
            found.append(answers[back.carries.index(place)])
        elif place - n in back.summed_captures:
            found.append(answers[len(back.carries) + back.summed_captures.index(place - n)])
        elif place < n + m:
            k = start + len(back.xs) + 2 * list(back.lookups).index(place - n)
            whole = captures[place - n]._array.shape
            total = scatter_add(answers[k], answers[k + 1], axis=-len(whole), size=whole[0])
            found.append(total)
        else:
            found.append(answers[start + back.xs.index(place - n - m)])
    return found


def zeros_with_lead(tensor: Tensor, lead: tuple[int, ...]) -> Tensor:
    """Zeros of a tensor's shape with the axes `lead` in front."""
    return make_zeros_tensor(lead + tensor._array.shape, tensor._array.dtype)


def apply_loop(op: Any, args: tuple[Any, ...], static: dict[str, Any]) -> tuple[Any, ...]:
    """Apply `loop`; under a tape, also save the carries that its adjoint reads."""
    tensors = tuple([a if isinstance(a, Tensor) else make_tensor(a) for a in args])
    shape: LoopLayout = static["shape"]
    floats = [tensors[i].uid for i in differentiable_positions(tensors)]
    tapes = [known for known in local.recorders if not known.is_trace]
    if not any(uid in known for known in tapes for uid in floats):
        return tuple(bind(op, tensors, static))
    extra = [
        i for i in find_residual_carries(static["body"], shape, tensors) if i not in shape.saved
    ]
    more = {**static, "shape": shape.with_saved_carries((*shape.saved, *extra))}
    outs = bind(op, tensors, more)
    return tuple(outs[: len(outs) - len(extra)])


LOOP.apply = apply_loop


def find_residual_carries(body: Body, shape: LoopLayout, args: tuple[Any, ...]) -> list[int]:
    """Positions of the carries that the adjoint of a loop reads."""
    if body.residual_carries is None:
        raws = [raw_value(a) for a in args[1:]]
        if Spec in map(type, raws):
            return list(range(shape.carries))  # without values, any carry may be read
        known = body
        if body.has_dims():
            known = body.substitute_dims(current_trace()[0].sizes.hints)
        count = shape.carries + shape.captures
        slices = [first_slice(x, axis) for x, axis in zip(raws[count:], shape.xs, strict=True)]
        sample = (*raws[:count], *slices)
        outs = known.run(*sample)
        seeds = [make_ones(r) for r in outs if is_differentiable(r.dtype)]
        places = tuple([i for i, r in enumerate(sample) if is_differentiable(r.dtype)])
        try:
            graph = known.derivative(places, ()).graph((*sample, *seeds))
        except LookupError:  # an op without a gradient: the backward pass raises if it needs one
            return list(range(shape.carries))
        used = {i for node in graph.live_nodes() for i in node.reads()}
        used |= {o for o in graph.outputs if type(o) is int}
        body.residual_carries = [i for i in range(shape.carries) if graph.inputs[i] in used]
    return body.residual_carries


def first_slice(x: Any, axis: int) -> Any:
    """The first slice of an array; a stand-in of that shape if the array has no slices."""
    sizes = list(x.shape)
    if sizes.pop(axis):
        return unstack_slice(x, 0, axis)
    return make_stand_in_array(sizes, x.dtype)


BODY_STEPS = {"cond": BodyStep(pull_cond), "loop": BodyStep(pull_loop)}
