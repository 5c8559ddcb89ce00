"""Samples for `ops/nn/lstm.py`."""

from tests.sweep.sample import Sample, normal


def cell(steps, batch, n, hidden):
    """Inputs, first states and weights of an LSTM."""
    return (
        normal(steps, batch, n),
        normal(batch, hidden),
        normal(batch, hidden),
        normal(n + hidden, 4 * hidden) / 2,
        *(normal(hidden) for _ in range(3)),
        normal(4 * hidden),
    )


PLAIN = {"clip": 0.0, "peephole": False}

SAMPLES = {
    "lstm": [
        Sample(cell(3, 2, 3, 2), PLAIN),
        Sample(cell(1, 1, 1, 2), PLAIN),
        Sample(cell(3, 2, 1, 3), {"clip": 50.0, "peephole": True}),
        Sample(cell(2, 0, 2, 2), PLAIN),
    ],
}
