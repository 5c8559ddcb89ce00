"""Functions of raw arrays that are no primitives, applied to tensors: no gradient flows through.

In a trace such an application is a node, and two nodes are alike if function and other arguments
are: hand over functions of modules, and what they need as arguments, not closures.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtape.core.context import staging
from gradtape.core.dtypes import int64
from gradtape.core.symbolic import Held
from gradtape.core.tensor import eager, raw_of


def rawly(
    function: Callable[..., Any], *args: Any, dynamic: bool = False, outputs: bool = False
) -> Any:
    """A tensor of what `function` makes of the raw arrays of its arguments.

    Inside a trace it is a node of the graph.

    Args:
        function: of raw arrays and Python values, in the order of `args`; returns a raw array.
        *args: tensors, and Python values that are the same in every run.
        dynamic: whether the shape of the result depends on values.
        outputs: whether `function` returns a tuple of raw arrays; so does this, of tensors.
    """
    raws = tuple([raw_of(a) for a in args])
    stage = staging()
    if stage and any(type(raw) is Held for raw in raws):
        return stage[0].call(function, raws, dynamic, outputs)
    result = function(*raws)
    return tuple([eager(one) for one in result]) if outputs else eager(result)


def number_by(function: Callable[..., Any], *args: Any) -> int:
    """An integer that Python must know, the size of a result for one.

    Inside a trace what is guarded is this integer, not the values it is found from.

    Args:
        function: of raw arrays and Python values; returns an integer.
        *args: tensors, and Python values that are the same in every run.
    """
    raws = tuple([raw_of(a) for a in args])
    stage = staging()
    if stage and any(type(raw) is Held for raw in raws):
        return int(stage[0].call(scalar_of, (function, *raws))._array)
    return int(function(*raws))


def scalar_of(function: Callable[..., Any], *raws: Any) -> Any:
    """An integer as a raw array."""
    return int64.as_numpy_dtype(function(*raws))
