"""Elementwise functions with NumPy's names and promotion."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.errors import public
from gradtape.core.tensor import Tensor
from gradtape.graph.raw_function import apply_raw
from gradtape.ops import elementwise as e
from gradtape.tf.api import bitwise
from gradtape.tf.array.mask import where as choose
from gradtape.tf.math import cast
from gradtape.tf.math import elementwise as tf
from gradtape.tf.math.reduce import reduce_all
from gradtape.tf.numpy.promotion import (
    as_inexact,
    as_numeric,
    as_tnp_tensor,
    make_binary,
    make_inexact_unary,
    make_unary,
    name_after_numpy,
    promote_tensors,
)

absolute = make_unary("absolute", tf.abs)
abs = absolute
fabs = absolute
negative = make_unary("negative", tf.negative)
positive = make_unary("positive", lambda x: x)
sign = make_unary("sign", tf.sign)
square = make_unary("square", tf.square)
conjugate = make_unary("conjugate", cast.conj)
conj = conjugate
bitwise_not = make_unary("bitwise_not", bitwise.invert)

arccos = make_inexact_unary("arccos", tf.acos)
arccosh = make_inexact_unary("arccosh", tf.acosh)
arcsin = make_inexact_unary("arcsin", tf.asin)
arcsinh = make_inexact_unary("arcsinh", tf.asinh)
arctan = make_inexact_unary("arctan", tf.atan)
arctanh = make_inexact_unary("arctanh", tf.atanh)
cos = make_inexact_unary("cos", tf.cos)
cosh = make_inexact_unary("cosh", tf.cosh)
sin = make_inexact_unary("sin", tf.sin)
sinh = make_inexact_unary("sinh", tf.sinh)
tan = make_inexact_unary("tan", tf.tan)
tanh = make_inexact_unary("tanh", tf.tanh)
exp = make_inexact_unary("exp", tf.exp)
expm1 = make_inexact_unary("expm1", tf.expm1)
log = make_inexact_unary("log", tf.log)
log1p = make_inexact_unary("log1p", tf.log1p)
sqrt = make_inexact_unary("sqrt", tf.sqrt)
ceil = make_inexact_unary("ceil", tf.ceil)
floor = make_inexact_unary("floor", tf.floor)
reciprocal = make_inexact_unary("reciprocal", tf.reciprocal)
exp2 = make_inexact_unary("exp2", lambda x: tf.exp(x * math.log(2)))
log2 = make_inexact_unary("log2", lambda x: tf.log(x) / math.log(2))
log10 = make_inexact_unary("log10", lambda x: tf.log(x) / math.log(10))
deg2rad = make_inexact_unary("deg2rad", lambda x: x * (math.pi / 180))
rad2deg = make_inexact_unary("rad2deg", lambda x: x * (180 / math.pi))
cbrt = make_inexact_unary("cbrt", lambda x: tf.sign(x) * tf.abs(x) ** (1 / 3))
fix = make_inexact_unary("fix", lambda x: choose(x < 0, tf.ceil(x), tf.floor(x)))
isfinite = make_inexact_unary("isfinite", tf.is_finite)
isinf = make_inexact_unary("isinf", tf.is_inf)
isnan = make_inexact_unary("isnan", tf.is_nan)
isposinf = make_inexact_unary("isposinf", lambda x: tf.equal(x, math.inf))
isneginf = make_inexact_unary("isneginf", lambda x: tf.equal(x, -math.inf))


def compute_sinc(x: Tensor) -> Tensor:
    """sin(πx) / (πx), and 1 at zero."""
    angle = x * math.pi
    zero = tf.equal(angle, 0)
    safe = choose(zero, e.ones_like(angle), angle)
    return choose(zero, e.ones_like(angle), tf.sin(safe) / safe)


sinc = make_inexact_unary("sinc", compute_sinc)

add = make_binary("add", lambda a, b: tf.logical_or(a, b) if a.dtype.is_bool else a + b)
multiply = make_binary("multiply", lambda a, b: tf.logical_and(a, b) if a.dtype.is_bool else a * b)
subtract = make_binary("subtract", tf.subtract, as_numeric)
divide = make_binary("divide", tf.divide, as_inexact)
true_divide = divide
floor_divide = make_binary("floor_divide", tf.floordiv, as_numeric)
mod = make_binary("mod", tf.floormod, as_numeric)
remainder = mod
power = make_binary("power", tf.pow, as_numeric)
float_power = power
maximum = make_binary("maximum", tf.maximum, as_numeric)
minimum = make_binary("minimum", tf.minimum, as_numeric)
arctan2 = make_binary("arctan2", tf.atan2, as_inexact)
nextafter = make_binary("nextafter", tf.nextafter, as_inexact)
hypot = make_binary("hypot", lambda a, b: tf.sqrt(a * a + b * b), as_inexact)
bitwise_and = make_binary("bitwise_and", bitwise.bitwise_and)
bitwise_or = make_binary("bitwise_or", bitwise.bitwise_or)
bitwise_xor = make_binary("bitwise_xor", bitwise.bitwise_xor)
equal = make_binary("equal", tf.equal)
not_equal = make_binary("not_equal", tf.not_equal)
less = make_binary("less", tf.less, as_numeric)
less_equal = make_binary("less_equal", tf.less_equal, as_numeric)
greater = make_binary("greater", tf.greater, as_numeric)
greater_equal = make_binary("greater_equal", tf.greater_equal, as_numeric)


def make_logaddexp(base: float) -> Any:
    """Make a function that computes log(base**a + base**b) to `base`, without overflow."""
    scale = math.log(base)

    def function(a: Tensor, b: Tensor) -> Tensor:
        highest = tf.maximum(a, b)
        return highest + tf.log1p(tf.exp(-tf.abs(a - b) * scale)) / scale

    return function


logaddexp = make_binary("logaddexp", make_logaddexp(math.e), as_inexact)
logaddexp2 = make_binary("logaddexp2", make_logaddexp(2), as_inexact)


def as_bool_tensor(value: Any) -> Tensor:
    """Bool tensor that is True where an element is not zero."""
    return cast.cast(as_tnp_tensor(value), dtypes.bool)


logical_and = make_binary("logical_and", tf.logical_and, as_bool_tensor)
logical_or = make_binary("logical_or", tf.logical_or, as_bool_tensor)
logical_xor = make_binary("logical_xor", tf.logical_xor, as_bool_tensor)
logical_not = make_unary("logical_not", tf.logical_not, as_bool_tensor)


@public
def heaviside(x1: Any, x2: Any) -> Tensor:
    """As `numpy.heaviside`: 0 below zero, 1 above, `x2` at zero."""
    a, b = (as_inexact(x) for x in promote_tensors(x1, x2))
    step = cast.cast(tf.greater(a, 0), a.dtype)
    return choose(tf.equal(a, 0), b, step)


@public
def signbit(x: Any) -> Tensor:
    """As `numpy.signbit`: whether a number is negative, or minus zero."""
    value = as_numeric(x)
    return apply_raw(np.signbit, value) if value.dtype.is_floating else tf.less(value, 0)


@public
def around(a: Any, decimals: int = 0) -> Tensor:
    """As `numpy.around`: round half to even, at `decimals` places."""
    x = as_tnp_tensor(a)
    wide = as_inexact(x)
    scale = 10.0**decimals
    out = tf.round(wide * scale) / scale if decimals else tf.round(wide)
    return cast.cast(out, x.dtype)


round = around


@public
def clip(a: Any, a_min: Any, a_max: Any) -> Tensor:
    """As `numpy.clip`: limit values to [a_min, a_max]; either bound may be None."""
    out = as_tnp_tensor(a)
    if a_min is not None:
        out = maximum(out, a_min)
    return out if a_max is None else minimum(out, a_max)


@public
def divmod(x1: Any, x2: Any) -> tuple[Tensor, Tensor]:
    """As `numpy.divmod`: the floored quotient and the remainder."""
    return floor_divide(x1, x2), mod(x1, x2)


def make_integer_binary(name: str, function: Any) -> Callable[..., Tensor]:
    """Make a public function of two integer arrays; it has no gradient."""

    @public
    def of_integers(x1: Any, x2: Any) -> Tensor:
        a, b = promote_tensors(x1, x2)
        return apply_raw(function, a, b)

    return name_after_numpy(of_integers, name)


gcd = make_integer_binary("gcd", np.gcd)
lcm = make_integer_binary("lcm", np.lcm)


@public
def real(val: Any) -> Tensor:
    """As `numpy.real`."""
    return tf.real(as_tnp_tensor(val))


@public
def imag(val: Any) -> Tensor:
    """As `numpy.imag`."""
    return tf.imag(as_tnp_tensor(val))


@public
def angle(z: Any, deg: bool = False) -> Tensor:
    """As `numpy.angle`, in degrees if `deg`."""
    out = tf.angle(as_inexact(z))
    return out * (180 / math.pi) if deg else out


@public
def isclose(
    a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Tensor:
    """As `numpy.isclose`."""
    x, y = (as_inexact(v) for v in promote_tensors(a, b))
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
    x, y = promote_tensors(a1, a2)
    return as_tnp_tensor(False) if x.shape != y.shape else reduce_all(tf.equal(x, y))
