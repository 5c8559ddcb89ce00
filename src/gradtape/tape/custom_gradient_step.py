"""The backward step of a function with a custom gradient, and how tapes record it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import prod
from typing import Any

from gradtape.core.context import local, next_uid
from gradtape.core.convert import convert
from gradtape.core.dispatch import TapeRecord
from gradtape.core.ledger import ledger, note_custom
from gradtape.core.ports import TapePort
from gradtape.core.primitive import Spec
from gradtape.core.tensor import Tensor, make_tensor, mark_recorded
from gradtape.ops.elementwise import conj
from gradtape.ops.shape import index_axis, reshape, shape_of, stack, zeros
from gradtape.tape.backward import add_cotangent, fill_missing_cotangents
from gradtape.tape.indexed_slices import (
    IndexedSlices,
    SparseCotangent,
    can_stay_sparse,
    densify_cotangent,
)
from gradtape.tape.step import CallStep, Entry


class CustomGradientStep(CallStep):
    """The backward step of one call of a function with a custom gradient."""

    def __init__(
        self,
        grad: Callable[..., list[Any]],
        specs: tuple[Spec, ...],
        shapes: list[tuple[int, ...]],
    ) -> None:
        """`grad` maps a cotangent for each of `specs` to a gradient, or None, for each input."""
        self.grad = grad
        self.specs = specs
        self.shapes = shapes

    def run(
        self, entry: Entry, g: Any, grads: dict[int, Any], want: int = -1, raw: bool = True
    ) -> None:
        """Call the user's function and add its gradients to `grads`."""
        _, uids, mask = entry
        cotangents = [self.to_user_cotangent(t) for t in fill_missing_cotangents(g, self.specs)]
        lead = len(shape_of(cotangents[0])) - len(self.specs[0].shape)
        results = self.call_per_cotangent(cotangents, lead) if lead else self.grad(*cotangents)
        position = 0
        for i in range(mask.bit_length()):
            if mask >> i & 1:
                if want >> position & 1 and results[i] is not None:
                    uid, t = (
                        uids[position],
                        self.from_user_gradient(results[i], self.shapes[i], raw),
                    )
                    if type(t) is SparseCotangent and not can_stay_sparse(uid, grads):
                        t = densify_cotangent(t)
                    add_cotangent(grads, uid, t)
                position += 1

    def call_per_cotangent(self, cotangents: list[Any], lead: int) -> list[Any]:
        """Call the user's function once for each cotangent: it does not support lead axes."""
        shape = shape_of(cotangents[0])[:lead]
        count = prod(shape)
        pairs = list(zip(cotangents, self.specs, strict=True))
        flat = [
            reshape(c, shape=(count, *spec.shape), rank=lead + len(spec.shape)) for c, spec in pairs
        ]
        answers = [
            self.grad(
                *(
                    index_axis(c, axis=-len(spec.shape) - 1, i=i)
                    for c, (_, spec) in zip(flat, pairs, strict=True)
                )
            )
            for i in range(count)
        ]
        if not answers:
            probe = self.grad(*(make_tensor(zeros(spec.shape, spec.dtype)) for _, spec in pairs))
            return [
                None
                if one is None
                else make_tensor(zeros(shape + shape_of(convert(one)), convert(one)._array.dtype))
                for one in probe
            ]
        return [
            stack_gradients([answer[k] for answer in answers], shape)
            for k in range(len(answers[0]))
        ]

    def to_user_cotangent(self, g: Any) -> Tensor:
        """A cotangent as the user's function expects it: a Tensor, not conjugated."""
        tensor = g if isinstance(g, Tensor) else make_tensor(g)
        return conj(tensor) if tensor._array.dtype.kind == "c" else tensor

    def from_user_gradient(self, result: Any, shape: tuple[int, ...], raw: bool) -> Any:
        """Convert the user's gradient for an input of `shape` to a cotangent of the pass."""
        if isinstance(result, IndexedSlices):
            values, indices = (
                self.from_user_gradient(result.values, (), raw),
                convert(result.indices),
            )
            return SparseCotangent(values, indices._array if raw else indices, shape)
        tensor = convert(result)
        if tensor._array.dtype.kind == "c":
            tensor = conj(tensor)
        return tensor._array if raw else tensor


def stack_gradients(answers: list[Any], shape: tuple[int, ...]) -> Any:
    """Stack the user's gradients, one for each cotangent, along the lead axes `shape`."""
    if any(answer is None for answer in answers):
        return None
    tensors = [convert(answer) for answer in answers]
    inner = tensors[0]._array.shape
    stacked = stack(*tensors, axis=-len(inner) - 1)
    return reshape(stacked, shape=shape + inner, rank=len(inner) + 1)


def record_custom_gradient(
    results: list[Tensor], inputs: list[Tensor], grad: Callable[..., list[Any]]
) -> list[Tensor]:
    """New handles on `results`, recorded as a function of `inputs` with the gradient `grad`."""
    recorders = local.recorders
    outs: list[Tensor]
    if recorders and recorders[0].is_trace:
        outs = recorders[0].record_user_gradient(results, inputs, grad)
        if not recorders[0].is_batch:
            inputs = list(map(recorders[0].as_traced, inputs))  # tapes watch captured constants
    else:
        outs = [make_tensor(t._array) for t in results]
    step = make_custom_step(outs, inputs, grad)
    if ledger.active:
        note_custom(inputs, results, outs, step)
    record_on_tapes(local.recorders, outs, inputs, step, results)
    return outs


def make_custom_step(
    outs: list[Tensor], inputs: list[Tensor], grad: Callable[..., list[Any]]
) -> CustomGradientStep:
    """The backward step of `outs` as a function of `inputs` with the gradient `grad`."""
    specs = tuple(Spec((out._array.shape, out._array.dtype)) for out in outs)
    return CustomGradientStep(grad, specs, [t._array.shape for t in inputs])


def record_on_tapes(
    recorders: Iterable[Any],
    outs: list[Tensor],
    inputs: list[Tensor],
    step: CustomGradientStep,
    results: Sequence[Tensor] = (),
) -> None:
    """Record `outs` in each recorder as a function of `inputs` with the backward step `step`.

    `results` are tensors of the same values that the ops of the function have computed.
    """
    for recorder in recorders:
        mask = sum(1 << i for i, t in enumerate(inputs) if t.uid in recorder)
        if not mask:
            continue
        anchor = next_uid()
        recorder[anchor] = (step, tuple(t.uid for t in inputs if t.uid in recorder), mask)
        for i, out in enumerate(outs):
            recorder[mark_recorded(out)] = (TapePort.route_cotangent, anchor, i)
        if not isinstance(recorder, TapeRecord):
            recorder.complete(tuple(outs))
            # As in TensorFlow, tangents computed through the function's own ops take precedence.
            recorder.update(
                (out.uid, recorder[t.uid])
                for out, t in zip(outs, results, strict=False)
                if t.uid in recorder
            )
