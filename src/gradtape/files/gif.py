"""Decode GIF images: the structure of the file here, the pixels of a frame with Pillow.

A file is a screen descriptor, and then extensions and images up to a trailer. As in TensorFlow,
the canvas is as large as the largest image, and each image is drawn on top of the one before it.
Images after a damaged one are ignored.
"""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

import numpy as np

from gradtape.core.errors import InvalidArgumentError
from gradtape.files.limit import check_expansion, translate_decoder_errors

SCREEN = struct.Struct("<6sHHBBB")
DESCRIPTOR = struct.Struct("<HHHHB")
IMAGE, EXTENSION, TRAILER = b",", b"!", b";"
GRAPHICS_CONTROL = 0xF9  # the extension that names the transparent colour of the next image
HAS_PALETTE, INTERLACED = 0x80, 0x40
MAX_CODE_SIZE = 8
CODE_TABLE_SIZE = 4096
CHANNELS = 3


class GifFrame(NamedTuple):
    """One image of a file, before its pixels are decoded."""

    left: int
    top: int
    width: int
    height: int
    interlaced: bool
    palette: Any  # of shape (colours, 3); None if there is none
    transparent: int  # the index of the transparent colour, or -1
    code_size: int
    blocks: bytes  # compressed pixels, each block with its length


class TruncatedGifError(Exception):
    """The file ends in the middle, or has an unknown block."""


class GifScanner:
    """Reads the structure of a file from a position that moves on."""

    def __init__(self, data: bytes) -> None:
        """Start at the beginning of `data`."""
        self.data, self.at = data, 0

    def take(self, size: int) -> bytes:
        """The next `size` bytes."""
        part = self.data[self.at : self.at + size]
        if len(part) < size:
            raise TruncatedGifError
        self.at += size
        return part

    def take_palette(self, flags: int) -> Any:
        """The palette that the flags of a descriptor announce; None if there is none."""
        if not flags & HAS_PALETTE:
            return None
        colours = 2 << (flags & 7)
        return np.frombuffer(self.take(CHANNELS * colours), np.uint8).reshape(colours, CHANNELS)

    def take_blocks(self) -> bytes:
        """The blocks up to an empty one, each with its length."""
        start = self.at
        while size := self.take(1)[0]:
            self.take(size)
        return self.data[start : self.at]

    def take_frame(self, palette: Any, transparent: int) -> GifFrame:
        """The image whose separator was taken; `palette` is that of the file."""
        left, top, width, height, flags = DESCRIPTOR.unpack(self.take(DESCRIPTOR.size))
        own = self.take_palette(flags)
        palette = palette if own is None else own
        code_size = self.take(1)[0]
        place = left, top, width, height, bool(flags & INTERLACED)
        return GifFrame(*place, palette, transparent, code_size, self.take_blocks())


def scan_frames(data: bytes) -> list[GifFrame]:
    """The complete images of a file."""
    scanner, frames = GifScanner(data), []
    try:
        *_, flags, _, _ = SCREEN.unpack(scanner.take(SCREEN.size))
        palette, transparent = scanner.take_palette(flags), -1
        while (kind := scanner.take(1)) != TRAILER:
            if kind == EXTENSION:
                label, blocks = scanner.take(1)[0], scanner.take_blocks()
                if label == GRAPHICS_CONTROL and blocks[0] == 4 and blocks[1] & 1:
                    transparent = blocks[4]
            elif kind == IMAGE:
                frames.append(scanner.take_frame(palette, transparent))
                transparent = -1
            else:
                break
    except TruncatedGifError:
        pass
    return frames


def decode_gif_frames(data: bytes, op: str, import_pillow: Any) -> Any:
    """Decode all images of a file, of shape (frames, height, width, 3)."""
    frames = scan_frames(data)
    rasters: list[Any] = []
    total = 0
    for frame in frames:
        if not has_enough_codes(frame):
            break
        total += frame.width * frame.height
        check_expansion(total, len(data), op)
        raster = decode_raster(frame, op, import_pillow())
        if raster is None:
            break
        rasters.append(raster)
    if not rasters:
        raise InvalidArgumentError(
            f"{op}: Invalid GIF data (size {len(data)}): it has no complete image."
        )
    frames = frames[: len(rasters)]
    height, width = max(f.height for f in frames), max(f.width for f in frames)
    check_expansion(len(frames) * height * width * CHANNELS, len(data), op)
    out = np.zeros((len(frames), height, width, CHANNELS), np.uint8)
    for k, (frame, raster) in enumerate(zip(frames, rasters, strict=True)):
        if k:
            out[k] = out[k - 1]
        draw_frame(out[k], frame, raster, op)
    return out


def has_enough_codes(frame: GifFrame) -> bool:
    """Whether the compressed pixels could be all pixels: a code of two bits is at most a table."""
    pixels = frame.width * frame.height
    return (
        0 < pixels <= 4 * CODE_TABLE_SIZE * len(frame.blocks) and frame.code_size <= MAX_CODE_SIZE
    )


def decode_raster(frame: GifFrame, op: str, pillow: Any) -> Any:
    """The colour index of each pixel; None if the compressed pixels are damaged."""
    size = frame.width, frame.height
    options = frame.code_size, int(frame.interlaced), -1
    try:
        with translate_decoder_errors(op):
            return np.asarray(pillow.frombytes("P", size, frame.blocks, "gif", options))
    except InvalidArgumentError:
        return None


def draw_frame(canvas: Any, frame: GifFrame, raster: Any, op: str) -> None:
    """Draw the pixels of an image that are not transparent and not outside of the canvas."""
    part = canvas[frame.top : frame.top + frame.height, frame.left : frame.left + frame.width]
    raster = raster[: part.shape[0], : part.shape[1]]
    if frame.palette is None:
        raise InvalidArgumentError(f"{op}: Invalid GIF data: missing color map for a frame.")
    if not raster.size:
        return
    mask = raster != frame.transparent
    largest = int(raster.max(where=mask, initial=0))
    if largest >= len(frame.palette):
        raise InvalidArgumentError(
            f"{op}: Invalid GIF data: found color index {largest} outside of color map range "
            f"{len(frame.palette)}."
        )
    part[mask] = frame.palette[raster[mask]]
