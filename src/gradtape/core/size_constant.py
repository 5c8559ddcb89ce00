"""Constants that depend on sizes, such as positions along an axis."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from gradtape.core.context import current_trace
from gradtape.core.open_shape import has_dims
from gradtape.core.ports import RawFunctionPort
from gradtape.core.primitive import Spec
from gradtape.core.shape_rule import with_shape


def compute_constant(function: Callable[..., Any], *args: Any) -> Any:
    """The raw array `function(*args)`; where a size is unknown, a tensor of the trace.

    `function` is a module-level function of sizes and other Python values, with a shape rule
    (`core.shape_rule.with_shape`).
    """
    if not has_dims(args):
        return function(*args)
    import_module(RawFunctionPort.supplier)
    return RawFunctionPort.trace_call(function, args)


@with_shape(lambda size, factor, power, dtype: Spec(((), np.dtype(dtype))))
def scale_power(size: int, factor: float, power: float, dtype: Any) -> Any:
    """`factor` * size ** power as a raw scalar."""
    return np.dtype(dtype).type(factor * np.float64(size) ** power)


@with_shape(lambda size, dtype: Spec(((), np.dtype(dtype))))
def to_scalar(size: int, dtype: Any) -> Any:
    """A size as a raw scalar."""
    return np.dtype(dtype).type(size)


def apply_open(function: Any, *args: Any, **static: Any) -> Any:
    """Apply a primitive whose static arguments may hold unknown sizes; `args` may be constants."""
    if not has_dims(tuple(static.values())):
        return function(*args, **static)
    return current_trace()[0].bind(function.op, args, static)
