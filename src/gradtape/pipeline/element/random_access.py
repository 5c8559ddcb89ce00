"""Random access to elements: rows of tensors, and functions of rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.core.tensor import make_tensor
from gradtape.pipeline.element.structure import flatten_element, pack_element


def make_packer(structure: Any) -> Callable[[list[Any]], Any]:
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
    return lambda leaves: pack_element(structure, iter(leaves))


def make_picker(array: Any) -> Callable[[int], Any]:
    """Make a function that returns the i-th slice; a scalar string stays an array."""
    if array.dtype == object and array.ndim == 1:
        return lambda i: array[i, ...]
    found: Callable[[int], Any] = array.__getitem__
    return found


class Rows:
    """Elements that are slices of tensors along the first axis.

    Attributes:
        is_in_memory: whether a single element costs nothing, so that prefetching it is useless.
    """

    is_in_memory = True

    def __init__(self, element: Any) -> None:
        """Use the slices of the tensors of `element`."""
        self.arrays = [None if t is None else t._array for t in flatten_element(element)]
        self.pickers = [None if a is None else make_picker(a) for a in self.arrays]
        self.pack = make_packer(element)

    def __getitem__(self, i: Any) -> Any:
        """The i-th element."""
        return self.pack([None if pick is None else make_tensor(pick(i)) for pick in self.pickers])

    def gather_raw(self, indices: list[Any]) -> list[Any]:
        """Gather the raw components of a batch."""
        first, count = indices[0], len(indices)
        if indices[-1] - first == count - 1 and indices == list(range(first, first + count)):
            part: Any = slice(first, first + count)
        else:
            part = np.array(indices)
        return [None if a is None else a[part] for a in self.arrays]

    def gather_batch(self, indices: list[Any]) -> Any:
        """A batch of elements."""
        return self.pack(
            [None if raw is None else make_tensor(raw) for raw in self.gather_raw(indices)]
        )


class RangeRows(Rows):
    """The elements of `Dataset.range`, computed on access."""

    def __init__(self, numbers: range, dtype: Any) -> None:
        """Use these numbers, in a NumPy dtype."""
        self.numbers, self.dtype = numbers, dtype
        self.pack = make_packer(None)
        self.scalar = np.dtype(dtype).type

    def __getitem__(self, i: Any) -> Any:
        """The i-th number."""
        return make_tensor(self.scalar(self.numbers[i]))

    def gather_raw(self, indices: list[Any]) -> list[Any]:
        """A batch of numbers as a raw array."""
        return [np.array([self.numbers[i] for i in indices], self.dtype)]


class ZippedRows(Rows):
    """Tuples of elements of several rows; an index is a tuple of indices."""

    def __init__(self, parts: list[Rows]) -> None:
        """Combine one row of each of `parts`."""
        self.parts = parts
        self.is_in_memory = all(part.is_in_memory for part in parts)

    def __getitem__(self, i: Any) -> Any:
        """The elements with these indices."""
        return tuple([part[k] for part, k in zip(self.parts, i, strict=True)])

    def gather_raw(self, indices: list[Any]) -> list[Any]:
        """Gather the raw components of a batch, part by part."""
        columns = zip(*indices, strict=True)
        return [
            r for part, c in zip(self.parts, columns, strict=True) for r in part.gather_raw(list(c))
        ]

    def gather_batch(self, indices: list[Any]) -> Any:
        """A batch of elements."""
        columns = zip(*indices, strict=True)
        return tuple(
            [part.gather_batch(list(c)) for part, c in zip(self.parts, columns, strict=True)]
        )


class MappedRows(Rows):
    """A function of rows, computed a batch at a time."""

    is_in_memory = False

    def __init__(self, rows: Rows, one: Any, many: Any, pack: Any) -> None:
        """`one` takes an element, `batch_function` the raw components of a batch and its size."""
        self.rows, self.element_function, self.batch_function, self.pack = rows, one, many, pack

    def __getitem__(self, i: Any) -> Any:
        """The function of the i-th element."""
        return self.element_function(self.rows[i])

    def gather_raw(self, indices: list[Any]) -> list[Any]:
        """The raw components of a batch of results."""
        found: list[Any] = self.batch_function(self.rows.gather_raw(indices), len(indices))
        return found
