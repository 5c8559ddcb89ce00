"""Decode BMP images of 8, 24 or 32 bits a pixel without compression, the ones TensorFlow reads."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from gradtape.core.errors import InvalidArgumentError

HEADER_BYTES = 32  # with all fields that are read
FIELDS = struct.Struct("<10xi4xii2xh2x")  # offset of the pixels, width, height, bits a pixel
MAX_PIXELS = (1 << 31) // 8 - 1


def decode_bmp_pixels(data: bytes, channels: int, op: str) -> Any:
    """Decode a file, of shape (height, width, channels); 0 for the channels of the file."""
    if channels not in (0, 3, 4):
        raise InvalidArgumentError(
            f"{op}: channels must be 0, 3 or 4 for BMP. Received {channels}."
        )
    offset, width, height, own = read_bmp_header(data, op)
    row = -(-own * width // 4) * 4
    if len(data) != offset + row * abs(height):
        raise InvalidArgumentError(
            f"{op}: Input size should match (header_size + row_size * abs_height), "
            f"{offset} + {row} * {abs(height)}. Received {len(data)} bytes."
        )
    rows = np.frombuffer(data, np.uint8, row * abs(height), offset).reshape(-1, row)
    pixels = rows[:, : own * width].reshape(-1, width, own)
    return convert_channels(pixels if height < 0 else pixels[::-1], channels or own)


def read_bmp_header(data: bytes, op: str) -> tuple[int, int, int, int]:
    """The offset of the pixels, the width, the height (negative: top row first), the channels."""
    if len(data) < HEADER_BYTES:
        raise InvalidArgumentError(
            f"{op}: Incomplete bmp content, requires at least {HEADER_BYTES} bytes. "
            f"Received {len(data)}."
        )
    offset, width, height, bits = FIELDS.unpack_from(data)
    own = bits // 8
    if own not in (1, 3, 4):
        raise InvalidArgumentError(
            f"{op}: Number of channels inherent in the image must be 1, 3 or 4. Received {own}."
        )
    if width <= 0 or not height or offset < 0:
        raise InvalidArgumentError(
            f"{op}: Width must be positive, height nonzero and header size nonnegative. "
            f"Received {width}, {height} and {offset}."
        )
    if width * abs(height) >= MAX_PIXELS:
        raise InvalidArgumentError(
            f"{op}: Total possible pixel bytes must be less than 2^30. Received an image of "
            f"{width} by {abs(height)} pixels."
        )
    return offset, width, height, own


def convert_channels(pixels: Any, channels: int) -> Any:
    """Pixels in the order blue, green, red, alpha as `channels` channels, red first."""
    own = pixels.shape[2]
    if channels == 1:
        return pixels
    out = np.full((*pixels.shape[:2], channels), 255, np.uint8)
    out[..., :3] = pixels if own == 1 else pixels[..., 2::-1]
    if own == channels == 4:
        out[..., 3] = pixels[..., 3]
    return out
