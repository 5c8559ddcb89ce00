"""Around the tape: stop_gradient, TensorFlow 1's spellings, and a check by finite differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.core import nest
from gradtape.core.convert import convert
from gradtape.core.dtypes import is_differentiable
from gradtape.core.enums import UnconnectedGradients
from gradtape.core.errors import public
from gradtape.core.tensor import Tensor, eager
from gradtape.ops import elementwise
from gradtape.tape.gradient_tape import GradientTape
from gradtape.tape.indexed_slices import IndexedSlices


@public
def stop_gradient(input: Any, name: str | None = None) -> Any:
    """`input`, through which no gradient flows.

    Args:
        input: a tensor, or IndexedSlices.
        name: accepted for TensorFlow's sake.

    Returns:
        What `input` is, of the same value.

    Example:
        >>> x = tf.Variable(3.0)
        >>> with tf.GradientTape() as tape:
        ...     y = x * tf.stop_gradient(x)
        >>> tape.gradient(y, x).numpy()
        np.float32(3.0)
    """
    if isinstance(input, IndexedSlices):
        return nest.map_structure(stop_gradient, input, expand_composites=True)
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
        "tf.gradients is not supported when eager execution is enabled. "
        "Use tf.GradientTape instead."
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


class AggregationMethod:
    """How gradients of several paths would be summed in graph mode; here it makes no difference."""

    ADD_N = 0
    DEFAULT = ADD_N
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2


@public
def compute_gradient(
    f: Any, x: Any, delta: float | None = None
) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Jacobians of `f` by the tape and by central differences.

    A complex number counts as two: its real part and its imaginary part, one after the other.

    Args:
        f: function of tensors.
        x: list of its arguments.
        delta: step of the differences; 1/1024 if None.

    Returns:
        Two tuples, one array (size of f(x), size of x[i]) for each argument in each: by the
        tape, by differences.

    Raises:
        ValueError: if `x` is not a list.
        AssertionError: if an argument is neither floating nor complex.
    """
    if not isinstance(x, (list, tuple)):
        raise ValueError(
            f"`x` must be a list or tuple of values convertible to a Tensor, not a {type(x)}"
        )
    xs = [convert(value) for value in x]
    for i, t in enumerate(xs):
        if not is_differentiable(t._array.dtype):
            raise AssertionError(
                "compute_gradient: Cannot compute gradient for unsupported type "
                f"{t.dtype.name} of argument {i}."
            )
    with GradientTape(persistent=True) as tape:
        tape.watch(xs)
        y = f(*xs)
        parts = [elementwise.real(y), elementwise.imag(y)] if convert(y).dtype.is_complex else [y]
    of_parts = [tape.jacobian(part, xs, unconnected_gradients="zero") for part in parts]
    step = 1.0 / 1024 if delta is None else delta
    return (
        tuple(
            rows_of(parts, jacobians, t)
            for jacobians, t in zip(zip(*of_parts, strict=True), xs, strict=True)
        ),
        tuple(differences(f, xs, i, step) for i in range(len(xs))),
    )


def rows_of(parts: list[Tensor], jacobians: tuple[Tensor, ...], x: Tensor) -> Any:
    """The rows of the jacobians of all parts, those of one element together."""
    rows, columns = parts[0]._array.size, as_reals(x).size
    stacked = np.stack([as_reals(j).reshape(rows, columns) for j in jacobians], axis=1)
    return stacked.reshape(rows * len(parts), columns)


def as_reals(tensor: Tensor) -> Any:
    """The elements as a vector, complex numbers as pairs."""
    flat = np.ravel(np.array(tensor._array))
    return flat.view(flat.real.dtype)


def differences(f: Any, xs: list[Tensor], i: int, step: float) -> Any:
    """Central differences of `f` by its i-th argument, one column for each real number."""
    values = np.array(xs[i]._array)
    size = as_reals(xs[i]).size
    columns = []
    for k in range(size):
        ends = []
        for sign in (1, -1):
            flat = as_reals(xs[i])
            flat[k] += sign * step
            moved = eager(flat.view(values.dtype).reshape(values.shape))
            ends.append(as_reals(convert(f(*xs[:i], moved, *xs[i + 1 :]))))
        columns.append((ends[0] - ends[1]) / (2 * step))
    return (
        np.stack(columns, axis=1)
        if columns
        else np.zeros((as_reals(convert(f(*xs))).size, 0), values.dtype)
    )
