"""The switch of the ledger: `explain` and `strict`, and the report of lost gradients."""

from __future__ import annotations

import atexit
import contextlib
import sys
from collections.abc import Iterator
from typing import Any

from gradtape.core.ledger import ledger
from gradtape.debug.explanation.answer import Answer


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

    Yields:
        a Report of the gradients that were None.

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


class LostGradientError(ValueError):
    """A gradient is None inside `debug.strict`.

    Attributes:
        report: the answer to the question why.
    """

    report: Answer | None = None


@contextlib.contextmanager
def strict() -> Iterator[Report]:
    """Raise LostGradientError where a tape would return None, with the explanation.

    Yields:
        None.

    Example:
        >>> w = tf.Variable([1.5, 2.5])
        >>> with gradtape.debug.strict(), tf.GradientTape() as tape:
        ...     loss = tf.reduce_sum(tf.round(w))
        ...     try:
        ...         tape.gradient(loss, w)
        ...     except gradtape.debug.LostGradientError as error:
        ...         print(error.report.cause)
        no_gradient_op
    """
    with explain() as report:
        ledger.loss_observers.append(raise_lost_gradient)
        try:
            yield report
        finally:
            ledger.loss_observers.remove(raise_lost_gradient)


def raise_lost_gradient() -> None:
    """Raise an error for the gradient that was lost last."""
    from gradtape.debug.explanation.lost import answer_lost

    answer = answer_lost(ledger.lost[-1:])[0]
    error = LostGradientError(str(answer))
    error.report = answer
    raise error


def explain_until_exit() -> None:
    """Switch `explain` on for the rest of the process, and print its report at the end."""
    ledger.set_mode(True, ledger.checks)
    atexit.register(print_report)


def print_report() -> None:
    """Print the answers for the gradients that were None."""
    if ledger.lost:
        sys.stderr.write(f"{Report()}\n")
