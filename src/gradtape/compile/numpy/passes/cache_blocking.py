"""Cache blocking: chains of elementwise calls on large arrays run in blocks that fit the cache."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from gradtape.compile.numpy.passes.buffer import memory_roots
from gradtape.compile.numpy.program import ELEMENTWISE_KINDS, NumpyCall, Operand, Program, ValueSpec

BLOCK_ELEMENTS = 1 << 15  # elements of a block
MIN_BLOCKED_ELEMENTS = 1 << 16  # elements; smaller arrays are not divided
MAX_HOISTED_ELEMENTS = 1 << 10  # elements; results up to this size may be computed before the chain
BLOCKED_REDUCTIONS = {np.add, np.maximum, np.minimum}


def block_chains(program: Program) -> Program:
    """Collect chains of elementwise calls of the same large shape and run them in blocks."""
    kept: list[NumpyCall] = []
    rest = program.calls
    if all(
        program.specs[o].size < MIN_BLOCKED_ELEMENTS
        for c in [*rest, *program.commit_calls]
        for o in c.outs
    ):
        return program
    ordered = any(call.is_effect for call in rest)
    while rest:
        start = next((i for i, c in enumerate(rest) if is_large_elementwise(c, program)), len(rest))
        kept += rest[:start]
        if start == len(rest):
            break
        chain = ElementwiseChain(program, rest[start])
        rest = chain.collect(rest[start + 1 :], ordered)
        wanted = find_wanted_values(program, rest)
        kept += chain.hoisted
        kept += [chain.as_call(wanted)] if len(chain.calls) > 1 else chain.calls
    cut = program.with_calls(kept)
    cut.commit_calls = block_commits(program)
    return cut


def block_commits(program: Program) -> list[NumpyCall]:
    """The commit calls, with consecutive calls of the same large shape as blocks."""
    roots = memory_roots(program)
    found: list[NumpyCall] = []
    chain: ElementwiseChain | None = None
    for i, call in enumerate(program.commit_calls):
        if chain is not None:
            chain.calls.append(call)
            chain.produced.update(call.outs)
        elif is_large_elementwise(call, program):
            chain = ElementwiseChain(program, call)
        else:
            found.append(call)
            continue
        after = program.commit_calls[i + 1 :]
        known = program.specs[after[0].outs[0]] if after else None
        if (
            known is None
            or known.shape != chain.spec.shape
            or not is_large_elementwise(after[0], program)
        ):
            wanted = {*program.overwrites, *(n for c in after for n in c.reads())}
            split = len(chain.calls) > 1 and chain.is_safe_in_place(roots)
            found += [chain.as_call(wanted)] if split else chain.calls
            chain = None
    return found


def is_large_elementwise(call: NumpyCall, program: Program) -> bool:
    """Whether a call is elementwise and large."""
    if call.kind not in ELEMENTWISE_KINDS and call.fn is not np.where:
        return False
    known = program.specs[call.outs[0]]
    return known.size >= MIN_BLOCKED_ELEMENTS and (
        has_full_operands(call, known, program) or can_split_rows(known)
    )


def has_full_operands(call: NumpyCall, known: ValueSpec, program: Program) -> bool:
    """Whether every operand is a scalar or has the shape of the result."""
    return all(shape in ((), known.shape) for shape in operand_shapes(call, program))


def operand_shapes(call: NumpyCall, program: Program) -> list[tuple[int, ...]]:
    """Shapes of the operands; a dtype counts as a scalar."""
    return [
        program.specs[a].shape
        if type(a) is int
        else a.raw.shape
        if type(a.raw) is np.ndarray
        else ()
        for a in call.args
    ]


def can_split_rows(known: ValueSpec) -> bool:
    """Whether an array can be divided into blocks along its first axis."""
    first = known.shape[0]
    return len(known.shape) > 1 and first > 1 and known.size // first <= BLOCK_ELEMENTS


def find_wanted_values(program: Program, rest: Iterable[NumpyCall]) -> set[int]:
    """Values that later calls, the commit or the caller read."""
    wanted = {o for o in program.outputs if type(o) is int}
    wanted.update(i for call in program.commit_calls for i in call.reads())
    wanted.update(i for call in rest for i in call.reads())
    return wanted


def group_connected_calls(calls: dict[int, NumpyCall]) -> list[dict[int, NumpyCall]]:
    """Group calls that read each other's results; keys are positions."""
    groups: list[tuple[set[int], dict[int, NumpyCall]]] = []
    for k, call in calls.items():
        outs, group = set(call.outs), {k: call}
        apart = []
        for found in groups:
            if found[0].isdisjoint(call.reads()):
                apart.append(found)
            else:
                outs |= found[0]
                group = found[1] | group
        groups = [*apart, (outs, group)]
    return [group for _, group in groups]


