"""Samples for `ops/linalg/matrix_function.py`."""

from tests.sweep.sample import WIDE, Sample, complex_normal, definite, normal

SAMPLES = {
    "expm": [
        Sample((normal(2, 3, 3) / 2,), dtypes=WIDE),
        Sample((complex_normal(2, 2) / 2,), dtypes=WIDE),
        Sample((normal(0, 2, 2),), dtypes=WIDE),
    ],
    "sylvester": [
        Sample((definite(2, 3, 3), definite(2, 2), normal(2, 3, 2)), dtypes=WIDE),
        Sample((definite(2, 2) + 0.5j, definite(3, 3) + 0j, complex_normal(2, 3)), dtypes=WIDE),
        Sample((normal(2, 2), normal(0, 0), normal(2, 0)), dtypes=WIDE),
    ],
    "sqrtm": [
        Sample((definite(2, 3, 3),), dtypes=WIDE),
        Sample((normal(0, 2, 2),), dtypes=WIDE),
    ],
    "logm": [
        Sample((definite(2, 2, 2) + 0.2j,), dtypes=WIDE),
        Sample((normal(0, 2, 2) + 0j,), dtypes=WIDE),
    ],
}
