"""Functions of square matrices, and the rank."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.open_shape import broadcast_shapes
from gradtape.core.primitive import Spec
from gradtape.core.shape_rule import INT32, with_shape
from gradtape.core.size_function import min_size
from gradtape.core.tensor import Tensor
from gradtape.graph.raw_function import apply_raw
from gradtape.ops.linalg import decomposition as decomposition_ops
from gradtape.ops.linalg import matrix_function
from gradtape.ops.linalg import matrix_rank as rank
from gradtape.ops.xla_lowering import on_jax
from gradtape.tf.linalg.decomposition import (
    MATRIX_DTYPES,
    as_float_matrices,
)
from gradtape.tf.public_op import COMPLEX, check_dtype


@public
def expm(input: Any, name: str | None = None) -> Tensor:
    """Exponential of square matrices.

    Args:
        input: square matrices (..., n, n).
        name: has no effect here.

    Returns:
        A tensor like `input`.

    Example:
        >>> tf.linalg.expm([[0.0, 1.0], [0.0, 0.0]]).numpy()
        array([[1., 1.],
               [0., 1.]], dtype=float32)
    """
    x = convert(input)
    if x._array.dtype not in MATRIX_DTYPES:
        raise ValueError(
            f"expm: input must be float32, float64 or complex. Received {x.dtype.name}. Cast it."
        )
    return matrix_function.expm(as_float_matrices("MatrixExponential", x, square=True))


def as_real_matrices(op: str, value: Any) -> Tensor:
    """Convert an argument to matrices of real floats."""
    x = convert(value)
    if not x.dtype.is_floating:
        raise TypeError(f"{op}: Input `a` must have `float`-like `dtype` (saw {x.dtype.name}).")
    if x._array.ndim < 2:
        raise ValueError(f"{op}: Input `a` must have at least 2 dimensions (saw: {x._array.ndim}).")
    return as_float_matrices(op, x)


@public
def matrix_rank(
    a: Any, tol: Any = None, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """Number of singular values above `tol`; by default above the rounding error.

    `tol` broadcasts against the singular values (..., min(m, n)), as in TensorFlow.

    Args:
        a: matrices (..., m, n).
        tol: a threshold for each matrix, or None.
        validate_args: has no effect here.
        name: has no effect here.

    Returns:
        An int32 tensor (...,).

    Raises:
        InvalidArgumentError: if `tol` does not broadcast.

    Example:
        >>> tf.linalg.matrix_rank([[1.0, 2.0], [2.0, 4.0]]).numpy()
        np.int32(1)
    """
    x = as_real_matrices("matrix_rank", a)
    if tol is not None:
        check_tolerance_shape(x._array.shape, convert(tol)._array.shape)
    result: Tensor = apply_raw(count_rank, x, None if tol is None else convert(tol))
    return result


def check_tolerance_shape(shape: tuple[int, ...], tolerance: tuple[int, ...]) -> None:
    """Raise unless a tolerance broadcasts against the singular values."""
    values = (*shape[:-2], min_size(*shape[-2:]))
    try:
        broadcast_shapes(values, tolerance)
    except InvalidArgumentError:
        raise InvalidArgumentError(
            f"matrix_rank: tol must broadcast against the singular values. Received shapes "
            f"{list(tolerance)} and {list(values)}."
        ) from None


@with_shape(lambda x, tol: Spec((x.shape[:-2], INT32)))
@on_jax(rank.rank_of)
def count_rank(x: Any, tol: Any) -> Any:
    """Count the singular values of raw matrices above `tol`, or above the rounding error."""
    values = decomposition_ops.svd(x)[0]
    if tol is None:
        largest = np.max(values, axis=-1, keepdims=True, initial=0)
        least = max(x.shape[-2:]) * largest * np.finfo(values.dtype).eps
    else:
        least = tol
    return np.sum(values > least, axis=-1).astype(np.int32)[()]


@public
def sqrtm(input: Any, name: str | None = None) -> Tensor:
    """Principal square root of square matrices.

    Args:
        input: square matrices (..., n, n).
        name: has no effect here.

    Returns:
        A tensor like `input`.

    Example:
        >>> tf.linalg.sqrtm([[4.0, 0.0], [0.0, 9.0]]).numpy().round(3)
        array([[2., 0.],
               [0., 3.]], dtype=float32)
    """
    return matrix_function.sqrtm(as_float_matrices("MatrixSquareRoot", input, square=True))


@public
def logm(input: Any, name: str | None = None) -> Tensor:
    """Principal logarithm of square complex matrices.

    Args:
        input: square matrices (..., n, n).
        name: has no effect here.

    Returns:
        A tensor like `input`.
    """
    x = check_dtype("MatrixLogarithm", convert(input), COMPLEX)
    return matrix_function.logm(as_float_matrices("MatrixLogarithm", x, square=True))


matrix_square_root = sqrtm
