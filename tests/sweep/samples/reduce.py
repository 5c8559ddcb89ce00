"""Samples for `ops/reduce.py`."""

import numpy as np

from tests.sweep.sample import Sample, booleans, complex_normal, normal


def along(make):
    """Reductions along the last, a middle, several and all axes, and of an empty array."""
    return [
        Sample((make(2, 3, 4),), {"axis": (-1,), "keepdims": False}),
        Sample((make(2, 3, 4),), {"axis": (-2,), "keepdims": True}),
        Sample((make(2, 3, 4),), {"axis": (-3, -1), "keepdims": False}),
        Sample((make(2, 3),), {"axis": (-2, -1), "keepdims": False}),
        Sample((make(()),), {"axis": (), "keepdims": False}),
        Sample((make(2, 0, 3),), {"axis": (-2,), "keepdims": False}),
        Sample((make(2, 0, 3),), {"axis": (-1,), "keepdims": False}),
    ]


def with_zeros(*shape):
    """Normally distributed numbers with zeros among them."""
    x = np.asarray(normal(*shape))
    x.flat[::3] = 0
    return x


def indices(make):
    """Positions along an axis."""
    dtype = np.dtype("int64")
    return [Sample((make(2, 3),), {"axis": axis, "dtype": dtype}) for axis in (-1, -2)]


SAMPLES = {
    "reduce_sum": [*along(normal), *along(complex_normal)],
    "reduce_mean": [*along(normal), *along(complex_normal)],
    "reduce_max": along(normal),
    "reduce_min": along(normal),
    "reduce_prod": [*along(normal), *along(complex_normal), *along(with_zeros)],
    "reduce_logsumexp": along(normal),
    "reduce_euclidean_norm": [s for s in along(normal) if np.ndim(s.args[0])],
    "argmax": indices(normal),
    "argmin": indices(normal),
    "reduce_all": along(booleans),
    "reduce_any": along(booleans),
    "spread": [
        Sample((normal(2, 4),), {"axis": (-2,), "keepdims": False, "shape": (2, 3, 4)}),
        Sample((normal(2, 1, 4),), {"axis": (-2,), "keepdims": True, "shape": (2, 3, 4)}),
        Sample((normal(()),), {"axis": (-2, -1), "keepdims": False, "shape": (2, 3)}),
        Sample((normal(3),), {"axis": (-2,), "keepdims": False, "shape": (200, 3)}),
        Sample((normal(2, 3),), {"axis": (-2,), "keepdims": False, "shape": (2, 0, 3)}),
        Sample((normal(0, 3),), {"axis": (-2,), "keepdims": False, "shape": (0, 2, 3)}),
    ],
    "broadcast_to": [
        Sample((normal(3, 1),), {"shape": (2, 3, 4), "rank": 2}),
        Sample((normal(()),), {"shape": (2, 3), "rank": 0}),
        Sample((complex_normal(1, 3),), {"shape": (2, 3), "rank": 2}),
        Sample((normal(1, 3),), {"shape": (0, 3), "rank": 2}),
        Sample((normal(0, 1),), {"shape": (0, 3), "rank": 2}),
    ],
}
