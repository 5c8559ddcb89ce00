"""Modules named `tensorflow…` that look up names in gradtape and in `tensorflow_internal`."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

from gradtape.core.traceback_filter import hide_library_frames
from gradtape.dropin.missing_symbol import explain_missing_name
from gradtape.dropin.private_name import PrivateModule

# gradtape's own folders and functions, which are not part of TensorFlow's namespace
HIDDEN_NAMES = frozenset(
    (
        *("core", "files", "ops", "tape", "state", "graph", "compile", "jit", "pipeline", "tf"),
        *("debug", "func", "interop", "dropin", "install", "uninstall"),
    )
)
NO_VALUE = object()


class TensorFlowNamespace(ModuleType):
    """A module that takes each name from the first of `parts` that has it.

    If the name is a namespace in several parts, the result is a Namespace over all of them.
    """

    __path__: list[str]

    def __init__(self, name: str, parts: list[Any], root_parts: list[Any] | None = None) -> None:
        """Look names up in `parts`, in that order; `root_parts` are those of `tensorflow`."""
        super().__init__(name, f"gradtape in place of {name}.")
        self.__path__ = []
        self._parts = parts
        self.root_parts = parts if root_parts is None else root_parts

    def __getattr__(self, name: str) -> Any:
        """Look up a name and cache it."""
        parts = (
            self._parts[1:]
            if name in HIDDEN_NAMES and self._parts is self.root_parts
            else self._parts
        )
        found = [v for part in parts if (v := getattr(part, name, NO_VALUE)) is not NO_VALUE]
        if not found:
            where = self.__name__
            text = f"module {where!r} has no attribute {name!r}"
            if not name.startswith("_"):
                path = where.replace("tensorflow", "tf", 1)
                text += f": {explain_missing_name(path, name, dir(self))}"
            try:
                raise AttributeError(text, name=name)
            except AttributeError as error:
                hide_library_frames(error)
                raise
        value = found[0]
        if value is sys.modules["gradtape"]:  # `tf.compat.v2`
            value = TensorFlowNamespace(f"{self.__name__}.{name}", self.root_parts)
        elif is_namespace(value):
            value = TensorFlowNamespace(
                f"{self.__name__}.{name}", [v for v in found if is_namespace(v)], self.root_parts
            )
        self.__dict__[name] = value
        return value

    def __dir__(self) -> list[str]:
        """The names of all parts."""
        return sorted({name for part in self._parts for name in dir(part)} - HIDDEN_NAMES)

    def __repr__(self) -> str:
        """The repr of a module, marked as gradtape's."""
        return f"<module {self.__name__!r} (gradtape)>"


def is_namespace(value: Any) -> bool:
    """Whether a value is a namespace: a module of gradtape, or one made of a table."""
    ours = isinstance(value, ModuleType) and value.__name__.startswith("gradtape.")
    return ours or type(value) in (SimpleNamespace, PrivateModule)
