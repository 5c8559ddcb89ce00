"""A trace to save: on stand-ins, of which Python may look at sizes and counts."""

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
from gradtape.tf.saved_model.node_encoder import CannotSave


class SavingTrace(Trace):
    """Records a function on stand-ins.

    What a whole graph is made with may depend on shapes that follow from values, and on integers
    that Python looks at: they are among the sizes from which the rest follows.

    Attributes:
        looked: integers that Python has looked at, by number.
        gives: whether functions that are called at each run gave results.
    """

    def __init__(self, function: Any, folds: bool) -> None:
        """Start empty, for a `tf.function`; `folds` as `Trace.folds_constants`."""
        super().__init__(function.name, function.autograph)
        self.forbids_effects = True
        self.choice = function.choice
        self.looked: dict[int, int] = {}
        self.gives = False
        self.folds_constants = folds
        self.fixed: set[int] = set()  # what was computed from constants alone

    def record_node(
        self,
        op: Primitive | Effect,
        lifted: Iterable[Any],
        static: dict[str, Any],
        outs: tuple[Tensor, ...],
    ) -> None:
        """Record an application."""
        given = list(lifted)
        numbers = [a._array.number for a in given if isinstance(a, SymbolicTensor)]
        if self.fixed.issuperset(numbers) and not isinstance(op, Effect):
            self.fixed.update(out._array.number for out in outs)
        super().record_node(op, given, static, outs)

    def check_autograph(self, what: str) -> None:
        """Python is about to look at a value: `guard_value` knows whether it may."""

    def guard_value(self, held: TracedArray, kind: str = "value") -> Any:
        """The raw value, if it is a shape or an integer; nothing in a body, but for constants."""
        raw = materialize(held.traced_value)
        if held.number in self.fixed and not self.closed:
            return raw
        if self.closed or self.forbids_values:
            return super().guard_value(held, kind)
        if kind == "shape":
            return raw
        if raw.shape != () or raw.dtype.kind not in "iu" or held.number in self.inputs:
            raise ValueRead(self.name_of(held.number))
        self.looked[held.number] = int(raw)
        return raw

    def run_effect(self, effect: Effect, args: Iterable[Any]) -> tuple[SymbolicTensor, ...]:
        """Record something that happens; only what gives results is done."""
        parts = getattr(effect.kernel, "parts", None)
        if self.forbids_values or parts is None:
            if not self.forbids_values:
                raise CannotSave(f"{effect.name}, which is Python's")
            return super().run_effect(effect, args)
        lifted = [self.as_traced(a) for a in args]
        results = effect.kernel(*[raw_value(a) for a in lifted]) if parts[2] else ()
        self.gives = self.gives or parts[2]
        outs = tuple([self.make_value(r) for r in results])
        self.record_node(effect, lifted, {}, outs)
        return outs
