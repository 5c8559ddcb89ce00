"""Elementwise functions of `tf.math`: each pairs a primitive with TensorFlow's dtypes for it."""

from __future__ import annotations

import math
from typing import Any

from gradtape.core import dtypes
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.fastpath.codegen import checked
from gradtape.core.tensor import Tensor
from gradtape.ops import elementwise as e
from gradtape.ops import integer, no_nan
from gradtape.ops import special as s
from gradtape.ops.reduce import reduce_sum
from gradtape.ops.shape import shape_of
from gradtape.tf.math.cast import cast
from gradtape.tf.protocol import Binary
from gradtape.tf.public_op import (
    ANY,
    BOOL,
    COMPLEX,
    FLOATS,
    INDICES,
    INEXACT,
    INTEGERS,
    NUMBERS,
    REAL,
    SIGNED,
    SINGLES,
    STRING,
    adopt,
    binary,
    booleans,
    documented,
    is_typed,
    left_first,
    operand,
    pair,
    prefer,
    same,
    strictly,
    unary,
)

NEITHER = (False, False)

# -- arithmetic ------------------------------------------------------------------------------------

add = binary(
    e.add,
    NUMBERS,
    e.join_strings,
    STRING,
    label="AddV2",
    operands=left_first,
    numbers=(False, True),
)
subtract = binary(e.subtract, NUMBERS, label="Sub")
multiply = binary(e.multiply, NUMBERS, label="Mul")
floordiv = binary(e.floordiv, FLOATS, integer.floordiv_integers, INTEGERS, label="FloorDiv")
floormod = binary(e.floormod, FLOATS, integer.floormod_integers, INTEGERS, label="FloorMod")
mod = floormod
truncatediv = binary(
    e.truncatediv, FLOATS, integer.truncatediv_integers, INTEGERS, label="TruncateDiv"
)
truncatemod = binary(
    e.truncatemod, FLOATS, integer.truncatemod_integers, INDICES, label="TruncateMod"
)
pow = binary(e.power, INEXACT, integer.power_integers, SIGNED, label="Pow", numbers=(False, True))
negative = unary(e.negative, INEXACT | SIGNED, label="Neg")
abs = unary(e.absolute, INEXACT | SIGNED, label="Abs")
sign = unary(e.sign, INEXACT | SIGNED, label="Sign")
square = unary(e.square, NUMBERS, label="Square")
sqrt = unary(e.sqrt, INEXACT, label="Sqrt")
rsqrt = unary(e.rsqrt, INEXACT, label="Rsqrt")
reciprocal = unary(e.reciprocal, INEXACT, label="Reciprocal")
maximum = binary(e.maximum, REAL, label="Maximum")
minimum = binary(e.minimum, REAL, label="Minimum")
squared_difference = binary(e.squared_difference, INEXACT | INDICES, label="SquaredDifference")
nextafter = binary(e.nextafter, SINGLES, label="NextAfter", names=("x1", "x2"), numbers=NEITHER)
multiply_no_nan = binary(
    no_nan.multiply_no_nan, INEXACT, label="MulNoNan", operands=strictly, numbers=NEITHER
)
xlogy = binary(no_nan.xlogy, INEXACT, label="Xlogy", numbers=NEITHER)
xlog1py = binary(no_nan.xlog1py, INEXACT, label="Xlog1py", numbers=NEITHER)
xdivy = binary(no_nan.xdivy, INEXACT, label="Xdivy", numbers=NEITHER)

QUOTIENTS = {
    **dict.fromkeys((dtypes.uint8, dtypes.int8, dtypes.uint16, dtypes.int16), dtypes.float32),
    **dict.fromkeys((dtypes.uint32, dtypes.int32, dtypes.uint64, dtypes.int64), dtypes.float64),
}


def quotient(function: Any, x: Any, y: Any, name: str) -> Tensor:
    """Divide two values of one dtype; integers are first cast to the float of `QUOTIENTS`."""
    a = convert(x)
    b = prefer(y, a.dtype)
    dtype = a.dtype
    if dtype is not b.dtype:
        raise TypeError(
            f"{name}: `x` and `y` must have the same dtype, got {dtype!r} != {b.dtype!r}. Cast "
            "one of them first."
        )
    if dtype in QUOTIENTS:
        a, b = cast(a, QUOTIENTS[dtype]), cast(b, QUOTIENTS[dtype])
    elif not (dtype.is_floating or dtype.is_complex):
        raise TypeError(
            f"{name}: operands must be numbers. Invalid dtype {dtype!r}. Cast the operands first."
        )
    return function(a, b)


def quotient_of(function: Any, name: str, either: bool) -> Any:
    """Make the general form of a division; with `either`, `y` decides the dtype if `x` has none."""

    def convert_and_divide(x: Any, y: Any) -> Tensor:
        if either and is_typed(y) and not is_typed(x):
            x = adopt(x, convert(y).dtype)
        return quotient(function, x, y, name)

    return convert_and_divide


def division(function: Any, name: str, either: bool, **options: Any) -> Binary:
    """Make a public division."""
    general = quotient_of(function, name, either)
    return documented(checked(function.op, INEXACT, general, **options), function)


divide = division(e.divide, "divide", True)
truediv = division(e.divide, "truediv", False, numbers=(False, True))
realdiv = binary(e.divide, INEXACT, label="RealDiv")
divide_no_nan = division(no_nan.divide_no_nan, "divide_no_nan", True, numbers=NEITHER)


@public
def reciprocal_no_nan(x: Any, name: str | None = None) -> Tensor:
    """One over `x`; zero where `x` is zero.

    Args:
        x: a tensor of floats or complex numbers.
        name: ignored.

    Returns:
        A tensor like `x`.
    """
    tensor = operand("DivNoNan", convert(x), INEXACT)
    return no_nan.divide_no_nan(e.ones_like(tensor), tensor)


