"""The trace that saving uses: without values, and with only such effects as a file can name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gradtape.core.symbolic_tensor import SymbolicTensor
from gradtape.graph.abstract_trace import AbstractTrace
from gradtape.graph.graph import Effect
from gradtape.tf.saved_model.failure import CannotSave
from gradtape.tf.saved_model.node_encoder import describe_host_call
from gradtape.tf.saved_model.op_table.registry import explain_refusal


class SavingTrace(AbstractTrace):
    """Records a function on specs."""

    def run_effect(
        self, effect: Effect, args: Iterable[Any], specs: Iterable[Any] | None = None
    ) -> tuple[SymbolicTensor, ...]:
        """Record an effect, which does not run.

        Raises:
            CannotSave: if a file cannot name it.
        """
        parts = getattr(effect.kernel, "parts", None)
        if parts is None:
            raise CannotSave(explain_refusal(effect.name))
        describe_host_call(*parts)  # raises for files, Python and other effects outside
        return super().run_effect(effect, args, specs if parts[2] else ())
