"""Ops that have no gradient in TensorFlow: to ask for one is an error, to run them is not."""

from __future__ import annotations

from typing import Any

from gradtape.core.dispatch import Recording, bind
from gradtape.core.primitive import Primitive
from gradtape.core.tensor import Tensor, marked
from gradtape.ops.shape import unregistered


class Refusal:
    """The backward step of an op without a gradient."""

    variadic = False
    count = 1

    def __init__(self, op: str) -> None:
        """`op` is what TensorFlow calls it."""
        self.name = op
        self.recorded = self

    def narrow(self, want: int, raw: bool) -> Refusal:
        """The same step for fewer of the watched inputs, of which there is one."""
        return self

    def __call__(self, entry: tuple[Any, ...], g: Any, grads: dict[int, Any]) -> None:
        """Raise.

        Raises:
            LookupError: always.
        """
        raise LookupError(f"gradient registry has no entry for: {self.name}")


def record(
    known: Any, op: Primitive, args: tuple[Any, ...], static: dict[str, Any], out: Any
) -> None:
    """Tell a recorder that knows `x` where it ends."""
    if args[0].uid in known:
        known[marked(out)] = (Refusal(static["op"]), args[0].uid)
        if type(known) is not Recording:
            known.complete((out,))


unregistered.op.record = record


def refusing(x: Tensor, op: str) -> Tensor:
    """`x`, which `op` of TensorFlow's has made: there is no gradient through it."""
    result: Tensor = bind(unregistered.op, (x,), {"op": op})
    return result
