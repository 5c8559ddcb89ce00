"""Elementwise functions with NumPy's names and promotion."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.errors import public
from gradtape.core.tensor import Tensor
from gradtape.graph.raw_function import rawly
from gradtape.ops import elementwise as e
from gradtape.tf.api import bitwise
from gradtape.tf.array.mask import where as choose
from gradtape.tf.math import cast
from gradtape.tf.math import elementwise as tf
from gradtape.tf.math.reduce import reduce_all
from gradtape.tf.numpy.promotion import (
    binary,
    inexact,
    inexact_of,
    named,
    numeric_of,
    promoted,
    tensor_of,
    unary,
)

absolute = unary("absolute", tf.abs)
abs = absolute
fabs = absolute
negative = unary("negative", tf.negative)
positive = unary("positive", lambda x: x)
sign = unary("sign", tf.sign)
square = unary("square", tf.square)
conjugate = unary("conjugate", cast.conj)
conj = conjugate
bitwise_not = unary("bitwise_not", bitwise.invert)

arccos = inexact("arccos", tf.acos)
arccosh = inexact("arccosh", tf.acosh)
arcsin = inexact("arcsin", tf.asin)
arcsinh = inexact("arcsinh", tf.asinh)
arctan = inexact("arctan", tf.atan)
arctanh = inexact("arctanh", tf.atanh)
cos = inexact("cos", tf.cos)
cosh = inexact("cosh", tf.cosh)
sin = inexact("sin", tf.sin)
sinh = inexact("sinh", tf.sinh)
tan = inexact("tan", tf.tan)
tanh = inexact("tanh", tf.tanh)
exp = inexact("exp", tf.exp)
expm1 = inexact("expm1", tf.expm1)
log = inexact("log", tf.log)
log1p = inexact("log1p", tf.log1p)
sqrt = inexact("sqrt", tf.sqrt)
ceil = inexact("ceil", tf.ceil)
floor = inexact("floor", tf.floor)
reciprocal = inexact("reciprocal", tf.reciprocal)
exp2 = inexact("exp2", lambda x: tf.exp(x * math.log(2)))
log2 = inexact("log2", lambda x: tf.log(x) / math.log(2))
log10 = inexact("log10", lambda x: tf.log(x) / math.log(10))
deg2rad = inexact("deg2rad", lambda x: x * (math.pi / 180))
rad2deg = inexact("rad2deg", lambda x: x * (180 / math.pi))
cbrt = inexact("cbrt", lambda x: tf.sign(x) * tf.abs(x) ** (1 / 3))
fix = inexact("fix", lambda x: choose(x < 0, tf.ceil(x), tf.floor(x)))
isfinite = inexact("isfinite", tf.is_finite)
isinf = inexact("isinf", tf.is_inf)
isnan = inexact("isnan", tf.is_nan)
isposinf = inexact("isposinf", lambda x: tf.equal(x, math.inf))
isneginf = inexact("isneginf", lambda x: tf.equal(x, -math.inf))


def ratio_of_sine(x: Tensor) -> Tensor:
    """sin(πx) / (πx), and 1 at zero."""
    angle = x * math.pi
    zero = tf.equal(angle, 0)
    safe = choose(zero, e.ones_like(angle), angle)
    return choose(zero, e.ones_like(angle), tf.sin(safe) / safe)


sinc = inexact("sinc", ratio_of_sine)

add = binary("add", lambda a, b: tf.logical_or(a, b) if a.dtype.is_bool else a + b)
multiply = binary("multiply", lambda a, b: tf.logical_and(a, b) if a.dtype.is_bool else a * b)
subtract = binary("subtract", tf.subtract, numeric_of)
divide = binary("divide", tf.divide, inexact_of)
true_divide = divide
floor_divide = binary("floor_divide", tf.floordiv, numeric_of)
mod = binary("mod", tf.floormod, numeric_of)
remainder = mod
power = binary("power", tf.pow, numeric_of)
float_power = power
maximum = binary("maximum", tf.maximum, numeric_of)
minimum = binary("minimum", tf.minimum, numeric_of)
arctan2 = binary("arctan2", tf.atan2, inexact_of)
nextafter = binary("nextafter", tf.nextafter, inexact_of)
hypot = binary("hypot", lambda a, b: tf.sqrt(a * a + b * b), inexact_of)
bitwise_and = binary("bitwise_and", bitwise.bitwise_and)
bitwise_or = binary("bitwise_or", bitwise.bitwise_or)
bitwise_xor = binary("bitwise_xor", bitwise.bitwise_xor)
equal = binary("equal", tf.equal)
not_equal = binary("not_equal", tf.not_equal)
less = binary("less", tf.less, numeric_of)
less_equal = binary("less_equal", tf.less_equal, numeric_of)
greater = binary("greater", tf.greater, numeric_of)
greater_equal = binary("greater_equal", tf.greater_equal, numeric_of)


def soft_maximum(base: float) -> Any:
    """Make a function that computes log(base**a + base**b) to `base`, without overflow."""
    scale = math.log(base)

    def function(a: Tensor, b: Tensor) -> Tensor:
        highest = tf.maximum(a, b)
        return highest + tf.log1p(tf.exp(-tf.abs(a - b) * scale)) / scale

    return function


logaddexp = binary("logaddexp", soft_maximum(math.e), inexact_of)
logaddexp2 = binary("logaddexp2", soft_maximum(2), inexact_of)


def truth_of(value: Any) -> Tensor:
    """Bool tensor that is True where an element is not zero."""
    return cast.cast(tensor_of(value), dtypes.bool)


logical_and = binary("logical_and", tf.logical_and, truth_of)
logical_or = binary("logical_or", tf.logical_or, truth_of)
logical_xor = binary("logical_xor", tf.logical_xor, truth_of)
logical_not = unary("logical_not", tf.logical_not, truth_of)


@public
def heaviside(x1: Any, x2: Any) -> Tensor:
    """As `numpy.heaviside`: 0 below zero, 1 above, `x2` at zero."""
    a, b = (inexact_of(x) for x in promoted(x1, x2))
    step = cast.cast(tf.greater(a, 0), a.dtype)
    return choose(tf.equal(a, 0), b, step)


@public
def signbit(x: Any) -> Tensor:
    """As `numpy.signbit`: whether a number is negative, or minus zero."""
    value = numeric_of(x)
    return rawly(np.signbit, value) if value.dtype.is_floating else tf.less(value, 0)


@public
def around(a: Any, decimals: int = 0) -> Tensor:
    """As `numpy.around`: round half to even, at `decimals` places."""
    x = tensor_of(a)
    wide = inexact_of(x)
    scale = 10.0**decimals
    out = tf.round(wide * scale) / scale if decimals else tf.round(wide)
    return cast.cast(out, x.dtype)


round = around


@public
def clip(a: Any, a_min: Any, a_max: Any) -> Tensor:
    """As `numpy.clip`: limit values to [a_min, a_max]; either bound may be None."""
    out = tensor_of(a)
    if a_min is not None:
        out = maximum(out, a_min)
    return out if a_max is None else minimum(out, a_max)


@public
def divmod(x1: Any, x2: Any) -> tuple[Tensor, Tensor]:
    """As `numpy.divmod`: the floored quotient and the remainder."""
    return floor_divide(x1, x2), mod(x1, x2)


def by_numpy(name: str, function: Any) -> Callable[..., Tensor]:
    """Make a public function of two integer arrays; it has no gradient."""

    @public
    def of_integers(x1: Any, x2: Any) -> Tensor:
        a, b = promoted(x1, x2)
        return rawly(function, a, b)

    return named(of_integers, name)


gcd = by_numpy("gcd", np.gcd)
lcm = by_numpy("lcm", np.lcm)


@public
def real(val: Any) -> Tensor:
    """As `numpy.real`."""
    return tf.real(tensor_of(val))


@public
def imag(val: Any) -> Tensor:
    """As `numpy.imag`."""
    return tf.imag(tensor_of(val))


@public
def angle(z: Any, deg: bool = False) -> Tensor:
    """As `numpy.angle`, in degrees if `deg`."""
    out = tf.angle(inexact_of(z))
    return out * (180 / math.pi) if deg else out


@public
def isclose(
    a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Tensor:
    """As `numpy.isclose`."""
    x, y = (inexact_of(v) for v in promoted(a, b))
    near = tf.less_equal(tf.abs(x - y), tf.abs(y) * rtol + atol)
    near = tf.logical_and(near, tf.is_finite(y)) if y.dtype.is_floating else near
    near = tf.logical_or(near, tf.equal(x, y))
    return tf.logical_or(near, tf.logical_and(isnan(x), isnan(y))) if equal_nan else near


@public
def allclose(
    a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Tensor:
    """As `numpy.allclose`."""
    return reduce_all(isclose(a, b, rtol, atol, equal_nan))


@public
def array_equal(a1: Any, a2: Any) -> Tensor:
    """As `numpy.array_equal`: whether shapes and elements are equal."""
    x, y = promoted(a1, a2)
    return tensor_of(False) if x.shape != y.shape else reduce_all(tf.equal(x, y))
