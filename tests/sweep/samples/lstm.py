"""Samples for `ops/nn/lstm.py`."""

import numpy as np

from tests.sweep.sample import Sample, normal


def cell(steps, batch, n, hidden, mask=True):
    """Inputs, first states, weights and mask of an LSTM."""
    return (
        normal(steps, batch, n),
        normal(batch, hidden),
        normal(batch, hidden),
        normal(n + hidden, 4 * hidden) / 2,
        *(normal(hidden) for _ in range(3)),
        normal(4 * hidden),
        np.broadcast_to(mask, (steps, batch)).copy(),
    )


PLAIN = {"clip": 0.0, "peephole": False, "masked": False}
GAPS = [[True, False], [False, False], [True, True], [False, True]]

SAMPLES = {
    "lstm": [
        Sample(cell(3, 2, 3, 2), PLAIN),
        Sample(cell(1, 1, 1, 2), PLAIN),
        Sample(cell(3, 2, 1, 3), {"clip": 50.0, "peephole": True, "masked": False}),
        Sample(cell(4, 2, 1, 2, GAPS), PLAIN | {"masked": True}),
        Sample(cell(4, 2, 1, 2, GAPS), {"clip": 0.0, "peephole": True, "masked": True}),
        Sample(cell(2, 0, 2, 2), PLAIN),
    ],
}
