"""Samples for `ops/activation.py`."""

from tests.sweep.sample import Sample, nonzero

SHAPE = (2, 3)

SAMPLES = {
    "relu6": [Sample((nonzero(SHAPE),)), Sample((nonzero(SHAPE) * 4,))],
    "leaky_relu": [Sample((nonzero(SHAPE),), {"alpha": 0.25})],
    "elu": [Sample((nonzero(SHAPE),))],
    "selu": [Sample((nonzero(SHAPE),))],
}
