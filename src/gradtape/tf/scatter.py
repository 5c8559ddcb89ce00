"""Top-level functions that put elements where indices say."""

from __future__ import annotations

from typing import Any

from gradtape.core.convert import convert, shape_tuple
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.tensor import Tensor
from gradtape.ops import index as i
from gradtape.ops.elementwise import add, subtract
from gradtape.tf.check import pair, same
from gradtape.tf.lookup import indices_of


def checked_updates(op: str, indices: Tensor, updates: Tensor, shape: tuple[int, ...]) -> None:
    """Updates must have a slice of `shape` for each row of `indices`."""
    own = indices._array.shape
    if not own or own[-1] > len(shape):
        raise InvalidArgumentError(
            f"{op}: the last dimension of indices must be at most {len(shape)}. Received indices "
            f"of shape {own}."
        )
    wanted = own[:-1] + shape[own[-1] :]
    if updates._array.shape != wanted:
        raise InvalidArgumentError(
            f"{op}: updates must have shape {list(wanted)} for indices of shape {list(own)} and a "
            f"tensor of shape {list(shape)}. Received {list(updates._array.shape)}."
        )


@public
def scatter_nd(
    indices: Any, updates: Any, shape: Any, name: str | None = None, bad_indices_policy: str = ""
) -> Tensor:
    """Zeros of `shape` with `updates` added where the rows of `indices` point."""
    places, values, sizes = indices_of("scatter_nd", indices), convert(updates), shape_tuple(shape)
    checked_updates("scatter_nd", places, values, sizes)
    return i.scatter_nd(values, places, shape=sizes)


def scatter_arguments(
    op: str, tensor: Any, indices: Any, updates: Any
) -> tuple[Tensor, Tensor, Tensor]:
    """The three tensors of an update, checked."""
    x, values = pair(tensor, updates)
    same(op, x, values, 2)
    places = indices_of(op, indices)
    checked_updates(op, places, values, x._array.shape)
    return x, places, values


@public
def tensor_scatter_nd_add(
    tensor: Any, indices: Any, updates: Any, name: str | None = None
) -> Tensor:
    """`tensor` with `updates` added where the rows of `indices` point."""
    x, places, values = scatter_arguments("tensor_scatter_nd_add", tensor, indices, updates)
    return add(x, i.scatter_nd(values, places, shape=x._array.shape))


@public
def tensor_scatter_nd_sub(
    tensor: Any, indices: Any, updates: Any, name: str | None = None
) -> Tensor:
    """`tensor` with `updates` subtracted where the rows of `indices` point."""
    x, places, values = scatter_arguments("tensor_scatter_nd_sub", tensor, indices, updates)
    return subtract(x, i.scatter_nd(values, places, shape=x._array.shape))


@public
def tensor_scatter_nd_update(
    tensor: Any, indices: Any, updates: Any, name: str | None = None, bad_indices_policy: str = ""
) -> Tensor:
    """`tensor` with `updates` in place of what the rows of `indices` point at.

    The last of several wins.
    """
    x, places, values = scatter_arguments("tensor_scatter_nd_update", tensor, indices, updates)
    return i.update_nd(x, places, values, rank=x._array.ndim)


@public
def tensor_scatter_nd_max(
    tensor: Any, indices: Any, updates: Any, name: str | None = None
) -> Tensor:
    """The larger of `tensor` and of the `updates` that the rows of `indices` send there."""
    x, places, values = scatter_arguments("tensor_scatter_nd_max", tensor, indices, updates)
    return i.extreme_nd(x, places, values, largest=True)


@public
def tensor_scatter_nd_min(
    tensor: Any, indices: Any, updates: Any, name: str | None = None
) -> Tensor:
    """The smaller of `tensor` and of the `updates` that the rows of `indices` send there."""
    x, places, values = scatter_arguments("tensor_scatter_nd_min", tensor, indices, updates)
    return i.extreme_nd(x, places, values, largest=False)
