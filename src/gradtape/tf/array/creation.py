"""Top-level functions that create tensors: from values, or filled with a constant."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.context import current_trace
from gradtape.core.convert import convert, to_dimension_size, to_shape_tuple
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.open_shape import has_dims
from gradtape.core.ports import SizePort
from gradtape.core.size_constant import apply_open
from gradtape.core.symbolic_tensor import SymbolicTensor
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.ops import shape as s
from gradtape.ops.elementwise import identity as identity_of
from gradtape.ops.reduce import broadcast_to as stretch
from gradtape.state.variable.variable import Variable
from gradtape.tf.public_op import has_own_dtype


@public
def convert_to_tensor(
    value: Any,
    dtype: Any = None,
    dtype_hint: Any = None,
    name: str | None = None,
) -> Tensor:
    """A tensor made from a Python value, array, variable or nested list of them.

    Args:
        value: the value to convert.
        dtype: the dtype of the result; inferred if None.
        dtype_hint: a dtype to prefer where `dtype` is None.
        name: has no effect here.

    Returns:
        A tensor.

    Example:
        >>> tf.convert_to_tensor([1.5, 2.5])
        <tf.Tensor: shape=(2,), dtype=float32, numpy=array([1.5, 2.5], dtype=float32)>
    """
    tensor = convert(value, dtype, dtype_hint, name)
    # A tape must not take the value read from a variable for the variable itself.
    return identity_of(tensor) if isinstance(value, Variable) else tensor


@public
def constant(value: Any, dtype: Any = None, shape: Any = None, name: str = "Const") -> Tensor:
    """A tensor that holds `value`.

    Args:
        value: a number, string, array or nested list.
        dtype: the element type; inferred if None.
        shape: the shape; a single element is repeated to fill it.
        name: has no effect here.

    Returns:
        A tensor.

    Raises:
        TypeError: if the value does not fit `dtype` or `shape`.

    Example:
        >>> tf.constant([[1, 2], [3, 4]])
        <tf.Tensor: shape=(2, 2), dtype=int32, numpy=
        array([[1, 2],
               [3, 4]], dtype=int32)>
        >>> tf.constant(0.0, shape=(2, 2)).numpy().tolist()
        [[0.0, 0.0], [0.0, 0.0]]
    """
    if dtype is not None and isinstance(value, Tensor) and value.dtype != dtype:
        raise TypeError(
            f"Expected tensor {value} with dtype {dtypes.as_dtype(dtype)!r}, but got dtype "
            f"{value.dtype!r}."
        )
    tensor = convert(value.numpy() if isinstance(value, Variable) else value, dtype)
    if shape is None:
        return tensor
    wanted = to_shape_tuple(shape)
    have = tensor._array.shape
    if have == wanted:
        return tensor
    if prod(have) == prod(wanted):
        return s.reshape(tensor, shape=wanted, rank=len(have))
    if prod(have) == 1:
        return make_tensor(np.full(wanted, tensor._array))
    raise TypeError(
        "constant: value and shape must have the same number of elements. "
        f"Received {prod(have)} elements, and shape {wanted} with {prod(wanted)}."
    )


def as_sizes(shape: Any, op: str) -> tuple[int, ...]:
    """Convert `shape` to a tuple of non-negative sizes."""
    sizes = to_shape_tuple(shape)
    for size in sizes:
        if size < 0:
            raise InvalidArgumentError(
                f"{op}: Dimension {size} must be >= 0. Received shape {sizes}."
            )
    return sizes


def is_left_to_graph(shape: tuple[int, ...], kind: Any) -> bool:
    """Whether a constant is so large that a trace without values leaves it to the graph's runs."""
    stage = current_trace()
    most = getattr(stage[0], "most_constant_bytes", None) if stage else None
    return most is not None and prod(shape) * np.dtype(kind).itemsize > most


def make_full(shape: tuple[int, ...], value: Any, dtype: dtypes.DType) -> Tensor:
    """Make a tensor whose elements are all `value`, which is 0 or 1."""
    if dtype == dtypes.string:
        if value != 0:
            raise TypeError(f"Cannot convert {value} to EagerTensor of dtype string")
        return make_tensor(np.full(shape, b"", object))
    kind = dtype.as_numpy_dtype
    if not shape:
        return make_tensor(np.dtype(kind).type(value))
    if has_dims(shape) or is_left_to_graph(shape, kind):
        return SizePort.make_filled(shape, value, np.dtype(kind))
    return make_tensor(np.zeros(shape, kind) if value == 0 else np.ones(shape, kind))


@public
def zeros(
    shape: Any, dtype: Any = dtypes.float32, name: str | None = None, layout: Any = None
) -> Tensor:
    """A tensor of zeros, or of empty strings if `dtype` is string.

    Args:
        shape: a list of sizes, or a vector.
        dtype: the dtype of the result.
        name: has no effect here.
        layout: has no effect here.

    Returns:
        A tensor.

    Example:
        >>> tf.zeros((2, 3), tf.int32).numpy()
        array([[0, 0, 0],
               [0, 0, 0]], dtype=int32)
    """
    return make_full(as_sizes(shape, "zeros"), 0, dtypes.as_dtype(dtype))


