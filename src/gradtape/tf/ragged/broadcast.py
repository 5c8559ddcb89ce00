"""Elementwise functions of ragged tensors: broadcasting of operands with different rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from gradtape.core.context import current_trace
from gradtape.core.errors import InvalidArgumentError
from gradtape.core.primitive import Spec
from gradtape.core.ragged import row_splits
from gradtape.core.ragged.conversion import as_ragged_or_tensor, ragged_from_nested_splits
from gradtape.core.ragged.tensor import RaggedTensor
from gradtape.core.shape_rule import FRESH, with_shape
from gradtape.core.tensor import Tensor
from gradtape.graph.raw_function import apply_raw
from gradtape.tf.array.gather import gather
from gradtape.tf.array.reshape import reshape
from gradtape.tf.ragged.conversion import outer_size_of, total_rank_of
from gradtape.tf.ragged.shape import make_splits_dtype_error


class BroadcastOperand(NamedTuple):
    """An operand, prepared for broadcasting.

    Attributes:
        sizes: the size of each axis; None for ragged axes.
        splits: row splits of the axes after the first, up to the last ragged axis of the result;
            None where the operand has none.
        flat: the values, with the first axis and the axes of `splits` merged into one.
    """

    sizes: tuple[int | None, ...]
    splits: tuple[Tensor | None, ...]
    flat: Tensor


def apply_elementwise(function: Callable[..., Any], *operands: Any) -> Any:
    """Broadcast the operands to the same rows and apply `function` to their flat values."""
    dtype = next((x.dtype for x in operands if isinstance(x, RaggedTensor)), None)
    values = [
        x if isinstance(x, RaggedTensor) else as_ragged_or_tensor(x, hint=dtype) for x in operands
    ]
    like, flats = align_operands(values)
    return like(function(*flats))


def align_operands(values: list[Any]) -> tuple[Callable[[Any], Any], list[Tensor]]:
    """Broadcast operands to the same rows.

    Returns:
        A function that puts flat values into these rows, and the flat values of each operand.
    """
    ragged = [x for x in values if isinstance(x, RaggedTensor)]
    if len({x.row_splits.dtype for x in ragged}) > 1:
        raise make_splits_dtype_error()
    first = ragged[0]
    inner = int(first.flat_values.ndim)
    if all(
        has_identical_splits(x, first) if isinstance(x, RaggedTensor) else x.ndim < inner
        for x in values
    ):
        return first.with_flat_values, [flat_values_of(x) for x in values]
    return broadcast_operands(values)


def flat_values_of(value: Any) -> Tensor:
    """The flat values of a ragged tensor; a plain tensor itself."""
    flat: Tensor = value.flat_values if isinstance(value, RaggedTensor) else value
    return flat


def has_identical_splits(x: RaggedTensor, y: RaggedTensor) -> bool:
    """Whether two ragged tensors hold the same splits objects; does not compare lengths."""
    mine, theirs = x._nested_row_partitions, y._nested_row_partitions
    return len(mine) == len(theirs) and all(
        a._splits is b._splits for a, b in zip(mine, theirs, strict=True)
    )


def broadcast_operands(values: list[Any]) -> tuple[Callable[[Any], Any], list[Tensor]]:
    """Broadcast operands whose rows or ranks differ; returns as `align_operands` does."""
    ranks = [total_rank_of(x) for x in values]
    rank = max(ranks)
    depth = max(
        rank - own + x.ragged_rank if isinstance(x, RaggedTensor) else 0
        for x, own in zip(values, ranks, strict=True)
    )
    axes = [make_broadcast_operand(x, rank, depth) for x in values]
    owners = [find_axis_owner(i, axes) for i in range(depth + 1)]
    sizes = [axes[owner].sizes[i] for i, owner in enumerate(owners)]
    check_broadcast_sizes(axes, sizes)
    layout = tuple(own.sizes[: depth + 1] for own in axes)
    held = tuple(tuple(s is not None for s in own.splits) for own in axes)
    given = [splits for own in axes for splits in own.splits if splits is not None]
    found = apply_raw(
        compute_broadcast_rows, layout, held, tuple(owners[1:]), *given, dynamic=True, outputs=True
    )
    splits, index = found[:depth], found[depth:]
    flats = [
        gather(own.flat, at) if current_trace() or needs_broadcast(own, sizes) else own.flat
        for own, at in zip(axes, index, strict=True)
    ]
    return lambda flat: ragged_from_nested_splits(flat, splits, sizes[1:]), flats


def needs_broadcast(own: BroadcastOperand, sizes: list[int | None]) -> bool:
    """Whether an axis of size 1 has another size in the result."""
    return any(n == 1 and most != 1 for n, most in zip(own.sizes, sizes, strict=False))


def make_broadcast_operand(value: Any, rank: int, depth: int) -> BroadcastOperand:
    """Prepend axes of size 1 up to `rank`, and merge the first `depth` + 1 axes."""
    flat = flat_values_of(value)
    partitions = value._nested_row_partitions if isinstance(value, RaggedTensor) else ()
    shape = flat._array.shape
    lead = rank - len(partitions) - len(shape)
    count = (outer_size_of(value),) if shape else ()
    sizes = (1,) * lead + count + tuple(p._uniform for p in partitions) + shape[1:]
    splits: list[Tensor | None] = [None] * (depth + 1)
    for i, partition in enumerate(partitions, lead + 1):
        splits[i] = partition._splits
    more = depth - lead - len(partitions)  # inner axes that are merged into the first
    if more >= 0:
        flat = reshape(flat, [int(np.prod(shape[: more + 1])), *shape[more + 1 :]])
    else:
        flat = reshape(flat, [1] * (lead - depth) + list(shape))
    return BroadcastOperand(sizes, tuple(splits[1:]), flat)


def find_axis_owner(i: int, axes: list[BroadcastOperand]) -> int:
    """The operand that determines the size of axis `i`.

    It is one whose size there is not 1; ragged operands take precedence.
    """
    wide = [k for k, own in enumerate(axes) if own.sizes[i] != 1]
    if not wide:
        return next((k for k, own in enumerate(axes) if i and own.splits[i - 1] is not None), 0)
    return next((k for k in wide if axes[k].sizes[i] is None), wide[0])


def check_broadcast_sizes(axes: list[BroadcastOperand], sizes: list[int | None]) -> None:
    """Raise if the known sizes of an axis differ and neither is 1."""
    for own in axes:
        for i, (size, most) in enumerate(zip(own.sizes, sizes, strict=False)):
            if None not in (size, most) and size not in (1, most):
                raise InvalidArgumentError(
                    f"Incompatible shapes for broadcasting: axis {i} must have one size. Received "
                    f"sizes {size} and {most}."
                )


def compute_broadcast_rows_specs(layout: Any, held: Any, owners: Any, *given: Any) -> list[Any]:
    """Specs of the results of `compute_broadcast_rows`."""
    return [Spec(((FRESH,), given[0].dtype))] * (len(owners) + len(layout))


@with_shape(compute_broadcast_rows_specs)
def compute_broadcast_rows(
    layout: Any, held: Any, owners: tuple[int, ...], *given: Any
) -> tuple[Any, ...]:
    """Compute the row splits of the broadcast result, from raw arrays.

    Args:
        layout: for each operand, the sizes of its axes; None for ragged axes.
        held: for each operand, which of its axes have splits.
        owners: for each axis after the first, the operand that determines its size.
        *given: the splits of all operands.

    Returns:
        The splits of the result; then, for each operand, the indices of the values to gather.
    """
    queue, dtype = iter(given), given[0].dtype
    splits = [[next(queue) if has else None for has in each] for each in held]
    count = max(sizes[0] for sizes in layout) if min(sizes[0] for sizes in layout) else 0
    places = [
        np.zeros(count, dtype) if sizes[0] == 1 else np.arange(count, dtype=dtype)
        for sizes in layout
    ]
    found = []
    for i, owner in enumerate(owners):
        lengths = [
            np.full(len(at), sizes[i + 1], dtype)
            if own[i] is None
            else row_splits.lengths_of(own[i])[at]
            for at, sizes, own in zip(places, layout, splits, strict=True)
        ]
        new = lengths[owner]
        found.append(row_splits.splits_from_lengths(new))
        for k, (at, sizes, own) in enumerate(zip(places, layout, splits, strict=True)):
            begin = own[i]
            starts = at * sizes[i + 1] if begin is None else begin[at]
            if sizes[i + 1] == 1:
                places[k] = np.repeat(starts, new).astype(dtype)
                continue
            if not np.array_equal(lengths[k], new):
                raise InvalidArgumentError(
                    f"Unable to broadcast: dimension size mismatch in dimension {i + 1}. Rows have "
                    f"lengths {new.tolist()} and {lengths[k].tolist()}."
                )
            places[k] = row_splits.concat_ranges(starts, new).astype(dtype)
    return (*found, *places)
