"""Samples for `ops/signal/fft.py`."""

from tests.sweep.sample import WIDE, Sample, complex_normal, normal

SAMPLES = {
    "fft": [
        Sample((complex_normal(2, 5),), {"axis": -1}, dtypes=WIDE),
        Sample((complex_normal(4, 3),), {"axis": -2}, dtypes=WIDE),
        Sample((complex_normal(0, 3),), {"axis": -1}, dtypes=WIDE),
    ],
    "ifft": [
        Sample((complex_normal(2, 5),), {"axis": -1}, dtypes=WIDE),
        Sample((complex_normal(0, 3),), {"axis": -1}, dtypes=WIDE),
    ],
    "rfft": [
        Sample((normal(2, 6),), dtypes=WIDE),
        Sample((normal(2, 5),), dtypes=WIDE),
        Sample((normal(0, 4),), dtypes=WIDE),
    ],
    "irfft": [
        Sample((complex_normal(2, 4),), {"length": 6}, dtypes=WIDE),
        Sample((complex_normal(2, 3),), {"length": 5}, dtypes=WIDE),
        Sample((complex_normal(0, 3),), {"length": 4}, dtypes=WIDE),
    ],
}
