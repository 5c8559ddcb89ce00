"""Ops that have no gradient in TensorFlow: they run, but differentiating them is an error."""

from __future__ import annotations

from typing import Any

from gradtape.core.dispatch import TapeRecord, bind
from gradtape.core.primitive import Primitive
from gradtape.core.tensor import Tensor, mark_recorded
from gradtape.ops.shape import mark_no_gradient
from gradtape.tape.step import Step


class NoGradientStep(Step):
    """The backward step of an op without a gradient."""

    count = 1

    def __init__(self, op: str) -> None:
        """`op` is TensorFlow's name of the op."""
        self.name = op

    def run(self, entry: tuple[Any, ...], g: Any, grads: dict[int, Any]) -> None:
        """Raise.

        Raises:
            LookupError: always.
        """
        raise LookupError(f"gradient registry has no entry for: {self.name}")

    run_recorded = run


def record_no_gradient(
    recorder: Any, op: Primitive, args: tuple[Any, ...], static: dict[str, Any], out: Any
) -> None:
    """Record a step that raises, if the recorder knows the input of the op."""
    source = args[1].uid
    if source in recorder:
        recorder[mark_recorded(out)] = (NoGradientStep(static["op"]), source)
        if type(recorder) is not TapeRecord:
            recorder.complete((out,))


mark_no_gradient.op.record_override = record_no_gradient


def without_gradient(x: Tensor, op: str, source: Tensor | None = None) -> Tensor:
    """`x`, the result of TensorFlow's `op`; differentiating through it raises LookupError.

    `source` is the input of the op; by default, whatever recorded `x` counts as its input.
    """
    result: Tensor = bind(mark_no_gradient.op, (x, x if source is None else source), {"op": op})
    return result