class ElementwiseChain:
    """Calls that run together in blocks.

    Attributes:
        calls: the calls, in order.
        hoisted: small calls that run before the chain, which may read their results.
        far: calls among them that stood behind calls that do not join, by their index in the rest.
        produced: values that the chain computes.
        values: values that the chain reads or computes.
        spec: shape and dtype of the first result.
    """

    def __init__(self, program: Program, first: NumpyCall) -> None:
        """Start with one call."""
        self.program = program
        self.spec = program.specs[first.outs[0]]
        self.calls = [first]
        self.hoisted: list[NumpyCall] = []
        self.far: dict[int, NumpyCall] = {}
        self.produced = set(first.outs)
        self.values = {*first.outs, *first.reads()}

    def collect(self, rest: list[NumpyCall], ordered: bool) -> list[NumpyCall]:
        """Add the calls that can join; return the rest, which runs after the chain."""
        after: dict[int, NumpyCall] = {}
        late: set[int] = set()
        stuck = False
        for k, call in enumerate(rest):
            reads = set(call.reads())
            outs = call.outs
            if not reads & late and self.can_join(call, reads):
                self.calls.append(call)
                self.produced.update(outs)
                self.values.update(outs, reads)
                if late:
                    self.far[k] = call
                continue
            early = not reads & late and not reads & self.produced
            if ordered and call.kind == "opaque":
                early = early and not stuck
                stuck = stuck or not early
            if early and self.is_small(call):
                self.hoisted.append(call)
                continue
            stuck = stuck or (ordered and call.kind == "opaque")
            after[k] = call
            late.update(outs)
        return self.return_far_calls(after)

    def is_small(self, call: NumpyCall) -> bool:
        """Whether a call allocates little, so that it may run before the chain."""
        sizes = [self.program.specs[o].size for o in call.outs]
        return call.kind == "view" or max(sizes, default=0) <= MAX_HOISTED_ELEMENTS

    def return_far_calls(self, after: dict[int, NumpyCall]) -> list[NumpyCall]:
        """Return groups of far calls to their place if the chain then keeps fewer bytes for later.

        The mask of a relu, for example, is computed again when the backward pass needs it.
        """
        wanted = find_wanted_values(self.program, after.values()) if self.far else set()
        for group in group_connected_calls(self.far):
            inside = {o for call in group.values() for o in call.outs}
            reads = {i for call in group.values() for i in call.reads()} - inside
            kept = reads - wanted - set(self.program.inputs)
            if self.count_bytes(kept) < self.count_bytes(inside & wanted):
                after |= group
                wanted |= reads
                self.calls = [call for call in self.calls if inside.isdisjoint(call.outs)]
                self.produced -= inside
        return [after[k] for k in sorted(after)]

    def count_bytes(self, values: set[int]) -> int:
        """Bytes of these values."""
        specs = [self.program.specs[i] for i in values]
        return sum(spec.size * spec.dtype.itemsize for spec in specs)

    def can_join(self, call: NumpyCall, reads: set[int]) -> bool:
        """Whether a call can join: it has the chain's shape and shares a value with the chain."""
        if reads.isdisjoint(self.values):
            return False
        if call.kind == "reduce":
            return self.can_end(call)
        if not is_large_elementwise(call, self.program):
            return False
        return self.program.specs[call.outs[0]].shape == self.spec.shape

    def can_end(self, call: NumpyCall) -> bool:
        """Whether a call reduces a value of the chain over all axes (sum, maximum or minimum)."""
        x, axis, dtype, *_ = call.args
        if call.fn not in BLOCKED_REDUCTIONS or len(call.args) > 4 or dtype.raw is not None:
            return False
        axes = axis.raw if type(axis.raw) is tuple else (axis.raw,)
        known = self.program.specs[call.outs[0]]
        return x in self.produced and len(axes) == len(self.spec.shape) and known.shape == ()

    def as_call(self, wanted: set[int]) -> NumpyCall:
        """The chain as one call that returns the `wanted` values."""
        flat = all(
            has_full_operands(call, self.spec, self.program)
            for call in self.calls
            if call.kind != "reduce"
        )
        shape = (self.spec.size,) if flat else self.spec.shape
        rows = max(1, BLOCK_ELEMENTS * shape[0] // self.spec.size)
        outs = tuple([o for call in self.calls for o in call.outs if o in wanted])
        temps, arrays = self.allocate_temporaries(wanted, (rows, *shape[1:]))
        reads = [i for call in self.calls for i in call.reads() if i not in self.produced]
        static = {
            "rows": rows,
            "count": shape[0],
            "flat": flat,
            "temps": temps,
            "arrays": arrays,
            "shape": self.spec.shape,
        }
        args: tuple[Operand, ...] = tuple(dict.fromkeys(reads))
        return NumpyCall("blocks", None, args, outs, static, self.calls)

    def is_safe_in_place(self, roots: dict[int, frozenset[int]]) -> bool:
        """Whether blocks may overwrite the inputs: no other operand shares their memory."""
        into = self.program.overwrites
        written = {into[o] for o in self.produced if o in into}
        reads = {i for call in self.calls for i in call.reads()} - written - self.produced
        return not any(roots[i] & written for i in reads)

    def allocate_temporaries(
        self, wanted: set[int], shape: tuple[int, ...]
    ) -> tuple[dict[int, int], list[Any]]:
        """Assign a block-sized temporary to each internal value; temporaries are reused."""
        last = {i: k for k, call in enumerate(self.calls) for i in call.reads()}
        temps: dict[int, int] = {}
        arrays: list[Any] = []
        free: dict[Any, list[int]] = {}
        for k, call in enumerate(self.calls):
            dying = [i for i in dict.fromkeys(call.reads()) if i in temps and last[i] == k]
            (out,) = call.outs
            dtype = self.program.specs[out].dtype
            if call.kind == "ufunc":
                for i in dying:
                    free.setdefault(arrays[temps[i]].dtype, []).append(temps[i])
            if call.kind != "reduce" and out not in wanted:
                if free.get(dtype):
                    temps[out] = free[dtype].pop()
                else:
                    temps[out] = len(arrays)
                    arrays.append(np.empty(shape, dtype))
                if out not in last:
                    free.setdefault(dtype, []).append(temps[out])
            if call.kind != "ufunc":
                for i in dying:
                    free.setdefault(arrays[temps[i]].dtype, []).append(temps[i])
        return temps, arrays
