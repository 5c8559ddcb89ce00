"""Text files, line by line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gradtape.files.access import open_file, translate_os_errors


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
    """
    with open_file(path, compression, buffer_size) as file, translate_os_errors(path):
        for line in file:
            yield (line[:-1] if line.endswith(b"\n") else line).replace(b"\r", b"")
