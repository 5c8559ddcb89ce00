"""tf.experimental.numpy: arrays joined and split."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from gradtape.core.argument import as_index, as_sequence
from gradtape.core.errors import public
from gradtape.core.shapes import normalize_axis
from gradtape.core.tensor import Tensor
from gradtape.tf.array import concat_split
from gradtape.tf.array import reshape as tf
from gradtape.tf.numpy.array import atleast_1d, atleast_2d, atleast_3d, ndim
from gradtape.tf.numpy.promotion import (
    as_tnp_tensor,
    promote_tensors,
)


@public
def concatenate(arys: Any, axis: Any = 0) -> Tensor:
    """As `numpy.concatenate`; joins the flattened arrays if `axis` is None."""
    parts = promote_tensors(*arys)
    if axis is None:
        return concat_split.concat([tf.reshape(p, [-1]) for p in parts], 0)
    return concat_split.concat(parts, axis)


@public
def append(arr: Any, values: Any, axis: Any = None) -> Tensor:
    """As `numpy.append`."""
    return concatenate([as_tnp_tensor(arr), as_tnp_tensor(values)], axis)


@public
def stack(arrays: Any, axis: int = 0) -> Tensor:
    """As `numpy.stack`."""
    return concat_split.stack(promote_tensors(*as_sequence(arrays, "arrays")), axis)


@public
def hstack(tup: Any) -> Tensor:
    """As `numpy.hstack`."""
    parts = [atleast_1d(a) for a in as_sequence(tup, "tup")]
    return concatenate(parts, 0 if parts[0]._array.ndim == 1 else 1)


@public
def vstack(tup: Any) -> Tensor:
    """As `numpy.vstack`."""
    return concatenate([atleast_2d(a) for a in as_sequence(tup, "tup")], 0)


@public
def dstack(tup: Any) -> Tensor:
    """As `numpy.dstack`."""
    return concatenate([atleast_3d(a) for a in as_sequence(tup, "tup")], 2)


@public
def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Tensor]:
    """As `numpy.split`: into equal parts, or at the given positions."""
    x = as_tnp_tensor(ary)
    if isinstance(indices_or_sections, int):
        return concat_split.split(x, indices_or_sections, axis)
    axis = normalize_axis(axis, x._array.ndim, "split")
    inner = as_sequence(indices_or_sections, "indices_or_sections")
    at = [0, *(as_index(i, "indices_or_sections") for i in inner), x._array.shape[axis]]
    return concat_split.split(x, [b - a for a, b in pairwise(at)], axis)


@public
def vsplit(ary: Any, indices_or_sections: Any) -> list[Tensor]:
    """As `numpy.vsplit`."""
    return split(ary, indices_or_sections, 0)


@public
def hsplit(ary: Any, indices_or_sections: Any) -> list[Tensor]:
    """As `numpy.hsplit`."""
    return split(ary, indices_or_sections, 1 if ndim(ary) > 1 else 0)


@public
def dsplit(ary: Any, indices_or_sections: Any) -> list[Tensor]:
    """As `numpy.dsplit`."""
    return split(ary, indices_or_sections, 2)
