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
    add_examples,
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

EXAMPLES = {
    "abs": (">>> tf.abs([-1.5, 2.0]).numpy()\narray([1.5, 2. ], dtype=float32)"),
    "acos": (
        ">>> tf.math.acos([0.25, 0.5]).numpy().round(3)\narray([1.318, 1.047], dtype=float32)"
    ),
    "acosh": (
        ">>> tf.math.acosh([1.0, 2.0]).numpy().round(3)\narray([0.   , 1.317], dtype=float32)"
    ),
    "add": (">>> tf.math.add([5.0, 2.0], 3.0).numpy()\narray([8., 5.], dtype=float32)"),
    "angle": (">>> tf.math.angle([1j]).numpy().round(4)\narray([1.5708])"),
    "asin": (
        ">>> tf.math.asin([0.25, 0.5]).numpy().round(3)\narray([0.253, 0.524], dtype=float32)"
    ),
    "asinh": (
        ">>> tf.math.asinh([0.25, 0.5]).numpy().round(3)\narray([0.247, 0.481], dtype=float32)"
    ),
    "atan": (
        ">>> tf.math.atan([0.25, 0.5]).numpy().round(3)\narray([0.245, 0.464], dtype=float32)"
    ),
    "atan2": (
        ">>> tf.math.atan2([1.0, -1.0], [0.0, -1.0]).numpy().round(3)\n"
        "array([ 1.571, -2.356], dtype=float32)"
    ),
    "atanh": (
        ">>> tf.math.atanh([0.25, 0.5]).numpy().round(3)\narray([0.255, 0.549], dtype=float32)"
    ),
    "ceil": (">>> tf.math.ceil([-1.5, 2.5]).numpy()\narray([-1.,  3.], dtype=float32)"),
    "cos": (">>> tf.math.cos([0.25, 0.5]).numpy().round(3)\narray([0.969, 0.878], dtype=float32)"),
    "cosh": (
        ">>> tf.math.cosh([0.25, 0.5]).numpy().round(3)\narray([1.031, 1.128], dtype=float32)"
    ),
    "divide": (
        ">>> tf.math.divide([5.0, 2.0], 3.0).numpy()\narray([1.6666666, 0.6666667], dtype=float32)"
    ),
    "equal": (">>> tf.math.equal([1, 2, 3], 2).numpy()\narray([False,  True, False])"),
    "exp": (">>> tf.math.exp([0.25, 0.5]).numpy().round(3)\narray([1.284, 1.649], dtype=float32)"),
    "expm1": (
        ">>> tf.math.expm1([0.25, 0.5]).numpy().round(3)\narray([0.284, 0.649], dtype=float32)"
    ),
    "floor": (">>> tf.math.floor([-1.5, 2.5]).numpy()\narray([-2.,  2.], dtype=float32)"),
    "floordiv": (">>> tf.math.floordiv([5.0, 2.0], 3.0).numpy()\narray([1., 0.], dtype=float32)"),
    "floormod": (">>> tf.math.floormod([5.0, 2.0], 3.0).numpy()\narray([2., 2.], dtype=float32)"),
    "greater": (">>> tf.math.greater([1, 2, 3], 2).numpy()\narray([False, False,  True])"),
    "greater_equal": (
        ">>> tf.math.greater_equal([1, 2, 3], 2).numpy()\narray([False,  True,  True])"
    ),
    "imag": (">>> tf.math.imag([1 + 2j]).numpy()\narray([2.])"),
    "is_finite": (
        '>>> tf.math.is_finite([1.0, float("nan"), float("inf")]).numpy()\n'
        "array([ True, False, False])"
    ),
    "is_inf": (
        '>>> tf.math.is_inf([1.0, float("nan"), float("inf")]).numpy()\n'
        "array([False, False,  True])"
    ),
    "is_nan": (
        '>>> tf.math.is_nan([1.0, float("nan"), float("inf")]).numpy()\n'
        "array([False,  True, False])"
    ),
    "less": (">>> tf.math.less([1, 2, 3], 2).numpy()\narray([ True, False, False])"),
    "less_equal": (">>> tf.math.less_equal([1, 2, 3], 2).numpy()\narray([ True,  True, False])"),
    "log": (
        ">>> tf.math.log([0.25, 0.5]).numpy().round(3)\narray([-1.386, -0.693], dtype=float32)"
    ),
    "log1p": (
        ">>> tf.math.log1p([0.25, 0.5]).numpy().round(3)\narray([0.223, 0.405], dtype=float32)"
    ),
    "log_sigmoid": (
        ">>> tf.math.log_sigmoid([0.25, 0.5]).numpy().round(3)\n"
        "array([-0.576, -0.474], dtype=float32)"
    ),
    "logical_and": (
        ">>> tf.math.logical_and([True, True, False], [True, False, False]).numpy()\n"
        "array([ True, False, False])"
    ),
    "logical_not": (">>> tf.math.logical_not([True, False]).numpy()\narray([False,  True])"),
    "logical_or": (
        ">>> tf.math.logical_or([True, True, False], [True, False, False]).numpy()\n"
        "array([ True,  True, False])"
    ),
    "logical_xor": (
        ">>> tf.math.logical_xor([True, True, False], [True, False, False]).numpy()\n"
        "array([False,  True, False])"
    ),
    "maximum": (">>> tf.math.maximum([5.0, 2.0], 3.0).numpy()\narray([5., 3.], dtype=float32)"),
    "minimum": (">>> tf.math.minimum([5.0, 2.0], 3.0).numpy()\narray([3., 2.], dtype=float32)"),
    "multiply": (">>> tf.math.multiply([5.0, 2.0], 3.0).numpy()\narray([15.,  6.], dtype=float32)"),
    "negative": (">>> tf.negative([1, -2]).numpy()\narray([-1,  2], dtype=int32)"),
    "nextafter": (">>> tf.math.nextafter(1.0, 2.0).numpy() > 1.0\nnp.True_"),
    "not_equal": (">>> tf.math.not_equal([1, 2, 3], 2).numpy()\narray([ True, False,  True])"),
    "pow": (">>> tf.math.pow([5.0, 2.0], 3.0).numpy()\narray([125.,   8.], dtype=float32)"),
    "real": (">>> tf.math.real([1 + 2j]).numpy()\narray([1.])"),
    "reciprocal": (
        ">>> tf.math.reciprocal([0.25, 0.5]).numpy().round(3)\narray([4., 2.], dtype=float32)"
    ),
    "rint": (">>> tf.math.rint([-1.5, 2.5]).numpy()\narray([-2.,  2.], dtype=float32)"),
    "round": (">>> tf.round([0.5, 1.5, 2.7]).numpy()\narray([0., 2., 3.], dtype=float32)"),
    "rsqrt": (
        ">>> tf.math.rsqrt([0.25, 0.5]).numpy().round(3)\narray([2.   , 1.414], dtype=float32)"
    ),
    "sigmoid": (
        ">>> tf.math.sigmoid([0.25, 0.5]).numpy().round(3)\narray([0.562, 0.622], dtype=float32)"
    ),
    "sign": (">>> tf.sign([-3.0, 0.0, 2.0]).numpy()\narray([-1.,  0.,  1.], dtype=float32)"),
    "sin": (">>> tf.math.sin([0.25, 0.5]).numpy().round(3)\narray([0.247, 0.479], dtype=float32)"),
    "sinh": (
        ">>> tf.math.sinh([0.25, 0.5]).numpy().round(3)\narray([0.253, 0.521], dtype=float32)"
    ),
    "softplus": (
        ">>> tf.math.softplus([0.25, 0.5]).numpy().round(3)\narray([0.826, 0.974], dtype=float32)"
    ),
    "softsign": (
        ">>> tf.math.softsign([0.25, 0.5]).numpy().round(3)\narray([0.2  , 0.333], dtype=float32)"
    ),
    "sqrt": (
        ">>> tf.math.sqrt([0.25, 0.5]).numpy().round(3)\narray([0.5  , 0.707], dtype=float32)"
    ),
    "square": (">>> tf.square([-3.0, 2.0]).numpy()\narray([9., 4.], dtype=float32)"),
    "squared_difference": (
        ">>> tf.math.squared_difference([5.0, 2.0], 3.0).numpy()\narray([4., 1.], dtype=float32)"
    ),
    "subtract": (">>> tf.math.subtract([5.0, 2.0], 3.0).numpy()\narray([ 2., -1.], dtype=float32)"),
    "tan": (">>> tf.math.tan([0.25, 0.5]).numpy().round(3)\narray([0.255, 0.546], dtype=float32)"),
    "tanh": (
        ">>> tf.math.tanh([0.25, 0.5]).numpy().round(3)\narray([0.245, 0.462], dtype=float32)"
    ),
    "truediv": (
        ">>> tf.math.truediv([5.0, 2.0], 3.0).numpy()\narray([1.6666666, 0.6666667], dtype=float32)"
    ),
}
add_examples(globals(), EXAMPLES)
