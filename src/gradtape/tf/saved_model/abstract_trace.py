"""The trace that saving uses: on placeholder values, of which Python may read only sizes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gradtape.core.lazy_array import TracedArray, materialize
from gradtape.core.primitive import Primitive
from gradtape.core.symbolic_tensor import SymbolicTensor
from gradtape.core.tensor import Tensor
from gradtape.graph.graph import Effect
from gradtape.graph.guard import ValueRead
from gradtape.graph.trace import Trace, raw_value
from gradtape.state.random.stream import FunctionStreams
from gradtape.tf.saved_model.failure import CannotSave
from gradtape.tf.saved_model.node_encoder import describe_host_call
from gradtape.tf.saved_model.op_table.registry import explain_refusal


class SavingTrace(Trace):
    """Records a function on placeholder values.

    Python may read shapes that depend on values, and integers. They become sizes, from which other
    numbers of the graph can follow.

    Attributes:
        integers_read: integers that Python has read, by number.
        has_host_results: whether host functions returned results.
        constants: numbers of the values that were computed from constants alone.
    """

    def __init__(self, function: Any, streams: FunctionStreams, folds_constants: bool) -> None:
        """Start empty, for a `tf.function`; `folds_constants` is that of `TraceOptions`."""
        options = function.trace_options._replace(
            forbids_effects=True, folds_constants=folds_constants
        )
        super().__init__(options, streams)
        self.integers_read: dict[int, int] = {}
        self.has_host_results = False
        self.constants: set[int] = set()

    def record_node(
        self,
        op: Primitive | Effect,
        lifted: Iterable[Any],
        static: dict[str, Any],
        outs: tuple[Tensor, ...],
    ) -> None:
        """Record an application of an op."""
        given = list(lifted)
        numbers = [a._array.number for a in given if isinstance(a, SymbolicTensor)]
        if self.constants.issuperset(numbers) and not isinstance(op, Effect):
            self.constants.update(out._array.number for out in outs)
        super().record_node(op, given, static, outs)

    def check_autograph(self, what: str) -> None:
        """Do nothing: `guard_value` decides whether Python may read a value."""

    def guard_value(self, held: TracedArray, kind: str = "value") -> Any:
        """The raw value, if it is a shape, an integer, or computed from constants alone."""
        raw = materialize(held.traced_value)
        if held.number in self.constants and not self.closed:
            return raw
        if self.closed or self.options.forbids_values:
            return super().guard_value(held, kind)
        if kind == "shape":
            return raw
        if raw.shape != () or raw.dtype.kind not in "iu" or held.number in self.builder.inputs:
            raise ValueRead(self.builder.name_of(held.number))
        self.integers_read[held.number] = int(raw)
        return raw

    def run_effect(
        self, effect: Effect, args: Iterable[Any], specs: Iterable[Any] | None = None
    ) -> tuple[SymbolicTensor, ...]:
        """Record an effect that a file can name; only one with results runs."""
        parts = getattr(effect.kernel, "parts", None)
        if self.options.forbids_values:
            return super().run_effect(effect, args)
        if parts is None:
            raise CannotSave(explain_refusal(effect.name))
        describe_host_call(*parts)  # raises for files, Python and other effects outside
        lifted = [self.as_traced(a) for a in args]
        results = effect.kernel(*[raw_value(a) for a in lifted]) if parts[2] else ()
        self.has_host_results = self.has_host_results or parts[2]
        outs = tuple([self.make_value(r) for r in results])
        self.record_node(effect, lifted, {}, outs)
        return outs
