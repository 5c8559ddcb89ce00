"""Random access to elements: rows of tensors, and functions of rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.core.tensor import eager
from gradtape.pipeline.element.structure import flatten, packed


def packer(structure: Any) -> Callable[[list[Any]], Any]:
    """Make a function that packs leaves like `structure`; fast for common structures."""
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
    """Make a function that returns the i-th slice; a scalar string stays an array."""
    if array.dtype == object and array.ndim == 1:
        return lambda i: array[i, ...]
    found: Callable[[int], Any] = array.__getitem__
    return found


class Rows:
    """Elements that are slices of tensors along the first axis.

    Attributes:
        at_hand: whether a single element costs nothing, so that prefetching it is useless.
    """

    at_hand = True

    def __init__(self, element: Any) -> None:
        """Use the slices of the tensors of `element`."""
        self.arrays = [None if t is None else t._array for t in flatten(element)]
        self.pick = [None if a is None else picker(a) for a in self.arrays]
        self.pack = packer(element)

    def __getitem__(self, i: Any) -> Any:
        """The i-th element."""
        return self.pack([None if pick is None else eager(pick(i)) for pick in self.pick])

    def raws(self, indices: list[Any]) -> list[Any]:
        """Gather the raw components of a batch."""
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
    """The elements of `Dataset.range`, computed on access."""

    def __init__(self, numbers: range, dtype: Any) -> None:
        """Use these numbers, in a NumPy dtype."""
        self.numbers, self.dtype = numbers, dtype
        self.pack = packer(None)
        self.scalar = np.dtype(dtype).type

    def __getitem__(self, i: Any) -> Any:
        """The i-th number."""
        return eager(self.scalar(self.numbers[i]))

    def raws(self, indices: list[Any]) -> list[Any]:
        """A batch of numbers as a raw array."""
        return [np.array([self.numbers[i] for i in indices], self.dtype)]


class Zipped(Rows):
    """Tuples of elements of several rows; an index is a tuple of indices."""

    def __init__(self, parts: list[Rows]) -> None:
        """Combine one row of each of `parts`."""
        self.parts = parts
        self.at_hand = all(part.at_hand for part in parts)

    def __getitem__(self, i: Any) -> Any:
        """The elements with these indices."""
        return tuple([part[k] for part, k in zip(self.parts, i, strict=True)])

    def raws(self, indices: list[Any]) -> list[Any]:
        """Gather the raw components of a batch, part by part."""
        columns = zip(*indices, strict=True)
        return [r for part, c in zip(self.parts, columns, strict=True) for r in part.raws(list(c))]

    def batch(self, indices: list[Any]) -> Any:
        """A batch of elements."""
        columns = zip(*indices, strict=True)
        return tuple([part.batch(list(c)) for part, c in zip(self.parts, columns, strict=True)])


class Mapped(Rows):
    """A function of rows, computed a batch at a time."""

    at_hand = False

    def __init__(self, rows: Rows, one: Any, many: Any, pack: Any) -> None:
        """`one` takes an element; `many` takes the raw components of a batch and its size."""
        self.rows, self.one, self.many, self.pack = rows, one, many, pack

    def __getitem__(self, i: Any) -> Any:
        """The function of the i-th element."""
        return self.one(self.rows[i])

    def raws(self, indices: list[Any]) -> list[Any]:
        """The raw components of a batch of results."""
        found: list[Any] = self.many(self.rows.raws(indices), len(indices))
        return found
