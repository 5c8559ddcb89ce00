"""Updates in place: the last ufuncs of new values are left for the end, into the old arrays.

What is left is a straight line of ufuncs that cannot fail: the caller runs it when everything else
has succeeded, in a loop that no interrupt divides.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.compile.numpy.passes.buffer import leaving_of, roots_of
from gradtape.compile.numpy.program import Call, Program
from gradtape.graph.graph import Constant

LARGE = 1 << 16  # elements; such chains run in blocks, and should not be cut in two
KEYWORD_OUT = {np.maximum, np.minimum}  # a third position is not their result


def stage(program: Program, updates: dict[int, int]) -> tuple[Program, dict[int, int]]:
    """The program without the ends of those updates that can be done in place, and which these are.

    Args:
        program: not yet bound to buffers.
        updates: position of an output → position of the input whose next value it is.

    Returns:
        The program, whose `commits` are the calls left over, whose `into` says which of their
        results go into inputs, and whose outputs are None in their place; and the updates done so.
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
    """Which updates are done in place: all that look possible, less those that turn out not to be.

    Attributes:
        into: number of a new value → number of the input it is written into.
    """

    def __init__(self, program: Program, updates: dict[int, int]) -> None:
        """Begin with every update whose new value a ufunc makes, of the shape of the old one."""
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
        """Whether a ufunc can write a value into an input."""
        known = self.program.known[out]
        return self.is_last(out) and known == self.program.known[old] and known.size > 0

    def is_last(self, number: Any) -> bool:
        """Whether a ufunc that may be left over makes the value."""
        if number not in self.makers or not self.program.known[number].shape:
            return False
        call = self.makers[number][1]
        return call.kind == "ufunc" and call.fn not in KEYWORD_OUT

    def settled(self) -> Staging:
        """Drop updates until what remains can be done."""
        while True:
            bad = {o for o in self.into if not self.can_be_left(o)} or self.overwritten()
            if not bad:
                return self
            for o in bad:
                del self.into[o]

    def after(self, number: int) -> set[int]:
        """The value and all that is computed from it."""
        found, todo = {number}, [number]
        while todo:
            for call in self.readers.get(todo.pop(), ()):
                todo += [o for o in call.outs if o not in found]
                found.update(call.outs)
        return found

    def can_be_left(self, number: int) -> bool:
        """Whether all that is computed from a value leads to updates in place, by ufuncs alone."""
        return all(
            self.is_last(o) and (o in self.into or o not in self.given) for o in self.after(number)
        )

    def left(self) -> set[int]:
        """Values that are computed at last: in large arrays also what only these are made from."""
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
        """Updates that would write over what a later call at the end still reads."""
        left = self.left()
        order = {n: self.makers[n][0] for n in left}
        read: dict[int, int] = {}  # input → the last of these calls that reads its old value
        for n in left:
            for i in self.makers[n][1].reads():
                for root in self.roots[i]:
                    read[root] = max(read.get(root, -1), order[n])
        return {o for o, old in self.into.items() if read.get(old, -1) > order[o]}
