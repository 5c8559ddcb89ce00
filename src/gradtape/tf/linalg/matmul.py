"""Matrix products, cross products and transposes."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.convert import convert
from gradtape.core.errors import (
    FailedPreconditionError,
    InvalidArgumentError,
    handle_error,
    public,
)
from gradtape.core.open_shape import broadcast_shapes
from gradtape.core.tensor import EagerTensor, Tensor
from gradtape.core.traceback_filter import hide_library_frames
from gradtape.ops import elementwise as e
from gradtape.ops import shape as s
from gradtape.ops.linalg import matmul as matmul_ops
from gradtape.tf.public_op import (
    NUMBERS,
    REAL,
    as_numpy_dtypes,
    check_dtype,
    check_same_dtype,
    convert_pair,
)

FLOAT32 = np.dtype(np.float32)
MATMUL_DTYPES = NUMBERS - as_numpy_dtypes("int8")


def format_shape(shape: tuple[int, ...]) -> str:
    """Format a shape as in TensorFlow's messages."""
    return str(list(shape)).replace(" ", "")


def matmul(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    output_type: Any = None,
    grad_a: bool = False,
    grad_b: bool = False,
    name: str | None = None,
) -> Tensor:
    """Matrix product over the last two axes; the axes in front broadcast.

    Args:
        a: a tensor of at least two axes.
        b: another, of the same dtype.
        transpose_a: transpose `a` first.
        transpose_b: transpose `b` first.
        adjoint_a: transpose and conjugate `a` first.
        adjoint_b: transpose and conjugate `b` first.
        a_is_sparse: ignored.
        b_is_sparse: ignored.
        output_type: the dtype of the result, for 8-bit integers.
        grad_a: has no effect here.
        grad_b: has no effect here.
        name: has no effect here.

    Returns:
        A tensor (..., m, n).

    Raises:
        InvalidArgumentError: if shapes or dtypes are incompatible.
        ValueError: if both `transpose` and `adjoint` are True for one operand.

    Example:
        >>> tf.matmul([[1.0, 2.0]], [[3.0], [4.0]]).numpy()
        array([[11.]], dtype=float32)
    """
    try:
        x = a if type(a) is EagerTensor or not hasattr(a, "_read") else a._read()
        y = b if type(b) is EagerTensor or not hasattr(b, "_read") else b._read()
        if type(x) is not EagerTensor or type(y) is not EagerTensor:
            x, y = convert_pair(x, y)
        p, q = x._array, y._array
        options = transpose_a or transpose_b or adjoint_a or adjoint_b or output_type
        plain = not options and p.ndim == 2 == q.ndim and p.shape[1] == q.shape[0]
        if plain and p.dtype is FLOAT32 is q.dtype:
            return matmul_ops.matmul(x, y)
        if transpose_a or adjoint_a:
            x = transpose_operand(x, transpose_a, adjoint_a, "a")
        if transpose_b or adjoint_b:
            y = transpose_operand(y, transpose_b, adjoint_b, "b")
        if output_type is not None and x.dtype != output_type:
            kind = np.dtype(dtypes.as_dtype(output_type).as_numpy_dtype)
            cast = e.discretize if kind.kind in "iu" else e.cast
            x, y = cast(x, dtype=kind), cast(y, dtype=kind)
        p, q = x._array.shape, y._array.shape
        if (
            x._array.dtype is not y._array.dtype
            or len(p) < 2
            or len(q) < 2
            or p[-1] != q[-2]
            or p[:-2] != q[:-2]
        ):
            check_matmul_operands(x, y)
        elif x._array.dtype.char in "?Ob":
            check_dtype("MatMul", x, MATMUL_DTYPES)
        return matmul_ops.matmul(x, y)
    except Exception as error:
        flags = (transpose_a, transpose_b, adjoint_a, adjoint_b)
        try:
            return handle_error(error, matmul, (a, b, *flags), {"output_type": output_type})
        except Exception as final:
            hide_library_frames(final)
            raise


def check_matmul_operands(x: Tensor, y: Tensor) -> None:
    """Raise TensorFlow's error if `x` and `y` cannot be multiplied."""
    check_same_dtype("MatMul", x, y)
    check_dtype("MatMul", x, MATMUL_DTYPES)
    p, q = x._array.shape, y._array.shape
    if len(p) < 2 or len(q) < 2:
        raise InvalidArgumentError(
            f"matmul: In[0] and In[1] must have two or more dimensions: {format_shape(p)} vs. "
            f"{format_shape(q)}. For a matrix times a vector use tf.linalg.matvec."
        )
    if p[-1] != q[-2]:
        raise InvalidArgumentError(
            f"matmul: Matrix size-incompatible: In[0]: {format_shape(p)}, In[1]: "
            f"{format_shape(q)}. Transpose "
            "one of them."
        )
    try:
        broadcast_shapes(p[:-2], q[:-2])
    except InvalidArgumentError:
        raise InvalidArgumentError(
            f"matmul: In[0] and In[1] must have compatible batch dimensions: {format_shape(p)} vs. "
            f"{format_shape(q)}."
        ) from None


