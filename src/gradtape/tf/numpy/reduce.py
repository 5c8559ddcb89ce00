"""tf.experimental.numpy reductions, cumulative sums and sorting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtape.core import dtypes
from gradtape.core.errors import public
from gradtape.core.tensor import Tensor
from gradtape.tf.array.creation import ones_like, zeros_like
from gradtape.tf.array.mask import where
from gradtape.tf.array.reshape import reshape
from gradtape.tf.array.sort_unique import argsort as argsort_along
from gradtape.tf.array.sort_unique import sort as sort_along
from gradtape.tf.math import cumulative
from gradtape.tf.math import reduce as reduction
from gradtape.tf.math.cast import cast
from gradtape.tf.math.elementwise import equal, is_nan
from gradtape.tf.numpy.elementwise import as_bool_tensor
from gradtape.tf.numpy.promotion import as_inexact, as_tnp_tensor, name_after_numpy, promote_tensors
from gradtape.tf.public_op import has_own_dtype


def widen_integers(a: Any, dtype: Any = None) -> Tensor:
    """Cast to the dtype NumPy sums in: `dtype` if given, else 64 bits for integers and bools."""
    x = as_tnp_tensor(a, dtype)
    if dtype is not None or x.dtype.is_floating or x.dtype.is_complex:
        return x
    unsigned = x.dtype.is_unsigned
    return cast(x, dtypes.uint64 if unsigned else dtypes.int64)


@public
def sum(a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = None) -> Tensor:
    """As `numpy.sum`, of tensors and with gradients."""
    return reduction.reduce_sum(widen_integers(a, dtype), axis, bool(keepdims))


@public
def prod(a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = None) -> Tensor:
    """As `numpy.prod`, of tensors and with gradients."""
    return reduction.reduce_prod(widen_integers(a, dtype), axis, bool(keepdims))


@public
def mean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = None
) -> Tensor:
    """As `numpy.mean`, of tensors and with gradients."""
    x = as_inexact(a) if dtype is None else as_tnp_tensor(a, dtype)
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
    x = as_inexact(a) if dtype is None else as_inexact(as_tnp_tensor(a, dtype))
    variance = reduction.reduce_variance(x, axis, bool(keepdims))
    if not ddof:
        return variance
    count = x._array.size / clamp_to_one(variance._array.size)
    return variance * (count / (count - ddof))


@public
def std(a: Any, axis: Any = None, keepdims: Any = None) -> Tensor:
    """As `numpy.std`, of tensors and with gradients."""
    return reduction.reduce_std(as_inexact(a), axis, bool(keepdims))


def make_extreme_reduction(name: str, function: Any) -> Callable[..., Tensor]:
    """Make a public reduction that keeps the dtype."""

    @public
    def reduce(a: Any, axis: Any = None, out: Any = None, keepdims: Any = None) -> Tensor:
        return function(as_tnp_tensor(a), axis, bool(keepdims))

    return name_after_numpy(reduce, name)


amax = make_extreme_reduction("amax", reduction.reduce_max)
amin = make_extreme_reduction("amin", reduction.reduce_min)


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
    """As `numpy.ptp`: the maximum minus the minimum."""
    return max(a, axis, keepdims) - min(a, axis, keepdims)


@public
def all(a: Any, axis: Any = None, keepdims: Any = None) -> Tensor:
    """As `numpy.all`."""
    return reduction.reduce_all(as_bool_tensor(a), axis, bool(keepdims))


@public
def any(a: Any, axis: Any = None, keepdims: Any = None) -> Tensor:
    """As `numpy.any`."""
    return reduction.reduce_any(as_bool_tensor(a), axis, bool(keepdims))


@public
def count_nonzero(a: Any, axis: Any = None) -> Tensor:
    """As `numpy.count_nonzero`."""
    return reduction.count_nonzero(as_tnp_tensor(a), axis)


def replace_nan(a: Any, dtype: Any, make: Any) -> Tensor:
    """Replace NaN by the elements of `make(a)`."""
    x = widen_integers(a, dtype)
    return where(is_nan(x), make(x), x) if x.dtype.is_floating else x


@public
def nansum(a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = False) -> Tensor:
    """As `numpy.nansum`: NaN counts as zero."""
    return sum(replace_nan(a, dtype, zeros_like), axis, None, keepdims)


@public
def nanprod(a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = False) -> Tensor:
    """As `numpy.nanprod`: NaN counts as one."""
    return prod(replace_nan(a, dtype, ones_like), axis, None, keepdims)


@public
def nanmean(a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = None) -> Tensor:
    """As `numpy.nanmean`: NaN is ignored."""
    x = as_inexact(a) if dtype is None else as_tnp_tensor(a, dtype)
    total = nansum(x, axis, None, keepdims)
    not_nan = cast(equal(x, x), total.dtype)
    return total / reduction.reduce_sum(not_nan, axis, bool(keepdims))


@public
def average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False) -> Any:
    """As `numpy.average`; `weights` has the shape of `a`, or is a vector along `axis`."""
    x = as_inexact(a)
    if weights is None:
        mid = reduction.reduce_mean(x, axis)
        count = ones_like(mid) * (x._array.size / clamp_to_one(mid._array.size))
        return (mid, count) if returned else mid
    w = as_inexact(weights) if has_own_dtype(weights) else as_tnp_tensor(weights, x.dtype)
    x, w = promote_tensors(x, w)
    if w.shape != x.shape:
        shape = [1] * x._array.ndim
        shape[axis] = -1
        w = ones_like(x) * reshape(w, shape)
    total = reduction.reduce_sum(w, axis)
    mid = reduction.reduce_sum(x * w, axis) / total
    return (mid, total) if returned else mid


def clamp_to_one(count: int) -> int:
    """max(count, 1); the builtin `max` is shadowed in this module."""
    return count if count > 1 else 1


def make_cumulative_reduction(name: str, function: Any) -> Callable[..., Tensor]:
    """Make a public cumulative function; without an axis it works on the flattened array."""

    @public
    def accumulate(a: Any, axis: Any = None, dtype: Any = None) -> Tensor:
        x = widen_integers(a, dtype)
        x = cast(x, dtypes.int64) if x.dtype.is_unsigned and dtype is None else x
        return function(reshape(x, [-1]), 0) if axis is None else function(x, axis)

    return name_after_numpy(accumulate, name)


cumsum = make_cumulative_reduction("cumsum", cumulative.cumsum)
cumprod = make_cumulative_reduction("cumprod", cumulative.cumprod)


def make_arg_reduction(name: str, function: Any) -> Callable[..., Tensor]:
    """Make `argmax` or `argmin`; without an axis they index the flattened array."""

    @public
    def place(a: Any, axis: Any = None) -> Tensor:
        x = as_tnp_tensor(a)
        return function(reshape(x, [-1]), 0) if axis is None else function(x, axis)

    return name_after_numpy(place, name)


argmax = make_arg_reduction("argmax", reduction.argmax)
argmin = make_arg_reduction("argmin", reduction.argmin)


@public
def sort(a: Any, axis: Any = -1, kind: str = "quicksort", order: Any = None) -> Tensor:
    """As `numpy.sort`; sorts the flattened array if `axis` is None."""
    x = as_tnp_tensor(a)
    return sort_along(reshape(x, [-1])) if axis is None else sort_along(x, axis)


@public
def argsort(a: Any, axis: Any = -1, kind: str = "quicksort", order: Any = None) -> Tensor:
    """As `numpy.argsort`; sorts the flattened array if `axis` is None."""
    x = as_tnp_tensor(a)
    order = argsort_along(reshape(x, [-1])) if axis is None else argsort_along(x, axis)
    return cast(order, dtypes.int64)
