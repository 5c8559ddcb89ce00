"""CompositeTensor: what is made of tensors without being one, as variables and datasets are."""

from abc import ABC


class CompositeTensor(ABC):  # noqa: B024 - a mark for isinstance; there is nothing to implement
    """Base of what is made of tensors, by inheritance or by registration."""

    __slots__ = ()
