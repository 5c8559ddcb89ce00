"""Elementwise functions of `tf.math`: each pairs a primitive with TensorFlow's dtypes for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradtape.core import dtypes
from gradtape.core.convert import convert
from gradtape.core.errors import REDISPATCH, public, raise_call_error
from gradtape.core.fastpath.codegen import make_public_function
from gradtape.core.tensor import Tensor
from gradtape.ops import elementwise as e
from gradtape.ops import integer
from gradtape.tf.example import add_examples
from gradtape.tf.example.elementwise import ELEMENTWISE
from gradtape.tf.math.cast import cast
from gradtape.tf.public_op import (
    ANY,
    BOOL,
    COMPLEX,
    FLOATS,
    FULL_FLOATS,
    INDICES,
    INEXACT,
    INTEGERS,
    NUMBERS,
    REAL,
    SIGNED,
    STRING,
    check_dtype,
    convert_pair_left_first,
    convert_pair_to_bool,
    convert_to_dtype,
    convert_with_hint,
    has_own_dtype,
    make_binary_op,
    make_unary_op,
    name_functions,
    write_docstring,
)

if TYPE_CHECKING:
    from gradtape.tf.op_protocol import BinaryOp

NO_NUMBERS = (False, False)

add = make_binary_op(
    e.add,
    NUMBERS,
    e.join_strings,
    STRING,
    label="AddV2",
    operands=convert_pair_left_first,
    numbers=(False, True),
)
subtract = make_binary_op(e.subtract, NUMBERS, label="Sub")
multiply = make_binary_op(e.multiply, NUMBERS, label="Mul")
floordiv = make_binary_op(e.floordiv, FLOATS, integer.floordiv_integers, INTEGERS, label="FloorDiv")
floormod = make_binary_op(e.floormod, FLOATS, integer.floormod_integers, INTEGERS, label="FloorMod")
mod = floormod
truncatediv = make_binary_op(
    e.truncatediv, FLOATS, integer.truncatediv_integers, INTEGERS, label="TruncateDiv"
)
truncatemod = make_binary_op(
    e.truncatemod, FLOATS, integer.truncatemod_integers, INDICES, label="TruncateMod"
)
pow = make_binary_op(
    e.power, INEXACT, integer.power_integers, SIGNED, label="Pow", numbers=(False, True)
)
negative = make_unary_op(e.negative, INEXACT | SIGNED, label="Neg")
abs = make_unary_op(e.absolute, INEXACT | SIGNED, label="Abs")
sign = make_unary_op(e.sign, INEXACT | SIGNED, label="Sign")
square = make_unary_op(e.square, NUMBERS, label="Square")
sqrt = make_unary_op(e.sqrt, INEXACT, label="Sqrt")
rsqrt = make_unary_op(e.rsqrt, INEXACT, label="Rsqrt")
reciprocal = make_unary_op(e.reciprocal, INEXACT, label="Reciprocal")
maximum = make_binary_op(e.maximum, REAL, label="Maximum")
minimum = make_binary_op(e.minimum, REAL, label="Minimum")
squared_difference = make_binary_op(
    e.squared_difference, INEXACT | INDICES, label="SquaredDifference"
)
nextafter = make_binary_op(
    e.nextafter, FULL_FLOATS, label="NextAfter", names=("x1", "x2"), numbers=NO_NUMBERS
)

QUOTIENT_DTYPES = {
    **dict.fromkeys((dtypes.uint8, dtypes.int8, dtypes.uint16, dtypes.int16), dtypes.float32),
    **dict.fromkeys((dtypes.uint32, dtypes.int32, dtypes.uint64, dtypes.int64), dtypes.float64),
}


def divide_tensors(function: Any, x: Any, y: Any, name: str) -> Tensor:
    """Divide two values of one dtype; integers are first cast to the float of `QUOTIENT_DTYPES`."""
    a = convert(x)
    b = convert_with_hint(y, a.dtype)
    dtype = a.dtype
    if dtype is not b.dtype:
        raise TypeError(
            f"{name}: `x` and `y` must have the same dtype, got {dtype!r} != {b.dtype!r}. Cast "
            "one of them first."
        )
    if dtype in QUOTIENT_DTYPES:
        a, b = cast(a, QUOTIENT_DTYPES[dtype]), cast(b, QUOTIENT_DTYPES[dtype])
    elif not (dtype.is_floating or dtype.is_complex):
        raise TypeError(
            f"{name}: operands must be numbers. Invalid dtype {dtype!r}. Cast the operands first."
        )
    return function(a, b)


def make_general_division(function: Any, name: str, either: bool) -> Any:
    """Make the general form of a division; with `either`, `y` decides the dtype if `x` has none."""

    def convert_and_divide(x: Any, y: Any) -> Tensor:
        try:
            if either and has_own_dtype(y) and not has_own_dtype(x):
                x = convert_to_dtype(x, convert(y).dtype)
            return divide_tensors(function, x, y, name)
        except REDISPATCH:
            raise
        except Exception as error:
            raise_call_error(error, convert_and_divide, (x, y), {})

    convert_and_divide.__name__ = name
    return convert_and_divide


def make_division(function: Any, name: str, either: bool, **options: Any) -> BinaryOp:
    """Make a public division."""
    general = make_general_division(function, name, either)
    division = make_public_function(function.op, INEXACT, general, **options)
    parameters = ("y", "x") if options.get("reflected") else ("x", "y")
    made: BinaryOp = write_docstring(division, function, parameters, INEXACT)
    return made


divide = make_division(e.divide, "divide", True)
truediv = make_division(e.divide, "truediv", False, numbers=(False, True))
realdiv = make_binary_op(e.divide, INEXACT, label="RealDiv")

exp = make_unary_op(e.exp, INEXACT, label="Exp")
expm1 = make_unary_op(e.expm1, INEXACT, label="Expm1")
log = make_unary_op(e.log, INEXACT, label="Log")
log1p = make_unary_op(e.log1p, INEXACT, label="Log1p")
sin = make_unary_op(e.sin, INEXACT, label="Sin")
cos = make_unary_op(e.cos, INEXACT, label="Cos")
tan = make_unary_op(e.tan, INEXACT, label="Tan")
asin = make_unary_op(e.asin, INEXACT, label="Asin")
acos = make_unary_op(e.acos, INEXACT, label="Acos")
atan = make_unary_op(e.atan, INEXACT, label="Atan")
atan2 = make_binary_op(e.atan2, FLOATS, label="Atan2", names=("y", "x"))
sinh = make_unary_op(e.sinh, INEXACT, label="Sinh")
cosh = make_unary_op(e.cosh, INEXACT, label="Cosh")
tanh = make_unary_op(e.tanh, INEXACT, label="Tanh")
asinh = make_unary_op(e.asinh, INEXACT, label="Asinh")
acosh = make_unary_op(e.acosh, INEXACT, label="Acosh")
atanh = make_unary_op(e.atanh, INEXACT, label="Atanh")
sigmoid = make_unary_op(e.sigmoid, INEXACT, label="Sigmoid")
softplus = make_unary_op(e.softplus, FLOATS, label="Softplus", names=("features",))
softsign = make_unary_op(e.softsign, FLOATS, label="Softsign", names=("features",))


@public
def log_sigmoid(x: Any, name: str | None = None) -> Tensor:
    """Logarithm of the sigmoid, finite for large negative `x`.

    Args:
        x: a tensor of floats.
        name: ignored.

    Returns:
        A tensor like `x`.
    """
    return -softplus(-check_dtype("Softplus", convert(x), FLOATS))


equal = make_binary_op(e.equal, ANY, label="Equal")
not_equal = make_binary_op(e.not_equal, ANY, label="NotEqual")
less = make_binary_op(e.less, REAL, label="Less")
less_equal = make_binary_op(e.less_equal, REAL, label="LessEqual")
greater = make_binary_op(e.greater, REAL, label="Greater")
greater_equal = make_binary_op(e.greater_equal, REAL, label="GreaterEqual")
logical_and = make_binary_op(e.logical_and, BOOL, label="LogicalAnd", operands=convert_pair_to_bool)
logical_or = make_binary_op(e.logical_or, BOOL, label="LogicalOr", operands=convert_pair_to_bool)
logical_xor = make_binary_op(e.logical_xor, BOOL, label="LogicalXor", operands=convert_pair_to_bool)
logical_not = make_unary_op(e.logical_not, BOOL, label="LogicalNot", dtype=dtypes.bool)
is_nan = make_unary_op(e.is_nan, FLOATS, label="IsNan")
is_inf = make_unary_op(e.is_inf, FLOATS, label="IsInf")
is_finite = make_unary_op(e.is_finite, FLOATS, label="IsFinite")

floor = make_unary_op(e.floor, FLOATS, label="Floor")
ceil = make_unary_op(e.ceil, FLOATS, label="Ceil")
rint = make_unary_op(e.rint, FLOATS, label="Rint")
round = make_unary_op(e.rint, FLOATS, e.identity, INTEGERS, label="Round")

real = make_unary_op(e.real, COMPLEX, e.identity, REAL, label="Real", names=("input",))
imag = make_unary_op(e.imag, COMPLEX, e.zeros_like, REAL, label="Imag", names=("input",))
angle = make_unary_op(e.angle, COMPLEX, e.angle_of_real, FLOATS, label="Angle", names=("input",))

name_functions(__name__, globals())

add_examples(globals(), ELEMENTWISE)
