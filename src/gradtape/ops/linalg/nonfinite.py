"""Matrices with infinities or NaN, which LAPACK must not see: it may return garbage or never end.

In a batch, only the matrices that are not finite get NaN.
"""

from __future__ import annotations

import cmath
from typing import Any

import numpy as np

from gradtape.core.errors import InvalidArgumentError


def has_finite_sum(a: Any) -> bool:
    """Whether the sum of all elements is finite, which implies that all of them are.

    The converse does not hold: a sum of finite elements may overflow. This is the quick test before
    an exact one.
    """
    return cmath.isfinite(np.add.reduce(a, axis=None))


def nan_of(dtype: Any) -> Any:
    """NaN as a scalar of `dtype`; both parts of a complex one are NaN."""
    return dtype.type(complex(np.nan, np.nan) if dtype.kind == "c" else np.nan)


def map_finite(function: Any, a: Any) -> Any:
    """Apply `function` to matrices; its results for a matrix that is not finite are NaN."""
    return function(a) if has_finite_sum(a) else map_masked(function, a)


def map_masked(function: Any, a: Any) -> Any:
    """Do the work of `map_finite`, without its shortcut for finite matrices.

    `function` gets an identity matrix for each matrix that is not finite. It returns an array or a
    tuple of arrays, with the batch axes of `a` in front.
    """
    fine = np.isfinite(a).all(axis=(-2, -1))
    eye = np.eye(*a.shape[-2:], dtype=a.dtype)
    found = function(np.where(fine[..., None, None], a, eye))
    if isinstance(found, tuple):
        return tuple([replace_unless(fine, part) for part in found])
    return replace_unless(fine, found)


def replace_unless(fine: Any, x: Any) -> Any:
    """Replace `x` by NaN where `fine`, a mask over its leading axes, does not hold."""
    mask = np.reshape(fine, fine.shape + (1,) * (x.ndim - fine.ndim))
    return np.where(mask, x, nan_of(x.dtype))


def check_finite(op: str, a: Any) -> None:
    """Raise InvalidArgumentError, as TensorFlow's iterations that do not converge, unless finite.

    Matrices of one element need no iteration.
    """
    if a.shape[-1] > 1 and not has_finite_sum(a) and not np.isfinite(a).all():
        raise InvalidArgumentError(
            f"{op}: the matrices must be finite. Received one with infinity or NaN. "
            "Find where it comes from with tf.debugging.enable_check_numerics."
        )


def eliminate_rows(a: Any) -> tuple[Any, Any]:
    """LU decomposition of one square matrix, in which infinities and NaN propagate.

    The pivot is the largest element that compares as larger than those above it, so NaN is a pivot
    only if it is the first candidate. TensorFlow does the same.

    Returns:
        Both triangular factors in one matrix, and the order of the rows.
    """
    both, order = np.array(a), np.arange(len(a))
    with np.errstate(all="ignore"):
        for i in range(len(both)):
            size = np.abs(both[i:, i])
            swap = i + (0 if np.isnan(size[0]) else int(np.nanargmax(size)))
            both[[i, swap]], order[[i, swap]] = both[[swap, i]], order[[swap, i]]
            both[i + 1 :, i] /= both[i, i]
            both[i + 1 :, i + 1 :] -= np.outer(both[i + 1 :, i], both[i, i + 1 :])
    return both, order


def has_pivots(diagonal: Any) -> bool:
    """Whether no pivot is zero; as in TensorFlow, only the first one must not be NaN."""
    return not np.isnan(diagonal[0]) and bool(np.all(diagonal != 0))


def find_pivots(a: Any) -> Any:
    """Pivots of one matrix, which multiply to its determinant, by `eliminate_rows`."""
    both, order = eliminate_rows(a)
    pivots = np.diagonal(both).copy()
    pivots[:1] *= np.linalg.det(np.eye(len(a))[order])  # 1 or -1
    return pivots


def correct_nonfinite(a: Any, found: tuple[Any, ...], function: Any) -> tuple[Any, ...]:
    """Replace the results `found` of matrices that are not finite by those of `function`.

    The function takes one matrix and returns one number for each result.
    """
    found = tuple([np.array(x) for x in found])
    with np.errstate(all="ignore"):
        for i in map(tuple, np.argwhere(~np.isfinite(a).all(axis=(-2, -1)))):
            for x, value in zip(found, function(a[i]), strict=True):
                x[i] = value
    return tuple([x[()] for x in found])
