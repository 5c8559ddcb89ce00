"""Raw ops that are gradients: cotangents pulled back through the public function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtape.core.convert import convert
from gradtape.core.tensor import Tensor
from gradtape.tape.custom_gradient import custom_gradient
from gradtape.tape.gradient_tape import GradientTape
from gradtape.tf.array.creation import zeros
from gradtape.tf.array.pad import pad
from gradtape.tf.array.shape import identity
from gradtape.tf.array.slice import strided_slice
from gradtape.tf.linalg.diagonal import band_part
from gradtape.tf.linalg.matmul import adjoint, matmul
from gradtape.tf.linalg.solve import triangular_solve


def pull_back(function: Callable[[Any], Any], x: Any, g: Any) -> Tensor:
    """The gradient of `function` at `x`, for the cotangent `g` of its result."""
    point = convert(x)
    with GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(point)
        out = function(point)
    found: Tensor = tape.gradient(out, point, output_gradients=convert(g, out.dtype))
    return found


def pull_back_pool(
    pool: Any, orig_input_shape: Any, grad: Any, ksize: Any, strides: Any, padding: Any, form: Any
) -> Tensor:
    """Gradient of a pooling that is linear, which needs the shape of the input only."""
    g = convert(grad)
    x = zeros(orig_input_shape, g.dtype)
    return pull_back(lambda at: pool(at, ksize, strides, padding, form), x, g)


def pull_back_max_pool(
    pool: Any, orig_input: Any, grad: Any, ksize: Any, strides: Any, padding: Any, form: Any
) -> Tensor:
    """Gradient of a maximum pooling."""
    sizes, steps = (convert(value).numpy().tolist() for value in (ksize, strides))
    return pull_back(lambda at: pool(at, sizes, steps, padding, form), orig_input, grad)


def pull_back_mirror_pad(input: Any, paddings: Any, mode: str) -> Tensor:
    """Gradient of a mirror padding: fold the borders back."""
    g, width = convert(input), convert(paddings)
    inner = [size - sum(both) for size, both in zip(g.shape, width.numpy().tolist(), strict=True)]
    return pull_back(lambda at: pad(at, width, mode), zeros(inner, g.dtype), g)


def pull_back_slice(shape: Any, begin: Any, end: Any, strides: Any, dy: Any, *masks: Any) -> Tensor:
    """Gradient of a strided slice: `dy` inside zeros of `shape`."""
    g = convert(dy)
    x = zeros(shape, g.dtype)
    return pull_back(lambda at: strided_slice(at, begin, end, strides, *masks), x, g)


def pull_back_cholesky(l: Any, grad: Any) -> Tensor:  # noqa: E741 - TensorFlow's name
    """Gradient of `cholesky` from its result (Murray, 2016)."""
    lower, g = convert(l), convert(grad)
    inner = matmul(lower, g, adjoint_a=True)
    inner = band_part(inner, -1, 0) - 0.5 * band_part(inner, 0, 0)
    left = triangular_solve(lower, inner, adjoint=True)
    middle = adjoint(triangular_solve(lower, adjoint(left), adjoint=True))
    return 0.5 * (middle + adjoint(middle))


def prevent_gradient(input: Any, message: str) -> Tensor:
    """The identity, whose gradient raises LookupError."""

    @custom_gradient
    def guarded(x: Any) -> Any:
        def refuse(*_: Any) -> Any:
            raise LookupError(
                f"PreventGradient: Gradient explicitly disabled. Reason: {message!r}."
            )

        return identity(x), refuse

    result: Tensor = guarded(convert(input))
    return result
