"""Functions of raw arrays that are no primitives, applied to tensors: no gradient flows through.

In a trace such an application is a node, and two nodes are alike if function and other arguments
are: hand over functions of modules, and what they need as arguments, not closures.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtape.core.context import staging
from gradtape.core.device.placement import call
from gradtape.core.device.switch import in_use
from gradtape.core.dtypes import int64
from gradtape.core.lazy_array import shown
from gradtape.core.symbolic_tensor import Held, out_of_scope, symbolic
from gradtape.core.tensor import Tensor, eager
from gradtape.ops import xla_lowering
from gradtape.ops.xla_lowering import on_jax


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
    raws = [a._array if isinstance(a, Tensor) else a for a in args]
    if Held in map(type, raws):
        return recorder_of(raws).call(function, tuple(raws), dynamic, outputs)
    result = call(function, raws) if in_use[0] else function(*raws)
    return tuple([eager(one) for one in result]) if outputs else eager(result)


def recorder_of(raws: list[Any]) -> Any:
    """The trace that is told; values of one that is over cannot be used."""
    stage = staging()
    if not stage:
        raise out_of_scope(symbolic(next(raw for raw in raws if type(raw) is Held)))
    return stage[0]


def number_by(function: Callable[..., Any], *args: Any) -> int:
    """An integer that Python must know, the size of a result for one.

    Inside a trace what is guarded is this integer, not the values it is found from.

    Args:
        function: of raw arrays and Python values; returns an integer.
        *args: tensors, and Python values that are the same in every run.
    """
    raws = [a._array if isinstance(a, Tensor) else a for a in args]
    if Held in map(type, raws):
        return int(recorder_of(raws).call(scalar_of, (function, *raws))._array)
    return int(function(*shown(raws)))


@on_jax(xla_lowering.scalar_of)
def scalar_of(function: Callable[..., Any], *raws: Any) -> Any:
    """An integer as a raw array."""
    return int64.as_numpy_dtype(function(*raws))
