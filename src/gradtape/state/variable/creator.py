"""tf.variable_creator_scope: functions that replace the creation of variables."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from typing import Any, TypeVar

from gradtape.core.argument import check_callable
from gradtape.core.errors import public


class CreatorStack(threading.local):
    """The creators of this thread, outermost first."""

    def __init__(self) -> None:
        """Start without creators."""
        self.creators: tuple[Callable[..., Any], ...] = ()


STACK = CreatorStack()
V = TypeVar("V")


@public
@contextmanager
def variable_creator_scope(variable_creator: Callable[..., Any]) -> Iterator[None]:
    """Scope in which `tf.Variable(...)` calls a function instead.

    Args:
        variable_creator: function of `next_creator` and of the arguments of `tf.Variable`, all by
            name. It returns a variable, usually `next_creator(**kwargs)`. The innermost scope's
            function is called first.

    Yields:
        None.

    Example:
        >>> def freeze(next_creator, **kwargs):
        ...     return next_creator(**{**kwargs, "trainable": False})
        >>> with tf.variable_creator_scope(freeze):
        ...     v = tf.Variable(1.0)
        >>> v.trainable
        False
    """
    check_callable(variable_creator, "variable_creator")
    before = STACK.creators
    STACK.creators = (*before, variable_creator)
    try:
        yield
    finally:
        STACK.creators = before


class VariableType(type):
    """The class of `tf.Variable`, which passes the creation of variables to the creators."""

    def __call__(cls: type[V], *args: Any, **kwargs: Any) -> V:
        """Create a variable."""
        make: Callable[..., Any] = super().__call__  # type: ignore[misc]  # `cls` is a VariableType
        if not STACK.creators or any(type(base) is VariableType for base in cls.__bases__):
            return make(*args, **kwargs)  # a subclass does not ask the creators
        for creator in STACK.creators:
            make = partial(creator, make)
        return make(**name_arguments(cls, args, kwargs))


@cache
def parameters_of(cls: type) -> inspect.Signature:
    """The signature of the constructor."""
    return inspect.signature(cls.__init__)  # type: ignore[misc]  # of the class itself


def name_arguments(cls: type, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """All arguments of the constructor by name, with defaults."""
    bound = parameters_of(cls).bind(None, *args, **kwargs)
    bound.apply_defaults()
    return {name: value for name, value in bound.arguments.items() if name != "self"}
