"""Checks of arguments that are no tensors: integers, sequences, functions, instances, arrays."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

import numpy as np

from gradtape.core.errors import OperatorNotAllowedInGraphError
from gradtape.core.nest import find_nesting_problem
from gradtape.core.tensor import Tensor


def describe(value: Any) -> str:
    """A short description of a value for an error message."""
    from gradtape.core.call_error import describe_value

    return describe_value(value)


def as_index(value: Any, name: str) -> int:
    """Convert an integer, or a scalar tensor or variable of one, to a Python integer."""
    to_tensor = getattr(type(value), "__tf_tensor__", None)
    try:
        return operator.index(value if to_tensor is None else to_tensor(value, None, None))
    except OperatorNotAllowedInGraphError:
        raise
    except TypeError:
        raise TypeError(f"{name} must be an integer. Received {describe(value)}.") from None


def as_integer(value: Any, name: str) -> int:
    """Convert a number to a Python integer; as TensorFlow, truncate floats and refuse strings."""
    try:
        if not isinstance(value, (str, bytes, bytearray)):
            return int(value)
    except OperatorNotAllowedInGraphError:
        raise
    except (TypeError, ValueError, OverflowError):
        pass
    raise TypeError(f"{name} must be an integer. Received {describe(value)}.")


def as_real(value: Any, name: str) -> float:
    """Convert a real number, or a scalar tensor of one, to a Python float."""
    try:
        if not isinstance(value, (str, bytes, bytearray)):
            return float(value)
    except OperatorNotAllowedInGraphError:
        raise
    except (TypeError, ValueError, OverflowError):
        pass
    raise TypeError(f"{name} must be a real number. Received {describe(value)}.")


def as_sequence(value: Any, name: str) -> list[Any]:
    """The entries of a list, a tuple or another iterable."""
    if type(value) is list or type(value) is tuple:
        return list(value)
    try:
        if not isinstance(value, (str, bytes, Mapping)):
            return list(value)
    except OperatorNotAllowedInGraphError:
        raise
    except TypeError:
        pass
    raise TypeError(f"{name} must be a list or tuple. Received {describe(value)}.")


def check_callable(value: Any, name: str) -> None:
    """Raise TypeError unless `value` can be called."""
    if not callable(value):
        raise TypeError(f"{name} must be callable. Received {describe(value)}.")


def check_instance(value: Any, kind: type, name: str) -> None:
    """Raise TypeError unless `value` is an instance of `kind`."""
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be a {kind.__name__}. Received {describe(value)}.")


def as_host_array(value: Any, name: str) -> Any:
    """A NumPy array of a number, a list or an array; lists must be rectangular."""
    problem = find_nesting_problem(value)  # NumPy may not return if a list contains itself
    if problem is None:
        try:
            return np.asarray(value)
        except (TypeError, ValueError, OverflowError) as error:
            problem = f"does not convert to an array ({error})"
    raise ValueError(f"{name} {problem}. Received {describe(value)}.")


def check_number(value: Any, name: str) -> None:
    """Raise TypeError unless `value` is a number, an array or a tensor."""
    kinds = (int, float, np.number, np.bool_, np.ndarray, Tensor)
    if not isinstance(value, kinds) and not hasattr(type(value), "__tf_tensor__"):
        raise TypeError(f"{name} must be a number. Received {describe(value)}.")


def check_text(value: Any, name: str) -> None:
    """Raise TypeError unless `value` is a string."""
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a string. Received {describe(value)}.")
