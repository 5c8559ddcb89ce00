"""AbstractTrace: a trace without values. Shape rules give the shapes and dtypes of all results.

The raw value of a tensor is its `Spec`, so nothing is computed and nothing is allocated, except
for ops on constants. Python must not read values. An unknown size is an unknown of the trace; a
size that only the data determines is a new unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from gradtape.core.context import local
from gradtape.core.dispatch import record_op
from gradtape.core.lazy_array import (
    TracedArray,
    UnknownRankError,
    UnrankedArray,
    materialize,
)
from gradtape.core.primitive import Primitive, Spec
from gradtape.core.shape_rule import FRESH, infer_specs
from gradtape.core.shapes import TensorShape
from gradtape.core.size_context import SizeContext
from gradtape.core.spec import TensorSpec
from gradtape.core.symbolic_tensor import SymbolicTensor
from gradtape.core.tensor import Tensor
from gradtape.graph.graph import Effect
from gradtape.graph.guard import ValueRead
from gradtape.graph.open_size import has_open_sizes, map_traced
from gradtape.graph.size_tensor import fold_size_tensors
from gradtape.graph.trace import Trace
from gradtape.ops.raw_array import make_stand_in_array
from gradtape.ops.size_array import size_array

RANKS = range(5)  # tried where a function needs a rank that is not known


class AbstractTrace(Trace):
    """Records a function on specs."""

    is_abstract = True

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
        is_live = SymbolicTensor in map(type, lifted)
        if not is_live and not has_open_sizes(op, lifted, static):
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
        if UnrankedArray in map(type, views):
            return self.bind_unranked(op, lifted, static)
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

    def run_effect(
        self, effect: Effect, args: Iterable[Any], specs: Iterable[Any] | None = None
    ) -> tuple[SymbolicTensor, ...]:
        """Record an effect, which does not run; its results have these `specs`."""
        if effect.is_replayed and specs is None:
            raise ValueRead(effect.name)
        outs = tuple([self.make_value(self.spec_of_result(spec)) for spec in specs or ()])
        self.record_node(effect, [self.as_traced(a) for a in args], {}, outs)
        return outs

    def spec_of_result(self, spec: TensorSpec) -> Spec:
        """The spec of a result that the user or a rule describes."""
        dtype = make_stand_in_array([0], spec.dtype.as_numpy_dtype).dtype
        shape: Any = None
        if spec.shape.rank is not None:
            shape = tuple([FRESH if size is None else size for size in spec.shape.as_list()])
            return self.settle(Spec((shape, dtype)))
        return Spec((shape, dtype))

    # -- unknown ranks

    def make_ranked(self, held: UnrankedArray, known: TensorShape) -> Any:
        """The array of a value whose shape the program states."""
        if known.rank is None:
            return held
        assert self.sizes is not None
        shape = [
            self.sizes.make_unknown(from_data=True) if size is None else size
            for size in known.as_list()
        ]
        spec = self.builder.specs[held.number] = Spec((tuple(shape), held.dtype))
        return TracedArray(spec, held.number, self)

    def retry_pinned(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Any] | None:
        """Call a function that failed on a tensor of unknown rank for several ranks.

        Returns (what the results have in common,), or None if it fails for all ranks.
        """
        results = []
        for rank in RANKS if has_unranked((args, kwargs)) else ():
            given, named = map_traced(
                lambda tensor, rank=rank: self.try_rank(tensor, rank), (args, kwargs)
            )
            try:
                results.append(function(*given, **named))
            except Exception:
                continue  # the function does not take this rank
        return (self.join_results(results),) if results else None

    def try_rank(self, tensor: SymbolicTensor, rank: int) -> SymbolicTensor:
        """A tensor of this rank in place of one of unknown rank."""
        held = tensor._array
        if type(held) is not UnrankedArray:
            return tensor
        return self.make_value(self.settle(Spec(((FRESH,) * rank, held.dtype))))

    def join_results(self, results: list[Any]) -> Any:
        """One result for the results of several ranks."""
        first = results[0]
        if isinstance(first, (list, tuple)) and not hasattr(first, "_fields"):
            return type(first)([self.join_results(list(c)) for c in zip(*results, strict=True)])
        if not isinstance(first, SymbolicTensor):
            return first
        shape = first.shape
        for one in results[1:]:
            shape = shape.most_specific_compatible_shape(one.shape)
        return self.make_value(self.spec_of_result(TensorSpec(shape, first.dtype)))

    def bind_unranked(self, op: Primitive, lifted: list[Any], static: dict[str, Any]) -> Any:
        """Apply an elementwise op to values of unknown rank."""
        if op.core_ndim != 0 or op.outputs:
            raise UnknownRankError(f"{op.name}: the rank of an operand is not known here.")
        views = [a._array if isinstance(a, Tensor) else a for a in lifted]
        scalars = tuple([Spec(((), v.dtype)) if type(v) is UnrankedArray else v for v in views])
        out = self.make_value(Spec((None, infer_specs(op, scalars, static)[0].dtype)))
        self.record_node(op, lifted, static, (out,))
        return out


def has_unranked(value: Any) -> bool:
    """Whether tensors of unknown rank are among arguments."""
    if isinstance(value, (tuple, list)):
        return any(map(has_unranked, value))
    if type(value) is dict:
        return any(map(has_unranked, value.values()))
    return type(getattr(value, "_array", None)) is UnrankedArray


def materialize_sizes(held: TracedArray) -> Any:
    """The raw value of a size tensor whose sizes follow from assumptions."""
    sizes = tuple([int(size) for size in held.dims.flat])
    return size_array(sizes=sizes, shape=held.dims.shape, dtype=held.dtype)
