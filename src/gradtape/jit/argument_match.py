"""Matching the arguments of a concrete function: its tensors, and the Python values it fixes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gradtape.core import nest
from gradtape.core.spec import TensorSpec, TypeSpec
from gradtape.core.tensor import Tensor
from gradtape.jit.open_signature import component_specs_of
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


def leaves_of(structure: Any) -> list[Any]:
    """Tensors, specs and Python values of a structure; of a composite spec, its components."""
    flat = []
    for leaf in nest.flatten(structure, expand_composites=True):
        flat += component_specs_of(leaf) if isinstance(leaf, TypeSpec) else [leaf]
    return flat


def fill_specs(structure: Any, tensors: Iterable[Any]) -> Any:
    """A structure with tensors in place of the specs; of a composite spec, its components."""
    rest = iter(tensors)

    def fill_leaf(leaf: Any) -> Any:
        if isinstance(leaf, TensorSpec):
            return next(rest)
        if isinstance(leaf, TypeSpec):
            return leaf._from_components([next(rest) for _ in component_specs_of(leaf)])
        return leaf

    return nest.map_structure(fill_leaf, structure)


def select_tensors(value: Any, description: Any) -> list[Any]:
    """The tensors of a nested argument, after a check of the Python values in it."""
    leaves, wanted = nest.flatten(value, expand_composites=True), leaves_of(description)
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
