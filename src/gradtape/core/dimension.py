"""Dimension, one size of a TensorFlow 1 shape, and the conversion of values to sizes."""

import operator
from collections.abc import Callable
from typing import Any

Size = int | None
"""The size of one axis; None if it is unknown."""


def as_size(value: Any) -> Size:
    """Convert an integer, a Dimension or an object with `__index__` to a size."""
    if value is None or isinstance(value, int):
        size = value
    elif isinstance(value, Dimension):
        size = value.value
    else:
        try:
            size = operator.index(value)
        except TypeError:
            from gradtape.core.argument import describe

            raise TypeError(
                "TensorShape: Dimension value must be integer or None or have an __index__ method, "
                f"got value {describe(value)} with type {type(value)!r}"
            ) from None
    if size is not None and size < 0:
        raise ValueError(f"TensorShape: Dimension {size} must be >= 0")
    return size


def _dimension_operator(
    combine: Callable[[int, int], int], swap: bool = False
) -> Callable[[Any, Any], Any]:
    """Make an operator on Dimensions; the result is unknown if an operand is."""

    def apply(self: "Dimension", other: Any) -> Any:
        try:
            x, y = self.value, as_size(other)
        except (TypeError, ValueError):
            return NotImplemented
        if x is None or y is None:
            return Dimension(None)
        return Dimension(combine(y, x) if swap else combine(x, y))

    return apply


def _dimension_comparison(holds: Callable[[int, int], bool]) -> Callable[[Any, Any], Any]:
    """Make a comparison of Dimensions; the result is None if an operand is unknown."""

    def apply(self: "Dimension", other: Any) -> Any:
        try:
            x, y = self.value, as_size(other)
        except (TypeError, ValueError):
            return NotImplemented
        return None if x is None or y is None else holds(x, y)

    return apply


class Dimension:
    """One size of a TensorFlow 1 shape; TensorFlow 2 uses integers and None."""

    __slots__ = ("_value",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, value: Any) -> None:
        self._value = as_size(value)

    @property
    def value(self) -> Size:
        """The size, or None."""
        return self._value

    def is_compatible_with(self, other: Any) -> bool:
        """Whether both may be the same size."""
        size = as_size(other)
        return self._value is None or size is None or self._value == size

    def assert_is_compatible_with(self, other: Any) -> None:
        """Raise ValueError if the two cannot be the same size."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Dimensions {self} and {other} are not compatible")

    def merge_with(self, other: Any) -> "Dimension":
        """The size that either Dimension knows."""
        self.assert_is_compatible_with(other)
        return Dimension(other if self._value is None else self)

    __add__ = __radd__ = _dimension_operator(operator.add)
    __mul__ = __rmul__ = _dimension_operator(operator.mul)
    __sub__, __rsub__ = (
        _dimension_operator(operator.sub),
        _dimension_operator(operator.sub, swap=True),
    )
    __floordiv__, __rfloordiv__ = (
        _dimension_operator(operator.floordiv),
        _dimension_operator(operator.floordiv, swap=True),
    )
    __mod__, __rmod__ = (
        _dimension_operator(operator.mod),
        _dimension_operator(operator.mod, swap=True),
    )
    __eq__, __ne__ = _dimension_comparison(operator.eq), _dimension_comparison(operator.ne)
    __lt__, __le__ = _dimension_comparison(operator.lt), _dimension_comparison(operator.le)
    __gt__, __ge__ = _dimension_comparison(operator.gt), _dimension_comparison(operator.ge)

    def __bool__(self) -> bool:
        return bool(self._value)

    def __index__(self) -> int:
        if self._value is None:
            raise TypeError("An unknown Dimension has no integer value.")
        return self._value

    __int__ = __index__

    def __repr__(self) -> str:
        return f"Dimension({self._value})"

    def __str__(self) -> str:
        return "?" if self._value is None else str(self._value)
