"""tf.linalg.experimental: equations solved step by step."""

from __future__ import annotations

from typing import Any, NamedTuple

from gradtape.core.convert import convert
from gradtape.core.errors import public
from gradtape.core.tensor import Tensor
from gradtape.graph.raw_function import number_by
from gradtape.ops import elementwise as e
from gradtape.ops.no_nan import divide_no_nan
from gradtape.ops.reduce import reduce_sum


class CGState(NamedTuple):
    """How far the iteration has come: steps, solution, residual, direction, squared residual."""

    i: Tensor
    x: Tensor
    r: Tensor
    p: Tensor
    gamma: Tensor


def dot(x: Any, y: Any) -> Any:
    """Inner products along the last axis, which stays."""
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
    """Solve A @ x = rhs for a self-adjoint, positive definite operator (Hestenes, Stiefel, 1952).

    Args:
        operator: a LinearOperator that is promised to be both.
        rhs: vectors (..., n).
        preconditioner: an operator close to the inverse of A, or None.
        x: where to start; zeros if None.
        tol: the iteration stops when the residual is this much shorter than `rhs`.
        max_iter: after how many steps it stops anyway.
        name: accepted for TensorFlow's sake.

    Returns:
        How far it came; the field `x` is the solution.
    """
    if not (operator.is_self_adjoint and operator.is_positive_definite):
        raise ValueError("Expected a self-adjoint, positive definite operator.")
    b = convert(rhs, operator.dtype)
    start = e.zeros_like(b) if x is None else convert(x, operator.dtype)
    residual = b if x is None else e.subtract(b, operator.matvec(start))
    improved = residual if preconditioner is None else preconditioner.matvec(residual)
    length = dot(b, b)
    found: Any = start
    direction, gamma = improved, dot(residual, improved)
    steps = 0
    while steps < max_iter and number_by(is_longer, dot(residual, residual), length, float(tol)):
        moved = operator.matvec(direction)
        alpha = divide_no_nan(gamma, dot(direction, moved))
        found = e.add(found, e.multiply(alpha, direction))
        residual = e.subtract(residual, e.multiply(alpha, moved))
        improved = residual if preconditioner is None else preconditioner.matvec(residual)
        before, gamma = gamma, dot(residual, improved)
        ratio = divide_no_nan(gamma, before)
        direction = e.add(improved, e.multiply(ratio, direction))
        steps += 1
    flat = reduce_sum(gamma, axis=(-1,), keepdims=False)
    return CGState(convert(steps), found, residual, direction, flat)


def is_longer(square: Any, other: Any, tol: float) -> bool:
    """Whether of raw squares the largest exceeds what `tol` leaves of the largest of others."""
    bound = tol * float(abs(other).max(initial=0)) ** 0.5
    return float(abs(square).max(initial=0)) > bound**2
