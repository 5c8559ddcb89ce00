"""Scalar operands of array ufuncs as 0-d arrays, which NumPy need not convert at every call."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.compile.numpy.call_recorder import result_dtype
from gradtape.compile.numpy.program import Call, Known, Program
from gradtape.graph.graph import Constant


def scalar(program: Program) -> Program:
    """Convert constant scalars of elementwise calls to 0-d arrays of the computing dtype."""
    return program.having([prepared(call, program) for call in program.calls])


def prepared(call: Call, program: Program) -> Call:
    """The call with its scalars converted, where the result stays the same."""
    if call.kind != "ufunc" and call.fn is not np.where:
        return call
    known = [program.known[a] for a in call.args if type(a) is int]
    if len(known) == len(call.args) or not any(k.shape for k in known):
        return call
    out = program.known[call.outs[0]]
    args = tuple([ready(a, call, known, out) if type(a) is Constant else a for a in call.args])
    return Call(call.kind, call.fn, args, call.outs)


def ready(a: Constant, call: Call, known: list[Known], out: Known) -> Constant:
    """A scalar constant as a 0-d array, if that does not change the dtype of the result."""
    raw: Any = a.raw
    if isinstance(raw, np.generic):
        return Constant(np.asarray(raw))
    if type(raw) not in (int, float) or call.kind != "ufunc" or len({k.dtype for k in known}) > 1:
        return a
    dtype = known[0].dtype
    if dtype.kind not in ("iu" if type(raw) is int and dtype.kind in "iu" else "fc"):
        return a
    try:
        array = np.array(raw, dtype)
    except OverflowError:
        return a
    pretend = [array if b is a else known[0] if type(b) is int else b.raw for b in call.args]
    return Constant(array) if result_dtype(call.fn, tuple(pretend)) == out.dtype else a
