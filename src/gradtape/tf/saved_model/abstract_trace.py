"""A trace to save: on stand-ins, of which Python may look at sizes and counts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gradtape.core.lazy_array import shown
from gradtape.core.primitive import Primitive
from gradtape.core.symbolic_tensor import Held, SymbolicTensor
from gradtape.core.tensor import Tensor
from gradtape.graph.graph import Effect
from gradtape.graph.guard import ValueRead
from gradtape.graph.recorder import Trace, raw_value
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
        """Start empty, for a `tf.function`; `folds` as of a trace."""
        super().__init__(function.name, function.autograph)
        self.only_looks = True
        self.choice = function.choice
        self.looked: dict[int, int] = {}
        self.gives = False
        self.folds = folds
        self.fixed: set[int] = set()  # what was computed from constants alone

    def append(
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
        super().append(op, given, static, outs)

    def allow(self, what: str) -> None:
        """Python is about to look at a value: `observe` knows whether it may."""

    def observe(self, held: Held, kind: str = "value") -> Any:
        """The raw value, if it is a shape or an integer; nothing in a body, but for constants."""
        raw = shown(held.value)
        if held.number in self.fixed and not self.closed:
            return raw
        if self.closed or self.refuses:
            return super().observe(held, kind)
        if kind == "shape":
            return raw
        if raw.shape != () or raw.dtype.kind not in "iu" or held.number in self.inputs:
            raise ValueRead(self.name_of(held.number))
        self.looked[held.number] = int(raw)
        return raw

    def effect(self, effect: Effect, args: Iterable[Any]) -> tuple[SymbolicTensor, ...]:
        """Record something that happens; only what gives results is done."""
        parts = getattr(effect.kernel, "parts", None)
        if self.refuses or parts is None:
            if not self.refuses:
                raise CannotSave(f"{effect.name}, which is Python's")
            return super().effect(effect, args)
        lifted = [self.lift(a) for a in args]
        results = effect.kernel(*[raw_value(a) for a in lifted]) if parts[2] else ()
        self.gives = self.gives or parts[2]
        outs = tuple([self.value(r) for r in results])
        self.append(effect, lifted, {}, outs)
        return outs
