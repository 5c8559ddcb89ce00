"""A user's function of elements, called as a compiled graph; where that cannot be, as Python."""

from __future__ import annotations

from typing import Any

from gradtape.core.composite import CompositeTensor
from gradtape.core.tensor import Tensor
from gradtape.staging.function import Function


class Traced:
    """A function that `Dataset.map` and its like call for every element."""

    def __init__(self, python_function: Any) -> None:
        """Compile `python_function` when it is first called."""
        self.python_function = python_function
        if isinstance(python_function, Function):
            self.function = python_function
        else:
            name = getattr(python_function, "__name__", "map_func")
            self.function = Function(python_function, name)
            self.function.warns = False  # a dataset that is made anew has a function of its own

    def __call__(self, *element: Any) -> Any:
        """Call the function; elements that are more than tensors go to the Python."""
        if all(is_plain(part) for part in element):
            return self.function(*element)
        return self.python_function(*element)


def is_plain(part: Any) -> bool:
    """Whether a part of an element is a tensor or a structure of nothing else."""
    if isinstance(part, Tensor):
        return True
    if isinstance(part, dict):
        return all(map(is_plain, part.values()))
    if isinstance(part, (tuple, list)):
        return all(map(is_plain, part))
    return not isinstance(part, CompositeTensor)
