"""Finds how numbers follow from sizes, given an example of each for several traces."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from gradtape.tf.saved_model.failure import CannotSave

# Placeholder sizes: a row for each unknown dimension, a column for each trace. No row is the same
# multiple of another one in all columns, nor the other one plus the same number.
PLACEHOLDER_SIZES = (
    (2, 3, 5, 4),
    (7, 4, 6, 9),
    (9, 11, 10, 6),
    (13, 12, 17, 8),
    (15, 19, 14, 11),
    (21, 16, 18, 23),
    (23, 29, 25, 20),
    (26, 31, 27, 37),
)
TRACE_COUNT = 4
MAX_CANDIDATES = 40  # sizes whose products are tried

Numbers = tuple[int, ...]  # one for each trace
Atom = tuple[int, int | None]  # number of a value, and axis; without an axis, the value itself


class NotGeneral(Exception):  # noqa: N818  not an error
    """Traces differ in a way that does not follow from sizes."""


class SizeScope:
    """The sizes that differ between the traces, of the values that exist so far.

    Attributes:
        atoms: where each size comes from.
        near: sizes of the inputs of the current node, which are tried first.
        first_input: number and shapes of the first input of the current node.
    """

    def __init__(self) -> None:
        """Start empty."""
        self.atoms: dict[Numbers, Atom] = {}
        self.near: list[Numbers] = []
        self.first_input: tuple[int, list[tuple[int, ...]]] | None = None

    def add_value(self, number: int, shapes: list[tuple[int, ...]]) -> None:
        """Add the sizes of a value, given its shape in each trace."""
        if any(len(shape) != len(shapes[0]) for shape in shapes):
            raise NotGeneral(f"a value with the shapes {shapes}")
        for axis, sizes in enumerate(zip(*shapes, strict=True)):
            if len(set(sizes)) > 1:
                self.atoms.setdefault(tuple(sizes), (number, axis))

    def add_integer(self, number: int, values: list[int]) -> None:
        """Add a value that Python has read, given the integer that it is in each trace."""
        if len(set(values)) == 1:
            raise CannotSave(f"a size in it depends on values, and was {values[0]} in all examples")
        self.atoms.setdefault(tuple(values), (number, None))

    def prefer(self, shapes: Iterable[list[tuple[int, ...]]]) -> None:
        """Try the sizes in these shapes first."""
        sizes = [tuple(s) for shape in shapes for s in zip(*shape, strict=True)]
        self.near = [s for s in dict.fromkeys(sizes) if s in self.atoms]

    def iterate_products(self, most: int = 3) -> Iterator[tuple[Numbers, list[Atom]]]:
        """Yield the products of up to `most` sizes, the likely ones first."""
        known = list(dict.fromkeys([*self.near, *self.atoms]))[:MAX_CANDIDATES]
        for count in range(1, most + 1):
            for chosen in combinations_with_replacement(known, count):
                numbers = tuple(int(np.prod(column)) for column in zip(*chosen, strict=True))
                yield numbers, [self.atoms[one] for one in chosen]

    def fit_integer(self, wanted: Numbers) -> Any:
        """The tree of integers that follow from sizes: {"$size": [factor, sizes, plus]}."""
        if wanted in self.atoms:
            return {"$size": [1, [list(self.atoms[wanted])], 0]}
        for offset in (False, True):
            for numbers, atoms in self.iterate_products(1 if offset else 3):
                fit = fit_line(wanted, numbers, offset)
                if fit is not None:
                    return {"$size": [fit[0], [list(a) for a in atoms], fit[1]]}
        raise NotGeneral(f"the numbers {wanted}")

    def fit_float(self, wanted: tuple[Any, ...]) -> Any:
        """The tree of floats that are multiples of sizes, or fractions of them."""
        given = np.array(wanted, np.float64)
        slack = 4 * float(np.finfo(wanted[0]).eps)
        for numbers, atoms in self.iterate_products():
            for power in (1, -1):
                factors = given / np.array(numbers, np.float64) ** power
                factor = float(np.round(factors[0], 4))
                if not np.allclose(factors, factor, rtol=slack, atol=0):
                    factor = float(factors[0])
                if np.allclose(factors, factor, rtol=slack, atol=0):
                    return {"$ratio": [factor, [list(a) for a in atoms], power]}
        raise NotGeneral(f"the numbers {wanted}")


def fit_line(wanted: Numbers, numbers: Numbers, offset: bool) -> tuple[int, int] | None:
    """Integers a and b with wanted = a * numbers + b; b is 0 unless an `offset` is allowed."""
    if not offset:
        a, rest = divmod(wanted[0], numbers[0]) if numbers[0] else (0, 1)
        fits = a > 0 and not rest and all(a * n == w for n, w in zip(numbers, wanted, strict=True))
        return (a, 0) if fits else None
    if numbers[0] == numbers[1]:
        return None
    a, rest = divmod(wanted[1] - wanted[0], numbers[1] - numbers[0])
    b = wanted[0] - a * numbers[0]
    fits = (
        bool(a) and not rest and all(a * n + b == w for n, w in zip(numbers, wanted, strict=True))
    )
    return (a, b) if fits else None


def same_padding(size: int, stride: int, reach: int) -> tuple[int, int]:
    """The padding SAME before and behind an axis of this size."""
    total = max((-(-size // stride) - 1) * stride + reach - size, 0)
    return total // 2, total - total // 2
