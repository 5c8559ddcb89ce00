"""NumPy's dtype rules for tensors: conversion of values, and promotion of several to one dtype."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.core import dtypes, nest
from gradtape.core.argument import as_host_array
from gradtape.core.convert import convert
from gradtape.core.errors import public
from gradtape.core.tensor import Tensor
from gradtape.tf.array.concat_split import stack
from gradtape.tf.math.cast import cast
from gradtape.tf.public_op import has_own_dtype

Function = Callable[..., Any]
ArrayFunction = Callable[..., Tensor]


class PromotionSettings:
    """Which dtypes Python numbers are converted to.

    Attributes:
        prefer_float32: whether floats become float32, and complex numbers complex64.
    """

    prefer_float32 = False


NARROW_DTYPES = {dtypes.float64: dtypes.float32, dtypes.complex128: dtypes.complex64}


def as_tnp_tensor(value: Any, dtype: Any = None) -> Tensor:
    """Convert to a tensor; Python numbers and lists take NumPy's dtypes (int64, float64)."""
    if has_own_dtype(value):
        tensor = convert(value)
    elif isinstance(value, (list, tuple)) and any(map(has_own_dtype, nest.flatten(value))):
        tensor = stack(promote_tensors(*value))
    else:
        tensor = convert(as_host_array(value, "an array"))
        if PromotionSettings.prefer_float32 and not isinstance(value, (np.ndarray, np.generic)):
            tensor = cast(tensor, NARROW_DTYPES.get(tensor.dtype, tensor.dtype))
    return tensor if dtype is None else cast(tensor, as_tnp_dtype(dtype))


def as_tnp_dtype(dtype: Any) -> dtypes.DType:
    """Convert to a dtype as NumPy does: `float` is float64."""
    if isinstance(dtype, type):
        return dtypes.from_numpy_dtype(np.dtype(dtype))
    return dtypes.as_dtype(dtype)


def as_promotion_operand(value: Any) -> Any:
    """Argument for `np.result_type`: a dtype, or a Python number, which promotes weakly."""
    if isinstance(value, (bool, int, float, complex)) and not isinstance(value, np.generic):
        return value
    if isinstance(value, dtypes.DType):
        return np.dtype(value.as_numpy_dtype)
    if isinstance(value, (type, np.dtype, str)):
        return np.dtype(value)
    return as_tnp_tensor(value)._array.dtype


@public
def result_type(*arrays_and_dtypes: Any) -> dtypes.DType:
    """The common dtype of values and dtypes, by NumPy's promotion."""
    kinds = list(map(as_promotion_operand, arrays_and_dtypes))
    dtype = dtypes.from_numpy_dtype(np.result_type(*kinds))
    if PromotionSettings.prefer_float32 and all(
        isinstance(k, (bool, int, float, complex)) for k in kinds
    ):
        return NARROW_DTYPES.get(dtype, dtype)
    return dtype


@public
def promote_types(type1: Any, type2: Any) -> Any:
    """As `numpy.promote_types`: the smallest dtype that both can be cast to safely."""
    return np.promote_types(*(np.dtype(as_tnp_dtype(t).as_numpy_dtype) for t in (type1, type2)))


def promote_tensors(*values: Any) -> list[Tensor]:
    """Convert values to tensors of their common dtype."""
    dtype = result_type(*values)
    return [as_tnp_tensor(v, dtype) for v in values]


def as_inexact(value: Any) -> Tensor:
    """Convert to a floating or complex tensor; integers and bools become float64."""
    tensor = as_tnp_tensor(value)
    if tensor.dtype.is_floating or tensor.dtype.is_complex:
        return tensor
    return cast(tensor, dtypes.float64)


def as_numeric(value: Any) -> Tensor:
    """Convert to a numeric tensor; bools become int64."""
    tensor = as_tnp_tensor(value)
    return cast(tensor, dtypes.int64) if tensor.dtype.is_bool else tensor


def make_unary(name: str, function: Function, prepare: Function = as_numeric) -> ArrayFunction:
    """Make a public function of one array."""

    @public
    def of_one(x: Any) -> Tensor:
        return function(prepare(x))

    return name_after_numpy(of_one, name)


def make_inexact_unary(name: str, function: Function) -> ArrayFunction:
    """Make a public function of one floating or complex array."""
    return make_unary(name, function, as_inexact)


def make_binary(name: str, function: Function, prepare: Function | None = None) -> ArrayFunction:
    """Make a public function of two arrays, which are promoted to one dtype."""

    @public
    def of_two(x1: Any, x2: Any) -> Tensor:
        a, b = promote_tensors(x1, x2)
        return function(a, b) if prepare is None else function(prepare(a), prepare(b))

    return name_after_numpy(of_two, name)


def name_after_numpy(function: ArrayFunction, name: str) -> ArrayFunction:
    """Set the name and docstring of a function that has NumPy's name."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"As `numpy.{name}`, of tensors and with gradients."
    return function
