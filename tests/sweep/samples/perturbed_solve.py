"""Samples for `ops/linalg/perturbed_solve.py`."""

import numpy as np

from tests.sweep.sample import WIDE, Sample, complex_normal, normal
from tests.sweep.samples.band_matrix import bands

SAMPLES = {
    "perturbed_solve": [
        Sample((bands(3, 4, main=1), normal(4, 2)), {"crossed": False}, dtypes=WIDE),
        Sample((bands(2, 3, 4, main=1), normal(4, 1)), {"crossed": False}, dtypes=WIDE),
        Sample((bands(3, 3, main=2), normal(3, 3, 2)), {"crossed": True}, dtypes=WIDE),
        Sample((bands(3, 1, main=1), normal(1, 2)), {"crossed": False}, dtypes=WIDE),
        Sample((bands(3, 3, main=1) + 0.5j, complex_normal(3, 1)), {"crossed": False}, dtypes=WIDE),
        Sample((bands(3, 4, main=1), np.zeros((4, 0))), {"crossed": False}, dtypes=WIDE),
    ],
}
