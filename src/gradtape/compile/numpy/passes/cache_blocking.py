"""Cache blocking: chains of elementwise calls on large arrays run in blocks that fit the cache."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.compile.numpy.passes.buffer import roots_of
from gradtape.compile.numpy.program import ELEMENTWISE, Call, Known, Operand, Program

BLOCK = 1 << 15  # elements of a block
LEAST = 1 << 16  # elements; smaller arrays are not divided
SMALL = 1 << 10  # elements; results up to this size may be computed before the chain
REDUCED = {np.add, np.maximum, np.minimum}


def block(program: Program) -> Program:
    """Collect chains of elementwise calls of the same large shape and run them in blocks."""
    kept: list[Call] = []
    rest = program.calls
    if all(program.known[o].size < LEAST for c in [*rest, *program.commits] for o in c.outs):
        return program
    ordered = any(call.effect for call in rest)
    while rest:
        start = next((i for i, c in enumerate(rest) if is_chained(c, program)), len(rest))
        kept += rest[:start]
        if start == len(rest):
            break
        chain = Chain(program, rest[start])
        rest = chain.gather(rest[start + 1 :], ordered)
        wanted = {o for o in program.outputs if type(o) is int}
        wanted.update(i for call in program.commits for i in call.reads())
        wanted.update(i for call in rest for i in call.reads())
        kept += chain.before
        kept += [chain.made(wanted)] if len(chain.calls) > 1 else chain.calls
    cut = program.having(kept)
    cut.commits = runs_of(program)
    return cut


def runs_of(program: Program) -> list[Call]:
    """The commit calls, with consecutive calls of the same large shape as blocks."""
    roots = roots_of(program)
    found: list[Call] = []
    chain: Chain | None = None
    for i, call in enumerate(program.commits):
        if chain is not None:
            chain.calls.append(call)
            chain.inside.update(call.outs)
        elif is_chained(call, program):
            chain = Chain(program, call)
        else:
            found.append(call)
            continue
        after = program.commits[i + 1 :]
        known = program.known[after[0].outs[0]] if after else None
        if known is None or known.shape != chain.known.shape or not is_chained(after[0], program):
            wanted = {*program.into, *(n for c in after for n in c.reads())}
            split = len(chain.calls) > 1 and chain.stays_in_place(roots)
            found += [chain.made(wanted)] if split else chain.calls
            chain = None
    return found


def is_chained(call: Call, program: Program) -> bool:
    """Whether a call is elementwise and large."""
    if call.kind not in ELEMENTWISE and call.fn is not np.where:
        return False
    known = program.known[call.outs[0]]
    return known.size >= LEAST and (is_whole(call, known, program) or has_rows(known))


def is_whole(call: Call, known: Known, program: Program) -> bool:
    """Whether every operand is a scalar or has the shape of the result."""
    return all(shape in ((), known.shape) for shape in shapes_of(call, program))


def shapes_of(call: Call, program: Program) -> list[tuple[int, ...]]:
    """Shapes of the operands; a dtype counts as a scalar."""
    return [
        program.known[a].shape
        if type(a) is int
        else a.raw.shape
        if type(a.raw) is np.ndarray
        else ()
        for a in call.args
    ]


def has_rows(known: Known) -> bool:
    """Whether an array can be divided into blocks along its first axis."""
    first = known.shape[0]
    return len(known.shape) > 1 and first > 1 and known.size // first <= BLOCK


class Chain:
    """Calls that run together in blocks.

    Attributes:
        calls: the calls, in order.
        before: small calls that run before the chain, which may read their results.
        inside: values that the chain computes.
        touched: values that the chain reads or computes.
        known: shape and dtype of the first result.
    """

    def __init__(self, program: Program, first: Call) -> None:
        """Start with one call."""
        self.program = program
        self.known = program.known[first.outs[0]]
        self.calls = [first]
        self.before: list[Call] = []
        self.inside = set(first.outs)
        self.touched = {*first.outs, *first.reads()}

    def gather(self, rest: list[Call], ordered: bool) -> list[Call]:
        """Add the calls that can join; return the rest, which runs after the chain."""
        after: list[Call] = []
        late: set[int] = set()
        stuck = False
        for call in rest:
            reads = set(call.reads())
            outs = call.outs
            if not reads & late and self.joins(call, reads):
                self.calls.append(call)
                self.inside.update(outs)
                self.touched.update(outs, reads)
                continue
            early = not reads & late and not reads & self.inside
            if ordered and call.kind == "opaque":
                early = early and not stuck
                stuck = stuck or not early
            if early and all(self.program.known[o].size <= SMALL for o in outs):
                self.before.append(call)
                continue
            stuck = stuck or (ordered and call.kind == "opaque")
            after.append(call)
            late.update(outs)
        return after

    def joins(self, call: Call, reads: set[int]) -> bool:
        """Whether a call can join: it has the chain's shape and shares a value with the chain."""
        if reads.isdisjoint(self.touched):
            return False
        if call.kind == "reduce":
            return self.ends(call)
        if not is_chained(call, self.program):
            return False
        return self.program.known[call.outs[0]].shape == self.known.shape

    def ends(self, call: Call) -> bool:
        """Whether a call reduces a value of the chain over all axes (sum, maximum or minimum)."""
        x, axis, dtype, *_ = call.args
        if call.fn not in REDUCED or len(call.args) > 4 or dtype.raw is not None:
            return False
        axes = axis.raw if type(axis.raw) is tuple else (axis.raw,)
        known = self.program.known[call.outs[0]]
        return x in self.inside and len(axes) == len(self.known.shape) and known.shape == ()

    def made(self, wanted: set[int]) -> Call:
        """The chain as one call that returns the `wanted` values."""
        flat = all(
            is_whole(call, self.known, self.program) for call in self.calls if call.kind != "reduce"
        )
        shape = (self.known.size,) if flat else self.known.shape
        rows = max(1, BLOCK * shape[0] // self.known.size)
        outs = tuple([o for call in self.calls for o in call.outs if o in wanted])
        temps, arrays = self.places(wanted, (rows, *shape[1:]))
        reads = [i for call in self.calls for i in call.reads() if i not in self.inside]
        static = {
            "rows": rows,
            "count": shape[0],
            "flat": flat,
            "temps": temps,
            "arrays": arrays,
            "shape": self.known.shape,
        }
        args: tuple[Operand, ...] = tuple(dict.fromkeys(reads))
        return Call("blocks", None, args, outs, static, self.calls)

    def stays_in_place(self, roots: dict[int, frozenset[int]]) -> bool:
        """Whether blocks may overwrite the inputs: no other operand shares their memory."""
        into = self.program.into
        written = {into[o] for o in self.inside if o in into}
        reads = {i for call in self.calls for i in call.reads()} - written - self.inside
        return not any(roots[i] & written for i in reads)

    def places(self, wanted: set[int], shape: tuple[int, ...]) -> tuple[dict[int, int], list[Any]]:
        """Assign a block-sized temporary to each internal value; temporaries are reused."""
        last = {i: k for k, call in enumerate(self.calls) for i in call.reads()}
        temps: dict[int, int] = {}
        arrays: list[Any] = []
        free: dict[Any, list[int]] = {}
        for k, call in enumerate(self.calls):
            dying = [i for i in dict.fromkeys(call.reads()) if i in temps and last[i] == k]
            (out,) = call.outs
            dtype = self.program.known[out].dtype
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
