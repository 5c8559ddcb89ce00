"""Elementwise primitives: arithmetic, exponentials, choice, activations, complex parts, casts."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.primitive import elementwise, primitive
from gradtape.core.shape_rule import broadcast_inputs, keep_shape
from gradtape.ops.relu_kernel import is_positive, keep_where, positive_part

lax: Any = None  # `jax.lax` in the copy of this module that runs on JAX


@elementwise(ufunc=np.add, a=lambda g: g, b=lambda g: g)
def add(a, b):
    """Sum of `a` and `b`."""
    return a + b


@elementwise(ufunc=np.subtract, a=lambda g: g, b=lambda g: -g)
def subtract(a, b):
    """Difference of `a` and `b`."""
    return a - b


@elementwise(ufunc=np.multiply, a=lambda g, b: g * b, b=lambda g, a: g * a)
def multiply(a, b):
    """Product of `a` and `b`."""
    return a * b


@elementwise(ufunc=np.divide, a=lambda g, b: g / b, b=lambda g, b, out: -g * out / b)
def divide(a, b):
    """Quotient of `a` and `b`."""
    return a / b


@elementwise(ufunc=np.negative, x=lambda g: -g)
def negative(x):
    """Minus `x`."""
    return -x


@elementwise(a=None, b=None)
def floordiv(a, b):
    """Quotient rounded towards minus infinity; a step function, so without gradient."""
    return np.floor(a / b)


@elementwise(ufunc=np.remainder, a=lambda g: g, b=lambda g, a, b: -g * floor(a / b))
def floormod(a, b):
    """Remainder with the sign of `b`."""
    return a % b


@elementwise(a=None, b=None)
def truncatediv(a, b):
    """Quotient rounded towards zero; a step function, so without gradient."""
    return np.trunc(a / b)


@elementwise(ufunc=np.fmod, a=lambda g: g, b=lambda g, a, b: -g * truncate(a / b))
def truncatemod(a, b):
    """Remainder with the sign of `a`."""
    return np.fmod(a, b)


def power_wrt_y(g, x, x_spec, out):
    """Treat log(x) as zero where `x` is not positive, as TensorFlow does."""
    positive = not_equal(x, 0) if x_spec.dtype.kind == "c" else greater(x, 0)
    return g * out * log(select(positive, x, ones_like(x)))


@elementwise(ufunc=np.power, x=lambda g, x, y: g * y * x ** (y - 1), y=power_wrt_y)
def power(x, y):
    """`x` to the power `y`."""
    return x**y


@elementwise(ufunc=np.square, x=lambda g, x: g * (x + x))
def square(x):
    """`x` times itself."""
    return x * x


def squared_difference_wrt_a(g, a, b):
    """Undo the engine's conjugation: TensorFlow does not conjugate a complex difference."""
    difference = a - b
    return 2 * g * (conj(difference) if is_complex(difference) else difference)


@elementwise(a=squared_difference_wrt_a, b=lambda g, a, b: -squared_difference_wrt_a(g, a, b))
def squared_difference(a, b):
    """Square of the difference; for complex numbers, of its absolute value."""
    difference = a - b
    return (
        np.conj(difference) * difference
        if difference.dtype.kind == "c"
        else difference * difference
    )


@elementwise(ufunc=np.nextafter, x1=lambda g: g, x2=lambda g: zeros_like(g))
def nextafter(x1, x2):
    """The next number after `x1` in the direction of `x2`."""
    return np.nextafter(x1, x2)


@primitive(xs=lambda g: g, shape=broadcast_inputs)
def add_all(*xs):
    """Sum of arrays of one shape."""
    return sum(xs[1:], xs[0])


@elementwise(a=None, b=None)
def join_strings(a, b):
    """Strings of `a` followed by those of `b`."""
    return np.asarray(a + b, object)


join_strings.keep_on_host("strings never leave the host")


@elementwise(x=lambda g, slope: multiply_by_slope(g, slope), slope=lambda g, x: g * x)
def multiply_by_slope(x, slope):
    """`x` times `slope`; zero where `x` is zero even if `slope` is infinite, as in TensorFlow."""
    if type(x) is not np.ndarray and type(slope) is not np.ndarray:
        return x * slope if x else x * 0
    return gate(x * slope, np.not_equal(x, 0))


@multiply_by_slope.lower
def lower_multiply_by_slope(x, slope):
    return np.where(np.equal(x, 0), np.zeros((), x.dtype), x * slope)


@elementwise(x=lambda g, out: multiply_by_slope(g, -out * out))
def reciprocal(x):
    """One over `x`."""
    return 1 / x


@elementwise(ufunc=np.sqrt, x=lambda g, out: multiply_by_slope(g, 1 / (out + out)))
def sqrt(x):
    """Square root."""
    return np.sqrt(x)


