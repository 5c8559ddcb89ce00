"""Samples for `ops/image/bounding_box.py`."""

from tests.sweep.sample import Sample, integers, normal, unit

SAMPLES = {
    "check_box_indices": [Sample((integers(0, 3, 4),), {"count": 3})],
    "check_boxes_finite": [Sample((normal(3, 4),)), Sample((normal(0, 4),))],
    "draw_boxes": [Sample((normal(2, 4, 5, 1), unit(2, 3, 4), normal(2, 1)))],
}
