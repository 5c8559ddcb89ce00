"""Errors for user functions whose parameters do not fit the arguments of a dataset method."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

ARGUMENTS = {  # of methods that pass more than an element
    "scan": "the state and the element",
    "reduce": "the state and the element",
    "group_by_window": "the key and the dataset of a group",
}


def check_arity(function: Any, args: tuple[Any, ...], method: str) -> None:
    """Raise TypeError if a user's function cannot take the arguments that a method passes.

    Args:
        function: the user's function.
        args: the arguments.
        method: the method of Dataset.
    """
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # a builtin function
        return
    try:
        signature.bind(*args)
    except TypeError:
        count = len(signature.parameters)
        raise TypeError(
            f"{method}: the function is called with {describe_arguments(args, method)}, but it has "
            f"{count} parameter{'' if count == 1 else 's'}: {signature}."
        ) from None


def describe_arguments(args: tuple[Any, ...], method: str) -> str:
    """The number of the arguments of a user's function, and what they are."""
    if len(args) == 1:
        keys = f" with the keys {list(args[0])}" if isinstance(args[0], dict) else ""
        return f"1 argument, the element{' as a dict' if keys else ''}{keys}"
    return f"{len(args)} arguments, {ARGUMENTS.get(method, 'the components of an element')}"


def report_arity(function: Callable[..., Any], method: str) -> Callable[..., Any]:
    """Wrap a user's function: the error for wrong arguments names the dataset method."""

    @wraps(function)
    def call(*args: Any) -> Any:
        try:
            return function(*args)
        except TypeError:
            check_arity(function, args, method)
            raise

    return call
