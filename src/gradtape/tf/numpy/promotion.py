"""NumPy's dtype rules for tensors: conversion of values, and promotion of several to one dtype."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.core import dtypes, nest
from gradtape.core.convert import convert
from gradtape.core.errors import public
from gradtape.core.tensor import Tensor
from gradtape.tf.array.concat_split import stack
from gradtape.tf.math.cast import cast
from gradtape.tf.public_op import is_typed

Function = Callable[..., Any]
OfArrays = Callable[..., Tensor]


class Preference:
    """Which dtypes Python numbers are converted to.

    Attributes:
        float32: whether floats become float32, and complex numbers complex64.
    """

    float32 = False


NARROW = {dtypes.float64: dtypes.float32, dtypes.complex128: dtypes.complex64}


def tensor_of(value: Any, dtype: Any = None) -> Tensor:
    """Convert to a tensor; Python numbers and lists take NumPy's dtypes (int64, float64)."""
    if is_typed(value):
        tensor = convert(value)
    elif isinstance(value, (list, tuple)) and any(map(is_typed, nest.flatten(value))):
        tensor = stack(promoted(*value))
    else:
        tensor = convert(np.asarray(value))
        if Preference.float32 and not isinstance(value, (np.ndarray, np.generic)):
            tensor = cast(tensor, NARROW.get(tensor.dtype, tensor.dtype))
    return tensor if dtype is None else cast(tensor, dtype_of(dtype))


def dtype_of(dtype: Any) -> dtypes.DType:
    """Convert to a dtype as NumPy does: `float` is float64."""
    if isinstance(dtype, type):
        return dtypes.of_numpy(np.dtype(dtype))
    return dtypes.as_dtype(dtype)


def kind_of(value: Any) -> Any:
    """Argument for `np.result_type`: a dtype, or a Python number, which promotes weakly."""
    if isinstance(value, (bool, int, float, complex)) and not isinstance(value, np.generic):
        return value
    if isinstance(value, dtypes.DType):
        return np.dtype(value.as_numpy_dtype)
    if isinstance(value, (type, np.dtype, str)):
        return np.dtype(value)
    return tensor_of(value)._array.dtype


def result_type(*arrays_and_dtypes: Any) -> dtypes.DType:
    """The common dtype of values and dtypes, by NumPy's promotion."""
    kinds = list(map(kind_of, arrays_and_dtypes))
    dtype = dtypes.of_numpy(np.result_type(*kinds))
    if Preference.float32 and all(isinstance(k, (bool, int, float, complex)) for k in kinds):
        return NARROW.get(dtype, dtype)
    return dtype


def promote_types(type1: Any, type2: Any) -> Any:
    """As `numpy.promote_types`: the smallest dtype that both can be cast to safely."""
    return np.promote_types(*(np.dtype(dtype_of(t).as_numpy_dtype) for t in (type1, type2)))


def promoted(*values: Any) -> list[Tensor]:
    """Convert values to tensors of their common dtype."""
    dtype = result_type(*values)
    return [tensor_of(v, dtype) for v in values]


def inexact_of(value: Any) -> Tensor:
    """Convert to a floating or complex tensor; integers and bools become float64."""
    tensor = tensor_of(value)
    if tensor.dtype.is_floating or tensor.dtype.is_complex:
        return tensor
    return cast(tensor, dtypes.float64)


def numeric_of(value: Any) -> Tensor:
    """Convert to a numeric tensor; bools become int64."""
    tensor = tensor_of(value)
    return cast(tensor, dtypes.int64) if tensor.dtype.is_bool else tensor


def unary(name: str, function: Function, prepare: Function = numeric_of) -> OfArrays:
    """Make a public function of one array."""

    @public
    def of_one(x: Any) -> Tensor:
        return function(prepare(x))

    return named(of_one, name)


def inexact(name: str, function: Function) -> OfArrays:
    """Make a public function of one floating or complex array."""
    return unary(name, function, inexact_of)


def binary(name: str, function: Function, prepare: Function | None = None) -> OfArrays:
    """Make a public function of two arrays, which are promoted to one dtype."""

    @public
    def of_two(x1: Any, x2: Any) -> Tensor:
        a, b = promoted(x1, x2)
        return function(a, b) if prepare is None else function(prepare(a), prepare(b))

    return named(of_two, name)


def named(function: OfArrays, name: str) -> OfArrays:
    """Set the name and docstring of a function that has NumPy's name."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"As `numpy.{name}`, of tensors and with gradients."
    return function
