"""tf.experimental.numpy products: dot, matmul, einsum, cross and the like."""

from __future__ import annotations

from typing import Any

from gradtape.core.errors import public
from gradtape.core.tensor import Tensor
from gradtape.tf.array import reshape as tf
from gradtape.tf.array.pad import pad
from gradtape.tf.array.shape import broadcast_dynamic_shape
from gradtape.tf.array.shape import shape as tf_shape
from gradtape.tf.linalg import einsum as contraction
from gradtape.tf.linalg import matmul as products
from gradtape.tf.math.reduce import reduce_sum
from gradtape.tf.numpy.array import moveaxis
from gradtape.tf.numpy.elementwise import conj
from gradtape.tf.numpy.index import diagonal
from gradtape.tf.numpy.promotion import as_numeric, as_tnp_tensor, promote_tensors


def as_factors(a: Any, b: Any) -> tuple[Tensor, Tensor]:
    """Convert two values to numeric tensors of one dtype."""
    x, y = (as_numeric(v) for v in promote_tensors(a, b))
    return x, y


@public
def dot(a: Any, b: Any) -> Tensor:
    """As `numpy.dot`: over the last axis of `a` and the last but one of `b`."""
    x, y = as_factors(a, b)
    if not x._array.ndim or not y._array.ndim:
        return x * y
    last = y._array.ndim - 2 if y._array.ndim > 1 else 0
    return contraction.tensordot(x, y, [[x._array.ndim - 1], [last]])


@public
def matmul(x1: Any, x2: Any) -> Tensor:
    """As `numpy.matmul`: matrices, stacks of them, and vectors."""
    x, y = as_factors(x1, x2)
    left, right = x._array.ndim == 1, y._array.ndim == 1
    if left and right:
        return reduce_sum(x * y)
    if left:
        return tf.squeeze(products.matmul(tf.expand_dims(x, 0), y), -2)
    return products.matvec(x, y) if right else products.matmul(x, y)


@public
def inner(a: Any, b: Any) -> Tensor:
    """As `numpy.inner`: over the last axes of both."""
    x, y = as_factors(a, b)
    if not x._array.ndim or not y._array.ndim:
        return x * y
    return contraction.tensordot(x, y, [[-1 + x._array.ndim], [-1 + y._array.ndim]])


@public
def outer(a: Any, b: Any) -> Tensor:
    """As `numpy.outer`, of the flattened arrays."""
    x, y = as_factors(a, b)
    return tf.reshape(x, [-1, 1]) * tf.reshape(y, [1, -1])


@public
def vdot(a: Any, b: Any) -> Tensor:
    """As `numpy.vdot`, of the flattened arrays; the first is conjugated."""
    x, y = as_factors(a, b)
    return reduce_sum(tf.reshape(conj(x), [-1]) * tf.reshape(y, [-1]))


@public
def kron(a: Any, b: Any) -> Tensor:
    """As `numpy.kron`."""
    x, y = as_factors(a, b)
    rank = max(x._array.ndim, y._array.ndim)
    p = (1,) * (rank - x._array.ndim) + x._array.shape
    q = (1,) * (rank - y._array.ndim) + y._array.shape
    product = tf.reshape(x, [n for k in p for n in (k, 1)]) * tf.reshape(
        y, [n for k in q for n in (1, k)]
    )
    return tf.reshape(product, [m * n for m, n in zip(p, q, strict=True)])


@public
def tensordot(a: Any, b: Any, axes: Any = 2) -> Tensor:
    """As `numpy.tensordot`."""
    return contraction.tensordot(*as_factors(a, b), axes)


@public
def einsum(subscripts: str, *operands: Any, **kwargs: Any) -> Tensor:
    """As `numpy.einsum`."""
    return contraction.einsum(subscripts, *promote_tensors(*operands))


@public
def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> Tensor:
    """As `numpy.trace`."""
    return reduce_sum(as_tnp_tensor(diagonal(a, offset, axis1, axis2), dtype), -1)


@public
def cross(
    a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> Tensor:
    """As `numpy.cross`, of vectors of length two or three."""
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = as_factors(a, b)
    x, y = moveaxis(x, axisa, -1), moveaxis(y, axisb, -1)
    flat = x._array.shape[-1] == 2 and y._array.shape[-1] == 2
    if flat:
        return x[..., 0] * y[..., 1] - x[..., 1] * y[..., 0]
    x, y = (pad_to_three_vectors(v) for v in (x, y))
    common = broadcast_dynamic_shape(tf_shape(x), tf_shape(y))
    out = products.cross(tf.broadcast_to(x, common), tf.broadcast_to(y, common))
    return moveaxis(out, -1, axisc)


def pad_to_three_vectors(x: Tensor) -> Tensor:
    """Pad vectors of length two with a zero."""
    short = 3 - x._array.shape[-1]
    return pad(x, [[0, 0]] * (x._array.ndim - 1) + [[0, short]]) if short else x


@public
def polyval(p: Any, x: Any) -> Tensor:
    """As `numpy.polyval`: the polynomial with coefficients `p`, highest first, at `x`."""
    coefficients, at = as_factors(p, x)
    total = at * 0
    for i in range(coefficients._array.shape[0]):
        total = total * at + coefficients[i]
    return total
