"""Samples for `ops/nn/gru.py`."""

import numpy as np

from tests.sweep.sample import Sample, normal


def layer(steps, batch, n, hidden, mask=True):
    """Inputs, first state, weights and mask of a GRU."""
    return (
        normal(steps, batch, n),
        normal(batch, hidden),
        normal(n, 3 * hidden) / 2,
        normal(hidden, 3 * hidden) / 2,
        normal(3 * hidden),
        normal(3 * hidden),
        np.broadcast_to(mask, (steps, batch)).copy(),
    )


GAPS = [[True, False], [False, False], [True, True], [False, True]]

SAMPLES = {
    "gru": [
        Sample(layer(3, 2, 3, 2), {"masked": False}),
        Sample(layer(1, 1, 1, 2), {"masked": False}),
        Sample(layer(4, 2, 1, 3, GAPS), {"masked": True}),
        Sample(layer(2, 0, 2, 2), {"masked": False}),
    ],
}
