"""Forward mode: ForwardAccumulator computes tangents along with the values.

The jvp of a step is the transpose of its pullback. The pullback is linear in the cotangent:
its derivative with respect to a dummy cotangent, weighted by the input tangents, is the tangent
of the output. So every rule serves both modes.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, overload
from weakref import ref

from gradtape.core import nest
from gradtape.core.context import local, use_recorders
from gradtape.core.convert import convert
from gradtape.core.dispatch import TapeRecord
from gradtape.core.enums import UnconnectedGradients
from gradtape.core.errors import public
from gradtape.core.ledger import ledger, note_tape
from gradtape.core.log import get_log
from gradtape.core.ports import ExplainPort
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.ops.shape import as_scalar_unless_string, zeros
from gradtape.tape.backward import backward_pass
from gradtape.tape.indexed_slices import SOURCES
from gradtape.tape.recording_block import RecordingBlock
from gradtape.tape.source import current_value, make_zeros_like, needs_zeros, variable_of
from gradtape.tape.step import ROUTE_COTANGENT


class TangentRef(ref[Tensor]):
    """A weak reference to a tensor that has a tangent."""

    tangents: ref[TangentRecord]
    uid: int


def drop_tangent(holder: TangentRef) -> None:
    """Drop the tangent of a tensor that was garbage collected."""
    tangents = holder.tangents()
    if tangents is not None:
        del tangents.refs[holder.uid]
        tangents.pop(holder.uid, None)


class TangentRecord(dict[int, Any]):
    """A recorder (uid → tangent) that replaces each entry by the tangent of its output at once."""

    unmarked = True
    is_trace = False

    def __init__(self, lead: tuple[int, ...] = ()) -> None:
        """Start empty. A tangent has the shape `lead` + the shape of its tensor."""
        self.lead = lead
        self.thread_dict: dict[str, Any] = {}  # `local.__dict__` of the thread that records
        self.variables: dict[int, Tensor] = {}
        self.refs: dict[int, TangentRef] = {}

    def set_tangent(self, tensor: Tensor, tangent: Tensor) -> None:
        """Keep the tangent of `tensor` until the tensor is garbage collected."""
        self[tensor.uid] = tangent
        holder = self.refs[tensor.uid] = TangentRef(tensor, drop_tangent)
        holder.tangents, holder.uid = ref(self), tensor.uid

    def on_variable_read(self, variable: Any, uid: int) -> None:
        """Give a later version of a primal variable the same tangent."""
        if variable._key in self.variables:
            self[uid] = self.variables[variable._key]

    def complete(self, outs: tuple[Tensor, ...]) -> None:
        """Replace the entry that was just stored for `outs` by their tangents."""
        entry = self.pop(outs[0].uid)
        several = entry[0] is ROUTE_COTANGENT
        if several:
            anchor = entry[1]
            for out in outs[1:]:
                del self[out.uid]
            entry = self.pop(anchor)
        step = entry[0]
        inputs = dict.fromkeys(step.inputs_of(entry))
        others = self.outer_recorders()
        dummies = [make_zeros_like(out) for out in outs]
        inner = TapeRecord(False)
        for dummy in dummies:
            inner.watch(dummy.uid)
        pulled: dict[int, Any] = {SOURCES: frozenset()}
        with use_recorders((*others, inner)):
            step.run_recorded(entry, dict(enumerate(dummies)) if several else dummies[0], pulled)
        recorded = bool(others)
        grads: dict[int, Any] = {SOURCES: frozenset(dummy.uid for dummy in dummies)}
        with use_recorders(others):
            for uid in inputs:
                t = pulled.get(uid)
                if t is not None:
                    weight = self[uid] if recorded else self[uid]._array
                    before = grads.get(t.uid)
                    grads[t.uid] = weight if before is None else before + weight
            found = backward_pass(inner, grads, recorded, release=True)
        for out, dummy in zip(outs, dummies, strict=True):
            tangent = found.get(dummy.uid)
            if tangent is not None:
                self.set_tangent(
                    out, tangent if isinstance(tangent, Tensor) else make_tensor(tangent)
                )

    def zero_tangent(self, value: Tensor) -> Any:
        """The raw tangent, zeros, of a tensor that depends on no primal."""
        return as_scalar_unless_string(zeros(self.lead + value._array.shape, value._array.dtype))

    def outer_recorders(self) -> tuple[Any, ...]:
        """Recorders of the tangent computation: all but this and the accumulators inside it."""
        kept = []
        inside = False
        for recorder in local.recorders:
            inside = inside or recorder is self
            if not (inside and type(recorder) is TangentRecord):
                kept.append(recorder)
        return tuple(kept)


class ForwardAccumulator(RecordingBlock):
    """Compute Jacobian-vector products while the function runs.

    Args:
        primals: tensors or variables, or a structure of them.
        tangents: the same structure; the direction of the derivative.

    Example:
        >>> x = tf.constant(3.0)
        >>> with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as acc:
        ...     y = x * x
        >>> acc.jvp(y)
        <tf.Tensor: shape=(), dtype=float32, numpy=6.0>
    """

    @public
    def __init__(self, primals: Any, tangents: Any) -> None:
        """Pair primals with tangents."""
        self._start(primals, tangents, ())

    @classmethod
    @public
    def _batch_accumulator(cls, primals: Any, tangents: Any) -> ForwardAccumulator:
        """An accumulator of several tangents along a leading axis, which `jvp` returns too."""
        self = cls.__new__(cls)
        sizes = {convert(tangent)._array.shape[:1] for tangent in nest.flatten(tangents)}
        if len(sizes) != 1:
            raise ValueError(
                f"ForwardAccumulator: all tangents must have the same leading size. "
                f"Received {sorted(sizes)}."
            )
        self._start(primals, tangents, sizes.pop())
        return self

    def _start(self, primals: Any, tangents: Any, lead: tuple[int, ...]) -> None:
        self._tangents = TangentRecord(lead)
        nest.assert_same_structure(primals, tangents)
        flat = nest.flatten(primals)
        if len({id(primal) for primal in flat}) < len(flat):
            raise ValueError(
                "ForwardAccumulator: each primal must be given once. Received one multiple times. "
                "Add its tangents and pass the sum."
            )
        for primal, tangent in zip(flat, nest.flatten(tangents), strict=True):
            self._watch(primal, tangent)

    def _watch(self, primal: Any, tangent: Any) -> None:
        """Add `tangent` to the tangent of `primal`."""
        value = current_value(primal)
        if not isinstance(value, Tensor):
            raise ValueError(
                f"ForwardAccumulator: primals must be Tensors or Variables. Received {primal!r}."
            )
        if not value.dtype.is_floating:
            get_log().warning(
                "The dtype of the watched primal must be floating (e.g. tf.float32), got %r",
                value.dtype,
            )
        direction = convert(tangent, value.dtype)
        expected = self._tangents.lead + value._array.shape
        if direction._array.shape != expected:
            raise ValueError(
                f"ForwardAccumulator: expected a tangent of shape {expected} for a primal of shape "
                f"{value.shape}. Received shape {direction.shape}."
            )
        if value.uid in self._tangents:
            direction = self._tangents[value.uid] + direction
        self._tangents.set_tangent(value, direction)
        variable = variable_of(primal)
        if variable is not None:
            self._tangents.variables[variable._key] = direction
        if ledger.active:
            note_tape(self, "watch", ((value.uid, getattr(variable, "_key", None)),))

    def __enter__(self) -> ForwardAccumulator:
        """Start accumulating."""
        if self._open_record is not None:
            raise ValueError("ForwardAccumulator: the accumulator is already recording.")
        self._activate(self._tangents)
        return self

    def explain(self, target: Any, source: Any) -> Any:
        """Say why `jvp(target)` is None; see `GradientTape.explain`. `source` is a primal.

        Args:
            target: the tensor whose tangent is None.
            source: a primal of the accumulator.

        Returns:
            An answer, as that of `GradientTape.explain`.
        """
        import_module(ExplainPort.supplier)
        return ExplainPort.explain(self, target, source)

    @overload
    def jvp(self, primals: Tensor, unconnected_gradients: Any = ...) -> Tensor: ...
    @overload
    def jvp(self, primals: Any, unconnected_gradients: Any = ...) -> Any: ...
    @public
    def jvp(self, primals: Any, unconnected_gradients: Any = UnconnectedGradients.NONE) -> Any:
        """Tangents of `primals`.

        Args:
            primals: tensors computed inside the context, or a structure of them.
            unconnected_gradients: tangent of a tensor that depends on no primal: "none" or "zero".

        Returns:
            A tensor or None for each.
        """
        zero = needs_zeros(unconnected_gradients)

        def tangent_of(thing: Any) -> Any:
            value = current_value(thing)
            variable = variable_of(thing)
            tangent = self._tangents.get(value.uid)
            if tangent is None and variable is not None:
                tangent = self._tangents.variables.get(variable._key)
            if tangent is None and zero:
                tangent = make_tensor(self._tangents.zero_tangent(value))
            return tangent

        return nest.map_structure(tangent_of, primals)
