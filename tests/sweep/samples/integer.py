"""Samples for `ops/integer.py`."""

from tests.sweep.sample import Sample, integers

PAIRS = [
    "floordiv_integers",
    "floormod_integers",
    "truncatediv_integers",
    "truncatemod_integers",
    "power_integers",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "left_shift",
    "right_shift",
]

SAMPLES = {
    **{name: [Sample((integers(-9, 9, 2, 3), integers(1, 5, 2, 3)))] for name in PAIRS},
    "invert": [Sample((integers(-9, 9, 2, 3),))],
}
