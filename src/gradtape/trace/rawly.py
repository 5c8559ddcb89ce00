"""Functions of raw arrays that are no primitives, applied to tensors: no gradient flows through."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtape.core.context import staging
from gradtape.core.symbolic import Held
from gradtape.core.tensor import Tensor, eager, raw_of


def rawly(function: Callable[..., Any], *args: Any, dynamic: bool = False) -> Tensor:
    """A tensor of what `function` makes of the raw arrays of its arguments.

    Inside a trace it is a node of the graph.

    Args:
        function: of raw arrays and Python values, in the order of `args`; returns a raw array.
        *args: tensors, and Python values that are the same in every run.
        dynamic: whether the shape of the result depends on values.
    """
    raws = tuple([raw_of(a) for a in args])
    stage = staging()
    if stage and any(type(raw) is Held for raw in raws):
        result: Tensor = stage[0].call(function, raws, dynamic)
        return result
    return eager(function(*raws))
