"""Conversion of Python and NumPy values to raw arrays, with TensorFlow's dtypes and errors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.dtypes import DType
from gradtape.core.errors import NotDense, SparseNotDense, UserTypeFound

BOOL = np.dtype("bool")
FLOAT32, FLOAT64 = np.dtype("float32"), np.dtype("float64")
INT32, INT64 = np.dtype("int32"), np.dtype("int64")
COMPLEX128 = np.dtype("complex128")
OBJECT = np.dtype("object")
FLOAT16_MAX = float(np.finfo(np.float16).max)
FLOAT32_MAX = float(np.finfo(np.float32).max)


def to_raw_array(value: Any, dtype: DType | None) -> Any:
    """A new raw array of a Python or NumPy value; a NumPy scalar if it has no axes."""
    kind = type(value)
    if kind is float or kind is int:
        scalar = from_number(value, kind, dtype)
        if scalar is not None:
            return scalar
    if isinstance(value, (np.ndarray, np.generic)):
        return from_numpy(value, dtype)
    if isinstance(value, (list, tuple)):
        return from_sequence(value, dtype)
    if isinstance(value, (str, bytes)):
        return from_strings(np.array(value, OBJECT), value, dtype)
    if isinstance(value, (bool, int, float, complex)):
        return from_python(np.array(value), value, dtype)
    if hasattr(kind, "__array__"):
        return from_numpy(value.__array__(), dtype)
    if hasattr(kind, "__array_interface__"):  # such as Pillow's pictures
        return from_numpy(np.asarray(value), dtype)
    return from_collection(value, dtype)


def from_collection(value: Any, dtype: DType | None) -> Any:
    """A raw array of the entries of an object that has a length and can be indexed."""
    kind = type(value)
    if hasattr(kind, "__len__") and hasattr(kind, "__getitem__") and not isinstance(value, dict):
        try:
            entries = list(value)
        except TypeError:
            raise unsupported_type_error(value) from None
        return from_sequence(entries, dtype)
    raise unsupported_type_error(value)


def from_number(value: Any, kind: type, dtype: DType | None) -> Any:
    """Fast path for the common Python numbers; None for the others."""
    if kind is float:
        if dtype is None:
            return to_float32(value)
        fits = dtype.kind == "float" and -FLOAT16_MAX <= value <= FLOAT16_MAX
        return dtype.scalar(value) if fits else None
    if not -(2**31) <= value < 2**31:
        return None
    if dtype is None:
        return np.int32(value)
    usual = dtype is dtypes.float32 or dtype is dtypes.int32 or dtype is dtypes.int64
    return dtype.scalar(value) if usual else None


def to_float32(value: float) -> Any:
    """A Python float as float32."""
    if -FLOAT32_MAX <= value <= FLOAT32_MAX or not math.isfinite(value):
        return np.float32(value)
    raise ValueError(
        f"Can't convert {value!r} to a Tensor of float32: it is out of range. Pass "
        "dtype=tf.float64."
    )


USER_TYPES: set[type] = set()  # classes with functions of the user, of `dispatch_for_api`


def unsupported_type_error(value: Any) -> ValueError:
    """TensorFlow's error for a value that is not a number, string or array."""
    if hasattr(type(value), "_nested_row_partitions"):
        return NotDense(
            f"A RaggedTensor of shape {value.shape} cannot be converted to a Tensor: its rows may "
            "differ in length. Use its to_tensor() or flat_values."
        )
    is_sparse = hasattr(type(value), "with_values")
    kind: type[ValueError] = SparseNotDense if is_sparse else ValueError
    if USER_TYPES and isinstance(value, tuple(USER_TYPES)):
        kind = UserTypeFound
    return kind(
        f"Attempt to convert a value ({value!r}) with an unsupported type ({type(value)}) to a "
        "Tensor."
    )


def as_numpy_scalar(array: Any) -> Any:
    """A NumPy scalar for an array without axes, because scalars are ten times faster."""
    return array[()] if array.ndim == 0 and array.dtype != OBJECT else array


def from_sequence(value: Sequence[Any], dtype: DType | None) -> Any:
    """A raw array of a nested list."""
    try:
        array = np.array(value)
    except (TypeError, ValueError) as error:
        if "inhomogeneous" not in str(error):
            raise unconvertible_error(value, error) from None
        raise ValueError(
            f"Can't convert non-rectangular Python sequence to Tensor: {value!r}. Pad the rows "
            "to one length."
        ) from None
    except OverflowError:
        array = np.array(value, OBJECT)
    if array.dtype.kind in "SUO":
        array = np.array(value, OBJECT)
        if array.size and isinstance(array.flat[0], (int, np.integer)) and has_only_numbers(array):
            return from_large_integers(array, value, dtype)
        return from_strings(array, value, dtype)
    return from_python(array, value, dtype)


def has_only_numbers(array: Any) -> bool:
    """Whether an object array holds only real numbers, of Python or NumPy."""
    return all(isinstance(item, (int, float, np.integer, np.floating)) for item in array.flat)


def from_large_integers(array: Any, value: Any, dtype: DType | None) -> Any:
    """A raw array of integers beyond 64 bits, which only float and complex dtypes can hold."""
    if dtype is None or not (dtype.is_floating or dtype.is_complex):
        raise out_of_range_error(value)
    try:
        return as_numpy_scalar(array.astype(FLOAT64).astype(dtype.as_numpy_dtype))
    except OverflowError:
        raise out_of_range_error(value) from None


