"""CompositeTensor: the base class of values that are made of tensors, such as variables."""

from abc import ABC


class CompositeTensor(ABC):  # noqa: B024 - only for isinstance; it has no methods
    """Base class of values made of tensors, by inheritance or by registration."""

    __slots__ = ()
