"""TFRecord files: a sequence of byte strings, each with its length and two checksums.

uint64 length, uint32 masked crc of the length, the bytes, uint32 masked crc of the bytes
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from contextlib import suppress
from typing import IO, Any

from gradtape.core.errors import DataLossError, FailedPreconditionError
from gradtape.files.access import (
    ZLIB_WBITS,
    as_path,
    check_compression,
    expansion_error,
    open_file,
    read_limit,
    show_path,
    translate_os_errors,
)
from gradtape.files.crc32c import masked_crc

RECORD_HEADER = struct.Struct("<QI")
RECORD_FOOTER = struct.Struct("<I")
READ_STEP = 1 << 24  # largest single read, because a length in the file may be wrong


def read_records(
    path: Any, compression: str | None = "", buffer_size: int | None = None
) -> Iterator[bytes]:
    """Yield the records of a file, and check each one.

    Args:
        path: the file.
        compression: "", "ZLIB" or "GZIP".
        buffer_size: the number of bytes to read at once.

    Raises:
        NotFoundError: if the file does not exist.
        DataLossError: at the first record that is truncated or has a wrong checksum.
        ResourceExhaustedError: if a record of a compressed file is too large.
    """
    limit = read_limit(path, compression)
    with open_file(path, compression, buffer_size) as file:
        yield from iterate_records(file, show_path(path), limit)


def iterate_records(file: IO[bytes], name: str, limit: int | None = None) -> Iterator[bytes]:
    """Yield the records of an open file, called `name` in errors, of at most `limit` bytes."""
    position = 0
    while True:
        with translate_os_errors(name):
            header = file.read(RECORD_HEADER.size)
        if not header:
            return
        if len(header) < RECORD_HEADER.size:
            raise record_corruption_error(
                name, "truncated record", position, f"{len(header)} bytes of a header"
            )
        length, crc = RECORD_HEADER.unpack(header)
        if masked_crc(header[:8]) != crc:
            raise record_corruption_error(
                name, "corrupted record", position, "the checksum of the length is wrong"
            )
        with translate_os_errors(name):
            data = read_up_to(file, length if limit is None else min(length, limit))
            footer = file.read(RECORD_FOOTER.size)
        if len(data) < length and len(footer) == RECORD_FOOTER.size:
            raise expansion_error(name, len(data))
        if len(footer) < RECORD_FOOTER.size:
            raise record_corruption_error(
                name,
                "truncated record",
                position,
                f"{len(data) + len(footer)} of {length + 4} bytes after the header",
            )
        if masked_crc(data) != RECORD_FOOTER.unpack(footer)[0]:
            raise record_corruption_error(
                name, "corrupted record", position, "the checksum of the data is wrong"
            )
        yield data
        position += RECORD_HEADER.size + length + RECORD_FOOTER.size


def read_up_to(file: IO[bytes], size: int) -> bytes:
    """Read up to `size` bytes; never allocates more than the file has."""
    if size <= READ_STEP:
        return file.read(size)
    parts = []
    while size:
        part = file.read(min(size, READ_STEP))
        if not part:
            break
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def record_corruption_error(name: str, what: str, position: int, detail: str) -> DataLossError:
    """The error for a corrupt record at `position`."""
    return DataLossError(f"{name}: {what} at {position}: {detail}.")


def frame_record(record: bytes) -> bytes:
    """A record with its length and checksums."""
    head = struct.pack("<Q", len(record))
    return b"".join(
        (head, RECORD_FOOTER.pack(masked_crc(head)), record, RECORD_FOOTER.pack(masked_crc(record)))
    )


class RecordWriter:
    """Writes records to a file, which is replaced if it exists."""

    def __init__(self, path: Any, compression: str | None = "", **deflate: Any) -> None:
        """Open `path`; `deflate` are arguments of `zlib.compressobj`."""
        self._file: IO[bytes] | None = None
        name = check_compression(compression)
        self._path = as_path(path)
        self._deflate = zlib.compressobj(**{"wbits": ZLIB_WBITS[name], **deflate}) if name else None
        with translate_os_errors(path):
            self._file = open(self._path, "wb")  # noqa: SIM115 - closed by `close`

    def write(self, record: bytes) -> None:
        """Append one record."""
        self._write_bytes(frame_record(record))

    def flush(self) -> None:
        """Flush the records to the operating system."""
        if self._file is None:
            raise FailedPreconditionError(f"{self._path}: the writer is closed.")
        if self._deflate is not None:
            self._file.write(self._deflate.flush(zlib.Z_SYNC_FLUSH))
        with translate_os_errors(self._path):
            self._file.flush()

    def close(self) -> None:
        """Flush and close the file; a second call does nothing."""
        if self._file is None:
            return
        with translate_os_errors(self._path):
            if self._deflate is not None:
                self._file.write(self._deflate.flush())
            self._file.close()
        self._file = None

    def __del__(self) -> None:
        """Close the file, so that no record is lost."""
        with suppress(Exception):
            self.close()

    def _write_bytes(self, data: bytes) -> None:
        if self._file is None:
            raise FailedPreconditionError(f"{self._path}: the writer is closed.")
        with translate_os_errors(self._path):
            self._file.write(data if self._deflate is None else self._deflate.compress(data))
