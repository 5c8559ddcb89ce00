"""tf.space_to_batch, which moves blocks of the spatial axes into the batch, and its inverse."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from gradtape.core.convert import convert, to_shape_tuple
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.tensor import Tensor
from gradtape.ops import shape as s


@public
def space_to_batch(input: Any, block_shape: Any, paddings: Any, name: str | None = None) -> Tensor:
    """`input` with blocks of the padded spatial axes moved into the batch.

    Args:
        input: (batch, *spatial, ...).
        block_shape: the size of the blocks along each spatial axis.
        paddings: for each spatial axis the number of zeros to add before and after.
        name: has no effect here.

    Returns:
        A tensor with a larger batch.
    """
    x = convert(input)
    blocks = to_shape_tuple(block_shape)
    pairs = tuple(
        (int(low), int(high)) for low, high in np.asarray(convert(paddings)._array).reshape(-1, 2)
    )
    n, rank = len(blocks), x._array.ndim
    check_blocks("space_to_batch", blocks, pairs, rank)
    x = s.pad(x, paddings=((0, 0), *pairs, *((0, 0),) * (rank - n - 1)), value=0)
    shape = x._array.shape
    if any(size % block for size, block in zip(shape[1:], blocks, strict=False)):
        raise InvalidArgumentError(
            f"space_to_batch: padded sizes {list(shape[1 : n + 1])} must be divisible by the "
            f"blocks {list(blocks)}."
        )
    split_sizes = tuple(
        m for size, block in zip(shape[1:], blocks, strict=False) for m in (size // block, block)
    )
    x = s.reshape(x, shape=(shape[0], *split_sizes, *shape[n + 1 :]), rank=rank)
    inner, outer = range(2, 2 * n + 1, 2), range(1, 2 * n, 2)
    x = s.permute_axes(x, (*inner, 0, *outer, *range(2 * n + 1, n + rank)))
    final = (prod(blocks) * shape[0], *split_sizes[::2], *shape[n + 1 :])
    return s.reshape(x, shape=final, rank=n + rank)


space_to_batch_nd = space_to_batch


def check_blocks(op: str, blocks: tuple[int, ...], pairs: Any, rank: int) -> None:
    """Raise unless there are a positive block and a pair for each spatial axis."""
    if len(pairs) != len(blocks) or len(blocks) >= rank or min(blocks, default=1) < 1:
        raise InvalidArgumentError(
            f"{op}: paddings or crops must have shape [{len(blocks)}, 2], blocks be positive, and "
            f"the input have more than {len(blocks)} axes. Received {list(blocks)} and {pairs}."
        )


@public
def batch_to_space(input: Any, block_shape: Any, crops: Any, name: str | None = None) -> Tensor:
    """Inverse of `space_to_batch`.

    `crops` has a pair for each spatial axis: the sizes to cut off at its start and end.

    Args:
        input: a tensor.
        block_shape: the size of a block along each spatial axis.
        crops: how much to cut from both ends of each spatial axis.
        name: has no effect here.

    Returns:
        A tensor with a smaller batch.
    """
    x = convert(input)
    blocks = to_shape_tuple(block_shape) * (2 if isinstance(block_shape, int) else 1)
    pairs = np.asarray(convert(crops)._array).reshape(-1, 2).tolist()
    n, rank, shape = len(blocks), x._array.ndim, x._array.shape
    check_blocks("batch_to_space", blocks, pairs, rank)
    if shape[0] % prod(blocks):
        raise InvalidArgumentError(
            f"batch_to_space: the batch size {shape[0]} must be divisible by {prod(blocks)}."
        )
    x = s.reshape(x, shape=(*blocks, shape[0] // prod(blocks), *shape[1:]), rank=rank)
    order = [n]
    for k in range(n):
        order += [n + 1 + k, k]
    x = s.permute_axes(x, (*order, *range(2 * n + 1, n + rank)))
    sizes = tuple(size * block for size, block in zip(shape[1:], blocks, strict=False))
    x = s.reshape(x, shape=(shape[0] // prod(blocks), *sizes, *shape[n + 1 :]), rank=n + rank)
    inner = tuple(slice(low, size - high) for (low, high), size in zip(pairs, sizes, strict=True))
    key = (slice(None), *inner, *(slice(None),) * (rank - n - 1))
    return s.slice_(x, key=key, rank=rank)
