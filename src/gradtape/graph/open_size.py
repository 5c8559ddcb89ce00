"""Ops on values of unknown sizes in a trace: they run for the sizes of the call.

The node keeps symbolic sizes in its static arguments. The shapes of its results come from the shape
rule of the op. An op without a rule pins all sizes that it sees: the trace then serves only calls
of these sizes.
"""

from __future__ import annotations

from typing import Any

from gradtape.core.context import local
from gradtape.core.dims import Dim
from gradtape.core.dispatch import record_op, run_kernel
from gradtape.core.errors import InvalidArgumentError
from gradtape.core.lazy_array import TracedArray
from gradtape.core.open_shape import broadcast_shapes, has_dims, substitute
from gradtape.core.primitive import Spec
from gradtape.core.shape_rule import FRESH, infer_specs
from gradtape.core.shapes import TensorShape
from gradtape.core.size_context import SizeContext
from gradtape.core.size_function import evaluate
from gradtape.core.symbolic_tensor import SymbolicTensor
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.graph.failed_value import infer_failed_result
from gradtape.graph.size_tensor import fold_size_tensors
from gradtape.graph.specialise import raw_arguments, specialise_op

Shape = tuple[Any, ...]


def has_open_sizes(op: Any, lifted: list[Any], static: dict[str, Any]) -> bool:
    """Whether the operands or static arguments of an op have unknown sizes."""
    for a in lifted:
        if isinstance(a, SymbolicTensor):
            if a._array.dims is not None or Dim in map(type, a._array.shape):
                return True
        elif type(a) is Dim:
            return True
    return any(map(has_dims, static.values())) or has_dims(raw_arguments(op))


def bind_open(trace: Any, op: Any, lifted: list[Any], static: dict[str, Any]) -> Any:
    """Apply an op to values of unknown sizes, record it, and tell the tapes inside the trace."""
    views = tuple([a._array if isinstance(a, Tensor) else a for a in lifted])
    folded = fold_size_tensors(trace, op, views, static)
    if folded is not None:
        return folded
    results, failed = run_at_hints(trace, op, views, static)
    shapes, is_found = infer_open_shapes(trace, op, views, static, results)
    if shapes is None or not fit_results(trace, shapes, results):
        pin_sizes([*views, *static.values(), *raw_arguments(op)])
        shapes = [raw.shape for raw in results]
    pairs = zip(results, shapes, strict=True)
    outs = tuple([trace.make_value(raw, shape=tuple(shape)) for raw, shape in pairs])
    if failed is not None:
        trace.failures.add(failed, outs)
    trace.record_node(op, lifted, static, outs)
    if (op.dynamic or is_found) and not trace.options.has_fixed_shapes:
        for one in outs:
            trace.guard_value(one._array, "shape")
    out: Any = outs if op.outputs else outs[0]
    seen = tuple([o._array for o in outs])
    for record in local.recorders[1:]:
        record_op(record, op, tuple(lifted), views, static, out, seen if op.outputs else seen[0])
    return out


def run_at_hints(
    trace: Any, op: Any, views: tuple[Any, ...], static: dict[str, Any]
) -> tuple[tuple[Any, ...], InvalidArgumentError | None]:
    """The raw results for the sizes of the call; with an error, stand-ins for them."""
    hints = trace.sizes.hints
    raws = tuple([raw_of(view, hints) for view in views])
    op = specialise_op(op, hints)
    known = {name: substitute(value, hints) for name, value in static.items()}
    failed = None
    try:
        result = run_kernel(op, raws, known)
    except InvalidArgumentError as error:
        is_allowed = not trace.options.forbids_values
        result = infer_failed_result(op, raws, known) if is_allowed else None
        if result is None:
            raise
        failed = error
    return (result if op.outputs else (result,)), failed


def raw_of(view: Any, hints: Any) -> Any:
    """The raw value of an operand in the call that is traced."""
    if type(view) is TracedArray:
        return view.traced_value
    return evaluate(view, hints)


def infer_open_shapes(
    trace: Any, op: Any, views: tuple[Any, ...], static: dict[str, Any], results: tuple[Any, ...]
) -> tuple[list[Shape] | None, bool]:
    """The shapes of the results by the shape rule of the op, or None if it has none.

    A size that only the data determines is a new unknown. The second result says whether there is
    one, which a guard must find. Stacks of a loop need no guard: only its gradient reads them.
    """
    if op.core_ndim == 0 and op.shape_rule is None:
        return [broadcast_shapes(*[getattr(view, "shape", ()) for view in views])], False
    if op.shape_rule is None:
        is_scalar = all(raw.shape == () for raw in results)
        return ([()] * len(results) if is_scalar else None), False
    inferred: list[Shape] = [spec.shape for spec in infer_specs(op, views, static)]
    is_found = op.name != "loop" and any(n is FRESH for shape in inferred for n in shape)
    is_open = is_found and opens_found_sizes(trace)
    shapes = [
        settle_shape(trace if is_open else None, shape, raw)
        for shape, raw in zip(inferred, results, strict=True)
    ]
    return shapes, is_found


