"""Top-level functions that read or reorder elements by index."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from gradtape.core.convert import convert, to_shape_tuple
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.primitive import Spec
from gradtape.core.shape_rule import BOOL, INT64, keep_shape, with_shape
from gradtape.core.shapes import normalize_axis
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.graph.raw_function import apply_raw
from gradtape.ops import gather_scatter, gather_scatter_nd, xla_lowering
from gradtape.ops import shape as s
from gradtape.ops.elementwise import gate
from gradtape.ops.xla_lowering import on_jax
from gradtape.tf.array.slice import (
    getitem,
)
from gradtape.tf.public_op import INDICES, check_dtype

INDEX_DTYPES = frozenset(np.dtype(name) for name in ("int16", "int32", "int64"))


def as_indices(op: str, value: Any) -> Tensor:
    """Convert an argument to a tensor, after a check that its dtype is one for indices."""
    tensor = convert(value)
    if tensor._array.dtype not in INDEX_DTYPES:
        raise InvalidArgumentError(
            f"{op}: Value for attr 'Tindices' of {tensor.dtype.name} is not in the list of allowed "
            "values: int16, int32, int64. Cast the indices first."
        )
    return tensor


Tensor.__getitem__ = getitem  # type: ignore[method-assign]


@public
def gather(
    params: Any,
    indices: Any,
    validate_indices: Any = None,
    axis: Any = None,
    batch_dims: int = 0,
    name: str | None = None,
) -> Tensor:
    """Slices of `params` along `axis`, one for each entry of `indices`.

    Args:
        params: a tensor.
        indices: integers in [0, params.shape[axis]).
        validate_indices: has no effect here.
        axis: the axis of `params` that is indexed; `batch_dims` if None.
        batch_dims: how many leading axes `params` and `indices` share.
        name: has no effect here.

    Returns:
        A tensor of shape params.shape[:axis] + indices.shape[batch_dims:] +
        params.shape[axis + 1:].

    Example:
        >>> tf.gather([10, 20, 30], [2, 0, 0]).numpy()
        array([30, 10, 10], dtype=int32)
    """
    x = convert(params)
    where = as_indices("gather", indices)
    n = x._array.ndim
    if n == 0:
        raise InvalidArgumentError(
            "gather: params must be at least 1 dimensional. Received a scalar."
        )
    shared = batch_dims + where._array.ndim if batch_dims < 0 else batch_dims
    given = batch_dims if axis is None else int(convert(axis)._array)
    at = normalize_axis(given, n, "gather")
    if 0 < at + n < shared:
        raise InvalidArgumentError(
            f"gather: batch_dims ({shared}) must be less than or equal to axis ({at + n})."
        )
    if shared and at + n >= shared:  # with axis 0 TensorFlow ignores batch_dims
        return gather_in_batches(x, where, at + n, shared)
    if given == -n:  # axis 0 gives IndexedSlices in TensorFlow, the same axis as -n does not
        x = s.reshape(x, shape=x._array.shape, rank=n)
    return gather_scatter.gather(x, where, axis=at)


def gather_in_batches(x: Tensor, where: Tensor, axis: int, shared: int) -> Any:
    """Gather with `shared` batch axes, by flattening them into the gathered axis."""
    shape, own = x._array.shape, where._array.shape
    batch = shape[:shared]
    if own[:shared] != batch:
        raise InvalidArgumentError(
            f"gather: params.shape[:{shared}] {list(batch)} should be equal to "
            f"indices.shape[:{shared}] {list(own[:shared])}."
        )
    n = len(shape)
    middle = tuple(range(shared, axis))
    behind = tuple(range(axis + 1, n))
    x = s.permute_axes(x, (*range(shared), axis, *middle, *behind))
    rest = tuple(shape[k] for k in middle + behind)
    flat = s.reshape(x, shape=(prod(batch) * shape[axis], *rest), rank=n)
    rows = gather_scatter.flatten_batch_indices(where, shape=batch, size=shape[axis])
    found = gather_scatter.take(flat, rows, axis=-len(rest) - 1)
    inner = len(own) - shared
    order = (
        *range(shared),
        *range(shared + inner, shared + inner + len(middle)),
        *range(shared, shared + inner),
        *range(shared + inner + len(middle), shared + inner + len(rest)),
    )
    return s.permute_axes(found, order)


def find_ignored_rows(op: str, indices: Tensor, shape: tuple[int, ...], policy: str) -> Any:
    """Mask of the rows of `indices` to ignore; None unless the policy is "IGNORE"."""
    if policy not in ("", "DEFAULT", "ERROR", "IGNORE"):
        raise InvalidArgumentError(
            f"{op}: Unknown bad indices handling attribute: {policy}. Use 'ERROR' or 'IGNORE'."
        )
    if policy != "IGNORE":
        return None
    return apply_raw(mask_out_of_range, indices, shape)


@with_shape(lambda raw, shape: Spec((raw.shape[:-1], BOOL)))
def mask_out_of_range(raw: Any, shape: tuple[int, ...]) -> Any:
    """Mask of the rows of raw indices that point outside of `shape`."""
    return ((raw < 0) | (raw >= np.array(shape[: raw.shape[-1]]))).any(axis=-1)


@public
def gather_nd(
    params: Any,
    indices: Any,
    batch_dims: int = 0,
    name: str | None = None,
    bad_indices_policy: str = "",
) -> Tensor:
    """Elements or slices of `params` that the rows of `indices` point at.

    Args:
        params: a tensor.
        indices: integers of shape (..., depth); each row indexes the first `depth` axes.
        batch_dims: how many leading axes `params` and `indices` share.
        name: has no effect here.
        bad_indices_policy: "IGNORE" gives zeros where a row points outside of `params`; by
            default that is an error.

    Returns:
        A tensor of shape indices.shape[:-1] followed by the axes that are not indexed.

    Example:
        >>> tf.gather_nd([[1, 2], [3, 4]], [[0, 1], [1, 0]]).numpy()
        array([2, 3], dtype=int32)
    """
    x = convert(params)
    where = as_indices("gather_nd", indices)
    own = where._array.shape
    rank = x._array.ndim
    if not own:
        raise InvalidArgumentError("gather_nd: indices must be at least a vector.")
    if batch_dims:
        if not -len(own) < batch_dims < min(len(own), rank):
            raise ValueError(
                f"gather_nd: batch_dims must be less than the ranks of params and indices, {rank} "
                f"and {len(own)}. Received {batch_dims}."
            )
        batch = own[:batch_dims]
        grid = np.indices(batch, where._array.dtype)
        grid = np.moveaxis(grid, 0, -1).reshape(
            batch + (1,) * (len(own) - 1 - batch_dims) + (batch_dims,)
        )
        grid = np.broadcast_to(grid, (*own[:-1], batch_dims))
        where = s.concat(make_tensor(grid), where, axis=-1)
        own = where._array.shape
    if own[-1] > rank:
        raise InvalidArgumentError(
            f"gather_nd: index innermost dimension length must be <= params rank; saw: {own[-1]} "
            f"vs. {rank}."
        )
    outside = find_ignored_rows("gather_nd", where, x._array.shape, bad_indices_policy)
    if outside is not None:
        found = gather_scatter_nd.gather_nd(x, apply_raw(zero_rows, where, outside), rank=rank)
        return gate(found, apply_raw(mask_valid_rows, outside, found._array.ndim))
    if own[-1] == 1 and len(own) == 2 and not batch_dims:
        # Rows of the first axis: TensorFlow's gradient is IndexedSlices here.
        return gather_scatter.gather(x, s.reshape(where, shape=own[:-1], rank=2), axis=-rank)
    return gather_scatter_nd.gather_nd(x, where, rank=rank)


@with_shape(keep_shape)
def zero_rows(indices: Any, outside: Any) -> Any:
    """Replace the raw rows that are outside by zeros."""
    return np.where(outside[..., None], 0, indices).astype(indices.dtype)


@with_shape(lambda x, rank: Spec((x.shape + (1,) * (rank - len(x.shape)), BOOL)))
def mask_valid_rows(outside: Any, rank: int) -> Any:
    """Mask of the raw rows that are not outside, shaped to broadcast against `rank` axes."""
    return ~outside.reshape(outside.shape + (1,) * (rank - outside.ndim))


@public
def unravel_index(indices: Any, dims: Any, name: str | None = None) -> Tensor:
    """Coordinates, one row for each axis, of flat positions in an array of shape `dims`.

    Args:
        indices: flat positions.
        dims: the shape of the array.
        name: has no effect here.

    Returns:
        An integer tensor (axes, ...).
    """
    where = check_dtype("UnravelIndex", convert(indices), INDICES)
    result: Tensor = apply_raw(unravel_positions, where, to_shape_tuple(dims))
    return result


@with_shape(lambda raw, sizes: (len(sizes), *raw.shape))
def unravel_positions(raw: Any, sizes: tuple[int, ...]) -> Any:
    """Convert raw flat positions to coordinates."""
    if raw.size and not (raw.min() >= 0 and raw.max() < prod(sizes)):
        raise InvalidArgumentError(
            f"unravel_index: indices must lie in [0, {prod(sizes)}). index is out of bound as with "
            f"dims {sizes}."
        )
    return np.stack(np.unravel_index(raw, sizes)).astype(raw.dtype)


@public
def reverse_sequence(
    input: Any,
    seq_lengths: Any,
    seq_axis: int | None = None,
    batch_axis: int | None = None,
    name: str | None = None,
) -> Tensor:
    """`input` with the first `seq_lengths[b]` elements of `seq_axis` reversed, for each batch b.

    Args:
        input: a tensor.
        seq_lengths: how many elements to reverse, one for each batch entry.
        seq_axis: the axis to reverse along.
        batch_axis: the axis of the batch.
        name: has no effect here.

    Returns:
        A tensor like `input`.
    """
    x = convert(input)
    n = x._array.ndim
    along = normalize_axis(0 if seq_axis is None else seq_axis, n, "reverse_sequence") + n
    batch = normalize_axis(0 if batch_axis is None else batch_axis, n, "reverse_sequence") + n
    rows = apply_raw(
        reverse_prefixes, convert(seq_lengths), x._array.shape[batch], x._array.shape[along]
    )
    rest = tuple(k for k in range(n) if k not in (along, batch))
    order = (batch, along, *rest)
    moved = s.permute_axes(x, order)
    found = gather_in_batches(moved, rows, 1, 1)
    return s.permute_axes(found, tuple(int(k) for k in np.argsort(order)))


@with_shape(lambda lengths, batch, size: Spec(((batch, size), INT64)))
@on_jax(xla_lowering.lower_reverse_prefixes)
def reverse_prefixes(lengths: Any, batch: int, size: int) -> Any:
    """Positions 0 … size - 1 for each raw length, with that many leading positions reversed."""
    if lengths.shape != (batch,) or (lengths.size and lengths.max() > size):
        raise InvalidArgumentError(
            f"reverse_sequence: seq_lengths must have {batch} entries, none above {size}. "
            f"Received {lengths.tolist()}."
        )
    steps, ends = np.arange(size), lengths[:, None]
    return np.where(steps < ends, ends - 1 - steps, steps).astype(np.int64)


@public
def invert_permutation(x: Any, name: str | None = None) -> Tensor:
    """Inverse of the permutation `x` of 0 … n - 1.

    Args:
        x: a vector that holds each of 0 … n - 1 once.
        name: has no effect here.

    Returns:
        A vector.

    Example:
        >>> tf.math.invert_permutation([2, 0, 1]).numpy()
        array([1, 2, 0], dtype=int32)
    """
    result: Tensor = apply_raw(invert_raw_permutation, as_indices("InvertPermutation", x))
    return result


@with_shape(keep_shape)
@on_jax(xla_lowering.lower_invert_raw_permutation)
def invert_raw_permutation(raw: Any) -> Any:
    """Invert a raw permutation, after a check that it is one."""
    if raw.ndim != 1 or not np.array_equal(np.sort(raw), np.arange(raw.size)):
        raise InvalidArgumentError(
            f"invert_permutation: x must be a permutation of 0..n-1. Received {raw.tolist()}."
        )
    return np.argsort(raw).astype(raw.dtype)
