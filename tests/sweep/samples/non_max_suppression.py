"""Samples for `ops/image/non_max_suppression.py`."""

import numpy as np

from tests.sweep.sample import Sample, unit

BOXES = np.array([[0.0, 0.0, 1.0, 1.0], [0.1, 0.0, 1.0, 0.9], [2.0, 2.0, 1.0, 1.5]])
SCORES = np.array([0.5, 0.75, 0.25])
LIMITS = {"most": 3, "threshold": 0.5, "least": -np.inf}

SAMPLES = {
    "suppress_boxes": [
        Sample((BOXES, SCORES), {**LIMITS, "sigma": 0.0}),
        Sample((BOXES, SCORES), {**LIMITS, "sigma": 0.5}),
    ],
    "suppress_overlaps": [Sample((unit(3, 3), SCORES), LIMITS)],
    "suppress_batch": [Sample((BOXES[None], SCORES[None]), {**LIMITS, "ordered": False})],
    "suppress_classes": [
        Sample((BOXES[None, :, None], unit(1, 3, 2)), {**LIMITS, "each": 2, "clip": True})
    ],
}
