"""Samples for `ops/convolution/window.py`, `convolution.py` and `ops/nn/pool.py`."""

import numpy as np

from gradtape.ops.convolution.window import Window
from gradtape.ops.nn.pool import max_pool
from tests.sweep.sample import Sample, generator, normal

ROW = Window((3,), (2,), (1,), ((1, 1),))
SQUARE = Window((2, 2), (1, 1), (1, 1), ((0, 0), (0, 1)))
DOT = Window((1, 1), (2, 1), (1, 1), ((0, 0), (0, 0)))
STEPS = Window((2, 2), (2, 2), (1, 1), ((1, 0), (0, 0)))
HOLES = Window((2, 2), (1, 2), (2, 1), ((1, 0), (0, 0)))


def distinct(*shape):
    """Distinct numbers, so that small steps do not change which one is largest."""
    return generator.permutation(int(np.prod(shape))).reshape(shape) / 4.0


def maxima(x, window):
    """The largest elements of the windows."""
    return max_pool(x, window=window, every=False)


ONE = {"groups": 1, "order": 0}
X = distinct(1, 3, 3, 2)
GAPS = distinct(2, 5, 1)
TALL = distinct(1, 3, 5, 1)

SAMPLES = {
    "convolve": [
        Sample((normal(1, 4, 4, 9), normal(2, 2, 9, 2)), {"window": HOLES, **ONE}),
        Sample((normal(1, 3, 3, 3), normal(1, 1, 3, 2)), {"window": DOT, **ONE}),
        Sample(
            (normal(1, 3, 3, 2), normal(2, 2, 1, 4)), {"window": SQUARE, "groups": 2, "order": 0}
        ),
        Sample(
            (normal(1, 3, 4, 2), normal(2, 2, 1, 4)), {"window": STEPS, "groups": 2, "order": 0}
        ),
        Sample((normal(2, 5, 2), normal(3, 2, 3)), {"window": ROW, **ONE}),
        Sample((normal(1, 3, 3, 2), normal(2, 2, 2, 1)), {"window": SQUARE, **ONE}),
        Sample(
            (normal(1, 4, 4, 4), normal(2, 2, 2, 6)), {"window": HOLES, "groups": 2, "order": 0}
        ),
        Sample((normal(0, 5, 2), normal(3, 2, 3)), {"window": ROW, **ONE}),
    ],
    "unconvolve": [
        Sample(
            (normal(1, 3, 2, 9), normal(2, 2, 9, 9)), {"window": HOLES, "spatial": (4, 4), **ONE}
        ),
        Sample(
            (normal(1, 2, 3, 9), normal(2, 2, 9, 9)), {"window": SQUARE, "spatial": (3, 3), **ONE}
        ),
        Sample((normal(1, 2, 3, 2), normal(1, 1, 3, 2)), {"window": DOT, "spatial": (3, 3), **ONE}),
        Sample(
            (normal(1, 2, 3, 4), normal(2, 2, 1, 4)),
            {"window": SQUARE, "spatial": (3, 3), "groups": 2, "order": 0},
        ),
        Sample(
            (normal(1, 2, 2, 4), normal(2, 2, 1, 4)),
            {"window": STEPS, "spatial": (3, 4), "groups": 2, "order": 0},
        ),
        Sample((normal(2, 3, 3), normal(3, 2, 3)), {"window": ROW, "spatial": (5,), **ONE}),
        Sample(
            (normal(1, 2, 3, 1), normal(2, 2, 2, 1)), {"window": SQUARE, "spatial": (3, 3), **ONE}
        ),
        Sample(
            (normal(1, 3, 2, 6), normal(2, 2, 2, 6)),
            {"window": HOLES, "spatial": (4, 4), "groups": 2, "order": 0},
        ),
        Sample((normal(0, 3, 3), normal(3, 2, 3)), {"window": ROW, "spatial": (5,), **ONE}),
    ],
    "correlate": [
        Sample((normal(1, 4, 4, 9), normal(1, 3, 2, 2)), {"window": HOLES, **ONE}),
        Sample((normal(1, 3, 3, 3), normal(1, 2, 3, 2)), {"window": DOT, **ONE}),
        Sample(
            (normal(1, 3, 3, 2), normal(1, 2, 3, 4)), {"window": SQUARE, "groups": 2, "order": 0}
        ),
        Sample(
            (normal(1, 3, 4, 2), normal(1, 2, 2, 4)), {"window": STEPS, "groups": 2, "order": 0}
        ),
        Sample((normal(2, 5, 2), normal(2, 3, 3)), {"window": ROW, **ONE}),
        Sample(
            (normal(1, 4, 4, 4), normal(1, 3, 2, 6)), {"window": HOLES, "groups": 2, "order": 0}
        ),
        Sample((normal(0, 5, 2), normal(0, 3, 3)), {"window": ROW, **ONE}),
    ],
    "sum_pool": [
        Sample((normal(2, 5, 2),), {"window": ROW}),
        Sample((normal(1, 3, 3, 2),), {"window": SQUARE}),
        Sample((normal(0, 5, 2),), {"window": ROW}),
    ],
    "spread_pool": [
        Sample((normal(1, 2, 2, 2),), {"window": STEPS, "spatial": (3, 4)}),
        Sample((normal(2, 3, 2),), {"window": ROW, "spatial": (5,)}),
        Sample((normal(0, 3, 2),), {"window": ROW, "spatial": (5,)}),
    ],
    "max_pool": [
        Sample((GAPS,), {"window": ROW, "every": False}),
        Sample((X,), {"window": SQUARE, "every": True}),
        Sample((normal(0, 5, 2),), {"window": ROW, "every": False}),
    ],
    "max_unpool": [
        Sample((normal(1, 2, 2, 1), TALL, maxima(TALL, STEPS)), {"window": STEPS, "every": False}),
        Sample((normal(2, 3, 1), GAPS, maxima(GAPS, ROW)), {"window": ROW, "every": False}),
        Sample(
            (normal(0, 3, 2), normal(0, 5, 2), normal(0, 3, 2)), {"window": ROW, "every": False}
        ),
    ],
    "max_repool": [
        Sample((normal(2, 5, 1), GAPS, maxima(GAPS, ROW)), {"window": ROW, "every": False}),
        Sample(
            (normal(0, 5, 2), normal(0, 5, 2), normal(0, 3, 2)), {"window": ROW, "every": False}
        ),
    ],
    "patches": [
        Sample((normal(1, 4, 4, 2),), {"window": HOLES}),
        Sample((normal(0, 5, 2),), {"window": ROW}),
    ],
    "unpatch": [
        Sample((normal(1, 3, 2, 8),), {"window": HOLES, "spatial": (4, 4)}),
        Sample((normal(0, 3, 6),), {"window": ROW, "spatial": (5,)}),
    ],
}
