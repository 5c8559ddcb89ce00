"""The adjoint of a loop: a reverse loop whose body is the pullback of the original body."""

from __future__ import annotations

from math import prod
from typing import Any

from gradtape.core.context import use_recorders
from gradtape.core.dtypes import is_differentiable
from gradtape.core.open_shape import has_dims, substitute, unknowns_in
from gradtape.core.size_atom import Unknown
from gradtape.core.size_function import Env
from gradtape.core.tensor import Tensor
from gradtape.graph.body_plan import SharedPlans
from gradtape.graph.graph import Graph, Node
from gradtape.graph.size_tensor import make_zeros_tensor
from gradtape.graph.subgraph import Body, pull_back
from gradtape.graph.trace import Trace
from gradtape.graph.trace_options import TraceOptions
from gradtape.graph.traced_value import raw_value
from gradtape.ops.gather_scatter import gather
from gradtape.ops.raw_array import make_stand_in_array


class LoopLayout:
    """The order of a loop's inputs and outputs.

    Inputs: limit, carries, captures, xs. Outputs: carries, ys, number of iterations, saved carries.

    Attributes:
        carries: number of values passed from one iteration to the next.
        captures: number of values that are the same in all iterations.
        xs: for each sliced input, the axis, counted from the right.
        ys: for each stacked output, (axis, shape, dtype) of one element.
        saved: positions of the carries that are stacked as they were before each iteration.
        reverse: whether the loop runs from the last slice to the first.
    """

    __slots__ = ("captures", "carries", "reverse", "saved", "xs", "ys")

    def __init__(
        self,
        carries: int,
        captures: int,
        xs: tuple[int, ...] = (),
        ys: tuple[Any, ...] = (),
        saved: tuple[int, ...] = (),
        reverse: bool = False,
    ) -> None:
        """Make a layout of these parts."""
        self.carries = carries
        self.captures = captures
        self.xs = xs
        self.ys = ys
        self.saved = saved
        self.reverse = reverse

    def __repr__(self) -> str:
        """The counts of carries, xs and ys."""
        return f"{self.carries} carries, {len(self.xs)} xs, {len(self.ys)} ys"

    def has_dims(self) -> bool:
        """Whether elements of stacked outputs have unknown sizes."""
        return any(has_dims(shape) for _, shape, _ in self.ys)

    def unknowns_in_dims(self) -> set[Unknown]:
        """The unknown sizes of the elements of stacked outputs."""
        return unknowns_in([shape for _, shape, _ in self.ys])

    def substitute_dims(self, env: Env) -> LoopLayout:
        """The layout for known sizes."""
        ys = tuple([(axis, substitute(shape, env), dtype) for axis, shape, dtype in self.ys])
        return LoopLayout(self.carries, self.captures, self.xs, ys, self.saved, self.reverse)

    def with_saved_carries(self, saved: tuple[int, ...]) -> LoopLayout:
        """The same layout, saving these carries."""
        return LoopLayout(self.carries, self.captures, self.xs, self.ys, saved, self.reverse)


def differentiable_positions(args: tuple[Any, ...]) -> list[int]:
    """Positions of the tensors that can have a gradient."""
    return [
        i for i, a in enumerate(args) if isinstance(a, Tensor) and is_differentiable(a._array.dtype)
    ]


