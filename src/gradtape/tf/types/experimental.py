"""tf.types.experimental: names for annotations, and how an object says what shares its traces."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any, Protocol, Union, runtime_checkable

from gradtape.core.tensor import Tensor
from gradtape.jit.concrete_function import ConcreteFunction as ConcreteFunction
from gradtape.jit.function import Function

GenericFunction = PolymorphicFunction = Function
TensorLike = Union[Tensor, int, float, bool, str, bytes, complex, Sequence[Any]]  # noqa: UP007


class TraceType(abc.ABC):
    """What `tf.function` knows of an argument; arguments whose types are equal share a trace.

    Example:
        >>> class Kind(tf.types.experimental.TraceType):
        ...     def __init__(self, of): self.of = type(of)
        ...     def is_subtype_of(self, other): return self == other
        ...     def most_specific_common_supertype(self, others): return None
        ...     def placeholder_value(self, placeholder_context=None): return None
        ...     def __eq__(self, other): return type(other) is Kind and self.of is other.of
        ...     def __hash__(self): return hash(self.of)
        >>> class Apple:
        ...     weight = 3
        ...     def __tf_tracing_type__(self, context): return Kind(self)
        >>> weigh = tf.function(lambda fruit: tf.constant(fruit.weight))
        >>> _ = weigh(Apple()), weigh(Apple())
        >>> weigh.experimental_get_tracing_count()
        1

    Note:
        The trace sees the argument itself, not its `placeholder_value`; only equality counts.
    """

    @abc.abstractmethod
    def is_subtype_of(self, other: TraceType) -> bool:
        """Whether what is traced for `other` serves for this."""

    @abc.abstractmethod
    def most_specific_common_supertype(self, others: Sequence[TraceType]) -> TraceType | None:
        """A type that serves for all of them, if there is one."""

    @abc.abstractmethod
    def placeholder_value(self, placeholder_context: Any = None) -> Any:
        """What stands for the argument in a trace."""

    @abc.abstractmethod
    def __hash__(self) -> int:
        """Equal for equal types."""

    @abc.abstractmethod
    def __eq__(self, other: object) -> bool:
        """Whether a trace can be shared."""


@runtime_checkable
class SupportsTracingProtocol(Protocol):
    """An object that says by itself with which others it shares traces."""

    def __tf_tracing_type__(self, context: Any) -> TraceType:
        """The type of this object."""
