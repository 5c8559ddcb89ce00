"""Files of records of one length, between a header and a footer."""

from __future__ import annotations

import os
from collections.abc import Iterator

from gradtape.core.errors import DataLossError, InvalidArgumentError
from gradtape.files.access import (
    check_compression,
    expansion_error,
    open_file,
    read_limit,
    translate_os_errors,
)
from gradtape.files.tfrecord import read_up_to


def read_fixed_records(
    path: str, sizes: tuple[int, int, int], compression: str | None, buffer_size: int | None
) -> Iterator[bytes]:
    """Yield the records of a file.

    Args:
        path: the file.
        sizes: the bytes of the header, of a record and of the footer.
        compression: "", "ZLIB" or "GZIP".
        buffer_size: the number of bytes to read at once.

    Raises:
        InvalidArgumentError: if the length of a file does not fit, before the first record.
        DataLossError: if that of a compressed file does not fit, at its end.
    """
    header, size, footer = sizes
    limit = read_limit(path, compression)
    if limit is not None and max(header, size + footer) > limit:
        raise expansion_error(path, limit)
    with open_file(path, compression, buffer_size) as file, translate_os_errors(path):
        if not check_compression(compression):
            check_length(path, os.fstat(file.fileno()).st_size, sizes)
        start = len(read_up_to(file, header))
        data, total = read_up_to(file, size + footer), start
        while len(data) == size + footer:
            yield data[:size]
            total += size
            data = data[size:] + read_up_to(file, size)
        total += len(data)
        if start < header or len(data) != footer:
            raise DataLossError(describe_length(path, total, sizes))


def check_length(path: str, length: int, sizes: tuple[int, int, int]) -> None:
    """Raise InvalidArgumentError unless a file of `length` bytes has whole records."""
    header, size, footer = sizes
    body = length - header - footer
    if body < 0 or body % size:
        raise InvalidArgumentError(describe_length(path, length, sizes))


def describe_length(path: str, length: int, sizes: tuple[int, int, int]) -> str:
    """The message about a file whose length does not fit."""
    header, size, footer = sizes
    return (
        f"FixedLengthRecordDataset: Excess bytes of {(length - header - footer) % size} in {path}. "
        f"Its {length} bytes must be a header of {header} bytes, records of {size} bytes and a "
        f"footer of {footer} bytes."
    )
