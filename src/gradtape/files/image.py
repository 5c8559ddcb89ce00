"""Decode and encode PNG, JPEG, GIF and BMP images with Pillow."""

from __future__ import annotations

import io
from functools import cache
from typing import Any

import numpy as np

from gradtape.core.context import local
from gradtape.core.errors import InvalidArgumentError, UnimplementedError

PILLOW_MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}
PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
JPEG_SIGNATURE = b"\xff\xd8\xff"
PNG_DEPTH_OFFSET = 24  # offset of the bit depth in a PNG file


@cache
def import_pillow() -> Any:
    """Import Pillow."""
    try:
        import PIL.Image
    except ImportError as error:
        raise ImportError(
            "gradtape: images need the package Pillow. Install it with `pip install gradtape[io]`.",
            name="PIL",
        ) from error
    return PIL.Image


def open_picture(data: bytes, op: str) -> Any:
    """Open an image without decoding it."""
    image = import_pillow()
    try:
        return image.open(io.BytesIO(data), formats=("PNG", "JPEG", "GIF", "BMP"))
    except (OSError, image.DecompressionBombError) as error:
        raise InvalidArgumentError(
            f"{op}: Unknown image file format. One of JPEG, PNG, GIF, BMP required. {error}"
        ) from None


def decode_first_frame(data: bytes, channels: int, op: str, ratio: int = 1) -> Any:
    """Decode the first frame, of shape (height, width, channels)."""
    if local.probe_size:
        return np.zeros(
            (local.probe_size, local.probe_size, channels or local.probe_size), np.uint8
        )
    picture = open_picture(data, op)
    return read_pixels(picture, channels, data, op, ratio)


def decode_frames(data: bytes, channels: int, op: str) -> Any:
    """Decode all frames, of shape (frames, height, width, channels)."""
    if local.probe_size:
        return np.zeros((local.probe_size,) * 3 + (channels,), np.uint8)
    picture = open_picture(data, op)
    shots = []
    for number in range(getattr(picture, "n_frames", 1)):
        picture.seek(number)
        shots.append(read_pixels(picture, channels, data, op))
    return np.stack(shots)


def read_pixels(picture: Any, channels: int, data: bytes, op: str, ratio: int = 1) -> Any:
    """The pixels of the current frame of a picture; uint16 if it has 16 bits."""
    if channels not in (0, *PILLOW_MODES) or (channels == 2 and picture.format == "JPEG"):
        raise InvalidArgumentError(f"{op}: channels must be 0, 1, 3 or 4. Received {channels}.")
    if picture.format == "JPEG" and (ratio != 1 or channels == 1):
        size = (-(-picture.width // ratio), -(-picture.height // ratio))
        picture.draft("L" if channels == 1 else picture.mode, size)
    try:
        picture.load()
    except (OSError, SyntaxError) as error:
        raise InvalidArgumentError(f"{op}: Invalid {picture.format} data: {error}.") from None
    if picture.mode.startswith("I"):
        return expand_channels(np.asarray(picture).astype(np.uint16)[..., None], channels)
    wanted = PILLOW_MODES[channels or natural_channels(picture)]
    array = np.asarray(picture if picture.mode == wanted else picture.convert(wanted))
    return array[..., None] if array.ndim == 2 else array


def expand_channels(grey: Any, channels: int) -> Any:
    """Repeat a grey 16-bit channel to this many channels."""
    colours = np.repeat(grey, {0: 1, 1: 1, 2: 1}.get(channels, 3), axis=2)
    opaque = np.full_like(grey, 0xFFFF)
    return np.concatenate([colours, opaque], axis=2) if channels in (2, 4) else colours


def natural_channels(picture: Any) -> int:
    """The number of channels to decode if the caller passes 0."""
    if picture.mode in ("1", "L"):
        return 4 if "transparency" in picture.info and picture.format == "GIF" else 1
    if picture.mode == "P":
        return 4 if "transparency" in picture.info and picture.format == "PNG" else 3
    return {"LA": 2, "PA": 4, "RGBA": 4}.get(picture.mode, 3)


def bit_depth(data: bytes) -> int:
    """The number of bits of a channel."""
    return (
        data[PNG_DEPTH_OFFSET]
        if data.startswith(PNG_SIGNATURE) and len(data) > PNG_DEPTH_OFFSET
        else 8
    )


def encode_picture(array: Any, form: str, op: str, **options: Any) -> bytes:
    """Encode an array as an image file."""
    image = import_pillow()
    if array.dtype == np.uint16:
        if array.shape[-1] != 1:
            raise UnimplementedError(
                f"{op}: 16-bit images must have one channel. Received {array.shape[-1]}."
            )
        picture = image.fromarray(array[..., 0])
    else:
        picture = image.fromarray(array[..., 0] if array.shape[-1] == 1 else array)
    out = io.BytesIO()
    picture.save(out, form, **options)
    return out.getvalue()
