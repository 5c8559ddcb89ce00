"""Python functions called like ops: py_function on tensors, numpy_function on arrays."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.core import nest
from gradtape.core.context import unheard
from gradtape.core.convert import convert
from gradtape.core.errors import (
    InvalidArgumentError,
    OpError,
    OutOfRangeError,
    ResourceExhaustedError,
    UnimplementedError,
    UnknownError,
    public,
)
from gradtape.core.spec import TensorSpec
from gradtape.core.tensor import Tensor, eager
from gradtape.tape.custom import record_custom
from gradtape.tape.gradient_tape import GradientTape

# What TensorFlow makes of an exception in the function; of any other, an UnknownError.
RAISED: dict[type[Exception], type[OpError]] = {
    ValueError: InvalidArgumentError,
    TypeError: InvalidArgumentError,
    StopIteration: OutOfRangeError,
    MemoryError: ResourceExhaustedError,
    NotImplementedError: UnimplementedError,
}


@public
def py_function(
    func: Callable[..., Any] | None = None,
    inp: Any = None,
    Tout: Any = None,  # noqa: N803  TensorFlow's name
    name: str | None = None,
) -> Any:
    """Call `func` on tensors; gradients flow to `inp`, not to what else `func` uses.

    Args:
        func: function of tensors that returns a tensor, a list of them, or None.
            Without it, a decorator is returned.
        inp: list of its arguments.
        Tout: dtype of the result, or a list of dtypes of the results.
        name: accepted for TensorFlow's sake.

    Returns:
        A tensor; a list of tensors if `Tout` is a list.

    Raises:
        InvalidArgumentError: if `func` raises ValueError or TypeError, or returns something else
            than `Tout` says. Other exceptions become OpErrors of another kind.
    """
    if Tout is None:
        raise TypeError("py_function: Missing required argument: 'Tout'.")
    if func is None:
        return lambda f: functools.wraps(f)(lambda *args: py_function(f, args, Tout))
    if not callable(func):
        raise ValueError(f"py_function: Expected func to be callable. Received func={func!r}.")
    inputs = [convert(value) for value in inp]
    several = isinstance(Tout, (list, tuple))
    specs = [as_spec(t) for t in (Tout if several else [Tout])]
    tape = GradientTape(persistent=True, watch_accessed_variables=False)
    # Tensors of their own, not to be taken for a variable that `func` reads besides.
    inner: list[Tensor] = [eager(t._array) for t in inputs]
    with unheard(), tape:
        tape.watch([t for t in inner if t.dtype.is_floating or t.dtype.is_complex])
        results = results_of(func, inner, specs, several)

    def grad(*cotangents: Tensor) -> list[Any]:
        return tape.gradient(results, inner, output_gradients=list(cotangents))

    outs = record_custom(results, inputs, grad)
    return outs if several else outs[0]


def as_spec(described: Any) -> TensorSpec:
    """What a dtype or spec says of a result."""
    return described if isinstance(described, TensorSpec) else TensorSpec(None, described)


def results_of(
    func: Callable[..., Any], inputs: list[Tensor], specs: list[TensorSpec], several: bool
) -> list[Tensor]:
    """Call the function and convert what it returns."""
    try:
        answer = func(*inputs)
        answers = (
            []
            if answer is None
            else list(answer)
            if isinstance(answer, (list, tuple))
            else [answer]
        )
        results = [convert(a, spec.dtype) for a, spec in zip(answers, specs, strict=False)]
    except Exception as error:
        kind = next((k for raised, k in RAISED.items() if isinstance(error, raised)), UnknownError)
        raise kind(f"py_function: {type(error).__name__}: {error}") from error
    if len(answers) < len(specs) or (several and len(answers) > len(specs)):
        raise InvalidArgumentError(
            f"py_function: func returns {len(answers)} values, but Tout expects to see "
            f"{len(specs)} values."
        )
    return results


@public
def numpy_function(
    func: Callable[..., Any] | None = None,
    inp: Any = None,
    Tout: Any = None,  # noqa: N803  TensorFlow's name
    stateful: bool = True,
    name: str | None = None,
) -> Any:
    """Call `func` on NumPy arrays; no gradient flows through it.

    Args:
        func: function of arrays that returns an array, a list of arrays, or None.
            Without it, a decorator is returned.
        inp: list of its arguments.
        Tout: accepted for TensorFlow's sake: the results have the dtypes that `func` gives them.
        stateful: accepted for TensorFlow's sake.
        name: accepted for TensorFlow's sake.

    Returns:
        A tensor, or a list of tensors if `func` returns several values.
    """
    if func is None:
        return lambda f: functools.wraps(f)(lambda *args: numpy_function(f, args, Tout))
    answer = func(*[np.array(value) for value in inp])
    results = [None if value is None else convert(value) for value in nest.flatten(answer)]
    return results[0] if len(results) == 1 else results
