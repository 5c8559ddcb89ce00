"""LevelDB tables of sorted keys and values, the format of a checkpoint's index.

    data blocks, an empty block, an index block (last key and position of each data block), footer

An entry of a block is `shared, fresh, size` (varints), the `fresh` bytes of the key that follow
the `shared` bytes of the previous key, and the value. Every 16th entry stores its whole key; a
block ends with the offsets of these entries. A compression byte and a checksum follow each block.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator

from gradtape.core.errors import DataLossError, UnimplementedError
from gradtape.files.crc32c import masked_crc
from gradtape.files.limit import check_expansion

TABLE_MAGIC = 0xDB4775248B80FB57
TABLE_FOOTER = struct.Struct("<40sQ")
BLOCK_TRAILER = struct.Struct("<BI")
RESTART_INTERVAL = 16
SNAPPY_BLOCK = 1  # the kind of a compressed block
BLOCK_SIZE = 1 << 18  # a block is closed when it has this many bytes


def encode_varint(number: int) -> bytes:
    """Encode an integer in groups of seven bits, lowest first."""
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    """Read an integer at a position; return it and the position after it.

    Raises:
        ValueError: if the integer is truncated.
    """
    number = shift = 0
    while at < len(data) and shift < 64:
        byte = data[at]
        at += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, at
        shift += 7
    raise ValueError("a number is cut off")


def serialize_table(entries: Iterable[tuple[bytes, bytes]]) -> Iterator[bytes]:
    """Yield the bytes of a table in pieces; the keys must be sorted."""
    place = 0
    index: list[tuple[bytes, bytes]] = []
    block = BlockWriter()

    def close_block(block: BlockWriter) -> tuple[bytes, bytes]:
        nonlocal place
        data = block.serialize()
        handle = encode_varint(place) + encode_varint(len(data))
        data += BLOCK_TRAILER.pack(0, masked_crc(data + b"\0"))
        place += len(data)
        return data, handle

    for key, value in entries:
        if block.size >= BLOCK_SIZE:
            data, handle = close_block(block)
            index.append((block.last_key, handle))
            block = BlockWriter()
            yield data
        block.add(key, value)
    data, handle = close_block(block)
    index.append((block.last_key, handle))
    yield data
    data, empty = close_block(BlockWriter())
    yield data
    names = BlockWriter(interval=1)
    for entry in index:
        names.add(*entry)
    data, handle = close_block(names)
    yield data
    yield TABLE_FOOTER.pack(empty + handle, TABLE_MAGIC)


class BlockWriter:
    """Collects the entries of a block."""

    def __init__(self, interval: int = RESTART_INTERVAL) -> None:
        """Start empty; every `interval`-th key is stored whole."""
        self._interval = interval
        self._count = 0
        self._parts: list[bytes] = []
        self._restarts = [0]
        self.size = 0
        self.last_key = b""

    def add(self, key: bytes, value: bytes) -> None:
        """Append an entry; its key must be greater than all previous keys."""
        shared = 0
        if self._count % self._interval:
            most = min(len(key), len(self.last_key))
            while shared < most and key[shared] == self.last_key[shared]:
                shared += 1
        elif self._count:
            self._restarts.append(self.size)
        numbers = (
            encode_varint(shared) + encode_varint(len(key) - shared) + encode_varint(len(value))
        )
        self._parts += (numbers, key[shared:], value)
        self.size += len(numbers) + len(key) - shared + len(value)
        self.last_key = key
        self._count += 1

    def serialize(self) -> bytes:
        """The bytes of the block."""
        places = (*self._restarts, len(self._restarts))
        return b"".join(self._parts) + struct.pack(f"<{len(places)}I", *places)


def read_table(data: bytes, name: str) -> Iterator[tuple[bytes, bytes]]:
    """Yield the entries of a table, and check every block.

    Args:
        data: the bytes of the file.
        name: the name of the file in error messages.

    Raises:
        DataLossError: if the file is truncated or corrupt.
    """
    if len(data) < TABLE_FOOTER.size:
        raise table_corruption_error(name, 0, f"{len(data)} bytes are too few for a table")
    handles, magic = TABLE_FOOTER.unpack_from(data, len(data) - TABLE_FOOTER.size)
    if magic != TABLE_MAGIC:
        raise table_corruption_error(
            name, len(data) - 8, "the magic number at its end is wrong (truncated?)"
        )
    numbers = read_varints(handles.rstrip(b"\0"), name, len(data) - TABLE_FOOTER.size)
    if len(numbers) != 4:
        raise table_corruption_error(
            name, len(data) - TABLE_FOOTER.size, "the footer does not name two blocks"
        )
    read_block(data, numbers[0], numbers[1], name)  # the empty block is only checked
    block_bytes = key_bytes = 0
    previous = None
    for _, value in read_entries(*read_block(data, numbers[2], numbers[3], name), name):
        inner = read_varints(value, name, numbers[2])
        if len(inner) != 2:
            raise table_corruption_error(name, numbers[2], "the index does not name a block")
        block_bytes += inner[1]
        if block_bytes > len(data):
            raise table_corruption_error(name, inner[0], "blocks overlap")
        for key, entry in read_entries(*read_block(data, inner[0], inner[1], name), name):
            if previous is not None and key <= previous:
                raise table_corruption_error(name, inner[0], "the keys are not in order")
            key_bytes, previous = key_bytes + len(key), key
            check_expansion(key_bytes, len(data), name, DataLossError)
            yield key, entry


def read_varints(data: bytes, name: str, place: int) -> list[int]:
    """Read all varints in `data`, which is at `place` in the file."""
    numbers, at = [], 0
    while at < len(data):
        try:
            number, at = read_varint(data, at)
        except ValueError as error:
            raise table_corruption_error(name, place, str(error)) from None
        numbers.append(number)
    return numbers


def read_block(data: bytes, place: int, size: int, name: str) -> tuple[bytes, int]:
    """Read a block and check it; return it and its position."""
    if place + size + BLOCK_TRAILER.size > len(data) - TABLE_FOOTER.size:
        raise table_corruption_error(name, place, f"a block of {size} bytes reaches past the end")
    block = data[place : place + size]
    kind, crc = BLOCK_TRAILER.unpack_from(data, place + size)
    if masked_crc(data[place : place + size + 1]) != crc:
        raise table_corruption_error(
            name, place, f"the checksum of the block of {size} bytes is wrong"
        )
    if kind > SNAPPY_BLOCK:
        raise table_corruption_error(name, place, f"a block of the unknown kind {kind}")
    if kind:
        raise UnimplementedError(
            f"{name}: the block at {place} is compressed, which gradtape cannot "
            "read. Write the table without compression."
        )
    return block, place


def read_entries(block: bytes, place: int, name: str) -> Iterator[tuple[bytes, bytes]]:
    """Yield the entries of a block at position `place`."""
    count = int.from_bytes(block[-4:], "little")
    end = len(block) - 4 - 4 * count
    if len(block) < 4 or end < 0:
        raise table_corruption_error(name, place, "a block without its list of restart points")
    key, at, key_bytes = b"", 0, 0
    while at < end:
        start = at
        try:
            shared, at = read_varint(block, at)
            fresh, at = read_varint(block, at)
            size, at = read_varint(block, at)
        except ValueError as error:
            raise table_corruption_error(name, place + start, str(error)) from None
        if shared > len(key) or at + fresh + size > end:
            raise table_corruption_error(name, place + start, "an entry reaches past its block")
        key_bytes += shared + fresh
        check_expansion(key_bytes, len(block), name, DataLossError)
        key = key[:shared] + block[at : at + fresh]
        at += fresh
        yield key, block[at : at + size]
        at += size


def table_corruption_error(name: str, place: int, why: str) -> DataLossError:
    """The error for a corrupt table."""
    return DataLossError(f"{name}: corrupted at byte {place}: {why}.")
