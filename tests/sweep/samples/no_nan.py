"""Samples for `ops/no_nan.py`."""

import numpy as np

from tests.sweep.sample import Sample, nonzero, normal, positive

SHAPE = (2, 3)

SAMPLES = {
    "xlogy": [Sample((nonzero(SHAPE), positive(SHAPE)))],
    "xlog1py": [Sample((nonzero(SHAPE), positive(SHAPE)))],
    "xdivy": [Sample((nonzero(SHAPE), nonzero(SHAPE)))],
    "multiply_no_nan": [Sample((normal(SHAPE), nonzero(SHAPE)))],
    "divide_no_nan": [
        Sample((normal(SHAPE), nonzero(SHAPE))),
        Sample((normal(SHAPE) + 1j, nonzero(SHAPE) + 1j * np.ones(SHAPE))),
    ],
}
