"""Reductions and running sums with NumPy's names and dtypes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtape.core import dtypes
from gradtape.core.errors import public
from gradtape.core.tensor import Tensor
from gradtape.tf.array.creation import ones_like, zeros_like
from gradtape.tf.array.mask import where
from gradtape.tf.array.shape import reshape
from gradtape.tf.array.sort_unique import argsort as positions
from gradtape.tf.array.sort_unique import sort as sorted_along
from gradtape.tf.math import cumulative
from gradtape.tf.math import reduce as reduction
from gradtape.tf.math.cast import cast
from gradtape.tf.math.elementwise import equal, is_nan
from gradtape.tf.numpy.elementwise import truth_of
from gradtape.tf.numpy.promotion import inexact_of, named, promoted, tensor_of
from gradtape.tf.public_op import is_typed


def wide(a: Any, dtype: Any = None) -> Tensor:
    """What NumPy sums in: `dtype` if given, else 64 bits for integers and truth values."""
    x = tensor_of(a, dtype)
    if dtype is not None or x.dtype.is_floating or x.dtype.is_complex:
        return x
    unsigned = x.dtype.is_unsigned
    return cast(x, dtypes.uint64 if unsigned else dtypes.int64)


@public
def sum(a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = None) -> Tensor:
    """As `numpy.sum`, of tensors and with gradients."""
    return reduction.reduce_sum(wide(a, dtype), axis, bool(keepdims))


@public
def prod(a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = None) -> Tensor:
    """As `numpy.prod`, of tensors and with gradients."""
    return reduction.reduce_prod(wide(a, dtype), axis, bool(keepdims))


@public
def mean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = None
) -> Tensor:
    """As `numpy.mean`, of tensors and with gradients."""
    x = inexact_of(a) if dtype is None else tensor_of(a, dtype)
    return reduction.reduce_mean(x, axis, bool(keepdims))


@public
def var(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: int = 0,
    keepdims: Any = None,
) -> Tensor:
    """As `numpy.var`, of tensors and with gradients."""
    x = inexact_of(a) if dtype is None else inexact_of(tensor_of(a, dtype))
    spread = reduction.reduce_variance(x, axis, bool(keepdims))
    if not ddof:
        return spread
    count = x._array.size / at_least_one(spread._array.size)
    return spread * (count / (count - ddof))


@public
def std(a: Any, axis: Any = None, keepdims: Any = None) -> Tensor:
    """As `numpy.std`, of tensors and with gradients."""
    return reduction.reduce_std(inexact_of(a), axis, bool(keepdims))


def extreme(name: str, function: Any) -> Callable[..., Tensor]:
    """A public reduction that keeps the dtype."""

    @public
    def reduce(a: Any, axis: Any = None, out: Any = None, keepdims: Any = None) -> Tensor:
        return function(tensor_of(a), axis, bool(keepdims))

    return named(reduce, name)


amax = extreme("amax", reduction.reduce_max)
amin = extreme("amin", reduction.reduce_min)


@public
def max(a: Any, axis: Any = None, keepdims: Any = None) -> Tensor:
    """As `numpy.max`, of tensors and with gradients."""
    return amax(a, axis, None, keepdims)


@public
def min(a: Any, axis: Any = None, keepdims: Any = None) -> Tensor:
    """As `numpy.min`, of tensors and with gradients."""
    return amin(a, axis, None, keepdims)


@public
def ptp(a: Any, axis: Any = None, keepdims: Any = None) -> Tensor:
    """As `numpy.ptp`: the largest minus the smallest."""
    return max(a, axis, keepdims) - min(a, axis, keepdims)


@public
def all(a: Any, axis: Any = None, keepdims: Any = None) -> Tensor:
    """As `numpy.all`."""
    return reduction.reduce_all(truth_of(a), axis, bool(keepdims))


@public
def any(a: Any, axis: Any = None, keepdims: Any = None) -> Tensor:
    """As `numpy.any`."""
    return reduction.reduce_any(truth_of(a), axis, bool(keepdims))


@public
def count_nonzero(a: Any, axis: Any = None) -> Tensor:
    """As `numpy.count_nonzero`."""
    return reduction.count_nonzero(tensor_of(a), axis)


def without_nan(a: Any, dtype: Any, make: Any) -> Tensor:
    """`a` with what is not a number replaced."""
    x = wide(a, dtype)
    return where(is_nan(x), make(x), x) if x.dtype.is_floating else x


@public
def nansum(a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = False) -> Tensor:
    """As `numpy.nansum`: what is not a number counts as zero."""
    return sum(without_nan(a, dtype, zeros_like), axis, None, keepdims)


@public
def nanprod(a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = False) -> Tensor:
    """As `numpy.nanprod`: what is not a number counts as one."""
    return prod(without_nan(a, dtype, ones_like), axis, None, keepdims)


@public
def nanmean(a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = None) -> Tensor:
    """As `numpy.nanmean`: what is not a number does not count."""
    x = inexact_of(a) if dtype is None else tensor_of(a, dtype)
    total = nansum(x, axis, None, keepdims)
    known = cast(equal(x, x), total.dtype)
    return total / reduction.reduce_sum(known, axis, bool(keepdims))


@public
def average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False) -> Any:
    """As `numpy.average`, with weights for the elements or for those along `axis`."""
    x = inexact_of(a)
    if weights is None:
        mid = reduction.reduce_mean(x, axis)
        count = ones_like(mid) * (x._array.size / at_least_one(mid._array.size))
        return (mid, count) if returned else mid
    w = inexact_of(weights) if is_typed(weights) else tensor_of(weights, x.dtype)
    x, w = promoted(x, w)
    if w.shape != x.shape:
        shape = [1] * x._array.ndim
        shape[axis] = -1
        w = ones_like(x) * reshape(w, shape)
    total = reduction.reduce_sum(w, axis)
    mid = reduction.reduce_sum(x * w, axis) / total
    return (mid, total) if returned else mid


def at_least_one(count: int) -> int:
    """At least one."""
    return count if count > 1 else 1


def running(name: str, function: Any) -> Callable[..., Tensor]:
    """A public running sum or product; of the flat array if there is no axis."""

    @public
    def accumulate(a: Any, axis: Any = None, dtype: Any = None) -> Tensor:
        x = wide(a, dtype)
        x = cast(x, dtypes.int64) if x.dtype.is_unsigned and dtype is None else x
        return function(reshape(x, [-1]), 0) if axis is None else function(x, axis)

    return named(accumulate, name)


cumsum = running("cumsum", cumulative.cumsum)
cumprod = running("cumprod", cumulative.cumprod)


def position(name: str, function: Any) -> Callable[..., Tensor]:
    """A public function that gives the place of an extreme; in the flat array without an axis."""

    @public
    def place(a: Any, axis: Any = None) -> Tensor:
        x = tensor_of(a)
        return function(reshape(x, [-1]), 0) if axis is None else function(x, axis)

    return named(place, name)


argmax = position("argmax", reduction.argmax)
argmin = position("argmin", reduction.argmin)


@public
def sort(a: Any, axis: Any = -1, kind: str = "quicksort", order: Any = None) -> Tensor:
    """As `numpy.sort`; of the flat array if `axis` is None."""
    x = tensor_of(a)
    return sorted_along(reshape(x, [-1])) if axis is None else sorted_along(x, axis)


@public
def argsort(a: Any, axis: Any = -1, kind: str = "quicksort", order: Any = None) -> Tensor:
    """As `numpy.argsort`; of the flat array if `axis` is None."""
    x = tensor_of(a)
    found = positions(reshape(x, [-1])) if axis is None else positions(x, axis)
    return cast(found, dtypes.int64)
