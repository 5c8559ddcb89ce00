"""Functions of raw arrays that are not primitives, applied to tensors, without a gradient.

In a trace such a call is a node. Two nodes are equal if the function and the non-tensor arguments
are equal. So pass module-level functions and hand their data over as arguments; a closure would
differ in every trace.
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
    """Apply `function` to the raw arrays of its arguments; the result is a tensor.

    Inside a trace the call is a node of the graph.

    Args:
        function: takes raw arrays and Python values in the order of `args`; returns a raw array.
        *args: tensors, and Python values that are the same in every run.
        dynamic: whether the shape of the result depends on values.
        outputs: whether `function` returns a tuple of raw arrays; the result is then a tuple.
    """
    raws = [a._array if isinstance(a, Tensor) else a for a in args]
    if Held in map(type, raws):
        return recorder_of(raws).call(function, tuple(raws), dynamic, outputs)
    result = call(function, raws) if in_use[0] else function(*raws)
    return tuple([eager(one) for one in result]) if outputs else eager(result)


def recorder_of(raws: list[Any]) -> Any:
    """The trace that records a call on `raws`.

    Raises:
        TypeError: if their trace has ended.
    """
    stage = staging()
    if not stage:
        raise out_of_scope(symbolic(next(raw for raw in raws if type(raw) is Held)))
    return stage[0]


def number_by(function: Callable[..., Any], *args: Any) -> int:
    """Compute an integer that Python needs, for example the size of a result.

    Inside a trace the guard is on this integer, not on the values it is computed from.

    Args:
        function: takes raw arrays and Python values; returns an integer.
        *args: tensors, and Python values that are the same in every run.
    """
    raws = [a._array if isinstance(a, Tensor) else a for a in args]
    if Held in map(type, raws):
        return int(recorder_of(raws).call(scalar_of, (function, *raws))._array)
    return int(function(*shown(raws)))


@on_jax(xla_lowering.scalar_of)
def scalar_of(function: Callable[..., Any], *raws: Any) -> Any:
    """The integer that `function` returns, as a raw int64 scalar."""
    return int64.as_numpy_dtype(function(*raws))
