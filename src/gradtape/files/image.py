"""Decode and encode PNG and JPEG images with Pillow; decode GIF and BMP images."""

from __future__ import annotations

import io
import struct
import zlib
from functools import cache
from typing import Any

import numpy as np

from gradtape.core.errors import InvalidArgumentError, UnimplementedError
from gradtape.files.bmp import decode_bmp_pixels
from gradtape.files.gif import decode_gif_frames
from gradtape.files.limit import check_expansion, translate_decoder_errors

PILLOW_MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}
PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
JPEG_SIGNATURE = b"\xff\xd8\xff"
SIGNATURES = {"PNG": PNG_SIGNATURE, "JPEG": JPEG_SIGNATURE, "GIF": b"GIF8", "BMP": b"BM"}
PNG_CHUNK = struct.Struct(">I4s")
PNG_CRITICAL_CHUNKS = frozenset([b"IHDR", b"PLTE", b"IDAT", b"IEND"])
PNG_TRANSPARENCY = b"tRNS"
PNG_DEPTH_OFFSET = 24  # offset of the bit depth in a PNG file
MAX_IMAGE_PIXELS = 1 << 29
MAX_IMAGE_SIDE = {"PNG": 1_000_000, "JPEG": 65_500}  # those of libpng and libjpeg
START_OF_SCAN = b"\xff\xda"
MAX_SCANNED_PIXELS = 1 << 33  # pixels times scans of a JPEG file: each scan visits all pixels


@cache
def import_pillow() -> Any:
    """Import Pillow."""
    try:
        import PIL.Image
        import PIL.JpegImagePlugin
        import PIL.PngImagePlugin
    except ImportError as error:
        raise ImportError(
            "gradtape: images need the package Pillow. "
            "Install it with `pip install 'gradtape[io]'`.",
            name="PIL",
        ) from error
    return PIL.Image


def image_format(data: bytes, op: str) -> str:
    """The format of an image file, from its first bytes."""
    for name, signature in SIGNATURES.items():
        if data.startswith(signature):
            return name
    raise InvalidArgumentError(
        f"{op}: Unknown image file format. One of JPEG, PNG, GIF, BMP required. "
        f"Received {len(data)} bytes that start with {data[:8]!r}."
    )


def open_picture(data: bytes, form: str, op: str) -> Any:
    """Open a PNG or JPEG image without decoding it, and check its size.

    The classes of Pillow are called directly: `PIL.Image.open` has a limit that is a global
    variable of the process.
    """
    import_pillow()
    import PIL.JpegImagePlugin
    import PIL.PngImagePlugin

    if form == "PNG":
        data = strip_png_chunks(data, op)
    kinds = {"PNG": PIL.PngImagePlugin.PngImageFile, "JPEG": PIL.JpegImagePlugin.JpegImageFile}
    with translate_decoder_errors(f"{op}: Invalid {form} data, size {len(data)}"):
        picture = kinds[form](io.BytesIO(data))
    if not 0 < min(picture.size) <= max(picture.size) <= MAX_IMAGE_SIDE[form]:
        raise InvalidArgumentError(
            f"{op}: Invalid {form} data: an image of {picture.width} by {picture.height} pixels."
        )
    return picture


def strip_png_chunks(data: bytes, op: str) -> bytes:
    """A PNG file without the chunks that its pixels do not need.

    Pillow would decompress texts and colour profiles, and would ignore damage behind the pixels.

    Raises:
        InvalidArgumentError: unless the chunks are complete up to the last one.
    """
    at, name = len(PNG_SIGNATURE), b""
    parts = [PNG_SIGNATURE]
    while name != b"IEND":
        head = data[at : at + PNG_CHUNK.size]
        size, name = PNG_CHUNK.unpack(head) if len(head) == PNG_CHUNK.size else (len(data), b"")
        end = at + PNG_CHUNK.size + size
        crc = int.from_bytes(data[end : end + 4], "big")
        is_critical = name[:1].isupper()
        if (
            end + 4 > len(data)
            or (is_critical and name not in PNG_CRITICAL_CHUNKS)
            or (is_critical and zlib.crc32(data[at + 4 : end]) != crc)
        ):
            raise InvalidArgumentError(
                f"{op}: Invalid PNG data, size {len(data)}: the chunk at byte {at} is corrupt."
            )
        if is_critical or name == PNG_TRANSPARENCY:
            parts.append(data[at : end + 4])
        at = end + 4
    return b"".join(parts)


