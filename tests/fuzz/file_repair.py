"""Checksums of mutated files made valid again, so that mutations reach what lies behind them."""

import struct
import zlib

from gradtape.files.crc32c import masked_crc

PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"


def repair_png(data: bytes) -> bytes:
    """Correct the checksums of PNG chunks, as far as the lengths allow."""
    out, at = bytearray(data), len(PNG_SIGNATURE)
    while at + 12 <= len(out):
        (size,) = struct.unpack_from(">I", out, at)
        if at + 12 + size > len(out):
            break
        struct.pack_into(">I", out, at + 8 + size, zlib.crc32(out[at + 4 : at + 8 + size]))
        at += 12 + size
    return bytes(out)


def repair_records(data: bytes) -> bytes:
    """Correct the checksums of a TFRecord file, as far as the lengths allow."""
    out, at = bytearray(data), 0
    while at + 12 <= len(out):
        (size,) = struct.unpack_from("<Q", out, at)
        struct.pack_into("<I", out, at + 8, masked_crc(bytes(out[at : at + 8])))
        at += 12
        if at + size + 4 > len(out):
            break
        struct.pack_into("<I", out, at + size, masked_crc(bytes(out[at : at + size])))
        at += size + 4
    return bytes(out)


def repair_table(data: bytes) -> bytes:
    """Correct the checksum of the first block of a LevelDB table, in which small tables fit."""
    out = bytearray(data)
    for end in range(8, len(out) - 5):
        if out[end - 4 : end] == b"\1\0\0\0" and out[end] == 0:
            struct.pack_into("<I", out, end + 1, masked_crc(bytes(out[: end + 1])))
            break
    return bytes(out)
