"""Sums of lists of tensors, products with a scalar, and polynomials."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.tensor import Tensor
from gradtape.ops import elementwise as e
from gradtape.ops.shape import shape_of
from gradtape.tape.indexed_slices import IndexedSlices
from gradtape.tf.math.elementwise import multiply
from gradtape.tf.public_op import (
    NUMBERS,
    check_dtype,
    check_same_dtype,
    convert_to_dtype,
    has_own_dtype,
)


@public
def add_n(inputs: Any, name: str | None = None) -> Tensor:
    """Sum of tensors of one shape and dtype.

    Args:
        inputs: a list of tensors or IndexedSlices, or one tensor, whose rows are added.
        name: ignored.

    Returns:
        A tensor of that shape.

    Raises:
        ValueError: if `inputs` is empty.
        InvalidArgumentError: if shapes or dtypes differ.

    Example:
        >>> tf.math.add_n([[1, 2], [3, 4], [5, 6]]).numpy()
        array([ 9, 12], dtype=int32)
    """
    if isinstance(inputs, Tensor):
        inputs = list(inputs)
    elif not isinstance(inputs, (list, tuple)):
        inputs = [inputs]
    if not inputs:
        raise ValueError(
            "add_n: Inputs must be an iterable of at least one Tensor/IndexedSlices with the "
            "same dtype and shape."
        )
    typed = next((value for value in inputs if has_own_dtype(value)), None)
    dtype = None if typed is None else convert(typed).dtype
    tensors = [
        convert(v) if dtype is None or has_own_dtype(v) else convert_to_dtype(v, dtype)
        for v in inputs
    ]
    for i, tensor in enumerate(tensors):
        check_same_dtype("AddN", tensors[0], tensor, i)
        if shape_of(tensor) != shape_of(tensors[0]):
            raise InvalidArgumentError(
                f"AddN: Inputs must have the same shape. Input 0: {tensors[0].shape}, input {i}: "
                f"{tensor.shape}."
            )
    if len(tensors) == 1:
        return e.identity(tensors[0])
    check_dtype("AddN", tensors[0], NUMBERS)
    return e.add_all(*tensors)


@public
def accumulate_n(
    inputs: Any, shape: Any = None, tensor_dtype: Any = None, name: str | None = None
) -> Tensor:
    """Sum of tensors of one shape and dtype.

    Args:
        inputs: a list of tensors.
        shape: the expected shape, or None.
        tensor_dtype: the expected dtype, or None.
        name: ignored.

    Returns:
        A tensor of that shape.

    Raises:
        ValueError: if `inputs` is empty, or shapes or dtypes differ.

    Example:
        >>> tf.math.accumulate_n([tf.constant([1, 2]), tf.constant([3, 4])]).numpy()
        array([4, 6], dtype=int32)
    """
    if not isinstance(inputs, (list, tuple)) or not inputs:
        raise ValueError(
            "accumulate_n: inputs must be a list of at least one Tensor with the same dtype and "
            "shape."
        )
    tensors = [convert(value) for value in inputs]
    if any(t.dtype is not tensors[0].dtype or t.shape != tensors[0].shape for t in tensors):
        raise ValueError(
            "accumulate_n: inputs must be a list of at least one Tensor with the same dtype and "
            "shape."
        )
    if tensor_dtype is not None and tensors[0].dtype != tensor_dtype:
        raise TypeError(
            f"accumulate_n: tensor_dtype is {tensor_dtype}, but input is of type "
            f"{tensors[0].dtype.name}."
        )
    if shape is not None and not tensors[0].shape.is_compatible_with(shape):
        raise ValueError(f"accumulate_n: Shapes {shape} and {tensors[0].shape} are not compatible.")
    return add_n(tensors)


@overload
def scalar_mul(scalar: Any, x: IndexedSlices, name: str | None = None) -> IndexedSlices: ...
@overload
def scalar_mul(scalar: Any, x: Any, name: str | None = None) -> Tensor: ...
@public
def scalar_mul(scalar: Any, x: Any, name: str | None = None) -> Any:
    """A scalar times a tensor or IndexedSlices.

    Args:
        scalar: a scalar.
        x: a tensor or IndexedSlices.
        name: ignored.

    Returns:
        A tensor, or IndexedSlices if `x` is.

    Raises:
        ValueError: if `scalar` has axes.

    Example:
        >>> tf.math.scalar_mul(2.0, [1.0, 3.0]).numpy()
        array([2., 6.], dtype=float32)
    """
    values = x.values if isinstance(x, IndexedSlices) else convert(x)
    number = convert(scalar) if has_own_dtype(scalar) else convert_to_dtype(scalar, values.dtype)
    if number.ndim:
        raise ValueError(
            f"scalar_mul: The input scalar must be a 0-D value. Received shape {number.shape}."
        )
    product = multiply(number, values)
    return (
        IndexedSlices(product, x.indices, x.dense_shape)
        if isinstance(x, IndexedSlices)
        else product
    )


@public
def polyval(coeffs: Sequence[Any], x: Any, name: str | None = None) -> Tensor:
    """Value of a polynomial at `x`, by Horner's rule.

    Args:
        coeffs: a list of coefficients, the highest power first.
        x: a tensor.
        name: ignored.

    Returns:
        A tensor like `x`; zeros if there are no coefficients.

    Raises:
        ValueError: if `coeffs` is not a list.

    Example:
        >>> tf.math.polyval([2.0, 0.0, 1.0], 3.0).numpy()
        np.float32(19.0)
    """
    if not isinstance(coeffs, list):
        raise ValueError(
            f"polyval: Argument coeffs must be list type. Received type {type(coeffs)}."
        )
    tensor = convert(x)
    if not coeffs:
        return e.zeros_like(tensor)
    parts = [convert(c) if has_own_dtype(c) else convert_to_dtype(c, tensor.dtype) for c in coeffs]
    total = parts[0]
    for part in parts[1:]:
        total = part + total * tensor
    return total
