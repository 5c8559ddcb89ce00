"""Updates in place: the last ufunc of a new value is left for the end, into the old array."""

from __future__ import annotations

import numpy as np

from gradtape.compile.passes.buffer import roots_of
from gradtape.compile.program import Call, Program
from gradtape.trace.graph import Constant

KEYWORD_OUT = {np.maximum, np.minimum}  # a third position is not their result


def stage(program: Program, updates: dict[int, int]) -> tuple[Program, dict[int, int]]:
    """The program without the last calls of updates that can be done in place, and which these are.

    Args:
        program: not yet bound to buffers.
        updates: position of an output → position of the input whose next value it is.

    Returns:
        The program, whose `commits` are these calls and whose outputs are None in their place;
        and the updates that it leaves to them.
    """
    makers = {call.outs[0]: call for call in program.calls if call.kind == "ufunc"}
    roots = roots_of(program)
    held = held_inputs(program, roots, updates)
    reads: dict[int, int] = {}
    for number in [i for call in program.calls for i in call.reads()]:
        reads[number] = reads.get(number, 0) + 1
    chosen: dict[int, tuple[int, Call]] = {}
    for k, j in updates.items():
        out, old = program.outputs[k], program.inputs[j]
        call = makers.get(out) if type(out) is int else None
        alone = call is not None and not reads.get(out) and program.outputs.count(out) == 1
        if not alone or old in held or call is None or call.fn in KEYWORD_OUT:
            continue
        known = program.known[out]
        if known == program.known[old] and known.shape and known.size:
            chosen[k] = (old, call)
    # What one of these calls reads must still be there when it runs: no other may have written it.
    written = {old for old, _ in chosen.values()}
    for k, (old, call) in list(chosen.items()):
        others = {r for i in call.reads() if i != old for r in roots[i]}
        if others & written:
            del chosen[k]
    commits = [(call.fn, call.args, old) for old, call in chosen.values()]
    left = {id(call) for _, call in chosen.values()}
    staged = program.having([call for call in program.calls if id(call) not in left])
    staged.outputs = [Constant(None) if k in chosen else o for k, o in enumerate(program.outputs)]
    staged.commits = commits
    return staged, {k: updates[k] for k in chosen}


def held_inputs(
    program: Program, roots: dict[int, frozenset[int]], updates: dict[int, int]
) -> set[int]:
    """Inputs that an output or an effect may share memory with, or that are updated twice."""
    held: set[int] = set()
    for o in program.outputs:
        if type(o) is int:
            held |= roots[o]
    for call in program.calls:
        if call.effect:
            held.update(*[roots[i] for i in call.reads()])
    inputs = [program.inputs[j] for j in updates.values()]
    return held | {i for i in inputs if inputs.count(i) > 1}
