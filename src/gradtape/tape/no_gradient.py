"""Ops that have no gradient in TensorFlow: they run, but differentiating them is an error."""

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
        """`op` is TensorFlow's name of the op."""
        self.name = op
        self.recorded = self

    def narrow(self, want: int, raw: bool) -> Refusal:
        """This step: it has only one watched input."""
        return self

    def __call__(self, entry: tuple[Any, ...], g: Any, grads: dict[int, Any]) -> None:
        """Raise.

        Raises:
            LookupError: always.
        """
        raise LookupError(f"gradient registry has no entry for: {self.name}")


def record(
    recorder: Any, op: Primitive, args: tuple[Any, ...], static: dict[str, Any], out: Any
) -> None:
    """Record a step that raises, if the recorder knows the input."""
    if args[0].uid in recorder:
        recorder[marked(out)] = (Refusal(static["op"]), args[0].uid)
        if type(recorder) is not Recording:
            recorder.complete((out,))


unregistered.op.record = record


def refusing(x: Tensor, op: str) -> Tensor:
    """`x`, the result of TensorFlow's `op`; differentiating through it raises LookupError."""
    result: Tensor = bind(unregistered.op, (x,), {"op": op})
    return result
