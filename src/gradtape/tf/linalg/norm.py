"""Norms of vectors and matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.argument import describe
from gradtape.core.convert import convert, to_shape_tuple
from gradtape.core.errors import public
from gradtape.core.shapes import normalize_axes, normalize_axis
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.ops import elementwise as e
from gradtape.ops import shape as s
from gradtape.ops.linalg.decomposition import singular_values
from gradtape.ops.reduce import reduce_max, reduce_sum
from gradtape.tf.public_op import INEXACT, check_dtype


@public
def norm(
    tensor: Any,
    ord: Any = "euclidean",
    axis: Any = None,
    keepdims: bool | None = None,
    name: str | None = None,
) -> Tensor:
    """Norm of vectors, or of matrices if `axis` is a pair.

    Args:
        tensor: a tensor of floats or complex numbers.
        ord: "euclidean", "fro" (matrices only), 1, 2, inf, or any positive number for vectors.
        axis: the axis of the vectors, the two axes of the matrices, or None for the norm of all
            elements as one vector.
        keepdims: keep the reduced axes with length one.
        name: has no effect here.

    Returns:
        A tensor without the axes of the norm, or with sizes of one.

    Raises:
        ValueError: if `ord` or `axis` is not supported.

    Example:
        >>> print(tf.norm([3.0, 4.0]).numpy())
        5.0
    """
    x = convert(tensor)
    n = x._array.ndim
    pairwise = (
        isinstance(axis, (list, tuple, Tensor, np.ndarray)) and np.size(to_shape_tuple(axis)) == 2
    )
    check_norm_order(ord, pairwise)
    listed = isinstance(axis, (list, tuple))
    if listed and (not pairwise or axis[0] == axis[1]):
        raise ValueError(
            "norm: 'axis' must be None, an integer, or a tuple of 2 unique integers. "
            f"Received {axis}."
        )
    axes = normalize_axes(axis, n, "norm") if axis is None or not pairwise else to_shape_tuple(axis)
    axes = tuple(normalize_axis(a, n, "norm") for a in axes)
    keep = bool(keepdims)
    if ord in ("euclidean", "fro") or (ord == 2 and not pairwise):
        square = e.multiply(x, e.conj(x)) if x._array.dtype.kind == "c" else e.square(x)
        return e.sqrt(check_dtype("Sqrt", reduce_sum(square, axis=axes, keepdims=keep), INEXACT))
    if pairwise and ord == 2:
        return spectral_norm(x, axes, keep)
    size = e.absolute(x)
    if pairwise:
        rows, columns = axes
        sums = reduce_sum(size, axis=(rows if ord == 1 else columns,), keepdims=True)
        return reduce_max(sums, axis=axes, keepdims=keep)
    if ord == np.inf:
        return reduce_max(size, axis=axes, keepdims=keep)
    if ord == 1:
        return reduce_sum(size, axis=axes, keepdims=keep)
    exponent = size._array.dtype.type(ord)
    total = reduce_sum(e.power(size, make_tensor(exponent)), axis=axes, keepdims=keep)
    return e.power(total, make_tensor(size._array.dtype.type(1 / ord)))


def check_norm_order(order: Any, pairwise: bool) -> None:
    """Raise unless `order` is a norm of vectors, or of matrices if `pairwise`."""
    if not isinstance(order, (str, int, float, np.number)):
        raise ValueError(f"'ord' must be a number or the name of a norm, got {describe(order)}")
    if pairwise:
        if not (order in ("euclidean", "fro", 1, 2) or order == np.inf):
            raise ValueError(
                f"'ord' must be a supported matrix norm in {{'euclidean', 'fro', 1, 2, inf}}, got "
                f"{order}"
            )
    elif not (order == "euclidean" or (not isinstance(order, str) and order > 0)):
        raise ValueError(f"'ord' must be a supported vector norm, got {order}")


def spectral_norm(x: Tensor, axes: tuple[int, ...], keep: bool) -> Any:
    """Largest singular value of the matrices on two axes."""
    n = x._array.ndim
    order = [k for k in range(n) if k - n not in axes] + [a + n for a in axes]
    values = singular_values(s.permute_axes(x, tuple(order)))
    largest = reduce_max(values, axis=(-1,), keepdims=False)
    if not keep:
        return largest
    shape = tuple(1 if k - n in axes else size for k, size in enumerate(x._array.shape))
    return s.reshape(largest, shape=shape, rank=largest._array.ndim)


@public
def normalize(
    tensor: Any, ord: Any = "euclidean", axis: Any = None, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """`tensor` divided by its norm along `axis`, and that norm.

    Args:
        tensor: a tensor.
        ord: the kind of norm, as for `norm`.
        axis: an axis, a pair of axes, or None.
        name: has no effect here.

    Returns:
        A tensor like `tensor`, and the norm.

    Example:
        >>> unit, length = tf.linalg.normalize([3.0, 4.0])
        >>> unit.numpy(), length.numpy()
        (array([0.6, 0.8], dtype=float32), array([5.], dtype=float32))
    """
    x = convert(tensor)
    length = norm(x, ord, axis, keepdims=True)
    kind = x._array.dtype
    length = e.cast(length, dtype=kind) if length._array.dtype != kind else length
    return e.divide(x, length), length
