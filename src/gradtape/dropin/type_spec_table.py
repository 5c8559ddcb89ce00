"""TypeSpecs of values and variables, as in TensorFlow's private modules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtape.core.sparse_tensor import SparseTensor
from gradtape.core.spec import TensorSpec, TypeSpec
from gradtape.core.tensor import Tensor
from gradtape.state.variable.variable import Variable


class BatchableTypeSpec(TypeSpec):
    """A TypeSpec whose values can be batched."""


class VariableSpec(TensorSpec):
    """The shape and dtype of a variable."""

    __slots__ = ("trainable",)

    def __init__(
        self, shape: Any, dtype: Any = "float32", trainable: bool = True, alias_id: Any = None
    ) -> None:
        """Describe a variable."""
        super().__init__(shape, dtype)
        self.trainable = trainable

    @property
    def value_type(self) -> Any:
        """The class Variable."""
        return Variable


def type_spec_from_value(value: Any) -> Any:
    """The TypeSpec of a value.

    Raises:
        TypeError: if it has none.
    """
    if isinstance(value, (Tensor, SparseTensor)) or hasattr(value, "_type_spec"):
        found = getattr(value, "_type_spec", None)
        return TensorSpec(value.shape, value.dtype) if found is None else found
    for kind, convert_value in CONVERTERS:
        if isinstance(value, kind):
            return convert_value(value)
    raise TypeError(f"Could not build a TypeSpec for {value!r} with type {type(value).__name__}.")


CONVERTERS: list[tuple[Any, Callable[[Any], Any]]] = []


def register_type_spec_from_value_converter(
    type_object: Any, converter_fn: Callable[[Any], Any], allow_subclass: bool = False
) -> None:
    """Register a function that makes the TypeSpec of values of a class."""
    CONVERTERS.append((type_object, converter_fn))


def convert_variables_to_tensors(values: Any) -> Any:
    """A structure with tensors in place of variables."""
    from gradtape.core import nest

    return nest.map_structure(lambda v: v.read_value() if isinstance(v, Variable) else v, values)
