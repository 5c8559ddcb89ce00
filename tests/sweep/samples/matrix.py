"""Samples for `ops/linalg/matrix.py`."""

import numpy as np

from tests.sweep.sample import (
    WIDE,
    Sample,
    complex_normal,
    definite,
    normal,
    symmetric,
    triangular,
)


def matrices(*shape):
    """Square matrices, well conditioned, whose eigenvalues and singular values lie apart."""
    n = shape[-1]
    return normal(*shape) / 3 + np.diag(np.arange(1, n + 1) * 1.5)


def hermitian(n):
    """A complex positive definite matrix."""
    x = complex_normal(n, n)
    return x @ np.conj(x.T) / n + np.diag(np.arange(1, n + 1))


def gauge_free(x):
    """Zeros: complex eigenvectors have a free phase, and only what does not see it counts."""
    return np.zeros_like(x)


def skewed(x):
    """A direction in which the lower triangle alone moves."""
    return np.tril(x)


SAMPLES = {
    "matmul": [
        Sample((normal(2, 3), normal(3, 4))),
        Sample((complex_normal(2, 3), complex_normal(3, 4))),
        Sample((normal(5, 2, 3), normal(3, 4))),
        Sample((normal(5, 1, 2, 3), normal(2, 3, 4))),
        Sample((normal(2, 0), normal(0, 3))),
        Sample((normal(0, 2, 3), normal(3, 4))),
    ],
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
    "cholesky": [
        Sample((definite(2, 3, 3),), dtypes=WIDE, tangent={0: symmetric}),
        Sample((hermitian(2),), dtypes=WIDE, tangent={0: symmetric}, cotangent={0: np.tril}),
        Sample((normal(0, 2, 2),), dtypes=WIDE),
    ],
    "eigh": [
        Sample((symmetric(matrices(2, 3, 3)),), dtypes=WIDE, tangent={0: skewed}),
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
    "lu": [Sample((matrices(2, 3, 3),), dtypes=WIDE)],
    "expm": [
        Sample((normal(2, 3, 3) / 2,), dtypes=WIDE),
        Sample((complex_normal(2, 2) / 2,), dtypes=WIDE),
        Sample((normal(0, 2, 2),), dtypes=WIDE),
    ],
}
