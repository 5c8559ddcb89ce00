"""tf.io: encoding of image files."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.primitive import Spec
from gradtape.core.shape_rule import OBJECT
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.files import image
from gradtape.graph.host_function import (
    call_on_host,
    shape_of_argument,
)


def check_encodable(value: Any, kinds: tuple[Any, ...], channels: tuple[int, ...], op: str) -> Any:
    """The raw array of one or several images, after a check of dtype and channels."""
    array = convert(value)._array
    if dtypes.from_numpy_dtype(array.dtype) not in kinds:
        names = " or ".join(kind.name for kind in kinds)
        raise InvalidArgumentError(f"{op}: image must be {names}. Received {array.dtype}.")
    if array.ndim < 3 or array.shape[-1] not in channels:
        raise InvalidArgumentError(
            f"{op}: image must have the shape (height, width, channels) with one of {channels} "
            f"channels. Received {list(array.shape)}."
        )
    return array


@public
@call_on_host(lambda image, *_, **__: Spec((shape_of_argument(image)[:-3], OBJECT)))
def encode_png(image: Any, compression: int = -1, name: str | None = None) -> Tensor:
    """The bytes of a PNG file for each image.

    Args:
        image: of shape (..., height, width, channels), uint8 or uint16.
        compression: from 0 to 9; -1 for the encoder's default.
        name: has no effect here.

    Returns:
        A string scalar, or a tensor of strings of the batch's shape.

    Example:
        >>> png = tf.io.encode_png(tf.zeros([2, 2, 3], tf.uint8))
        >>> tf.io.decode_png(png).shape
        TensorShape([2, 2, 3])
    """
    array = check_encodable(image, (dtypes.uint8, dtypes.uint16), (1, 2, 3, 4), "encode_png")
    options = {} if compression < 0 else {"compress_level": compression}
    return encode_images(array, "PNG", "encode_png", options)


@public
@call_on_host(lambda image, *_, **__: Spec((shape_of_argument(image)[:-3], OBJECT)))
def encode_jpeg(
    image: Any,
    format: str = "",
    quality: int = 95,
    progressive: bool = False,
    optimize_size: bool = False,
    chroma_downsampling: bool = True,
    density_unit: str = "in",
    x_density: int = 300,
    y_density: int = 300,
    xmp_metadata: str = "",
    name: str | None = None,
) -> Tensor:
    """The bytes of a JPEG file of an image.

    Args:
        image: of shape (height, width, channels) with 1 or 3 channels, uint8.
        format: "grayscale" or "rgb"; by default it follows from the channels.
        quality: from 0 to 100.
        progressive: whether to write a progressive JPEG.
        optimize_size: whether to spend time on a smaller file.
        chroma_downsampling: whether to store colours at half the resolution.
        density_unit: "in" or "cm".
        x_density: horizontal pixels per unit.
        y_density: vertical pixels per unit.
        xmp_metadata: XMP metadata to write into the file.
        name: has no effect here.

    Returns:
        A string scalar.

    Example:
        >>> jpeg = tf.io.encode_jpeg(tf.zeros([8, 8, 3], tf.uint8))
        >>> tf.io.decode_jpeg(jpeg).shape
        TensorShape([8, 8, 3])
    """
    array = check_encodable(image, (dtypes.uint8,), (1, 3), "encode_jpeg")
    if {"": 0, "grayscale": 1, "rgb": 3}.get(format, -1) not in (0, array.shape[-1]):
        raise InvalidArgumentError(
            f"encode_jpeg: format {format!r} does not match {array.shape[-1]} channels."
        )
    if not 0 <= quality <= 100:
        raise InvalidArgumentError(f"encode_jpeg: quality must be in [0, 100]. Received {quality}.")
    scale = 2.54 if density_unit == "cm" else 1
    options: dict[str, Any] = {
        "quality": quality,
        "progressive": progressive,
        "optimize": optimize_size,
        "subsampling": 2 if chroma_downsampling else 0,
        "dpi": (round(x_density * scale), round(y_density * scale)),
    }
    if xmp_metadata:
        options["xmp"] = xmp_metadata.encode()
    return encode_images(array, "JPEG", "encode_jpeg", options)


def encode_images(array: Any, form: str, op: str, options: dict[str, Any]) -> Tensor:
    """Encode each image of an array as the bytes of a file."""
    out = np.empty(array.shape[:-3], object)
    for place in np.ndindex(out.shape):
        out[place] = image.encode_picture(np.ascontiguousarray(array[place]), form, op, **options)
    return make_tensor(out)
