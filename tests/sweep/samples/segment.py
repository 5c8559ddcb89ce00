"""Samples for `ops/segment.py`."""

import numpy as np

from tests.sweep.sample import Sample, nonzero, normal

IDS = np.array([2, 0, 2, 3])


def rows(make):
    """Segments of rows, of a vector, with a matrix of ids, and of an empty array."""
    return [
        Sample((make(4, 3), IDS), {"axis": -2, "size": 5}),
        Sample((make(4), IDS), {"axis": -1, "size": 4}),
        Sample((make(2, 2, 3), IDS.reshape(2, 2)), {"axis": -2, "size": 4}),
        Sample((make(4, 0), IDS), {"axis": -2, "size": 4}),
    ]


SAMPLES = {
    "segment_max": rows(normal),
    "segment_min": rows(normal),
    "segment_prod": rows(nonzero),
    "stitch": [
        Sample((normal(3, 2), np.array([4, 0, 1])), {"axis": -2, "size": 5}),
        Sample((normal(3, 0), np.array([4, 0, 1])), {"axis": -2, "size": 5}),
    ],
}
