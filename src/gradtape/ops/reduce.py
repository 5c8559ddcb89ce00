"""Reductions along axes, their adjoint `spread`, broadcasting, and its adjoint `unbroadcast`."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any

import numpy as np

from gradtape.core.blas_thread import NUMPY_BLAS, blas_threads, run_sum
from gradtape.core.dtypes import accumulator
from gradtape.core.primitive import Spec, primitive
from gradtape.core.shape_rule import lead_axes, replace_axis
from gradtape.ops.elementwise import (
    cast,
    conj,
    equal,
    exp,
    gate,
    is_finite,
    ones_like,
    reciprocal,
    stop_gradient,
)
from gradtape.ops.shape import concat, inverse_permutation, reshape, shape_of, slice_axis, transpose

Axes = tuple[int, ...]


def reduced_shape(x, axis, keepdims):
    rank = len(x.shape)
    if keepdims:
        return tuple([1 if i - rank in axis else n for i, n in enumerate(x.shape)])
    return tuple([n for i, n in enumerate(x.shape) if i - rank not in axis])


def spread_shape(g, axis, keepdims, shape):
    return lead_axes(g, len(shape) - (0 if keepdims else len(axis))) + shape


@primitive(
    g=lambda g, axis, keepdims: reduce_sum(g, axis=axis, keepdims=keepdims), shape=spread_shape
)
def spread(g, *, axis: Axes, keepdims: bool, shape: tuple[int, ...]):
    """Adjoint of a sum: put the reduced axes back and repeat along them."""
    lead = g.shape[: g.ndim - len(shape) + (0 if keepdims else len(axis))]
    full = lead + shape
    if not keepdims and g.shape:
        sizes = list(full)
        for a in axis:
            sizes[a] = 1
        g = g.reshape(sizes)
    size = 1
    for n in full:
        size *= n
    if size > 16384:  # from here on a view with zero strides is cheaper than a copy
        if type(g) is np.float32:  # as `np.broadcast_to`, eight times faster
            return np.ndarray(full, np.float32, g, 0, (0,) * len(full))
        return np.broadcast_to(g, full)
    out = np.empty(full, g.dtype)
    out[...] = g
    return out


@spread.lower
def lower_spread(g, *, axis, keepdims, shape):
    lead = g.shape[: g.ndim - len(shape) + (0 if keepdims else len(axis))]
    sizes = [1 if i - len(shape) in axis else n for i, n in enumerate(shape)]
    return np.broadcast_to(g.reshape(lead + tuple(sizes)), lead + shape)


@primitive(
    x=lambda g, x_spec, axis, keepdims: spread(g, axis=axis, keepdims=keepdims, shape=x_spec.shape),
    shape=reduced_shape,
)
def reduce_sum(x, *, axis: Axes, keepdims: bool):
    """Sum along `axis`, accumulated in float32 for the half types."""
    dtype = x.dtype
    wide = accumulator(dtype)
    out = sum_raw(x, axis, wide, keepdims)
    return out if wide is dtype else out.astype(dtype, copy=False)


@reduce_sum.lower
def lower_reduce_sum(x, *, axis, keepdims):
    """The same; XLA sums many rows faster as a product with ones."""
    rows = axis == (-1,) and x.ndim > 1 and x.dtype.char in "fd"
    if rows and x.size >= LOWERED_ROWS_MIN_SIZE and 32 <= x.shape[-1] <= MAX_DOT_LENGTH:
        total = np.matmul(x, np.ones((x.shape[-1], 1), x.dtype), precision="highest")
        return total if keepdims else total[..., 0]
    return np.sum(x, axis=axis, dtype=accumulator(x.dtype), keepdims=keepdims).astype(x.dtype)


LOWERED_ROWS_MIN_SIZE = 1 << 16  # elements from which XLA sums rows as a product with ones
MAX_SHORT_VECTOR = 4096  # longest vector to sum by a dot product
MAX_DOT_LENGTH = 1 << 13  # longest row to sum by a dot product, which loses digits in longer ones


@lru_cache(maxsize=64)
def ones_vector(n: int, dtype: Any) -> Any:
    """Cached vector of ones, to sum by a dot product."""
    return np.ones(n, dtype)


def sum_raw(x: Any, axis: Axes, wide: Any, keepdims: bool) -> Any:
    """Sum of a raw array in the dtype `wide`; by dot products with ones where that is faster."""
    n = x.ndim - 1
    same = type(x) is np.ndarray and wide is x.dtype
    if same and not n and axis and wide.char in "fd" and x.size <= MAX_SHORT_VECTOR:
        total = x.dot(ones_vector(x.size, wide))
        return total.reshape(1) if keepdims else total
    if same and len(axis) > n and x.size >= 32768 and wide.char in "fd" and x.flags.c_contiguous:
        total = run_sum(sum_vector, x.reshape(-1))
        return total.reshape((1,) * x.ndim) if keepdims else total
    if same and n > 1 and len(axis) == n and -1 not in axis and x.size:
        total = sum_matrix_rows(x.reshape(-1, x.shape[-1]))
        return total.reshape((1,) * n + total.shape) if keepdims else total
    if n and axis == (-1,) and x.size >= 4096 and type(x) is np.ndarray:
        width = x.shape[-1]
        if (
            wide.char in "fd"
            and wide is x.dtype
            and width <= MAX_DOT_LENGTH
            and x.flags.c_contiguous
        ):
            total = run_sum(np.dot, x.reshape(-1, width), np.ones(width, wide))
            total = total.reshape(x.shape[:-1])
            return total[..., None] if keepdims else total
    return np.add.reduce(x, axis, wide, None, keepdims)


def sum_vector(flat: Any) -> Any:
    """Sum of a long raw vector by a matrix product, three times faster than `np.add.reduce`."""
    whole = flat.size - flat.size % 1024
    total = np.add.reduce(flat[:whole].reshape(-1, 1024).dot(ones_vector(1024, flat.dtype)))
    return total if whole == flat.size else total + np.add.reduce(flat[whole:])


def reduce_mean_wrt_x(g, x_spec, axis, keepdims):
    """Every element gets an equal share."""
    return spread(
        g / count_reduced_elements(x_spec.shape, axis),
        axis=axis,
        keepdims=keepdims,
        shape=x_spec.shape,
    )


def count_reduced_elements(shape: tuple[int, ...], axis: Axes, least: int = 1) -> int:
    """Number of elements reduced into one; at least `least`, to avoid division by zero."""
    count = 1
    for a in axis:
        count *= shape[a]
    return max(count, least)


@primitive(x=reduce_mean_wrt_x, shape=reduced_shape)
def reduce_mean(x, *, axis: Axes, keepdims: bool):
    """Mean along `axis`; NaN of no elements. Means of integers are rounded towards zero."""
    count = 1
    for a in axis:
        count *= x.shape[a]
    if x.dtype.kind in "iu":
        mean = np.add.reduce(x, axis=axis, keepdims=keepdims, dtype=float) / max(count, 1)
        return mean.astype(x.dtype)
    wide = accumulator(x.dtype)
    if x.dtype.kind == "c":
        count = max(count, 1)  # in TensorFlow the complex mean of no elements is zero
    out = sum_raw(x, axis, wide, keepdims) / float(count)
    return out if wide is x.dtype else out.astype(x.dtype, copy=False)


def extreme_wrt_x(g, x, x_spec, out, axis, keepdims):
    """Elements that tie for the extreme share the cotangent equally."""
    back = partial(spread, axis=axis, keepdims=keepdims, shape=x_spec.shape)
    hit = equal(x, back(out))
    ties = reduce_sum(cast(hit, dtype=x_spec.dtype), axis=axis, keepdims=True)
    return gate(back(g), hit) / ties


@primitive(x=extreme_wrt_x, shape=reduced_shape)
def reduce_max(x, *, axis: Axes, keepdims: bool):
    """Largest element along `axis`; -inf or the smallest integer, if there is none."""
    return np.maximum.reduce(x, axis=axis, keepdims=keepdims, initial=lowest(x.dtype))


@primitive(x=extreme_wrt_x, shape=reduced_shape)
def reduce_min(x, *, axis: Axes, keepdims: bool):
    """Smallest element along `axis`; inf or the largest integer, if there is none."""
    return np.minimum.reduce(x, axis=axis, keepdims=keepdims, initial=highest(x.dtype))


def lowest(dtype: Any) -> Any:
    """The neutral element of `maximum`."""
    return np.iinfo(dtype).min if dtype.kind in "iu" else -np.inf


def highest(dtype: Any) -> Any:
    """The neutral element of `minimum`."""
    return np.iinfo(dtype).max if dtype.kind in "iu" else np.inf


def reduce_prod_wrt_x(g, x, x_spec, axis, keepdims):
    """The product of the other elements, computed without division, so exact at zeros."""
    rank = len(x_spec.shape)
    kept = tuple(a for a in range(-rank, 0) if a not in axis)
    perm = kept + tuple(sorted(axis))
    flat = (*(x_spec.shape[a] for a in kept), count_reduced_elements(x_spec.shape, axis, 0))
    rest = products_of_others(reshape(transpose(x, perm=perm), shape=flat, rank=rank))
    rest = reshape(rest, shape=tuple(x_spec.shape[a] for a in perm), rank=len(flat))
    rest = transpose(rest, perm=inverse_permutation(perm))
    return spread(g, axis=axis, keepdims=keepdims, shape=x_spec.shape) * rest


def products_of_others(x: Any) -> Any:
    """For each element, the product of all others along the last axis, by recursive halving."""
    n = shape_of(x)[-1]
    if n < 2:
        return ones_like(x)
    half = n // 2
    left, right = (
        slice_axis(x, axis=-1, start=0, size=half),
        slice_axis(x, axis=-1, start=half, size=half),
    )
    odd = [slice_axis(x, axis=-1, start=n - 1, size=1)] if n % 2 else []
    pairs = products_of_others(concat(left * right, *odd, axis=-1))
    rest = slice_axis(pairs, axis=-1, start=0, size=half)
    last = [slice_axis(pairs, axis=-1, start=half, size=1)] if n % 2 else []
    return concat(rest * right, rest * left, *last, axis=-1)


@primitive(x=reduce_prod_wrt_x, shape=reduced_shape)
def reduce_prod(x, *, axis: Axes, keepdims: bool):
    """Product along `axis`."""
    wide = accumulator(x.dtype)
    return np.multiply.reduce(x, axis=axis, keepdims=keepdims, dtype=wide).astype(
        x.dtype, copy=False
    )


def reduce_logsumexp_wrt_x(g, x, x_spec, axis, keepdims):
    """The softmax, from differences to the maximum; `exp(x - out)` would be less accurate."""
    back = partial(spread, axis=axis, keepdims=True, shape=x_spec.shape)
    e = exp(x - back(finite_maximum(x, axis)))
    share = back(reciprocal(reduce_sum(e, axis=axis, keepdims=True)))
    return spread(g, axis=axis, keepdims=keepdims, shape=x_spec.shape) * (e * share)


def finite_maximum(x: Any, axis: Axes) -> Any:
    """The maximum along `axis` as a constant; zero where it is infinite or NaN."""
    top = stop_gradient(reduce_max(x, axis=axis, keepdims=True))
    return gate(top, is_finite(top))


@primitive(x=reduce_logsumexp_wrt_x, shape=reduced_shape)
def reduce_logsumexp(x, *, axis: Axes, keepdims: bool):
    """Logarithm of the sum of exponentials along `axis`."""
    wide = x.astype(accumulator(x.dtype), copy=False)
    top = np.maximum.reduce(wide, axis=axis, keepdims=True, initial=-np.inf)
    top = np.where(np.isfinite(top), top, wide.dtype.type(0))
    out = np.log(np.add.reduce(np.exp(wide - top), axis=axis, keepdims=True)) + top
    return (out if keepdims else np.squeeze(out, axis)).astype(x.dtype, copy=False)


def reduce_euclidean_norm_wrt_x(g, x, x_spec, out, axis, keepdims):
    """The direction of `x`; NaN at the origin, as in TensorFlow."""
    back = partial(spread, axis=axis, keepdims=keepdims, shape=x_spec.shape)
    return conj(x) * back(g / out) if x_spec.dtype.kind == "c" else x * back(g / out)


@primitive(x=reduce_euclidean_norm_wrt_x, shape=reduced_shape)
def reduce_euclidean_norm(x, *, axis: Axes, keepdims: bool):
    """Square root of the sum of squared absolute values; rounded down for integers."""
    if x.dtype.kind == "c":
        squares = (x * np.conj(x)).real
    else:
        wide = x.astype(accumulator(x.dtype), copy=False)
        squares = wide * wide
    norm = np.sqrt(np.add.reduce(squares, axis=axis, keepdims=keepdims, dtype=squares.dtype))
    return norm.astype(x.dtype, copy=False)


def arg_shape(x, axis, dtype):
    return Spec((replace_axis(x.shape, axis), np.dtype(dtype)))


@primitive(x=None, shape=arg_shape)
def argmax(x, *, axis: int, dtype: Any):
    """Index of the first largest element along `axis`; NaN counts as the smallest."""
    if x.dtype.kind not in "iub":
        x = np.where(np.isnan(x), x.dtype.type(-np.inf), x)
    return np.argmax(x, axis=axis).astype(dtype)


@primitive(x=None, shape=arg_shape)
def argmin(x, *, axis: int, dtype: Any):
    """Index of the first smallest element along `axis`; NaN counts as the largest."""
    if x.dtype.kind not in "iub":
        x = np.where(np.isnan(x), x.dtype.type(np.inf), x)
    return np.argmin(x, axis=axis).astype(dtype)


@primitive(x=None, shape=reduced_shape)
def reduce_all(x, *, axis: Axes, keepdims: bool):
    """Whether all elements along `axis` are true."""
    return np.logical_and.reduce(x, axis=axis, keepdims=keepdims)


@primitive(x=None, shape=reduced_shape)
def reduce_any(x, *, axis: Axes, keepdims: bool):
    """Whether any element along `axis` is true."""
    return np.logical_or.reduce(x, axis=axis, keepdims=keepdims)


def sum_matrix_rows(x: Any) -> Any:
    """Sum of a raw matrix over its rows; by a product with ones for float32 and float64."""
    if x.dtype.char in "fd":
        n = x.shape[0]
        ones = ones_vector(n, x.dtype) if n <= 4096 else np.ones(n, x.dtype)
        return ones.dot(x) if x.size < blas_threads.sum else NUMPY_BLAS.run(ones.dot, x)
    return np.add.reduce(x, 0, accumulator(x.dtype)).astype(x.dtype, copy=False)


def unbroadcast(
    t: Any, shape: tuple[int, ...], core_ndim: int, g: Any, out_shape: tuple[int, ...]
) -> Any:
    """Sum `t` over the axes along which an operand of `shape` was broadcast to `out_shape`.

    The last `core_ndim` axes do not broadcast. Axes of the cotangent `g` in front of `out_shape`
    are lead axes, which stay.
    """
    is_bias = type(t) is np.ndarray and t.ndim == 2 and t.shape[1:] == shape
    if is_bias and g.ndim == len(out_shape):
        return sum_matrix_rows(t)
    have = shape_of(t)
    lead = len(shape_of(g)) - len(out_shape)
    if lead == 0 and len(have) == len(shape) and have == shape:
        return t
    want = have[:lead] + shape
    if len(have) == len(want) and have == want:
        return t
    extra = len(have) - len(want)
    stretched = list(range(lead, lead + extra))
    for i in range(lead, len(want) - core_ndim):
        if want[i] != have[i + extra]:
            stretched.append(i + extra)
    total = reduce_sum(t, axis=tuple(i - len(have) for i in stretched), keepdims=False)
    left = shape_of(total)
    return total if left == want else reshape(total, shape=want, rank=len(left))


def broadcast_to_wrt_x(g, x_spec, shape, rank):
    """Sum over the axes that were added or broadcast; axes in front of the last `rank` stay."""
    own = x_spec.shape[len(x_spec.shape) - rank :]
    new = len(shape) - rank
    axis = tuple(i - len(shape) for i, n in enumerate(shape) if i < new or n != own[i - new])
    total = reduce_sum(g, axis=axis, keepdims=False) if axis else g
    return reshape(total, shape=own, rank=len(shape) - len(axis))


@primitive(x=broadcast_to_wrt_x, shape=lambda x, shape, rank: lead_axes(x, rank) + shape)
def broadcast_to(x, *, shape: tuple[int, ...], rank: int):
    """`x` with its last `rank` axes broadcast to `shape`."""
    lead = x.shape[: x.ndim - rank]
    own = x.shape[x.ndim - rank :]
    x = x.reshape(lead + (1,) * (len(shape) - rank) + own)
    return np.broadcast_to(x, lead + shape)
