"""Samples for `ops/linalg/solve.py`."""

import numpy as np

from tests.sweep.sample import WIDE, Sample, complex_normal, matrices, normal, triangular

SAMPLES = {
    "inverse": [
        Sample((matrices(2, 3, 3),), dtypes=WIDE),
        Sample((matrices(2, 2) + 0.5j,), dtypes=WIDE),
        Sample((normal(0, 2, 2),), dtypes=WIDE),
    ],
    "solve": [
        Sample((matrices(2, 3, 3), normal(2, 3, 2)), dtypes=WIDE),
        Sample((matrices(2, 2) + 0.5j, complex_normal(2, 1)), dtypes=WIDE),
        Sample((matrices(2, 2), normal(2, 0)), dtypes=WIDE),
    ],
    "triangular_solve": [
        Sample((triangular(3, 3), normal(3, 2)), {"lower": True}, dtypes=WIDE),
        Sample((triangular(2, 3, 3), normal(3, 2)), {"lower": True}, dtypes=WIDE),
        Sample(
            (triangular(2, 2).T + 0.5j * np.eye(2), complex_normal(2, 1)),
            {"lower": False},
            dtypes=WIDE,
        ),
        Sample((triangular(2, 2), normal(2, 0)), {"lower": True}, dtypes=WIDE),
    ],
    "det": [
        Sample((matrices(2, 3, 3),), dtypes=WIDE),
        Sample((normal(0, 2, 2),), dtypes=WIDE),
    ],
    "slogdet": [
        Sample((matrices(2, 3, 3),), dtypes=WIDE, cotangent={0: np.zeros_like}),
        Sample((normal(0, 2, 2),), dtypes=WIDE),
    ],
}
