"""Arrays of a model: the tree that JSON holds refers to them by number."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradtape.tf.saved_model.failure import MalformedModel
from gradtape.tf.saved_model.tree_check import expect_index


class ConstantPool:
    """Collects the arrays of a model, each once.

    Attributes:
        arrays: the arrays.
        numbers: the number of each array, by dtype, shape and content.
    """

    def __init__(self) -> None:
        """Start empty."""
        self.arrays: list[Any] = []
        self.numbers: dict[Any, int] = {}

    def add_array(self, array: Any) -> int:
        """The number of an array, which is added if it is new."""
        content = tuple(array.flat) if array.dtype == object else array.tobytes()
        key = (array.dtype.str, array.dtype.name, array.shape, content)
        if key not in self.numbers:
            self.numbers[key] = len(self.arrays)
            self.arrays.append(array)
        return self.numbers[key]

    def pack(self, tree: Any) -> Any:
        """A tree without arrays and without floats that JSON lacks."""
        if isinstance(tree, dict):
            return {key: self.pack(value) for key, value in tree.items()}
        if isinstance(tree, (list, tuple)):
            return [self.pack(value) for value in tree]
        if isinstance(tree, np.ndarray):
            return {"$constant": self.add_array(tree)}
        if type(tree) is float and not math.isfinite(tree):
            return {"$float": str(tree)}
        return tree

    def named_arrays(self) -> dict[str, Any]:
        """The arrays by their key in the file."""
        return {constant_key(i): array for i, array in enumerate(self.arrays)}


def constant_key(number: int) -> str:
    """The key of an array in the file of constants."""
    return f"{number:06d}"


def unpack_constants(tree: Any, arrays: list[Any]) -> Any:
    """A tree with the arrays in place of their numbers.

    Raises:
        MalformedModel: if there is no array of a number.
    """
    if isinstance(tree, dict):
        if "$constant" in tree:
            if len(tree) != 1:
                raise MalformedModel("a constant has no attribute but its number")
            return arrays[expect_index(tree["$constant"], len(arrays), "constant")]
        return {key: unpack_constants(value, arrays) for key, value in tree.items()}
    if isinstance(tree, list):
        return [unpack_constants(value, arrays) for value in tree]
    return tree
