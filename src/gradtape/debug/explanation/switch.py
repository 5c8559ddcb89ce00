"""The switch of the ledger: `explain` and `strict`, and the report of lost gradients."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from gradtape.core.ledger import ledger


class Report:
    """The gradients that were None while `explain` was on.

    Attributes:
        answers: an answer for each of them, in order; equal ones once.
    """

    def __init__(self) -> None:
        """Start empty."""
        self._lost: list[Any] = []
        self._answers: list[Any] | None = None

    @property
    def answers(self) -> list[Any]:
        """An answer for each lost gradient; equal ones once."""
        from gradtape.debug.explanation.lost import answer_lost

        lost = [*self._lost, *(ledger.lost if ledger.full else ())]
        if self._answers is None or len(lost) != len(self._lost):
            self._answers = answer_lost(lost)
        return self._answers

    def _close(self) -> None:
        """Keep what was lost, before the ledger is cleared."""
        self._lost = list(ledger.lost)
        if self._lost:
            _ = self.answers

    def __str__(self) -> str:
        """All answers."""
        return "\n\n".join(map(str, self.answers)) or "No gradient was lost."


@contextlib.contextmanager
def explain() -> Iterator[Report]:
    """Record what `tape.explain` needs, while the context is open.

    Gradients that are None meanwhile are listed in the report. Tapes can be asked inside the
    context and after it, until the next one opens.

    Example:
        >>> w = tf.Variable([1.5, 2.5])
        >>> with gradtape.debug.explain():
        ...     with tf.GradientTape() as tape:
        ...         loss = tf.reduce_sum(tf.round(w))
        >>> tape.explain(loss, w).cause
        'no_gradient_op'
    """
    if ledger.full:
        yield Report()
        return
    ledger.clear()
    ledger.set_mode(True, ledger.checks)
    report = Report()
    try:
        yield report
    finally:
        report._close()
        ledger.set_mode(False, ledger.checks)
