"""CompositeTensor: what is made of tensors without being one, such as variables, slices, datasets and iterators."""

from abc import ABC


class CompositeTensor(ABC):  # noqa: B024 - a mark for isinstance; there is nothing to implement
    """Base of what is made of tensors; lower layers are registered with it, higher ones inherit it."""

    __slots__ = ()
