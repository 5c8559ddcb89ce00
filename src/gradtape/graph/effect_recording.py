"""Side effects in a trace: each runs once and is recorded, collectives included."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from gradtape.core.context import local
from gradtape.core.dispatch import record_op, spec_of
from gradtape.core.primitive import Primitive
from gradtape.core.symbolic_tensor import (
    SymbolicTensor,
)
from gradtape.core.tensor import Tensor
from gradtape.graph.effect_log import EffectLog
from gradtape.graph.failed_value import FailedValues
from gradtape.graph.graph import Effect
from gradtape.graph.guard import ValueRead
from gradtape.graph.open_size import (
    infer_effect_shapes,
    infer_element_shapes,
)
from gradtape.graph.trace_options import TraceOptions
from gradtape.graph.traced_value import raw_value


class EffectRecording:
    """The part of a trace that runs side effects, and knows its iterators."""

    options: TraceOptions
    log: EffectLog
    failures: FailedValues
    _iterators: dict[int, tuple[Any, Tensor]]

    if TYPE_CHECKING:
        make_value: Any
        as_traced: Any
        record_node: Any
        guard_value: Any

    def run_effect(
        self, effect: Effect, args: Iterable[Any], specs: Iterable[Any] | None = None
    ) -> tuple[SymbolicTensor, ...]:
        """Run a side effect once and record it; a rerun of the same call gets the logged results.

        Adds guards on the shapes of the results, unless `specs` or those of the arguments
        determine them. Traces without values need the specs.
        """
        lifted = [self.as_traced(a) for a in args]
        self.failures.raise_if_used(lifted)
        is_forbidden = self.options.forbids_values
        if is_forbidden and effect.is_replayed:
            raise ValueRead(effect.name)
        results = self.log.pop_replayed(effect.name) if effect.is_replayed else None
        if results is None:
            results = () if is_forbidden else effect.kernel(*[raw_value(a) for a in lifted])
        if effect.is_replayed:
            self.log.add_effect(effect.name, results)
        shapes = infer_effect_shapes(self, results, specs)
        open_shapes = infer_element_shapes(self, results, specs)
        outs = tuple(
            [
                self.make_value(raw, shape=known or unknown)
                for raw, known, unknown in zip(results, shapes, open_shapes, strict=True)
            ]
        )
        self.record_node(effect, lifted, {}, outs)
        for out, shape in zip(outs, shapes, strict=True):
            if shape is None and not effect.has_fixed_shapes:
                self.guard_value(out._array, "shape")
        return outs

    def represent_iterator(self, iterator: Any, tensor: Tensor) -> Tensor:
        """Let `tensor` stand for an iterator; keeps the iterator alive until the trace closes."""
        self._iterators[id(iterator)] = (iterator, tensor)
        return tensor

    def find_iterator(self, iterator: Any) -> Tensor | None:
        """The tensor that stands for an iterator, or None."""
        known = self._iterators.get(id(iterator))
        return known[1] if known else None


def bind_collective(trace: Any, op: Primitive, lifted: list[Any], static: dict[str, Any]) -> Any:
    """Apply a collective as a side effect, and tell the tapes inside the trace."""
    trace.collective_count += 1
    place, group = trace.collective_count, static["group"]

    def kernel(*raws: Any) -> tuple[Any, ...]:
        group.place = place  # workers compare which collective of the call they run
        result = op.kernel(*raws, **static)
        return result if op.outputs else (result,)

    effect = Effect(op.name, kernel, key=(op, tuple(static.items())))
    effect.has_fixed_shapes = True
    outs = trace.run_effect(effect, lifted, [spec_of(raw_value(a)) for a in lifted])
    out = outs if op.outputs else outs[0]
    raws, results = tuple(map(raw_value, lifted)), tuple(map(raw_value, outs))
    for known in local.recorders[1:]:
        result = results if op.outputs else results[0]
        record_op(known, op, tuple(lifted), raws, static, out, result)
    return out
