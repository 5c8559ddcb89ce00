"""In-place updates: the last ufuncs of an update are deferred and write into the old array.

The deferred calls are ufuncs that cannot fail. The caller runs them after everything else has
succeeded, in a loop that no interrupt can divide.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.compile.numpy.passes.buffer import leaving_of, roots_of
from gradtape.compile.numpy.program import Call, Program
from gradtape.graph.graph import Constant

LARGE = 1 << 16  # elements; chains of this size run in blocks and should not be divided
KEYWORD_OUT = {np.maximum, np.minimum}  # they take no positional `out`


def stage(program: Program, updates: dict[int, int]) -> tuple[Program, dict[int, int]]:
    """Defer the last calls of all updates that can be done in place.

    Args:
        program: not yet bound to buffers.
        updates: position of an output → position of the input whose next value it is.

    Returns:
        The program and the updates that are done in place. The program's `commits` are the deferred
        calls, `into` maps their results to the inputs they overwrite, and the corresponding outputs
        are None.
    """
    chosen = Staging(program, updates).settled()
    if not chosen.into:
        return program, {}
    left = chosen.left()
    staged = program.having([call for call in program.calls if left.isdisjoint(call.outs)])
    staged.commits = [call for call in program.calls if not left.isdisjoint(call.outs)]
    staged.into = chosen.into
    outputs = program.outputs
    staged.outputs = [Constant(None) if o in chosen.into else o for o in outputs]
    kept = {k: j for k, j in updates.items() if outputs[k] in chosen.into}
    return staged, kept


class Staging:
    """Selects the updates to do in place: takes all candidates and drops impossible ones.

    Attributes:
        roots: for each value, the values whose memory it may share.
        makers: for each value, the index and the call that computes it.
        readers: for each value, the calls that read it.
        given: values that the program returns.
        into: number of a new value → number of the input it overwrites.
    """

    def __init__(self, program: Program, updates: dict[int, int]) -> None:
        """Start with every update whose new value has the old shape and comes from a ufunc."""
        self.program = program
        self.roots = roots_of(program)
        self.makers = {o: (i, call) for i, call in enumerate(program.calls) for o in call.outs}
        self.readers: dict[int, list[Call]] = {}
        for call in program.calls:
            for number in call.reads():
                self.readers.setdefault(number, []).append(call)
        counts: dict[int, int] = {}
        for o in program.outputs:
            if type(o) is int:
                counts[o] = counts.get(o, 0) + 1
        self.given = set(counts)
        targets = [program.inputs[j] for j in updates.values()]
        self.into: dict[int, int] = {}
        for (k, _), old in zip(updates.items(), targets, strict=True):
            out = program.outputs[k]
            alone = type(out) is int and counts[out] == 1 and targets.count(old) == 1
            if alone and self.fits(out, old):
                self.into[out] = old
        held = leaving_of(program, self.roots)
        self.into = {o: old for o, old in self.into.items() if old not in held}

    def fits(self, out: int, old: int) -> bool:
        """Whether a ufunc computes `out` and can write it into the input `old`."""
        known = self.program.known[out]
        return self.is_last(out) and known == self.program.known[old] and known.size > 0

    def is_last(self, number: Any) -> bool:
        """Whether the value is computed by a ufunc that can be deferred."""
        if number not in self.makers or not self.program.known[number].shape:
            return False
        call = self.makers[number][1]
        return call.kind == "ufunc" and call.fn not in KEYWORD_OUT

    def settled(self) -> Staging:
        """Drop updates until all that remain are possible; return self."""
        while True:
            bad = {o for o in self.into if not self.can_be_left(o)} or self.overwritten()
            if not bad:
                return self
            for o in bad:
                del self.into[o]

    def after(self, number: int) -> set[int]:
        """The value and all values computed from it."""
        found, todo = {number}, [number]
        while todo:
            for call in self.readers.get(todo.pop(), ()):
                todo += [o for o in call.outs if o not in found]
                found.update(call.outs)
        return found

    def can_be_left(self, number: int) -> bool:
        """Whether all values computed from this one can be deferred, and are not returned."""
        return all(
            self.is_last(o) and (o in self.into or o not in self.given) for o in self.after(number)
        )

    def left(self) -> set[int]:
        """Values to compute in the commit; for large arrays also their exclusive operands."""
        left = set().union(*[self.after(o) for o in self.into])
        for call in reversed(self.program.calls):
            if not call.outs:
                continue
            out = call.outs[0]
            if out in left or out in self.given or not self.is_last(out):
                continue
            large = self.program.known[out].size >= LARGE
            if large and all(left.issuperset(c.outs) and c.outs for c in self.readers.get(out, ())):
                left.add(out)
        return left

    def overwritten(self) -> set[int]:
        """Updates that would overwrite an old value before a later deferred call reads it."""
        left = self.left()
        order = {n: self.makers[n][0] for n in left}
        read: dict[int, int] = {}  # input → the last of these calls that reads its old value
        for n in left:
            for i in self.makers[n][1].reads():
                for root in self.roots[i]:
                    read[root] = max(read.get(root, -1), order[n])
        return {o for o, old in self.into.items() if read.get(old, -1) > order[o]}
