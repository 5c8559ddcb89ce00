"""Matching the arguments of a concrete function: its tensors, and the Python values it fixes."""

from __future__ import annotations

from typing import Any

from gradtape.core import nest
from gradtape.core.spec import TensorSpec
from gradtape.core.tensor import Tensor
from gradtape.tape.source import variable_of


def has_dtype(leaf: Any) -> bool:
    """Whether an argument is a tensor, a variable or an array."""
    return isinstance(leaf, Tensor) or variable_of(leaf) is not None or hasattr(leaf, "dtype")


def check_literal(value: Any, literal: Any) -> None:
    """Raise unless a Python value is the one that the function was traced with."""
    if value is not literal and value != literal:
        raise TypeError(
            f"Binding inputs to tf.function failed due to `Can not cast {value!r} to "
            f"Literal[{literal!r}]`. Call the tf.function instead, or trace it with this value."
        )


def select_tensors(value: Any, description: Any) -> list[Any]:
    """The tensors of a nested argument, after a check of the Python values in it."""
    leaves, wanted = nest.flatten(value, expand_composites=True), nest.flatten(description)
    if all(isinstance(one, TensorSpec) for one in wanted):
        return leaves
    if len(leaves) != len(wanted):
        raise TypeError(
            f"Binding inputs to tf.function failed: an argument like {description} was expected. "
            f"Received {value}."
        )
    tensors = []
    for leaf, one in zip(leaves, wanted, strict=True):
        if isinstance(one, TensorSpec):
            tensors.append(leaf)
        else:
            check_literal(leaf, one)
    return tensors