@elementwise(x=lambda g, out: multiply_by_slope(g, out * out * out / -2))
def rsqrt(x):
    """One over the square root."""
    return 1 / np.sqrt(x)


@elementwise(ufunc=np.exp, x=lambda g, out: g * out)
def exp(x):
    """Exponential."""
    return np.exp(x)


@elementwise(ufunc=np.expm1, x=lambda g, x: g * exp(x))
def expm1(x):
    """Exponential minus one, accurate near zero."""
    return np.expm1(x)


@elementwise(ufunc=np.log, x=lambda g, x: g / x)
def log(x):
    """Natural logarithm."""
    return np.log(x)


@elementwise(ufunc=np.log1p, x=lambda g, x: g / (x + 1))
def log1p(x):
    """Natural logarithm of one plus `x`."""
    return np.log1p(x)


@elementwise(ufunc=np.sin, x=lambda g, x: g * cos(x))
def sin(x):
    """Sine."""
    return np.sin(x)


@elementwise(ufunc=np.cos, x=lambda g, x: -g * sin(x))
def cos(x):
    """Cosine."""
    return np.cos(x)


@elementwise(ufunc=np.tan, x=lambda g, out: g * (out * out + 1))
def tan(x):
    """Tangent."""
    return np.tan(x)


@elementwise(ufunc=np.arcsin, x=lambda g, x: g * rsqrt(1 - x * x))
def asin(x):
    """Inverse sine."""
    return np.arcsin(x)


@elementwise(ufunc=np.arccos, x=lambda g, x: -g * rsqrt(1 - x * x))
def acos(x):
    """Inverse cosine."""
    return np.arccos(x)


@elementwise(ufunc=np.arctan, x=lambda g, x: g / (x * x + 1))
def atan(x):
    """Inverse tangent."""
    return np.arctan(x)


@elementwise(
    ufunc=np.arctan2,
    y=lambda g, y, x: g * x / (x * x + y * y),
    x=lambda g, y, x: -g * y / (x * x + y * y),
)
def atan2(y, x):
    """Angle of the point (`x`, `y`)."""
    return np.arctan2(y, x)


@elementwise(ufunc=np.sinh, x=lambda g, x: g * cosh(x))
def sinh(x):
    """Hyperbolic sine."""
    return np.sinh(x)


@elementwise(ufunc=np.cosh, x=lambda g, x: g * sinh(x))
def cosh(x):
    """Hyperbolic cosine."""
    return np.cosh(x)


@elementwise(ufunc=np.tanh, x=lambda g, out: g * (1 - out * out))
def tanh(x):
    """Hyperbolic tangent."""
    return np.tanh(x)


@elementwise(ufunc=np.arcsinh, x=lambda g, x: g * rsqrt(x * x + 1))
def asinh(x):
    """Inverse hyperbolic sine."""
    return np.arcsinh(x)


@elementwise(ufunc=np.arccosh, x=lambda g, out: g / sinh(out))
def acosh(x):
    """Inverse hyperbolic cosine."""
    return np.arccosh(x)


@elementwise(ufunc=np.arctanh, x=lambda g, x: g / (1 - x * x))
def atanh(x):
    """Inverse hyperbolic tangent."""
    return np.arctanh(x)


@elementwise(ufunc=np.equal, a=None, b=None)
def equal(a, b):
    """Whether `a` equals `b`."""
    return a == b


@elementwise(ufunc=np.not_equal, a=None, b=None)
def not_equal(a, b):
    """Whether `a` differs from `b`."""
    return a != b


@elementwise(ufunc=np.greater, a=None, b=None)
def greater(a, b):
    """Whether `a` exceeds `b`."""
    return a > b


@elementwise(ufunc=np.greater_equal, a=None, b=None)
def greater_equal(a, b):
    """Whether `a` is at least `b`."""
    return a >= b


@elementwise(ufunc=np.less, a=None, b=None)
def less(a, b):
    """Whether `a` is below `b`."""
    return a < b


@elementwise(ufunc=np.less_equal, a=None, b=None)
def less_equal(a, b):
    """Whether `a` is at most `b`."""
    return a <= b


@elementwise(ufunc=np.bitwise_and, a=None, b=None)
def logical_and(a, b):
    """Whether both `a` and `b` are true."""
    return a & b


@elementwise(ufunc=np.bitwise_or, a=None, b=None)
def logical_or(a, b):
    """Whether `a` or `b` is true."""
    return a | b


@elementwise(ufunc=np.bitwise_xor, a=None, b=None)
def logical_xor(a, b):
    """Whether exactly one of `a` and `b` is true."""
    return a ^ b


