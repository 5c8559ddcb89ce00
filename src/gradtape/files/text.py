"""Text files, line by line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any

from gradtape.files.access import (
    expansion_error,
    open_file,
    read_limit,
    show_path,
    translate_os_errors,
)


def read_lines(
    path: Any, compression: str | None = "", buffer_size: int | None = None
) -> Iterator[bytes]:
    """Yield the lines of a file without line endings.

    Args:
        path: the file.
        compression: "", "ZLIB" or "GZIP".
        buffer_size: the number of bytes to read at once.

    Raises:
        NotFoundError: if the file does not exist.
        DataLossError: if a compressed file is corrupt.
        ResourceExhaustedError: if a line of a compressed file is too long.
    """
    limit = read_limit(path, compression)
    with open_file(path, compression, buffer_size) as file, translate_os_errors(path):
        for line in iterate_lines(file, show_path(path), limit):
            yield (line[:-1] if line.endswith(b"\n") else line).replace(b"\r", b"")


def iterate_lines(file: IO[bytes], name: str, limit: int | None) -> Iterator[bytes]:
    """Yield the lines of an open file, called `name` in errors, of at most `limit` bytes."""
    if limit is None:
        yield from file
        return
    while line := file.readline(limit + 1):
        if len(line) > limit:
            raise expansion_error(name, limit)
        yield line
