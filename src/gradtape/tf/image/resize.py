"""tf.image: resizing of images."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.convert import convert, to_shape_tuple
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.size_constant import compute_constant
from gradtape.core.tensor import Tensor
from gradtape.graph.raw_function import compute_integer
from gradtape.ops.elementwise import stop_gradient
from gradtape.ops.gather_scatter import take
from gradtape.ops.image.filter_matrix import RESIZE_KERNELS, FilterMatrixSpec, nearest_indices
from gradtape.ops.image.resample import resample
from gradtape.tf.image.crop_flip import check_positive, pad_to_bounding_box
from gradtape.tf.math.cast import cast
from gradtape.tf.public_op import FLOATS, HALF_FLOATS, as_numpy_dtypes, check_dtype

PIXEL_DTYPES = FLOATS | as_numpy_dtypes("int8", "uint8", "int16", "uint16", "int32", "int64")


class ResizeMethod:
    """The interpolation methods of `resize`."""

    BILINEAR = "bilinear"
    NEAREST_NEIGHBOR = "nearest"
    BICUBIC = "bicubic"
    AREA = "area"
    LANCZOS3 = "lanczos3"
    LANCZOS5 = "lanczos5"
    GAUSSIAN = "gaussian"
    MITCHELLCUBIC = "mitchellcubic"


def as_image_size(op: str, size: Any) -> tuple[int, int]:
    """Convert a size to a pair of height and width."""
    try:
        pair = convert(size, "int32")
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{op}: size must be two integers, height and width. Received {size}."
        ) from error
    if pair._array.shape != (2,):
        raise ValueError(f"{op}: size must be height and width. Received shape {pair.shape}.")
    height, width = to_shape_tuple(pair)
    return height, width


def fit_size(size: tuple[int, int], have: tuple[int, int]) -> tuple[int, int]:
    """The largest size within `size` that has the aspect ratio of `have`."""
    scale = min(np.float32(new) / np.float32(old) for new, old in zip(size, have, strict=True))
    height, width = (int(np.rint(scale * np.float32(old))) for old in have)
    return height, width


@public
def resize(
    images: Any,
    size: Any,
    method: str = ResizeMethod.BILINEAR,
    preserve_aspect_ratio: bool = False,
    antialias: bool = False,
    name: str | None = None,
) -> Tensor:
    """Images resized to another height and width.

    Args:
        images: (batch, height, width, channels) or (height, width, channels).
        size: the new height and width.
        method: one of `ResizeMethod`.
        preserve_aspect_ratio: whether to keep the aspect ratio and fit within `size`.
        antialias: whether to apply an anti-aliasing filter when downsampling.
        name: has no effect here.

    Returns:
        Images in float32; in the dtype of `images` if the method is "nearest".

    Raises:
        ValueError: if the rank, `size` or `method` is wrong.

    Note:
        TensorFlow has no gradient for the method "area"; here it has one.

    Example:
        >>> x = tf.reshape(tf.range(4.0), [2, 2, 1])
        >>> tf.squeeze(tf.image.resize(x, [2, 4])).numpy().tolist()
        [[0.0, 0.25, 0.75, 1.0], [2.0, 2.25, 2.75, 3.0]]
    """
    x = convert(images)
    shape = x._array.shape
    if len(shape) not in (3, 4):
        raise ValueError(f"resize: images must have 3 or 4 dimensions. Received shape {shape}.")
    height, width = as_image_size("resize", size)
    if preserve_aspect_ratio and all(shape[-3:-1]):
        height, width = fit_size((height, width), shape[-3:-1])
    if method not in RESIZE_KERNELS and method not in (
        ResizeMethod.NEAREST_NEIGHBOR,
        ResizeMethod.AREA,
    ):
        raise ValueError(f"resize: method {method!r} is not implemented. Use one of ResizeMethod.")
    x = check_dtype("resize", x, PIXEL_DTYPES)
    if height < 1 or width < 1:
        raise (ValueError if min(height, width) < 0 else InvalidArgumentError)(
            f"resize: output dimensions must be positive. Received {height} x {width}."
        )
    if not all(shape[-3:]):
        raise InvalidArgumentError(
            f"resize: input image must be of non-zero size. Received shape {list(shape)}."
        )
    out: Tensor
    if method == ResizeMethod.NEAREST_NEIGHBOR:
        out = take(x, compute_constant(nearest_indices, shape[-3], height), axis=-3)
        return take(out, compute_constant(nearest_indices, shape[-2], width), axis=-2)
    if method == ResizeMethod.BICUBIC and not antialias and x._array.dtype in HALF_FLOATS:
        x = stop_gradient(x)  # TensorFlow has no gradient kernel for this case
    out = cast(x, "float32")
    for axis, m in ((-3, height), (-2, width)):
        band = FilterMatrixSpec(method, shape[axis], m, antialias=bool(antialias))
        out = resample(out, axis=axis, band=band, back=False)
    return out


@public
def resize_with_pad(
    image: Any,
    target_height: Any,
    target_width: Any,
    method: str = ResizeMethod.BILINEAR,
    antialias: bool = False,
) -> Tensor:
    """Images resized with their aspect ratio, then zero-padded to the target size.

    Args:
        image: (batch, height, width, channels) or (height, width, channels).
        target_height: the new height.
        target_width: the new width.
        method: as for `resize`.
        antialias: as for `resize`.

    Returns:
        Images as `resize` returns them.

    Example:
        >>> tf.image.resize_with_pad(tf.ones([4, 8, 3]), 8, 8).shape
        TensorShape([8, 8, 3])
    """
    x = convert(image)
    check_positive("resize_with_pad", x, target_height=target_height, target_width=target_width)
    rows, columns = int(target_height), int(target_width)
    sizes = (*x._array.shape[-3:-1], rows, columns)
    *size, top, left = (compute_integer(fit_inside, *sizes, part) for part in range(4))
    out = resize(x, size, method, antialias=antialias)
    return pad_to_bounding_box(out, top, left, rows, columns)


def fit_inside(height: int, width: int, rows: int, columns: int, part: int) -> int:
    """Height, width, top or left (by `part`) of an image that keeps its aspect ratio in a box."""
    have, wanted = np.array([[height, width], [rows, columns]], np.float32)
    inner = have / (have / wanted).max()
    if part < 2:
        return int(np.floor(inner)[part])
    return int(np.maximum(np.floor((wanted - inner) / 2), 0)[part - 2])
