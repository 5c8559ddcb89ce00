"""AbstractTrace: a trace without values. Shape rules give the shapes and dtypes of all results.

The raw value of a tensor is its `Spec`, so nothing is computed and nothing is allocated, except
for ops on constants. Python must not read values. An unknown size is an unknown of the trace; a
size that only the data determines is a new unknown.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gradtape.core.context import local
from gradtape.core.dispatch import record_op
from gradtape.core.lazy_array import TracedArray, materialize
from gradtape.core.primitive import Primitive, Spec
from gradtape.core.shape_rule import FRESH, infer_specs
from gradtape.core.size_context import SizeContext
from gradtape.core.spec import TensorSpec
from gradtape.core.symbolic_tensor import SymbolicTensor
from gradtape.core.tensor import Tensor
from gradtape.graph.graph import Effect
from gradtape.graph.guard import ValueRead
from gradtape.graph.open_size import has_open_sizes
from gradtape.graph.size_tensor import fold_size_tensors
from gradtape.graph.trace import Trace
from gradtape.ops.raw_array import make_stand_in_array
from gradtape.ops.size_array import size_array


class AbstractTrace(Trace):
    """Records a function on specs."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Start empty."""
        super().__init__(*args, **kwargs)
        self.sizes = SizeContext(with_hints=False)

    def add_spec(self, spec: TensorSpec, name: str = "") -> SymbolicTensor:
        """A new tensor of this trace for an argument; its rank must be known."""
        assert self.sizes is not None
        shape = [
            self.sizes.make_unknown(f"{name}.shape[{axis}]") if size is None else size
            for axis, size in enumerate(spec.shape.as_list())
        ]
        dtype = make_stand_in_array([0], spec.dtype.as_numpy_dtype).dtype
        return self.add_input(Spec((tuple(shape), dtype)), name)

    def bind(self, op: Primitive, args: tuple[Any, ...], static: dict[str, Any]) -> Any:
        """Infer the results of `op`, record it, and tell the tapes inside this trace."""
        lifted = [self.as_traced(a) for a in args]
        if SymbolicTensor not in map(type, lifted) and not has_open_sizes(op, lifted, static):
            return super().bind(op, args, static)
        return self.bind_lifted(op, lifted, static)

    def bind_open(self, op: Primitive, static: dict[str, Any]) -> Any:
        """Apply an op without inputs, whose result depends on unknown sizes."""
        return self.bind_lifted(op, [], static)

    def bind_lifted(self, op: Primitive, lifted: list[Any], static: dict[str, Any]) -> Any:
        """Infer the results of `op` on lifted arguments, and record it.

        Raises:
            ValueRead: if the op has no shape rule.
        """
        if TracedArray in map(type, static.values()):
            static = materialize(static)  # raises, because Python must not read values
        views = tuple([a._array if isinstance(a, Tensor) else a for a in lifted])
        folded = fold_size_tensors(self, op, views, static)
        if folded is not None:
            return folded
        try:
            specs = infer_specs(op, views, static)
        except NotImplementedError:
            raise ValueRead(op.name) from None
        outs = tuple([self.make_value(self.settle(spec)) for spec in specs])
        self.record_node(op, lifted, static, outs)
        out: Any = outs if op.outputs else outs[0]
        seen = tuple([o._array for o in outs])
        result = seen if op.outputs else seen[0]
        for record in local.recorders[1:]:
            record_op(record, op, tuple(lifted), views, static, out, result)
        return out

    def settle(self, spec: Spec) -> Spec:
        """A spec with new unknowns in place of sizes that only the data determines."""
        assert self.sizes is not None
        sizes: list[Any] = list(spec.shape)
        for axis, size in enumerate(sizes):
            if size is FRESH:
                sizes[axis] = self.sizes.make_unknown(from_data=True)
        return Spec((tuple(sizes), spec.dtype))

    def create_variable(self, variable: Any, tensor: Any) -> Any:
        """Note that a variable is created; its initial value must be a constant."""
        raw = super().create_variable(variable, tensor)
        if type(raw) is Spec:
            raise ValueRead("an initial value")
        return raw

    def has_found_sizes(self) -> bool:
        """Whether sizes of the graph depend on data."""
        assert self.sizes is not None
        return any(unknown.from_data for unknown in self.sizes.unknowns)

    def guard_value(self, held: TracedArray, kind: str = "value") -> Any:
        """Raise: there are no values. A size that assumptions determine is a number."""
        if held.dims is not None and not self.closed:
            return materialize_sizes(held)
        raise ValueRead(self.builder.name_of(held.number))

    def run_effect(self, effect: Effect, args: Iterable[Any]) -> tuple[SymbolicTensor, ...]:
        """Record an effect that can only fail; others have results, which are not known."""
        if effect.is_replayed:
            raise ValueRead(effect.name)
        self.record_node(effect, [self.as_traced(a) for a in args], {}, ())
        return ()


def materialize_sizes(held: TracedArray) -> Any:
    """The raw value of a size tensor whose sizes follow from assumptions."""
    sizes = tuple([int(size) for size in held.dims.flat])
    return size_array(sizes=sizes, shape=held.dims.shape, dtype=held.dtype)
