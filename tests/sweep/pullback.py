"""One rule of one primitive at one sample: a recording of a single op, and a sweep over it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradtape.core.context import listening, local
from gradtape.core.dispatch import Recording
from gradtape.core.primitive import Primitive
from gradtape.core.tensor import Tensor, eager, raw_of
from gradtape.tape.backward import SOURCES, sweep
from gradtape.tape.indexed_slices import Slices, dense
from tests.sweep.sample import Sample

Arrays = tuple[Any, ...]


def copied(a: Any) -> Any:
    """A copy that may be written to, so that no check disturbs another; scalars as scalars."""
    return np.array(a)[()] if isinstance(a, np.ndarray | np.generic) else a


def frozen(a: Any) -> Any:
    """A copy that raises when it is written to."""
    a = copied(a)
    if isinstance(a, np.ndarray):
        a.flags.writeable = False
    return a


@dataclass(frozen=True)
class Case:
    """The rule of the input at position `wrt`, at a sample; `hand` copies what is handed to it."""

    op: Primitive
    sample: Sample
    wrt: int
    hand: Callable[[Any], Any] = copied

    def __str__(self) -> str:
        """Name what would have to be looked at."""
        shapes = ", ".join(f"{np.asarray(a).dtype}{list(np.shape(a))}" for a in self.sample.args)
        name = self.op.inputs[0 if self.op.variadic else self.wrt]
        at = f"({shapes}, {self.sample.static})"
        return f"{self.op.name} with respect to {name} (input {self.wrt}) at {at}"

    @property
    def x(self) -> Any:
        """The input differentiated by."""
        return self.sample.args[self.wrt]

    def pull(self, us: Arrays, args: Arrays | None = None) -> Any:
        """The cotangent of `x` that the rule makes of `us`, one or None for each output.

        Tensors take the recorded step, arrays the raw one. `args` stand in for the sample's.
        """
        args = self.sample.args if args is None else args
        known = Recording()
        tensors = tuple(a if isinstance(a, Tensor) else eager(self.hand(a)) for a in args)
        tensors = self.sample.rebound(tensors)
        source = tensors[self.wrt].uid
        known.watch(source)
        with listening((*local.recorders, known)):
            outs = listed(self.op, self.op.function(*tensors, **self.sample.static))
        for out in outs if self.hand is frozen else ():
            out._array = frozen(out._array)
        grads: dict[int, Any] = {SOURCES: frozenset({source})}
        grads.update((o.uid, self.hand(u)) for o, u in zip(outs, us, strict=True) if u is not None)
        recorded = any(isinstance(u, Tensor) for u in us)
        return densely(sweep(known, grads, recorded, release=False)[source])

    def pull_recorded(self, us: Arrays) -> Any:
        """The same through the recorded step, as a raw array."""
        return raw_of(self.pull(tensors_of(us, self.hand)))

    def pull_twice(self, us: Arrays, w: Any) -> tuple[list[Any], list[Any]]:
        """Gradients of ⟨w, pull(us)⟩ by the inputs that have a rule, and by `us`."""
        args = tensors_of(self.sample.args, self.hand)
        seeds = tensors_of(us, self.hand)
        inputs = [args[i] for i in ruled(self.op, self.sample)]
        uids = frozenset(t.uid for t in (*inputs, *seeds) if t is not None)
        outer = Recording()
        for uid in uids:
            outer.watch(uid)
        with listening((outer,)):
            result = self.pull(seeds, args)
        found = sweep(
            outer, {SOURCES: uids, result.uid: self.hand(w)}, recorded=False, release=False
        )

        def gradient(t: Any) -> Any:
            return None if t is None else densely(found.get(t.uid))

        return [gradient(t) for t in inputs], [gradient(t) for t in seeds]


def densely(t: Any) -> Any:
    """A cotangent without its sparse form."""
    return dense(t) if isinstance(t, Slices) else t


def call(op: Primitive, args: Arrays, static: dict[str, Any]) -> Arrays:
    """Outputs of the primitive on copies of raw arrays, as a tuple."""
    return listed(op, op.function(*(copied(a) for a in args), **static))


def listed(op: Primitive, out: Any) -> Arrays:
    """Outputs as a tuple, also if there is but one."""
    return tuple(out) if op.outputs else (out,)


def tensors_of(values: Arrays, hand: Callable[[Any], Any] = copied) -> Arrays:
    """Tensors around raw arrays; None stays."""
    return tuple(None if v is None else eager(hand(v)) for v in values)


def is_float(a: Any) -> bool:
    """Whether an array can be differentiated: floats (bfloat16 among them) and complex numbers."""
    dtype = np.asarray(a).dtype
    return dtype.kind in "fc" or dtype.name == "bfloat16"


def ruled(op: Primitive, sample: Sample) -> list[int]:
    """Positions of the inputs that have a rule and are differentiable at this sample."""
    return [i for i, a in enumerate(sample.args) if op.rule(i) is not None and is_float(a)]
