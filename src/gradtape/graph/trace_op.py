"""Ops that exist only in traces: primitives without rules that are not in the registry."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtape.core.primitive import Primitive, parameters_of
from gradtape.core.shape_rule import keep_shape, raw_rule_of
from gradtape.graph.guard import guard_key


def make_trace_op(kernel: Callable[..., Any], outputs: bool = False) -> Primitive:
    """Make a primitive without rules that is not in the registry."""
    return Primitive(kernel, dict.fromkeys(parameters_of(kernel)[0]), None, outputs)


def make_raw_op(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    places: list[int],
    dynamic: bool,
    outputs: bool,
) -> Primitive:
    """Make a primitive from a function of raw arrays; its inputs are the arguments at `places`."""

    def kernel(*raws: Any) -> Any:
        given = list(args)
        for i, raw in zip(places, raws, strict=True):
            given[i] = raw
        return function(*given)

    kernel.__name__ = function.__name__
    kernel.parts = (function, args, places)  # type: ignore[attr-defined]
    op = make_trace_op(kernel, outputs)
    op.dynamic = dynamic
    op.shape_rule = raw_rule_of(function, args, places)
    fixed = [None if i in places else fingerprint(a) for i, a in enumerate(args)]
    op.key = (function, tuple(fixed))
    return op


def fingerprint(value: Any) -> Any:
    """A hashable key that is equal for equal values."""
    known = hasattr(value, "tobytes") and not isinstance(value, type)
    return guard_key(value) if known else repr(value)


def install(x: Any, *, key: int) -> Any:
    """The new value of the variable with this key; assignment stops the gradient."""
    return x


INSTALL = make_trace_op(install)
INSTALL.shape_rule = keep_shape
