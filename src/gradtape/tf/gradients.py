"""stop_gradient, TensorFlow 1's gradient functions, and a check by finite differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, overload

import numpy as np

from gradtape.core import nest
from gradtape.core.context import current_trace
from gradtape.core.convert import convert
from gradtape.core.dispatch import TapeRecord
from gradtape.core.dtypes import is_differentiable
from gradtape.core.enums import UnconnectedGradients
from gradtape.core.errors import public
from gradtape.core.ledger import ledger, note_trace_tape
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.graph.trace import NeedsTape
from gradtape.ops import elementwise
from gradtape.tape.gradient_tape import GradientTape
from gradtape.tape.indexed_slices import IndexedSlices


@overload
def stop_gradient(input: IndexedSlices, name: str | None = None) -> IndexedSlices: ...
@overload
def stop_gradient(input: Any, name: str | None = None) -> Tensor: ...
@public
def stop_gradient(input: Any, name: str | None = None) -> Any:
    """`input` with its gradient stopped.

    Args:
        input: a tensor, or IndexedSlices.
        name: has no effect here.

    Returns:
        A tensor or IndexedSlices, as `input`, with the same value.

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
    """Derivatives of `ys` with respect to `xs`, inside a `tf.function`.

    Args:
        ys: a tensor, or a list of them, which are summed.
        xs: a tensor or variable, or a list of them.
        grad_ys: a weight for each element of `ys`, ones if None.
        name: has no effect here.
        gate_gradients: has no effect here.
        aggregation_method: has no effect here.
        stop_gradients: tensors at which the gradient stops.
        unconnected_gradients: the gradient of an `x` that `ys` do not depend on: "none" or "zero".

    Returns:
        A list: a tensor, IndexedSlices or None for each `x`.

    Raises:
        RuntimeError: outside of `tf.function`; use a GradientTape there.
    """
    tape = make_trace_tape("gradients", stop_gradients)
    targets = ys if isinstance(ys, (list, tuple)) else [ys]
    sources = list(xs) if isinstance(xs, (list, tuple)) else [xs]
    weights = None
    if grad_ys is not None:
        given = grad_ys if isinstance(grad_ys, (list, tuple)) else [grad_ys]
        weights = [
            elementwise.ones_like(convert(y)) if w is None else w
            for y, w in zip(targets, given, strict=True)
        ]
    return tape.gradient(
        list(targets),
        sources,
        output_gradients=weights,
        unconnected_gradients=unconnected_gradients,
    )


@public
def hessians(
    ys: Any,
    xs: Any,
    gate_gradients: bool = False,
    aggregation_method: Any = None,
    name: str = "hessians",
) -> Any:
    """Second derivatives of the sum of `ys`, inside a `tf.function`.

    Args:
        ys: a tensor, or a list of them, which are summed.
        xs: a tensor or variable, or a list of them.
        gate_gradients: has no effect here.
        aggregation_method: has no effect here.
        name: has no effect here.

    Returns:
        A list: for each `x` a tensor of shape x.shape + x.shape.

    Raises:
        RuntimeError: outside of `tf.function`; use nested GradientTapes there, the outer one with
            `jacobian`.
    """
    tape = make_trace_tape("hessians", None)
    sources = list(xs) if isinstance(xs, (list, tuple)) else [xs]
    targets = list(ys) if isinstance(ys, (list, tuple)) else [ys]
    slopes = tape.gradient(targets, sources)
    return [
        tape.jacobian(slope, source, unconnected_gradients="zero")
        for slope, source in zip(slopes, sources, strict=True)
    ]


