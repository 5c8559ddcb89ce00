"""tf.types.experimental: names for annotations, and the protocol of custom trace types."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any, Protocol, Union, runtime_checkable

from gradtape.core.tensor import Tensor
from gradtape.jit.concrete_function import ConcreteFunction as ConcreteFunction
from gradtape.jit.function import Function
from gradtape.tf.types import distributed as distributed

GenericFunction = PolymorphicFunction = Function
TensorLike = Union[Tensor, int, float, bool, str, bytes, complex, Sequence[Any]]  # noqa: UP007


class TraceType(abc.ABC):
    """The cache key of an argument of `tf.function`: arguments with equal types share a trace.

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
        """Whether a trace for `other` can be used for this type.

        Args:
            other: another type.

        Returns:
            A bool.
        """

    @abc.abstractmethod
    def most_specific_common_supertype(self, others: Sequence[TraceType]) -> TraceType | None:
        """The most specific type whose trace all of these can use; None if there is none.

        Args:
            others: a list of types.

        Returns:
            A TraceType or None.
        """

    @abc.abstractmethod
    def placeholder_value(self, placeholder_context: Any = None) -> Any:
        """The placeholder of the argument in a trace; gradtape does not call it.

        Args:
            placeholder_context: has no effect here.

        Returns:
            A value.
        """

    @abc.abstractmethod
    def __hash__(self) -> int:
        """Equal types have equal hashes."""

    @abc.abstractmethod
    def __eq__(self, other: object) -> bool:
        """Whether both arguments can share a trace."""


@runtime_checkable
class SupportsTracingProtocol(Protocol):
    """An object that provides its own TraceType."""

    def __tf_tracing_type__(self, context: Any) -> TraceType:
        """The trace type of this object."""
