"""Argument conversion and dtype checks of public ops, and factories for elementwise ones."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import FunctionType
from typing import TYPE_CHECKING, Any, Literal, NoReturn, overload

import numpy as np

from gradtape.core import dtypes
from gradtape.core.convert import convert
from gradtape.core.dims import Dim
from gradtape.core.dtypes import DType
from gradtape.core.errors import REDISPATCH, InvalidArgumentError, raise_call_error
from gradtape.core.fastpath.codegen import make_public_function
from gradtape.core.tensor import Tensor, make_tensor

if TYPE_CHECKING:
    from gradtape.tf.op_protocol import (
        BinaryAXOp,
        BinaryOp,
        BinaryX1X2Op,
        BinaryXQOp,
        BinaryYXOp,
        UnaryFeaturesOp,
        UnaryInputOp,
        UnaryOp,
    )

# The modules in which `make_public_function` defines functions
MAKERS = ("gradtape.core.fastpath.template", "gradtape.core.fastpath.reference")


def as_numpy_dtypes(*names: str) -> frozenset[Any]:
    """The NumPy dtypes that TensorFlow dtype names stand for."""
    return frozenset(np.dtype(dtypes.as_dtype(name).as_numpy_dtype) for name in names)


HALF_FLOATS = as_numpy_dtypes("bfloat16", "float16")
FULL_FLOATS = as_numpy_dtypes("float32", "float64")
COMPLEX = as_numpy_dtypes("complex64", "complex128")
FLOATS = HALF_FLOATS | FULL_FLOATS
SIGNED = as_numpy_dtypes("int8", "int16", "int32", "int64")
UNSIGNED = as_numpy_dtypes("uint8", "uint16", "uint32", "uint64")
INTEGERS = SIGNED | UNSIGNED
INDICES = as_numpy_dtypes("int32", "int64")
INEXACT = FLOATS | COMPLEX
REAL = FLOATS | INTEGERS
NUMBERS = INEXACT | INTEGERS
BOOL = as_numpy_dtypes("bool")
STRING = as_numpy_dtypes("string")
ANY = NUMBERS | BOOL | STRING


def check_dtype(op: str, tensor: Tensor, allowed: frozenset[Any], attribute: str = "T") -> Tensor:
    """Return `tensor`, after a check that `op` supports its dtype."""
    if tensor._array.dtype not in allowed:
        raise_unsupported_dtype(op, tensor.dtype, allowed, attribute)
    return tensor


def raise_unsupported_dtype(
    op: str, dtype: DType, allowed: frozenset[Any], attribute: str = "T"
) -> NoReturn:
    """Raise InvalidArgumentError: `op` does not support `dtype`."""
    listed = ", ".join(sorted(dtypes.from_numpy_dtype(d).name for d in allowed))
    raise InvalidArgumentError(
        f"{op}: Value for attr '{attribute}' of {dtype.name} is not in the list of allowed values: "
        f"{listed}. Cast the input first."
    )


def check_same_dtype(op: str, x: Tensor, y: Tensor, position: int = 1) -> None:
    """Check that two tensors have the same dtype."""
    if x._array.dtype != y._array.dtype:
        raise InvalidArgumentError(
            f"cannot compute {op} as input #{position}(zero-based) was expected to be a "
            f"{x.dtype.name} tensor but is a {y.dtype.name} tensor. Cast one of them first."
        )


def has_own_dtype(value: Any) -> bool:
    """Whether a value has its own dtype: a tensor, a variable, or a type with `__tf_tensor__`."""
    kind = type(value)
    return isinstance(value, Tensor) or (hasattr(kind, "__tf_tensor__") and kind is not Dim)


def convert_to_dtype(value: Any, dtype: DType) -> Tensor:
    """Convert a value without its own dtype to `dtype`; integers wrap, bools become 0 and 1."""
    kind = type(value)
    if kind is bool and not dtype.is_bool:
        value = int(value)
    if isinstance(value, int) and dtype.is_integer and -(2**63) <= value < 2**63:
        return make_tensor(np.asarray(value).astype(dtype.as_numpy_dtype)[()])
    if kind is Dim:
        return convert(value, dtype)
    if kind in (str, bytes) and dtype is not dtypes.string:
        raise TypeError(f"Cannot convert {value!r} to EagerTensor of dtype {dtype.name}")
    if dtype is dtypes.string and kind in (int, float):
        raise TypeError(f"Cannot convert {value!r} to EagerTensor of dtype string")
    return convert(value, dtype)


def convert_with_hint(value: Any, dtype: DType) -> Tensor:
    """Convert `value`; a value without its own dtype takes `dtype` if it fits."""
    if has_own_dtype(value):
        return convert(value)
    try:
        return convert_to_dtype(value, dtype)
    except (TypeError, ValueError):
        return convert(value)


def convert_pair(x: Any, y: Any) -> tuple[Tensor, Tensor]:
    """Convert two operands to tensors; a Python value takes the dtype of the other operand."""
    if has_own_dtype(x):
        a = convert(x)
        return a, convert(y) if has_own_dtype(y) else convert_to_dtype(y, a.dtype)
    if has_own_dtype(y):
        b = convert(y)
        return convert_to_dtype(x, b.dtype), b
    a = convert(x)
    return a, convert_to_dtype(y, a.dtype)


def convert_pair_left_first(x: Any, y: Any) -> tuple[Tensor, Tensor]:
    """Convert two operands to tensors; the second takes the dtype of the first if it fits."""
    a = convert(x)
    return a, convert_with_hint(y, a.dtype)


def convert_pair_strict(x: Any, y: Any) -> tuple[Tensor, Tensor]:
    """Convert two operands to tensors; the second must convert to the dtype of the first."""
    a = convert(x)
    return a, convert(y, a.dtype) if has_own_dtype(y) else convert_to_dtype(y, a.dtype)


def convert_pair_to_bool(x: Any, y: Any) -> tuple[Tensor, Tensor]:
    """Convert two operands to tensors; Python values become bool tensors."""
    a, b = (convert(v) if has_own_dtype(v) else convert_to_dtype(v, dtypes.bool) for v in (x, y))
    return a, b


@overload
def make_unary_op(*forms: Any, label: str, names: tuple[Literal["input"]]) -> UnaryInputOp: ...
@overload
def make_unary_op(
    *forms: Any, label: str, names: tuple[Literal["features"]]
) -> UnaryFeaturesOp: ...
@overload
def make_unary_op(*forms: Any, label: str, dtype: DType | None = None) -> UnaryOp: ...
def make_unary_op(
    *forms: Any, label: str, names: tuple[str, ...] = ("x",), dtype: DType | None = None
) -> Any:
    """Make a public elementwise function of one tensor.

    Args:
        *forms: alternating primitives and sets of the dtypes that each one supports.
        label: TensorFlow's name of the op, for error messages.
        names: the parameter names of the function.
        dtype: the dtype of arguments that have none; by default it is inferred.
    """
    pairs = [(forms[i], forms[i + 1]) for i in range(0, len(forms), 2)]
    every = frozenset().union(*(allowed for _, allowed in pairs))

    def convert_argument(x: Any) -> Tensor:
        try:
            return convert(x) if dtype is None or has_own_dtype(x) else convert_to_dtype(x, dtype)
        except REDISPATCH:
            raise
        except Exception as error:
            raise_call_error(error, public_function, (x,), {})

    def convert_and_call(x: Any) -> Any:
        tensor = convert_argument(x)
        for function, allowed in pairs:
            if tensor._array.dtype in allowed:
                return function(tensor)
        raise_unsupported_dtype(label, tensor.dtype, every)

    public_function = convert_and_call
    for function, allowed in reversed(pairs):
        public_function = make_public_function(function.op, allowed, public_function, names)
    return write_docstring(public_function, pairs[0][0], names, every)


@overload
def make_binary_op(
    *forms: Any, label: str, names: tuple[Literal["y"], Literal["x"]]
) -> BinaryYXOp: ...
@overload
def make_binary_op(
    *forms: Any,
    label: str,
    names: tuple[Literal["a"], Literal["x"]],
    numbers: tuple[bool, bool] = ...,
) -> BinaryAXOp: ...
@overload
def make_binary_op(
    *forms: Any,
    label: str,
    names: tuple[Literal["x"], Literal["q"]],
    numbers: tuple[bool, bool] = ...,
) -> BinaryXQOp: ...
@overload
def make_binary_op(
    *forms: Any,
    label: str,
    names: tuple[Literal["x1"], Literal["x2"]],
    numbers: tuple[bool, bool] = ...,
) -> BinaryX1X2Op: ...
@overload
def make_binary_op(
    *forms: Any,
    label: str,
    names: tuple[Literal["x"], Literal["y"]] = ...,
    operands: Callable[[Any, Any], tuple[Tensor, Tensor]] = ...,
    reflected: bool = ...,
    numbers: tuple[bool, bool] = ...,
    reflected_method: str = ...,
) -> BinaryOp: ...
def make_binary_op(
    *forms: Any,
    label: str,
    names: tuple[str, str] = ("x", "y"),
    operands: Callable[[Any, Any], tuple[Tensor, Tensor]] = convert_pair,
    reflected: bool = False,
    numbers: tuple[bool, bool] = (True, True),
    reflected_method: str = "",
) -> Any:
    """Make a public elementwise function of two tensors.

    Args:
        *forms: alternating primitives and sets of the dtypes that each one supports.
        label: TensorFlow's name of the op, for error messages.
        names: the parameter names of the function.
        operands: converts the two arguments to tensors.
        reflected: whether the first parameter is the second operand.
        numbers: which operands the kernel accepts as Python numbers.
        reflected_method: the method of the second operand, such as `__radd__`, to call when that
            operand does not convert to a tensor.
    """
    pairs = [(forms[i], forms[i + 1]) for i in range(0, len(forms), 2)]
    every = frozenset().union(*(allowed for _, allowed in pairs))

    def convert_and_call(x: Any, y: Any) -> Any:
        try:
            a, b = operands(x, y)
        except Exception as error:
            method = getattr(type(y), reflected_method, None)
            result = NotImplemented if method is None else method(y, x)
            if result is NotImplemented:
                if isinstance(error, REDISPATCH):
                    raise
                raise_call_error(error, public_function, (y, x) if reflected else (x, y), {})
            return result
        check_same_dtype(label, a, b)
        dtype = a._array.dtype
        for function, allowed in pairs:
            if dtype in allowed:
                return function(a, b)
        raise_unsupported_dtype(label, a.dtype, every)

    public_function = convert_and_call
    for i, (function, allowed) in reversed(list(enumerate(pairs))):
        swaps = reflected and i == 0
        public_function = make_public_function(
            function.op, allowed, public_function, names, swaps, numbers
        )
    order = tuple(reversed(names)) if reflected else names
    return write_docstring(public_function, pairs[0][0], order, every)


def write_docstring(
    public_function: Any, function: Any, parameters: tuple[str, ...], allowed: frozenset[Any]
) -> Any:
    """Describe a public function by its primitive's docstring and the dtypes it takes.

    Args:
        public_function: the function.
        function: the primitive's function.
        parameters: the names of the public parameters, which replace those of the primitive.
        allowed: the dtypes.

    Returns:
        The public function.
    """
    text = function.__doc__ or ""  # `python -OO` strips docstrings
    for inner, outer in zip(function.op.inputs, parameters, strict=False):
        text = text.replace(f"`{inner}`", f"`\0{outer}`")
    if text:
        text = text.replace("\0", "") + describe_arguments(parameters, describe_dtypes(allowed))
    public_function.__doc__ = text
    return public_function


def name_functions(home: str, names: dict[str, Any], makers: tuple[str, ...] = MAKERS) -> None:
    """Name the functions that a module has made, because tracebacks and pickles need names.

    Args:
        home: the name of the module.
        names: its global names; the first name of a function counts.
        makers: the modules in which its functions are defined.
    """
    named = set()
    for name, value in names.items():
        if not isinstance(value, FunctionType) or name.startswith("_") or value in named:
            continue
        is_found = value.__module__ == home and names.get(value.__qualname__) is value
        if value.__module__ in (home, *makers) and not is_found:
            value.__name__ = value.__qualname__ = name
            value.__module__ = home
            named.add(value)


def add_examples(names: dict[str, Any], examples: dict[str, str]) -> None:
    """Append the section `Example` to docstrings.

    Args:
        names: the global names of a module.
        examples: a doctest for each of some functions of the module.
    """
    for name, text in examples.items():
        function = names[name]
        doc = function.__doc__
        if doc:  # `python -OO` strips docstrings
            margin = "    " if "\n    Args:" in doc else ""
            lines = "".join([f"\n{margin}    {line}" for line in text.split("\n")])
            function.__doc__ = f"{doc.rstrip()}\n\n{margin}Example:{lines}\n{margin}"


def describe_arguments(parameters: tuple[str, ...], kinds: str) -> str:
    """The sections `Args` and `Returns` of an elementwise function."""
    first, *others = parameters
    lines = ["", "", "Args:", f"    {first}: a tensor of {kinds}, or a value that converts to one."]
    lines += [
        f"    {name}: another one of the same dtype; the shapes broadcast." for name in others
    ]
    shape = f"of the shape of `{first}`" if not others else "of the broadcast shape"
    return "\n".join(
        [*lines, "    name: has no effect here.", "", "Returns:", f"    A tensor {shape}."]
    )


DTYPE_NAMES = (
    (FULL_FLOATS, "floats"),
    (COMPLEX, "complex numbers"),
    (INDICES, "integers"),
    (BOOL, "bools"),
    (STRING, "strings"),
)


@cache
def describe_dtypes(allowed: frozenset[Any]) -> str:
    """The kinds of dtypes in a set, in words."""
    *others, last = [words for members, words in DTYPE_NAMES if members <= allowed]
    return f"{', '.join(others)} or {last}" if others else last