# -- exponentials, trigonometry, activations -------------------------------------------------------

exp = unary(e.exp, INEXACT, label="Exp")
expm1 = unary(e.expm1, INEXACT, label="Expm1")
log = unary(e.log, INEXACT, label="Log")
log1p = unary(e.log1p, INEXACT, label="Log1p")
sin = unary(e.sin, INEXACT, label="Sin")
cos = unary(e.cos, INEXACT, label="Cos")
tan = unary(e.tan, INEXACT, label="Tan")
asin = unary(e.asin, INEXACT, label="Asin")
acos = unary(e.acos, INEXACT, label="Acos")
atan = unary(e.atan, INEXACT, label="Atan")
atan2 = binary(e.atan2, FLOATS, label="Atan2", names=("y", "x"))
sinh = unary(e.sinh, INEXACT, label="Sinh")
cosh = unary(e.cosh, INEXACT, label="Cosh")
tanh = unary(e.tanh, INEXACT, label="Tanh")
asinh = unary(e.asinh, INEXACT, label="Asinh")
acosh = unary(e.acosh, INEXACT, label="Acosh")
atanh = unary(e.atanh, INEXACT, label="Atanh")
sigmoid = unary(e.sigmoid, INEXACT, label="Sigmoid")
softplus = unary(e.softplus, FLOATS, label="Softplus", names=("features",))
softsign = unary(e.softsign, FLOATS, label="Softsign", names=("features",))


@public
def log_sigmoid(x: Any, name: str | None = None) -> Tensor:
    """Logarithm of the sigmoid, finite for large negative `x`.

    Args:
        x: a tensor of floats.
        name: ignored.

    Returns:
        A tensor like `x`.
    """
    return -softplus(-operand("Softplus", convert(x), FLOATS))


# -- comparisons and logic -------------------------------------------------------------------------

equal = binary(e.equal, ANY, label="Equal")
not_equal = binary(e.not_equal, ANY, label="NotEqual")
less = binary(e.less, REAL, label="Less")
less_equal = binary(e.less_equal, REAL, label="LessEqual")
greater = binary(e.greater, REAL, label="Greater")
greater_equal = binary(e.greater_equal, REAL, label="GreaterEqual")
logical_and = binary(e.logical_and, BOOL, label="LogicalAnd", operands=booleans)
logical_or = binary(e.logical_or, BOOL, label="LogicalOr", operands=booleans)
logical_xor = binary(e.logical_xor, BOOL, label="LogicalXor", operands=booleans)
logical_not = unary(e.logical_not, BOOL, label="LogicalNot", dtype=dtypes.bool)
is_nan = unary(e.is_nan, FLOATS, label="IsNan")
is_inf = unary(e.is_inf, FLOATS, label="IsInf")
is_finite = unary(e.is_finite, FLOATS, label="IsFinite")

# -- rounding --------------------------------------------------------------------------------------

floor = unary(e.floor, FLOATS, label="Floor")
ceil = unary(e.ceil, FLOATS, label="Ceil")
rint = unary(e.rint, FLOATS, label="Rint")
round = unary(e.rint, FLOATS, e.identity, INTEGERS, label="Round")

# -- complex parts ---------------------------------------------------------------------------------

real = unary(e.real, COMPLEX, e.identity, REAL, label="Real", names=("input",))
imag = unary(e.imag, COMPLEX, e.zeros_like, REAL, label="Imag", names=("input",))
angle = unary(e.angle, COMPLEX, e.angle_of_real, FLOATS, label="Angle", names=("input",))

# -- special functions -----------------------------------------------------------------------------

erf = unary(s.erf, FLOATS, label="Erf")
erfc = unary(s.erfc, FLOATS, label="Erfc")
erfinv = unary(s.erfinv, FLOATS, label="Erfinv")
ndtri = unary(s.ndtri, FLOATS, label="Ndtri")
lgamma = unary(s.lgamma, FLOATS, label="Lgamma")
digamma = unary(s.digamma, FLOATS, label="Digamma")
polygamma = binary(s.polygamma, SINGLES, label="Polygamma", names=("a", "x"), numbers=NEITHER)
zeta = binary(s.zeta, SINGLES, label="Zeta", names=("x", "q"), numbers=NEITHER)
igamma = binary(s.igamma, FLOATS, label="Igamma", names=("a", "x"), numbers=NEITHER)
igammac = binary(s.igammac, FLOATS, label="Igammac", names=("a", "x"), numbers=NEITHER)


@public
def erfcinv(x: Any, name: str | None = None) -> Tensor:
    """Inverse of `erfc`.

    Args:
        x: a tensor of floats.
        name: ignored.

    Returns:
        A tensor like `x`.
    """
    tensor = operand("Ndtri", convert(x), FLOATS)
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
    first, second = pair(a, b)
    third = convert(x) if is_typed(x) else adopt(x, first.dtype)
    same("Betainc", first, second)
    same("Betainc", first, third, 2)
    operand("Betainc", first, SINGLES)
    shapes = {shape_of(t) for t in (first, second, third)} - {()}
    if len(shapes) > 1:
        raise InvalidArgumentError(
            f"betainc: Shapes of the arguments are inconsistent: {sorted(shapes)}. Broadcast "
            "them first."
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
    tensor = operand("Lgamma", convert(x), FLOATS)
    whole = reduce_sum(tensor, axis=(-1,), keepdims=False)
    return reduce_sum(s.lgamma(tensor), axis=(-1,), keepdims=False) - s.lgamma(whole)
