"""Around the tape: stop_gradient, the TensorFlow 1 spellings of gradients, and a check against finite differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.core.convert import convert
from gradtape.core.enums import UnconnectedGradients
from gradtape.core.errors import public
from gradtape.core.tensor import Tensor, eager
from gradtape.ops import elementwise
from gradtape.tape.gradient_tape import GradientTape


@public
def stop_gradient(input: Any, name: str | None = None) -> Tensor:
    """`input`, through which no gradient flows.

    Args:
        input: a tensor.
        name: accepted for TensorFlow's sake.

    Returns:
        A tensor of the same value.
    """
    result: Tensor = elementwise.stop_gradient(convert(input))
    return result


@public
def gradients(
    ys: Any,
    xs: Any,
    grad_ys: Any = None,
    name: str = "gradients",
    gate_gradients: bool = False,
    aggregation_method: Any = None,
    stop_gradients: Any = None,
    unconnected_gradients: Any = UnconnectedGradients.NONE,
) -> Any:
    """Refuse: in eager mode use a GradientTape."""
    raise RuntimeError(
        "tf.gradients is not supported when eager execution is enabled. Use tf.GradientTape instead."
    )


@public
def hessians(
    ys: Any,
    xs: Any,
    gate_gradients: bool = False,
    aggregation_method: Any = None,
    name: str = "hessians",
) -> Any:
    """Refuse: in eager mode use nested GradientTapes, the outer one with `jacobian`."""
    raise RuntimeError(
        "tf.hessians is not supported when eager execution is enabled. Use tf.GradientTape instead."
    )


GRADIENTS: dict[str, Callable[..., Any] | None] = {}


class RegisterGradient:
    """Decorator that names a gradient function, for graph mode's `gradient_override_map`."""

    def __init__(self, op_type: str) -> None:
        """Register under `op_type`."""
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string")
        self._op_type = op_type

    def __call__(self, f: Callable[..., Any]) -> Callable[..., Any]:
        """Store `f`; a second one for the same name is an error."""
        register(self._op_type, f)
        return f


def register(name: str, f: Callable[..., Any] | None) -> None:
    """Store a gradient function under a name that is free."""
    if name in GRADIENTS:
        raise KeyError(f"Registering two gradient with name {name!r}!")
    GRADIENTS[name] = f


def no_gradient(op_type: str) -> None:
    """Say that ops of `op_type` have no gradient."""
    if not isinstance(op_type, str):
        raise TypeError("op_type must be a string")
    register(op_type, None)


@public
def compute_gradient(f: Any, x: Any, delta: float | None = None) -> tuple[list[Any], list[Any]]:
    """Jacobians of `f` by the tape and by central differences.

    Args:
        f: function of tensors.
        x: list of its arguments.
        delta: step of the differences; 1/1024 if None.

    Returns:
        Two lists, one array (size of f(x), size of x[i]) for each argument in each: by the tape, by differences.
    """
    if not isinstance(x, (list, tuple)):
        raise ValueError(
            f"`x` must be a list or tuple of values convertible to a Tensor, not a {type(x)}"
        )
    step = 1.0 / 1024 if delta is None else delta
    xs = [convert(value) for value in x]
    with GradientTape() as tape:
        tape.watch(xs)
        y = f(*xs)
    jacobians = tape.jacobian(y, xs, unconnected_gradients="zero")
    theory = [
        np.asarray(j).reshape(y._array.size, t._array.size)
        for j, t in zip(jacobians, xs, strict=True)
    ]
    return theory, [differences(f, xs, i, step) for i in range(len(xs))]


def differences(f: Any, xs: list[Tensor], i: int, step: float) -> Any:
    """Central differences of `f` with respect to its i-th argument, one column for each element."""
    values = np.array(xs[i]._array)
    columns = []
    for k in range(values.size):
        ends = []
        for sign in (1, -1):
            moved = values.copy()
            moved.flat[k] += sign * step
            ends.append(np.array(f(*xs[:i], eager(moved), *xs[i + 1 :])._array))
        columns.append(((ends[0] - ends[1]) / (2 * step)).ravel())
    size = columns[0].size if columns else 0
    return np.stack(columns, axis=1) if columns else np.zeros((size, 0), values.dtype)
