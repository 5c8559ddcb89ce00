"""One graph out of several traces of a function on arguments of different sizes.

A trace knows all its shapes. Where the traces of one function on several sizes differ, the
difference must follow from sizes: a number is a polynomial in the sizes of values that were there
before, an array is filled with such a number or counts upwards. What follows from sizes in another
way cannot be told, and is an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from gradtape.tf.saved_model.node_encoder import CannotSave

# Stand-ins for unknown sizes, a row for each of them; a column is one trace. No row is the
# same multiple of another everywhere, nor the other plus a number.
SIZES = (
    (2, 3, 5, 4),
    (7, 4, 6, 9),
    (9, 11, 10, 6),
    (13, 12, 17, 8),
    (15, 19, 14, 11),
    (21, 16, 18, 23),
    (23, 29, 25, 20),
    (26, 31, 27, 37),
)
TRACES = 4
WINDOW = "gradtape.ops.convolution.window:Window"
SMALL = 64  # elements of an array that are looked at one by one

Numbers = tuple[int, ...]  # one for each trace
Atom = tuple[int, int | None]  # number of a value, axis; None: the value itself, an integer


class NotGeneral(Exception):  # noqa: N818  not an error
    """Traces differ in a way that does not follow from sizes."""


class Scope:
    """Sizes of values that are there, as far as they differ between the traces."""

    def __init__(self) -> None:
        """None yet."""
        self.atoms: dict[Numbers, Atom] = {}
        self.near: list[Numbers] = []  # those of the inputs of the node at hand
        self.first: tuple[int, list[tuple[int, ...]]] | None = None  # its first input

    def add(self, number: int, shapes: list[tuple[int, ...]]) -> None:
        """A value is there, with this shape in each trace."""
        if any(len(shape) != len(shapes[0]) for shape in shapes):
            raise NotGeneral(f"a value with the shapes {shapes}")
        for axis, sizes in enumerate(zip(*shapes, strict=True)):
            if len(set(sizes)) > 1:
                self.atoms.setdefault(tuple(sizes), (number, axis))

    def count(self, number: int, values: list[int]) -> None:
        """A value that Python looked at: an integer in each trace."""
        if len(set(values)) == 1:
            raise CannotSave(f"a size that follows from values, {values[0]} in all examples")
        self.atoms.setdefault(tuple(values), (number, None))

    def look_at(self, shapes: Iterable[list[tuple[int, ...]]]) -> None:
        """Prefer the sizes in these shapes from now on."""
        sizes = [tuple(s) for shape in shapes for s in zip(*shape, strict=True)]
        self.near = [s for s in dict.fromkeys(sizes) if s in self.atoms]

    def products(self, most: int = 3) -> Iterator[tuple[Numbers, list[Atom]]]:
        """Products of up to `most` sizes, the likely ones first."""
        known = list(dict.fromkeys([*self.near, *self.atoms]))[:40]
        for count in range(1, most + 1):
            for chosen in combinations_with_replacement(known, count):
                numbers = tuple(int(np.prod(column)) for column in zip(*chosen, strict=True))
                yield numbers, [self.atoms[one] for one in chosen]

    def size(self, wanted: Numbers) -> Any:
        """How integers follow from sizes: {"$size": [factor, sizes, plus]}."""
        if wanted in self.atoms:
            return {"$size": [1, [list(self.atoms[wanted])], 0]}
        for offset in (False, True):
            for numbers, atoms in self.products(1 if offset else 3):
                fit = linear(wanted, numbers, offset)
                if fit is not None:
                    return {"$size": [fit[0], [list(a) for a in atoms], fit[1]]}
        raise NotGeneral(f"the numbers {wanted}")

    def ratio(self, wanted: tuple[Any, ...]) -> Any:
        """How numbers that are no integers follow from sizes, as multiples or fractions of them."""
        given = np.array(wanted, np.float64)
        slack = 4 * float(np.finfo(wanted[0]).eps)
        for numbers, atoms in self.products():
            for power in (1, -1):
                factors = given / np.array(numbers, np.float64) ** power
                factor = float(np.round(factors[0], 4))
                if not np.allclose(factors, factor, rtol=slack, atol=0):
                    factor = float(factors[0])
                if np.allclose(factors, factor, rtol=slack, atol=0):
                    return {"$ratio": [factor, [list(a) for a in atoms], power]}
        raise NotGeneral(f"the numbers {wanted}")


def linear(wanted: Numbers, numbers: Numbers, offset: bool) -> tuple[int, int] | None:
    """Integers a and b with wanted = a * numbers + b; b is 0 unless there may be an `offset`."""
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


def merged(trees: list[Any], scope: Scope) -> Any:
    """One tree for several that differ by sizes.

    Raises:
        NotGeneral: if they differ otherwise.
    """
    first = trees[0]
    if any(type(tree) is not type(first) for tree in trees):
        raise NotGeneral(f"{first!r} or {trees[1]!r}")
    if isinstance(first, dict):
        return merged_dicts(trees, scope)
    if isinstance(first, list):
        if any(len(tree) != len(first) for tree in trees):
            raise NotGeneral(f"{first!r:.60} or {trees[1]!r:.60}")
        return [merged(list(items), scope) for items in zip(*trees, strict=True)]
    if isinstance(first, (np.ndarray, np.generic)):
        return merged_arrays(trees, scope)
    if all(same(tree, first) for tree in trees):
        return first
    if type(first) is int:
        return scope.size(tuple(trees))
    if type(first) is float:
        return scope.ratio(tuple(trees))
    raise NotGeneral(f"{first!r} or {trees[1]!r}")


def merged_dicts(trees: list[Any], scope: Scope) -> Any:
    """One dict for several."""
    first = trees[0]
    if any(tree.keys() != first.keys() for tree in trees):
        raise NotGeneral(f"{first!r:.60} or {trees[1]!r:.60}")
    if first.get("$fields", [""])[0] == WINDOW:
        return merged_windows(trees, scope)
    return {key: merged([tree[key] for tree in trees], scope) for key in first}


def merged_windows(trees: list[Any], scope: Scope) -> Any:
    """One window for several whose paddings make the output as large as the input, by strides."""
    windows = [tree["$fields"][1] for tree in trees]
    kept = [merged(list(part), scope) for part in zip(*[w[:3] for w in windows], strict=True)]
    paddings = [w[3] for w in windows]
    try:
        return {"$fields": [WINDOW, [*kept, merged(paddings, scope)]]}
    except NotGeneral:
        if scope.first is None:
            raise
    number, shapes = scope.first
    sizes, strides, dilations = (part["$tuple"] for part in kept)
    start = len(shapes[0]) - 1 - len(sizes)
    found = []
    for i, (size, stride, dilation) in enumerate(zip(sizes, strides, dilations, strict=True)):
        reach = (size - 1) * dilation + 1
        given = [tuple(p["$tuple"][i]["$tuple"]) for p in paddings]
        if given != [same_padding(shape[start + i], stride, reach) for shape in shapes]:
            found.append(merged([p["$tuple"][i] for p in paddings], scope))
        else:
            found.append({"$padding": [[number, start + i], stride, reach]})
    return {"$fields": [WINDOW, [*kept, {"$tuple": found}]]}


def same_padding(size: int, stride: int, reach: int) -> tuple[int, int]:
    """What `SAME` puts before and behind an axis."""
    total = max((-(-size // stride) - 1) * stride + reach - size, 0)
    return total // 2, total - total // 2


def same(a: Any, b: Any) -> bool:
    """Whether two leaves are equal; NaN equals itself."""
    return bool(a == b or (a != a and b != b))


def merged_arrays(arrays: list[Any], scope: Scope) -> Any:
    """One constant for several that differ by sizes."""
    first = arrays[0]
    if any(a.dtype != first.dtype or a.ndim != first.ndim for a in arrays):
        raise NotGeneral(f"constants {[(a.dtype.name, a.shape) for a in arrays]}")
    alike = all(a.shape == first.shape for a in arrays)
    if alike and all(a.tobytes() == first.tobytes() for a in arrays) and first.dtype != object:
        return first
    if alike and first.dtype == object and all(np.array_equal(a, first) for a in arrays):
        return first
    name = first.dtype.name
    shape = [merged(list(sizes), scope) for sizes in zip(*(a.shape for a in arrays), strict=True)]
    if all(a.size and (a == a.flat[0]).all() for a in arrays):
        return {"$filled": [shape, merged_scalars([a.flat[0] for a in arrays], scope), name]}
    if alike and first.size <= SMALL and first.dtype.kind in "iuf":
        columns = zip(*(a.flat for a in arrays), strict=True)
        elements = [merged_scalars(list(column), scope) for column in columns]
        return {"$elements": [shape, elements, name]}
    if first.ndim == 1 and first.dtype.kind in "iuf":
        steps = [ramp_of(a) for a in arrays]
        start = merged_scalars([a[0] for a in arrays], scope)
        return {"$ramp": [shape[0], start, merged_scalars(steps, scope), name]}
    if first.ndim >= 2:
        parts = [triangle_of(a) for a in arrays]
        numbers = [merged_scalars(list(column), scope) for column in zip(*parts, strict=True)]
        return {"$triangle": [shape, *numbers, name]}
    raise NotGeneral(f"constants of the shapes {[a.shape for a in arrays]}")


def merged_scalars(values: list[Any], scope: Scope) -> Any:
    """One number, string or expression for what several arrays hold."""
    plain = [v.item() if hasattr(v, "item") else v for v in values]
    if type(plain[0]) is float and not all(same(p, plain[0]) for p in plain):
        return scope.ratio(tuple(values))
    return merged(plain, scope)


def triangle_of(array: Any) -> tuple[int, Any, Any]:
    """Of an array with one value below a diagonal and another above: the diagonal and both."""
    rows, columns = array.shape[-2:]
    below = np.subtract.outer(np.arange(rows), np.arange(columns))
    corner = (0,) * (array.ndim - 2)
    lower, upper = array[*corner, rows - 1, 0], array[*corner, 0, columns - 1]
    marked = array[corner] == lower
    diagonal = int(below[marked].min()) if marked.any() else 0
    if lower == upper or not (array == np.where(below >= diagonal, lower, upper)).all():
        raise NotGeneral(f"constants of the shape {array.shape}")
    return diagonal, lower, upper


def ramp_of(array: Any) -> Any:
    """The step of an array that counts."""
    step = array[1] - array[0] if len(array) > 1 else array.dtype.type(0)
    counted = array[0] + step * np.arange(len(array)).astype(array.dtype)
    if not np.allclose(counted, array, rtol=1e-6, atol=0):
        raise NotGeneral(f"constants such as {array}")
    return step
