"""Calls of plain Python functions from among ops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.core import dtypes, errors
from gradtape.core.convert import convert
from gradtape.core.tensor import Tensor

KINDS: dict[type[Exception], type[errors.OpError]] = {
    TypeError: errors.InvalidArgumentError,
    ValueError: errors.InvalidArgumentError,
    StopIteration: errors.OutOfRangeError,
    MemoryError: errors.ResourceExhaustedError,
    NotImplementedError: errors.UnimplementedError,
}


@errors.public
def py_function(
    func: Callable[..., Any] | None = None,
    inp: Any = None,
    Tout: Any = None,  # noqa: N803  TensorFlow's name
    name: str | None = None,
) -> Any:
    """Call `func` on tensors; its gradient is that of the ops it uses.

    Args:
        func: takes tensors and returns what `Tout` says.
        inp: a list of its arguments.
        Tout: the dtype of what it returns, or a list of them.
        name: accepted for TensorFlow's sake.

    Raises:
        OpError: of the kind that belongs to what `func` raised, or if it does not return `Tout`.
    """
    if func is None:
        return lambda f: lambda *args: py_function(f, args, Tout)
    arguments = [convert(x) for x in inp]
    try:
        result = func(*arguments)
        if not isinstance(Tout, (list, tuple)):
            return convert(result, dtypes.as_dtype(Tout))
        results = list(result) if isinstance(result, (list, tuple)) else [result]
        wanted = [dtypes.as_dtype(t) for t in Tout]
        if not wanted:
            return []
        if len(results) != len(wanted):
            raise ValueError(f"it returns {len(results)} values, but Tout has {len(wanted)}.")
        return [convert(x, t) for x, t in zip(results, wanted, strict=True)]
    except errors.OpError:
        raise
    except Exception as error:
        kind = next((k for t, k in KINDS.items() if isinstance(error, t)), errors.UnknownError)
        raise kind(None, None, f"py_function: {type(error).__name__}: {error}") from error


@errors.public
def numpy_function(
    func: Callable[..., Any] | None = None,
    inp: Any = None,
    Tout: Any = None,  # noqa: N803  TensorFlow's name
    stateful: bool = True,
    name: str | None = None,
) -> Any:
    """Call `func` on NumPy arrays; the result has no gradient.

    Args:
        func: takes arrays and returns what `Tout` says.
        inp: a list of its arguments.
        Tout: the dtype of what it returns, or a list of them.
        stateful: whether `func` may give something else each time.
        name: accepted for TensorFlow's sake.
    """
    if func is None:
        return lambda f: lambda *args: numpy_function(f, args, Tout, stateful)
    result = func(*(np.array(convert(x)._array) for x in inp))
    if result is None:
        return None
    if isinstance(Tout, (list, tuple)) and isinstance(result, (list, tuple)):
        return [as_tensor(x) for x in result]
    return as_tensor(result)


def as_tensor(value: Any) -> Tensor:
    """A tensor of what a function returned."""
    return convert(value if isinstance(value, Tensor) else np.asarray(value))
