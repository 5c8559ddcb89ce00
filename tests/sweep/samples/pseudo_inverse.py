"""Samples for `ops/linalg/pseudo_inverse.py`."""

from tests.sweep.sample import WIDE, Sample, complex_normal, normal

SAMPLES = {
    "pseudo_inverse": [
        Sample((normal(2, 4, 3),), dtypes=WIDE),
        Sample((normal(2, 4),), dtypes=WIDE),
        Sample((complex_normal(3, 2),), dtypes=WIDE),
        Sample((complex_normal(2, 3),), dtypes=WIDE),
        Sample((normal(0, 3, 2),), dtypes=WIDE),
    ],
}
