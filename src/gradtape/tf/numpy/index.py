"""tf.experimental.numpy functions that select elements: by condition, index and diagonal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.argument import as_index, describe
from gradtape.core.errors import ResourceExhaustedError, public
from gradtape.core.open_shape import broadcast_shapes
from gradtape.core.primitive import Spec
from gradtape.core.shape_rule import BOOL, keep_shape, with_shape
from gradtape.core.size_constant import compute_constant
from gradtape.core.tensor import Tensor
from gradtape.graph.raw_function import apply_raw
from gradtape.ops import shape as s
from gradtape.ops.gather_scatter import take_along
from gradtape.tf.array import concat_split, gather, mask
from gradtape.tf.array import reshape as tf
from gradtape.tf.linalg.diagonal import diag as matrix_of
from gradtape.tf.linalg.diagonal import diag_part
from gradtape.tf.math.cast import cast
from gradtape.tf.numpy.array import atleast_1d, full_like, moveaxis, ravel, swapaxes
from gradtape.tf.numpy.promotion import as_tnp_tensor, promote_tensors, result_type

MOST_COLUMNS = 10**6


@public
def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """As `numpy.where`."""
    holds = cast(as_tnp_tensor(condition), dtypes.bool)
    if x is None and y is None:
        return nonzero(holds)
    a, b = promote_tensors(x, y)
    return mask.where(holds, a, b)


@public
def select(condlist: Any, choicelist: Any, default: Any = 0) -> Tensor:
    """As `numpy.select`: at each position, the choice whose condition is the first to hold."""
    *choices, out = promote_tensors(*choicelist, default)
    for condition, choice in zip(reversed(condlist), reversed(choices), strict=True):
        out = mask.where(condition, choice, out)
    return out


@public
def nonzero(a: Any) -> list[Tensor]:
    """As `numpy.nonzero`: coordinates, one tensor per axis."""
    return concat_split.unstack(mask.where(atleast_1d(a)), axis=1)


@public
def take(a: Any, indices: Any, axis: Any = None, out: Any = None, mode: str = "clip") -> Tensor:
    """As `numpy.take`; out-of-range indices are clipped, or wrapped if `mode` is "wrap"."""
    x = as_tnp_tensor(a)
    x, at = (tf.reshape(x, [-1]), 0) if axis is None else (x, axis)
    places = apply_raw(wrap_or_clip_indices, as_tnp_tensor(indices), x._array.shape[at], mode)
    return gather.gather(x, places, axis=at)


@with_shape(keep_shape)
def wrap_or_clip_indices(indices: Any, count: int, mode: str) -> Any:
    """Wrap or clip raw indices to an axis of length `count`."""
    inside = indices % count if mode == "wrap" else np.clip(indices, -count, count - 1)
    return to_nonnegative_indices(inside, count)


@with_shape(keep_shape)
def to_nonnegative_indices(indices: Any, count: int) -> Any:
    """Convert raw indices, which may count from the end, to non-negative ones."""
    return np.where(indices < 0, indices + count, indices)


@public
def take_along_axis(arr: Any, indices: Any, axis: Any) -> Tensor:
    """As `numpy.take_along_axis`."""
    x, index = as_tnp_tensor(arr), as_tnp_tensor(indices)
    if axis is None:
        x, axis = tf.reshape(x, [-1]), 0
    rows, places = swapaxes(x, axis, -1), swapaxes(index, axis, -1)
    batch = broadcast_shapes(rows._array.shape[:-1], places._array.shape[:-1])
    count = rows._array.shape[-1]
    rows = tf.broadcast_to(rows, (*batch, count))
    places = tf.broadcast_to(places, (*batch, places._array.shape[-1]))
    return swapaxes(take_along(rows, apply_raw(to_nonnegative_indices, places, count)), axis, -1)


@public
def compress(condition: Any, a: Any, axis: Any = None) -> Tensor:
    """As `numpy.compress`: the slices along `axis` for which `condition` holds."""
    x = as_tnp_tensor(a)
    x, at = (tf.reshape(x, [-1]), 0) if axis is None else (x, axis)
    return gather.gather(
        x, apply_raw(np.flatnonzero, as_tnp_tensor(condition), dynamic=True), axis=at
    )


@public
def meshgrid(*xi: Any, **kwargs: Any) -> list[Tensor]:
    """As `numpy.meshgrid`, with `indexing` "xy" or "ij"."""
    return concat_split.meshgrid(*(as_tnp_tensor(x) for x in xi), **kwargs)


@public
def ix_(*args: Any) -> list[Tensor]:
    """As `numpy.ix_`."""
    count = len(args)
    return [
        tf.reshape(as_tnp_tensor(x), (1,) * i + (-1,) + (1,) * (count - i - 1))
        for i, x in enumerate(args)
    ]


@public
def diag_indices(n: int, ndim: int = 2) -> tuple[Tensor, ...]:
    """As `numpy.diag_indices`."""
    count = as_index(n, "n")
    return tuple(as_tnp_tensor(np.arange(count)) for _ in range(as_index(ndim, "ndim")))


@public
def diag(v: Any, k: int = 0) -> Tensor:
    """As `numpy.diag`: a diagonal matrix from a vector, or the diagonal of a matrix."""
    x = as_tnp_tensor(v)
    return matrix_of(x, k=k) if x._array.ndim == 1 else diagonal(x, k)


@public
def diagflat(v: Any, k: int = 0) -> Tensor:
    """As `numpy.diagflat`."""
    return diag(ravel(v), k)


@public
def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    """As `numpy.diagonal`."""
    x = moveaxis(a, (axis1, axis2), (-2, -1))
    rows, columns = x._array.shape[-2:]
    if not -rows < offset < columns:
        return tf.reshape(s.slice_axis(x, axis=-1, start=0, size=0), (*x._array.shape[:-2], 0))
    return diag_part(x, k=offset)


@with_shape(lambda keep, k, rows, columns: Spec(((rows, columns), BOOL)))
def mask_triangle(keep: Any, k: int, rows: int, columns: int) -> Any:
    """Mask of the elements whose distance from the diagonal `keep` accepts."""
    return keep(np.arange(columns) - np.arange(rows)[:, None], k)


def make_triangle(name: str, keep: Any) -> Callable[..., Tensor]:
    """Make a public function that zeroes the elements on one side of a diagonal."""

    @public
    def part(m: Any, k: int = 0) -> Tensor:
        x = as_tnp_tensor(m)
        rows, columns = x._array.shape[-2:]
        inside = compute_constant(mask_triangle, keep, k, rows, columns)
        return mask.where(inside, x, full_like(x, 0))

    part.__name__ = part.__qualname__ = name
    part.__doc__ = f"As `numpy.{name}`."
    return part


tril = make_triangle("tril", np.less_equal)
triu = make_triangle("triu", np.greater_equal)


@public
def vander(x: Any, N: Any = None, increasing: bool = False) -> Tensor:  # noqa: N803  NumPy's name
    """As `numpy.vander`: powers of `x`, one column each."""
    column = as_tnp_tensor(x)
    if column._array.ndim != 1:
        raise ValueError(f"vander: x must be one-dimensional. Received {describe(x)}.")
    count = column._array.shape[0] if N is None else as_index(N, "N")
    if count > MOST_COLUMNS:
        raise ResourceExhaustedError(f"vander: N must be at most {MOST_COLUMNS}. Received {N}.")
    powers = [full_like(column, 1)]
    while len(powers) < count:
        powers.append(powers[-1] * column)
    ordered = powers[:count] if increasing else powers[:count][::-1]
    return concat_split.stack(ordered, 1)


@public
def diff(a: Any, n: int = 1, axis: int = -1) -> Tensor:
    """As `numpy.diff`: differences of adjacent elements, applied `n` times."""
    x = as_tnp_tensor(a)
    at = axis - x._array.ndim if axis >= 0 else axis
    for _ in range(n):
        count = x._array.shape[at]
        x = s.slice_axis(x, axis=at, start=1, size=count - 1) - s.slice_axis(
            x, axis=at, start=0, size=count - 1
        )
    return x


@public
def isscalar(num: Any) -> bool:
    """As `numpy.isscalar`; a tensor of rank 0 counts as a scalar."""
    return num._array.ndim == 0 if isinstance(num, Tensor) else bool(np.isscalar(num))


@public
def iscomplexobj(x: Any) -> bool:
    """As `numpy.iscomplexobj`."""
    is_complex: bool = result_type(x).is_complex
    return is_complex


@public
def isrealobj(x: Any) -> bool:
    """As `numpy.isrealobj`."""
    return not iscomplexobj(x)


@public
def iscomplex(x: Any) -> Tensor:
    """As `numpy.iscomplex`: whether imaginary parts are not zero."""
    found: Tensor = apply_raw(np.iscomplex, as_tnp_tensor(x))
    return found


@public
def isreal(x: Any) -> Tensor:
    """As `numpy.isreal`: whether imaginary parts are zero."""
    found: Tensor = apply_raw(np.isreal, as_tnp_tensor(x))
    return found
