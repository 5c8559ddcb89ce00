"""Samples for `ops/integer.py`."""

import numpy as np

from tests.sweep.sample import Sample, integers

PAIRS = [
    "floordiv_integers",
    "floormod_integers",
    "truncatediv_integers",
    "truncatemod_integers",
    "power_integers",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "left_shift",
    "right_shift",
]

SAMPLES = {
    **{name: [Sample((integers(-9, 9, 2, 3), integers(1, 5, 2, 3)))] for name in PAIRS},
    "invert": [Sample((integers(-9, 9, 2, 3),))],
    "bitcast_to": [
        Sample((integers(-9, 9, 2, 3).astype(np.int32),), {"dtype": np.dtype(np.float32)}),
        Sample((integers(0, 9, 2, 3).astype(np.int32),), {"dtype": np.dtype(np.uint8)}),
        Sample((integers(0, 9, 3, 2).astype(np.uint8),), {"dtype": np.dtype(np.int16)}),
        Sample((integers(0, 9).astype(np.int32),), {"dtype": np.dtype(np.uint32)}),
    ],
}
