"""Samples for `ops/linalg/band_matrix.py`."""

import numpy as np

from tests.sweep.sample import WIDE, Sample, complex_normal, normal


def bands(*shape, main):
    """Diagonals of well conditioned band matrices; row `main` is the main diagonal."""
    out = normal(*shape) / 3
    out[..., main, :] += 3
    return out


SAMPLES = {
    "banded_solve": [
        Sample((bands(3, 4, main=1), normal(4, 2)), {"below": 1, "crossed": False}, dtypes=WIDE),
        Sample((bands(2, 3, 4, main=1), normal(4, 1)), {"below": 1, "crossed": False}, dtypes=WIDE),
        Sample((bands(2, 4, main=0), normal(3, 4, 2)), {"below": 1, "crossed": False}, dtypes=WIDE),
        Sample((bands(3, 5, main=2), normal(5, 2)), {"below": 0, "crossed": True}, dtypes=WIDE),
        Sample((bands(3, 1, main=1), normal(1, 2)), {"below": 1, "crossed": False}, dtypes=WIDE),
        Sample(
            (bands(3, 3, main=1) + 0.5j, complex_normal(3, 1)),
            {"below": 1, "crossed": False},
            dtypes=WIDE,
        ),
        Sample(
            (bands(3, 4, main=1), np.zeros((4, 0))), {"below": 1, "crossed": False}, dtypes=WIDE
        ),
    ],
}
