"""Hashable references to tensors and variables, which are not hashable themselves."""

from __future__ import annotations

from typing import Any


class Reference:
    """A hashable reference to a tensor or variable; equal if it refers to the same object."""

    __slots__ = ("_object",)

    def __init__(self, thing: Any) -> None:
        """Refer to `thing`."""
        self._object = thing

    def deref(self) -> Any:
        """The object referred to."""
        return self._object

    def __hash__(self) -> int:
        """The identity of the object."""
        return id(self._object)

    def __eq__(self, other: object) -> bool:
        """Whether both refer to the same object."""
        if other is None:
            return False
        if not isinstance(other, Reference):
            raise TypeError(
                "Cannot compare a reference with the object itself. Call ref() on both."
            )
        return self._object is other._object

    def __lt__(self, other: Reference) -> bool:
        """An arbitrary order, so that dicts with references as keys can be flattened."""
        return id(self._object) < id(other._object)

    def __repr__(self) -> str:
        """The repr of TensorFlow."""
        return f"<Reference wrapping {self._object!r}>"
