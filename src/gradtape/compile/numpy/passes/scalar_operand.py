"""Scalar operands of array ufuncs as 0-d arrays, which NumPy need not convert at every call."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.compile.numpy.call_recorder import infer_result_dtype
from gradtape.compile.numpy.program import NumpyCall, Program, ValueSpec
from gradtape.graph.graph import Constant


def convert_scalar_operands(program: Program) -> Program:
    """Convert constant scalars of elementwise calls to 0-d arrays of the computing dtype."""
    return program.with_calls([convert_call_operands(call, program) for call in program.calls])


def convert_call_operands(call: NumpyCall, program: Program) -> NumpyCall:
    """The call with its scalars converted, where the result stays the same."""
    if call.kind != "ufunc" and call.fn is not np.where:
        return call
    known = [program.specs[a] for a in call.args if type(a) is int]
    if len(known) == len(call.args) or not any(k.shape for k in known):
        return call
    out = program.specs[call.outs[0]]
    args = tuple(
        [as_array_constant(a, call, known, out) if type(a) is Constant else a for a in call.args]
    )
    return NumpyCall(call.kind, call.fn, args, call.outs)


def as_array_constant(
    a: Constant, call: NumpyCall, known: list[ValueSpec], out: ValueSpec
) -> Constant:
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
    return Constant(array) if infer_result_dtype(call.fn, tuple(pretend)) == out.dtype else a
