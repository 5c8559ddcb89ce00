"""Broadcast removal: elementwise calls read the source of a broadcast view."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.compile.numpy.program import Call, Operand, Program, shape_of_all
from gradtape.graph.graph import Constant

SMALL = 1 << 12  # elements; larger constants are not checked for equal elements


def broadcast(program: Program) -> Program:
    """Let elementwise calls read the sources of broadcast views, if shapes allow."""
    sources: dict[int, Operand] = {}
    kept: list[Call] = []
    for call in program.calls:
        if call.kind == "view" and call.fn is np.broadcast_to:
            sources[call.outs[0]] = call.args[0]
        elif call.kind == "ufunc" or call.fn is np.where:
            call = narrowed(call, program, sources)
        kept.append(call)
    return program.having(kept)


def narrowed(call: Call, program: Program, sources: dict[int, Operand]) -> Call:
    """The call with unbroadcast operands, one by one as long as its result keeps its shape."""
    shape = program.known[call.outs[0]].shape
    args = list(call.args)
    for i, a in enumerate(args):
        narrow = sources.get(a) if type(a) is int else unrepeated(a)
        if narrow is None:
            continue
        others = [shape_in(program, b) for j, b in enumerate(args) if j != i]
        if shape_of_all([shape_in(program, narrow), *others]) == shape:
            args[i] = narrow
    changed = any(a is not b for a, b in zip(args, call.args, strict=True))
    return call.replaced(args=tuple(args)) if changed else call


def shape_in(program: Program, operand: Operand) -> tuple[int, ...]:
    """The shape of an operand."""
    if type(operand) is int:
        return program.known[operand].shape
    return getattr(operand.raw, "shape", ())


def unrepeated(operand: Any) -> Constant | None:
    """A constant without repeated elements or axes; None if it has none."""
    raw = operand.raw if type(operand) is Constant else None
    if type(raw) is not np.ndarray or not raw.size or not raw.ndim:
        return None
    if raw.size <= SMALL and raw.tobytes() == raw[(0,) * raw.ndim].tobytes() * raw.size:
        return Constant(np.asarray(raw[(0,) * raw.ndim]))
    if 0 not in raw.strides:
        return None
    narrow = raw[tuple([slice(0, 1) if s == 0 else slice(None) for s in raw.strides])]
    while narrow.ndim and narrow.shape[0] == 1:
        narrow = narrow[0, ...]
    return Constant(narrow)
