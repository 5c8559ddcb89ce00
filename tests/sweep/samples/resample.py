"""Samples for `ops/image/resample.py`."""

from gradtape.ops.image.filter_matrix import FilterMatrixSpec
from tests.sweep.sample import WIDE, Sample, normal

SMALL = {"band": FilterMatrixSpec("bilinear", 4, 6), "back": False}
LARGE = {"band": FilterMatrixSpec("lanczos3", 90, 80, antialias=True), "back": False}

SAMPLES = {
    "resample": [
        Sample((normal(2, 4, 3),), {"axis": -2, **SMALL}),
        Sample((normal(4),), {"axis": -1, **SMALL}),
        Sample((normal(6, 2, 3),), {"axis": -3, **SMALL, "back": True}),
        Sample((normal(20, 90, 2),), {"axis": -2, **LARGE}, dtypes=WIDE),
        Sample((normal(2, 90, 10),), {"axis": -2, **LARGE}, dtypes=WIDE),
        Sample((normal(0, 4, 3),), {"axis": -2, **SMALL}),
    ],
}
