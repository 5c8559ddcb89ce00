"""Functions of raw arrays that are not primitives, applied to tensors, without a gradient.

In a trace such a call is a node. Two nodes are equal if the function and the non-tensor arguments
are equal. So pass module-level functions and hand their data over as arguments; a closure would
differ in every trace. `@with_shape` gives such a function a shape rule.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from gradtape.core.context import current_batch, current_trace, use_recorders
from gradtape.core.dims import Dim, UnknownSizeError
from gradtape.core.dtypes import int64
from gradtape.core.lazy_array import TracedArray, materialize
from gradtape.core.ports import RawFunctionPort, devices
from gradtape.core.primitive import Spec
from gradtape.core.shape_rule import INT64, with_shape
from gradtape.core.symbolic_tensor import make_symbolic, out_of_scope_error
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.devices.placement import place_and_call
from gradtape.ops import xla_lowering
from gradtape.ops.xla_lowering import on_jax


def apply_raw(
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
    batch = current_batch()
    if batch is not None:
        apply = partial(apply_raw, dynamic=dynamic, outputs=outputs)
        return batch.call_raw(apply, function, args, outputs)
    raws = [a._array if isinstance(a, Tensor) else a for a in args]
    kinds = set(map(type, raws))
    if TracedArray in kinds or Dim in kinds:
        return trace_for(raws).call_raw(function, tuple(raws), dynamic, outputs)
    result = place_and_call(function, raws) if devices.active else function(*raws)
    return tuple([make_tensor(one) for one in result]) if outputs else make_tensor(result)


def trace_call(function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """The node of a call on sizes of which some are unknown."""
    stage = current_trace()
    if not stage:
        raise UnknownSizeError(f"{function.__name__}: a size of a trace was used after its end.")
    return stage[0].call_raw(function, args)


def trace_for(raws: list[Any]) -> Any:
    """The trace that records a call on `raws`.

    Raises:
        TypeError: if their trace has ended.
    """
    stage = current_trace()
    if not stage:
        raise out_of_scope_error(
            make_symbolic(next(raw for raw in raws if type(raw) is TracedArray))
        )
    return stage[0]


def compute_integer(function: Callable[..., Any], *args: Any) -> int:
    """Compute an integer that Python needs, for example the size of a result.

    Inside a trace the guard is on this integer, not on the values it is computed from. In a trace
    without values it is a symbolic size.

    Args:
        function: takes raw arrays and Python values; returns an integer.
        *args: tensors, and Python values that are the same in every run.
    """
    batch = current_batch()
    if batch is not None:
        with use_recorders(batch.outer):
            return compute_integer(function, *args)
    raws = [a._array if isinstance(a, Tensor) else a for a in args]
    if TracedArray in map(type, raws) or Dim in map(type, raws):
        trace = trace_for(raws)
        found: int = trace.read_integer(trace.call_raw(scalar_of, (function, *raws))._array)
        return found
    return int(function(*materialize(raws)))


@with_shape(lambda *_: Spec(((), INT64)))
@on_jax(xla_lowering.lower_scalar_of)
def scalar_of(function: Callable[..., Any], *raws: Any) -> Any:
    """The integer that `function` returns, as a raw int64 scalar."""
    return int64.as_numpy_dtype(function(*raws))


RawFunctionPort.supply(trace_call=trace_call)