@elementwise(ufunc=np.invert, x=None)
def logical_not(x):
    """Whether `x` is false."""
    return ~x


@elementwise(ufunc=np.isnan, x=None)
def is_nan(x):
    """Whether `x` is not a number."""
    return np.isnan(x)


@elementwise(ufunc=np.isinf, x=None)
def is_inf(x):
    """Whether `x` is infinite."""
    return np.isinf(x)


@elementwise(ufunc=np.isfinite, x=None)
def is_finite(x):
    """Whether `x` is neither infinite nor NaN."""
    return np.isfinite(x)


@elementwise(ufunc=np.floor, x=None)
def floor(x):
    """Largest integer not above `x`."""
    return np.floor(x)


@elementwise(ufunc=np.ceil, x=None)
def ceil(x):
    """Smallest integer not below `x`."""
    return np.ceil(x)


@elementwise(ufunc=np.trunc, x=None)
def truncate(x):
    """Integer part."""
    return np.trunc(x)


@elementwise(ufunc=np.rint, x=None)
def rint(x):
    """Nearest integer, halves to even."""
    return np.rint(x)


@elementwise(
    condition=None,
    a=lambda g, condition: gate(g, condition),
    b=lambda g, condition: gate(g, logical_not(condition)),
)
def select(condition, a, b):
    """`a` where `condition` holds, else `b`."""
    return np.where(condition, a, b)


@elementwise(g=lambda g, mask: gate(g, mask), mask=None)
def gate(g, mask):
    """`g` where `mask` holds and zero elsewhere, also where `g` is infinite or NaN."""
    return keep_where(g, mask)


@gate.lower
def lower_gate(g, mask):
    return np.where(mask, g, np.zeros((), g.dtype))


@elementwise(
    ufunc=np.maximum,
    a=lambda g, a, b: gate(g, greater_equal(a, b)),
    b=lambda g, a, b: gate(g, logical_not(greater_equal(a, b))),
)
def maximum(a, b):
    """The larger of `a` and `b`; the cotangent goes to `a` on a tie, to `b` where one is NaN."""
    return np.maximum(a, b)


@elementwise(
    ufunc=np.minimum,
    a=lambda g, a, b: gate(g, less_equal(a, b)),
    b=lambda g, a, b: gate(g, logical_not(less_equal(a, b))),
)
def minimum(a, b):
    """The smaller of `a` and `b`; the cotangent goes to `a` on a tie, to `b` where one is NaN."""
    return np.minimum(a, b)


@elementwise(g=lambda g, y: where_positive(g, y), y=None)
def where_positive(g, y):
    """`g` where `y` is positive and zero elsewhere, also where `g` is infinite or NaN."""
    return keep_where(g, is_positive(y))


@where_positive.lower
def lower_where_positive(g, y):
    return np.where(y > 0, g, np.zeros((), g.dtype))


@elementwise(x=lambda g, out: where_positive(g, out))
def relu(x):
    """The positive part of `x`."""
    return positive_part(x)


@elementwise(x=lambda g, out: g * out * (1 - out))
def sigmoid(x):
    """Logistic function. Where the exponential overflows, one over infinity is correctly zero."""
    e = np.exp(-x)
    e += 1
    return 1 / e


@elementwise(x=lambda g, x: g * sigmoid(x))
def softplus(x):
    """Logarithm of one plus the exponential. Only exp(-|x|) is computed, which cannot overflow."""
    return np.maximum(x, 0) + log1p_of_unit(np.exp(-abs(x)))


def log1p_of_unit(e: Any) -> Any:
    """log(1 + e) for `e` in [0, 1]; NumPy's `log` is eight times faster than its `log1p`."""
    if e.size < 4096:
        return np.log1p(e)
    u = e + 1
    e -= u - 1  # the rounding error of `u`; adding e / u corrects the logarithm to first order
    e /= u
    np.log(u, out=u)
    u += e
    return u


@softplus.lower
def lower_softplus(x):
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


@elementwise(x=lambda g, x: g / square(absolute(x) + 1))
def softsign(x):
    """`x` over one plus its absolute value."""
    return x / (abs(x) + 1)


def is_complex(x: Any) -> bool:
    """Whether `x` (raw or Tensor) has complex elements."""
    return getattr(x, "_array", x).dtype.kind == "c"


def absolute_wrt_x(g, x, x_spec):
    """The sign of `x`, conjugated; zero at zero."""
    if x_spec.dtype.kind == "c":
        return cast(g, dtype=x_spec.dtype) * conj(sign(x))
    return g * sign(x)


@elementwise(ufunc=np.absolute, x=absolute_wrt_x)
def absolute(x):
    """Absolute value."""
    return abs(x)


