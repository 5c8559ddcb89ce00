"""Samples for `ops/bessel.py`, with arguments in each range of the lowerings."""

import numpy as np

from tests.sweep.sample import Sample, inside, normal, positive

SHAPE = (2, 3)
FURTHER = np.array([[0.01, 3.0, 5.5], [7.0, 19.0, 31.0]])


def near_and_far(make):
    """A sample near zero, and one further out in float64 only: half types are too coarse there."""
    return [Sample((make(SHAPE),)), Sample((FURTHER,), dtypes=("float64",))]


SAMPLES = {
    **{f"bessel_{kind}": [Sample((normal(SHAPE),))] for kind in ("i0", "i1")},
    **{f"bessel_{kind}": near_and_far(normal) for kind in ("j0", "j1")},
    **{f"bessel_{kind}": [Sample((inside(SHAPE),))] for kind in ("i0e", "i1e")},
    **{f"bessel_{kind}": near_and_far(positive) for kind in ("k0", "k1", "k0e", "k1e", "y0", "y1")},
}
