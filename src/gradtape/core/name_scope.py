"""Name scopes: prefixes of variable names, as in TensorFlow's eager mode."""

from __future__ import annotations

from collections.abc import Generator

from gradtape.core.block_exit import BlockEnd, BlockExit
from gradtape.core.context import local


def leave_name_scope(end: BlockEnd, unused: list[BlockEnd]) -> Generator[None, None, None]:
    """Steps of `BlockExit`: drop the innermost name scope of the thread."""
    while True:
        try:
            end.is_usable = True
            yield
        except GeneratorExit:  # the end is not used any more
            end.block = None
            raise
        finally:
            end.is_usable = False
            block, end.block = end.block, None
            if block is not None:
                local.name_scopes = local.name_scopes[:-1]
        del block
        unused.append(end)


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

    __exit__ = BlockExit(leave_name_scope)


def current_scope() -> str:
    """The current prefix, which is empty or ends in "/"."""
    return local.name_scopes[-1] if local.name_scopes else ""
