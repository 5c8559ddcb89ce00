"""Samples for `ops/shape.py`."""

import numpy as np

from tests.sweep.sample import Sample, complex_normal, normal

WHOLE = slice(None)

SAMPLES = {
    "reshape": [
        Sample((normal(2, 3, 4),), {"shape": (6, 4), "rank": 3}),
        Sample((complex_normal(2, 3, 4),), {"shape": (12,), "rank": 2}),
        Sample((normal(()),), {"shape": (1, 1), "rank": 0}),
        Sample((normal(2, 0),), {"shape": (0, 3), "rank": 2}),
    ],
    "swap": [
        Sample((normal(2, 3, 4),)),
        Sample((complex_normal(2, 3),)),
        Sample((normal(0, 3),)),
    ],
    "transpose": [
        Sample((normal(2, 3, 4),), {"perm": (-1, -3, -2)}),
        Sample((normal(2, 3, 4),), {"perm": (-1, -2)}),
        Sample((normal(2, 0),), {"perm": (-1, -2)}),
    ],
    "concat": [
        Sample((normal(2, 3), normal(2, 1), normal(2, 4)), {"axis": -1}),
        Sample((complex_normal(2, 3), complex_normal(1, 3)), {"axis": -2}),
        Sample((normal(2, 3), normal(0, 3)), {"axis": -2}),
    ],
    "stack": [
        Sample((normal(2, 3), normal(2, 3), normal(2, 3)), {"axis": -3}),
        Sample((normal(2, 3), normal(2, 3)), {"axis": -1}),
        Sample((normal(()), normal(())), {"axis": -1}),
        Sample((normal(2, 0), normal(2, 0)), {"axis": -2}),
    ],
    "slice_": [
        Sample((normal(4, 5),), {"key": (slice(1, 4, 2), 2), "rank": 2}),
        Sample((normal(2, 4, 5),), {"key": (slice(None, None, -1), None, WHOLE), "rank": 2}),
        Sample((normal(4, 5),), {"key": (WHOLE, slice(2, 2)), "rank": 2}),
        Sample((normal(0, 5),), {"key": (WHOLE, slice(1, 3)), "rank": 2}),
    ],
    "place": [
        Sample((normal(2),), {"key": (slice(1, 4, 2), 2), "rank": 2, "shape": (4, 5)}),
        Sample(
            (normal(2, 4, 1, 5),),
            {"key": (slice(None, None, -1), None, WHOLE), "rank": 2, "shape": (4, 5)},
        ),
        Sample((normal(4, 0),), {"key": (WHOLE, slice(2, 2)), "rank": 2, "shape": (4, 5)}),
    ],
    "slice_from": [
        Sample((normal(4, 5), np.array([1, 2])), {"sizes": (2, 3)}),
        Sample((complex_normal(2, 4), np.array([1])), {"sizes": (3,)}),
        Sample((normal(4, 5), np.array([1, 0])), {"sizes": (0, 5)}),
        Sample((normal(0, 5), np.array([0, 1])), {"sizes": (0, 2)}),
    ],
    "place_from": [
        Sample((normal(2, 3), np.array([1, 2])), {"shape": (4, 5)}),
        Sample((complex_normal(2, 3), np.array([1])), {"shape": (4,)}),
        Sample((normal(0, 5), np.array([1, 0])), {"shape": (4, 5)}),
    ],
    "flip": [
        Sample((normal(2, 3, 4),), {"axes": (-1, -3)}),
        Sample((normal(2, 0),), {"axes": (-1,)}),
    ],
    "pad": [
        Sample((normal(2, 3),), {"paddings": ((1, 0), (0, 2)), "value": 0}),
        Sample((normal(2, 3),), {"paddings": ((1, 1),), "value": 5}),
        Sample((normal(0, 3),), {"paddings": ((1, 1), (0, 0)), "value": 0}),
    ],
    "split": [
        Sample((normal(2, 5),), {"axis": -1, "sizes": (1, 0, 4)}),
        Sample((complex_normal(4, 3),), {"axis": -2, "sizes": (2, 2)}),
        Sample((normal(0, 3),), {"axis": -1, "sizes": (1, 2)}),
    ],
    "unstack": [
        Sample((normal(2, 3),), {"axis": -1}),
        Sample((normal(3),), {"axis": -1}),
        Sample((normal(2, 0),), {"axis": -2}),
    ],
    "identity_n": [
        Sample((normal(2), normal(2, 3))),
        Sample((normal(0), normal(()))),
    ],
    "mark_no_gradient": [Sample((normal(2, 3), normal(2)), {"op": "AdjustHue"})],
}