def transpose_operand(x: Tensor, transpose: bool, adjoint: bool, which: str) -> Any:
    """Transpose the last two axes of an operand, and conjugate it for `adjoint`."""
    if transpose and adjoint:
        raise ValueError(
            f"matmul: only one of `transpose_{which}` and `adjoint_{which}` can be True."
        )
    if x._array.ndim < 2:
        raise InvalidArgumentError(
            f"matmul: operand {which} must have two or more dimensions. Received {x.shape}."
        )
    out = s.swap(x)
    return e.conj(out) if adjoint and out._array.dtype.kind == "c" else out


def apply_matmul(x: Any, y: Any) -> Tensor:
    """`x @ y`."""
    try:
        return matmul(x, y)
    except Exception as error:
        hide_library_frames(error)
        raise


def apply_reflected_matmul(y: Any, x: Any) -> Tensor:
    """`x @ y` where only `y` is a tensor."""
    try:
        return matmul(x, y)
    except Exception as error:
        hide_library_frames(error)
        raise


# They replace the operators of `tf/tensor_operator.py`, which have imported this module.
Tensor.__matmul__ = apply_matmul  # type: ignore[method-assign]
Tensor.__rmatmul__ = apply_reflected_matmul  # type: ignore[method-assign]


@public
def matvec(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    adjoint_a: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Tensor:
    """Matrices `a` (..., m, n) times vectors `b` (..., n).

    Args:
        a: matrices (..., m, n).
        b: vectors (..., n).
        transpose_a: whether to transpose `a`.
        adjoint_a: whether to transpose and conjugate `a`.
        a_is_sparse: has no effect here.
        b_is_sparse: has no effect here.
        name: has no effect here.

    Returns:
        A tensor (..., m).

    Example:
        >>> tf.linalg.matvec([[1.0, 2.0], [3.0, 4.0]], [1.0, 1.0]).numpy()
        array([3., 7.], dtype=float32)
    """
    x, y = convert_pair(a, b)
    if y._array.ndim < 1:
        raise InvalidArgumentError("matvec: b must be at least a vector. Received a scalar.")
    column = s.slice_(y, key=(slice(None), None), rank=1)
    out = matmul(x, column, transpose_a=transpose_a, adjoint_a=adjoint_a)
    return s.slice_(out, key=(slice(None), 0), rank=2)


@public
def adjoint(matrix: Any, name: str | None = None) -> Tensor:
    """Conjugate transpose of the last two axes.

    Args:
        matrix: matrices (..., m, n).
        name: has no effect here.

    Returns:
        A tensor (..., n, m).

    Example:
        >>> tf.linalg.adjoint([[1, 2], [3, 4]]).numpy()
        array([[1, 3],
               [2, 4]], dtype=int32)
    """
    return matrix_transpose(matrix, conjugate=True)


@public
def matrix_transpose(a: Any, name: str = "matrix_transpose", conjugate: bool = False) -> Tensor:
    """Transpose of the last two axes, conjugated if `conjugate` is True.

    Args:
        a: matrices (..., m, n).
        name: has no effect here.
        conjugate: whether to conjugate the elements.

    Returns:
        A tensor (..., n, m).

    Example:
        >>> tf.linalg.matrix_transpose([[1, 2], [3, 4]]).numpy()
        array([[1, 3],
               [2, 4]], dtype=int32)
    """
    x = convert(a)
    if x._array.ndim < 2:
        raise ValueError(
            f"matrix_transpose: a must have two or more dimensions. Received shape {x.shape}."
        )
    out = s.swap(x)
    return e.conj(out) if conjugate and out._array.dtype.kind == "c" else out


@public
def cross(a: Any, b: Any, name: str | None = None) -> Tensor:
    """Cross product along the last axis, which has length 3.

    Args:
        a: vectors (..., 3).
        b: vectors of the same shape.
        name: has no effect here.

    Returns:
        A tensor of the operands' shape.

    Example:
        >>> tf.linalg.cross([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]).numpy()
        array([0., 0., 1.], dtype=float32)
    """
    x, y = convert_pair(a, b)
    check_same_dtype("Cross", check_dtype("Cross", x, REAL), y)
    if x._array.shape != y._array.shape or x._array.shape[-1:] != (3,):
        kind = InvalidArgumentError if x.shape != y.shape else FailedPreconditionError
        raise kind(
            f"cross: both inputs must have the same shape, which ends in 3. Received {x.shape} and "
            f"{y.shape}."
        )
    first, second = s.roll(x, shift=-1, axis=-1), s.roll(y, shift=-1, axis=-1)
    return s.roll(e.subtract(e.multiply(x, second), e.multiply(first, y)), shift=-1, axis=-1)
