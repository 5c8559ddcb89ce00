"""Buffer assignment: internal results are written to arrays that the plan keeps between calls.

Views of buffers are made once, by this pass. Values that leave the plan are always new arrays, and
inputs are never written to. Large buffers are parts of one array, the arena (`arena.py`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.compile.numpy.arena import MIN_ARENA_BYTES, Arena
from gradtape.compile.numpy.kernel_override import makes_new_arrays
from gradtape.compile.numpy.program import (
    KINDS_WITH_OUT,
    NumpyCall,
    Program,
    constant_value,
    run_call,
)

MAX_FILLED_ELEMENTS = 16384  # elements; up to here a broadcast is copied, as the eager kernel does


def assign_buffers(program: Program) -> Program:
    """Bind results to buffers of the plan; buffers are reused after the last read."""
    return BufferAssignment(program).assign()


class BufferAssignment:
    """The state of the pass: which memory each value uses, and until when.

    Attributes:
        roots: for each value, the values whose memory it may share.
        escaping: values whose memory may be referenced after the run.
        last_use: index of the last call that uses a root.
        buffers: arrays by number of the value.
        precomputed_views: calls of views that are made once.
        owned: the buffer that a root occupies.
        free: unused small buffers, by size in bytes.
        arena: the large buffers.
        now: index of the current call.
    """

    def __init__(self, program: Program) -> None:
        """Analyse aliasing, escaping values and last reads."""
        self.program = program
        self.roots = memory_roots(program)
        self.escaping = find_escaping_values(program, self.roots)
        self.last_use: dict[int, int] = {}
        self.calls = [*program.calls, *program.commit_calls]
        for i, call in enumerate(self.calls):
            for number in (*call.reads(), *call.outs):
                for root in self.roots[number]:
                    self.last_use[root] = i
        for o in program.outputs:
            if type(o) is int:
                self.last_use.update(dict.fromkeys(self.roots[o], len(self.calls)))
        self.buffers: dict[int, Any] = dict(program.buffers)
        self.precomputed_views: list[NumpyCall] = []
        self.owned: dict[int, Any] = {}
        self.free: dict[int, list[Any]] = {}
        self.arena = Arena()
        self.now = 0

    def assign(self) -> Program:
        """Bind the results of all calls; return the new program."""
        ends: dict[int, list[int]] = {}
        for root, i in self.last_use.items():
            ends.setdefault(i, []).append(root)
        kept: list[NumpyCall] = []
        for i, call in enumerate(self.calls):
            self.now = i
            needed = (
                None
                if call.outs and call.outs[0] in self.program.overwrites
                else self.bind_call(i, call)
            )
            if needed is not None and i < len(self.program.calls):
                kept.append(needed)
            for root in ends.get(i, ()):
                if root in self.owned:
                    block = self.owned.pop(root)
                    if block.nbytes < MIN_ARENA_BYTES:
                        self.free.setdefault(block.nbytes, []).append(block)
                    else:
                        self.arena.end(block, i)
        program = self.program.with_calls(kept)
        program.buffers = self.arena.move(self.buffers)
        program.arena = self.arena
        program.precomputed_views = self.precomputed_views
        return program

    def bind_call(self, i: int, call: NumpyCall) -> NumpyCall | None:
        """Bind the results of a call; None for a view that is made once and needs no call."""
        if call.kind == "view":
            return self.bind_view(call)
        if call.kind == "blocks":
            for out in call.outs:
                self.allocate(out)
        elif call.kind in KINDS_WITH_OUT or self.can_fill(call):
            (out,) = call.outs
            if call.kind not in ("ufunc", "put") or not self.try_overwrite(i, call, out):
                self.allocate(out)
        return call

    def can_fill(self, call: NumpyCall) -> bool:
        """Whether a function can write to a buffer and is faster so."""
        if call.fn is np.concatenate:
            return True
        return call.fn is np.where and self.program.specs[call.outs[0]].size > MAX_FILLED_ELEMENTS

    def bind_view(self, call: NumpyCall) -> NumpyCall | None:
        """Make a view of a buffer once; None if the call is no longer needed."""
        source, (out,) = call.args[0], call.outs
        if source in self.buffers:
            with np.errstate(all="ignore"):
                found = run_call(
                    call, [self.buffers[source], *[constant_value(a) for a in call.args[1:]]]
                )
            if np.may_share_memory(found, self.buffers[source]) or not found.size:
                self.buffers[out] = found
                self.precomputed_views.append(call)
                return None
        elif (
            call.fn is np.broadcast_to
            and self.program.specs[out].size <= MAX_FILLED_ELEMENTS
            and self.allocate(out)
        ):
            return call.replace(kind="fill")
        return call

    def try_overwrite(self, i: int, call: NumpyCall, out: int) -> bool:
        """Let a result overwrite an operand read for the last time; return whether it can."""
        known = self.program.specs[out]
        if out in self.escaping:
            return False
        for a in call.args if call.kind == "ufunc" else call.args[:1]:
            array = self.buffers.get(a) if type(a) is int else None
            if array is None or array.shape != known.shape or array.dtype != known.dtype:
                continue
            roots = self.roots[a]
            if len(roots) == 1 and array.flags.c_contiguous:
                (root,) = roots
                if root in self.owned and self.last_use[root] == i:
                    self.buffers[out] = array
                    self.owned[out] = self.owned.pop(root)
                    return True
        return False

    def allocate(self, out: int) -> bool:
        """Give a result a buffer, unless it leaves the plan; return whether it got one."""
        known = self.program.specs[out]
        nbytes = known.size * known.dtype.itemsize
        if out in self.escaping or not known.shape or not nbytes:
            return False
        found = self.free.get(nbytes)
        if nbytes >= MIN_ARENA_BYTES:
            block = self.arena.begin(nbytes, self.now)
        else:
            block = found.pop() if found else np.empty(nbytes, np.uint8)
        self.buffers[out] = block.view(known.dtype).reshape(known.shape)
        self.owned[out] = block
        return True


def memory_roots(program: Program) -> dict[int, frozenset[int]]:
    """For each value, the values whose memory it may share, including itself if it may own some."""
    roots = {i: frozenset([i]) for i in program.inputs}
    for call in [*program.calls, *program.commit_calls]:
        if call.kind == "view":
            (out,) = call.outs
            source = call.args[0]
            roots[out] = roots[source] if type(source) is int else frozenset([out])
            if call.fn == "reshape" or call.fn is np.broadcast_to:  # it may also be a copy
                roots[out] |= {out}
        elif call.kind == "opaque":
            reads = () if makes_new_arrays(call.fn) else call.reads()
            shared = frozenset().union(*[roots[i] for i in reads])
            for out in call.outs:
                roots[out] = shared | {out}
        else:
            for out in call.outs:
                roots[out] = frozenset([out])
    return roots


def find_escaping_values(program: Program, roots: dict[int, frozenset[int]]) -> set[int]:
    """Values whose memory may be referenced outside of the plan after the run."""
    leaving: set[int] = set()
    for o in program.outputs:
        if type(o) is int:
            leaving |= roots[o]
    for call in program.calls:
        if call.is_effect:
            leaving.update(*[roots[i] for i in call.reads()])
    return leaving
