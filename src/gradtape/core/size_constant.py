"""Constants that depend on sizes, such as positions along an axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtape.core.open_shape import has_dims
from gradtape.core.ports import RawFunctionPort


def compute_constant(function: Callable[..., Any], *args: Any) -> Any:
    """The raw array `function(*args)`; where a size is unknown, a tensor of the trace.

    `function` is a module-level function of sizes and other Python values, with a shape rule
    (`core.shape_rule.with_shape`).
    """
    return RawFunctionPort.trace_call(function, args) if has_dims(args) else function(*args)
