"""tf.linalg.experimental.conjugate_gradient, an iterative solver."""

from __future__ import annotations

from typing import Any, NamedTuple

from gradtape.core.argument import describe
from gradtape.core.convert import convert
from gradtape.core.errors import public
from gradtape.core.tensor import Tensor
from gradtape.graph.raw_function import compute_integer
from gradtape.ops import elementwise as e
from gradtape.ops.no_nan import divide_no_nan
from gradtape.ops.reduce import reduce_sum


class CGState(NamedTuple):
    """State of the iteration: steps, solution, residual, direction, squared residual."""

    i: Tensor
    x: Tensor
    r: Tensor
    p: Tensor
    gamma: Tensor


def inner_product(x: Any, y: Any) -> Any:
    """Inner products along the last axis, which is kept with length one."""
    return reduce_sum(e.multiply(e.conj(x), y), axis=(-1,), keepdims=True)


@public
def conjugate_gradient(
    operator: Any,
    rhs: Any,
    preconditioner: Any = None,
    x: Any = None,
    tol: float = 1e-5,
    max_iter: int = 20,
    name: str | None = "conjugate_gradient",
) -> CGState:
    """Solution of A @ x = rhs for self-adjoint, positive definite A (Hestenes, Stiefel, 1952).

    Args:
        operator: a LinearOperator with the hints `is_self_adjoint` and `is_positive_definite`.
        rhs: vectors (..., n).
        preconditioner: an operator close to the inverse of A, or None.
        x: the initial guess; zeros if None.
        tol: stop when the norm of the residual is at most `tol` times that of `rhs`.
        max_iter: the largest number of steps.
        name: has no effect here.

    Returns:
        The final state; its field `x` is the solution.
    """
    if not hasattr(operator, "is_self_adjoint"):
        raise TypeError(f"operator must be a LinearOperator. Received {describe(operator)}.")
    if not (operator.is_self_adjoint and operator.is_positive_definite):
        raise ValueError("Expected a self-adjoint, positive definite operator.")
    b = convert(rhs, operator.dtype)
    start = e.zeros_like(b) if x is None else convert(x, operator.dtype)
    residual = b if x is None else e.subtract(b, operator.matvec(start))
    preconditioned = residual if preconditioner is None else preconditioner.matvec(residual)
    length = inner_product(b, b)
    solution: Any = start
    direction, gamma = preconditioned, inner_product(residual, preconditioned)
    steps = 0
    while steps < max_iter and compute_integer(
        is_above_tolerance, inner_product(residual, residual), length, float(tol)
    ):
        image = operator.matvec(direction)
        alpha = divide_no_nan(gamma, inner_product(direction, image))
        solution = e.add(solution, e.multiply(alpha, direction))
        residual = e.subtract(residual, e.multiply(alpha, image))
        preconditioned = residual if preconditioner is None else preconditioner.matvec(residual)
        previous, gamma = gamma, inner_product(residual, preconditioned)
        beta = divide_no_nan(gamma, previous)
        direction = e.add(preconditioned, e.multiply(beta, direction))
        steps += 1
    flat = reduce_sum(gamma, axis=(-1,), keepdims=False)
    return CGState(convert(steps), solution, residual, direction, flat)


def is_above_tolerance(square: Any, other: Any, tol: float) -> bool:
    """Whether the largest raw `square` exceeds `tol` squared times the largest `other`."""
    bound = tol * float(abs(other).max(initial=0)) ** 0.5
    return float(abs(square).max(initial=0)) > bound**2
