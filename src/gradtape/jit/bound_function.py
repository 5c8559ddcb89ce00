"""Python functions bound to an instance, and functions that are found by name."""

from __future__ import annotations

import functools
import inspect
import sys
import weakref
from typing import Any


class BoundFunction:
    """A Python function bound to an instance.

    The reference is weak, because the cache of methods must not keep the instance alive.
    """

    def __init__(self, function: Any, instance: Any, weak: bool) -> None:
        """Call `function` on `instance`."""
        self._function = function
        self._instance = weakref.ref(instance) if weak else lambda: instance
        functools.update_wrapper(self, function)
        vars(self).pop("__wrapped__", None)
        self.__signature__ = drop_first_parameter(function)

    @property
    def __self__(self) -> Any:
        """The instance."""
        return self._instance()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function."""
        instance = self._instance()
        if instance is None:
            raise ReferenceError(
                f"{self._function.__name__}: the object of this method has been deleted. Keep a "
                "reference to it."
            )
        return self._function(instance, *args, **kwargs)


def drop_first_parameter(function: Any) -> Any:
    """The signature of a method without its first parameter."""
    signature = inspect.signature(function)
    return signature.replace(parameters=list(signature.parameters.values())[1:])


def bind_by_name(instance: Any, name: str) -> Any:
    """A method of an object, which keeps the object alive; for a method that was pickled."""
    method = inspect.getattr_static(type(instance), name)
    return method.bind_instance(instance)


def find_in_module(function: Any) -> Any:
    """What has the name of a function in its module, or None."""
    found = sys.modules.get(getattr(function, "__module__", ""))
    for name in getattr(function, "__qualname__", "").split("."):
        found = getattr(found, name, None)
    return found
