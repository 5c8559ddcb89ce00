"""Name scopes: prefixes of variable names, as in TensorFlow's eager mode."""

from __future__ import annotations

from typing import Any

from gradtape.core.context import local


class name_scope:  # noqa: N801  TensorFlow's name, used like a function
    """Prefix the names of variables created within.

    Args:
        name: the prefix. "" leaves all scopes; a name that ends in "/" replaces them.

    Raises:
        ValueError: if `name` is not a string.

    Example:
        >>> with tf.name_scope("layer"):
        ...     tf.Variable(1.0, name="w").name
        'layer/w:0'
    """

    def __init__(self, name: str) -> None:
        if not isinstance(name, str):
            raise ValueError(f"name_scope: name must be a string. Received {type(name)}.")
        self._name = name

    @property
    def name(self) -> str:
        """The prefix as passed in."""
        return self._name

    def __enter__(self) -> str:
        name = self._name
        scope = name if not name or name.endswith("/") else f"{current_scope()}{name}/"
        local.name_scopes = (*local.name_scopes, scope)
        return scope

    def __exit__(self, *error: Any) -> None:
        local.name_scopes = local.name_scopes[:-1]


def current_scope() -> str:
    """The current prefix, which is empty or ends in "/"."""
    return local.name_scopes[-1] if local.name_scopes else ""
