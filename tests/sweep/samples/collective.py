"""Samples for `ops/collective.py`; the group is one worker."""

from gradtape.core.worker_group import SINGLE_WORKER
from tests.sweep.sample import Sample, normal

SAMPLES = {
    "all_reduce": [
        Sample((normal(2, 3), normal(4)), {"reduction": "SUM", "group": SINGLE_WORKER}),
        Sample((normal(3),), {"reduction": "MEAN", "group": SINGLE_WORKER}),
        Sample((normal(0, 2),), {"reduction": "SUM", "group": SINGLE_WORKER}),
    ],
    "broadcast": [
        Sample((normal(2, 3),), {"root": 0, "group": SINGLE_WORKER}),
        Sample((normal(0, 2),), {"root": 0, "group": SINGLE_WORKER}),
    ],
}
