"""Broadcast removal: elementwise calls read the source of a broadcast view."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.compile.numpy.program import NumpyCall, Operand, Program, broadcast_shape
from gradtape.graph.graph import Constant

MAX_COMPRESSED_ELEMENTS = 1 << 12  # elements; larger constants are not checked for equal elements


def remove_broadcasts(program: Program) -> Program:
    """Let elementwise calls read the sources of broadcast views, if shapes allow."""
    sources: dict[int, Operand] = {}
    kept: list[NumpyCall] = []
    for call in program.calls:
        if call.kind == "view" and call.fn is np.broadcast_to:
            sources[call.outs[0]] = call.args[0]
        elif call.kind == "ufunc" or call.fn is np.where:
            call = use_unbroadcast_operands(call, program, sources)
        kept.append(call)
    return program.with_calls(kept)


def use_unbroadcast_operands(
    call: NumpyCall, program: Program, sources: dict[int, Operand]
) -> NumpyCall:
    """The call with unbroadcast operands, one by one as long as its result keeps its shape."""
    shape = program.specs[call.outs[0]].shape
    args = list(call.args)
    for i, a in enumerate(args):
        narrow = sources.get(a) if type(a) is int else compress_constant(a)
        if narrow is None:
            continue
        others = [operand_shape_in(program, b) for j, b in enumerate(args) if j != i]
        if broadcast_shape([operand_shape_in(program, narrow), *others]) == shape:
            args[i] = narrow
    changed = any(a is not b for a, b in zip(args, call.args, strict=True))
    return call.replace(args=tuple(args)) if changed else call


def operand_shape_in(program: Program, operand: Operand) -> tuple[int, ...]:
    """The shape of an operand."""
    if type(operand) is int:
        return program.specs[operand].shape
    return getattr(operand.raw, "shape", ())


def compress_constant(operand: Any) -> Constant | None:
    """A constant without repeated elements or axes; None if it has none."""
    raw = operand.raw if type(operand) is Constant else None
    if type(raw) is not np.ndarray or not raw.size or not raw.ndim:
        return None
    if (
        raw.size <= MAX_COMPRESSED_ELEMENTS
        and raw.tobytes() == raw[(0,) * raw.ndim].tobytes() * raw.size
    ):
        return Constant(np.asarray(raw[(0,) * raw.ndim]))
    if 0 not in raw.strides:
        return None
    narrow = raw[tuple([slice(0, 1) if s == 0 else slice(None) for s in raw.strides])]
    while narrow.ndim and narrow.shape[0] == 1:
        narrow = narrow[0, ...]
    return Constant(narrow)
