"""Attributes that eager tensors lack: those of NumPy arrays and those of symbolic tensors."""

from __future__ import annotations

from typing import Any, NoReturn


class MissingAttribute:
    """Descriptor for an attribute of NumPy arrays that tensors lack; raises AttributeError.

    A `__getattr__` of the class would do the same, but it would slow down every `tensor.uid`.
    """

    def __init__(self, name: str) -> None:
        """Store the name of the attribute."""
        self.name = name

    def __get__(self, instance: Any, owner: type) -> NoReturn:
        """Raise AttributeError, which says what to use instead."""
        raise AttributeError(
            f"{owner.__name__} object has no attribute {self.name!r}. Tensors lack NumPy's "
            f"methods: use the function of tf, or .numpy().{self.name}."
        )


class GraphOnlyAttributes:
    """What only symbolic tensors have; eager tensors raise the error that TensorFlow raises."""

    __slots__ = ()

    @property
    def name(self) -> NoReturn:
        """Undefined for eager tensors."""
        raise AttributeError("Tensor.name is undefined when eager execution is enabled.")

    @property
    def op(self) -> NoReturn:
        """Undefined for eager tensors."""
        raise AttributeError("Tensor.op is undefined when eager execution is enabled.")

    @property
    def graph(self) -> NoReturn:
        """Undefined for eager tensors."""
        raise AttributeError("Tensor.graph is undefined when eager execution is enabled.")

    @property
    def value_index(self) -> NoReturn:
        """Undefined for eager tensors."""
        raise AttributeError("Tensor.value_index is undefined when eager execution is enabled.")

    def consumers(self) -> NoReturn:
        """Undefined for eager tensors."""
        raise NotImplementedError("Tensor.consumers is undefined when eager execution is enabled.")

    def eval(self, feed_dict: Any = None, session: Any = None) -> NoReturn:
        """Undefined for eager tensors."""
        raise NotImplementedError(
            "eval is not supported when eager execution is enabled. Use .numpy() to get the value."
        )
