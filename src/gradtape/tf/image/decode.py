"""tf.io and tf.image: decoding of image files."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.primitive import Spec
from gradtape.core.shape_rule import BOOL, FRESH, UINT8, numpy_dtype_of
from gradtape.core.spec import TensorSpec
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.files import image
from gradtape.graph.host_function import (
    call_on_host,
    describe_as,
    describe_like,
)
from gradtape.tf.image.color import convert_image_dtype
from gradtape.tf.strings.byte_string import as_string_array, map_elements


def as_bytes_scalar(contents: Any, op: str) -> bytes:
    """The bytes of a scalar string."""
    text = as_string_array(contents)
    if text.ndim:
        raise InvalidArgumentError(f"{op}: contents must be scalar, got shape {list(text.shape)}.")
    return bytes(text[()])


def require_jpeg(data: bytes, op: str) -> None:
    """Raise unless `data` starts like a JPEG file."""
    if not data.startswith(image.JPEG_SIGNATURE):
        raise InvalidArgumentError(
            f"{op}: contents must be a JPEG file. Received {len(data)} bytes that start with "
            f"{data[:8]!r}."
        )


def convert_bit_depth(array: Any, data: bytes, dtype: Any, op: str) -> Tensor:
    """Convert decoded pixels to uint8 or uint16, as `dtype` requires."""
    wanted = dtypes.as_dtype(dtype)
    if wanted not in (dtypes.uint8, dtypes.uint16):
        raise TypeError(f"{op}: dtype must be uint8 or uint16. Received {wanted.name}.")
    if wanted is dtypes.uint16 and array.dtype == np.uint8:
        if image.bit_depth(data) == 16:
            raise NotImplementedError(
                f"{op}: 16 bits are supported for one channel only. Decode as uint8."
            )
        array = array.astype(np.uint16) * (257 if data.startswith(image.PNG_SIGNATURE) else 256)
    elif wanted is dtypes.uint8 and array.dtype == np.uint16:
        array = (array >> 8).astype(np.uint8)
    return make_tensor(np.ascontiguousarray(array))


@public
@call_on_host(
    lambda contents, channels=0, dtype=dtypes.uint8, name=None: Spec(
        ((FRESH, FRESH, channels or FRESH), numpy_dtype_of(dtype))
    )
)
def decode_png(
    contents: Any, channels: int = 0, dtype: Any = dtypes.uint8, name: str | None = None
) -> Tensor:
    """The image in a PNG file, of shape (height, width, channels).

    Args:
        contents: the bytes of the file.
        channels: 1 for grey, 3 for RGB, 4 for RGBA; 0 for the channels of the file.
        dtype: uint8 or uint16.
        name: has no effect here.

    Returns:
        A tensor (height, width, channels).

    Raises:
        InvalidArgumentError: if `contents` is not an image file.

    Example:
        >>> file = tf.io.encode_png(tf.zeros([2, 3, 1], tf.uint8))
        >>> tf.io.decode_png(file).shape
        TensorShape([2, 3, 1])
    """
    data = as_bytes_scalar(contents, "decode_png")
    return convert_bit_depth(
        image.decode_still(data, channels, "decode_png"), data, dtype, "decode_png"
    )


@public
@call_on_host(
    lambda contents, channels=0, *_, **__: Spec(((FRESH, FRESH, channels or FRESH), UINT8))
)
def decode_jpeg(
    contents: Any,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1,
    dct_method: str = "",
    name: str | None = None,
) -> Tensor:
    """The image in a JPEG file, of shape (height, width, channels) and dtype uint8.

    Args:
        contents: the bytes of the file.
        channels: 1 for grey, 3 for RGB; 0 for the channels of the file.
        ratio: 1, 2, 4 or 8: decode at 1/ratio of the size.
        fancy_upscaling: has no effect here; the decoder's default is used.
        try_recover_truncated: not supported.
        acceptable_fraction: has no effect here.
        dct_method: has no effect here; "INTEGER_ACCURATE" is used.
        name: has no effect here.

    Returns:
        A tensor (height, width, channels) of uint8.

    Raises:
        InvalidArgumentError: if `contents` is not an image file.

    Note:
        TensorFlow uses a fast DCT by default, which differs by a few units of 255.
    """
    if ratio not in (1, 2, 4, 8):
        raise InvalidArgumentError(f"decode_jpeg: ratio must be 1, 2, 4 or 8. Received {ratio}.")
    if try_recover_truncated:
        raise NotImplementedError("decode_jpeg: try_recover_truncated=True is not supported.")
    data = as_bytes_scalar(contents, "decode_jpeg")
    array = image.decode_still(data, channels, "decode_jpeg", ratio)
    return convert_bit_depth(array, data, dtypes.uint8, "decode_jpeg")


@public
@call_on_host(
    lambda contents, crop_window, channels=0, *_, **__: Spec(
        ((FRESH, FRESH, channels or FRESH), UINT8)
    )
)
def decode_and_crop_jpeg(
    contents: Any,
    crop_window: Any,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1,
    dct_method: str = "",
    name: str | None = None,
) -> Tensor:
    """A crop of the image in a JPEG file; `crop_window` is (y, x, height, width).

    Args:
        contents: the bytes of the file, a string scalar.
        crop_window: a vector (y, x, height, width).
        channels: 0: as in the file; 1: grey; 3: RGB; 4: RGBA, where the format has it.
        ratio: the factor by which the picture is reduced: 1, 2, 4 or 8.
        fancy_upscaling: has no effect here.
        try_recover_truncated: whether to accept a file that ends early.
        acceptable_fraction: has no effect here.
        dct_method: has no effect here.
        name: has no effect here.

    Returns:
        A tensor (height, width, channels) of uint8.
    """
    require_jpeg(as_bytes_scalar(contents, "decode_and_crop_jpeg"), "decode_and_crop_jpeg")
    whole = decode_jpeg(contents, channels, ratio, try_recover_truncated=try_recover_truncated)
    y, x, height, width = (int(n) for n in np.ravel(convert(crop_window)._array))
    rows, columns = whole._array.shape[:2]
    if min(y, x) < 0 or min(height, width) <= 0 or y + height > rows or x + width > columns:
        raise InvalidArgumentError(
            f"decode_and_crop_jpeg: Invalid JPEG data or crop window: the window must lie inside "
            f"the image of {rows} by {columns}. Received {[y, x, height, width]}."
        )
    return make_tensor(np.ascontiguousarray(whole._array[y : y + height, x : x + width]))


@public
@call_on_host(
    lambda contents, channels=0, name=None: Spec(((FRESH, FRESH, channels or FRESH), UINT8))
)
def decode_bmp(contents: Any, channels: int = 0, name: str | None = None) -> Tensor:
    """The image in a BMP file, of shape (height, width, channels) and dtype uint8.

    Args:
        contents: the bytes of the file, a string scalar.
        channels: 0: as in the file; 1: grey; 3: RGB; 4: RGBA, where the format has it.
        name: has no effect here.

    Returns:
        A tensor (height, width, channels) of uint8.
    """
    data = as_bytes_scalar(contents, "decode_bmp")
    return convert_bit_depth(
        image.decode_bmp_file(data, channels, "decode_bmp"), data, dtypes.uint8, "decode_bmp"
    )


@public
@call_on_host(describe_as(FRESH, FRESH, FRESH, 3, dtype=UINT8))
def decode_gif(contents: Any, name: str | None = None) -> Tensor:
    """All frames of a GIF file, of shape (frames, height, width, 3) and dtype uint8.

    Args:
        contents: the bytes of the file, a string scalar.
        name: has no effect here.

    Returns:
        A tensor (frames, height, width, 3) of uint8.
    """
    data = as_bytes_scalar(contents, "decode_gif")
    return convert_bit_depth(
        image.decode_frames(data, "decode_gif"), data, dtypes.uint8, "decode_gif"
    )


def describe_decoded_image(
    contents: Any,
    channels: int | None = None,
    dtype: Any = dtypes.uint8,
    name: str | None = None,
    expand_animations: bool = True,
) -> Any:
    """Result rule of `decode_image`: with animations only the file determines the rank."""
    if expand_animations:
        return TensorSpec(None, dtype)
    return Spec(((FRESH, FRESH, channels or FRESH), numpy_dtype_of(dtype)))


@public
@call_on_host(describe_decoded_image)
def decode_image(
    contents: Any,
    channels: int | None = None,
    dtype: Any = dtypes.uint8,
    name: str | None = None,
    expand_animations: bool = True,
) -> Tensor:
    """The image in a PNG, JPEG, BMP or GIF file.

    Args:
        contents: the bytes of the file.
        channels: as in `decode_png`.
        dtype: of the result; floats lie between 0 and 1.
        name: has no effect here.
        expand_animations: whether a GIF gets a leading axis of frames; otherwise only its first
            frame is returned.

    Returns:
        A tensor (height, width, channels), or (frames, height, width, 3) of an animation.

    Example:
        >>> png = tf.io.encode_png(tf.zeros([2, 2, 3], tf.uint8))
        >>> tf.io.decode_image(png).shape
        TensorShape([2, 2, 3])
    """
    data = as_bytes_scalar(contents, "decode_image")
    wanted = dtypes.as_dtype(dtype)
    count = channels or 0
    if data.startswith(image.SIGNATURES["GIF"]):
        image.check_channels("GIF", count, "decode_image")
        frames = image.decode_frames(data, "decode_image")
        array, depth = frames if expand_animations else frames[0], dtypes.uint8
    elif data.startswith(image.SIGNATURES["BMP"]):
        array, depth = image.decode_bmp_file(data, count, "decode_image"), dtypes.uint8
    else:
        array = image.decode_still(data, count, "decode_image")
        is_png = data.startswith(image.PNG_SIGNATURE)
        depth = dtypes.uint16 if is_png and wanted is not dtypes.uint8 else dtypes.uint8
    pixels = convert_bit_depth(array, data, depth, "decode_image")
    return pixels if pixels.dtype is wanted else convert_image_dtype(pixels, wanted)


@public
@call_on_host(
    lambda contents, output_type=dtypes.int32, name=None: Spec(((3,), numpy_dtype_of(output_type)))
)
def extract_jpeg_shape(
    contents: Any, output_type: Any = dtypes.int32, name: str | None = None
) -> Tensor:
    """Height, width and channels of a JPEG file, without decoding it.

    Args:
        contents: the bytes of the file, a string scalar.
        output_type: int32 or int64.
        name: has no effect here.

    Returns:
        A vector of three integers.

    Example:
        >>> tf.io.extract_jpeg_shape(tf.io.encode_jpeg(tf.zeros([8, 6, 3], tf.uint8))).numpy()
        array([8, 6, 3], dtype=int32)
    """
    data = as_bytes_scalar(contents, "extract_jpeg_shape")
    require_jpeg(data, "extract_jpeg_shape")
    picture = image.open_picture(data, "JPEG", "extract_jpeg_shape")
    shape = [picture.height, picture.width, len(picture.getbands())]
    return convert(np.array(shape, dtypes.as_dtype(output_type).as_numpy_dtype))


@public
@call_on_host(describe_like(BOOL))
def is_jpeg(contents: Any, name: str | None = None) -> Tensor:
    """Whether strings start with the JPEG signature.

    Args:
        contents: the bytes of the file, a string scalar.
        name: has no effect here.

    Returns:
        A tensor of bools.

    Example:
        >>> bool(tf.io.is_jpeg(tf.io.encode_jpeg(tf.zeros([8, 8, 3], tf.uint8))))
        True
    """
    return map_elements(
        lambda text: text.startswith(image.JPEG_SIGNATURE),
        as_string_array(contents),
        dtype=np.bool_,
    )
