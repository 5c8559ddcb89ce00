"""tf.nn.space_to_depth, which moves blocks of pixels into the channels, and its inverse."""

from __future__ import annotations

from typing import Any

from gradtape.core.argument import as_integer
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.tensor import Tensor
from gradtape.ops import shape as s


def check_block_arguments(op: str, x: Tensor, block_size: int, data_format: str) -> None:
    """Raise unless `x` is a batch of images in NHWC and the block size is at least 2."""
    block_size = as_integer(block_size, "block_size")
    if x._array.ndim != 4 or block_size < 2 or data_format != "NHWC":
        raise InvalidArgumentError(
            f"{op}: input must have rank 4, block_size be at least 2, and data_format 'NHWC'. "
            f"Received shape {list(x._array.shape)}, {block_size} and {data_format!r}."
        )


@public
def space_to_depth(
    input: Any, block_size: int, data_format: str = "NHWC", name: str | None = None
) -> Tensor:
    """Blocks of `block_size` × `block_size` pixels, moved into the channels.

    Args:
        input: images (batch, height, width, channels).
        block_size: the side of a block.
        data_format: "NHWC" or "NCHW".
        name: has no effect here.

    Returns:
        Smaller images with more channels.

    Example:
        >>> tf.nn.space_to_depth(tf.reshape(tf.range(4), [1, 2, 2, 1]), 2).numpy().ravel()
        array([0, 1, 2, 3], dtype=int32)
    """
    x = convert(input)
    k = block_size
    check_block_arguments("space_to_depth", x, k, data_format)
    batch, height, width, channels = x._array.shape
    if height % k or width % k:
        raise InvalidArgumentError(
            f"space_to_depth: Image height {height} and width {width} must be divisible by {k}."
        )
    blocks = s.reshape(x, shape=(batch, height // k, k, width // k, k, channels), rank=4)
    moved = s.permute_axes(blocks, (0, 1, 3, 2, 4, 5))
    return s.reshape(moved, shape=(batch, height // k, width // k, k * k * channels), rank=6)


@public
def depth_to_space(
    input: Any, block_size: int, data_format: str = "NHWC", name: str | None = None
) -> Tensor:
    """Channels moved into blocks of pixels: the inverse of `space_to_depth`.

    Args:
        input: images (batch, height, width, channels).
        block_size: the side of a block.
        data_format: "NHWC" or "NCHW".
        name: has no effect here.

    Returns:
        Larger images with fewer channels.

    Example:
        >>> tf.nn.depth_to_space(tf.reshape(tf.range(4), [1, 1, 1, 4]), 2).numpy().reshape(2, 2)
        array([[0, 1],
               [2, 3]], dtype=int32)
    """
    x = convert(input)
    k = block_size
    check_block_arguments("depth_to_space", x, k, data_format)
    batch, height, width, channels = x._array.shape
    if channels % (k * k):
        raise InvalidArgumentError(
            f"depth_to_space: Input depth {channels} must be divisible by {k * k}."
        )
    blocks = s.reshape(x, shape=(batch, height, width, k, k, channels // (k * k)), rank=4)
    moved = s.permute_axes(blocks, (0, 1, 3, 2, 4, 5))
    return s.reshape(moved, shape=(batch, height * k, width * k, channels // (k * k)), rank=6)
