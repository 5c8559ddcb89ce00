"""`debug.anomaly`: the switch that finds NaN and infinity."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import numpy as np

from gradtape.core.ledger import ledger
from gradtape.debug.anomaly.report import AnomalyReport


@contextlib.contextmanager
def anomaly() -> Iterator[AnomalyReport]:
    """Find the first NaN or infinity that ruins a target or a gradient, and say what it means.

    It is cheap enough to stay on during training. The report has the line of the forward op, also
    if the value arises in the backward pass or inside a `tf.function`. Data that contains infinity
    on purpose, such as a mask, is no alarm as long as targets and gradients are finite.

    Yields:
        an AnomalyReport, which is complete when the context closes.

    Example:
        >>> w = tf.Variable([1.0, 0.0])
        >>> with gradtape.debug.anomaly() as report:
        ...     with tf.GradientTape() as tape:
        ...         loss = tf.reduce_sum(tf.math.log(w))
        ...     _ = tape.gradient(loss, w)
        >>> report.cause
        'log_zero'
    """
    from gradtape.debug.anomaly.watcher import Watcher

    before = ledger.checks
    watcher = Watcher()
    if not ledger.full:
        ledger.clear()
    ledger.set_mode(ledger.full, watcher)
    options = {"divide": "call", "over": "call", "invalid": "call", "call": watcher.on_flag}
    try:
        with np.errstate(**options):  # type: ignore[arg-type]
            yield watcher.report
    finally:
        watcher.finish()
        ledger.set_mode(ledger.full, before)
