"""Arithmetic of intervals, which bounds symbolic sizes."""

from __future__ import annotations

from collections.abc import Callable

Interval = tuple[int | None, int | None]
"""Least and greatest value; None where there is no known bound."""


def multiply_intervals(factors: list[Interval]) -> Interval:
    """Bounds of a product of factors."""
    if len(factors) == 1:
        return factors[0]
    low, high = 1, 1
    bounded = True
    for small, large in factors:
        if small is None or small < 0:
            return None, None
        low *= small
        bounded = bounded and large is not None
        high *= large or 0
    return low, high if bounded else None


def largest(*bounds: int | None) -> int | None:
    """The largest of the known bounds."""
    return max([x for x in bounds if x is not None], default=None)


def smallest(*bounds: int | None) -> int | None:
    """The smallest of the known bounds."""
    return min([x for x in bounds if x is not None], default=None)


def _floordiv_interval(a: Interval, b: Interval) -> Interval:
    if b[0] is not None and b[0] == b[1] and b[0] > 0:
        return (
            None if a[0] is None else a[0] // b[0],
            None if a[1] is None else a[1] // b[0],
        )
    if a[0] is not None and a[0] >= 0 and b[0] is not None and b[0] >= 0:
        return 0, a[1]
    return None, None


def _mod_interval(a: Interval, b: Interval) -> Interval:
    if b[0] is None or b[0] < 0:
        return None, None
    return 0, None if b[1] is None else b[1] - 1


def _max_interval(a: Interval, b: Interval) -> Interval:
    return largest(a[0], b[0]), None if None in (a[1], b[1]) else largest(a[1], b[1])


def _min_interval(a: Interval, b: Interval) -> Interval:
    return None if None in (a[0], b[0]) else smallest(a[0], b[0]), smallest(a[1], b[1])


def _broadcast_interval(a: Interval, b: Interval) -> Interval:
    return _min_interval(a, b)[0], _max_interval(a, b)[1]


INTERVALS: dict[str, Callable[[Interval, Interval], Interval]] = {
    "//": _floordiv_interval,
    "%": _mod_interval,
    "max": _max_interval,
    "min": _min_interval,
    "broadcast": _broadcast_interval,
}
"""Bounds of compound atoms from those of their operands, by the kind of the atom."""
