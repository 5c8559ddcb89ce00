"""tf.image: cropping, padding, rotation and flips."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.argument import check_number
from gradtape.core.convert import convert, to_dimension_size
from gradtape.core.dims import Dim
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.primitive import Spec
from gradtape.core.shape_rule import INT64, with_shape
from gradtape.core.size_function import max_size, min_size
from gradtape.core.tensor import Tensor
from gradtape.graph.raw_function import apply_raw, compute_integer
from gradtape.ops import shape as s
from gradtape.tf.array.dynamic_index import is_traced


def check_image(op: str, image: Any) -> Tensor:
    """Convert and check a non-empty image (height, width, channels), or a batch of images."""
    x = convert(image)
    shape = x._array.shape
    if len(shape) not in (3, 4):
        raise ValueError(f"{op}: image must have 3 or 4 dimensions. Received shape {shape}.")
    return check_pixels(op, x)


def check_pixels(op: str, image: Any) -> Tensor:
    """Convert and check a non-empty tensor (..., height, width, channels)."""
    x = convert(image)
    shape = x._array.shape
    if len(shape) < 3:
        raise ValueError(f"{op}: image must be at least 3-dimensional. Received shape {shape}.")
    if not all(shape[-3:]):
        raise ValueError(
            f"{op}: inner 3 dims of 'image.shape' must be > 0. Received shape {shape}."
        )
    return x


def check_offset(op: str, holds: Any, values: tuple[Any, ...], what: str) -> None:
    """Raise unless `holds`: InvalidArgumentError if a value is a tensor, else ValueError."""
    if not holds:
        kind = InvalidArgumentError if any(map(is_tensor_or_variable, values)) else ValueError
        shown = [str(value if type(value) is Dim else int(value)) for value in values]
        raise kind(f"{op}: {what}. Received {', '.join(shown)}.")


def is_tensor_or_variable(value: Any) -> bool:
    """Whether a value is a tensor or variable."""
    return isinstance(value, Tensor) or hasattr(type(value), "__tf_tensor__")


def check_positive(op: str, image: Any, **sizes: Any) -> Tensor:
    """Convert and check an image, and check that sizes are positive."""
    x = check_image(op, image)
    for what, size in reversed(sizes.items()):
        check_number(size, what)
        check_offset(op, size > 0, (size,), f"{what} must be > 0")
    return x


def as_integers(op: str, *values: Any) -> list[int]:
    """Convert offsets and sizes to Python integers."""
    tensors = [convert(value) for value in values]
    if any(tensor._array.dtype.kind not in "iu" for tensor in tensors):
        raise InvalidArgumentError(f"{op}: offsets and sizes must be integers. Received {values}.")
    return [to_dimension_size(tensor) for tensor in tensors]


@public
def pad_to_bounding_box(
    image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any
) -> Tensor:
    """Images padded with zeros.

    Args:
        image: (batch, height, width, channels) or (height, width, channels).
        offset_height: how many rows of zeros to put on top.
        offset_width: how many columns of zeros to put on the left.
        target_height: the height of the result.
        target_width: the width of the result.

    Returns:
        Images of the target size.

    Example:
        >>> tf.image.pad_to_bounding_box(tf.ones([4, 4, 3]), 1, 1, 8, 8).shape
        TensorShape([8, 8, 3])
    """
    op = "pad_to_bounding_box"
    x = check_image(op, image)
    height, width = x._array.shape[-3:-1]
    check_offset(op, offset_height >= 0, (offset_height,), "offset_height must be >= 0")
    check_offset(op, offset_width >= 0, (offset_width,), "offset_width must be >= 0")
    right, below = target_width - offset_width - width, target_height - offset_height - height
    check_offset(
        op, right >= 0, (width, target_width, offset_width), "width must be <= target - offset"
    )
    heights = (height, target_height, offset_height)
    check_offset(op, below >= 0, heights, "height must be <= target - offset")
    top, bottom, left, last = as_integers(op, offset_height, below, offset_width, right)
    result: Tensor = s.pad(x, paddings=((top, bottom), (left, last), (0, 0)), value=0)
    return result


@public
def crop_to_bounding_box(
    image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any
) -> Tensor:
    """The part of images within a box.

    Args:
        image: (batch, height, width, channels) or (height, width, channels).
        offset_height: the first row of the box.
        offset_width: the first column of the box.
        target_height: the number of rows of the box.
        target_width: the number of columns of the box.

    Returns:
        Images of the target size.

    Raises:
        ValueError: if the box is empty or not entirely inside the image.

    Example:
        >>> tf.image.crop_to_bounding_box(tf.ones([8, 8, 3]), 2, 2, 4, 5).shape
        TensorShape([4, 5, 3])
    """
    op = "crop_to_bounding_box"
    x = check_image(op, image)
    height, width = x._array.shape[-3:-1]
    if is_traced(offset_height) or is_traced(offset_width):
        rows, columns = as_integers(op, target_height, target_width)
        corner = apply_raw(
            check_corner,
            convert(offset_height),
            convert(offset_width),
            (height, width),
            rows,
            columns,
        )
        part: Tensor = s.slice_from(x, corner, sizes=(rows, columns, x._array.shape[-1]))
        return part
    check_offset(op, offset_width >= 0, (offset_width,), "offset_width must be >= 0")
    check_offset(op, offset_height >= 0, (offset_height,), "offset_height must be >= 0")
    check_offset(op, target_width > 0, (target_width,), "target_width must be > 0")
    check_offset(op, target_height > 0, (target_height,), "target_height must be > 0")
    fits = width >= target_width + offset_width
    check_offset(op, fits, (width, target_width, offset_width), "width must be >= target + offset")
    fits = height >= target_height + offset_height
    check_offset(
        op, fits, (height, target_height, offset_height), "height must be >= target + offset"
    )
    top, left, rows, columns = as_integers(
        op, offset_height, offset_width, target_height, target_width
    )
    return crop_box(x, top, left, rows, columns)


@with_shape(lambda *_: Spec(((3,), INT64)))
def check_corner(top: Any, left: Any, shape: tuple[int, int], rows: int, columns: int) -> Any:
    """The corner of a box from raw offsets, after a check that the box lies in the image."""
    inside = 0 <= top <= shape[0] - rows and 0 <= left <= shape[1] - columns
    if not inside or rows <= 0 or columns <= 0:
        raise InvalidArgumentError(
            f"crop_to_bounding_box: the box must not be empty and must lie inside the image "
            f"{list(shape)}. Received {rows} x {columns} pixels at {int(top)}, {int(left)}."
        )
    return np.array([top, left, 0], np.int64)


def crop_box(x: Tensor, top: int, left: int, rows: int, columns: int) -> Tensor:
    """Crop images to a box."""
    key = (slice(top, top + rows), slice(left, left + columns), slice(None))
    result: Tensor = s.slice_(x, key=key, rank=3)
    return result


@public
def central_crop(image: Any, central_fraction: Any) -> Tensor:
    """The central part of images.

    Args:
        image: (batch, height, width, channels) or (height, width, channels).
        central_fraction: the fraction of height and width to keep, in (0, 1].

    Returns:
        Smaller images.

    Example:
        >>> tf.image.central_crop(tf.ones([8, 8, 3]), 0.5).shape
        TensorShape([4, 4, 3])
    """
    x = convert(image)
    fraction = float(central_fraction)
    if not 0 < fraction <= 1:
        raise ValueError(
            f"central_crop: central_fraction must be within (0, 1]. Received {fraction}."
        )
    if fraction == 1:
        return x
    check_image("central_crop", x)
    height, width = x._array.shape[-3:-1]
    top, left = (compute_integer(count_cropped, n, fraction) for n in (height, width))
    return crop_box(x, top, left, height - 2 * top, width - 2 * left)


def count_cropped(size: int, fraction: float) -> int:
    """How many rows a central crop removes on each side."""
    return int((size - size * fraction) / 2)


@public
def resize_with_crop_or_pad(image: Any, target_height: Any, target_width: Any) -> Tensor:
    """Images centrally cropped or zero-padded to a target size.

    Args:
        image: (batch, height, width, channels) or (height, width, channels).
        target_height: the new height.
        target_width: the new width.

    Returns:
        Images of the target size.

    Example:
        >>> tf.image.resize_with_crop_or_pad(tf.ones([4, 10, 3]), 8, 8).shape
        TensorShape([8, 8, 3])
    """
    op = "resize_with_crop_or_pad"
    x = check_positive(op, image, target_height=target_height, target_width=target_width)
    rows, columns = as_integers(op, target_height, target_width)
    height, width = x._array.shape[-3:-1]
    top, left = (height - rows) // 2, (width - columns) // 2
    x = crop_box(
        x, max_size(top, 0), max_size(left, 0), min_size(rows, height), min_size(columns, width)
    )
    above, before = max_size((rows - height) // 2, 0), max_size((columns - width) // 2, 0)
    return pad_to_bounding_box(x, above, before, rows, columns)


@public
def flip_left_right(image: Any) -> Tensor:
    """Images flipped left to right: (batch, height, width, channels), or a single image.

    Args:
        image: (batch, height, width, channels), or a single image.

    Returns:
        Images like `image`.

    Example:
        >>> tf.image.flip_left_right([[[1], [2], [3]]]).numpy().ravel()
        array([3, 2, 1], dtype=int32)
    """
    result: Tensor = s.flip(check_image("flip_left_right", image), axes=(-2,))
    return result


@public
def flip_up_down(image: Any) -> Tensor:
    """Images flipped upside down: (batch, height, width, channels), or a single image.

    Args:
        image: (batch, height, width, channels), or a single image.

    Returns:
        Images like `image`.

    Example:
        >>> tf.image.flip_up_down([[[1]], [[2]]]).numpy().ravel()
        array([2, 1], dtype=int32)
    """
    result: Tensor = s.flip(check_image("flip_up_down", image), axes=(-3,))
    return result


@public
def transpose(image: Any, name: str | None = None) -> Tensor:
    """Images with rows and columns swapped: (batch, height, width, channels), or a single image.

    Args:
        image: (batch, height, width, channels), or a single image.
        name: has no effect here.

    Returns:
        Images with height and width swapped.

    Example:
        >>> tf.image.transpose([[[1], [2]], [[3], [4]]]).numpy().reshape(2, 2)
        array([[1, 3],
               [2, 4]], dtype=int32)
    """
    result: Tensor = s.transpose(check_image("transpose", image), perm=(-2, -3, -1))
    return result


@public
def rot90(image: Any, k: Any = 1, name: str | None = None) -> Tensor:
    """Images rotated counter-clockwise by multiples of 90 degrees.

    Args:
        image: (batch, height, width, channels) or (height, width, channels).
        k: the number of quarter turns.
        name: has no effect here.

    Returns:
        Rotated images.

    Example:
        >>> tf.image.rot90([[[1], [2]], [[3], [4]]]).numpy().reshape(2, 2)
        array([[2, 4],
               [1, 3]], dtype=int32)
    """
    x: Any = check_image("rot90", image)
    turns = int(convert(k, "int32")._array) % 4
    if turns == 1:
        x = s.transpose(s.flip(x, axes=(-2,)), perm=(-2, -3, -1))
    elif turns == 2:
        x = s.flip(x, axes=(-3, -2))
    elif turns == 3:
        x = s.flip(s.transpose(x, perm=(-2, -3, -1)), axes=(-2,))
    return convert(x)
