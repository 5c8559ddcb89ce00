"""Keras's complaint about missing gradients carries the answer of `gradtape.debug.explain`."""

from __future__ import annotations

import functools
import sys
import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any

from gradtape.core.ledger import ledger
from gradtape.core.ports import ExplainPort

OPTIMIZER_MODULE = "keras.src.optimizers.base_optimizer"
FILTER = "_filter_empty_gradients"


def explain_in_optimizer() -> None:
    """Let Keras's optimizers explain gradients that are None; called when one is."""
    module = sys.modules.get(OPTIMIZER_MODULE)
    optimizer = getattr(module, "BaseOptimizer", None)
    filter_gradients = getattr(optimizer, FILTER, None)
    if filter_gradients is not None and not hasattr(filter_gradients, "__wrapped__"):
        setattr(optimizer, FILTER, explain_errors_of(filter_gradients))


def explain_errors_of(filter_gradients: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap Keras's function that complains about gradients that are None."""

    @functools.wraps(filter_gradients)
    def call(self: Any, grads: Any, trainable_variables: Any) -> Any:
        try:
            result = filter_gradients(self, grads, trainable_variables)
        except ValueError as error:
            if ledger.full and ledger.lost:
                attach_answers(error)
            raise
        if ledger.full and ledger.lost and any(g is None for g in grads):
            warnings.warn(join_answers(find_answers()), stacklevel=2)
        return result

    return call


def find_answers() -> list[Any]:
    """The answers for the gradients that were None last."""
    import_module(ExplainPort.supplier)
    return ExplainPort.explain_lost()


def join_answers(answers: list[Any]) -> str:
    """The text of several answers."""
    return "\n\n".join(str(answer) for answer in answers)


def attach_answers(error: ValueError) -> None:
    """Add the answers to an error: as a note, and the first as `error.report`."""
    answers = find_answers()
    if answers:
        error.report = answers[0]  # type: ignore[attr-defined]
        error.add_note(join_answers(answers))


def register() -> None:
    """Prepare Keras's optimizers when a gradient is None."""
    if explain_in_optimizer not in ledger.loss_observers:
        ledger.loss_observers.append(explain_in_optimizer)
