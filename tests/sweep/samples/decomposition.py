"""Samples for `ops/linalg/decomposition.py`."""

import numpy as np

from tests.sweep.sample import WIDE, Sample, complex_normal, definite, matrices, normal, symmetric


def hermitian(n):
    """A complex positive definite matrix."""
    x = complex_normal(n, n)
    return x @ np.conj(x.T) / n + np.diag(np.arange(1, n + 1))


def gauge_free(x):
    """Zeros: eigenvectors have a free phase, so differences of them are not defined."""
    return np.zeros_like(x)


def lower_triangle(x):
    """A direction that moves only the lower triangle, which `eigh` reads."""
    return np.tril(x)


SAMPLES = {
    "cholesky": [
        Sample((definite(2, 3, 3),), dtypes=WIDE, tangent={0: symmetric}),
        Sample((hermitian(2),), dtypes=WIDE, tangent={0: symmetric}, cotangent={0: np.tril}),
        Sample((normal(0, 2, 2),), dtypes=WIDE),
    ],
    "eigh": [
        Sample((symmetric(matrices(2, 3, 3)),), dtypes=WIDE, tangent={0: lower_triangle}),
        Sample((normal(0, 2, 2),), dtypes=WIDE),
    ],
    "eigh_or_nan": [
        Sample((symmetric(matrices(2, 3, 3)),), dtypes=WIDE, tangent={0: lower_triangle}),
        Sample((normal(0, 2, 2),), dtypes=WIDE),
    ],
    "eig": [
        Sample((matrices(3, 3),), dtypes=WIDE, cotangent={1: gauge_free}),
        Sample((normal(0, 2, 2),), dtypes=WIDE),
    ],
    "qr": [
        Sample((normal(2, 4, 3),), dtypes=WIDE),
        Sample((matrices(3, 3),), dtypes=WIDE),
        Sample((normal(2, 4),), dtypes=WIDE),
        Sample((normal(0, 3, 2),), dtypes=WIDE),
    ],
    "full_qr": [Sample((normal(4, 2),), dtypes=WIDE)],
    "svd": [
        Sample((matrices(2, 3, 3),), dtypes=WIDE),
        Sample((normal(4, 2),), dtypes=WIDE),
        Sample((normal(2, 4),), dtypes=WIDE),
        Sample((normal(0, 3, 2),), dtypes=WIDE),
    ],
    "full_svd": [Sample((normal(4, 2),), dtypes=WIDE)],
    "singular_values": [
        Sample((normal(2, 3, 3),), dtypes=WIDE),
        Sample((normal(4, 2),), dtypes=WIDE),
        Sample((complex_normal(2, 3),), dtypes=WIDE),
        Sample((normal(0, 3, 2),), dtypes=WIDE),
    ],
    "lu": [Sample((matrices(2, 3, 3),), dtypes=WIDE)],
}