def infer_found_shapes(
    trace: Any, op: Any, lifted: list[Any], static: dict[str, Any], results: tuple[Any, ...]
) -> list[Shape] | None:
    """The shapes of the results of an op on known sizes whose result has the size of the data."""
    if not opens_found_sizes(trace):
        return None
    views = tuple([a._array if isinstance(a, Tensor) else a for a in lifted])
    try:
        inferred = infer_specs(op, views, static)
    except NotImplementedError:
        return None
    pairs = zip(inferred, results, strict=True)
    return [settle_shape(trace, spec.shape, raw) for spec, raw in pairs]


def opens_found_sizes(trace: Any) -> bool:
    """Whether sizes that only the data determines may be unknown in this part of a trace."""
    return trace.opens_elements and not trace.options.forbids_values


def settle_shape(trace: Any, shape: Shape, raw: Any) -> Shape:
    """A shape with unknowns of `trace` in place of `FRESH`; without a trace, sizes of `raw`."""
    if trace is None or all(n is not FRESH for n in shape):
        return tuple([m if n is FRESH else n for n, m in zip(shape, raw.shape, strict=True)])
    if trace.sizes is None:
        trace.sizes = SizeContext(with_hints=True)
    make_unknown = trace.sizes.make_unknown
    pairs = zip(shape, raw.shape, strict=True)
    return tuple([make_unknown(hint=m, from_data=True) if n is FRESH else n for n, m in pairs])


def infer_element_shapes(trace: Any, results: Any, specs: Any) -> list[Shape | None]:
    """The shape of each result of an effect, with unknown sizes; None if all are known."""
    described = list(specs or ())
    if not opens_found_sizes(trace) or len(described) != len(results):
        return [None] * len(results)
    shapes: list[Shape | None] = []
    for spec, raw in zip(described, results, strict=True):
        shape: Any = spec.shape if type(spec) is Spec else None
        is_found = shape is not None and len(shape) == len(raw.shape)
        is_found = is_found and any(n is FRESH for n in shape)
        shapes.append(settle_shape(trace, shape, raw) if is_found else None)
    return shapes


def make_open_version(trace: Any, shape: TensorShape, raw: Any) -> SymbolicTensor:
    """A tensor for the value of a variable whose `shape` leaves sizes open."""
    found = [FRESH] * len(raw.shape)
    sizes = found if shape.rank is None else [FRESH if n is None else n for n in shape]
    open_shape = settle_shape(trace, tuple(sizes), raw) if opens_found_sizes(trace) else None
    made: SymbolicTensor = trace.make_value(raw, shape=open_shape)
    return made


def infer_effect_shapes(trace: Any, results: Any, specs: Any) -> list[Shape | None]:
    """The shape of each result of a side effect, if its spec determines it; else None."""
    described = list(specs) if specs is not None and trace.sizes is not None else []
    if len(described) != len(results):
        return [None] * len(results)
    return [
        spec.shape if is_determined(spec) and fit_results(trace, [spec.shape], (raw,)) else None
        for spec, raw in zip(described, results, strict=True)
    ]


def is_determined(spec: Any) -> bool:
    """Whether a spec has a shape without sizes that only the data determines."""
    sizes: Any = spec.shape if type(spec) is Spec else None
    return sizes is not None and all(n is not FRESH for n in sizes)


def fit_results(trace: Any, shapes: list[Shape], results: tuple[Any, ...]) -> bool:
    """Whether symbolic shapes are those of the results in the call that is traced."""
    hints = trace.sizes.hints
    return all(
        tuple([evaluate(n, hints) for n in shape]) == raw.shape
        for shape, raw in zip(shapes, results, strict=True)
    )


def pin_sizes(value: Any) -> None:
    """Pin all unknown sizes in a value: the trace is for the sizes of its call only."""
    kind = type(value)
    if kind is Dim:
        int(value)
    elif kind is TracedArray:
        pin_sizes((*value.shape, *(() if value.dims is None else value.dims.flat)))
    elif kind is slice:
        pin_sizes((value.start, value.stop, value.step))
    elif isinstance(value, (tuple, list)):
        for one in value:
            pin_sizes(one)
    else:
        find_unknowns = getattr(value, "unknowns_in_dims", None)
        for unknown in () if find_unknowns is None else find_unknowns():
            int(Dim((((unknown,), 1),)))


def pin_tensor(tensor: Any) -> Any:
    """The tensor with the sizes of the call in place of unknown ones, which are pinned."""
    held = tensor._array
    pin_sizes(held)
    if held.dims is not None:
        return make_tensor(held.traced_value)
    return held.trace.make_pinned_alias(tensor) if has_dims(held.shape) else tensor


def is_open(tensor: SymbolicTensor) -> bool:
    """Whether the shape or the value of a tensor holds unknown sizes."""
    held = tensor._array
    return held.dims is not None or has_dims(held.shape)


def has_open_tensors(value: Any) -> bool:
    """Whether tensors of unknown sizes are among arguments."""
    if isinstance(value, SymbolicTensor):
        return is_open(value)
    if isinstance(value, (tuple, list)):
        return any(map(has_open_tensors, value))
    return type(value) is dict and any(map(has_open_tensors, value.values()))


def map_traced(function: Any, value: Any) -> Any:
    """Apply a function to the symbolic tensors among arguments."""
    if isinstance(value, SymbolicTensor):
        return function(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*[map_traced(function, one) for one in value])
    if type(value) in (tuple, list):
        return type(value)([map_traced(function, one) for one in value])
    if type(value) is dict:
        return {key: map_traced(function, one) for key, one in value.items()}
    return value
