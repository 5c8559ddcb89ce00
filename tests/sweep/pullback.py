"""One rule of one primitive at one sample: records a single op and runs its backward pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradtape.core.context import local, use_recorders
from gradtape.core.dispatch import TapeRecord
from gradtape.core.primitive import Primitive
from gradtape.core.tensor import Tensor, make_tensor, unwrap
from gradtape.tape.backward import SOURCES, backward_pass
from gradtape.tape.indexed_slices import SparseCotangent, densify_cotangent
from tests.sweep.sample import Sample

Arrays = tuple[Any, ...]


def copy_raw(a: Any) -> Any:
    """Copy an array, so that checks cannot affect each other; scalars stay scalars."""
    return np.array(a)[()] if isinstance(a, np.ndarray | np.generic) else a


def copy_read_only(a: Any) -> Any:
    """Make a read-only copy."""
    a = copy_raw(a)
    if isinstance(a, np.ndarray):
        a.flags.writeable = False
    return a


@dataclass(frozen=True)
class Case:
    """The rule of input number `wrt` at a sample; `hand` copies the arrays that it gets."""

    op: Primitive
    sample: Sample
    wrt: int
    hand: Callable[[Any], Any] = copy_raw

    def __str__(self) -> str:
        """Describe the case for error messages."""
        shapes = ", ".join(f"{np.asarray(a).dtype}{list(np.shape(a))}" for a in self.sample.args)
        name = self.op.inputs[0 if self.op.variadic else self.wrt]
        at = f"({shapes}, {self.sample.static})"
        return f"{self.op.name} with respect to {name} (input {self.wrt}) at {at}"

    @property
    def x(self) -> Any:
        """The input that the rule differentiates with respect to."""
        return self.sample.args[self.wrt]

    def pull(self, us: Arrays, args: Arrays | None = None) -> Any:
        """Apply the rule to `us`, one cotangent or None for each output.

        Tensors run the recorded backward step, arrays the raw one. `args` replace the sample's.
        """
        args = self.sample.args if args is None else args
        known = TapeRecord()
        tensors = tuple(a if isinstance(a, Tensor) else make_tensor(self.hand(a)) for a in args)
        tensors = self.sample.recompute_bound(tensors)
        source = tensors[self.wrt].uid
        known.watch(source)
        with use_recorders((*local.recorders, known)):
            outs = as_tuple(self.op, self.op.function(*tensors, **self.sample.static))
        for out in outs if self.hand is copy_read_only else ():
            out._array = copy_read_only(out._array)
        grads: dict[int, Any] = {SOURCES: frozenset({source})}
        grads.update((o.uid, self.hand(u)) for o, u in zip(outs, us, strict=True) if u is not None)
        recorded = any(isinstance(u, Tensor) for u in us)
        return as_dense(backward_pass(known, grads, recorded, release=False)[source])

    def pull_recorded(self, us: Arrays) -> Any:
        """Apply the rule by the recorded backward step; return a raw array."""
        return unwrap(self.pull(tensors_of(us, self.hand)))

    def pull_twice(self, us: Arrays, w: Any) -> tuple[list[Any], list[Any]]:
        """Gradients of ⟨w, pull(us)⟩ in the inputs that have a rule, and in `us`."""
        args = tensors_of(self.sample.args, self.hand)
        seeds = tensors_of(us, self.hand)
        inputs = [args[i] for i in inputs_with_rules(self.op, self.sample)]
        uids = frozenset(t.uid for t in (*inputs, *seeds) if t is not None)
        outer = TapeRecord()
        for uid in uids:
            outer.watch(uid)
        with use_recorders((outer,)):
            result = self.pull(seeds, args)
        found = backward_pass(
            outer, {SOURCES: uids, result.uid: self.hand(w)}, recorded=False, release=False
        )

        def gradient(t: Any) -> Any:
            return None if t is None else as_dense(found.get(t.uid))

        return [gradient(t) for t in inputs], [gradient(t) for t in seeds]


def as_dense(t: Any) -> Any:
    """Convert IndexedSlices to a dense cotangent."""
    return densify_cotangent(t) if isinstance(t, SparseCotangent) else t


def call(op: Primitive, args: Arrays, static: dict[str, Any]) -> Arrays:
    """Outputs of the primitive on copies of raw arrays, as a tuple."""
    return as_tuple(op, op.function(*(copy_raw(a) for a in args), **static))


def as_tuple(op: Primitive, out: Any) -> Arrays:
    """Outputs as a tuple, also if there is only one."""
    return tuple(out) if op.outputs else (out,)


def tensors_of(values: Arrays, hand: Callable[[Any], Any] = copy_raw) -> Arrays:
    """Wrap copies of raw arrays in tensors; None stays None."""
    return tuple(None if v is None else make_tensor(hand(v)) for v in values)


def is_float(a: Any) -> bool:
    """Whether an array is differentiable: floating (bfloat16 included) or complex."""
    dtype = np.asarray(a).dtype
    return dtype.kind in "fc" or dtype.name == "bfloat16"


def inputs_with_rules(op: Primitive, sample: Sample) -> list[int]:
    """Positions of the inputs that have a rule and are differentiable at this sample."""
    return [i for i, a in enumerate(sample.args) if op.rule(i) is not None and is_float(a)]