class LoopBackwardBody(Body):
    """The body of the adjoint of a loop.

    Inputs: cotangents of the carries, sums for the captures; captures; saved carries, xs,
    cotangents of the ys and of the saved carries (needed for second derivatives).
    Outputs: cotangents of the previous carries, sums, cotangents of the xs. If the body only looks
    up rows of a capture, the outputs are cotangents and indices of these rows instead of a sum.

    Attributes:
        met: positions in `read` of the saved carries that have a cotangent.
        looked_up: captures that the body only looks up, each with the node that does it.
        summed: captures whose cotangents are summed.
        read: carries that the forward loop has saved.
    """

    @classmethod
    def for_loop(
        cls,
        body: Body,
        shape: LoopLayout,
        places: tuple[int, ...],
        lead: tuple[int, ...],
        met: tuple[int, ...],
        args: tuple[Any, ...],
    ) -> LoopBackwardBody:
        """The backward body for these arguments, from the cache of `body` if it exists."""
        key = (places, lead, met, shape.saved)
        if key not in body.adjoints:
            body.adjoints[key] = cls(body, shape, places, lead, met, args)
        adjoint: LoopBackwardBody = body.adjoints[key]
        return adjoint

    def __init__(
        self,
        body: Body,
        shape: LoopLayout,
        places: tuple[int, ...],
        lead: tuple[int, ...],
        met: tuple[int, ...],
        args: tuple[Any, ...],
    ) -> None:
        """For the body's inputs at `places`; `args` are the arguments of the loop."""
        super().__init__()
        self.body, self.shape, self.lead, self.saved_cotangents = body, shape, lead, met
        n, m = shape.carries, shape.captures
        self.carries = differentiable_positions(args[1 : 1 + n])
        self.captures = [i - n for i in places if n <= i < n + m]
        lookups = (
            {} if lead else {i: find_row_lookup(body.existing_graph, n + i) for i in self.captures}
        )
        self.lookups = {i: node for i, node in lookups.items() if node is not None}
        self.summed_captures = [i for i in self.captures if i not in self.lookups]
        self.xs = [i - n - m for i in places if i >= n + m]
        inner = [n + i for i in self.captures] + [n + m + i for i in self.xs]
        self.places = (*self.carries, *inner)
        self.ys = [i for i, y in enumerate(shape.ys) if is_differentiable(y[2])]
        self.saved_carries = list(shape.saved)
        self.specs = [(a._array.shape, a._array.dtype) for a in args[1 : 1 + n]]

    def find_unknowns(self) -> set[Unknown]:
        """Those of the loop's body, of its carries and of the leading axes."""
        shapes = [self.lead, *(shape for shape, _ in self.specs)]
        return self.body.unknowns_in_dims() | self.shape.unknowns_in_dims() | unknowns_in(shapes)

    def find_plan_unknowns(self) -> set[Unknown]:
        """Those of the body's plan, of the carries and sums, and of the leading axes.

        The pullback reads other captures, and rows of them, as the body does.
        """
        graph, n = self.body.existing_graph, self.shape.carries
        if graph is None:
            return self.find_unknowns()
        shapes = [self.lead, *(shape for shape, _ in self.specs)]
        shapes += [graph.specs[graph.inputs[n + i]].shape for i in self.summed_captures]
        shapes += [y[1] for y in self.shape.ys]
        return self.body.find_plan_unknowns() | unknowns_in(shapes)

    def specialise(self, env: Env) -> LoopBackwardBody:
        """The backward body of the loop for known sizes."""
        if self._plans is None:
            self._plans = SharedPlans(self.find_plan_unknowns())
        made = LoopBackwardBody.__new__(LoopBackwardBody)
        Body.__init__(made)
        made._plan = self._plans.find(None, env)
        vars(made).update({name: vars(self)[name] for name in SIZELESS_FIELDS})
        made.body, made.shape = self.body.substitute_dims(env), self.shape.substitute_dims(env)
        made.lead, made.lookups = substitute(self.lead, env), {}
        made.specs = [(substitute(shape, env), dtype) for shape, dtype in self.specs]
        graph, carries = made.body.existing_graph, self.shape.carries
        for i in self.lookups:
            node = find_row_lookup(graph, carries + i)
            assert node is not None
            made.lookups[i] = node
        return made

    def layout(self, args: tuple[Any, ...], outs: Any) -> LoopLayout:
        """The layout of the adjoint loop."""
        shape = self.shape
        n, m = shape.carries, shape.captures
        kept = [-1 - args[1 + i]._array.ndim for i in self.saved_carries]
        flows = [shape.ys[i][0] for i in self.ys] + [kept[k] for k in self.saved_cotangents]
        ys = []
        for i in self.xs:
            raw, axis = args[1 + n + m + i]._array, shape.xs[i]
            sizes = list(raw.shape)
            del sizes[axis]
            ys.append((axis, self.lead + tuple(sizes), raw.dtype))
        for i, lookup in self.lookups.items():
            raw, (rows, dtype) = args[1 + n + i]._array, self.operand_spec(lookup.inputs[1])
            count = prod(rows)
            ys.append((-1 - raw.ndim, (count, *raw.shape[1:]), raw.dtype))
            ys.append((-2, (count,), dtype))
        return LoopLayout(
            len(self.carries) + len(self.summed_captures),
            m,
            (*kept, *shape.xs, *flows),
            tuple(ys),
            (),
            not shape.reverse,
        )

    def make_graph(self, raws: tuple[Any, ...]) -> Graph:
        """Replay the body under a tape, inside a trace of its own."""
        shape = self.shape
        a, b, m = len(self.carries), len(self.summed_captures), shape.captures
        trace = Trace(TraceOptions("adjoint", forbids_values=True))
        with use_recorders((trace,)):
            inputs = [trace.add_input(raw) for raw in raws]
            seeds, totals = inputs[:a], inputs[a : a + b]
            captures = inputs[a + b : a + b + m]
            rest = inputs[a + b + m :]
            kept, rest = rest[: len(self.saved_carries)], rest[len(self.saved_carries) :]
            xs, rest = rest[: len(shape.xs)], rest[len(shape.xs) :]
            flows, met = rest[: len(self.ys)], rest[len(self.ys) :]
            carry = self.restore_carries(trace, kept)
            sample = tuple([raw_value(t) for t in (*carry, *captures, *xs)])
            everything = [*carry, *captures, *xs]
            graph = self.body.graph(sample)
            rows = frozenset(shape.carries + i for i in self.lookups)
            answers = pull_back(graph, everything, [*seeds, *flows], self.places, self.lead, rows)
            for k, g in zip(self.saved_cotangents, met, strict=True):
                at = self.carries.index(self.saved_carries[k])
                answers[at] = answers[at] + g
            of = dict(zip(self.captures, answers[a:], strict=False))
            added = [t + of[i] for i, t in zip(self.summed_captures, totals, strict=True)]
            parts = [p for i in self.lookups for p in self.row_cotangents(i, of[i], captures[i])]
            results = [*answers[:a], *added, *answers[a + len(self.captures) :], *parts]
            outputs = trace.operands(results)
        made = trace.make_graph(outputs)
        made.nodes = made.live_nodes()
        trace.close()
        return made

    def operand_spec(self, operand: Any) -> Any:
        """Shape and dtype of a value in the body's graph."""
        graph = self.body.existing_graph
        assert graph is not None
        if type(operand) is int:
            return graph.specs[operand]
        return operand.raw.shape, operand.raw.dtype

    def row_cotangents(self, i: int, slices: Any, capture: Tensor) -> tuple[Any, Any]:
        """Cotangents and indices of the rows that an iteration looks up; zeros without gradient."""
        if slices is not None:
            return slices.values, slices.indices
        rows, dtype = self.operand_spec(self.lookups[i].inputs[1])
        raw, count = capture._array, prod(rows)
        values = make_zeros_tensor((count, *raw.shape[1:]), raw.dtype)
        return values, make_zeros_tensor((count,), dtype)

    def restore_carries(self, trace: Trace, kept: list[Any]) -> list[Any]:
        """The carries of this iteration: saved values, or stand-ins where only shapes matter."""
        return [
            kept[self.saved_carries.index(i)]
            if i in self.saved_carries
            else trace.make_value(make_stand_in_array(list(shape), dtype))
            for i, (shape, dtype) in enumerate(self.specs)
        ]


# Fields of a LoopBackwardBody that do not depend on sizes
SIZELESS_FIELDS = (
    "captures",
    "carries",
    "places",
    "saved_carries",
    "saved_cotangents",
    "summed_captures",
    "xs",
    "ys",
)


def find_row_lookup(graph: Graph | None, place: int) -> Node | None:
    """The `gather` node of a body, if it is the only use of the input at `place`; else None."""
    if graph is None:
        return None
    number = graph.inputs[place]
    readers = [node for node in graph.nodes if number in node.reads()]
    if len(readers) != 1 or number in graph.outputs:
        return None
    (node,) = readers
    rank = len(graph.specs[number].shape)
    if node.op is not gather.op or node.static["axis"] != -rank or number in node.inputs[1:]:
        return None
    return node
