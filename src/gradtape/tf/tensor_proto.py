"""tf.make_tensor_proto and tf.make_ndarray: tensors as protocol buffer messages."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.convert import convert
from gradtape.core.errors import public
from gradtape.core.shapes import TensorShape
from gradtape.files.tensor_proto import (
    VALUE_FIELD_BY_DTYPE,
    TensorProto,
    array_from_proto,
    fill_tensor_proto,
)


@public
def make_tensor_proto(
    values: Any,
    dtype: Any = None,
    shape: Any = None,
    verify_shape: bool = False,
    allow_broadcast: bool = False,
) -> Any:
    """A TensorProto with the given values.

    Args:
        values: a Python value, an array or a tensor.
        dtype: the dtype; by default that of `values`.
        shape: the shape; by default that of `values`. If it has more elements than `values`, the
            last value stands for the rest.
        verify_shape: whether `values` must have exactly this shape.
        allow_broadcast: whether `values` must be one value or as many as the shape has elements.

    Returns:
        A TensorProto.

    Raises:
        ValueError: if `values` has more elements than `shape`.
        TypeError: if `values` does not fit `dtype`, or `shape` as the last two arguments ask.

    Example:
        >>> tf.make_ndarray(tf.make_tensor_proto(5, shape=[2, 2])).tolist()
        [[5, 5], [5, 5]]
    """
    if values is None:
        raise ValueError("make_tensor_proto: None values not supported. Received None.")
    array = np.asarray(convert(values, dtype)._array)
    sizes = array.shape if shape is None else tuple(TensorShape(shape).as_list())
    count = math.prod(sizes)
    one_for_all = allow_broadcast and array.shape in ((), (1,))
    if (verify_shape and array.shape != sizes) or (
        allow_broadcast and not one_for_all and array.size != count
    ):
        raise TypeError(
            f"make_tensor_proto: Expected Tensor's shape: {sizes}, but got {array.shape}."
        )
    if array.size > count:
        raise ValueError(
            f"make_tensor_proto: Too many elements provided. Takes at most {count}, but got "
            f"{array.size}."
        )
    if array.size == count and count != 1:
        return fill_tensor_proto(TensorProto(), array.reshape(sizes))
    return fill_with_value_list(array, sizes)


def fill_with_value_list(array: Any, sizes: tuple[int, ...]) -> Any:
    """A TensorProto that lists its first values; the last of them stands for the rest."""
    message = TensorProto()
    dtype = dtypes.from_numpy_dtype(array.dtype)
    message.dtype = dtype.as_datatype_enum
    message.tensor_shape.SetInParent()
    for size in sizes:
        message.tensor_shape.dim.add(size=size)
    flat = array.ravel()
    if dtype.is_complex:
        flat = flat.view(flat.real.dtype)
    elif dtype in (dtypes.float16, dtypes.bfloat16):
        flat = flat.view(np.uint16)
    getattr(message, VALUE_FIELD_BY_DTYPE[dtype.name]).extend(flat.tolist())
    return message


@public
def make_ndarray(tensor: Any) -> np.ndarray[Any, Any]:
    """The NumPy array of a TensorProto.

    Args:
        tensor: a TensorProto.

    Returns:
        A NumPy array.

    Raises:
        TypeError: if NumPy cannot represent the dtype.
        InvalidArgumentError: if the message is invalid.
    """
    array: np.ndarray[Any, Any] = array_from_proto(tensor)
    return array
