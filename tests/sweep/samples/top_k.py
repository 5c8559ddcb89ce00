"""Samples for `ops/top_k.py`."""

from tests.sweep.sample import Sample, integers, normal

SAMPLES = {
    "top_indices": [Sample((normal(2, 5),), {"k": 3}), Sample((integers(0, 5, 4),), {"k": 0})],
    "is_in_top_k": [Sample((normal(3, 4), integers(0, 5, 3)), {"k": 2})],
}
