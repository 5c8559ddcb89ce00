"""Top-level functions that write or add elements at indices."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from gradtape.core.convert import convert, to_shape_tuple
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.open_shape import is_same_shape, resolve_size
from gradtape.core.shape_rule import found_positions, with_shape
from gradtape.core.tensor import Tensor
from gradtape.graph.raw_function import apply_raw
from gradtape.ops import gather_scatter, gather_scatter_nd
from gradtape.ops import shape as s
from gradtape.ops.elementwise import add, subtract
from gradtape.tf.array.gather import as_indices, find_ignored_rows
from gradtape.tf.public_op import check_same_dtype, convert_pair


def check_updates(
    op: str, indices: Any, updates: Tensor, shape: tuple[int, ...], policy: str
) -> tuple[Tensor, Tensor]:
    """Check that `updates` has one slice for each row of `indices`; drop ignored rows."""
    places = as_indices(op, indices)
    own = places._array.shape
    if own:  # the ranks determine how many axes the indices address
        expected = len(own) - 1 + len(shape) - updates._array.ndim
        own = (*own[:-1], resolve_size(own[-1], expected))
    if not own or own[-1] > len(shape):
        raise InvalidArgumentError(
            f"{op}: the last dimension of indices must be at most {len(shape)}. Received indices "
            f"of shape {own}."
        )
    wanted = own[:-1] + shape[own[-1] :]
    if not is_same_shape(updates._array.shape, wanted):
        raise InvalidArgumentError(
            f"{op}: updates must have shape {list(wanted)} for indices of shape {list(own)} and a "
            f"tensor of shape {list(shape)}. Received {list(updates._array.shape)}."
        )
    outside = find_ignored_rows(op, places, shape, policy)
    if outside is None:
        return places, updates
    kept = apply_raw(find_valid_rows, outside, dynamic=True)
    count = prod(own[:-1])
    rows = s.reshape(places, shape=(count, own[-1]), rank=len(own))
    slices = s.reshape(updates, shape=(count, *shape[own[-1] :]), rank=len(wanted))
    return gather_scatter.take(rows, kept, axis=-2), gather_scatter.take(
        slices, kept, axis=-slices._array.ndim
    )


@with_shape(found_positions)
def find_valid_rows(outside: Any) -> Any:
    """Positions of the raw rows that are not outside."""
    return np.flatnonzero(~outside)


@public
def scatter_nd(
    indices: Any, updates: Any, shape: Any, bad_indices_policy: str = "", name: str | None = None
) -> Tensor:
    """Zeros of `shape` with `updates` added where the rows of `indices` point.

    Args:
        indices: integers of shape (..., depth); each row indexes the first `depth` axes.
        updates: a slice for each row.
        shape: the shape of the result.
        bad_indices_policy: "IGNORE" skips rows that point outside; by default they are an error.
        name: has no effect here.

    Returns:
        A tensor of shape `shape`.

    Example:
        >>> tf.scatter_nd([[1], [1]], [2, 3], [3]).numpy()
        array([0, 5, 0], dtype=int32)
    """
    sizes = to_shape_tuple(shape)
    places, values = check_updates(
        "scatter_nd", indices, convert(updates), sizes, bad_indices_policy
    )
    return gather_scatter_nd.scatter_nd(values, places, shape=sizes)


def convert_scatter_arguments(
    op: str, tensor: Any, indices: Any, updates: Any, policy: str = ""
) -> tuple[Tensor, Tensor, Tensor]:
    """Convert and check the three tensors of an update."""
    x, values = convert_pair(tensor, updates)
    check_same_dtype(op, x, values, 2)
    places, values = check_updates(op, indices, values, x._array.shape, policy)
    return x, places, values


@public
def tensor_scatter_nd_add(
    tensor: Any, indices: Any, updates: Any, bad_indices_policy: str = "", name: str | None = None
) -> Tensor:
    """`tensor` with `updates` added where the rows of `indices` point.

    Args:
        tensor: a tensor.
        indices: positions (..., k): each addresses the first k axes of `tensor`.
        updates: values (..., *rest) for these positions.
        bad_indices_policy: "ERROR", or "IGNORE" to leave out indices that are out of range.
        name: has no effect here.

    Returns:
        A tensor like `tensor`.
    """
    x, places, values = convert_scatter_arguments(
        "tensor_scatter_nd_add", tensor, indices, updates, bad_indices_policy
    )
    return add(x, gather_scatter_nd.scatter_nd(values, places, shape=x._array.shape))


@public
def tensor_scatter_nd_sub(
    tensor: Any, indices: Any, updates: Any, bad_indices_policy: str = "", name: str | None = None
) -> Tensor:
    """`tensor` with `updates` subtracted where the rows of `indices` point.

    Args:
        tensor: a tensor.
        indices: positions (..., k): each addresses the first k axes of `tensor`.
        updates: values (..., *rest) for these positions.
        bad_indices_policy: "ERROR", or "IGNORE" to leave out indices that are out of range.
        name: has no effect here.

    Returns:
        A tensor like `tensor`.
    """
    x, places, values = convert_scatter_arguments(
        "tensor_scatter_nd_sub", tensor, indices, updates, bad_indices_policy
    )
    return subtract(x, gather_scatter_nd.scatter_nd(values, places, shape=x._array.shape))


@public
def tensor_scatter_nd_update(
    tensor: Any, indices: Any, updates: Any, name: str | None = None
) -> Tensor:
    """`tensor` with the slices that the rows of `indices` point at replaced by `updates`.

    If several rows are equal, the last one wins.

    Args:
        tensor: a tensor.
        indices: positions (..., k): each addresses the first k axes of `tensor`.
        updates: values (..., *rest) for these positions.
        name: has no effect here.

    Returns:
        A tensor like `tensor`.

    Example:
        >>> tf.tensor_scatter_nd_update([1, 2, 3], [[0]], [10]).numpy()
        array([10,  2,  3], dtype=int32)
    """
    x, places, values = convert_scatter_arguments(
        "tensor_scatter_nd_update", tensor, indices, updates
    )
    return gather_scatter_nd.update_nd(x, places, values, rank=x._array.ndim)


@public
def tensor_scatter_nd_max(
    tensor: Any, indices: Any, updates: Any, bad_indices_policy: str = "", name: str | None = None
) -> Tensor:
    """Maximum of `tensor` and of the `updates` at the rows of `indices`.

    Args:
        tensor: a tensor.
        indices: positions (..., k): each addresses the first k axes of `tensor`.
        updates: values (..., *rest) for these positions.
        bad_indices_policy: "ERROR", or "IGNORE" to leave out indices that are out of range.
        name: has no effect here.

    Returns:
        A tensor like `tensor`.
    """
    x, places, values = convert_scatter_arguments(
        "tensor_scatter_nd_max", tensor, indices, updates, bad_indices_policy
    )
    return gather_scatter_nd.scatter_nd_extreme(x, places, values, largest=True)


@public
def tensor_scatter_nd_min(
    tensor: Any, indices: Any, updates: Any, bad_indices_policy: str = "", name: str | None = None
) -> Tensor:
    """Minimum of `tensor` and of the `updates` at the rows of `indices`.

    Args:
        tensor: a tensor.
        indices: positions (..., k): each addresses the first k axes of `tensor`.
        updates: values (..., *rest) for these positions.
        bad_indices_policy: "ERROR", or "IGNORE" to leave out indices that are out of range.
        name: has no effect here.

    Returns:
        A tensor like `tensor`.
    """
    x, places, values = convert_scatter_arguments(
        "tensor_scatter_nd_min", tensor, indices, updates, bad_indices_policy
    )
    return gather_scatter_nd.scatter_nd_extreme(x, places, values, largest=False)
