"""Bounds of sizes hold for every value within the bounds of the operands."""

from itertools import product

import pytest

from gradtape.core.interval import INTERVALS, multiply_intervals
from gradtape.core.size_function import SIZE_FUNCTIONS, SizeMismatchError

ENDS = [(0, 3), (1, 1), (2, 4), (-2, 3), (None, 2), (1, None)]


def values_in(interval):
    low, high = interval
    return range(-6 if low is None else low, 8 if high is None else high + 1)


def contains(interval, value):
    low, high = interval
    return (low is None or low <= value) and (high is None or value <= high)


@pytest.mark.parametrize("kind", INTERVALS)
def test_bounds_of_a_function_contain_its_values(kind):
    for a, b in product(ENDS, ENDS):
        bounds = INTERVALS[kind](a, b)
        for x, y in product(values_in(a), values_in(b)):
            try:
                assert contains(bounds, SIZE_FUNCTIONS[kind](x, y)), (a, b, x, y)
            except (ZeroDivisionError, SizeMismatchError):
                continue


def test_bounds_of_a_product_contain_its_values():
    for a, b in product(ENDS, ENDS):
        for x, y in product(values_in(a), values_in(b)):
            assert contains(multiply_intervals([a, b]), x * y)
