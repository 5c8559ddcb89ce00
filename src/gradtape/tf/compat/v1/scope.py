"""tf.compat.v1.variable_scope: a scope of names; `get_variable` is not supported."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gradtape.core.name_scope import current_scope, name_scope


class VariableScope:
    """A scope of names of variables."""

    def __init__(self, name: str) -> None:
        """A scope called `name`."""
        self.name = self.original_name_scope = name
        self.reuse = False
        self.caching_device: Any = None

    def set_caching_device(self, caching_device: Any) -> None:
        """Store the device; it has no effect."""
        self.caching_device = caching_device


def get_variable_scope() -> VariableScope:
    """The current scope."""
    return VariableScope(current_scope().rstrip("/"))


@contextmanager
def variable_scope(
    name_or_scope: Any, default_name: str | None = None, *args: Any, **kwargs: Any
) -> Iterator[VariableScope]:
    """Scope of names; the other arguments of TensorFlow 1 have no effect.

    Args:
        name_or_scope: a name, or a scope to enter again.
        default_name: the name if `name_or_scope` is None.
        *args: have no effect.
        **kwargs: have no effect.
    """
    if isinstance(name_or_scope, VariableScope):
        yield name_or_scope
        return
    with name_scope(str(default_name if name_or_scope is None else name_or_scope)):
        yield get_variable_scope()
