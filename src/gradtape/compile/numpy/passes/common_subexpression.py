"""Common subexpression elimination (CSE), also across primitives."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.compile.numpy.program import NumpyCall, Operand, Program

MAX_COMPARED_ELEMENTS = 64  # elements; larger constants are compared by identity


def eliminate_common_subexpressions(program: Program) -> Program:
    """Compute each call on the same operands only once."""
    names: dict[int, Operand] = {}
    seen: dict[Any, tuple[int, ...]] = {}
    kept: list[NumpyCall] = []
    for call in program.calls:
        call = call.substitute(names)
        if not call.is_effect:
            key = call_key(call)
            try:
                first = seen.setdefault(key, call.outs)
            except TypeError:  # a static that cannot be hashed
                first = call.outs
            if first is not call.outs:
                names.update(zip(call.outs, first, strict=True))
                continue
        kept.append(call)
    return program.with_calls(kept, names)


def call_key(call: NumpyCall) -> Any:
    """A key that is equal for calls that compute the same."""
    static = [(k, type(v), exact_key(v)) for k, v in call.static.items()] if call.static else ()
    return (call.kind, call.fn, *[exact_key(a) for a in call.args], *static)


def exact_key(a: Any) -> Any:
    """A key that is equal only for identical operands: -0.0 differs from 0.0, and 1 from 1.0."""
    if type(a) is int:
        return a
    if type(a) is tuple:
        return tuple([exact_key(b) for b in a])
    raw = getattr(a, "raw", a)
    if type(raw) is np.ndarray:
        return (
            "array",
            raw.dtype,
            raw.shape,
            raw.tobytes() if raw.size <= MAX_COMPARED_ELEMENTS else id(raw),
        )
    if isinstance(raw, float | complex | np.generic):
        return (type(raw), repr(raw))
    if type(raw) is tuple:
        return ("tuple", *[(type(r), exact_key(r) if type(r) is not int else r) for r in raw])
    if type(raw) is slice:
        return ("slice", raw.start, raw.stop, raw.step)
    return (type(raw), raw)
