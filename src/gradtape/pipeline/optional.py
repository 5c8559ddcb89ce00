"""Optional: a value that may be absent, such as the next element of an iterator."""

from __future__ import annotations

from typing import Any

from gradtape.core.composite_tensor import CompositeTensor
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.spec import TypeSpec
from gradtape.core.tensor import Tensor
from gradtape.pipeline.element.structure import as_element, element_spec_of


class OptionalSpec(TypeSpec):
    """The spec of an Optional, which contains the spec of its value."""

    __slots__ = ("_value_structure",)

    @public
    def __init__(self, element_spec: Any) -> None:
        """Describe Optionals whose value has this spec."""
        self._value_structure = element_spec

    @staticmethod
    @public
    def from_value(value: Any) -> OptionalSpec:
        """The spec of a value.

        Args:
            value: an Optional.

        Returns:
            A new `OptionalSpec`.
        """
        return OptionalSpec(value.element_spec)

    @property
    def value_type(self) -> Any:
        """The class Optional."""
        return Optional

    @property
    def _component_specs(self) -> Any:
        return [self._value_structure]

    def _to_components(self, value: Any) -> Any:
        return [value._value] if value._present else []

    def _from_components(self, components: Any) -> Any:
        if not components:
            return Optional.empty(self._value_structure)
        return Optional(components[0], self._value_structure, True)

    def _serialize(self) -> tuple[Any, ...]:
        return (self._value_structure,)


class Optional(CompositeTensor):
    """A value that may be absent."""

    @public
    def __init__(self, value: Any, element_spec: Any, present: bool) -> None:
        """Use `from_value` or `empty`."""
        self._value = value
        self._element_spec = element_spec
        self._present = present

    @classmethod
    @public
    def from_value(cls, value: Any) -> Optional:
        """An Optional that holds `value`, a structure of tensors.

        Args:
            value: a tensor or a nested structure of tensors.

        Returns:
            An `Optional`.
        """
        element = as_element(value)
        return cls(element, element_spec_of(element), True)

    @classmethod
    @public
    def empty(cls, element_spec: Any) -> Optional:
        """An empty Optional for values of this spec.

        Args:
            element_spec: the spec of the values, possibly nested.

        Returns:
            An `Optional`.
        """
        return cls(None, element_spec, False)

    @public
    def has_value(self, name: str | None = None) -> Tensor:
        """Whether there is a value, as a scalar tensor.

        Args:
            name: ignored.

        Returns:
            A boolean tensor.
        """
        return convert(self._present)

    @public
    def get_value(self, name: str | None = None) -> Any:
        """The value.

        Args:
            name: ignored.

        Returns:
            A tensor or a nested structure of tensors.

        Raises:
            InvalidArgumentError: if there is none.
        """
        if not self._present:
            raise InvalidArgumentError(
                "Optional: get_value needs a value. Received an empty Optional. "
                "Check has_value() first."
            )
        return self._value

    @property
    def element_spec(self) -> Any:
        """Spec of the value."""
        return self._element_spec

    @property
    def _type_spec(self) -> OptionalSpec:
        return OptionalSpec(self._element_spec)
