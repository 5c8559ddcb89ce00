"""Samples for `ops/linalg/matmul.py`."""

from tests.sweep.sample import Sample, complex_normal, normal

SAMPLES = {
    "matmul": [
        Sample((normal(2, 3), normal(3, 4))),
        Sample((complex_normal(2, 3), complex_normal(3, 4))),
        Sample((normal(5, 2, 3), normal(3, 4))),
        Sample((normal(5, 1, 2, 3), normal(2, 3, 4))),
        Sample((normal(2, 0), normal(0, 3))),
        Sample((normal(0, 2, 3), normal(3, 4))),
    ],
}
