"""The numpy engine: compiles a graph into a program of NumPy calls, and that into one function.

A plan keeps buffers between calls. A call that comes while the plan is running (from another
thread, or from a host function that the plan calls) runs the same program without buffers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property, partial
from typing import Any

from gradtape.compile.numpy.arena import Arena
from gradtape.compile.numpy.codegen import generate_function
from gradtape.compile.numpy.lowering import lower_graph
from gradtape.compile.numpy.passes.broadcast import remove_broadcasts
from gradtape.compile.numpy.passes.buffer import assign_buffers
from gradtape.compile.numpy.passes.cache_blocking import block_chains
from gradtape.compile.numpy.passes.common_subexpression import eliminate_common_subexpressions
from gradtape.compile.numpy.passes.constant_folding import fold_constants
from gradtape.compile.numpy.passes.dead_code import remove_dead_code
from gradtape.compile.numpy.passes.in_place_update import plan_in_place_updates
from gradtape.compile.numpy.passes.scalar_operand import convert_scalar_operands
from gradtape.compile.numpy.passes.sum_as_matmul import use_matmul_for_sums
from gradtape.compile.numpy.program import NumpyCall, Program
from gradtape.core.blas_thread import NUMPY_BLAS, is_threaded_product
from gradtape.core.ports import CompilerPort
from gradtape.graph.graph import Graph

PASSES: dict[str, Callable[[Program], Program]] = {
    "broadcast": remove_broadcasts,
    "fold": fold_constants,
    "common": eliminate_common_subexpressions,
    "dead": remove_dead_code,
    "product": use_matmul_for_sums,
    "scalar": convert_scalar_operands,
    "block": block_chains,
    "buffer": assign_buffers,
}
LAYOUT_PASSES = (
    "block",
    "buffer",
)  # passes that run separately for the plain and the in-place form


class NumpyPlan:
    """A compiled graph: called with raw inputs, it returns a tuple of raw outputs.

    Outputs are new arrays that the plan does not write to again. Inputs are never written to.

    Attributes:
        returns_jax_arrays: whether `start` runs the plan, and its results stay JAX arrays.
        in_place: the updates that `run_for_commit` leaves to the caller's commit: position of the
            output → position of the input.
    """

    returns_jax_arrays = False

    def __init__(self, program: Program, passes: set[str], updates: dict[int, int]) -> None:
        """Prepare to run `program`; the layout passes among `passes` are applied on first use."""
        self.program = program
        self.passes = [PASSES[name] for name in LAYOUT_PASSES if name in passes]
        self.in_place_program = program
        self.in_place: dict[int, int] = {}
        if updates and "buffer" in passes:
            self.in_place_program, self.in_place = plan_in_place_updates(program, updates)

    def __call__(self, *raws: Any) -> Any:
        """Run the plan."""
        return self.run(*raws)

    @cached_property
    def final_program(self) -> Program:
        """The program with blocks and buffers."""
        return apply_passes(self.program, self.passes)

    @cached_property
    def final_in_place_program(self) -> Program:
        """The program of `run_for_commit`, with blocks and buffers."""
        return apply_passes(self.in_place_program, self.passes)

    def arenas(self) -> list[Arena]:
        """The arenas of the forms of this plan that have run."""
        made = [vars(self).get(name) for name in ("final_program", "final_in_place_program")]
        return [program.arena for program in made if program is not None and program.arena]

    @cached_property
    def run(self) -> Callable[..., tuple[Any, ...]]:
        """The generated function, from raw inputs to a tuple of raw outputs."""
        spare = make_unbuffered_function(self.program) if self.final_program.buffers else None
        return limit_threads(generate_function(self.final_program, spare), self.program)

    @cached_property
    def run_for_commit(self) -> Callable[..., tuple[Any, Any]]:
        """The generated function that leaves the updates `in_place` to the caller.

        It returns the outputs, with None for those updates, and the calls that perform the updates.
        The caller passes these calls to `commit.run_commit_calls`. They read buffers of the plan:
        until the commit is done, the caller must prevent other calls of `run_for_commit`. They
        write into the input arrays: the caller must hold the only references to these.
        """
        return limit_threads(generate_function(self.final_in_place_program), self.in_place_program)

    def pretty(self) -> str:
        """The calls as readable lines."""
        return self.final_program.pretty()


def limit_threads(function: Callable[..., Any], program: Program) -> Callable[..., Any]:
    """The function of a program, with a limit of BLAS threads if it has a large product."""
    if not any(has_threaded_product(call, program) for call in program.calls):
        return function
    return partial(NUMPY_BLAS.run, function)


def has_threaded_product(call: NumpyCall, program: Program) -> bool:
    """Whether BLAS may use threads for a call."""
    if call.kind != "product":
        return False
    a, out = call.args[0], program.specs[call.outs[0]]
    shape = program.specs[a].shape if type(a) is int else a.raw.shape
    return is_threaded_product(out.size * shape[-1], out.dtype, out.size)


def make_unbuffered_function(program: Program) -> Callable[..., Any]:
    """A function that runs a program without buffers; its code is generated at the first call."""
    made: list[Callable[..., Any]] = []

    def run(*raws: Any) -> Any:
        if not made:
            made.append(generate_function(program))
        return made[0](*raws)

    return run


def apply_passes(program: Program, passes: Iterable[Callable[[Program], Program]]) -> Program:
    """Apply passes to a program, in order."""
    for apply in passes:
        program = apply(program)
    return program


def compile_graph(
    graph: Graph, updates: dict[int, int] | None = None, passes: Iterable[str] = tuple(PASSES)
) -> NumpyPlan:
    """Compile a graph into a plan, from raw inputs to raw outputs.

    Args:
        graph: the graph.
        updates: position of an output → position of the input whose next value it is.
        passes: names of the passes to apply, all of them by default; they run in the order
            of `PASSES`.
    """
    chosen = set(passes)
    first = [
        apply for name, apply in PASSES.items() if name in chosen and name not in LAYOUT_PASSES
    ]
    return NumpyPlan(apply_passes(lower_graph(graph), first), chosen, updates or {})


CompilerPort.supply(compile=compile_graph)
