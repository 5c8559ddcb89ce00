"""Dead code elimination."""

from __future__ import annotations

from gradtape.compile.numpy.program import NumpyCall, Program


def remove_dead_code(program: Program) -> Program:
    """Remove calls that neither an output nor a side effect depends on."""
    wanted = {o for o in program.outputs if type(o) is int}
    kept: list[NumpyCall] = []
    for call in reversed(program.calls):
        if call.is_effect or not wanted.isdisjoint(call.outs):
            kept.append(call)
            wanted.update(call.reads())
    kept.reverse()
    return program.with_calls(kept)
