"""The numpy engine: a graph becomes a program of NumPy calls, and that one flat function.

A plan keeps buffers between calls. It may be called by anybody at any time: who finds it busy
(another thread, or a host call that calls back) runs the same calls without buffers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from functools import cached_property
from itertools import chain, starmap
from operator import call
from typing import Any

from gradtape.compile.numpy.codegen import generate
from gradtape.compile.numpy.errstate import SILENT, hush, unhush
from gradtape.compile.numpy.lowering import lower
from gradtape.compile.numpy.passes.broadcast import broadcast
from gradtape.compile.numpy.passes.buffer import buffer
from gradtape.compile.numpy.passes.cache_blocking import block
from gradtape.compile.numpy.passes.common_subexpression import common
from gradtape.compile.numpy.passes.constant_folding import fold
from gradtape.compile.numpy.passes.dead_code import dead
from gradtape.compile.numpy.passes.in_place_update import stage
from gradtape.compile.numpy.passes.scalar_operand import scalar
from gradtape.compile.numpy.passes.sum_as_matmul import product
from gradtape.compile.numpy.program import Program
from gradtape.graph.graph import Graph
from gradtape.graph.subgraph import Handed

PASSES: dict[str, Callable[[Program], Program]] = {
    "broadcast": broadcast,
    "fold": fold,
    "common": common,
    "dead": dead,
    "product": product,
    "scalar": scalar,
    "block": block,
    "buffer": buffer,
}
LAYOUT = ("block", "buffer")  # what is decided for each form of a plan by itself


class Plan:
    """A graph ready to run: called with raw inputs, it returns a tuple of raw outputs.

    Outputs are arrays that nobody else writes to, and no input is written to.

    Attributes:
        in_place: which of the updates asked for `staged` leaves to the caller's commit: position
            of the output → position of the input.
    """

    def __init__(self, program: Program, passes: set[str], updates: dict[int, int]) -> None:
        """Lay out `program` with the rest of `passes`."""
        self.program = program
        self.passes = [PASSES[name] for name in LAYOUT if name in passes]
        self.unbound = program
        self.in_place: dict[int, int] = {}
        if updates and "buffer" in passes:
            self.unbound, self.in_place = stage(program, updates)

    def __call__(self, *raws: Any) -> Any:
        """Run."""
        return self.run(*raws)

    @cached_property
    def laid_out(self) -> Program:
        """The program with blocks and buffers."""
        return applied(self.program, self.passes)

    @cached_property
    def run(self) -> Callable[..., tuple[Any, ...]]:
        """The function: raw inputs in, a tuple of raw outputs out."""
        spare = unbound(self.program) if self.laid_out.bound else None
        return generate(self.laid_out, spare)

    @cached_property
    def staged(self) -> Callable[..., tuple[Any, Any]]:
        """The function that leaves the updates `in_place` to the caller.

        It returns the outputs, with None for those updates, and the calls that carry them out, to
        be handed to `commit`. These read buffers of the plan: from here to the end of the commit
        the caller sees to it that nobody else calls `staged`. They write into the arrays
        given as inputs: the caller has made sure that nobody else refers to these.
        """
        return generate(applied(self.unbound, self.passes))

    def pretty(self) -> str:
        """The calls, readably."""
        return self.laid_out.pretty()


def unbound(program: Program) -> Callable[..., Any]:
    """The function of a program without arrays of its own, generated when it is first called."""
    made: list[Callable[..., Any]] = []

    def run(*raws: Any) -> Any:
        if not made:
            made.append(generate(program))
        return made[0](*raws)

    return run


def applied(program: Program, passes: Iterable[Callable[[Program], Program]]) -> Program:
    """A program after some passes."""
    for apply in passes:
        program = apply(program)
    return program


def compile_graph(
    graph: Graph, updates: dict[int, int] | None = None, passes: Iterable[str] = tuple(PASSES)
) -> Plan:
    """A function of the graph's raw inputs that returns its raw outputs.

    Args:
        graph: what to compute.
        updates: position of an output → position of the input whose next value it is.
        passes: names of the passes to apply, all of them by default; they run in the order
            of `PASSES`.
    """
    chosen = set(passes)
    first = [apply for name, apply in PASSES.items() if name in chosen and name not in LAYOUT]
    return Plan(applied(lower(graph), first), chosen, updates or {})


Handed.compile = compile_graph


def commit(calls: Iterable[tuple[Any, ...]], *more: Iterable[Any]) -> None:
    """Carry out the calls that `staged` left, then whatever `more` iterators of C code do.

    All of it happens in one loop without a line of Python, so no interrupt lands in between.
    """
    token = hush(SILENT)
    try:
        deque(chain(starmap(call, calls), *more), maxlen=0)
    finally:
        unhush(token)