def sign_wrt_x(g, x, x_spec, out):
    """Zero for real numbers; for complex ones the derivative of x / |x|, zero at zero."""
    if x_spec.dtype.kind != "c":
        return zeros_like(g)
    size = cast(absolute(select(equal(x, 0), ones_like(x), x)), dtype=x_spec.dtype)
    along = cast(real(g * out), dtype=x_spec.dtype)
    return gate((g - conj(out) * along) / size, not_equal(x, 0))


@elementwise(ufunc=np.sign, x=sign_wrt_x)
def sign(x):
    """-1, 0 or 1; for complex numbers `x` over its absolute value."""
    return np.sign(x)


@elementwise(ufunc=np.conj, x=lambda g: conj(g))
def conj(x):
    """Complex conjugate."""
    return np.conj(x)


@elementwise(x=lambda g, x_spec: cast(g, dtype=x_spec.dtype))
def real(x):
    """Real part."""
    return np.real(x)


def imag_wrt_x(g, x_spec):
    if x_spec.dtype.kind != "c":
        return zeros_like(g)
    return cast(g, dtype=x_spec.dtype) * -1j


@elementwise(x=imag_wrt_x)
def imag(x):
    """Imaginary part."""
    return np.imag(x)


@elementwise(a=lambda g: real(g), b=lambda g: -imag(g))
def make_complex(a, b):
    """Complex number with parts `a` and `b`."""
    out = np.empty(np.broadcast_shapes(a.shape, b.shape), np.result_type(a.dtype, np.complex64))
    out.real, out.imag = a, b
    return out


@make_complex.lower
def lower_make_complex(a, b):
    return lax.complex(*np.broadcast_arrays(a, b))  # a + b * 1j is NaN where b is infinite


def angle_wrt_x(g, x, x_spec):
    if x_spec.dtype.kind != "c":
        return zeros_like(g)
    return cast(g, dtype=x_spec.dtype) / x * -1j


@elementwise(x=angle_wrt_x)
def angle(x):
    """Argument of a complex number."""
    return np.angle(x).astype(x.real.dtype, copy=False)


@elementwise(x=None)
def angle_of_real(x):
    """Argument of a real number: pi if it is negative, else zero."""
    return np.where(np.less(x, 0), x.dtype.type(np.pi), x.dtype.type(0))


@elementwise(x=None)
def zeros_like(x):
    """Zeros of the shape and dtype of `x`; empty strings for strings."""
    return np.full_like(x, b"") if x.dtype.char == "O" else np.zeros_like(x)


@elementwise(x=None)
def ones_like(x):
    """Ones of the shape and dtype of `x`."""
    return np.ones_like(x)


def zero_of_dtype(x: Any) -> Any:
    """A zero of the dtype of a raw array."""
    return x.dtype.type(0)


def cast_wrt_x(g, x_spec):
    """Cast back to the dtype of `x`; a real `x` gets the real part."""
    return cast(real(g) if is_complex(g) and x_spec.dtype.kind != "c" else g, dtype=x_spec.dtype)


@elementwise(x=cast_wrt_x)
def cast(x, *, dtype: Any):
    """`x` in another floating or complex dtype; its real part, if only `x` is complex."""
    return (x.real if x.dtype.kind == "c" and dtype.kind != "c" else x).astype(dtype)


@elementwise(x=None)
def discretize(x, *, dtype: Any):
    """`x` converted where there is no derivative: to or from integers, bool and string.

    NaN and values out of range become what the processor gives, as in TensorFlow: on x86 the
    smallest int32 or int64.
    """
    if x.dtype.kind == "c" and dtype.kind in "iub":
        x = x.real  # NumPy would warn that the imaginary part is discarded
    return x.astype(dtype)


@discretize.lower
def lower_discretize(x, *, dtype):
    """XLA clips floats that no integer equals; processors give the smallest integer for them."""
    x = x.real if x.dtype.kind == "c" and dtype.kind in "iub" else x
    if dtype.kind not in "iu" or x.dtype.kind in "iub":
        return x.astype(dtype)
    bits = 64 if dtype.itemsize == 8 else 32
    x = x.astype(np.float32) if x.dtype.itemsize == 2 else x
    half = 2.0 ** (bits - 1)
    limit = 2 * half if dtype.name in ("uint32", "uint64") else half
    near = np.where(x >= half, x.astype(np.float64) - 2 * half, x)  # modulo 2 ** bits
    whole = np.where((x >= -half) & (x < limit), near.astype(f"int{bits}"), -(2 ** (bits - 1)))
    return whole.astype(dtype)


@elementwise(x=lambda g: g)
def identity(x):
    """`x` itself, as a new tensor."""
    return x


@primitive(x=None, shape=keep_shape)
def stop_gradient(x):
    """`x`, treated as a constant by the tape."""
    return x
