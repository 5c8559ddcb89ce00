"""Samples for `ops/nn/normalization.py`; its tests also run them in blocks."""

from tests.sweep.sample import Sample, normal, positive

ROWS, COLUMNS = (4, 4, 8), (8, 8)


def centered_sample(shape, at, small):
    """A sample of `sum_centered_product`: a mean of shape `at`, a result of shape `small`."""
    static = {"shape": small, "rank": len(shape)}
    return Sample((normal(shape), normal(shape), normal(at)), static)


SAMPLES = {
    "standardize": [
        Sample((normal(2, 3), normal(2, 3), positive(2, 3), normal(2, 3), positive(2, 3))),
        Sample((normal(ROWS), normal(8), positive(8), normal(8), normal(8))),
        Sample((normal(COLUMNS), normal(8, 1), positive(8, 1), normal(8, 1), 99 * positive(8, 1))),
    ],
    "sum_centered_product": [
        centered_sample((2, 3), (3,), (3,)),
        centered_sample((2, 3), (), (2, 1)),
        centered_sample(ROWS, (8,), (8,)),
        centered_sample(COLUMNS, (8, 1), (8, 1)),
        centered_sample((0, 3), (3,), (3,)),
    ],
    "moments": [
        Sample((normal(2, 3),), {"axis": (-2,), "keepdims": False}),
        Sample((normal(2, 3, 2),), {"axis": (-3, -1), "keepdims": True}),
        Sample((normal(ROWS),), {"axis": (-3, -2), "keepdims": False}),
        Sample((normal(COLUMNS),), {"axis": (-1,), "keepdims": True}),
        Sample((normal(3, 0),), {"axis": (-2,), "keepdims": False}),
    ],
}
