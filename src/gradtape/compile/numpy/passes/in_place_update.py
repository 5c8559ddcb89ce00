"""In-place updates: the last ufuncs of an update are deferred and write into the old array.

The deferred calls are ufuncs that cannot fail. The caller runs them after everything else has
succeeded, in a loop that no interrupt can divide. An update of some elements, such as
`scatter_sub`, is divided: the plan checks the indices and prepares a call of a C function, and the
commit runs this call.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.compile.numpy.kernel_override import get_deferrable_parts
from gradtape.compile.numpy.passes.buffer import find_escaping_values, memory_roots
from gradtape.compile.numpy.program import NumpyCall, Program, ValueSpec
from gradtape.core.primitive import Primitive
from gradtape.graph.graph import Constant
from gradtape.graph.trace_op import make_trace_op

MIN_DEFERRED_ELEMENTS = (
    1 << 16
)  # elements; chains of this size run in blocks and should not be divided
UFUNCS_WITHOUT_POSITIONAL_OUT = {np.maximum, np.minimum}  # they take no positional `out`


def plan_in_place_updates(
    program: Program, updates: dict[int, int]
) -> tuple[Program, dict[int, int]]:
    """Defer the last calls of all updates that can be done in place.

    Args:
        program: not yet bound to buffers.
        updates: position of an output → position of the input whose next value it is.

    Returns:
        The program and the updates that are done in place. The program's `commit_calls` are the
        deferred calls, `overwrites` maps their results to the inputs they overwrite, and the
        corresponding outputs are None.
    """
    chosen = UpdateSelection(program, updates).drop_impossible()
    if not chosen.overwrites:
        return program, {}
    left = chosen.values_to_defer()
    staged = program.with_calls([])
    staged.specs, staged.commit_calls = dict(program.specs), []
    for call in program.calls:
        if left.isdisjoint(call.outs):
            staged.calls.append(call)
        elif call.kind == "opaque":
            prepare, commit = divide_update(call, staged)
            staged.calls.append(prepare)
            staged.commit_calls.append(commit)
        else:
            staged.commit_calls.append(call)
    staged.overwrites = chosen.overwrites
    outputs = program.outputs
    staged.outputs = [Constant(None) if o in chosen.overwrites else o for o in outputs]
    kept = {k: j for k, j in updates.items() if outputs[k] in chosen.overwrites}
    return staged, kept


def divide_update(call: NumpyCall, program: Program) -> tuple[NumpyCall, NumpyCall]:
    """Divide an update of some elements into its preparation and the call that writes."""
    number = max(program.specs) + 1
    program.specs[number] = ValueSpec((), np.dtype(object), True)
    prepare = call.replace(fn=make_preparing_op(call.fn), outs=(number,))
    return prepare, NumpyCall("prepared", None, (number,), call.outs)


def make_preparing_op(op: Primitive) -> Primitive:
    """The op that checks the operands of an update and returns the call that writes."""
    parts = get_deferrable_parts(op)
    assert parts is not None
    function, args, places = parts

    def kernel(*raws: Any) -> Any:
        given = list(args)
        for i, raw in zip(places, raws, strict=True):
            given[i] = raw
        return function(*given, defer=True)

    kernel.__name__ = f"prepare_{function.__name__}"
    return make_trace_op(kernel)


class UpdateSelection:
    """Selects the updates to do in place: takes all candidates and drops impossible ones.

    Attributes:
        roots: for each value, the values whose memory it may share.
        producers: for each value, the index and the call that computes it.
        readers: for each value, the calls that read it.
        outputs: values that the program returns.
        overwrites: number of a new value → number of the input it overwrites.
    """

    def __init__(self, program: Program, updates: dict[int, int]) -> None:
        """Start with every update whose new value has the old shape and comes from a ufunc."""
        self.program = program
        self.roots = memory_roots(program)
        self.producers = {o: (i, call) for i, call in enumerate(program.calls) for o in call.outs}
        self.readers: dict[int, list[NumpyCall]] = {}
        for call in program.calls:
            for number in call.reads():
                self.readers.setdefault(number, []).append(call)
        counts: dict[int, int] = {}
        for o in program.outputs:
            if type(o) is int:
                counts[o] = counts.get(o, 0) + 1
        self.outputs = set(counts)
        targets = [program.inputs[j] for j in updates.values()]
        self.overwrites: dict[int, int] = {}  # `can_defer` reads it
        for (k, _), old in zip(updates.items(), targets, strict=True):
            out = program.outputs[k]
            alone = type(out) is int and counts[out] == 1 and targets.count(old) == 1
            if alone and self.can_write_into(out, old):
                self.overwrites[out] = old
        held = find_escaping_values(program, self.roots)
        self.overwrites = {o: old for o, old in self.overwrites.items() if old not in held}

    def can_write_into(self, out: int, old: int) -> bool:
        """Whether a ufunc computes `out` and can write it into the input `old`."""
        known = self.program.specs[out]
        if known != self.program.specs[old] or not known.size:
            return False
        return self.can_defer(out) or self.is_partial_update(out, old)

    def is_partial_update(self, number: int, old: int) -> bool:
        """Whether the value is the input `old` with some elements changed."""
        if number not in self.producers:
            return False
        call = self.producers[number][1]
        if call.kind != "opaque" or call.args.count(old) != 1 or call.args[0] != old:
            return False
        parts = get_deferrable_parts(call.fn)
        return parts is not None and parts[2][0] == 0

    def can_defer(self, number: Any) -> bool:
        """Whether the value is computed by a call that can be deferred."""
        if number not in self.producers or not self.program.specs[number].shape:
            return False
        call = self.producers[number][1]
        if call.kind == "opaque":
            return number in self.overwrites
        return call.kind == "ufunc" and call.fn not in UFUNCS_WITHOUT_POSITIONAL_OUT

    def drop_impossible(self) -> UpdateSelection:
        """Drop updates until all that remain are possible; return self."""
        while True:
            bad = {
                o for o in self.overwrites if not self.can_defer_dependents(o)
            } or self.find_conflicts()
            if not bad:
                return self
            for o in bad:
                del self.overwrites[o]

    def dependents_of(self, number: int) -> set[int]:
        """The value and all values computed from it."""
        found, todo = {number}, [number]
        while todo:
            for call in self.readers.get(todo.pop(), ()):
                todo += [o for o in call.outs if o not in found]
                found.update(call.outs)
        return found

    def can_defer_dependents(self, number: int) -> bool:
        """Whether all values computed from this one can be deferred, and are not returned."""
        return all(
            self.can_defer(o)
            and (o in self.overwrites or o not in self.outputs)
            and (o == number or self.producers[o][1].kind != "opaque")  # its preparation may fail
            for o in self.dependents_of(number)
        )

    def values_to_defer(self) -> set[int]:
        """Values to compute in the commit; for large arrays also their exclusive operands."""
        left = set().union(*[self.dependents_of(o) for o in self.overwrites])
        for call in reversed(self.program.calls):
            if not call.outs:
                continue
            out = call.outs[0]
            if out in left or out in self.outputs or not self.can_defer(out):
                continue
            large = self.program.specs[out].size >= MIN_DEFERRED_ELEMENTS
            readers = self.readers.get(out, ())
            if large and all(c.kind != "opaque" and left.issuperset(c.outs) for c in readers):
                left.add(out)
        return left

    def find_conflicts(self) -> set[int]:
        """Updates that would overwrite an old value before a later deferred call reads it."""
        left = self.values_to_defer()
        order = {n: self.producers[n][0] for n in left}
        read: dict[int, int] = {}  # input → the last of these calls that reads its old value
        for n in left:
            for i in self.producers[n][1].reads():
                for root in self.roots[i]:
                    read[root] = max(read.get(root, -1), order[n])
        return {o for o, old in self.overwrites.items() if read.get(old, -1) > order[o]}
