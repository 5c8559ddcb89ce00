"""Samples for `ops/normalization.py`; the small ones take NumPy's way, the others blocks."""

from gradtape.ops import normalization
from tests.sweep.sample import Sample, normal, positive

ROWS, COLUMNS = (8, 8, 64), (64, 64)  # just large enough


def tallied(shape, at, small):
    """A sample whose distances are from a mean of shape `small`."""
    static = {"shape": small, "rank": len(shape)}
    return Sample((normal(shape), normal(shape), normal(at)), static)


assert normalization.LARGE == 8 * 8 * 64

SAMPLES = {
    "standardize": [
        Sample((normal(2, 3), normal(2, 3), positive(2, 3), normal(2, 3))),
        Sample((normal(ROWS), normal(64), positive(64), normal(64))),
        Sample((normal(COLUMNS), normal(64, 1), positive(64, 1), normal(64, 1))),
    ],
    "tally": [
        tallied((2, 3), (3,), (3,)),
        tallied((2, 3), (), (2, 1)),
        tallied(ROWS, (64,), (64,)),
        tallied(COLUMNS, (64, 1), (64, 1)),
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
