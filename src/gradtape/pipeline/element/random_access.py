"""Elements that are known by a number: rows of tensors, and what functions make of rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.core.tensor import eager
from gradtape.pipeline.element.structure import flatten, packed


def packer(structure: Any) -> Callable[[list[Any]], Any]:
    """A function that packs leaves like `structure`, quick for the usual ones."""
    if not isinstance(structure, (tuple, dict)) and not hasattr(structure, "keys"):
        return lambda leaves: leaves[0]
    inner = structure.values() if hasattr(structure, "keys") else structure
    if not any(isinstance(s, tuple) or hasattr(s, "keys") for s in inner):
        if type(structure) is tuple:
            return tuple
        if type(structure) is dict:
            places = {key: i for i, key in enumerate(sorted(structure))}
            order = [(key, places[key]) for key in structure]
            return lambda leaves: {key: leaves[i] for key, i in order}
    return lambda leaves: packed(structure, iter(leaves))


def picker(array: Any) -> Callable[[int], Any]:
    """A function that gives the i-th slice; a string without axes stays in an array."""
    if array.dtype == object and array.ndim == 1:
        return lambda i: array[i, ...]
    found: Callable[[int], Any] = array.__getitem__
    return found


class Rows:
    """Tensors whose slices along the first axis are the elements.

    Attributes:
        at_hand: whether a single element costs nothing, so that it need not be made in a thread.
    """

    at_hand = True

    def __init__(self, element: Any) -> None:
        """The slices of the tensors of `element`."""
        self.arrays = [None if t is None else t._array for t in flatten(element)]
        self.pick = [None if a is None else picker(a) for a in self.arrays]
        self.pack = packer(element)

    def __getitem__(self, i: Any) -> Any:
        """The i-th element."""
        return self.pack([None if pick is None else eager(pick(i)) for pick in self.pick])

    def raws(self, indices: list[Any]) -> list[Any]:
        """The components of a batch, raw, gathered at once."""
        first, count = indices[0], len(indices)
        if indices[-1] - first == count - 1 and indices == list(range(first, first + count)):
            part: Any = slice(first, first + count)
        else:
            part = np.array(indices)
        return [None if a is None else a[part] for a in self.arrays]

    def batch(self, indices: list[Any]) -> Any:
        """A batch of elements."""
        return self.pack([None if raw is None else eager(raw) for raw in self.raws(indices)])


class Numbers(Rows):
    """The elements of `range`: they are not there, but known."""

    def __init__(self, numbers: range, dtype: Any) -> None:
        """The `numbers` in a dtype of NumPy."""
        self.numbers, self.dtype = numbers, dtype
        self.pack = packer(None)
        self.scalar = np.dtype(dtype).type

    def __getitem__(self, i: Any) -> Any:
        """The i-th number."""
        return eager(self.scalar(self.numbers[i]))

    def raws(self, indices: list[Any]) -> list[Any]:
        """A batch of numbers, raw."""
        return [np.array([self.numbers[i] for i in indices], self.dtype)]


class Zipped(Rows):
    """Elements of several rows side by side; an index is a tuple of theirs."""

    def __init__(self, parts: list[Rows]) -> None:
        """One row of each of `parts`."""
        self.parts = parts
        self.at_hand = all(part.at_hand for part in parts)

    def __getitem__(self, i: Any) -> Any:
        """The elements with these indices."""
        return tuple([part[k] for part, k in zip(self.parts, i, strict=True)])

    def raws(self, indices: list[Any]) -> list[Any]:
        """The components of a batch, raw, of one part after another."""
        columns = zip(*indices, strict=True)
        return [r for part, c in zip(self.parts, columns, strict=True) for r in part.raws(list(c))]

    def batch(self, indices: list[Any]) -> Any:
        """A batch of elements."""
        columns = zip(*indices, strict=True)
        return tuple([part.batch(list(c)) for part, c in zip(self.parts, columns, strict=True)])


class Mapped(Rows):
    """What a function makes of rows, a batch at a time."""

    at_hand = False

    def __init__(self, rows: Rows, one: Any, many: Any, pack: Any) -> None:
        """`one` of an element, or `many` of the raw components of a batch and their number."""
        self.rows, self.one, self.many, self.pack = rows, one, many, pack

    def __getitem__(self, i: Any) -> Any:
        """The function of the i-th element."""
        return self.one(self.rows[i])

    def raws(self, indices: list[Any]) -> list[Any]:
        """The components of a batch of results, raw."""
        found: list[Any] = self.many(self.rows.raws(indices), len(indices))
        return found
