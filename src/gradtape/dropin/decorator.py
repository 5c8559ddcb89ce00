"""Decorators of TensorFlow's private modules: deprecation warnings are never shown here."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable
from typing import Any


def make_unchanging_decorator(*args: Any, **kwargs: Any) -> Callable[[Any], Any]:
    """Make a decorator that changes nothing."""
    return lambda decorated: decorated


deprecated = deprecated_args = deprecated_arg_values = make_unchanging_decorator


def deprecated_alias(
    deprecated_name: str, name: str, func_or_class: Any, warn_once: bool = True
) -> Any:
    """The function or class itself."""
    return func_or_class


@contextlib.contextmanager
def silence() -> Any:
    """Scope without effect: no deprecation warnings are shown."""
    yield


class TfExport:
    """The decorator that gives a function its public names; here it changes nothing."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Accept the names."""

    def __call__(self, decorated: Any) -> Any:
        """The function or class itself."""
        return decorated


def getfullargspec(obj: Any) -> inspect.FullArgSpec:
    """As `inspect.getfullargspec`, of the function under its decorators and without annotations."""
    if isinstance(obj, type):
        obj = obj.__init__  # type: ignore[misc]  # of the class itself
    elif not inspect.isroutine(obj) and callable(obj):
        obj = type(obj).__call__
    return inspect.getfullargspec(inspect.unwrap(obj))._replace(annotations={})
