"""Samples for `ops/nn/normalization.py`; its own tests take them in blocks, too."""

from tests.sweep.sample import Sample, normal, positive

ROWS, COLUMNS = (4, 4, 8), (8, 8)


def tallied(shape, at, small):
    """A sample whose distances are from a mean of shape `small`."""
    static = {"shape": small, "rank": len(shape)}
    return Sample((normal(shape), normal(shape), normal(at)), static)


SAMPLES = {
    "standardize": [
        Sample((normal(2, 3), normal(2, 3), positive(2, 3), normal(2, 3), positive(2, 3))),
        Sample((normal(ROWS), normal(8), positive(8), normal(8), normal(8))),
        Sample((normal(COLUMNS), normal(8, 1), positive(8, 1), normal(8, 1), 99 * positive(8, 1))),
    ],
    "tally": [
        tallied((2, 3), (3,), (3,)),
        tallied((2, 3), (), (2, 1)),
        tallied(ROWS, (8,), (8,)),
        tallied(COLUMNS, (8, 1), (8, 1)),
        tallied((0, 3), (3,), (3,)),
    ],
    "moments": [
        Sample((normal(2, 3),), {"axis": (-2,), "keepdims": False}),
        Sample((normal(2, 3, 2),), {"axis": (-3, -1), "keepdims": True}),
        Sample((normal(ROWS),), {"axis": (-3, -2), "keepdims": False}),
        Sample((normal(COLUMNS),), {"axis": (-1,), "keepdims": True}),
        Sample((normal(3, 0),), {"axis": (-2,), "keepdims": False}),
    ],
}