def make_trace_tape(what: str, stops: Any) -> GradientTape:
    """Make a tape from everything that this thread's trace has recorded."""
    stage = current_trace()
    if not stage:
        raise RuntimeError(
            f"tf.{what} is not supported when eager execution is enabled. "
            "Use tf.GradientTape instead."
        )
    record = stage[0].tape
    if record is None:
        raise NeedsTape
    tape = GradientTape(persistent=True)
    tape._tape = record
    if ledger.active:
        note_trace_tape(tape, record)
    if stops is not None:
        pruned = tape._tape = TapeRecord()
        pruned.update(record)
        pruned.roots, pruned.variables = set(record.roots), record.variables
        for tensor in stops if isinstance(stops, (list, tuple)) else [stops]:
            pruned[convert(tensor).uid] = None
    return tape


REGISTERED_GRADIENTS: dict[str, Callable[..., Any] | None] = {}


class RegisterGradient:
    """Decorator that registers a gradient function for graph mode's `gradient_override_map`."""

    @public
    def __init__(self, op_type: str) -> None:
        """Register under `op_type`."""
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string")
        self._op_type = op_type

    def __call__(self, f: Callable[..., Any]) -> Callable[..., Any]:
        """Register `f`; a second function for the same name is an error."""
        register_gradient(self._op_type, f)
        return f


def register_gradient(name: str, f: Callable[..., Any] | None) -> None:
    """Register a gradient function under an unused name."""
    if name in REGISTERED_GRADIENTS:
        raise KeyError(f"Registering two gradient with name {name!r}!")
    REGISTERED_GRADIENTS[name] = f


@public
def no_gradient(op_type: str) -> None:
    """Register that ops of `op_type` have no gradient.

    Args:
        op_type: the name of an op.

    Returns:
        None.
    """
    if not isinstance(op_type, str):
        raise TypeError("op_type must be a string")
    register_gradient(op_type, None)


class AggregationMethod:
    """How graph mode sums the gradients of several paths; it has no effect here."""

    ADD_N = 0
    DEFAULT = ADD_N
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2


@public
def compute_gradient(
    f: Any, x: Any, delta: float | None = None
) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Jacobians of `f` by the tape and by central differences.

    A complex number counts as two real numbers: its real part, then its imaginary part.

    Args:
        f: function of tensors.
        x: list of its arguments.
        delta: step of the differences; 1/1024 if None.

    Returns:
        Two tuples: the jacobians by the tape, and those by differences. Each holds one array of
        shape (size of f(x), size of x[i]) for each argument.

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
            stack_jacobian_rows(parts, jacobians, t)
            for jacobians, t in zip(zip(*of_parts, strict=True), xs, strict=True)
        ),
        tuple(estimate_jacobian(f, xs, i, step) for i in range(len(xs))),
    )


def stack_jacobian_rows(parts: list[Tensor], jacobians: tuple[Tensor, ...], x: Tensor) -> Any:
    """Stack the jacobian rows of the real and imaginary parts, interleaved by element."""
    rows, columns = parts[0]._array.size, as_real_vector(x).size
    stacked = np.stack([as_real_vector(j).reshape(rows, columns) for j in jacobians], axis=1)
    return stacked.reshape(rows * len(parts), columns)


def as_real_vector(tensor: Tensor) -> Any:
    """The elements as a vector of real numbers; each complex number gives two."""
    flat = np.ravel(np.array(tensor._array))
    return flat.view(flat.real.dtype)


def estimate_jacobian(f: Any, xs: list[Tensor], i: int, step: float) -> Any:
    """Estimate the jacobian of `f` in its i-th argument by central differences."""
    values = np.array(xs[i]._array)
    size = as_real_vector(xs[i]).size
    columns = []
    for k in range(size):
        ends = []
        for sign in (1, -1):
            flat = as_real_vector(xs[i])
            flat[k] += sign * step
            shifted = make_tensor(flat.view(values.dtype).reshape(values.shape))
            ends.append(as_real_vector(convert(f(*xs[:i], shifted, *xs[i + 1 :]))))
        columns.append((ends[0] - ends[1]) / (2 * step))
    return (
        np.stack(columns, axis=1)
        if columns
        else np.zeros((as_real_vector(convert(f(*xs))).size, 0), values.dtype)
    )
