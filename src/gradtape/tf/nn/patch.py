"""Sliding windows of images and volumes, laid out in the channels."""

from __future__ import annotations

from typing import Any

from gradtape.core.convert import convert, to_shape_tuple
from gradtape.core.errors import InvalidArgumentError, OutOfRangeError, public
from gradtape.core.tensor import Tensor
from gradtape.ops.convolution.window import patches
from gradtape.tf.nn.window_argument import expand_to_spatial, make_window


def extract_windows(
    op: str, images: Any, n: int, sizes: Any, strides: Any, rates: Any, padding: Any
) -> Tensor:
    """Extract windows over `n` spatial axes into the channels, after checks."""
    x = convert(images)
    if x._array.ndim != n + 2:
        raise InvalidArgumentError(
            f"{op}: input must be {n + 2}-dimensional. Received shape {list(x._array.shape)}."
        )
    if len(to_shape_tuple(sizes)) != n + 2:
        raise InvalidArgumentError(f"{op}: sizes must have {n + 2} entries. Received {sizes}.")
    given = ((sizes, "sizes"), (strides, "strides"), (rates, "rates"))
    for value, what in given:
        check_patch_numbers(op, to_shape_tuple(value), n, what)
    size, step, rate = (expand_to_spatial(value, n, False, op, what) for value, what in given)
    window = make_window(op, x._array.shape[1:-1], size, step, rate, padding, False)
    return patches(x, window=window)


def check_patch_numbers(op: str, numbers: tuple[int, ...], n: int, what: str) -> None:
    """Raise unless there is a positive number for each axis."""
    if len(numbers) not in (1, n + 2):
        raise InvalidArgumentError(f"{op}: {what} must have {n + 2} entries. Received {numbers}.")
    if min(numbers[1:-1], default=1) < 1:
        raise OutOfRangeError(f"{op}: {what} must be positive. Received {list(numbers)}.")


@public
def extract_patches(
    images: Any, sizes: Any, strides: Any, rates: Any, padding: str, name: str | None = None
) -> Tensor:
    """Windows of images, laid out in the channels.

    Args:
        images: (batch, height, width, channels).
        sizes: the size of the windows, [1, height, width, 1].
        strides: the distance between windows, [1, rows, columns, 1].
        rates: the distance between the pixels of a window, [1, rows, columns, 1].
        padding: "VALID" or "SAME".
        name: has no effect here.

    Returns:
        (batch, rows, columns, height * width * channels).

    Example:
        >>> image = tf.ones([1, 4, 4, 1])
        >>> tf.image.extract_patches(image, [1, 2, 2, 1], [1, 2, 2, 1], [1] * 4, "VALID").shape
        TensorShape([1, 2, 2, 4])
    """
    return extract_windows("ExtractImagePatches", images, 2, sizes, strides, rates, padding)


@public
def extract_volume_patches(
    input: Any, ksizes: Any, strides: Any, padding: str, name: str | None = None
) -> Tensor:
    """Windows of volumes (batch, depth, height, width, channels), laid out in the channels.

    Args:
        input: volumes (batch, depth, height, width, channels).
        ksizes: the size of the window, five numbers.
        strides: the step of the window, five numbers.
        padding: "SAME" or "VALID".
        name: has no effect here.

    Returns:
        A tensor (batch, depth, height, width, window * channels).
    """
    return extract_windows("ExtractVolumePatches", input, 3, ksizes, strides, 1, padding)
