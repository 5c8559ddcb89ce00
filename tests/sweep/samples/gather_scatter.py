"""Samples for `ops/gather_scatter.py`."""

import numpy as np

from tests.sweep.sample import Sample, booleans, complex_normal, integers, normal

SAMPLES = {
    "gather": [
        Sample((normal(5, 3), np.array([4, 0, 4])), {"axis": -2}),
        Sample((normal(2, 5), integers(0, 5, 2, 2)), {"axis": -1}),
        Sample((complex_normal(5), np.array(3)), {"axis": -1}),
        Sample((normal(5, 3), integers(0, 5, 0)), {"axis": -2}),
        Sample((normal(5, 0), np.array([1, 2])), {"axis": -2}),
    ],
    "take": [
        Sample((normal(5, 3), np.array([4, 0, 4])), {"axis": -2}),
        Sample((complex_normal(5), np.array(3)), {"axis": -1}),
        Sample((normal(5, 3), integers(0, 5, 0)), {"axis": -2}),
    ],
    "scatter_add": [
        Sample((normal(3, 2), np.array([4, 0, 4])), {"axis": -2, "size": 5}),
        Sample((normal(2, 2, 2), integers(0, 5, 2, 2)), {"axis": -1, "size": 5}),
        Sample((normal(()), np.array(3)), {"axis": -1, "size": 5}),
        Sample((normal(0, 2), integers(0, 5, 0)), {"axis": -2, "size": 5}),
    ],
    "gather_nd": [
        Sample((normal(4, 3, 2), np.array([[1, 2], [0, 0], [1, 2]])), {"rank": 3}),
        Sample((complex_normal(4, 3), np.array([3, 1])), {"rank": 2}),
        Sample((normal(4, 3), np.array([[[3]], [[1]]])), {"rank": 2}),
        Sample((normal(4, 3), np.zeros((0, 2), int)), {"rank": 2}),
        Sample((normal(4, 0), np.array([[1]])), {"rank": 2}),
    ],
    "scatter_nd": [
        Sample((normal(3, 2), np.array([[1, 2], [0, 0], [1, 2]])), {"shape": (4, 3, 2)}),
        Sample((complex_normal(()), np.array([3, 1])), {"shape": (4, 3)}),
        Sample((normal(2, 1, 3), np.array([[[3]], [[1]]])), {"shape": (4, 3)}),
        Sample((normal(0), np.zeros((0, 2), int)), {"shape": (4, 3)}),
    ],
    "update_nd": [
        Sample((normal(4, 3), np.array([[1], [3]]), normal(2, 3)), {"rank": 2}),
        Sample((normal(4, 3), np.array([[1, 2]]), normal(1)), {"rank": 2}),
        Sample((normal(4, 3), np.zeros((0, 1), int), normal(0, 3)), {"rank": 2}),
    ],
    "scatter_nd_extreme": [
        Sample((normal(4, 3), np.array([[1], [3], [1]]), normal(3, 3)), {"largest": True}),
        Sample((normal(5), np.array([[1], [3]]), normal(2)), {"largest": False}),
        Sample((normal(4, 3), np.zeros((0, 1), int), normal(0, 3)), {"largest": True}),
    ],
    "stable_argsort": [
        Sample((normal(2, 5),), {"descending": False}),
        Sample((integers(0, 3, 2, 5),), {"descending": True}),
    ],
    "one_hot_mask": [Sample((integers(-1, 5, 2, 3),), {"depth": 4})],
    "where_true": [Sample((booleans(2, 3),)), Sample((integers(0, 2, 4),))],
    "flatten_batch_indices": [Sample((integers(0, 4, 2, 3),), {"shape": (2,), "size": 4})],
}
