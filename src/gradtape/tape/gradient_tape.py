"""GradientTape: record the ops that depend on watched tensors, and differentiate them."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from operator import is_
from typing import Any, TypeVar, overload

from gradtape.core import nest
from gradtape.core.argument import describe
from gradtape.core.context import current_trace, local
from gradtape.core.dispatch import TapeRecord
from gradtape.core.dtypes import is_differentiable
from gradtape.core.enums import UnconnectedGradients
from gradtape.core.errors import REDISPATCH, raise_call_error, redispatch
from gradtape.core.ledger import ledger, note_gradients, note_lost, note_tape
from gradtape.core.log import get_log
from gradtape.core.ports import ExplainPort
from gradtape.core.ragged.tensor import RaggedTensor
from gradtape.core.sparse_tensor import SparseTensor
from gradtape.core.tensor import EagerTensor, Tensor
from gradtape.core.traceback_filter import hide_library_frames
from gradtape.tape.backward import backward_pass
from gradtape.tape.indexed_slices import SOURCES
from gradtape.tape.initial_cotangent import initial_cotangents
from gradtape.tape.jacobian_method import JacobianMethods
from gradtape.tape.located_record import RecordClass
from gradtape.tape.recording_block import PausedRecording, RecordingBlock
from gradtape.tape.source import (
    as_cotangent_tensor,
    collect_gradient,
    current_value,
    needs_zeros,
    source_uids,
    variable_of,
)
from gradtape.tape.tape_display import DisplayMethods

K = TypeVar("K")


def watched_uids(things: list[Any]) -> tuple[tuple[int, Any], ...]:
    """For each watched tensor or variable its uid and, of a variable, its key."""
    return tuple([(current_value(t).uid, getattr(variable_of(t), "_key", None)) for t in things])


class GradientTape(RecordingBlock, DisplayMethods, JacobianMethods):
    """Record operations for automatic differentiation.

    The tape watches trainable variables that are read inside its context. Call `watch` to watch
    a tensor.

    Args:
        persistent: keep the recording after `gradient`, so that it can be called again.
        watch_accessed_variables: watch trainable variables as they are read.

    Example:
        >>> x = tf.Variable(3.0)
        >>> with tf.GradientTape() as tape:
        ...     y = x * x
        >>> tape.gradient(y, x)
        <tf.Tensor: shape=(), dtype=float32, numpy=6.0>
    """

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        """Create a tape; recording starts when its context is entered."""
        self._tape: TapeRecord | None = None
        self._persistent = persistent
        self._watch_accessed_variables = watch_accessed_variables
        self._variables: dict[int, tuple[Any, dict[int, None]]] = {}
        if ledger.active:
            note_tape(self, "made")

    def __enter__(self) -> GradientTape:
        """Start or resume recording."""
        if self._open_record is not None:
            raise ValueError(
                "GradientTape: the tape is still recording. Leave its context before you enter it "
                "again."
            )
        record = self._tape
        if record is None:
            record = self._tape = RecordClass.chosen(self._watch_accessed_variables)
        if record.unmarked or ledger.active:
            self._activate(record)
            return self
        # `_activate`, spelled out: a tape is entered at every step of a training loop
        home = record.thread_dict = local.__dict__
        recorders = (*home.get("recorders", ()), record)
        self._open_record = record
        home["recorders"] = recorders
        return self

    def watch(self, tensor: Any) -> None:
        """Record the ops on `tensor` from now on.

        Args:
            tensor: a tensor, a variable, or a nested structure of them.

        Raises:
            ValueError: if the structure contains any other object.
        """
        try:
            things = nest.flatten(tensor)
        except Exception as error:
            try:
                raise_call_error(error, type(self).watch, (self, tensor), {})
            except Exception as final:
                hide_library_frames(final)
                raise
        if any(isinstance(t, (RaggedTensor, SparseTensor)) for t in things):
            things = nest.flatten(things, expand_composites=True)
        for t in things:
            if variable_of(t) is None and not isinstance(t, Tensor):
                raise ValueError(
                    f"Passed in object {describe(t)} of type {type(t).__name__!r}, not tf.Tensor "
                    "or tf.Variable or ExtensionType."
                )
        if self._tape is None:
            raise RuntimeError(
                "GradientTape.watch: the tape must be recording. Enter its context first."
            )
        if self._open_record is not None:
            self._watch(things)

    def _watch_tensor(self, tensor: EagerTensor) -> None:
        """Watch a tensor of floats, while nothing else records."""
        assert self._tape is not None
        if ledger.active:
            note_tape(self, "watch", watched_uids([tensor]))
        self._tape.watch(tensor.uid)

    def _watch(self, things: list[Any]) -> None:
        assert self._tape is not None
        if ledger.active:
            note_tape(self, "watch", watched_uids(things))
        for t in things:
            if not is_differentiable(current_value(t)._array.dtype):
                get_log().warning(
                    "The dtype of the watched tensor must be floating (e.g. tf.float32), got %r",
                    t.dtype,
                )
            variable = variable_of(t)
            if variable is None:
                if t._array.dtype.kind not in "iubO":
                    stage = current_trace()
                    self._tape.watch((stage[0].capture(t) if stage else t).uid)
            else:
                self._tape.watch_variable(variable, variable._current_version().uid)

    def stop_recording(self) -> PausedRecording:
        """Do not record within this scope.

        Returns:
            A context manager. The tape records again when its block ends.

        >>> x = tf.Variable(3.0)
        >>> with tf.GradientTape() as tape:
        ...     y = x * x
        ...     with tape.stop_recording():
        ...         metric = float(x * y)  # not recorded
        >>> print(tape.gradient(y, x).numpy())
        6.0
        """
        if self._tape is None:
            raise RuntimeError("GradientTape.stop_recording: the tape is not recording.")
        return PausedRecording(self)

    def reset(self) -> None:
        """Forget everything recorded and watched."""
        if ledger.active:
            note_tape(self, "reset")
        if self._open_record is None:
            raise ValueError("GradientTape.reset: the tape is not recording.")
        self._deactivate()
        self._tape = None
        self.__enter__()

    def watched_variables(self) -> tuple[Any, ...]:
        """Variables watched by this tape, in order of their creation.

        Returns:
            A tuple of variables.
        """
        if self._tape is not None:
            self._variables = self._tape.variables
        return tuple(variable for _, (variable, _) in sorted(self._variables.items()))

    @overload
    def gradient(
        self,
        target: Any,
        sources: list[Any],
        output_gradients: Any = None,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
    ) -> list[Tensor]: ...
    @overload
    def gradient(
        self,
        target: Any,
        sources: tuple[Any, ...],
        output_gradients: Any = None,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
    ) -> tuple[Tensor, ...]: ...
    @overload
    def gradient(
        self,
        target: Any,
        sources: Mapping[K, object],
        output_gradients: Any = None,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
    ) -> dict[K, Tensor]: ...
    @overload
    def gradient(
        self,
        target: Any,
        sources: Any,
        output_gradients: Any = None,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
    ) -> Tensor: ...
    def gradient(
        self,
        target: Any,
        sources: Any,
        output_gradients: Any = None,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
    ) -> Any:
        """Differentiate `target` with respect to `sources`.

        Args:
            target: tensor to differentiate; the tensors of a nested structure are summed.
            sources: tensors or variables, or a nested structure of them.
            output_gradients: weights for the elements of `target`; ones if None.
            unconnected_gradients: gradient of a source that `target` does not depend on:
                "none" or "zero".

        Returns:
            A tensor, IndexedSlices or None for each source, in the structure of `sources`.

        Raises:
            RuntimeError: if a non-persistent tape was used before, or the tape was never entered.
            ValueError, TypeError: if an argument is invalid.
        """
        try:
            return self._compute_gradient(target, sources, output_gradients, unconnected_gradients)
        except REDISPATCH as error:
            self._persistent = True  # the gradient is computed once per lane
            args = (self, target, sources, output_gradients, unconnected_gradients)
            return redispatch(error, type(self)._compute_gradient, args, {})
        except Exception as error:
            args = (self, target, sources, output_gradients, unconnected_gradients)
            try:
                raise_call_error(error, type(self).gradient, args, {})
            except Exception as final:
                hide_library_frames(final)
                raise

    def _compute_gradient(self, target: Any, sources: Any, weights: Any, unconnected: Any) -> Any:
        record = self._require_record()
        if target is None:
            raise TypeError(
                "Argument `target` should be a structure of Tensors or Variables, "
                "but received None."
            )
        zero = unconnected is not UnconnectedGradients.NONE and needs_zeros(unconnected)
        flat = nest.flatten(sources)
        roots = [source_uids(record, source) for source in flat]
        wanted = frozenset([uid for uids, _ in roots for uid in uids])
        seeds = initial_cotangents(target, weights)
        if self._open_record is not None:
            self._stop_or_warn("gradient")
        recorded = bool(local.recorders)
        grads: dict[int, Any] = {SOURCES: wanted}
        for t, seed in seeds:
            if recorded or isinstance(seed, Tensor):
                seed = as_cotangent_tensor(seed) if recorded else seed._array
            before = grads.get(t.uid)
            grads[t.uid] = seed if before is None else before + seed
        watcher = (
            None if ledger.checks is None or current_trace() else ledger.checks
        )  # of debug.anomaly
        calls = [] if watcher is None else watcher.list_calls(record)
        found = backward_pass(record, grads, recorded, release=not self._persistent)
        self._release_record()
        results = [collect_gradient(found, uids, current, zero) for uids, current in roots]
        if watcher is not None:
            watcher.on_gradient(calls, [target for target, _ in seeds], results)
        if ledger.active:
            self._note_gradients(target, flat, roots, results)
        if type(sources) is list and len(sources) == len(flat) and all(map(is_, sources, flat)):
            return results
        if not nest.is_nested(sources):
            return results[0]
        return nest.pack_sequence_as(sources, results)

    def _note_gradients(self, target: Any, flat: list[Any], roots: Any, results: Any) -> None:
        """Write the gradients to the ledger, and those that are None."""
        note_gradients(nest.flatten(target), roots, results)
        for source, (uids, _), result in zip(flat, roots, results, strict=True):
            if result is None:
                key = getattr(variable_of(source), "_key", None)
                note_lost(self, nest.flatten(target), key, uids)

    def explain(self, target: Any, source: Any) -> Any:
        """Say why `gradient(target, source)` is None, and where the gradient was lost.

        Switch `gradtape.debug.explain()` on before the program runs. The tape stays usable.

        Args:
            target: the tensor that was, or would be, differentiated.
            source: a tensor or variable.

        Returns:
            An answer with `cause`, `line`, `file`, `fix` and more; its text says it in words.
            Its cause is None if the gradient exists.
        """
        import_module(ExplainPort.supplier)
        return ExplainPort.explain(self, target, source)

    def _require_record(self) -> TapeRecord:
        if self._tape is None:
            raise RuntimeError(
                "A non-persistent GradientTape can only be used to compute one set of gradients "
                "(or jacobians). Make it persistent, or enter it first if it was never entered."
            )
        return self._tape

    def _stop_or_warn(self, warn_of: str = "") -> None:
        if self._open_record is None:
            return
        if not self._persistent:
            self._deactivate()
        elif warn_of:
            get_log().warning(
                "Calling GradientTape.%s on a persistent tape inside its context is significantly "
                "less efficient than calling it outside the context (it causes the gradient ops "
                "to be recorded on the tape).",
                warn_of,
            )

    def _release_record(self) -> None:
        if not self._persistent and self._tape is not None:
            self._variables = self._tape.variables
            self._tape = None
