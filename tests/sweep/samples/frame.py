"""Samples for `ops/signal/frame.py`."""

from tests.sweep.sample import Sample, complex_normal, normal

SAMPLES = {
    "frame": [
        Sample((normal(2, 9),), {"length": 4, "step": 2}),
        Sample((normal(7),), {"length": 2, "step": 3}),
        Sample((complex_normal(5),), {"length": 3, "step": 1}),
        Sample((normal(2, 3),), {"length": 4, "step": 1}),
        Sample((normal(0, 5),), {"length": 2, "step": 1}),
    ],
    "overlap_add": [
        Sample((normal(2, 3, 4),), {"step": 2, "size": 8}),
        Sample((normal(2, 3, 4),), {"step": 3, "size": 11}),
        Sample((normal(2, 2),), {"step": 3, "size": 7}),
        Sample((complex_normal(3, 3),), {"step": 1, "size": 5}),
        Sample((normal(0, 2),), {"step": 2, "size": 0}),
    ],
}
