"""Constant folding: calls on constants are computed once, at compile time."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.compile.numpy.program import (
    NumpyCall,
    Operand,
    Program,
    constant_value,
    is_constant,
    run_call,
)
from gradtape.graph.graph import Constant


def fold_constants(program: Program) -> Program:
    """Replace calls on constants by their results, and remove calls that change nothing."""
    names: dict[int, Operand] = {}
    swapped: dict[int, NumpyCall] = {}
    kept: list[NumpyCall] = []
    for call in program.calls:
        call = call.substitute(names)
        if call.kind not in ("opaque", "blocks"):
            if all(is_constant(a) for a in call.args):
                names[call.outs[0]] = Constant(compute_constant(call))
                continue
            same = (
                find_identity_operand(call, program)
                if call.fn != "swapaxes"
                else cancel_swapaxes(call, swapped)
            )
            if same is not None:
                names[call.outs[0]] = same
                continue
        kept.append(call)
    return program.with_calls(kept, names)


def cancel_swapaxes(call: NumpyCall, swapped: dict[int, NumpyCall]) -> Operand | None:
    """The original operand if this `swapaxes` reverses an earlier one; else None."""
    swapped[call.outs[0]] = call
    before = swapped.get(call.args[0])
    if before is None or [*map(constant_value, before.args[1:])] != [
        *map(constant_value, call.args[1:])
    ]:
        return None
    return before.args[0]


def compute_constant(call: NumpyCall) -> Any:
    """Compute a call on constants; the result is read-only."""
    with np.errstate(all="ignore"):
        result = run_call(call, [constant_value(a) for a in call.args])
    if isinstance(result, np.ndarray):
        result.flags.writeable = False
    return result


def find_identity_operand(call: NumpyCall, program: Program) -> int | None:
    """The operand that a call returns unchanged (a product or quotient with 1), or None."""
    if call.kind in ("ufunc", "operator") and call.fn in (np.multiply, np.divide, "*", "/"):
        a, b = call.args
        pairs = [(a, b), (b, a)] if call.fn in (np.multiply, "*") else [(a, b)]
        for x, one in pairs:
            if (
                type(x) is int
                and is_one(one)
                and program.specs[x][:2] == program.specs[call.outs[0]][:2]
            ):
                return x
    return None


def is_one(operand: Operand) -> bool:
    """Whether an operand is the number one."""
    if type(operand) is not Constant or np.ndim(operand.raw):
        return False
    return isinstance(operand.raw, int | float | np.number | np.ndarray) and bool(operand.raw == 1)