@public
def ones(
    shape: Any, dtype: Any = dtypes.float32, name: str | None = None, layout: Any = None
) -> Tensor:
    """A tensor of ones.

    Args:
        shape: a list of sizes, or a vector.
        dtype: the dtype of the result.
        name: has no effect here.
        layout: has no effect here.

    Returns:
        A tensor.

    Example:
        >>> tf.ones([2, 2]).numpy()
        array([[1., 1.],
               [1., 1.]], dtype=float32)
    """
    return make_full(as_sizes(shape, "ones"), 1, dtypes.as_dtype(dtype))


def make_full_like(input: Any, value: int, dtype: Any) -> Tensor:
    """Make a tensor filled with `value`, of the shape of `input`; does not read its elements."""
    raw = convert(input)._array
    return make_full(
        raw.shape,
        value,
        dtypes.from_numpy_dtype(raw.dtype) if dtype is None else dtypes.as_dtype(dtype),
    )


@public
def zeros_like(
    input: Any, dtype: Any = None, name: str | None = None, layout: Any = None
) -> Tensor:
    """Zeros of the shape of `input`, and of its dtype unless `dtype` is given.

    Args:
        input: a tensor, or a value that converts to one.
        dtype: another dtype, or None.
        name: has no effect here.
        layout: has no effect here.

    Returns:
        A tensor.

    Example:
        >>> tf.zeros_like([1.5, 2.5]).numpy()
        array([0., 0.], dtype=float32)
    """
    return make_full_like(input, 0, dtype)


@public
def ones_like(input: Any, dtype: Any = None, name: str | None = None, layout: Any = None) -> Tensor:
    """Ones of the shape of `input`, and of its dtype unless `dtype` is given.

    Args:
        input: a tensor, or a value that converts to one.
        dtype: another dtype, or None.
        name: has no effect here.
        layout: has no effect here.

    Returns:
        A tensor.

    Example:
        >>> tf.ones_like([1.0, 2.0]).numpy()
        array([1., 1.], dtype=float32)
    """
    return make_full_like(input, 1, dtype)


@public
def fill(dims: Any, value: Any, name: str | None = None, layout: Any = None) -> Tensor:
    """A tensor of shape `dims` whose elements are all the scalar `value`.

    Args:
        dims: a list of sizes, or a vector.
        value: a scalar.
        name: has no effect here.
        layout: has no effect here.

    Returns:
        A tensor of shape `dims`.

    Example:
        >>> tf.fill([2, 2], 7).numpy()
        array([[7, 7],
               [7, 7]], dtype=int32)
    """
    tensor = convert(value)
    if tensor._array.shape not in ((), (1,)):
        raise InvalidArgumentError(f"fill: value must be a scalar. Received shape {tensor.shape}.")
    wanted = convert(dims, hint=dtypes.int32)
    has_floats = (
        wanted.dtype.is_floating
        and isinstance(dims, (list, tuple))
        and any(isinstance(n, Tensor) for n in dims)
    )
    if has_floats:
        wanted = convert(dims, dtypes.int32)
    scalar = s.reshape(tensor, shape=(), rank=tensor._array.ndim)
    is_vector = isinstance(wanted, SymbolicTensor) and wanted._array.ndim < 2
    listed = dims if isinstance(dims, (list, tuple)) and not has_floats else wanted
    found = as_sizes(listed, "fill") if is_vector and wanted.dtype.is_integer else ()
    if has_dims(found):
        filled: Tensor = apply_open(stretch, scalar, shape=found, rank=0)
        return filled
    sizes = np.asarray(wanted._array)
    if sizes.dtype.kind not in "iu":
        raise InvalidArgumentError(f"fill: dims must be integers. Received {dims}.")
    if sizes.ndim > 1:
        raise InvalidArgumentError(f"fill: dims must be a vector. Received shape {sizes.shape}.")
    return stretch(scalar, shape=as_sizes(sizes, "fill"), rank=0)


@public
def eye(
    num_rows: Any,
    num_columns: Any = None,
    batch_shape: Any = None,
    dtype: Any = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Identity matrices of shape (*batch_shape, num_rows, num_columns).

    Args:
        num_rows: the number of rows.
        num_columns: the number of columns; that of rows by default.
        batch_shape: sizes of leading axes, or None.
        dtype: the dtype of the result.
        name: has no effect here.

    Returns:
        A tensor (*batch_shape, num_rows, num_columns).

    Example:
        >>> tf.eye(2).numpy()
        array([[1., 0.],
               [0., 1.]], dtype=float32)
    """
    kind = dtypes.as_dtype(dtype).as_numpy_dtype
    given = (num_rows, num_rows if num_columns is None else num_columns)
    rows, columns = as_sizes(
        [n if has_own_dtype(n) else to_dimension_size(n) for n in given], "eye"
    )
    matrix = np.eye(rows, columns, dtype=kind)
    if batch_shape is not None:
        matrix = np.broadcast_to(matrix, (*to_shape_tuple(batch_shape), *matrix.shape))
    return make_tensor(matrix)