def check_picture_size(picture: Any, data: bytes, op: str) -> None:
    """Raise if a picture is too large to be decoded."""
    pixels = picture.width * picture.height
    if pixels >= MAX_IMAGE_PIXELS:
        raise InvalidArgumentError(
            f"{op}: {picture.format} size too large for int: {picture.width} by {picture.height}."
        )
    check_expansion(pixels * len(picture.getbands()), len(data), op)
    if picture.format == "JPEG" and pixels * data.count(START_OF_SCAN) > MAX_SCANNED_PIXELS:
        raise InvalidArgumentError(
            f"{op}: Invalid JPEG data: {data.count(START_OF_SCAN)} scans are too many for "
            f"{picture.width} by {picture.height} pixels."
        )


def decode_still(data: bytes, channels: int, op: str, ratio: int = 1) -> Any:
    """Decode a PNG or JPEG file or a GIF file of one frame: (height, width, channels)."""
    form = image_format(data, op)
    check_channels(form, channels, op)
    if form == "BMP":
        raise InvalidArgumentError(
            f"{op}: Trying to decode BMP format using a wrong op. Use `decode_bmp` or "
            "`decode_image` instead."
        )
    if form == "GIF":
        frames = decode_gif_frames(data, op, import_pillow)
        if len(frames) != 1:
            raise InvalidArgumentError(
                f"{op}: Got {len(frames)} frames, but animated gifs can only be decoded by "
                "tf.io.decode_gif or tf.io.decode_image."
            )
        return frames[0]
    return read_pixels(open_picture(data, form, op), channels, data, op, ratio)


def decode_bmp_file(data: bytes, channels: int, op: str) -> Any:
    """Decode a BMP file, of shape (height, width, channels)."""
    form = image_format(data, op)
    check_channels(form, channels, op)
    if form != "BMP":
        raise InvalidArgumentError(
            f"{op}: Trying to decode {form} format using DecodeBmp op. Use `decode_image` instead."
        )
    return decode_bmp_pixels(data, channels, op)


def decode_frames(data: bytes, op: str) -> Any:
    """Decode all frames of a GIF, PNG or JPEG file: (frames, height, width, 3)."""
    if image_format(data, op) == "GIF":
        return decode_gif_frames(data, op, import_pillow)
    return decode_still(data, 3, op)[None]


def check_channels(form: str, channels: int, op: str) -> None:
    """Raise if an image of this format cannot be decoded to so many channels."""
    if channels not in (0, 1, 3, 4):
        raise InvalidArgumentError(f"{op}: channels must be 0, 1, 3 or 4. Received {channels}.")
    refused = {"GIF": (1, 4), "JPEG": (4,), "BMP": (1,)}.get(form, ())
    if channels in refused:
        allowed = [n for n in (0, 1, 3, 4) if n not in refused]
        raise InvalidArgumentError(
            f"{op}: channels must be one of {allowed} for {form}. Received {channels}."
        )


def read_pixels(picture: Any, channels: int, data: bytes, op: str, ratio: int = 1) -> Any:
    """The pixels of a picture; uint16 if it has 16 bits."""
    check_picture_size(picture, data, op)
    form = picture.format
    with translate_decoder_errors(f"{op}: Invalid {form} data, size {len(data)}"):
        if form == "JPEG" and (ratio != 1 or channels == 1):
            # Pillow reduces by the quotient of the sizes, rounded down to 1, 2, 4 or 8.
            size = (picture.width / (ratio + 0.5), picture.height / (ratio + 0.5))
            picture.draft("L" if channels == 1 else picture.mode, size)
        picture.load()
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
        return 1
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
