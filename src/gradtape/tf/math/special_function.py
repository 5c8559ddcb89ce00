"""Special functions of `tf.math`: error functions, and the gamma, beta and zeta functions."""

from __future__ import annotations

import math
from typing import Any

from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.open_shape import is_same_shape
from gradtape.core.tensor import Tensor
from gradtape.ops import special as s
from gradtape.ops.reduce import reduce_sum
from gradtape.ops.shape import shape_of
from gradtape.tf.example.number import SPECIAL_FUNCTION
from gradtape.tf.public_op import (
    FLOATS,
    FULL_FLOATS,
    add_examples,
    check_dtype,
    check_same_dtype,
    convert_pair,
    convert_to_dtype,
    has_own_dtype,
    make_binary_op,
    make_unary_op,
    name_functions,
)

NO_NUMBERS = (False, False)

erf = make_unary_op(s.erf, FLOATS, label="Erf")
erfc = make_unary_op(s.erfc, FLOATS, label="Erfc")
erfinv = make_unary_op(s.erfinv, FLOATS, label="Erfinv")
ndtri = make_unary_op(s.ndtri, FLOATS, label="Ndtri")
lgamma = make_unary_op(s.lgamma, FLOATS, label="Lgamma")
digamma = make_unary_op(s.digamma, FLOATS, label="Digamma")
polygamma = make_binary_op(
    s.polygamma, FULL_FLOATS, label="Polygamma", names=("a", "x"), numbers=NO_NUMBERS
)
zeta = make_binary_op(s.zeta, FULL_FLOATS, label="Zeta", names=("x", "q"), numbers=NO_NUMBERS)
igamma = make_binary_op(s.igamma, FLOATS, label="Igamma", names=("a", "x"), numbers=NO_NUMBERS)
igammac = make_binary_op(s.igammac, FLOATS, label="Igammac", names=("a", "x"), numbers=NO_NUMBERS)


@public
def erfcinv(x: Any, name: str | None = None) -> Tensor:
    """Inverse of `erfc`.

    Args:
        x: a tensor of floats.
        name: ignored.

    Returns:
        A tensor like `x`.
    """
    tensor = check_dtype("Ndtri", convert(x), FLOATS)
    return -ndtri(tensor / 2) * math.sqrt(0.5)


@public
def betainc(a: Any, b: Any, x: Any, name: str | None = None) -> Tensor:
    """Regularised incomplete beta function.

    Args:
        a: a tensor of float32 or float64.
        b: a tensor of the dtype of `a`.
        x: a tensor of the dtype of `a`, with elements in [0, 1].
        name: ignored.

    Returns:
        A tensor of the shape of the arguments that are not scalars; these must have one shape.
    """
    first, second = convert_pair(a, b)
    third = convert(x) if has_own_dtype(x) else convert_to_dtype(x, first.dtype)
    check_same_dtype("Betainc", first, second)
    check_same_dtype("Betainc", first, third, 2)
    check_dtype("Betainc", first, FULL_FLOATS)
    shapes = [shape_of(t) for t in (first, second, third) if t._array.ndim]
    if not all(is_same_shape(shape, shapes[0]) for shape in shapes):
        raise InvalidArgumentError(
            f"betainc: Shapes of the arguments are inconsistent: {shapes}. Broadcast them first."
        )
    return s.betainc(first, second, third)


@public
def lbeta(x: Any, name: str | None = None) -> Tensor:
    """Logarithm of the absolute value of the beta function along the last axis.

    Args:
        x: a tensor of floats (..., n).
        name: ignored.

    Returns:
        A tensor (...).
    """
    tensor = check_dtype("Lgamma", convert(x), FLOATS)
    whole = reduce_sum(tensor, axis=(-1,), keepdims=False)
    return reduce_sum(s.lgamma(tensor), axis=(-1,), keepdims=False) - s.lgamma(whole)


name_functions(__name__, globals())

add_examples(globals(), SPECIAL_FUNCTION)