def out_of_range_error(value: Any) -> ValueError:
    """TensorFlow's error for integers that are too large."""
    return ValueError(
        f"Can't convert Python sequence with out-of-range integer to Tensor: {show_value(value)}."
    )


def show_value(value: Any) -> str:
    """The start of the text of a value; Python refuses to print integers of many digits."""
    try:
        return f"{value!r:.200}"
    except ValueError:
        return f"a {type(value).__name__} with more than 4,300 digits"


def unconvertible_error(value: Any, error: Exception) -> ValueError:
    """The error for a value that NumPy does not convert, with NumPy's reason."""
    return ValueError(f"Can't convert {show_value(value)} to a Tensor: {error}")


def encode_text(text: str) -> bytes:
    """A string as UTF-8."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"Can't convert {text!r:.60} to a Tensor: it has a surrogate at position "
            f"{error.start}, which UTF-8 cannot encode."
        ) from None


def from_python(array: Any, value: Any, dtype: DType | None) -> Any:
    """A raw array of the Python numbers `value`, which NumPy has converted to `array`."""
    if array.dtype == OBJECT:
        return from_large_integers(array, value, dtype)
    if dtype is None:
        target = infer_dtype(array, value)
    else:
        check_number_kind(array, value, dtype)
        target = np.dtype(dtype.as_numpy_dtype)
    if array.dtype.kind == "u" and array.dtype.itemsize == 8 and target.kind == "i":
        raise out_of_range_error(value)
    with np.errstate(all="ignore"):
        return as_numpy_scalar(array.astype(target))


def infer_dtype(array: Any, value: Any) -> Any:
    """The dtype of Python numbers: that of the first number; later floats widen int to float32.

    NumPy integers count as Python integers. NumPy floats keep their width if they come first.
    """
    first = value
    while isinstance(first, (list, tuple)) and first:
        first = first[0]
    if isinstance(first, np.ndarray) and first.size:
        first = first.flat[0]
    kind = array.dtype.kind
    if not array.size:
        return FLOAT32
    if isinstance(first, (bool, np.bool_)) and kind != "b":
        raise mixed_types_error(value)
    if kind in "iu":
        wide = array.min() < -(2**31) or array.max() >= 2**31
        return INT64 if wide else INT32
    if kind == "c":
        if not isinstance(first, (complex, np.complexfloating)):
            raise mixed_types_error(value)
        return COMPLEX128
    if isinstance(first, np.floating):
        return np.dtype(type(first))
    return BOOL if kind == "b" else FLOAT32


def mixed_types_error(value: Any) -> ValueError:
    """TensorFlow's error for a list of values of different kinds."""
    return ValueError(f"Can't convert Python sequence with mixed types to Tensor: {value!r}.")


def check_number_kind(array: Any, value: Any, dtype: DType) -> None:
    """Raise TypeError for float → int, number → bool or string, and complex → real."""
    kind = array.dtype.kind
    if array.size == 0 and kind == "f":
        return
    refused = (
        (kind == "f" and (dtype.is_integer or dtype.is_bool))
        or (kind in "iu" and dtype.is_bool)
        or (kind == "c" and not dtype.is_complex)
        or dtype is dtypes.string
    )
    if refused:
        raise dtype_mismatch_error(value, dtype)


def dtype_mismatch_error(value: Any, dtype: DType) -> TypeError:
    """TensorFlow's error for a Python value that does not fit the requested dtype."""
    return TypeError(f"Cannot convert {value!r} to EagerTensor of dtype {dtype.name}")


def from_numpy(value: Any, dtype: DType | None) -> Any:
    """A copy of a NumPy array in native byte order; with `dtype`, cast as NumPy casts."""
    array = np.asarray(value)
    kind = array.dtype.kind
    if dtype is dtypes.string or (dtype is None and kind in "SUOT"):
        if kind not in "SUOT":
            raise ValueError(
                f"Failed to convert a NumPy array of {array.dtype} to a Tensor of strings."
            )
        return from_strings(array, value, None)
    if dtype is None:
        target = canonical_dtype(array.dtype)
        try:
            dtypes.from_numpy_dtype(target)
        except TypeError:
            raise ValueError(
                f"Failed to convert a NumPy array to a Tensor: its dtype {array.dtype} is not "
                "supported."
            ) from None
    else:
        target = np.dtype(dtype.as_numpy_dtype)
        if kind == "c" and target.kind != "c":
            array = array.real
    try:
        with np.errstate(all="ignore"):
            return as_numpy_scalar(array.astype(target, order="C"))
    except (TypeError, ValueError, OverflowError) as error:
        raise unconvertible_error(value, error) from None


def canonical_dtype(dtype: Any) -> Any:
    """The unique dtype object of a type, in native byte order; fast paths compare with `is`."""
    return np.dtype(dtype.type) if dtype.kind in "biufc" else dtype.newbyteorder("=")


def from_strings(array: Any, value: Any, dtype: DType | None) -> Any:
    """An object array of bytes."""
    out = np.empty(array.shape, OBJECT)
    for i, item in enumerate(array.flat):
        if isinstance(item, str):
            out.flat[i] = encode_text(item)
        elif isinstance(item, bytes):
            out.flat[i] = bytes(item)
        elif i and isinstance(value, (list, tuple)):
            raise mixed_types_error(value)
        elif isinstance(item, (bool, int, float, complex, np.number)):
            raise ValueError(
                f"Can't convert {value!r} to a Tensor: it mixes numbers with other objects."
            )
        else:
            raise unsupported_type_error(item)
    if dtype is not None and dtype is not dtypes.string:
        raise dtype_mismatch_error(value, dtype)
    return out
